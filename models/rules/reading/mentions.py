"""What a mention in a Chinese text is, and how several kinds of them become one list."""

from dataclasses import dataclass, field, replace
from typing import Literal

from ....text.values import Value
from .cues import CompiledSchema, Hit

MentionKind = Literal["name", "quoted", "term", "value", "pronoun", "possessive", "description"]
ANAPHORS: frozenset[MentionKind] = frozenset({"pronoun", "possessive", "description"})


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in the chunk that speaks of an entity: characters `start` to `end`.

    `name` is the entity's name, "" for an anaphor that is not yet resolved. `hint` is what its form
    tells: "person", "place" or "organisation" of a name, "person" or "thing" of a pronoun, the
    type's name of a description ('the company').
    """

    start: int
    end: int
    name: str
    kind: MentionKind = "name"
    hint: str = ""


@dataclass(slots=True)
class Sentence:
    """A sentence of the chunk with what was found in it, in order.

    `hits` are the relation cues, grouped by place; `topic` is what a sentence without a subject of
    its own is taken to speak of.
    """

    start: int
    end: int
    han: bool
    mentions: list[Mention] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    hits: list[list[Hit]] = field(default_factory=list)
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A chunk as the mention finders read it."""

    text: str
    folded: str
    title: str
    compiled: CompiledSchema


def merge(*layers: list[Mention]) -> list[Mention]:
    """One list without overlaps: of two that overlap the longer stays, then the earlier layer.

    Args:
        layers: lists of mentions, the most trusted first.

    Returns:
        The mentions kept, in the order of the text.
    """
    hints = {(m.start, m.end): m.hint for layer in reversed(layers) for m in layer if m.hint}
    ranked = sorted(((mention, rank) for rank, layer in enumerate(layers) for mention in layer),
                    key=lambda item: (item[0].start - item[0].end, item[1], item[0].start))
    kept: list[Mention] = []
    taken: set[int] = set()
    for mention, _ in ranked:
        places = range(mention.start, mention.end)
        if taken.isdisjoint(places):
            hint = mention.hint
            if mention.kind == "name":
                hint = hint or hints.get((mention.start, mention.end), "")
            kept.append(replace(mention, hint=hint))
            taken.update(places)
    return sorted(kept, key=lambda mention: mention.start)
