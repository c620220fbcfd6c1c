"""The parts of a question about a table that do not depend on the table: its words, numbers, dates and operations."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from ..schemas.naming import normalise
from ..text.content_words import stem_word
from ..text.dates import find_dates, is_month, parse_date
from ..text.quantities import find_numbers, is_unit, parse_number
from ..text.scripts import CJK

_WORD = re.compile(rf"[{CJK}]|\d+(?:[.,:]\d+)*|[^\W_{CJK}]+")
"""A word; letters of scripts without spaces are words of their own, and "B6" is one word."""
_IN_WORD = re.compile(r"(?:[A-Za-z0-9]|\w[-.])$")
"""What stands before a number that is a part of a name: EIP-4844."""
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]")
_LEAST_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
                  "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "两": 2, "三": 3, "四": 4, "五": 5, "十": 10}
_SHORT = 3
_MOST_VARIANTS = 200
Keys = tuple[str, ...]


class Word(NamedTuple):
    """A word of a question: where it stands, its stem, and the word in lower case."""

    start: int
    end: int
    text: str
    key: str
    folded: str


class Part(NamedTuple):
    """Words of a question, from `first` to before `last`, that are read as one thing; `name` says which of its kind."""

    first: int
    last: int
    kind: str
    name: str = ""


@lru_cache(4096)
def words_of(text: str) -> tuple[Word, ...]:
    """Return the words of a text with their stems."""
    return tuple(Word(match.start(), match.end(), match[0], _key(match[0]), normalise(match[0]))
                 for match in _WORD.finditer(text))


@lru_cache(65_536)
def keys_of(text: str) -> Keys:
    """Return the stems of a text's words; a name such as `bodyMass_g` is taken apart."""
    return tuple(word.key for word in words_of(_CAMEL.sub(" ", text).replace("_", " ")))


def _key(word: str) -> str:
    folded = normalise(word)
    if not (folded.isalpha() and folded.isascii()):
        return folded
    # Without the plural's ending first: Snowball takes more than that off some names (Adelies).
    singular = folded[:-1] if folded.endswith("s") and not folded.endswith("ss") and len(folded) > _SHORT else folded
    return stem_word(singular)


class Lexicon(NamedTuple):
    """The words with which people ask about tables.

    `phrases` are (kind, measure) by words as written, as a stem may be another word ("died", "die"); `stems` are their
    stems, `synonyms` the stems of a group's members by those of each, and `forms` the
    same as words in full.
    """

    phrases: Mapping[Keys, tuple[tuple[str, str], ...]]
    stems: frozenset[Keys]
    synonyms: Mapping[Keys, tuple[Keys, ...]]
    forms: Mapping[Keys, tuple[tuple[str, ...], ...]]
    measures: Mapping[str, Mapping[str, str]]
    units: Mapping[str, Mapping[str, float]]
    unit_words: Mapping[str, str]
    columns: Mapping[str, frozenset[Keys]]


@cache
def lexicon() -> Lexicon:
    """Load the word lists of `asked_words.json`."""
    listed = json.loads(Path(__file__).with_name("asked_words.json").read_text("utf-8"))
    phrases: dict[Keys, dict[tuple[str, str], None]] = {}
    stems = set[Keys]()
    for kind, name, phrase in _phrases(listed):
        phrases.setdefault(tuple(word.folded for word in words_of(phrase)), {})[kind, name] = None
        stems.add(keys_of(phrase))
    synonyms: dict[Keys, dict[Keys, None]] = {}
    forms: dict[Keys, dict[tuple[str, ...], None]] = {}
    for group in listed["synonyms"]:
        members = [keys_of(phrase) for phrase in group.split(", ")]
        for member in members:
            forms.setdefault(member, {}).update(dict.fromkeys(tuple(phrase.split()) for phrase in group.split(", ")))
        for member in members:
            synonyms.setdefault(member, {}).update(dict.fromkeys(members))
    columns = {kind: frozenset(map(keys_of, listed[kind])) for kind in listed if kind.endswith("_columns")}
    return Lexicon({keys: tuple(kinds) for keys, kinds in phrases.items()}, frozenset(stems),
                   {keys: tuple(group) for keys, group in synonyms.items()},
                   {keys: tuple(group) for keys, group in forms.items()}, listed["measures"],
                   {name: measure["units"] for name, measure in listed["measures"].items()},
                   {word.casefold(): unit for unit, words in listed["unit_words"].items()
                    for word in words.split(", ")},
                   columns)


def _phrases(listed: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, name, phrase) of all operations and measures."""
    for kind, phrases in listed["kinds"].items():
        yield from ((kind, "", phrase) for phrase in phrases)
    degrees = {"asked": "measure", "most": "max", "least": "min"}
    for name, measure in listed["measures"].items():
        for field, kind in degrees.items():
            yield from ((kind, name, phrase) for phrase in filter(None, measure[field].split(", ")))
        yield from (("compare", name, phrase) for phrase in measure["more"].split(", "))
        for field, kind in (("more", "over"), ("less", "under")):
            yield from ((kind, name, f"{phrase} than") for phrase in measure[field].split(", "))


def label_variants(label: str) -> Iterator[Keys]:
    """Yield the ways in which a label may be said, as stems: with synonyms of its words, without brackets."""
    keys = keys_of(_ASIDE.sub(" ", label)) or keys_of(label)
    choices: list[tuple[Keys, ...]] = []
    at = 0
    while at < len(keys):
        length = next((n for n in (3, 2, 1) if keys[at:at + n] in lexicon().synonyms and at + n <= len(keys)), 1)
        word = keys[at:at + length]
        choices.append(tuple(dict.fromkeys((word, *lexicon().synonyms.get(word, ())))))
        at += length
    for count, chosen in enumerate(product(*choices)):
        if count == _MOST_VARIANTS:
            return
        yield tuple(key for part in chosen for key in part)


def fixed_parts(question: str, words: Sequence[Word]) -> list[Part]:
    """Return the dates, the numbers and the units of a question; no two of them share a word."""
    parts = [*_dates(question, words), *_amounts(question, words)]
    parts += [Part(at, at + 1, "unit", unit) for at, word in enumerate(words) if (unit := unit_of(word.text))]
    chosen: list[Part] = []
    for part in parts:
        if all(part.last <= other.first or other.last <= part.first for other in chosen):
            chosen.append(part)
    return chosen


def unit_of(word: str) -> str:
    """Return the normal form of a unit, such as "g" of "grams"; "" for another word."""
    if unit := lexicon().unit_words.get(word.casefold()):
        return unit
    if len(word) < 2 or not is_unit(word):  # noqa: PLR2004 - a letter of its own is rather a name
        return ""
    return parse_number(f"1 {word}").partition(" ")[2]


def _dates(question: str, words: Sequence[Word]) -> Iterator[Part]:
    for start, end in find_dates(question):
        if date := parse_date(question[start:end]):
            yield _part(words, start, end, "date", date)
    for at, word in enumerate(words):
        if word.text[:1].isupper() and is_month(normalise(word.text)) and word.text != "May":
            month = parse_date(f"{word.text} 2000")[5:7]
            yield Part(at, at + 1, "date", f"XXXX-{month}")


def _amounts(question: str, words: Sequence[Word]) -> Iterator[Part]:
    for start, end in find_numbers(question):
        is_in_word = _IN_WORD.search(question, 0, start) is not None
        if not is_in_word and (amount := parse_number(question[start:end])):
            yield _with_unit(words, _part(words, start, end, "number", amount))
    for at, word in enumerate(words):
        if (number := _LEAST_NUMBERS.get(word.text.casefold())) and at + 1 < len(words):
            yield Part(at, at + 1, "number", str(number))


def _with_unit(words: Sequence[Word], number: Part) -> Part:
    """Return a number with the unit that stands behind it, which the general reading of numbers may not know."""
    unit = unit_of(words[number.last].text) if number.last < len(words) else ""
    return number if not unit or " " in number.name else Part(number.first, number.last + 1, "number",
                                                              f"{number.name} {unit}")


def _part(words: Sequence[Word], start: int, end: int, kind: str, name: str) -> Part:
    """Return a part of a question by the characters that it covers."""
    inside = [at for at, word in enumerate(words) if word.start < end and start < word.end]
    return Part(inside[0], inside[-1] + 1, kind, name)


def convert(number: float, unit: str, wanted: str) -> float | None:
    """Return a number of one unit in another; None if they measure different things."""
    unit, wanted = normal_unit(unit), normal_unit(wanted)
    if not unit or unit == wanted:
        return number
    for units in lexicon().units.values():
        if unit in units and wanted in units:
            return number * units[unit] / units[wanted]
    return None


def normal_unit(unit: str) -> str:
    """Return the form of a unit that the word lists have: "lb" of "lbs"."""
    return unit_of(unit) or unit
