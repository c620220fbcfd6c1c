"""What a reasoner extracts from a chunk, and what of it is admitted.

`Extraction` is what the reasoner said: names, types and labels as it wrote them. Bounding turns it
into `BoundedExtraction`: facts that fit the schema and stand in the source, each with its span, and
the rest with the reason why not. Bounding is a pure function of (extraction, chunk, schema), so a
fact that waits for a schema element is written on acceptance without asking the reasoner again.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from .delta import ElementKind
from .documents import Frozen, Span


class _Said(BaseModel):
    """A part of a reasoner's answer: unknown keys are dropped, not fatal."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class ExtractedEntity(_Said):
    """An entity as the reasoner named it."""

    name: str = Field(min_length=1, max_length=500)
    type: str = Field(default="", max_length=100)
    confidence: float = Field(default=1.0, ge=0, le=1)


class ExtractedTriple(_Said):
    """A relation between two entities, by their names."""

    head: str = Field(min_length=1, max_length=500)
    relation: str = Field(min_length=1, max_length=200)
    tail: str = Field(min_length=1, max_length=500)
    evidence: str = Field(default="", description="the words of the source that say so")
    confidence: float = Field(default=1.0, ge=0, le=1)


class ExtractedAttribute(_Said):
    """A value that describes an entity."""

    entity: str = Field(min_length=1, max_length=500)
    attribute: str = Field(min_length=1, max_length=200)
    value: str = Field(min_length=1, max_length=2000)
    evidence: str = ""
    confidence: float = Field(default=1.0, ge=0, le=1)


class Extraction(_Said):
    """All that a reasoner found in one chunk, as it said it."""

    entities: tuple[ExtractedEntity, ...] = ()
    triples: tuple[ExtractedTriple, ...] = ()
    attributes: tuple[ExtractedAttribute, ...] = ()
    malformed: tuple[str, ...] = Field(default=(), description="items that are no triple: kept to be counted")

    def joined(self, other: "Extraction") -> "Extraction":
        """All of both."""
        return Extraction(entities=self.entities + other.entities, triples=self.triples + other.triples,
                          attributes=self.attributes + other.attributes, malformed=self.malformed + other.malformed)


class ExtractionRequest(Frozen):
    """What `Reasoner.extract` reads: one chunk's text and the title and heading above it."""

    text: str
    title: str = ""
    heading: str = ""


class EntityMention(Frozen):
    """An admitted entity; the span is relative to the chunk's text."""

    name: str
    type: str
    span: Span


class Fact(Frozen):
    """An admitted triple; names and types are those of two `EntityMention`s of the same chunk."""

    head: str
    head_type: str
    relation: str
    tail: str
    tail_type: str
    span: Span
    confidence: float = 1.0


class AttributeFact(Frozen):
    """An admitted attribute value of an entity mentioned in the same chunk."""

    entity: str
    entity_type: str
    attribute: str
    value: str = Field(description="in the source's own words")
    normal: str = Field(default="", description="a number's or date's normal form; empty for text")
    span: Span
    confidence: float = 1.0


Reason = Literal["unknown_entity_type", "unknown_relation", "unknown_attribute", "domain_range",
                 "ungrounded", "undeclared_entity", "self_loop", "malformed", "type_as_name", "wrong_kind"]


class Rejection(Frozen):
    """Something extracted that was not admitted, and why.

    `label` is the type, relation or attribute that was not known, where that is the reason.
    """

    reason: Reason
    label: str = ""
    text: str = Field(description="the rejected item, for people")
    subject_type: str = ""
    object_type: str = ""
    confidence: float = 1.0


RepairKind = Literal["swapped", "mapped_label", "lifted_type", "inferred_type", "normalised_value"]


class Ask(Frozen):
    """One occurrence of a label that the schema does not know: what the schema would have to admit.

    Only what could be written if the label were known is an ask: its ends are declared and stand in
    the source. Types are the schema's names where it knows them, else the keys of their labels.
    """

    kind: ElementKind
    label: str = Field(description="the label's key (`label_key`)")
    text: str = Field(description="the item, for people")
    subject_type: str = Field(default="", description="of the head, or of the attribute's owner")
    object_type: str = Field(default="", description="of the tail, or the attribute value's kind")
    context: Span = Field(description="the words that support it, in the chunk's text")
    declared: bool = Field(default=False, description="it is the header of a table's column, not read from a sentence")
    confidence: float = 1.0


class BoundedExtraction(Frozen):
    """What one chunk contributes to the graph, and what it does not."""

    mentions: tuple[EntityMention, ...] = ()
    facts: tuple[Fact, ...] = ()
    attributes: tuple[AttributeFact, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    asks: tuple[Ask, ...] = ()
    repairs: dict[RepairKind, int] = Field(default_factory=dict, description="what was repaired, how many times")
