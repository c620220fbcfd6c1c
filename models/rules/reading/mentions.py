"""What a mention is, and what both languages find alike: the title and quoted titles of works."""

import re
from dataclasses import dataclass, field, replace
from typing import Literal

from ....text.values import Value
from .cues import CompiledSchema, Hit, fold

MentionKind = Literal["name", "title", "quoted", "term", "value", "pronoun", "possessive", "description"]
ANAPHORS: frozenset[MentionKind] = frozenset({"pronoun", "possessive", "description"})

_QUOTED = re.compile(r"[\"“«]([^\"“”«»\n]{2,80})[\"”»]|《([^《》\n]{1,60})》|「([^「」\n]{2,40})」")
_LONGEST_QUOTED = 9
_PARENTHESES = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_LONGEST_TITLE = 10
_SHORTEST_FREE_TITLE = 4


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


def title_subject(title: str) -> str:
    """The part of a title that can be a name: without a closing parenthesis; "" for a sentence."""
    head = _PARENTHESES.sub("", title.strip())
    return head if len(head.split()) <= _LONGEST_TITLE and len(head) > 1 else ""


def quoted_mentions(source: Source, sentence: Sentence) -> list[Mention]:
    """Titles in quotation marks or 《》, without the marks."""
    found = []
    for match in _QUOTED.finditer(source.text, sentence.start, sentence.end):
        group = next(i for i in (1, 2, 3) if match.group(i) is not None)
        words = match.group(group)
        name = words.strip(" ,.，。")
        begin = match.start(group) + words.find(name)
        proper = group == 2 or name[:1].isupper() or name[:1].isdigit()  # noqa: PLR2004 - the group of 《》
        if name and not name.isdigit() and proper and len(name.split()) <= _LONGEST_QUOTED:
            found.append(Mention(begin, begin + len(name), name, "quoted"))
    return found


def title_mentions(source: Source, sentence: Sentence) -> list[Mention]:
    """Where the title's name stands in the sentence, whatever its case."""
    name = title_subject(source.title)
    folded = fold(name)
    if not name or folded in source.compiled.types.words:
        return []
    found = []
    at = source.folded.find(folded, sentence.start, sentence.end)
    while at >= 0:
        end = at + len(folded)
        exact = source.text.startswith(name, at)
        if _stands_alone(source.text, at, end) and (exact or len(name) >= _SHORTEST_FREE_TITLE):
            found.append(Mention(at, end, name, "title"))
        at = source.folded.find(folded, end, sentence.end)
    return found


def _stands_alone(text: str, start: int, end: int) -> bool:
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    ascii_edge = text[start].isascii() and text[end - 1].isascii()
    return not ascii_edge or not (before.isalnum() or after.isalnum())


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
            if mention.kind in {"name", "title"}:
                hint = hint or hints.get((mention.start, mention.end), "")
            kept.append(replace(mention, hint=hint))
            taken.update(places)
    return sorted(kept, key=lambda mention: mention.start)
