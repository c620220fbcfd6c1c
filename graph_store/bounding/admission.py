"""Bounding: what of an extraction is admitted to the graph (Youtu-GraphRAG eq. 2, Phi(r) = (dom, range)).

A pure function of (extraction, chunk, bounds), applied to whatever any reasoner or import said. The
order in which things were said plays no part.

Admitted as said is what fits the schema and is in the source. Repaired and counted:

- `mapped_label`: a label that is a near-duplicate of exactly one element's (see `Bounds.find`);
- `lifted_type`: a type that is a kind of a known one, as "historical film" is of "film";
- `inferred_type`: an entity of which no type was said takes the one its facts ask for;
- `swapped`: a fact that fits only with its ends exchanged, unless its words or its label say which way it holds;
- `normalised_value`: a value or date that the source spells otherwise takes the source's words;
- `dropped_time`: a fact loses a time that is not in the source or says nothing of when.

To choose one stored form for a fact that can be stated in two ways is no repair: the ends of a symmetric relation are
in the order of their names, and of two inverse relations the fact goes under the one that comes first in the schema.
All else is rejected with the reason; what an unknown label keeps out is also an `Ask`.
"""

import re
from functools import cached_property

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
from ...text.section_lines import Line, lines_under
from .chunk_entities import End, NamedEnds, TypedEnd, TypeWishes
from .grounding import SourceText
from .labels import Bounds, Known, extracted_labels
from .words import stems, words

__all__ = ["Bounds", "bound"]

_FIELD = re.compile(r"[^\w\n]{0,9}(?P<name>[^\n:：|]{1,60}?)[*_\s]{0,4}[:：]")
"""The name of a form's field before its value: "*Sponsor / advisor*: Ann Lee"."""


def bound(extraction: Extraction, chunk: Chunk, bounds: Bounds) -> BoundedExtraction:
    """Admit what fits the schema and is in the source, in a canonical order; reject the rest with the reason."""
    return _Bounding(extraction, chunk, bounds).run()


class _Bounding:
    """The work on one chunk."""

    def __init__(self, extraction: Extraction, chunk: Chunk, bounds: Bounds) -> None:
        self._extraction = extraction
        self._chunk = chunk
        self._bounds = bounds
        self._source = SourceText(chunk.text, chunk.title, chunk.heading, chunk.opening, chunk.document_id,
                                  *extraction.elsewhere)
        named = NamedEnds(extraction, self._source, bounds)
        self._keys, self._ends = named.keys, named.ends
        self._types: dict[str, Known] = {}
        self._waiting: dict[str, str] = {}
        """Of each entity of unknown type: the key of the type's label."""
        self._mentioned: set[str] = set()
        self._facts: dict[tuple[str, str, str, str], RelationFact] = {}
        self._attributes: dict[tuple[str, str, str, str], AttributeFact] = {}
        self._rejections: set[Rejection] = set()
        self._asks: dict[tuple[str, ...], Ask] = {}
        self._repairs: set[tuple[RepairKind, str]] = {("normalised_value", name) for name in named.respelled}

    def run(self) -> BoundedExtraction:
        self._bounds.remember(extracted_labels(self._extraction))
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
            mentions=tuple(self._mention(key) for key in sorted(self._mentioned)),
            facts=tuple(self._facts[key] for key in sorted(self._facts)),
            attributes=tuple(self._attributes[key] for key in sorted(self._attributes)),
            rejections=tuple(sorted(self._rejections, key=Rejection.model_dump_json)),
            asks=tuple(self._asks[key] for key in sorted(self._asks)),
            repairs={kind: repaired.count(kind) for kind in dict.fromkeys(repaired)})

    # What was said, looked up in the schema.

    def _declare(self) -> None:
        choices: dict[str, list[tuple[bool, float, bool, int, Known]]] = {}
        waiting: dict[str, list[tuple[float, str]]] = {}
        for entity in self._extraction.entities:
            end = self._end(entity.name, entity.name)
            if end is None:
                continue
            known, label = self._bounds.find("entity_type", entity.type), label_key(entity.type)
            if known:
                # A table gives the type of last resort to what its headers do not tell.
                choices.setdefault(end.key, []).append((
                    known.name == self._bounds.last_resort, -entity.confidence, known.repair is not None,
                    self._bounds.position(known.name), known))
            elif label:
                waiting.setdefault(end.key, []).append((-entity.confidence, label))
                self._reject("unknown_entity_type", end.name, label=label, confidence=entity.confidence)
                self._ask(Ask(kind="entity_type", label=label, text=end.name, confidence=entity.confidence,
                              context=self._source.sentence_around(end.span)))
        self._types = {key: min(choices[key])[-1] for key in choices}
        self._waiting = {key: min(waiting[key])[-1] for key in waiting if key not in choices}
        self._mentioned = set(choices)
        self._repairs |= {(known.repair, key) for key, known in self._types.items() if known.repair}

    def _infer_types(self) -> None:
        if self._bounds.schema.open:
            self._declare_ends()
            return
        wishes = TypeWishes(self._bounds)
        wishes.read(self._extraction, self._typed_end)
        for key, name in wishes.infer():
            if key not in self._waiting:
                self._types[key] = Known(name, "inferred_type")
        self._declare_inferred()

    def _declare_ends(self) -> None:
        """Give the ends of facts that have no type the root type, as an open schema admits them.

        They also become mentions of the chunk, as entities do that were declared with a type.
        """
        for name in (*(end for t in self._extraction.triples for end in (t.head, t.tail)),
                     *(a.entity for a in self._extraction.attributes)):
            end = self._typed_end(name)
            if end and end.type is None:
                self._types[end.key] = Known(ROOT_TYPE)
                self._mentioned.add(end.key)

    def _declare_inferred(self) -> None:
        """Entities declared without a type come in with the inferred one, or wait for nothing."""
        for entity in self._extraction.entities:
            key = self._keys.get(entity.name)
            if key is None or label_key(entity.type) or self._bounds.is_type_name(entity.name):
                continue
            if key in self._types:
                self._mentioned.add(key)
                self._note_repair(key)
            elif key not in self._waiting:
                self._reject("unknown_entity_type", self._ends[key].name)

    def _typed_end(self, name: str) -> TypedEnd | None:
        """Return the end that a name refers to, without rejecting anything; None if it cannot be in a fact."""
        key = self._keys.get(name)
        if key is None or self._bounds.is_type_name(name):
            return None
        known = self._types.get(key)
        return TypedEnd(key, known.name if known else "" if key in self._waiting else None)

    def _end(self, name: str, text: str) -> End | None:
        """Return the entity that a name refers to, or reject `text` if it refers to none."""
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
        relation = self._relation(item.relation, head, tail)
        if relation and relation.backward:
            head, tail = tail, head
        if relation is None:
            self._reject_unknown(item, text, self._support(item), head, tail)
        elif self._has_types(text, head, tail):
            self._admit_fact(item, text, relation, head, tail)

    def _relation(self, label: str, head: End, tail: End) -> Known | None:
        """Return the relation that a label leads to; by repair only where it can hold of these ends."""
        known = self._bounds.find("relation", label)
        if known is None or known.repair is None or not {head.key, tail.key} <= self._types.keys():
            return known
        as_given, swapped = self._fits(head, known.name, tail), self._fits(tail, known.name, head)
        element = self._bounds.schema.relation_type(known.name)
        symmetric = element is not None and element.symmetric
        return known if (as_given != swapped or (as_given and (symmetric or not known.one_way))) else None

    def _support(self, item: ExtractedTriple) -> Span:
        """Return the words that state a fact."""
        return self._source.support(item.evidence, item.head, item.relation, item.tail)

    def _has_types(self, text: str, *ends: End) -> bool:
        """Return True if the types of a fact's ends are known; else it waits or is rejected."""
        waiting = next((self._waiting[end.key] for end in ends if end.key in self._waiting), None)
        if waiting is not None:
            self._reject("unknown_entity_type", text, label=waiting)
            return False
        if any(end.key not in self._types for end in ends):
            self._reject("undeclared_entity", text)
            return False
        return True

    def _admit_fact(self, item: ExtractedTriple, text: str, relation: Known, head: End, tail: End) -> None:
        name = relation.name
        if not self._fits(head, name, tail):
            if not self._is_reversed(item, relation, head, tail):
                self._reject("domain_range", text, subject=self._type(head), target=self._type(tail))
                self._ask(Ask(kind="relation", label=label_key(name), text=text, subject_type=self._type(head),
                              object_type=self._type(tail), confidence=item.confidence,
                              context=self._support(item)))
                return
            head, tail = tail, head
            self._repairs.add(("swapped", text))
        if relation.repair:
            self._repairs.add((relation.repair, text))
        first = self._bounds.stored_relation(name, self._type(head), self._type(tail), is_sorted=head.key <= tail.key)
        if first is not None:
            head, name, tail = tail, first, head
        time = self._time(item.time, text)
        key = (head.key, name, tail.key, time)
        fact = RelationFact(head=head.name, head_type=self._type(head), relation=name, tail=tail.name,
                    tail_type=self._type(tail), time=time, confidence=item.confidence,
                    span=self._support(item))
        self._facts[key] = min(fact, self._facts.get(key, fact), key=_preference)
        self._note_use(head, tail)

    def _is_reversed(self, item: ExtractedTriple, relation: Known, head: End, tail: End) -> bool:
        """Return True if a fact fits with its ends exchanged, and nothing says that it holds as it was said.

        Types leave doubt where one that does not fit may only be too general: a concept may be a feature. A label that
        is known to run backward has its ends where they belong.
        """
        might_fit = self._bounds.schema.might_fit(self._type(head), relation.name, self._type(tail))
        return (not relation.backward and not might_fit and self._fits(tail, relation.name, head)
                and not self._is_stated_so(item))

    def _is_stated_so(self, item: ExtractedTriple) -> bool:
        """Return True if the words of a fact have its head, the words of its relation and its tail in this order.

        "The team uses a vote" does not say that the vote uses the team, whatever the schema's types are.
        """
        place = self._support(item)
        said, head, relation, tail = (stems(" ".join(words(label_key(text)))) for text in (
            place.quote, item.head, item.relation, item.tail))
        start = _place_of(head, said, 0)
        end = _place_of(tail, said, start + len(head)) if start >= 0 else -1
        return end >= 0 and bool(relation) and set(relation) <= set(said[start + len(head):end])

    def _reject_unknown(self, item: ExtractedTriple | ExtractedAttribute, text: str, support: Span, *ends: End,
                        kind: str = "") -> None:
        """Reject a fact of a relation or attribute that the schema does not have, and ask for it."""
        types = [self._would_be(end) for end in ends]
        if None in types:
            self._reject("undeclared_entity", text)
            return
        subject, target = (*map(str, types), "")[:2]
        if isinstance(item, ExtractedTriple):
            self._reject("unknown_relation", text, label=item.relation, subject=subject, target=target,
                         confidence=item.confidence)
            ask = Ask(kind="relation", label=label_key(item.relation), text=text, subject_type=subject,
                      object_type=target, confidence=item.confidence, context=support)
        else:
            self._reject("unknown_attribute", text, label=item.attribute, subject=subject, confidence=item.confidence)
            ask = Ask(kind="attribute", label=label_key(item.attribute), text=text, subject_type=subject,
                      object_type=kind, confidence=item.confidence, context=support)
        self._ask(ask)

    def _would_be(self, end: End) -> str | None:
        """Return the type that an end has or waits for, or would be given by a relation between any types."""
        if end.key in self._types:
            return self._type(end)
        return self._waiting.get(end.key, self._bounds.last_resort)

    def _bound_attribute(self, item: ExtractedAttribute) -> None:
        text = f"({item.entity}; {item.attribute}: {item.value})"
        owner = self._end(item.entity, text)
        if owner is None:
            return
        known = self._bounds.find("attribute", item.attribute)
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
        elif self._has_types(text, owner):
            normal = parse_value(value.shown, kind, unit)
            fits = self._fits_attribute(owner, known.name)
            if not fits or (kind != "text" and not normal):
                self._reject("wrong_kind" if fits else "domain_range", text, subject=self._type(owner))
                self._ask(Ask(kind="attribute", label=label_key(known.name), text=text, confidence=item.confidence,
                              subject_type=self._type(owner), object_type=kind_of(value.shown), context=support))
            else:
                if known.repair:
                    self._repairs.add((known.repair, text))
                if value.quoted and normal:
                    self._repairs.add(("normalised_value", text))
                self._admit_attribute(AttributeFact(
                    entity=owner.name, entity_type=self._type(owner), attribute=known.name, value=one_line(value.shown),
                    normal=normal, time=self._time(item.time, text), span=support, confidence=item.confidence), owner)

    def _admit_attribute(self, fact: AttributeFact, owner: End) -> None:
        if self._bounds.is_alias(fact.attribute) and canonical_name(fact.value) == owner.key:
            self._reject("self_loop", f"({fact.entity}; {fact.attribute}: {fact.value})")
            return
        key = (owner.key, fact.attribute, fact.normal or canonical_name(fact.value), fact.time)
        self._attributes[key] = min(fact, self._attributes.get(key, fact), key=_preference)
        self._note_use(owner)

    def _time(self, said: str, text: str) -> str:
        """Return the source's words for when a fact holds; a time that it has not is dropped."""
        words = self._source.ground_time(said)
        self._repairs |= {("dropped_time", text)} if said.strip() and not words else set()
        return words

    def _reject(self, reason: Reason, text: str, *, label: str = "", subject: str = "", target: str = "",
                confidence: float = 1.0) -> None:
        self._rejections.add(Rejection(reason=reason, label=label_key(label), text=text, subject_type=subject,
                                       object_type=target, confidence=confidence))

    def _ask(self, ask: Ask) -> None:
        if any(character.isalnum() for character in ask.label):
            ask = ask.model_copy(update={"declared": self._is_declared(ask.label, ask.context.start)})
            key = (ask.kind, ask.label, ask.text, ask.subject_type, ask.object_type)
            self._asks[key] = max(ask, self._asks.get(key, ask), key=lambda a: (a.confidence, -a.context.start))

    def _is_declared(self, label: str, start: int) -> bool:
        """Return True if a label is the author's: a table's header, a field before a colon, or what is above a list.

        Args:
            label: the label as `label_key` writes it.
            start: where in the chunk's text the words begin that support it.
        """
        if self._source.text.startswith("|", start):
            return True
        field = _FIELD.match(self._source.text, start)
        above = next((line for line in self._lines if line.start >= start), None)
        written = (field["name"] if field else "", *(above.above[-1:] if above else ()), above.caption if above else "")
        return label in map(label_key, filter(None, written))

    @cached_property
    def _lines(self) -> list[Line]:
        return list(lines_under(self._source.text, self._chunk.heading))

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

    def _mention(self, key: str) -> EntityMention:
        end = self._ends[key]
        return EntityMention(name=end.name, type=self._types[key].name, span=end.span)

def _place_of(part: tuple[str, ...], words: tuple[str, ...], begin: int) -> int:
    """Return where some words follow each other among others, from a place on; -1 if nowhere."""
    return next((at for at in range(begin, len(words) - len(part) + 1) if words[at:at + len(part)] == part), -1)


def _preference(fact: RelationFact | AttributeFact) -> tuple[float, int, int, str]:
    """Rank two statements of one fact: the surer, then the earlier one."""
    return -fact.confidence, fact.span.start, fact.span.end, fact.value if isinstance(fact, AttributeFact) else ""
