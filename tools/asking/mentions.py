"""What the words of a question are in a knowledge base: fields, values, entities, dates and numbers."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import cached_if_short, canonical_name, label_key, normalise
from ...text.content_words import content_words, stem
from ...text.dates import find_dates, parse_date
from ...text.lexicon import ENGLISH_STOP
from ...text.quantities import find_numbers
from ..index import RetrievalIndex
from ..schema_names import Term, labels_of, terms_of
from . import table_words

_PREFIX = re.compile(r"([^\W\d_]{2,10})[-\s]?\d+$")
_LEAST_KEYS, _LOOKED_AT, _SHORTEST_LABEL = 3, 40, 2
_LABELS_KEPT = 1 << 12
_BESIDE = 25
"""Characters between a value and the name of its field, as in "status is still Final"."""


class Mentioned(NamedTuple):
    """Words of a question, characters `start` to `end`.

    `name` is the field of a field or value, an entity's id, or the sign before a date or number; `value` is what is
    compared.
    """

    start: int
    end: int
    kind: Literal["field", "value", "quoted", "entity", "date", "number"]
    name: str
    value: str = ""

    def distance(self, other: "Mentioned") -> int:
        """Return how many characters are between two mentions."""
        return min(abs(self.start - other.end), abs(other.start - self.end))


class Mentions:
    """All mentions of a question, and which of them are accounted for."""

    def __init__(self, index: RetrievalIndex, schema: GraphSchema, text: str) -> None:
        """Find the mentions; of several readings of the same words the longest counts, then values and entities."""
        self._index, self._schema = index, schema
        self.text = text
        self._candidates: list[Mentioned] = []
        self._used: list[tuple[int, int]] = []
        fields = self._find_fields()
        others = (*self._find_quoted(), *self._find_values(), *self._find_entities(), *self._find_amounts())
        telling = [one for one in others if not self._is_generic(one)]
        self.all = _without_overlaps(sorted([*telling, *fields], key=lambda one: (
            one.start - one.end, one.kind == "field", not (one.kind in {"number", "date"} and one.name), one.start)))

    def of(self, *kinds: str) -> list[Mentioned]:
        """Return the mentions of some kinds, from left to right."""
        return sorted(one for one in self.all if one.kind in kinds)

    def free_fields(self) -> list[Mentioned]:
        """Return the fields that are not accounted for."""
        return [one for one in self.of("field") if not self.is_used(one)]

    def use(self, *parts: Mentioned | re.Match[str]) -> None:
        """Note that mentions, or what patterns found, are accounted for."""
        self._used += [one.span() if isinstance(one, re.Match) else (one.start, one.end) for one in parts]

    def use_field(self, name: str) -> None:
        """Note that all mentions of a field are accounted for."""
        self.use(*(one for one in self.of("field") if one.name == name))

    def is_used(self, mention: Mentioned) -> bool:
        """Return True if a mention is accounted for."""
        return any(start <= mention.start and mention.end <= end for start, end in self._used)

    def before(self, mention: Mentioned) -> str:
        """Return what stands before a mention."""
        return self.text[:mention.start]

    def unread(self, *, fields: bool = True) -> str:
        """Return the text with blanks for what is accounted for, and for fields unless they are to stay."""
        named = [] if fields else [(one.start, one.end) for one in self.of("field")
                                   if not table_words.DEGREE.fullmatch(self.text[one.start:one.end])]
        text = self.text
        for start, end in (*self._used, *named):
            text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
        return text

    # Kinds of mentions.

    def _find_quoted(self) -> Iterator[Mentioned]:
        for match in table_words.QUOTED.finditer(self.text):
            yield Mentioned(match.start(), match.end(), "quoted", "", match[1])

    def _find_values(self) -> Iterator[Mentioned]:
        """Yield the values of attributes; where several have one, that which the question names, else the most used."""
        asked = set(content_words(self.text))
        for named in self._index.values.find(self.text):
            value = self.text[named.start:named.end]
            if known := self._index.by_alias.get(canonical_name(value)):
                yield Mentioned(named.start, named.end, "entity", known[0], value)
                continue
            held = Counter(attribute for entity in named.entities[:_LOOKED_AT]
                           for attribute, values in self._index.attributes(entity).items()
                           if any(label_key(one) == label_key(value) for one in values))
            if held:
                attribute = min(held, key=lambda name: (asked.isdisjoint(content_words(name)), -held[name], name))
                yield Mentioned(named.start, named.end, "value", attribute, value)

    def _find_entities(self) -> Iterator[Mentioned]:
        for named in self._index.names.find(self.text):
            value = self.text[named.start:named.end]
            if any(map(str.isupper, value)) or not value.isascii():
                yield Mentioned(named.start, named.end, "entity", named.entities[0], value)

    def _find_amounts(self) -> Iterator[Mentioned]:
        dated = list(find_dates(self.text))
        for start, end in dated:
            yield Mentioned(start, end, "date", self._read_sign(start), parse_date(self.text[start:end]))
        for start, end in find_numbers(self.text):
            sign = self._read_sign(start)
            if sign and all(end <= first or start >= last for first, last in dated):
                yield Mentioned(start, end, "number", sign, self.text[start:end])

    def _read_sign(self, at: int) -> str:
        """Return the comparison before a place; "" if there is none."""
        matches = [match for match in table_words.COMPARED.finditer(self.text, 0, at)
                   if not self.text[match.end():at].strip(" \t约")]
        return table_words.SIGNS[matches[-1].lastgroup or ""] if matches else ""

    def _is_generic(self, mention: Mentioned) -> bool:
        """Return True for a word that means all rows ("EIP", "record"), though something is called so."""
        words = normalise(self.text[mention.start:mention.end])
        return mention.kind in {"value", "entity"} and (
            words in table_words.SAYS_NOTHING or singular(words) in self.prefixes)

    @cached_property
    def prefixes(self) -> frozenset[str]:
        """What stands before the numbers of keys, such as "eip"."""
        found = Counter(match[1] for name in self._index.by_alias if (match := _PREFIX.match(name)))
        return frozenset(prefix for prefix, count in found.items() if count >= _LEAST_KEYS)

    # Fields.

    def _find_fields(self) -> list[Mentioned]:
        """Return the fields that the question names: the longest, then those named as they are called."""
        tokens = [(match.start(), match.end(), stem(normalise(match[0])))
                  for match in table_words.WORD.finditer(self.text)]
        unnamed = table_words.NO_FIELD | ENGLISH_STOP | self.prefixes
        found = sorted(place for term in terms_of(self._index)
                       for rank, label in enumerate(labels_of(self._schema, term))
                       if label not in unnamed and len(label) >= _SHORTEST_LABEL and not self._names_rows(label)
                       for place in self._find_label(label, term, rank, tokens))
        self._candidates = [mention for _, mention in found]
        taken = _without_overlaps(self._candidates)
        # "the largest number of authors" is not about a field "size".
        return [one for one in taken if not table_words.DEGREE.fullmatch(self.text[one.start:one.end])] or taken

    def _names_rows(self, label: str) -> bool:
        """Return True for a label that ends with what stands before keys: "other EIPs" are rows, no field."""
        return singular(label.rpartition(" ")[2]) in self.prefixes

    def _find_label(self, label: str, term: Term, rank: int, tokens: Sequence[tuple[int, int, str]],
                ) -> Iterator[tuple[tuple[int, ...], Mentioned]]:
        """Yield where the question has a label, with what ranks one reading above another."""
        if not label.isascii():
            at = self.text.find(label)
            if at >= 0:
                yield (-len(label), 0, 0, rank, -term.rows), Mentioned(at, at + len(label), "field", term.name)
            return
        for stems in _readings(label):
            for start, end in _find_runs(stems, tokens):
                found = label_key(self.text[start:end])
                if found not in table_words.GENERIC or found == label:  # "directly" is no field "direction"
                    yield ((-len(stems), int(found != label), len(label.split()) - len(stems), rank, -term.rows),
                           Mentioned(start, end, "field", term.name))

    def read_as(self, mentions: Sequence[Mentioned], fits: Callable[[str], bool]) -> list[Mentioned]:
        """Return the mentions that can be read as a field of some kind, so read: "born" is a date or a place."""
        found = []
        for one in mentions:
            readings = (one, *(other for other in self._candidates if other.start < one.end and one.start < other.end))
            name = next((reading.name for reading in readings if fits(reading.name)), "")
            if name:
                found.append(one._replace(name=name))
        return found

    def are_beside(self, one: Mentioned, other: Mentioned) -> bool:
        """Return True if nothing but generic words is between two mentions."""
        between = self.text[min(one.end, other.end):max(one.start, other.start)]
        return len(between) <= _BESIDE and all(normalise(word) in table_words.SAYS_NOTHING
                                               for word in table_words.WORD.findall(between) if word.isascii())

    # Nothing may be left over.

    def left_over(self) -> list[str]:
        """Return the words that are not accounted for."""
        left = self.unread()
        if re.search(r"[\u4e00-\u9fff]", self.text):
            left = table_words.HAN_GENERIC.sub("", left)
        known = {part for kind in self._index.browsing.types for part in content_words(kind)}
        known |= self.subjects(unread=True) | {stem(word) for word in table_words.GENERIC}
        dated = {self.text[one.start:one.end] for one in self.of("date") if not self.is_used(one)}
        return [word for word in table_words.WORD.findall(left)
                if (not word.isdigit() or word in dated) and normalise(word) not in table_words.SAYS_NOTHING
                and stem(normalise(word)) not in known and singular(normalise(word)) not in self.prefixes]

    def subjects(self, *, unread: bool = False) -> set[str]:
        """Return the stems of the nouns that the question calls the rows: what follows "how many", "which" or "all".

        Args:
            unread: pass over words that are accounted for.
        """
        found = set[str]()
        for match in table_words.ASKED.finditer(self.text):
            following = (word for word in table_words.WORD.finditer(self.text, match.end())
                         if not unread or not any(start <= word.start() < end for start, end in self._used))
            noun = next(following, None)
            if noun is not None and noun[0].islower() and noun[0] not in table_words.SAYS_NOTHING:
                found.add(stem(normalise(noun[0])))
        return found


def _without_overlaps(mentions: Sequence[Mentioned]) -> list[Mentioned]:
    """Return the first of the mentions that overlap."""
    taken: list[Mentioned] = []
    for mention in mentions:
        if all(mention.end <= other.start or mention.start >= other.end for other in taken):
            taken.append(mention)
    return taken


@cached_if_short(_LABELS_KEPT)
def _readings(label: str) -> list[list[str]]:
    """Return the stems of a label, and those without an ending such as "number"."""
    words = label.split()
    parts = [stem(part) for part in words if part not in table_words.PREPOSITIONS] or words
    brief = [part for part in parts if part not in table_words.ENDINGS]
    return [parts, brief] if brief and brief != parts else [parts]


def _find_runs(stems: Sequence[str], tokens: Sequence[tuple[int, int, str]]) -> Iterator[tuple[int, int]]:
    """Yield the characters of each run of tokens that has these stems."""
    for begin in range(len(tokens) - len(stems) + 1):
        if tokens[begin][2] == stems[0] and [token[2] for token in tokens[begin:begin + len(stems)]] == list(stems):
            yield tokens[begin][0], tokens[begin + len(stems) - 1][1]


def singular(word: str) -> str:
    """Return a word without a plural's s."""
    return word.removesuffix("s")
