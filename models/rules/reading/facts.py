"""What is read out of a sentence, before it is bounded: triples and attribute values."""

from dataclasses import dataclass

from .mentions import Sentence


@dataclass(frozen=True, slots=True)
class Triple:
    """A triple with the sentence it was read in."""

    head: str
    relation: str
    tail: str
    confidence: float
    sentence: Sentence
    cue: str = ""
    """The words of the cue that it was read by, folded."""


@dataclass(frozen=True, slots=True)
class Described:
    """An attribute's value for an entity, with the sentence it was read in."""

    entity: str
    attribute: str
    value: str
    confidence: float
    sentence: Sentence
