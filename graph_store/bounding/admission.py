"""Bounding: decide which parts of an extraction enter the graph (Youtu-GraphRAG eq. 2, Phi(r) = (dom, range)).

A pure function of (extraction, chunk, bounds), applied to the output of any reasoner or import. The order of the
extracted items plays no part.

An item that fits the schema and is in the source is admitted unchanged. These repairs are made, and counted:

- `mapped_label`: a label has the same stems as exactly one schema element's label (see `Bounds.find`);
- `inferred_type`: an entity extracted without a type takes the type that its facts require;
- `swapped`: a fact fits only with its ends exchanged, and neither its words nor its label say which way it holds;
- `normalised_value`: a value or date that the source spells differently takes the source's spelling;
- `dropped_time`: a fact loses a time that is not in the source, or that is no time.

Some facts can be stated in two ways and are stored in one; this does not count as a repair. The ends of a symmetric
relation are stored in the order of their names. Of two inverse relations, the one that the schema lists first is used.
Everything else is rejected with a reason. An unknown label, or types that a relation does not allow, also yield an
`Ask`: a request to widen the schema.
"""

from typing import NamedTuple

from ...schemas.documents import Chunk, Span
from ...schemas.extraction import (
    Ask,
    AttributeFact,
    BoundedExtraction,
    EntityMention,
    ExtractedAttribute,
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
from .chunk_entities import ChunkLines, End, NamedEnds, TypedEnd, TypeWishes
from .grounding import SourceText
from .labels import Bounds, Known
from .words import stems, words

__all__ = ["Bounds", "bound"]


class _TypeChoice(NamedTuple):
    """A type that an entity was extracted with; of several, the smallest by these fields in order is chosen."""

    is_last_resort: bool
    """Tables use the type of last resort for cells whose header names no type, so any other goes before it."""
    minus_confidence: float
    is_repaired: bool
    position: int
    known: Known


def bound(extraction: Extraction, chunk: Chunk, bounds: Bounds) -> BoundedExtraction:
    """Admit the items that fit the schema and are in the source, in a fixed order; reject the others with a reason."""
    return _Bounding(extraction, chunk, bounds).run()


class _Bounding:
    """The bounding of one chunk's extraction: the items admitted and rejected so far."""

    def __init__(self, extraction: Extraction, chunk: Chunk, bounds: Bounds) -> None:
        self._extraction = extraction
        self._chunk = chunk
        self._bounds = bounds
        self._lines = ChunkLines(chunk)
        self._source = SourceText(chunk.text, chunk.title, chunk.heading, chunk.opening, chunk.document_id,
                                  *extraction.elsewhere, said_on=chunk.said_on)
        named = NamedEnds(extraction, self._source)
        self._keys, self._ends = named.keys, named.ends
        """Entity keys by extracted name, and entities by key; only names that the source contains."""
        self._types: dict[str, Known] = {}
        """The schema type of each entity, by entity key."""
        self._unknown_types: dict[str, str] = {}
        """For each entity whose extracted type is not in the schema: the type's label. By entity key."""
        self._mentioned: set[str] = set()
        """The keys of the entities to admit."""
        self._facts: dict[tuple[str, str, str, str], RelationFact] = {}  # by head, relation, tail and time
        self._attributes: dict[tuple[str, str, str, str], AttributeFact] = {}  # by owner, attribute, value and time
        self._rejections: set[Rejection] = set()
        self._asks: dict[tuple[str, ...], Ask] = {}
        self._repairs: set[tuple[RepairKind, str]] = {("normalised_value", name) for name in named.respelled}

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

    # The extracted entities and their types.

    def _declare(self) -> None:
        """Give each extracted entity its schema type, or note the label of its unknown type and ask for it."""
        choices: dict[str, list[_TypeChoice]] = {}
        unknown_types: dict[str, list[tuple[float, str]]] = {}  # the confidence, negated, and the label
        for entity in self._extraction.entities:
            end = self._end(entity.name, text=entity.name)
            if end is None:
                continue
            known, label = self._bounds.find("entity_type", entity.type), label_key(entity.type)
            if known:
                choices.setdefault(end.key, []).append(_TypeChoice(
                    is_last_resort=known.name == self._bounds.last_resort, minus_confidence=-entity.confidence,
                    is_repaired=known.repair is not None, position=self._bounds.position(known.name), known=known))
            elif label:
                unknown_types.setdefault(end.key, []).append((-entity.confidence, label))
                self._reject("unknown_entity_type", end.name, label=label, confidence=entity.confidence)
                self._ask_to_widen(Ask(kind="entity_type", label=label, text=end.name, confidence=entity.confidence,
                                       context=self._source.sentence_around(end.span)))
        self._types = {key: min(choices[key]).known for key in choices}
        self._unknown_types = {key: min(unknown_types[key])[-1] for key in unknown_types if key not in choices}
        self._mentioned = set(choices)
        self._repairs |= {(known.repair, key) for key, known in self._types.items() if known.repair}

    def _infer_types(self) -> None:
        """Give each entity without a type the type that its facts require; in an open schema, the root type."""
        if self._bounds.schema.open:  # which admits every end of a fact as a mention
            for name in (*(end for t in self._extraction.triples for end in (t.head, t.tail)),
                         *(a.entity for a in self._extraction.attributes)):
                end = self._typed_end(name)
                if end and end.type is None:
                    self._types[end.key] = Known(ROOT_TYPE)
                    self._mentioned.add(end.key)
            return
        wishes = TypeWishes(self._bounds)
        wishes.read(self._extraction, self._typed_end)
        for key, name in wishes.infer_types():
            if key not in self._unknown_types:
                self._types[key] = Known(name, "inferred_type")
        # Entities extracted with a blank type are admitted under their inferred type, or rejected if they have none.
        for entity in self._extraction.entities:
            own_key = self._keys.get(entity.name)
            if own_key is None or label_key(entity.type) or self._bounds.is_type_name(entity.name):
                continue
            if own_key in self._types:
                self._mentioned.add(own_key)
                self._note_repair(own_key)
            elif own_key not in self._unknown_types:
                self._reject("unknown_entity_type", self._ends[own_key].name)

    def _typed_end(self, name: str) -> TypedEnd | None:
        """Return the entity that a name refers to, with its type so far (see `TypedEnd`)."""
        key = self._keys.get(name)
        if key is None or self._bounds.is_type_name(name):
            return None
        if key in self._types:
            return TypedEnd(key, self._types[key].name)
        return TypedEnd(key, "" if key in self._unknown_types else None)

    def _end(self, name: str, text: str) -> End | None:
        """Return the entity that a name refers to, or reject the item that names it, shown as `text`."""
        if self._bounds.is_type_name(name):
            self._reject("type_as_name", text)
            return None
        key = self._keys.get(name)
        if key is None:
            self._reject("ungrounded", text)
            return None
        return self._ends[key]

    # Facts.

    def _bound_triple(self, item: ExtractedTriple) -> None:
        text = f"({item.head}; {item.relation}; {item.tail})"
        head, tail = self._end(item.head, text), self._end(item.tail, text)
        if head is None or tail is None:
            return
        if head.key == tail.key:
            self._reject("self_loop", text)
            return
        relation = self._bounds.find("relation", item.relation)
        # A label that was only mapped to a similar one is unknown if the types fit in neither order.
        if relation and relation.repair and {head.key, tail.key} <= self._types.keys() and not (
                self._fits(head, relation.name, tail) or self._fits(tail, relation.name, head)):
            relation = None
        if relation and relation.backward:  # the label states the relation from tail to head
            head, tail = tail, head
        if relation is None:
            self._reject_unknown(item, text, self._support(item), head, tail)
        elif self._require_types(text, head, tail):
            self._admit_fact(item, text, relation, head, tail)

    def _support(self, item: ExtractedTriple) -> Span:
        return self._source.support(item.evidence, item.head, item.relation, item.tail)

    def _require_types(self, text: str, *ends: End) -> bool:
        unknown_type = next((self._unknown_types[end.key] for end in ends if end.key in self._unknown_types), None)
        if unknown_type is not None:
            self._reject("unknown_entity_type", text, label=unknown_type)
            return False
        if any(end.key not in self._types for end in ends):
            self._reject("undeclared_entity", text)
            return False
        return True

    def _admit_fact(self, item: ExtractedTriple, text: str, relation: Known, head: End, tail: End) -> None:
        """Store a triple as a fact in its stored form, with its ends exchanged if only that fits."""
        name = relation.name
        if not self._fits(head, name, tail):
            may_be_reversed = not (relation.backward or self._bounds.schema.might_fit(
                self._type(head), name, self._type(tail)))
            if not (may_be_reversed and self._fits(tail, name, head)) or self._is_stated_in_order(item):
                self._reject("domain_range", text, subject=self._type(head), target=self._type(tail))
                self._ask_to_widen(Ask(
                    kind="relation", label=label_key(name), text=text, subject_type=self._type(head),
                    object_type=self._type(tail), confidence=item.confidence, context=self._support(item)))
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
        key = (head.key, name, tail.key, time)
        fact = RelationFact(head=head.name, head_type=self._type(head), relation=name, tail=tail.name,
                    tail_type=self._type(tail), time=time, confidence=item.confidence,
                    span=self._support(item))
        # A fact stated several times is stored once, by its most confident statement.
        self._facts[key] = min(fact, self._facts.get(key, fact), key=_preference)
        self._note_use(head, tail)

    def _is_stated_in_order(self, item: ExtractedTriple) -> bool:
        support, head, relation, tail = (stems(" ".join(words(label_key(text)))) for text in (
            self._support(item).quote, item.head, item.relation, item.tail))
        head_start = _find_words(head, support, 0)
        if head_start < 0 or not relation:
            return False
        head_end = head_start + len(head)
        tail_start = _find_words(tail, support, head_end)
        return tail_start >= 0 and set(relation) <= set(support[head_end:tail_start])

    def _reject_unknown(self, item: ExtractedTriple | ExtractedAttribute, text: str, support: Span, *ends: End,
                        kind: str = "") -> None:
        types = [self._type(end) if end.key in self._types
                 else self._unknown_types.get(end.key, self._bounds.last_resort) for end in ends]
        if None in types:
            self._reject("undeclared_entity", text)
            return
        subject, target = (*map(str, types), "")[:2]  # an attribute has no target, so it is ""
        if isinstance(item, ExtractedTriple):
            self._reject("unknown_relation", text, label=item.relation, subject=subject, target=target,
                         confidence=item.confidence)
            ask = Ask(kind="relation", label=label_key(item.relation), text=text, subject_type=subject,
                      object_type=target, confidence=item.confidence, context=support)
        else:
            self._reject("unknown_attribute", text, label=item.attribute, subject=subject, confidence=item.confidence)
            ask = Ask(kind="attribute", label=label_key(item.attribute), text=text, subject_type=subject,
                      object_type=kind, confidence=item.confidence, context=support)
        self._ask_to_widen(ask)

    def _bound_attribute(self, item: ExtractedAttribute) -> None:
        """Admit an attribute's value if the source has it and attribute, owner and kind fit; otherwise reject it."""
        text = f"({item.entity}; {item.attribute}: {item.value})"
        owner = self._end(item.entity, text)
        if owner is None:
            return
        known = self._bounds.find("attribute", item.attribute)
        # A label that was only mapped to a similar one counts as unknown if that attribute does not fit the owner. (An
        # owner without a type is rejected below.)
        if known and known.repair and owner.key in self._types and not self._fits_attribute(owner, known.name):
            known = None
        element = self._bounds.schema.attribute_type(known.name) if known else None
        kind, unit = (element.kind, element.unit) if element else (kind_of(item.value), "")
        value = self._source.ground_value(item.value, kind, unit)
        support = self._source.support(item.evidence, item.entity, item.attribute, item.value)
        if value is None:
            self._reject("ungrounded", text)
        elif known is None:
            self._reject_unknown(item, text, support, owner, kind=kind_of(value.shown))
        elif self._require_types(text, owner):
            normal = parse_value(value.shown, kind, unit)
            fits_owner = self._fits_attribute(owner, known.name)
            if not fits_owner or (kind != "text" and not normal):
                self._reject("wrong_kind" if fits_owner else "domain_range", text, subject=self._type(owner))
                self._ask_to_widen(Ask(
                    kind="attribute", label=label_key(known.name), text=text, subject_type=self._type(owner),
                    object_type=kind_of(value.shown), confidence=item.confidence, context=support))
                return
            if known.repair:
                self._repairs.add((known.repair, text))
            if value.quoted and normal:  # the source spells a number or date differently; a text has no `normal`
                self._repairs.add(("normalised_value", text))
            time = self._time(item.time, item.attribute, text)
            # A title or an address is the same in any section, and so is a number that is a part of a name.
            if not time and parse_value(value.shown, "number") and value.shown not in owner.name:
                time = self._lines.section_note(support, owner.name, known.name, item.attribute, value.shown)
            self._admit_attribute(AttributeFact(
                entity=owner.name, entity_type=self._type(owner), attribute=known.name, value=one_line(value.shown),
                normal=normal, time=time, span=support, confidence=item.confidence), owner)

    def _admit_attribute(self, fact: AttributeFact, owner: End) -> None:
        if self._bounds.is_alias(fact.attribute) and canonical_name(fact.value) == owner.key:
            self._reject("self_loop", f"({fact.entity}; {fact.attribute}: {fact.value})")
            return
        key = (owner.key, fact.attribute, fact.normal or canonical_name(fact.value), fact.time)
        self._attributes[key] = min(fact, self._attributes.get(key, fact), key=_preference)
        self._note_use(owner)

    def _time(self, extracted_time: str, label: str, text: str) -> str:
        source_time = self._source.ground_time(extracted_time, label)
        if extracted_time.strip() and not source_time:
            self._repairs.add(("dropped_time", text))
        return source_time

    def _reject(self, reason: Reason, text: str, *, label: str = "", subject: str = "", target: str = "",
                confidence: float = 1.0) -> None:
        self._rejections.add(Rejection(reason=reason, label=label_key(label), text=text, subject_type=subject,
                                       object_type=target, confidence=confidence))

    def _ask_to_widen(self, ask: Ask) -> None:
        """Record a request to widen the schema; of equal requests, keep the most confident, then the earliest one."""
        if any(character.isalnum() for character in ask.label):
            ask = ask.model_copy(update={"declared": self._lines.is_declared(ask.label, ask.context.start)})
            key = (ask.kind, ask.label, ask.text, ask.subject_type, ask.object_type)
            self._asks[key] = max(ask, self._asks.get(key, ask), key=lambda a: (a.confidence, -a.context.start))

    def _type(self, end: End) -> str:
        return self._types[end.key].name

    def _fits(self, head: End, relation: str, tail: End) -> bool:
        return self._bounds.schema.fits(self._type(head), relation, self._type(tail))

    def _fits_attribute(self, owner: End, attribute: str) -> bool:
        schema = self._bounds.schema
        element = schema.attribute_type(attribute)
        return element is None or schema.open or schema.is_a(self._type(owner), element.owners)

    def _note_use(self, *ends: End) -> None:
        for end in ends:
            self._mentioned.add(end.key)
            self._note_repair(end.key)

    def _note_repair(self, key: str) -> None:
        repair = self._types[key].repair
        if repair:
            self._repairs.add((repair, key))


def _find_words(part: tuple[str, ...], words: tuple[str, ...], begin: int) -> int:
    return next((at for at in range(begin, len(words) - len(part) + 1) if words[at:at + len(part)] == part), -1)


def _preference(fact: RelationFact | AttributeFact) -> tuple[float, int, int, str]:
    """Return the sort key of a statement of a fact: the most confident one comes first, then the earliest."""
    return -fact.confidence, fact.span.start, fact.span.end, fact.value if isinstance(fact, AttributeFact) else ""
