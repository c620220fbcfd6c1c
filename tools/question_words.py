"""The words of a question about tables: stems, related words, numbers, dates, units, and what is to be done."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from ..schemas.naming import normalise
from ..text.content_words import stem_word
from ..text.dates import find_dates, parse_date
from ..text.lexicon import COUNTRIES, read_json
from ..text.quantities import find_numbers, is_unit, parse_number
from ..text.scripts import CJK, has_han

_WORD = re.compile(rf"[{CJK}]|\d+(?:[.,:]\d+)*|[^\W_{CJK}]+")
"""A word; letters of scripts without spaces are words of their own, and "B6" is one word."""
_IN_WORD = re.compile(r"(?:[A-Za-z0-9]|\w[-.])$")  # what stands before a number that is a part of a name: EIP-4844
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]|<[^<>]*>")
_ADDRESS = re.compile(r"(?<=\S)\s*+(?:<[^<>]*+>|\((?:@|[\w.-]++(?:@| at ))[^()]*+\))$")
"""What people put behind their names, and not always the same."""
_QUOTED = re.compile(r"[\"“「『]([^\"“”「」『』]{1,100})[\"”」』]")
_BRACKETS = re.compile(r"([^()]++)\(([^()]{2,40})\)\s*+")  # a name and what is in brackets behind it
# The words that ask for a measure or compare by it: their list, their kind, and what follows them.
_MEASURE_FORMS = (("asked", "measure", ""), ("most", "max", ""), ("least", "min", ""), ("more", "over", " than"),
                  ("less", "under", " than"))
_SHORT, _LEAST_STEM = 3, 4  # letters up to which a word keeps its "s" ("gas"); those that forms of a word share
_LONGEST_PHRASE = 12  # words that are looked up together: more than any label, and than nearly all names
_LONGEST_LABEL_PHRASE = 3  # the most words of a label that have synonyms together
MOST_NAME_WORDS, LEAST_LETTERS = 5, 3  # words of a name, unlike prose; letters of a word that stands for a label
_NOUNS = frozenset({"made", "documents", "reading", "number_word"})  # kinds of words that are often a label's as well
_MOST_VARIANTS = 200  # of one label: of many words with synonyms, there would be thousands
Keys = tuple[str, ...]


class Word(NamedTuple):
    """A word of a question: where it stands, its stem, and the word in lower case."""

    start: int
    end: int
    text: str
    key: str
    folded: str


@dataclass(frozen=True)
class Mention:
    """Words of a question, from `first` to before `last`, with what they mean in a table.

    Attributes:
        kind: an operation, or "column", "value", "head" (what the table's rows are called), "title", "date", "number".
        name: of an operation the measure, of a date or number its normal form.
        text: the words themselves.
        columns: the columns that are meant, one of them if there are several.
        also: the columns of which it is a part of the label, if `columns` have it as a whole.
        values: of a value, for each column the values that fit.
        is_head: whether a column's words are also what the table's rows are called.
    """

    first: int
    last: int
    kind: str
    name: str = ""
    text: str = ""
    columns: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_head: bool = False

    @property
    def words(self) -> str:
        """The words in lower case."""
        return self.text.casefold()


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
    """Return the stem of a word; a number, or a word with other letters than a to z, in lower case."""
    folded = normalise(word)
    if not (folded.isalpha() and folded.isascii()):
        return folded
    # Without the plural's ending first: Snowball takes more than that off some names (Adelies).
    singular = folded[:-1] if folded.endswith("s") and not folded.endswith("ss") and len(folded) > _SHORT else folded
    if singular.endswith(("cy", "gy", "ry", "ty")):  # as in its plural: "agency" is an "agencie"
        singular = f"{singular[:-1]}ie"
    return stem_word(singular)


def text_of(words: Sequence[Word]) -> str:
    """Return some words with a space between them."""
    return " ".join(word.text for word in words)


class Lexicon(NamedTuple):
    """The words with which people ask about tables.

    `phrases` are (kind, measure) by words as written, as a stem may be another word ("died", "die"); `stems` are their
    stems, but for nouns such as "number" that labels have as well: words of a label with such a stem do not name its
    column. `synonyms` the stems of a group's members by those of each, `forms` the same as words in full, `labels` the
    stems of labels of columns that count, or say when or who something is, `lists` the words that one rule is about.
    """

    phrases: Mapping[Keys, tuple[tuple[str, str], ...]]
    stems: frozenset[Keys]
    synonyms: Mapping[Keys, tuple[Keys, ...]]
    forms: Mapping[Keys, tuple[Keys, ...]]
    measures: Mapping[str, Mapping[str, Any]]
    unit_words: Mapping[str, str]
    labels: Mapping[str, frozenset[Keys]]
    lists: Mapping[str, frozenset[str]]
    numbers: Mapping[str, int]


@cache
def lexicon() -> Lexicon:
    """Load the word lists of `asked_words.json`."""
    listed = json.loads(Path(__file__).with_name("asked_words.json").read_text("utf-8"))
    phrases: dict[Keys, dict[tuple[str, str], None]] = {}
    entries = [(kind, "", words, "") for kind, words in listed["kinds"].items()]
    for name, measure in listed["measures"].items():
        entries += [(kind, name, measure[form], ending) for form, kind, ending in _MEASURE_FORMS]
    for kind, name, words, ending in entries:
        for phrase in filter(None, words.split(", ")):
            key = tuple(word.folded for word in words_of(f"{phrase}{ending}"))
            phrases.setdefault(key, {})[kind, name] = None
    synonyms: dict[Keys, dict[Keys, None]] = {}
    forms: dict[Keys, dict[Keys, None]] = {}
    # A people's adjective means its country: of Ethiopian coffees, the variety need not be "Ethiopian Heirlooms".
    peoples = (f"{people}, {country}".lower() for people, country in COUNTRIES.items())
    for group in (*listed["synonyms"], *peoples):
        members = {phrase: keys_of(phrase) for phrase in group.split(", ")}
        for member in members.values():
            forms.setdefault(member, {}).update(dict.fromkeys(tuple(phrase.split()) for phrase in members))
            synonyms.setdefault(member, {}).update(dict.fromkeys(members.values()))
    return Lexicon(
        phrases={keys: tuple(kinds) for keys, kinds in phrases.items()},
        stems=frozenset(tuple(map(_key, keys)) for keys, kinds in phrases.items()
                        if _NOUNS.isdisjoint(kind for kind, _ in kinds)),
        synonyms={keys: tuple(group) for keys, group in synonyms.items()},
        forms={keys: tuple(group) for keys, group in forms.items()},
        measures=listed["measures"],
        unit_words={word.casefold(): unit for unit, listed_units in
                    listed["unit_words"].items() for word in listed_units.split(", ")},
        labels={kind: frozenset(map(keys_of, words.split(", "))) for kind, words in listed["labels"].items()},
        lists={name: frozenset(words.split(", ")) for name, words in listed["lists"].items()},
        numbers=listed["numbers"])


def listed_words(name: str) -> frozenset[str]:
    """Return the words that one rule is about, in lower case."""
    return lexicon().lists[name]


def kinds_of(words: Sequence[Word]) -> tuple[tuple[str, str], ...]:
    """Return the kinds of a phrase, each with its measure."""
    return lexicon().phrases.get(tuple(word.folded for word in words), ())


def is_kind_of(kind: str, words: str) -> bool:
    """Return True if some words are a phrase of a kind."""
    return any(kind == one for one, _ in kinds_of(words_of(words)))


def label_variants(label: str) -> Iterator[Keys]:
    """Yield the ways in which a label may be said, as stems: with synonyms of its words, without brackets."""
    keys = keys_of(_ASIDE.sub(" ", label)) or keys_of(label)
    choices: list[tuple[Keys, ...]] = []  # for each phrase of the label, that and its synonyms
    at = 0
    while at < len(keys):
        length = next((length for length in range(_LONGEST_LABEL_PHRASE, 0, -1)
                       if keys[at:at + length] in lexicon().synonyms and at + length <= len(keys)), 1)
        phrase = keys[at:at + length]
        choices.append(tuple(dict.fromkeys((phrase, *lexicon().synonyms.get(phrase, ())))))
        at += length
    for count, chosen in enumerate(product(*choices)):
        if count == _MOST_VARIANTS:
            return
        yield tuple(key for part in chosen for key in part)


@cache
def country_codes() -> Mapping[Keys, str]:
    """Return the code of two letters (ISO 3166) of each country, by the ways in which it or its people are called."""
    return {variant: code for code, names in read_json("country_codes.json").items() for name in names.split(", ")
            for variant in label_variants(name)}


def label_words(label: Keys, least: int = LEAST_LETTERS) -> Iterator[Keys]:
    """Yield the words of a label that may stand for it: also two or more letters of a script without spaces."""
    for first, key in enumerate(label):
        if not has_han(key[0]):
            if len(key) >= least and (key,) not in lexicon().stems:  # "most" is no word for "most cited paper"
                yield (key,)
            continue
        for last in range(first + 2, len(label) + 1):
            if all(has_han(other[0]) for other in label[first:last]):
                yield label[first:last]


@lru_cache(65_536)
def is_form_of(word: str, label: str) -> bool:
    """Return True if two words in lower case are forms of one, such as authored and author.

    They share a stem of four letters, and differ by endings.
    """
    shared = next((at for at, (one, other) in enumerate(zip(word, label, strict=False)) if one != other),
                  min(len(word), len(label)))
    endings = listed_words("endings") | {""}
    return any({word[at:], label[at:]} <= endings for at in range(_LEAST_STEM, shared + 1))


def bare_name(name: str) -> str:
    """Return a name without the address behind it."""
    return _ADDRESS.sub("", name)


def value_variants(text: str, label: str, *, is_category: bool) -> Iterator[Keys]:
    """Yield a value as stems: with and without brackets, what is in these, in any order, and its synonyms.

    Brackets are parts of a category, as in "done (in part)", but not of a name, as in "Ford Fairmont (auto)". A letter
    has synonyms only in a column whose label says that it has sexes.
    """
    keys = keys_of(text)
    yield keys
    yield tuple(word.key for word in words_of(text))  # McCall is one word, unlike a column's bodyMass
    yield keys_of(bare_name(text))
    if is_category and (parts := _BRACKETS.fullmatch(text)):
        yield from map(keys_of, parts.groups())
    if 1 < len(keys) <= MOST_NAME_WORDS:
        yield tuple(sorted(keys))
    if len("".join(keys)) > 1:
        yield from label_variants(text)
    elif keys_of(label) in lexicon().synonyms[keys_of("sex")]:
        yield from lexicon().synonyms.get(keys, ())


def fixed_parts(question: str, words: Sequence[Word]) -> list[Mention]:
    """Return the quotes, dates, numbers and units of a question; no two of them share a word."""
    quotes = (_part(words, match.start(), match.end(), "quoted", match[1]) for match in _QUOTED.finditer(question)
              if any(match.start() <= word.start and word.end <= match.end() for word in words))
    dates = (_part(words, start, end, "date", date) for start, end in find_dates(question)
             if (date := parse_date(question[start:end])))
    units = (Mention(at, at + 1, "unit", unit) for at, word in enumerate(words) if (unit := unit_of(word.text)))
    chosen: list[Mention] = []
    for part in (*quotes, *dates, *_amounts(question, words), *units):
        if all(part.last <= other.first or other.last <= part.first for other in chosen):
            chosen.append(part)
    return chosen


def _part(words: Sequence[Word], start: int, end: int, kind: str, name: str) -> Mention:
    """Return the words that have some of the characters from `start` to `end`, as a mention."""
    places = [at for at, word in enumerate(words) if word.start < end and start < word.end]
    return Mention(places[0], places[-1] + 1, kind, name)


def _amounts(question: str, words: Sequence[Word]) -> Iterator[Mention]:
    """Yield numbers in digits, each with the unit behind it, and in words."""
    for start, end in find_numbers(question):
        if _IN_WORD.search(question, 0, start) is None and (amount := parse_number(question[start:end])):
            yield _part(words, start, end, "number", amount)
    for at, word in enumerate(words):
        # "one" is a number in "more than one", but not in "which one".
        number = lexicon().numbers.get(word.text.casefold(), 0)
        if at and f"{words[at - 1].folded} {word.folded}" in listed_words("ones"):
            number = 1
        if number and at + 1 < len(words):
            yield Mention(at, at + 1, "number", str(number))


def unit_of(word: str) -> str:
    """Return the normal form of a unit, such as "g" of "grams"; "" for another word."""
    if unit := lexicon().unit_words.get(word.casefold()):
        return unit
    if len(word) < 2 or not is_unit(word):  # noqa: PLR2004 - a letter of its own is rather a name
        return ""
    return parse_number(f"1 {word}").partition(" ")[2]


@lru_cache(64)
def runs_of(words: tuple[Word, ...]) -> tuple[tuple[int, int, Keys], ...]:
    """Return each run of neighbouring words with its stems, the longest of a start first."""
    keys = tuple(word.key for word in words)
    return tuple((first, last, keys[first:last]) for first in range(len(words))
                 for last in range(min(first + _LONGEST_PHRASE, len(words)), first, -1))


def value_queries(question: str) -> set[str]:
    """Return the words by which values are looked up: those of a question, without plural endings, and synonyms."""
    queries = set[str]()
    for match in re.finditer(r"[^\W_]+", question):
        folded = "".join(letter for letter in unicodedata.normalize("NFKD", match[0].casefold())
                         if not unicodedata.combining(letter))
        if has_han(folded):  # without spaces, each run of characters may be a word
            queries |= {folded[start:end] for start in range(len(folded))
                        for end in range(start + 1, min(start + _LONGEST_PHRASE, len(folded)) + 1)}
        queries |= {folded, folded.removesuffix("s"), folded.removesuffix("es"), re.sub("ies$", "y", folded)}
    for _, _, keys in runs_of(words_of(question)):
        queries.update(key for synonym in lexicon().forms.get(keys, ()) for key in synonym)
        queries.add(country_codes().get(keys, "").lower())
    return queries - {""}


def convert(number: float, unit: str, wanted: str) -> float | None:
    """Return a number of one unit in another, one without a unit as it is; None if they measure different things."""
    unit, wanted = normal_unit(unit), normal_unit(wanted)
    if not unit or unit == wanted:
        return number
    for measure in lexicon().measures.values():
        units: Mapping[str, float] = measure["units"]
        if unit in units and wanted in units:
            return number * units[unit] / units[wanted]
    return None


def normal_unit(unit: str) -> str:
    """Return the form of a unit that the word lists have: "lb" of "lbs"."""
    return unit_of(unit) or unit
