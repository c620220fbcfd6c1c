"""The kind of a name by words: those of the name, what a sentence says that it is, and the noun before it.

The nouns are the cues of the general seed, so what tells a type to the reader is written in one place.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from ...schemas.formats.loading import load_schema

if TYPE_CHECKING:
    from .spans import Span

_KINDS = {"Person": "person", "Organization": "organization", "Location": "location", "Event": "event", "Work": "work",
          "Award": "name", "Product": "product"}
_IS = re.compile(
    r"(?:\s*\([^()\n]{0,150}\)|,[^,.\n]{1,80},)?\s+(?:is|was|are|were)\s+(?:(?:both|also|once|originally)\s+)?"
    r"(?:an?|the|one of the)\s+(?P<said>[^.;\n]{1,160})")
_END_OF_NOUN = re.compile(
    r"\s+(?:of|in|on|at|by|for|from|with|to|that|which|who|whose|where|and|or|near|located|based|published|written|"
    r"directed|produced|released|founded|known|set|starring|created|about|between|as|featuring|born|developed|"
    r"designed|built|owned|made|held|used|currently)\b|[,(:]|$")
_BEFORE = re.compile(r"(?P<noun>[a-z]+(?:-[a-z]+)?) [\"“]?$")
_WORD = re.compile(r"[\w’'-]+")


def told_kind(text: str, span: "Span") -> str:
    """Return the kind that words tell of a name; "" where they tell none.

    Args:
        text: the text.
        span: a name in it.
    """
    return next(filter(None, _told(text, span)), "")


def _told(text: str, span: "Span") -> Iterator[str]:
    name = text[span.start : span.end]
    words = [word.lower() for word in _WORD.findall(name)]
    yield _kind_of_name(words)
    said = _IS.match(text, span.end)
    if said is not None:
        yield kind_of_noun(said["said"][: _END_OF_NOUN.search(said["said"]).start()])  # type: ignore[union-attr]
    before = _BEFORE.search(text[max(0, span.start - 30) : span.start])
    if before is not None:
        yield _nouns().get(before["noun"], "")


def kind_of_noun(phrase: str) -> str:
    """Return the kind of what a noun phrase names by its last word ("a 2004 comedy film"); "" where that is unknown."""
    words = [word.lower() for word in _WORD.findall(phrase)]
    return next((kind for word in reversed(words[-2:]) if (kind := _kind_of_word(word))), "")


def _kind_of_name(words: list[str]) -> str:
    if len(words) < 2:  # noqa: PLR2004 - one word is a name and no noun
        return ""
    if "of" in words[1:]:
        return _nouns().get(words[words.index("of") - 1], "")
    if words[0] in {"lake", "mount", "isle", "cape", "fort"}:
        return "location"
    kind = _nouns().get(words[-1], "")
    return kind if kind != "person" else ""


def _kind_of_word(word: str) -> str:
    nouns = _nouns()
    forms = [word, word.removesuffix("s"), word.removesuffix("es"), re.sub("ies$", "y", word)]
    return next((nouns[form] for form in forms if form in nouns), "") or next(
        (kind for ending, kind in _endings() if word.endswith(ending) and len(word) > len(ending) + 2), "")


@cache
def _nouns() -> dict[str, str]:
    """Noun -> kind."""
    found: dict[str, str] = {}
    for entity in load_schema("general").entity_types:
        for cue in entity.rules.cues.get("en", ()):
            word = cue.lower().rstrip(".")
            if entity.name in _KINDS and word[0].isalpha():
                found.setdefault(word, _KINDS[entity.name])
    return found


@cache
def _endings() -> tuple[tuple[str, str], ...]:
    """(word ending, kind): "-ist" of a person."""
    return tuple((cue[1:], _KINDS[entity.name]) for entity in load_schema("general").entity_types
                 for cue in entity.rules.cues.get("en", ()) if cue.startswith("-") and entity.name in _KINDS)
