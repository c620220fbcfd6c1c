"""The words that introduce names, by language: titles of persons, and nouns for places, bodies and events."""

import json
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ....text.lexicon import words
from ....text.scripts import is_han
from .typed_span import Span

_FILE = Path(__file__).with_name("name_cues.json")
_KINDS = ("person", "town", "location", "organization", "event", "product")
"""The kinds of nouns; a town's name does not contain its noun ("the city of Oslo"), that of a river does."""
_SHORTEST_STEM = 3
_LONGEST_TITLE = 8
_ARTICLE = re.compile(r"\A(?:(?:el|la|los|las|o|a|os|as|le|les|il|lo|gli|der|die|das|de|het) +|l['’])(?=\w)",
                      re.IGNORECASE)
_QUOTED = re.compile("「([^「」]{2,20})」")


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues of a language.

    `nouns` maps nouns and titles to kinds, and `endings` the ends of words (German compounds). `others` has the words
    of the remaining parts of `name_cues.json`:
    - "of" and "link" occur inside names.
    - "at" stands before places, and "to" before places of one word and before persons.
    - "a" stands before a noun that is no name.
    - "common" words never begin a name, a "surname" ends one, and titles "after" follow one.
    - "given" are names of persons, and "place" has names of places and, after a hyphen, their endings.
    - "made" has verbs of founders.
    """

    nouns: dict[str, str]
    endings: dict[str, str]
    others: dict[str, frozenset[str]]
    cases: tuple[str, ...]
    """Case endings."""

    def has(self, part: str, word: str) -> bool:
        """Return True if a word is listed in a part of the file, or has an ending that is listed there."""
        folded, listed = _fold(word), self.others.get(part, frozenset())
        return folded in listed or any(f"-{folded[at:]}" in listed for at in range(_SHORTEST_STEM, len(folded)))

    def kind_of(self, word: str) -> str:
        """Return the kind that a noun or a title gives, or ""."""
        folded = _fold(word).rstrip(".")
        return self.nouns.get(folded, "") or next(
            (kind for ending, kind in self.endings.items()
             if folded.endswith(ending) and len(folded) >= len(ending) + _SHORTEST_STEM), "")


@cache
def cues_of(language: str) -> Cues:
    """Return the cues of a language; empty ones if there are none."""
    parts = load_cues().get(language, {})
    nouns = {word: kind for kind in _KINDS for word in parts.get(kind, "").split()}
    return Cues(nouns={word: kind for word, kind in nouns.items() if not word.startswith("-")},
                endings={word[1:]: kind for word, kind in nouns.items() if word.startswith("-")},
                others={part: words(text) for part, text in parts.items() if part not in _KINDS},
                cases=tuple(parts.get("ending", "").split()))


@cache
def load_cues() -> dict[str, dict[str, str]]:
    """Return the words of each language with cues, by their part in `name_cues.json`."""
    found: dict[str, dict[str, str]] = json.loads(unicodedata.normalize("NFC", _FILE.read_text("utf-8")))
    return found


def _fold(word: str) -> str:
    """Return a word in lower case, with letters that have two encodings (Bengali's য়) in one of them."""
    return word.lower() if word.isascii() else unicodedata.normalize("NFC", word.casefold())


def occurrences(text: str, title: str, cues: Cues) -> list[Span]:
    """Return the places in a text of its title, and of names that the title has in 「」.

    The title is searched without its article. Its kind is that of a noun in it, or "name".
    """
    name = _ARTICLE.sub("", title.strip())
    if len(name.split()) > _LONGEST_TITLE:
        return []
    noun_kinds = [kind for word in name.split() if (kind := cues.kind_of(word)) not in {"", "person", "town"}]
    title_kind = noun_kinds[0] if noun_kinds else "name"
    kinds = {name: title_kind, **dict.fromkeys(_QUOTED.findall(name), "name")}
    return [Span(*match.span(), kind) for searched, kind in kinds.items() if searched
            for match in re.finditer(_name_pattern(searched), text, re.IGNORECASE)]


def _name_pattern(name: str) -> str:
    """Return a pattern for a name as whole words; Japanese has no word boundaries."""
    start = "" if is_han(name[0]) else r"(?<!\w)"
    end = "" if is_han(name[-1]) else r"(?!\w)"
    return f"{start}{re.escape(name)}{end}"
