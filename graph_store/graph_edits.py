"""Edit the graph by hand: names and types of entities, facts, values; each with who and why, until it is undone."""

from typing import NamedTuple

from ..schemas.delta import ElementKind
from ..schemas.edits import Edit, EntityRef, FactEdit, FactRef, Rename, Retype, Supersede, Trust, ValueEdit, ValueRef
from ..schemas.graph_schema import GraphSchema
from ..schemas.naming import canonical_name, label_key, normalise
from ..text.quantities import parse_value
from .evolution.control import SchemaControl
from .evolution.elements import find_element
from .graph.resolved_graph import LedgerGraph, ResolvedGraph
from .ledger.database import Database
from .ledger.entity_rows import EditTable
from .ledger.schema_rows import SchemaHistory
from .resolution.resolver import match_node
from .store_errors import EntityDecisionError

_LONGEST_NAME, _HIGHEST_RANK = 500, 1000  # as long as an extracted name; far more ranks than anybody tells apart


class StatedFact(NamedTuple):
    """A fact as a person writes it. The object is an entity, or a value if `relation` is an attribute."""

    subject: str
    relation: str
    object: str


class GraphEditor(EditTable):
    """The ledger's edits, or EntityDecisionError for what cannot be done. Hold the write lock, then derive anew."""

    def __init__(self, database: Database, graph: LedgerGraph, control: SchemaControl) -> None:
        super().__init__(database)
        self._graph = graph
        self._control = control
        self._schemas = SchemaHistory(database)

    def rename(self, entity: str, name: str, who: str, why: str = "") -> int:
        """Show an entity under another name, and still find it under its others; return the edit's number."""
        graph, name = self._graph.graph, " ".join(name.split())
        node = match_node(graph, entity)
        if not canonical_name(name) or len(name) > _LONGEST_NAME:
            raise EntityDecisionError(f"a name has 1 to {_LONGEST_NAME} characters: choose another")
        kind = graph.entity(node).type
        others = (other for other in graph.entity_ids() if other != node and graph.entity(other).type == kind)
        if any(canonical_name(name) in map(canonical_name, graph.names(other)) for other in others):
            raise EntityDecisionError(f"another {kind} is called {name!r} already: merge the two instead")
        return self._record(Rename(entity=_ref(graph, node), name=name), who, why)

    def retype(self, entity: str, kind: str, who: str, why: str = "") -> int:
        """Give an entity another type of the schema; facts that do not fit the new type are rejected."""
        graph, schema = self._graph.graph, self._schemas.current()
        node, wanted = match_node(graph, entity), _require_element_name(schema, "entity_type", kind)
        # All entities that were merged into the node, except those of this type.
        refs = tuple(ref for ref in (_ref(graph, member) for member in graph.members(node)) if ref.type != wanted)
        if not refs:
            raise EntityDecisionError(f"{graph.name(node)!r} is of the type {wanted} already: nothing is to do")
        return self._record(Retype(entities=refs, type=wanted), who, why)

    def change_fact(self, fact: StatedFact, instead: StatedFact | None, who: str, why: str = "") -> int:
        """Delete a fact or a value, or correct it to `instead`, for all documents that state it; return the number."""
        graph, schema = self._graph.graph, self._schemas.current()
        original = _require_fact(graph, fact)
        if isinstance(original, FactRef):
            corrected = _check_new_fact(graph, schema, original, instead) if instead else None
            return self._record(FactEdit(fact=original, corrected=corrected), who, why)
        if instead is None:
            return self._record(ValueEdit(value=original, corrected=None), who, why)
        value, attribute = instead.object.strip(), schema.attribute_type(original.attribute)
        if (instead.subject, instead.relation) != (fact.subject, fact.relation):
            raise EntityDecisionError(f"{original} is a value: give another value, or reject it")
        if not value or value == original.value:
            raise EntityDecisionError(f"{original}: say which value holds instead")
        if attribute and attribute.kind != "text" and not parse_value(value, attribute.kind, attribute.unit):
            raise EntityDecisionError(f"{original.attribute} is a {attribute.kind}, and {value!r} is none: write one")
        return self._record(ValueEdit(value=original, corrected=value), who, why)

    def supersede(self, newer: str, older: str, who: str, why: str = "") -> int:
        """State that a document takes the place of an older one, both by id; return the edit's number."""
        documents = self._db.texts("SELECT id FROM documents")
        for document in (newer, older):
            if document not in documents:
                raise EntityDecisionError(f"there is no document {document!r}; see `banyan documents`")
        if newer == older:
            raise EntityDecisionError(f"{newer!r} cannot supersede itself: name two documents")
        return self._record(Supersede(newer=newer, older=older), who, why)

    def trust(self, pattern: str, rank: int, who: str, why: str = "") -> int:
        """Rank the documents whose ids match a pattern such as "wiki/*", higher is better; return the edit's number."""
        if abs(rank) > _HIGHEST_RANK:
            raise EntityDecisionError(f"{rank} is no rank: choose a number from -{_HIGHEST_RANK} to {_HIGHEST_RANK}")
        edit = Trust(pattern=pattern, rank=rank)
        if not any(map(edit.concerns, self._db.texts("SELECT id FROM documents"))):
            raise EntityDecisionError(f"no document matches {pattern!r}; see `banyan documents`")
        return self._record(edit, who, why)

    def undo(self, number: int, who: str) -> None:
        """Undo an edit, as if it had never been made."""
        decision = next((one for one in self.all() if one.number == number and not one.undone_at), None)
        if decision is None:
            raise EntityDecisionError(f"there is no edit {number} to take back: `banyan entities decisions` lists them")
        with self._db.transaction():
            super().undo(number, who)
            self._change_mentions(decision.edit)
        self._graph.refresh()

    def _record(self, edit: Edit, who: str, why: str) -> int:
        """Store an edit and change the graph by it; return its number."""
        with self._db.transaction():
            number = self.record(edit, who, why)
            self._change_mentions(edit)
        self._graph.refresh()
        return number

    def _change_mentions(self, edit: Edit) -> None:
        """Change the graph of mentions by an edit that was made or undone, if it is of a kind that changes them."""
        if isinstance(edit, Supersede):
            self._graph.unload()  # links of documents are part of the mentions
        if isinstance(edit, Retype):
            self._control.write_all()  # the new type decides which facts the schema admits


def _ref(graph: ResolvedGraph, entity: str) -> EntityRef:
    """Return an entity as documents name it; edits name entities so, because merging changes ids of nodes."""
    mentioned = graph.mentions.entity(entity)
    return EntityRef(name=mentioned.name, type=mentioned.type)


def _require_element_name(schema: GraphSchema, kind: ElementKind, label: str) -> str:
    """Return the name of the element of a schema that a label means, or raise EntityDecisionError."""
    element = find_element(schema, kind, label)
    if element:
        return element.name
    if schema.open:  # it allows any label
        return label.strip()
    known = schema.relation_types if kind == "relation" else schema.entity_types
    raise EntityDecisionError(f"the schema has no {kind.replace('_', ' ')} {label!r}; it has: "
                              f"{', '.join(one.name for one in known)}")


def _require_fact(graph: ResolvedGraph, fact: StatedFact) -> FactRef | ValueRef:
    """Return the value or fact of the graph that a person means, or raise EntityDecisionError."""
    head, key = match_node(graph, fact.subject), label_key(fact.relation)
    for attribute, values in graph.values(head).items():
        for value in values:
            if label_key(attribute) == key and normalise(value) == normalise(fact.object):
                return ValueRef(entity=_ref(graph, head), attribute=attribute, value=value)
    facts = [edge for edge in graph.incident(head) if edge[0] == head and label_key(edge[1]) == key]
    tail = match_node(graph, fact.object) if facts else ""  # without facts, the error below says more
    for _, relation, other in facts:
        if other == tail:
            return FactRef(head=_ref(graph, head), relation=relation, tail=_ref(graph, tail))
    raise EntityDecisionError(f"there is no fact ({fact.subject}; {fact.relation}; {fact.object}); "
                              "`banyan facts --of NAME` lists an entity's")


def _check_new_fact(graph: ResolvedGraph, schema: GraphSchema, original: FactRef, instead: StatedFact) -> FactRef:
    """Return the fact to give instead of one, or raise EntityDecisionError if it is equal or the schema forbids it."""
    head, tail = (match_node(graph, name) for name in (instead.subject, instead.object))
    relation = _require_element_name(schema, "relation", instead.relation)
    corrected = FactRef(head=_ref(graph, head), relation=relation, tail=_ref(graph, tail))
    if head == tail or corrected == original:
        raise EntityDecisionError(f"({corrected}) says nothing new: correct a fact to another one between two entities")
    types = graph.entity(head).type, graph.entity(tail).type
    if not schema.fits(types[0], relation, types[1]):
        raise EntityDecisionError(f"({corrected}) does not fit the schema: {relation} does not hold between "
                                  f"{types[0]} and {types[1]}; `banyan schema show` has its domain and range")
    return corrected
