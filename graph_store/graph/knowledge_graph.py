"""The knowledge graph: a NetworkX MultiDiGraph made of the ledger's rows.

Every node, edge and attribute value knows which chunks support it and where. The graph is made whole and never
updated, so it is a function of the rows.

Nodes (kind "entity"): `type`; `names` {name: {chunk: span}}; `attributes` {attribute: {value: {chunk: span}}}; where
values have times, `times` {attribute: {value: {words: {chunk: span}}}}.
Edges, keyed by relation: `support` {chunk: (start, end, confidence)}; where the fact has times, `times`
{words: {chunk: span}}. Spans are (start, end) in the chunk.
"""

from typing import Any

from ...runtime.gc_pauses import gc_paused
from ...schemas.documents import Frozen
from ...schemas.extraction import BoundedExtraction
from ...schemas.naming import canonical_name, entity_id
from ...text.times import Validity
from ..ledger.facts import AdmittedRows, Rows, rows_of

EdgeKey = tuple[str, str, str]
"""Head entity's id, relation, tail entity's id."""


class Entity(Frozen):
    """An entity of the graph as others see it."""

    id: str
    name: str
    type: str


class KnowledgeGraph:
    """Entities and triples with their support. Not safe for writing from several threads."""

    def __init__(self) -> None:
        import networkx as nx  # noqa: PLC0415  (a tenth of a second; questions read the index)

        self.network: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        self._by_chunk: dict[str, set[str]] = {}
        self._ids: dict[tuple[str, str], str] = {}

    @classmethod
    @gc_paused()
    def of_rows(cls, rows: AdmittedRows) -> "KnowledgeGraph":
        """Make the graph of some of the ledger's rows."""
        graph = cls()
        graph._add(*rows)
        return graph

    def add(self, chunk_id: str, admitted: BoundedExtraction) -> None:
        """Add what a chunk contributes, of which nothing is there yet."""
        self._add(*rows_of(chunk_id, admitted))

    def _add(self, mentions: Rows, facts: Rows, values: Rows) -> None:
        for chunk, _, name, kind, start, end in mentions:
            self._mention(chunk, (name, kind), [start, end])
        for chunk, _, head, head_type, relation, tail, tail_type, time, start, end, confidence in facts:
            self._state(chunk, (head, head_type), relation, (tail, tail_type), [start, end, confidence], time)
        for chunk, _, entity, kind, attribute, value, _, time, start, end, _ in values:
            self._describe(chunk, (entity, kind), attribute, value, [start, end], time)

    def _id(self, named: tuple[str, str]) -> str:
        found = self._ids.get(named)
        if found is None:
            found = self._ids[named] = entity_id(*named)
        return found

    def _mention(self, chunk_id: str, named: tuple[str, str], place: list[int]) -> None:
        entity, (name, kind) = self._id(named), named
        if entity not in self.network:
            self.network.add_node(entity, kind="entity", type=kind, names={}, attributes={})
        self.network.nodes[entity]["names"].setdefault(name, {})[chunk_id] = place
        self._by_chunk.setdefault(chunk_id, set()).add(entity)

    def _state(self, chunk_id: str, head: tuple[str, str], relation: str, tail: tuple[str, str],
               support: list[float], time: str) -> None:
        ends = self._id(head), self._id(tail)
        if not self.network.has_edge(*ends, relation):
            self.network.add_edge(*ends, relation, support={})
        edge = self.network.edges[*ends, relation]
        # A chunk may state a fact at several times.
        edge["support"][chunk_id] = surer(support, edge["support"].get(chunk_id, support))
        if time:
            _put_first(edge.setdefault("times", {}).setdefault(time, {}), chunk_id, support[:2])

    def _describe(self, chunk_id: str, named: tuple[str, str], attribute: str, value: str,
                  place: list[int], time: str) -> None:
        node = self.network.nodes[self._id(named)]
        _put_first(node["attributes"].setdefault(attribute, {}).setdefault(value, {}), chunk_id, place)
        if time:
            times = node.setdefault("times", {}).setdefault(attribute, {}).setdefault(value, {})
            _put_first(times.setdefault(time, {}), chunk_id, place)

    def entity_ids(self) -> list[str]:
        """Return all entities' ids, sorted."""
        return sorted(self.network.nodes)

    def entity(self, entity: str) -> Entity:
        """Return an entity by id, under the name that most chunks use (the first in order of equals)."""
        return Entity(id=entity, name=self.name(entity), type=self.network.nodes[entity]["type"])

    def name(self, entity: str) -> str:
        """Return the name that most chunks use for an entity (the first in order of equals)."""
        return _most_used(self.network.nodes[entity]["names"])

    def all_names(self) -> dict[str, str]:
        """Return the name that most chunks use for each entity (see `name`), by its id, sorted."""
        nodes = self.network.nodes
        return {entity: _most_used(nodes[entity]["names"]) for entity in self.entity_ids()}

    def names(self, entity: str) -> list[str]:
        """Return all names that the sources use for an entity, sorted."""
        return sorted(self.network.nodes[entity]["names"])

    def attributes(self, entity: str) -> dict[str, list[str]]:
        """Return an entity's attribute values, sorted."""
        return {name: sorted(values) for name, values in sorted(self.network.nodes[entity]["attributes"].items())}

    def entity_support(self, entity: str) -> list[str]:
        """Return the chunks that mention an entity, sorted."""
        return sorted({chunk for chunks in self.network.nodes[entity]["names"].values() for chunk in chunks})

    def validity(self, key: EdgeKey) -> Validity:
        """Return when a triple holds."""
        head, relation, tail = key
        edge = self.network.edges[head, tail, relation]
        return Validity.of(edge["times"], edge.get("later", ())) if "times" in edge else Validity()

    def validities(self, entity: str) -> dict[str, dict[str, Validity]]:
        """Return when an entity's values hold, by attribute and value; those without a time are left out."""
        node = self.network.nodes[entity]
        later = node.get("later", {})
        return {name: {value: Validity.of(times, later.get(name, {}).get(value, ())) for value, times in values.items()}
                for name, values in node.get("times", {}).items()}

    def words(self, key: EdgeKey) -> str:
        """Return a triple in words: "Ana Ruiz leads Orio"."""
        head, relation, tail = key
        return f"{self.name(head)} {relation_text(relation)} {self.name(tail)}"

    def statement(self, key: EdgeKey) -> str:
        """Return a triple in words, with its time: "Ana Ruiz leads Orio (since 2019)"."""
        return self.validity(key).with_note(self.words(key))

    def value_statement(self, entity: str, attribute: str, value: str) -> str:
        """Return an attribute value in words, with its time: "Orio price: 499 USD (in 2018)"."""
        validity = self.validities(entity).get(attribute, {}).get(value, Validity())
        return validity.with_note(f"{self.name(entity)} {relation_text(attribute)}: {value}")

    def triple_support(self, key: EdgeKey) -> list[str]:
        """Return the chunks that support a triple, sorted."""
        head, relation, tail = key
        return sorted(self.network.edges[head, tail, relation]["support"])

    def edges(self) -> list[EdgeKey]:
        """Return all triples' keys, sorted."""
        return sorted((head, relation, tail) for head, tail, relation in self.network.edges(keys=True))

    def incident(self, entity: str) -> list[EdgeKey]:
        """Return the triples in which an entity is head or tail, sorted."""
        edges = {(entity, relation, tail) for tail, relations in self.network.succ[entity].items()
                 for relation in relations}
        edges.update((head, relation, entity) for head, relations in self.network.pred[entity].items()
                     for relation in relations)
        return sorted(edges)

    def neighbours(self, entity: str) -> set[str]:
        """Return the other entities that triples join an entity to."""
        return {*self.network.succ[entity], *self.network.pred[entity]} - {entity}

    def count_attributes(self) -> int:
        """Return the number of attribute values of all entities."""
        return sum(len(values) for _, node in self.network.nodes(data=True)
                   for values in node["attributes"].values())

    def entities_in(self, chunk_id: str) -> list[str]:
        """Return the entities that a chunk mentions, sorted."""
        return sorted(self._by_chunk.get(chunk_id, ()))

    def entity_text(self, entity: str) -> str:
        """Return the text embedded for an entity: its canonical name, the same for all spellings."""
        return canonical_name(next(iter(self.network.nodes[entity]["names"])))

    def triple_text(self, key: EdgeKey) -> str:
        """Return the text embedded for a triple, a function of its id."""
        head, relation, tail = key
        return f"{self.entity_text(head)} {relation_text(relation)} {self.entity_text(tail)}"

    def dump(self) -> dict[str, Any]:
        """Return the graph as plain data, equal for equal graphs."""
        return {
            "nodes": {entity: _sort_keys(self.network.nodes[entity]) for entity in self.entity_ids()},
            "edges": [[h, r, t, _sort_keys(self.network.edges[h, t, r])] for h, r, t in self.edges()],
        }


def relation_text(relation: str) -> str:
    """Return a relation's name as words."""
    return relation.replace("_", " ")


def surer(*supports: list[Any]) -> list[Any]:
    """Return the surest of a chunk's supports of one fact, of equals the first in the chunk."""
    return min(supports, key=lambda support: (-support[2], support[0], support[1]))


def _put_first(places: dict[str, list[Any]], chunk_id: str, place: list[Any]) -> None:
    """Note a place in a chunk; of two the first one stays."""
    places[chunk_id] = min(place, places.get(chunk_id, place))


def _most_used(names: dict[str, Any]) -> str:
    return min(names, key=lambda name: (-len(names[name]), name)) if len(names) > 1 else next(iter(names))


def _sort_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sort_keys(value[key]) if isinstance(value[key], dict) else value[key] for key in sorted(value)}
    return value
