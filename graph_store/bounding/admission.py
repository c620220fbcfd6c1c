"""Bounding: decide which parts of an extraction enter the graph (Youtu-GraphRAG eq. 2, Phi(r) = (dom, range)).

A pure function of (extraction, chunk, bounds), for any reasoner or import; the order of the items plays no part.

An item that fits the schema and is in the source is admitted unchanged. These repairs are made, and counted:

- `mapped_label`: a label has the same stems as exactly one schema element's label (see `Bounds.find`);
- `inferred_type`: an entity extracted without a type takes the type that most of its facts allow;
- `swapped`: a fact fits only with its ends exchanged, also with more special types, and no word says its direction;
- `normalised_value`: a value or date that the source spells differently takes the source's spelling;
- `dropped_time`: a fact loses a time that is not in the source, or that is no time.

Some facts can be stated in two ways and are stored in one; this does not count as a repair. The ends of a symmetric
relation are stored in the order of their names. Of two inverse relations, the one that the schema lists first is used.
Everything else is rejected with a reason. An unknown label, or types that a relation does not allow, also yield an
`Ask`: a request to widen the schema.
"""

from collections import Counter, defaultdict
from functools import cached_property

from ...schemas import extraction as extractions
from ...schemas.documents import Chunk
from ...schemas.extraction import Ask, AttributeFact, BoundedExtraction, EntityMention, RelationFact, RepairKind
from ...schemas.graph_schema import ANY, ROOT_TYPE
from ...schemas.naming import canonical_name, label_key
from ...text.cleaning import one_line
from ...text.quantities import kind_of, parse_value
from ...text.section_lines import Line, lines_under
from .chunk_entities import NamedEntities, NamedEntity, is_declared, section_note
from .grounding import Grounded, SourceText
from .labels import Bounds, Known
from .words import stems, words

__all__ = ["Bounds", "bound"]


def bound(extraction: extractions.Extraction, chunk: Chunk, bounds: Bounds) -> BoundedExtraction:
    """Admit the items that fit the schema and are in the source, in a fixed order; reject the others with a reason."""
    return _Bounding(extraction, chunk, bounds).run()


class _Bounding:
    """The bounding of one chunk's extraction: the items admitted and rejected so far."""

    def __init__(self, extraction: extractions.Extraction, chunk: Chunk, bounds: Bounds) -> None:
        self._extraction = extraction
        self._bounds = bounds
        self._chunk = chunk
        self._source = SourceText(chunk.text, chunk.title, chunk.heading, chunk.opening, chunk.document_id,
                                  *extraction.elsewhere, said_on=chunk.said_on)
        named = NamedEntities(extraction, self._source)
        self._keys, self._entities = named.keys, named.entities
        """Entity keys by extracted name, and entities by key; only names that the source contains."""
        self._types: dict[str, Known] = {}  # the schema type of each entity, by entity key
        self._unknown_types: dict[str, str] = {}  # by entity key: the labels of types that the schema lacks
        self._admitted_keys: set[str] = set()  # of entities
        self._facts: dict[tuple[str, str, str, str], RelationFact] = {}  # by head, relation, tail and time
        self._attributes: dict[tuple[str, str, str, str], AttributeFact] = {}  # by owner, attribute, value and time
        self._rejections: set[extractions.Rejection] = set()
        self._asks: dict[tuple[str, ...], Ask] = {}
        self._repairs: set[tuple[RepairKind, str]] = {("normalised_value", name) for name in named.respelled}
        """The kind of each repair, with the text of the item."""

    @cached_property
    def _lines(self) -> list[Line]:
        """The lines of the chunk, each with the headings above it."""
        return list(lines_under(self._chunk.text, self._chunk.heading))

    def run(self) -> BoundedExtraction:
        """Bound the entities, triples and attributes, and return what was admitted, rejected and asked for."""
        self._take_extracted_types()
        self._infer_types()
        # People's decisions come last: they also apply to types that were inferred.
        self._types = {key: self._bounds.apply_decision(key, known) for key, known in self._types.items()}
        for triple in self._extraction.triples:
            self._bound_triple(triple)
        for attribute in self._extraction.attributes:
            self._bound_attribute(attribute)
        for item in self._extraction.malformed:
            self._reject("malformed", item)
        repaired = sorted(kind for kind, _ in self._repairs)
        admitted = [(self._entities[key], self._types[key].name) for key in sorted(self._admitted_keys)]
        return BoundedExtraction(
            mentions=tuple(EntityMention(name=one.name, type=type_name, span=one.span) for one, type_name in admitted),
            facts=tuple(self._facts[key] for key in sorted(self._facts)),
            attributes=tuple(self._attributes[key] for key in sorted(self._attributes)),
            rejections=tuple(sorted(self._rejections, key=extractions.Rejection.model_dump_json)),
            asks=tuple(self._asks[key] for key in sorted(self._asks)),
            repairs={kind: repaired.count(kind) for kind in dict.fromkeys(repaired)})

    def _take_extracted_types(self) -> None:
        """Give each entity the most confident of its extracted types that the schema has, and admit the entity."""
        def rank(entity: extractions.ExtractedEntity) -> tuple[bool, float, int, str]:
            # The type of last resort comes after all others: tables use it for cells whose header names no type. Of
            # equally confident ones, the schema's first comes first.
            known = self._bounds.find("entity_type", entity.type)
            name = known.name if known else label_key(entity.type)
            return name == self._bounds.last_resort, -entity.confidence, self._bounds.position(name), name

        for entity in sorted(self._extraction.entities, key=rank):
            named = self._find_or_reject(entity.name, text=entity.name)
            if named is None:
                continue
            known, label = self._bounds.find("entity_type", entity.type), label_key(entity.type)
            if known:
                self._types.setdefault(named.key, known)
            elif label:  # without any label, `_infer_types` looks for a type
                self._unknown_types.setdefault(named.key, label)
                self._reject_and_ask("unknown_entity_type", Ask(
                    kind="entity_type", label=label, text=named.name, confidence=entity.confidence,
                    context=self._source.sentence(named.name)))
        # An entity with a type of the schema needs none of its unknown types.
        self._unknown_types = {key: label for key, label in self._unknown_types.items() if key not in self._types}
        self._admitted_keys = set(self._types)
        for key in self._types:
            self._count_type_repair(key)

    def _infer_types(self) -> None:
        """Give each entity without a type the type that most of its facts allow; reject extracted ones without any."""
        if self._bounds.schema.open:  # it requires no types: any other name that an item has is of the root type
            for name, key in self._keys.items():
                if key not in self._types and not self._bounds.is_type_name(name):
                    self._types[key] = Known(ROOT_TYPE)
                    self._admitted_keys.add(key)
            return
        for key, counts in self._count_allowed_types().items():
            # Of equally many, the schema's first; the last resort if the facts allow any type.
            inferred = min(counts.keys() - {ANY}, key=lambda name: (-counts[name], self._bounds.position(name)),
                           default=self._bounds.last_resort)
            if inferred and key not in self._types and key not in self._unknown_types:
                self._types[key] = Known(inferred, "inferred_type")
        for entity in self._extraction.entities:
            key = self._keys.get(entity.name, "")
            if label_key(entity.type) or not key or self._bounds.is_type_name(entity.name):
                continue  # `_take_extracted_types` has admitted or rejected it
            if key in self._types:
                self._admitted_keys.add(key)
                self._count_type_repair(key)
            elif key not in self._unknown_types:
                self._reject("unknown_entity_type", self._entities[key].name)

    def _count_allowed_types(self) -> dict[str, Counter[str]]:
        """Return by entity key how many of its triples and attributes allow it to be of which type."""
        counts = defaultdict[str, Counter[str]](Counter)
        for triple in self._extraction.triples:
            relation = self._bounds.find("relation", triple.relation)
            element = self._bounds.schema.relation_type(relation.name) if relation else None
            if relation and element:
                ends = (triple.tail, triple.head) if relation.backward else (triple.head, triple.tail)
                for name, allowed in zip(ends, (element.domain, element.range), strict=True):
                    counts[self._keys.get(name, "")].update(allowed)
        for attribute in self._extraction.attributes:
            known = self._bounds.find("attribute", attribute.attribute)
            attribute_element = self._bounds.schema.attribute_type(known.name) if known else None
            if attribute_element:
                counts[self._keys.get(attribute.entity, "")].update(attribute_element.owners)
        counts.pop("", None)  # names that the source does not have
        return counts

    def _find_or_reject(self, name: str, text: str) -> NamedEntity | None:
        """Return the entity that a name refers to; if there is none, reject the item `text` and return None."""
        key = self._keys.get(name)
        if self._bounds.is_type_name(name):
            self._reject("type_as_name", text)
        elif key is None:
            self._reject("ungrounded", text)
        else:
            return self._entities[key]
        return None

    def _bound_triple(self, item: extractions.ExtractedTriple) -> None:
        """Admit a triple as a fact if the source has its ends, and its relation and types fit; otherwise reject it."""
        text = f"({item.head}; {item.relation}; {item.tail})"
        head, tail = self._find_or_reject(item.head, text), self._find_or_reject(item.tail, text)
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
            self._reject_unknown_label(ask, head, tail)
        elif self._have_types_or_reject(text, head, tail):
            self._bound_fact(item, ask, relation, head, tail)

    def _bound_fact(self, item: extractions.ExtractedTriple, ask: Ask, relation: Known, head: NamedEntity,
                    tail: NamedEntity) -> None:
        """Admit a triple as a fact if the schema allows its types, if need be with its ends exchanged, or reject it."""
        name, text = relation.name, ask.text
        if not self._fits(head, name, tail):
            # With more special types it might fit as it is stated, so exchanging its ends would be a guess.
            might_fit_as_stated = self._bounds.schema.might_fit(self._type(head), name, self._type(tail))
            # A label that reads from tail to head, or the order of the source's words, leaves no doubt about the ends.
            is_direction_stated = relation.backward or _is_stated_in_order(item, ask.context.quote)
            if might_fit_as_stated or is_direction_stated or not self._fits(tail, name, head):
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
        time = self._ground_time(item.time, item.relation, text)
        fact = RelationFact(head=head.name, head_type=self._type(head), relation=name, tail=tail.name,
                            tail_type=self._type(tail), time=time, confidence=item.confidence, span=ask.context)
        # A fact stated several times is stored once, by its most confident statement.
        key = (head.key, name, tail.key, time)
        self._facts[key] = min(fact, self._facts.get(key, fact), key=_preference)
        self._admit_entities(head, tail)

    def _bound_attribute(self, item: extractions.ExtractedAttribute) -> None:
        """Admit an attribute's value if the source has it and attribute, owner and kind fit; otherwise reject it."""
        text = f"({item.entity}; {item.attribute}: {item.value})"
        owner = self._find_or_reject(item.entity, text)
        if owner is None:
            return
        known = self._bounds.find("attribute", item.attribute)
        element = self._bounds.schema.attribute_type(known.name) if known else None
        # The schema says what kind of value an attribute has; of one that it lacks, the value itself shows it.
        kind, unit = (element.kind, element.unit) if element else (kind_of(item.value), "")
        value = self._source.ground_value(item.value, kind, unit)
        if value is None:
            self._reject("ungrounded", text)
            return
        ask = Ask(kind="attribute", label=label_key(known.name if known else item.attribute), text=text,
                  subject_type=self._type_or_label(owner), object_type=kind_of(value.shown), confidence=item.confidence,
                  context=self._source.support(item.evidence, item.entity, item.attribute, item.value))
        if known is None:
            self._reject_unknown_label(ask, owner)
        elif self._have_types_or_reject(text, owner):
            normal = parse_value(value.shown, kind, unit)
            schema = self._bounds.schema
            fits_owner = element is None or schema.open or schema.is_a(self._type(owner), element.owners)
            if not fits_owner:
                self._reject_and_ask("domain_range", ask)
            elif kind != "text" and not normal:
                self._reject_and_ask("wrong_kind", ask)
            else:
                self._admit_value(item, ask, known, owner, value, normal)

    def _admit_value(self, item: extractions.ExtractedAttribute, ask: Ask, known: Known, owner: NamedEntity,
                     value: Grounded, normal: str) -> None:
        """Admit an attribute's value; `normal` is its number or date in normal form, "" if the value is a text."""
        if known.repair:
            self._repairs.add((known.repair, ask.text))
        if value.quoted and normal:  # the source spells a number or date differently
            self._repairs.add(("normalised_value", ask.text))
        time = self._ground_time(item.time, item.attribute, ask.text)
        # A number without a time may hold only for its section. A title or an address is the same in any section,
        # and so is a number that is a part of the name.
        is_separate_number = parse_value(value.shown, "number") and value.shown not in owner.name
        if is_separate_number and not time:
            time = section_note(self._lines, self._chunk.title, ask.context.start,
                                owner.name, known.name, item.attribute, value.shown)
        fact = AttributeFact(
            entity=owner.name, entity_type=self._type(owner), attribute=known.name, value=one_line(value.shown),
            normal=normal, time=time, span=ask.context, confidence=item.confidence)
        # A value stated several times, in any spelling, is stored once, by its most confident statement.
        key = (owner.key, fact.attribute, fact.normal or canonical_name(fact.value), fact.time)
        self._attributes[key] = min(fact, self._attributes.get(key, fact), key=_preference)
        self._admit_entities(owner)

    def _ground_time(self, extracted_time: str, label: str, text: str) -> str:
        """Return the source's words for an extracted time and its qualifiers; "" if it has none, which is a repair."""
        source_time = self._source.ground_time(extracted_time, label)
        if extracted_time.strip() and not source_time:
            self._repairs.add(("dropped_time", text))
        return source_time

    def _type(self, entity: NamedEntity) -> str:
        return self._types[entity.key].name

    def _type_or_label(self, entity: NamedEntity) -> str:
        """Return an entity's type; else the label of its unknown type, the type of last resort, or ""."""
        if entity.key in self._types:
            return self._type(entity)
        return self._unknown_types.get(entity.key, self._bounds.last_resort or "")

    def _fits(self, head: NamedEntity, relation: str, tail: NamedEntity) -> bool:
        return self._bounds.schema.fits(self._type(head), relation, self._type(tail))

    def _have_types_or_reject(self, text: str, *entities: NamedEntity) -> bool:
        """Return True if all entities of an item have a type of the schema; otherwise reject it."""
        untyped = [entity.key for entity in entities if entity.key not in self._types]
        unknown_labels = [self._unknown_types[key] for key in untyped if key in self._unknown_types]
        if unknown_labels:
            self._reject("unknown_entity_type", text, label=unknown_labels[0])
        elif untyped:
            self._reject("undeclared_entity", text)
        return not untyped

    def _admit_entities(self, *entities: NamedEntity) -> None:
        for entity in entities:
            self._admitted_keys.add(entity.key)
            self._count_type_repair(entity.key)

    def _count_type_repair(self, key: str) -> None:
        repair = self._types[key].repair
        if repair:
            self._repairs.add((repair, key))

    def _reject(self, reason: extractions.Reason, text: str, *, label: str = "", subject: str = "", target: str = "",
                confidence: float = 1.0) -> None:
        """Reject the item that `text` shows; `subject` and `target` are the types of its ends."""
        self._rejections.add(extractions.Rejection(reason=reason, label=label, text=text, subject_type=subject,
                                                   object_type=target, confidence=confidence))

    def _reject_unknown_label(self, ask: Ask, *entities: NamedEntity) -> None:
        """Reject an item because the schema lacks its label; ask for the label, unless an entity has no type at all."""
        are_declared = all(entity.key in self._types or entity.key in self._unknown_types for entity in entities)
        # With a type of last resort, the entities could have that type.
        if not are_declared and self._bounds.last_resort is None:
            self._reject("undeclared_entity", ask.text)
        else:
            self._reject_and_ask("unknown_relation" if ask.kind == "relation" else "unknown_attribute", ask)

    def _reject_and_ask(self, reason: extractions.Reason, ask: Ask) -> None:
        """Reject an item, and request to widen the schema so that it fits."""
        # For the two other reasons, the schema has the label: nothing is unknown whose confidence would matter.
        is_unknown = reason not in {"domain_range", "wrong_kind"}
        label, confidence = (ask.label, ask.confidence) if is_unknown else ("", 1.0)
        self._reject(reason, ask.text, label=label, subject=ask.subject_type, confidence=confidence,
                     target=ask.object_type if ask.kind == "relation" else "")  # else it is a kind of value
        if any(map(str.isalnum, ask.label)):  # a label of signs alone can name no element
            declared = is_declared(ask.label, self._chunk.text, self._lines, ask.context.start)
            ask = ask.model_copy(update={"declared": declared})
            key = (ask.kind, ask.label, ask.text, ask.subject_type, ask.object_type)
            # Of equal requests, the most confident is stored, and of these the earliest in the text.
            self._asks[key] = max(ask, self._asks.get(key, ask), key=lambda a: (a.confidence, -a.context.start))


def _is_stated_in_order(item: extractions.ExtractedTriple, quote: str) -> bool:
    """Return True if a quote has the words of a triple's head, then those of its relation, then those of its tail."""
    def stemmed(text: str) -> str:  # between spaces, so that only whole words are found
        return f" {' '.join(stems(' '.join(words(label_key(text)))))} "

    _, found_head, after_head = stemmed(quote).partition(stemmed(item.head))
    # The space that ended the head also begins the next word.
    between, found_tail, _ = f" {after_head}".partition(stemmed(item.tail))
    relation_stems = set(stemmed(item.relation).split())
    return bool(found_head and found_tail and relation_stems) and relation_stems <= set(between.split())


def _preference(fact: RelationFact | AttributeFact) -> tuple[float, int, int, str]:
    """Return the sort key of a statement of a fact: the most confident one comes first, then the earliest."""
    return -fact.confidence, fact.span.start, fact.span.end, fact.value if isinstance(fact, AttributeFact) else ""
