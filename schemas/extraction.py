"""The extraction of a chunk, and the part of it that is admitted.

Bounding turns an `Extraction`, in the reasoner's own names and labels, into a `BoundedExtraction`: a pure function of
extraction, chunk and schema. So a fact that waits for a schema element is written on acceptance without another call.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from .delta import ElementKind
from .documents import Frozen, Span


class _AnswerPart(BaseModel):
    """A part of a reasoner's answer; unknown keys are ignored."""

    model_config = ConfigDict(frozen=True)


class ExtractedEntity(_AnswerPart):
    """An entity as the reasoner named it."""

    name: str = Field(min_length=1, max_length=500)
    type: str = Field(default="", max_length=100)
    confidence: float = Field(default=1.0, ge=0, le=1)


class ExtractedTriple(_AnswerPart):
    """A relation between two entities, by their names."""

    head: str = Field(min_length=1, max_length=500)
    relation: str = Field(min_length=1, max_length=200)
    tail: str = Field(min_length=1, max_length=500)
    evidence: str = Field(default="", description="the words of the source that say so")
    time: str = Field(default="", description="the words of the source that say when and with what it holds")
    confidence: float = Field(default=1.0, ge=0, le=1)


class ExtractedAttribute(_AnswerPart):
    """A value that describes an entity."""

    entity: str = Field(min_length=1, max_length=500)
    attribute: str = Field(min_length=1, max_length=200)
    value: str = Field(min_length=1, max_length=2000)
    evidence: str = ""
    time: str = ""
    confidence: float = Field(default=1.0, ge=0, le=1)


class Extraction(_AnswerPart):
    """Everything that a reasoner extracted from one chunk, as the reasoner wrote it."""

    entities: tuple[ExtractedEntity, ...] = ()
    triples: tuple[ExtractedTriple, ...] = ()
    attributes: tuple[ExtractedAttribute, ...] = ()
    malformed: tuple[str, ...] = Field(default=(), description="items that are no triple: kept to be counted")
    elsewhere: tuple[str, ...] = Field(default=(), description="names of it that are not in its chunk, but in other "
                                       "parts of the document that were read with it, or in the instructions")

    def combine(self, other: "Extraction") -> "Extraction":
        """Return an extraction with the items of both."""
        return Extraction(entities=self.entities + other.entities, triples=self.triples + other.triples,
                          attributes=self.attributes + other.attributes, malformed=self.malformed + other.malformed,
                          elsewhere=self.elsewhere + other.elsewhere)


class ExtractionRequest(Frozen):
    """The input of `Reasoner.extract`: one chunk's text, what stands above it, and a person's `instructions`."""

    text: str
    title: str = ""
    heading: str = ""
    opening: str = ""  # the sentence or fence that opens the list or code which the text continues
    document: str = ""  # the document's name in the graph
    about: str = ""  # what the document says of itself
    said_on: str = ""  # the date by which the text's relative dates are read
    instructions: str = ""


class EntityMention(Frozen):
    """An admitted entity; the span is relative to the chunk's text."""

    name: str
    type: str
    span: Span


class RelationFact(Frozen):
    """An admitted triple; names and types are those of two `EntityMention`s of the same chunk."""

    head: str
    head_type: str
    relation: str
    tail: str
    tail_type: str
    time: str = Field(default="", description="when and with what it holds, in the source's words; see `text.times`")
    span: Span
    confidence: float = 1.0


class AttributeFact(Frozen):
    """An admitted attribute value of an entity mentioned in the same chunk."""

    entity: str
    entity_type: str
    attribute: str
    value: str = Field(description="in the source's own words")
    normal: str = Field(default="", description="a number's or date's normal form; empty for text")
    time: str = Field(default="", description="when and with what it holds, in the source's words")
    span: Span
    confidence: float = 1.0


Reason = Literal["unknown_entity_type", "unknown_relation", "unknown_attribute", "domain_range",
                 "ungrounded", "undeclared_entity", "self_loop", "malformed", "type_as_name", "wrong_kind"]


class Rejection(Frozen):
    """An extracted item that was not admitted, and why; `label` is the type, relation or attribute that is unknown."""

    reason: Reason
    label: str = ""
    text: str = Field(description="the rejected item, for people")
    subject_type: str = ""
    object_type: str = ""
    confidence: float = 1.0


RepairKind = Literal["swapped", "mapped_label", "inferred_type", "normalised_value", "dropped_time"]


class Ask(Frozen):
    """One occurrence of a label that the schema lacks, and the element that the schema would need.

    The ends of its fact are declared and in the source. Types are the schema's names, else the keys of their labels.
    """

    kind: ElementKind
    label: str = Field(description="the label's key (`label_key`)")
    text: str = Field(description="the item, for people")
    subject_type: str = Field(default="", description="of the head, or of the attribute's owner")
    object_type: str = Field(default="", description="of the tail, or the attribute value's kind")
    context: Span = Field(description="the words that support it, in the chunk's text")
    declared: bool = Field(default=False, description="it is the header of a table's column or the name of a form's "
                                                      "field, not read from a sentence")
    confidence: float = 1.0


class BoundedExtraction(Frozen):
    """The facts that one chunk adds to the graph, and the rejected items."""

    mentions: tuple[EntityMention, ...] = ()
    facts: tuple[RelationFact, ...] = ()
    attributes: tuple[AttributeFact, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    asks: tuple[Ask, ...] = ()
    repairs: dict[RepairKind, int] = Field(default_factory=dict, description="what was repaired, how many times")
