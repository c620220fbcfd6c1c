"""Bounding: what of an extraction is admitted to the graph (Youtu-GraphRAG eq. 2, Phi(r) = (dom, range)).

A pure function of (extraction, chunk, schema), applied to whatever any reasoner or import said.
"""

from ..schemas.documents import Chunk, Span
from ..schemas.extraction import (
    AttributeFact,
    BoundedExtraction,
    EntityMention,
    ExtractedAttribute,
    ExtractedTriple,
    Extraction,
    Fact,
    Reason,
    Rejection,
)
from ..schemas.graph_schema import ROOT_TYPE, GraphSchema, SchemaElement
from ..schemas.naming import canonical_name, normalise
from .grounding import SourceText


def label_key(label: str) -> str:
    """The form under which two labels of a schema element count as the same: 'Born In' as 'born_in'."""
    return " ".join(normalise(label).replace("_", " ").replace("-", " ").split())


class Bounds:
    """A schema prepared for looking labels up; made once for many chunks."""

    def __init__(self, schema: GraphSchema) -> None:
        self.schema = schema
        self._types = _names(schema.entity_types)
        self._relations = _names(schema.relation_types)
        self._attributes = _names(schema.attribute_types)

    def labels(self) -> set[str]:
        """The keys of all labels that the schema knows."""
        return {*self._types, *self._relations, *self._attributes}

    def entity_type(self, label: str) -> str | None:
        """The schema's name of an entity type, whichever of its names was used; None if unknown."""
        return self._types.get(label_key(label)) or ((label.strip() or ROOT_TYPE) if self.schema.open else None)

    def relation(self, label: str) -> str | None:
        """The schema's name of a relation; None if unknown."""
        return self._relations.get(label_key(label)) or ((label.strip() or None) if self.schema.open else None)

    def attribute(self, label: str) -> str | None:
        """The schema's name of an attribute; None if unknown."""
        return self._attributes.get(label_key(label)) or ((label.strip() or None) if self.schema.open else None)


def _names(elements: tuple[SchemaElement, ...]) -> dict[str, str]:
    # First come, first served: an element's own name goes before another's alias.
    known: dict[str, str] = {label_key(element.name): element.name for element in elements}
    for element in elements:
        for name in element.all_names():
            known.setdefault(label_key(name), element.name)
    return known


def bound(extraction: Extraction, chunk: Chunk, bounds: Bounds) -> BoundedExtraction:
    """Admit what fits the schema and stands in the source; reject the rest with the reason.

    Args:
        extraction: what a reasoner said of the chunk.
        chunk: the chunk; spans of the result are relative to its text.
        bounds: the schema in force.

    Returns:
        Mentions, facts and attributes, without repetitions, in a canonical order, and rejections.
    """
    return _Bounding(chunk, bounds).run(extraction)


class _Bounding:
    """The work on one chunk."""

    def __init__(self, chunk: Chunk, bounds: Bounds) -> None:
        self._bounds = bounds
        self._source = SourceText(chunk.text, chunk.title, chunk.heading)
        self._mentions: dict[str, EntityMention] = {}
        self._facts: dict[tuple[str, str, str], Fact] = {}
        self._attributes: dict[tuple[str, str, str], AttributeFact] = {}
        self._rejections: set[Rejection] = set()
        self._swapped = 0

    def run(self, extraction: Extraction) -> BoundedExtraction:
        for entity in extraction.entities:
            self._admit_entity(entity.name, entity.type, entity.confidence)
        for triple in extraction.triples:
            self._admit_triple(triple)
        for attribute in extraction.attributes:
            self._admit_attribute(attribute)
        for item in extraction.malformed:
            self._reject("malformed", item)
        return BoundedExtraction(
            mentions=tuple(self._mentions[key] for key in sorted(self._mentions)),
            facts=tuple(self._facts[key] for key in sorted(self._facts)),
            attributes=tuple(self._attributes[key] for key in sorted(self._attributes)),
            rejections=tuple(sorted(self._rejections, key=lambda r: r.model_dump_json())),
            swapped=self._swapped)

    def _reject(self, reason: Reason, text: str, *, label: str = "", subject: str = "", target: str = "",
                confidence: float = 1.0) -> None:
        self._rejections.add(Rejection(reason=reason, label=label_key(label), text=text, subject_type=subject,
                                       object_type=target, confidence=confidence))

    def _admit_entity(self, name: str, label: str, confidence: float = 1.0) -> None:
        key = canonical_name(name)
        if not key or key in self._mentions:
            return
        type_name = self._bounds.entity_type(label)
        if type_name is None:
            self._reject("unknown_entity_type", name, label=label, confidence=confidence)
            return
        span = self._ground(name)
        if span is None:
            self._reject("ungrounded", name)
            return
        self._mentions[key] = EntityMention(name=name.strip(), type=type_name, span=span)

    def _ground(self, name: str, *hints: str) -> Span | None:
        """Where a name stands; the sentence closest to it if it is only paraphrased or in the title."""
        found = self._source.find(name)
        if found is None and self._source.mentions(name):
            found = self._source.sentence(name, *hints)
        return found

    def _end(self, name: str, text: str) -> EntityMention | None:
        """The mention that one end of a fact names; in an open schema ends declare themselves."""
        key = canonical_name(name)
        opened = self._bounds.schema.open
        if key not in self._mentions and opened:
            self._admit_entity(name, "")
        if key not in self._mentions:
            self._reject("ungrounded" if opened else "undeclared_entity", text)
        return self._mentions.get(key)

    def _admit_triple(self, said: ExtractedTriple) -> None:
        text = f"({said.head}; {said.relation}; {said.tail})"
        head, tail = self._end(said.head, text), self._end(said.tail, text)
        if head is None or tail is None:
            return
        if canonical_name(head.name) == canonical_name(tail.name):
            self._reject("self_loop", text)
            return
        relation = self._bounds.relation(said.relation)
        if relation is None:
            self._reject("unknown_relation", text, label=said.relation, subject=head.type, target=tail.type,
                         confidence=said.confidence)
            return
        if not self._bounds.schema.fits(head.type, relation, tail.type):
            if not self._bounds.schema.fits(tail.type, relation, head.type):
                self._reject("domain_range", text, subject=head.type, target=tail.type)
                return
            head, tail = tail, head
            self._swapped += 1
        key = (canonical_name(head.name), relation, canonical_name(tail.name))
        if key not in self._facts or said.confidence > self._facts[key].confidence:
            self._facts[key] = Fact(
                head=head.name, head_type=head.type, relation=relation, tail=tail.name, tail_type=tail.type,
                span=self._support(said.evidence, said.head, said.relation, said.tail),
                confidence=said.confidence)

    def _admit_attribute(self, said: ExtractedAttribute) -> None:
        text = f"({said.entity}; {said.attribute}: {said.value})"
        owner = self._end(said.entity, text)
        if owner is None:
            return
        attribute = self._bounds.attribute(said.attribute)
        if attribute is None:
            self._reject("unknown_attribute", text, label=said.attribute, subject=owner.type,
                         confidence=said.confidence)
        elif not self._bounds.schema.fits_attribute(owner.type, attribute):
            self._reject("domain_range", text, subject=owner.type)
        elif self._ground(said.value) is None:
            self._reject("ungrounded", text)
        else:
            key = (canonical_name(owner.name), attribute, canonical_name(said.value))
            self._attributes.setdefault(key, AttributeFact(
                entity=owner.name, entity_type=owner.type, attribute=attribute, value=said.value.strip(),
                span=self._support(said.evidence, said.entity, said.attribute, said.value),
                confidence=said.confidence))

    def _support(self, evidence: str, *hints: str) -> Span:
        """The words of the source that support a fact: the evidence said, else the closest sentence."""
        found = self._source.find(evidence) if evidence else None
        return self._source.sentence_around(found) if found else self._source.sentence(*hints)
