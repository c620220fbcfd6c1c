"""Bounding: decide which parts of an extraction enter the graph (Youtu-GraphRAG eq. 2, Phi(r) = (dom, range)).

A pure function of (extraction, chunk, bounds), applied to the output of any reasoner or import. The order of the
extracted items plays no part.

An item that fits the schema and is in the source is admitted unchanged. These repairs are made, and counted:

- `mapped_label`: a label has the same stems as exactly one schema element's label (see `Bounds.find`);
- `inferred_type`: an entity extracted without a type takes the type that its facts require;
- `swapped`: a fact fits only with its ends exchanged, whatever more special types they had, and neither its words nor
  its label say which way it holds;
- `normalised_value`: a value or date that the source spells differently takes the source's spelling;
- `dropped_time`: a fact loses a time that is not in the source, or that is no time.

Some facts can be stated in two ways and are stored in one; this does not count as a repair. The ends of a symmetric
relation are stored in the order of their names. Of two inverse relations, the one that the schema lists first is used.
Everything else is rejected with a reason. An unknown label, or types that a relation does not allow, also yield an
`Ask`: a request to widen the schema.
"""

from functools import cached_property

from ...schemas.documents import Chunk
from ...schemas.extraction import (
    Ask,
    AttributeFact,
    BoundedExtraction,
    EntityMention,
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
    Reason,
    Rejection,
    RelationFact,
    RepairKind,
)
from ...schemas.graph_schema import ROOT_TYPE
from ...schemas.naming import canonical_name, label_key
from ...text.cleaning import one_line
from ...text.quantities import kind_of, parse_value
from ...text.section_lines import Line, lines_under
from .chunk_entities import End, NamedEnds, TypedEnd, infer_types, is_declared, section_note
from .grounding import Grounded, SourceText
from .labels import Bounds, Known
from .words import stems, words

__all__ = ["Bounds", "bound"]


def bound(extraction: Extraction, chunk: Chunk, bounds: Bounds) -> BoundedExtraction:
    """Admit the items that fit the schema and are in the source, in a fixed order; reject the others with a reason."""
    return _Bounding(extraction, chunk, bounds).run()


class _Bounding:
    """The bounding of one chunk's extraction: the items admitted and rejected so far."""

    def __init__(self, extraction: Extraction, chunk: Chunk, bounds: Bounds) -> None:
        self._extraction = extraction
        self._bounds = bounds
        self._chunk = chunk
        self._source = SourceText(chunk.text, chunk.title, chunk.heading, chunk.opening, chunk.document_id,
                                  *extraction.elsewhere, said_on=chunk.said_on)
        named = NamedEnds(extraction, self._source)
        self._keys, self._ends = named.keys, named.ends
        """Entity keys by extracted name, and entities by key; only names that the source contains."""
        self._types: dict[str, Known] = {}  # the schema type of each entity, by entity key
        self._unknown_types: dict[str, str] = {}  # by entity key: the labels of types that the schema lacks
        self._mentioned: set[str] = set()  # the keys of the entities to admit
        self._facts: dict[tuple[str, str, str, str], RelationFact] = {}  # by head, relation, tail and time
        self._attributes: dict[tuple[str, str, str, str], AttributeFact] = {}  # by owner, attribute, value and time
        self._rejections: set[Rejection] = set()
        self._asks: dict[tuple[str, ...], Ask] = {}
        self._repairs: set[tuple[RepairKind, str]] = {("normalised_value", name) for name in named.respelled}
        """The kind of each repair, with the text of the item."""

    @cached_property
    def _lines(self) -> list[Line]:
        return list(lines_under(self._chunk.text, self._chunk.heading))

    def run(self) -> BoundedExtraction:
        """Bound the entities, triples and attributes, and return what was admitted, rejected and asked for."""
        self._declare()
        self._infer_types()
        self._types = {key: self._bounds.apply_decision(key, known) for key, known in self._types.items()}
        for triple in self._extraction.triples:
            self._bound_triple(triple)
        for attribute in self._extraction.attributes:
            self._bound_attribute(attribute)
        for item in self._extraction.malformed:
            self._reject("malformed", item)
        repaired = sorted(kind for kind, _ in self._repairs)
        return BoundedExtraction(
            mentions=tuple(EntityMention(name=self._ends[key].name, type=self._types[key].name,
                                         span=self._ends[key].span) for key in sorted(self._mentioned)),
            facts=tuple(self._facts[key] for key in sorted(self._facts)),
            attributes=tuple(self._attributes[key] for key in sorted(self._attributes)),
            rejections=tuple(sorted(self._rejections, key=Rejection.model_dump_json)),
            asks=tuple(self._asks[key] for key in sorted(self._asks)),
            repairs={kind: repaired.count(kind) for kind in dict.fromkeys(repaired)})

    def _declare(self) -> None:
        """Give each entity its most confident type of the schema, or note the label of an unknown one, and ask."""
        # The type of last resort comes after all others: tables use it for cells whose header names no type.
        def rank(entity: ExtractedEntity) -> tuple[bool, float, int, str]:
            known = self._bounds.find("entity_type", entity.type)
            name = known.name if known else label_key(entity.type)
            return name == self._bounds.last_resort, -entity.confidence, self._bounds.position(name), name

        for entity in sorted(self._extraction.entities, key=rank):
            end = self._find_end(entity.name, text=entity.name)
            if end is None:
                continue
            known, label = self._bounds.find("entity_type", entity.type), label_key(entity.type)
            if known:
                self._types.setdefault(end.key, known)
            elif label:
                self._unknown_types.setdefault(end.key, label)
                self._reject_and_ask("unknown_entity_type", Ask(
                    kind="entity_type", label=label, text=end.name, confidence=entity.confidence,
                    context=self._source.sentence_around(end.span)))
        self._unknown_types = {key: label for key, label in self._unknown_types.items() if key not in self._types}
        self._mentioned = set(self._types)
        for key in self._types:
            self._note_type_repair(key)

    def _infer_types(self) -> None:
        """Give each entity without a type the type that its facts require; reject extracted ones that have no facts."""
        if self._bounds.schema.open:  # it admits every name as a mention
            for name, key in self._keys.items():
                if key not in self._types and not self._bounds.is_type_name(name):
                    self._types[key] = Known(ROOT_TYPE)
                    self._mentioned.add(key)
            return
        for key, name in infer_types(self._extraction, self._bounds, self._typed_end).items():
            self._types[key] = Known(name, "inferred_type")
        for entity in self._extraction.entities:
            end = None if label_key(entity.type) else self._typed_end(entity.name)
            if end and end.type:
                self._mentioned.add(end.key)
                self._note_type_repair(end.key)
            elif end and end.type is None:
                self._reject("unknown_entity_type", self._ends[end.key].name)

    def _typed_end(self, name: str) -> TypedEnd | None:
        """Return the entity that a name refers to, with its type so far (see `TypedEnd`)."""
        key = self._keys.get(name)
        if key is None or self._bounds.is_type_name(name):
            return None
        if key in self._unknown_types:
            return TypedEnd(key, "")
        return TypedEnd(key, self._types[key].name if key in self._types else None)

    def _find_end(self, name: str, text: str) -> End | None:
        """Return the entity that a name refers to, or reject the item that names it, shown as `text`."""
        key = self._keys.get(name)
        if self._bounds.is_type_name(name):
            self._reject("type_as_name", text)
        elif key is None:
            self._reject("ungrounded", text)
        else:
            return self._ends[key]
        return None

    def _bound_triple(self, item: ExtractedTriple) -> None:
        """Admit a triple as a fact if the source has its ends, and its relation and types fit; otherwise reject it."""
        text = f"({item.head}; {item.relation}; {item.tail})"
        head, tail = self._find_end(item.head, text), self._find_end(item.tail, text)
        if head is None or tail is None:
            return
        if head.key == tail.key:
            self._reject("self_loop", text)
            return
        relation = self._bounds.find("relation", item.relation)
        if relation and relation.backward:  # the label states the relation from tail to head
            head, tail = tail, head
        ask = Ask(kind="relation", label=label_key(relation.name if relation else item.relation), text=text,
                  subject_type=self._type_or_label(head), object_type=self._type_or_label(tail),
                  confidence=item.confidence,
                  context=self._source.support(item.evidence, item.head, item.relation, item.tail))
        if relation is None:
            self._reject_unknown(ask, head, tail)
        elif self._have_types(text, head, tail):
            self._bound_fact(item, ask, relation, head, tail)

    def _bound_fact(self, item: ExtractedTriple, ask: Ask, relation: Known, head: End, tail: End) -> None:
        """Store a triple as a fact in its stored form, with its ends exchanged if only that fits, or reject it."""
        name, text = relation.name, ask.text
        if not self._fits(head, name, tail):
            # With more special types it might fit as it is stated, so exchanging its ends would be a guess.
            may_be_swapped = not (relation.backward or self._bounds.schema.might_fit(
                self._type(head), name, self._type(tail)))
            if not may_be_swapped or not self._fits(tail, name, head) or _is_stated_in_order(item, ask.context.quote):
                self._reject_and_ask("domain_range", ask)
                return
            head, tail = tail, head
            self._repairs.add(("swapped", text))
        if relation.repair:
            self._repairs.add((relation.repair, text))
        exchanged_name = self._bounds.stored_relation(name, self._type(head), self._type(tail),
                                                      is_sorted=head.key <= tail.key)
        if exchanged_name is not None:  # the fact is stored from tail to head, under this relation
            head, name, tail = tail, exchanged_name, head
        time = self._time(item.time, item.relation, text)
        fact = RelationFact(head=head.name, head_type=self._type(head), relation=name, tail=tail.name,
                            tail_type=self._type(tail), time=time, confidence=item.confidence, span=ask.context)
        # A fact stated several times is stored once, by its most confident statement.
        key = (head.key, name, tail.key, time)
        self._facts[key] = min(fact, self._facts.get(key, fact), key=_preference)
        self._mention(head, tail)

    def _bound_attribute(self, item: ExtractedAttribute) -> None:
        """Admit an attribute's value if the source has it and attribute, owner and kind fit; otherwise reject it."""
        text = f"({item.entity}; {item.attribute}: {item.value})"
        owner = self._find_end(item.entity, text)
        if owner is None:
            return
        known = self._bounds.find("attribute", item.attribute)
        element = self._bounds.schema.attribute_type(known.name) if known else None
        kind, unit = (element.kind, element.unit) if element else (kind_of(item.value), "")
        value = self._source.ground_value(item.value, kind, unit)
        if value is None:
            self._reject("ungrounded", text)
            return
        ask = Ask(kind="attribute", label=label_key(known.name if known else item.attribute), text=text,
                  subject_type=self._type_or_label(owner), object_type=kind_of(value.shown),
                  confidence=item.confidence,
                  context=self._source.support(item.evidence, item.entity, item.attribute, item.value))
        if known is None:
            self._reject_unknown(ask, owner)
        elif self._have_types(text, owner):
            normal = parse_value(value.shown, kind, unit)
            if element and not self._bounds.schema.open and not self._bounds.schema.is_a(
                    self._type(owner), element.owners):
                self._reject_and_ask("domain_range", ask)
            elif kind != "text" and not normal:
                self._reject_and_ask("wrong_kind", ask)
            elif self._bounds.is_alias(known.name) and canonical_name(one_line(value.shown)) == owner.key:
                self._reject("self_loop", f"({owner.name}; {known.name}: {one_line(value.shown)})")
            else:
                self._admit_value(item, ask, known, owner, value, normal)

    def _admit_value(self, item: ExtractedAttribute, ask: Ask, known: Known, owner: End, value: Grounded,
                     normal: str) -> None:
        """Store an attribute's value; `normal` is its normal form, "" for a text."""
        if known.repair:
            self._repairs.add((known.repair, ask.text))
        if value.quoted and normal:  # the source spells a number or date differently
            self._repairs.add(("normalised_value", ask.text))
        time = self._time(item.time, item.attribute, ask.text)
        # A title or an address is the same in any section, and so is a number that is a part of a name.
        if not time and parse_value(value.shown, "number") and value.shown not in owner.name:
            time = section_note(self._lines, self._chunk.title, ask.context.start,
                                owner.name, known.name, item.attribute, value.shown)
        fact = AttributeFact(
            entity=owner.name, entity_type=self._type(owner), attribute=known.name, value=one_line(value.shown),
            normal=normal, time=time, span=ask.context, confidence=item.confidence)
        key = (owner.key, fact.attribute, fact.normal or canonical_name(fact.value), fact.time)
        self._attributes[key] = min(fact, self._attributes.get(key, fact), key=_preference)
        self._mention(owner)

    def _time(self, extracted_time: str, label: str, text: str) -> str:
        """Return the source's words for an extracted time or its qualifiers; note if it has none."""
        source_time = self._source.ground_time(extracted_time, label)
        if extracted_time.strip() and not source_time:
            self._repairs.add(("dropped_time", text))
        return source_time

    def _type(self, end: End) -> str:
        return self._types[end.key].name

    def _type_or_label(self, end: End) -> str:
        """Return an entity's type, else its unknown type's label, else the type of last resort or ""."""
        if end.key in self._types:
            return self._type(end)
        return self._unknown_types.get(end.key, self._bounds.last_resort or "")

    def _fits(self, head: End, relation: str, tail: End) -> bool:
        return self._bounds.schema.fits(self._type(head), relation, self._type(tail))

    def _have_types(self, text: str, *ends: End) -> bool:
        """Return True if all entities of an item have a type of the schema; otherwise reject it."""
        untyped = [end.key for end in ends if end.key not in self._types]
        label = next((self._unknown_types[key] for key in untyped if key in self._unknown_types), "")
        if untyped:
            self._reject("unknown_entity_type" if label else "undeclared_entity", text, label=label)
        return not untyped

    def _mention(self, *ends: End) -> None:
        """Admit entities, because a fact that was admitted has them."""
        for end in ends:
            self._mentioned.add(end.key)
            self._note_type_repair(end.key)

    def _note_type_repair(self, key: str) -> None:
        repair = self._types[key].repair
        if repair:
            self._repairs.add((repair, key))

    # What is not admitted.

    def _reject(self, reason: Reason, text: str, *, label: str = "", subject: str = "", target: str = "",
                confidence: float = 1.0) -> None:
        self._rejections.add(Rejection(reason=reason, label=label, text=text, subject_type=subject,
                                       object_type=target, confidence=confidence))

    def _reject_unknown(self, ask: Ask, *ends: End) -> None:
        """Reject an item because the schema lacks its label, and ask for it if all of its entities have a type."""
        if self._bounds.last_resort is None and any(
                end.key not in self._types and end.key not in self._unknown_types for end in ends):
            self._reject("undeclared_entity", ask.text)
        else:
            self._reject_and_ask("unknown_relation" if ask.kind == "relation" else "unknown_attribute", ask)

    def _reject_and_ask(self, reason: Reason, ask: Ask) -> None:
        """Reject an item, and request to widen the schema so that it fits."""
        is_unknown = reason not in {"domain_range", "wrong_kind"}
        self._reject(reason, ask.text, label=ask.label if is_unknown else "", subject=ask.subject_type,
                     target=ask.object_type if ask.kind == "relation" else "",
                     confidence=ask.confidence if is_unknown else 1.0)
        if any(map(str.isalnum, ask.label)):  # otherwise the label can name no element
            ask = ask.model_copy(update={"declared": is_declared(ask.label, self._chunk.text, self._lines,
                                                                   ask.context.start)})
            key = (ask.kind, ask.label, ask.text, ask.subject_type, ask.object_type)
            # Of equal requests, the most confident is stored, and of these the earliest in the text.
            self._asks[key] = max(ask, self._asks.get(key, ask), key=lambda a: (a.confidence, -a.context.start))


def _is_stated_in_order(item: ExtractedTriple, quote: str) -> bool:
    """Return True if the words that support a triple have its head, relation and tail in this order."""
    support, head, relation, tail = (f" {' '.join(stems(' '.join(words(label_key(text)))))} " for text in (
        quote, item.head, item.relation, item.tail))
    _, has_head, after_head = support.partition(head)
    between, has_tail, _ = f" {after_head}".partition(tail)
    return bool(has_head and has_tail and relation.strip()) and set(relation.split()) <= set(between.split())


def _preference(fact: RelationFact | AttributeFact) -> tuple[float, int, int, str]:
    """Return the sort key of a statement of a fact: the most confident one comes first, then the earliest."""
    return -fact.confidence, fact.span.start, fact.span.end, fact.value if isinstance(fact, AttributeFact) else ""
