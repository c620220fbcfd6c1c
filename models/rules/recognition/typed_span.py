"""A typed part of a text, and functions on lists of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from ....text.scripts import has_han

VALUES = frozenset({"date", "number"})
"""The kinds that are values rather than names."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text from character `start` to `end`, with its kind.

    `kind` is "person", "organization", "location", "event", "work", "product", "award", "date", "number", or "name" for
    a name of unknown type.
    """

    start: int
    end: int
    kind: str


def name_of(text: str, span: Span) -> str:
    """Return the words of a span as a name is stored: with white space collapsed, or in Chinese without line breaks."""
    words = text[span.start : span.end]
    return " ".join(words.split()) if not has_han(words) else "".join(words.split("\n"))


def without_overlaps(*layers: Sequence[Span]) -> list[Span]:
    """Return the spans of all layers, ascending; of overlapping spans only the first of the earliest layer is kept."""
    spans: list[Span] = []
    taken = bytearray(max((span.end for layer in layers for span in layer), default=0))
    for span in (span for layer in layers for span in layer):
        if not any(taken[span.start : span.end]):
            taken[span.start : span.end] = b"\1" * (span.end - span.start)
            spans.append(span)
    return sorted(spans, key=lambda span: span.start)
