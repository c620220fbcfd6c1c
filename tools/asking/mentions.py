"""Finding what the words of a question mention: fields, values and entities of a knowledge base, dates and numbers."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from ...graph_store.graph_index import GraphIndex
from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import cached_if_short, canonical_name, label_key, normalise
from ...text.content_words import content_words, stem
from ...text.dates import find_dates, parse_date
from ...text.lexicon import ENGLISH_STOP
from ...text.quantities import find_numbers
from ..schema_names import Term, labels_of, terms_of
from . import table_words

_NUMBERED_NAME = re.compile(r"([^\W\d_]{2,10})[-\s]?\d+$")
_LEAST_NUMBERED = 3
"""How many numbered names make their first part a prefix, as "EIP-1", "EIP-2" and "EIP-3" do."""
_MAX_ENTITIES, _SHORTEST_LABEL = 40, 2
_CACHED_LABELS = 1 << 12
_BESIDE = 25
"""The most characters between a value and the name of its field, as in "status is still Final"."""


class Mentioned(NamedTuple):
    """Words of a question, characters `start` to `end`.

    `name` depends on the kind: the field's name for a field or value, the entity's id for an entity, the sign of the
    comparison before a date or number (">", "" if there is none). `value` is what rows are compared with.
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
    """All mentions of a question, and which parts of the question are accounted for ("used")."""

    def __init__(self, index: GraphIndex, schema: GraphSchema, text: str) -> None:
        """Find the mentions.

        Where readings of the same words overlap, the longest is chosen; of equally long ones a value or an entity
        before a field, then a date or number with a comparison before it.
        """
        self._index, self._schema = index, schema
        self.text = text
        self._candidates: list[Mentioned] = []
        self._used: list[tuple[int, int]] = []
        fields = self._find_fields()
        others = (*self._find_quoted(), *self._find_values(), *self._find_entities(), *self._find_amounts())

        def preference(mention: Mentioned) -> tuple[int, bool, bool, int]:
            is_compared = mention.kind in {"number", "date"} and mention.name != ""
            return mention.start - mention.end, mention.kind == "field", not is_compared, mention.start

        specific = [mention for mention in others if not self._is_generic(mention)]
        self.all = _without_overlaps(sorted([*specific, *fields], key=preference))

    def of_kinds(self, *kinds: str) -> list[Mentioned]:
        """Return the mentions of some kinds, from left to right."""
        return sorted(mention for mention in self.all if mention.kind in kinds)

    def free_fields(self) -> list[Mentioned]:
        """Return the mentions of fields that are not accounted for."""
        return [field for field in self.of_kinds("field") if not self.is_used(field)]

    def use(self, *parts: Mentioned | re.Match[str]) -> None:
        """Note that mentions, or matches of patterns, are accounted for."""
        self._used += [part.span() if isinstance(part, re.Match) else (part.start, part.end) for part in parts]

    def use_field(self, name: str) -> None:
        """Note that all mentions of a field are accounted for."""
        self.use(*(field for field in self.of_kinds("field") if field.name == name))

    def is_used(self, mention: Mentioned) -> bool:
        """Return True if a mention is accounted for."""
        return any(start <= mention.start and mention.end <= end for start, end in self._used)

    def text_before(self, mention: Mentioned) -> str:
        """Return the question's text before a mention."""
        return self.text[:mention.start]

    def unread(self, *, fields: bool = True) -> str:
        """Return the question with blanks in place of everything that is accounted for.

        Without `fields`, the names of fields are blanked too, except degrees such as "largest", which also say what to
        compute.
        """
        blanked = list(self._used)
        if not fields:
            blanked += [(field.start, field.end) for field in self.of_kinds("field")
                        if not table_words.DEGREE.fullmatch(self.text[field.start:field.end])]
        text = self.text
        for start, end in blanked:
            text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
        return text

    # Kinds of mentions.

    def _find_quoted(self) -> Iterator[Mentioned]:
        for match in table_words.QUOTED.finditer(self.text):
            yield Mentioned(match.start(), match.end(), "quoted", "", match[1])

    def _find_values(self) -> Iterator[Mentioned]:
        """Yield the values of attributes that the question mentions."""
        question_words = set(content_words(self.text))
        for occurrence in self._index.value_trie.find(self.text):
            value = self.text[occurrence.start:occurrence.end]
            if entities := self._index.by_alias.get(canonical_name(value)):
                yield Mentioned(occurrence.start, occurrence.end, "entity", entities[0], value)
                continue
            counts = Counter(attribute for entity in occurrence.entities[:_MAX_ENTITIES]
                             for attribute, values in self._index.values(entity).items()
                             if any(label_key(other) == label_key(value) for other in values))
            if counts:
                attribute = min(counts, key=lambda name: (
                    question_words.isdisjoint(content_words(name)), -counts[name], name))
                yield Mentioned(occurrence.start, occurrence.end, "value", attribute, value)

    def _find_entities(self) -> Iterator[Mentioned]:
        """Yield the entities that the question names, in Latin script only those written with a capital."""
        for occurrence in self._index.name_trie.find(self.text):
            name = self.text[occurrence.start:occurrence.end]
            if any(map(str.isupper, name)) or not name.isascii():
                yield Mentioned(occurrence.start, occurrence.end, "entity", occurrence.entities[0], name)

    def _find_amounts(self) -> Iterator[Mentioned]:
        """Yield the dates of the question, and those numbers that are compared ("more than 5") and in no date."""
        date_spans = list(find_dates(self.text))
        for start, end in date_spans:
            yield Mentioned(start, end, "date", self._read_sign(start), parse_date(self.text[start:end]))
        for start, end in find_numbers(self.text):
            sign = self._read_sign(start)
            if sign and all(end <= date_start or start >= date_end for date_start, date_end in date_spans):
                yield Mentioned(start, end, "number", sign, self.text[start:end])

    def _read_sign(self, at: int) -> str:
        """Return the sign of the comparison directly before character `at` (">" for "more than"); "" if none is."""
        matches = [match for match in table_words.COMPARED.finditer(self.text, 0, at)
                   if not self.text[match.end():at].strip(" \t约")]
        return table_words.SIGNS[matches[-1].lastgroup or ""] if matches else ""

    def _is_generic(self, mention: Mentioned) -> bool:
        """Return True for a word that means rows in general ("record", "EIP"), even if it is a value or a name too."""
        words = normalise(self.text[mention.start:mention.end])
        return mention.kind in {"value", "entity"} and (
            words in table_words.SAYS_NOTHING or singular(words) in self.prefixes)

    @cached_property
    def prefixes(self) -> frozenset[str]:
        """The words that begin many numbered names, such as "eip" in "EIP-1", "EIP-2" and so on."""
        counts = Counter(match[1] for name in self._index.by_alias if (match := _NUMBERED_NAME.match(name)))
        return frozenset(prefix for prefix, count in counts.items() if count >= _LEAST_NUMBERED)

    # Fields.

    def _find_fields(self) -> list[Mentioned]:
        """Return the fields that the question names."""
        tokens = [(match.start(), match.end(), stem(normalise(match[0])))
                  for match in table_words.WORD.finditer(self.text)]
        excluded = table_words.NO_FIELD | ENGLISH_STOP | self.prefixes
        ranked = sorted(reading for term in terms_of(self._index)
                        for label_rank, label in enumerate(labels_of(self._schema, term))
                        if label not in excluded and len(label) >= _SHORTEST_LABEL
                        for reading in self._find_label(label, term, label_rank, tokens)
                        if not self._means_rows(label))
        self._candidates = [mention for _, mention in ranked]
        chosen = _without_overlaps(self._candidates)
        # "the largest number of authors" is not about a field "size".
        without_degrees = [field for field in chosen
                           if not table_words.DEGREE.fullmatch(self.text[field.start:field.end])]
        return without_degrees or chosen

    def _means_rows(self, label: str) -> bool:
        """Return True for a label that ends with the prefix of numbered names: "other EIPs" are rows, not a field."""
        return singular(label.rpartition(" ")[2]) in self.prefixes

    def _find_label(self, label: str, term: Term, label_rank: int, tokens: Sequence[tuple[int, int, str]],
                ) -> Iterator[tuple[tuple[int, ...], Mentioned]]:
        """Yield each place where the question has a label, as (rank, mention); the lowest rank wins."""
        if not label.isascii():
            start = self.text.find(label)
            if start >= 0:
                mention = Mentioned(start, start + len(label), "field", term.name)
                yield (-len(label), 0, 0, label_rank, -term.rows), mention
            return
        for stems in _label_stems(label):
            for start, end in _find_runs(stems, tokens):
                written = label_key(self.text[start:end])
                if written in table_words.GENERIC and written != label:  # "directly" does not name a field "direction"
                    continue
                omitted_words = len(label.split()) - len(stems)
                yield ((-len(stems), int(written != label), omitted_words, label_rank, -term.rows),
                       Mentioned(start, end, "field", term.name))

    def read_as(self, mentions: Sequence[Mentioned], fits: Callable[[str], bool]) -> list[Mentioned]:
        """Return mentions of fields under the name of a field that fits; mentions that fit none are left out.

        The same word may name several fields: "born" a date of birth and a place of birth.
        """
        fitting = []
        for mention in mentions:
            overlapping = (other for other in self._candidates
                           if other.start < mention.end and mention.start < other.end)
            name = next((reading.name for reading in (mention, *overlapping) if fits(reading.name)), "")
            if name:
                fitting.append(mention._replace(name=name))
        return fitting

    def are_beside(self, one: Mentioned, other: Mentioned) -> bool:
        """Return True if only a few generic words, such as "is still", are between two mentions."""
        between = self.text[min(one.end, other.end):max(one.start, other.start)]
        return len(between) <= _BESIDE and all(normalise(word) in table_words.SAYS_NOTHING
                                               for word in table_words.WORD.findall(between) if word.isascii())

    # Words that are not accounted for.

    def unaccounted_words(self) -> list[str]:
        """Return the words of the question that are neither used nor generic.

        Generic are the names of entity types, the nouns that the question calls the rows, function words and the words
        of `table_words`. Numbers are ignored, unless they are dates that became no condition.
        """
        unread = self.unread()
        if re.search(r"[\u4e00-\u9fff]", self.text):
            # A noun after "which" or "how many" is what the rows are called, unless it is a mention.
            asked_nouns = [match.span() for match in table_words.HAN_ASKED.finditer(unread) if not any(
                match.start("noun") < mention.end and mention.start < match.end() for mention in self.all)]
            for start, end in reversed(asked_nouns):
                unread = unread[:start] + unread[end:]
            unread = table_words.HAN_GENERIC.sub("", unread)
        generic_stems = {word for type_name in self._index.types for word in content_words(type_name)}
        generic_stems |= self.subjects(unread=True) | {stem(word) for word in table_words.GENERIC}
        unused_dates = {self.text[date.start:date.end] for date in self.of_kinds("date") if not self.is_used(date)}
        return [word for word in table_words.WORD.findall(unread)
                if (not word.isdigit() or word in unused_dates) and normalise(word) not in table_words.SAYS_NOTHING
                and stem(normalise(word)) not in generic_stems and singular(normalise(word)) not in self.prefixes]

    def subjects(self, *, unread: bool = False) -> set[str]:
        """Return the stems of the nouns that the question calls the rows: what follows "how many", "which" or "all".

        With `unread`, words that are accounted for are skipped when the noun is looked for.
        """
        stems = set[str]()
        for match in table_words.ASKED.finditer(self.text):
            following = (word for word in table_words.WORD.finditer(self.text, match.end())
                         if not unread or not any(start <= word.start() < end for start, end in self._used))
            noun = next(following, None)
            if noun is not None and noun[0].islower() and noun[0] not in table_words.SAYS_NOTHING:
                stems.add(stem(normalise(noun[0])))
        return stems


def _without_overlaps(mentions: Sequence[Mentioned]) -> list[Mentioned]:
    """Return the mentions without those that overlap an earlier one of the list."""
    chosen: list[Mentioned] = []
    for mention in mentions:
        if all(mention.end <= other.start or mention.start >= other.end for other in chosen):
            chosen.append(mention)
    return chosen


@cached_if_short(_CACHED_LABELS)
def _label_stems(label: str) -> list[list[str]]:
    """Return the stems of a label's words, and a shorter list without words such as "date" if it has some."""
    words = label.split()
    stems = [stem(word) for word in words if word not in table_words.PREPOSITIONS] or words
    shorter = [one for one in stems if one not in table_words.ENDINGS]
    return [stems, shorter] if shorter and shorter != stems else [stems]


def _find_runs(stems: Sequence[str], tokens: Sequence[tuple[int, int, str]]) -> Iterator[tuple[int, int]]:
    """Yield (start, end), in characters, of each run of neighbouring tokens that have these stems."""
    first_stem = stems[0]
    for first, (start, _, token_stem) in enumerate(tokens):
        if token_stem != first_stem:  # a fast check, which nearly all places fail
            continue
        run = tokens[first:first + len(stems)]
        if [run_stem for _, _, run_stem in run] == list(stems):
            yield start, run[-1][1]


def singular(word: str) -> str:
    """Return a word without the plural's "s"."""
    return word.removesuffix("s")
