"""The values of a table's columns that words of a question may mean."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from ..graph_store.sql.table_file import FoundValue
from ..schemas.records import ColumnInfo
from ..text.lexicon import ENGLISH_STOP
from ..text.scripts import has_han
from . import question_words as asked
from .question_words import LEAST_LETTERS, Keys, Mention, Word

WEAK = frozenset({"neutral", "reading", "through", "overall", "people", "year", "day", "month", "decade", "until",
                   "made", "together", "number_word", "documents"})
"""Kinds of words that give way to a column, a value or a table of the same words."""
NAMING_SHARE = 0.9  # the share of different values from which a column tells the rows apart
PLAIN = frozenset({"document", "title"})  # columns of documents whose labels say nothing of what these are
_MOST_CATEGORIES = 100  # a word stands for a value that it is a part of only in names and columns of so few values
_Index = defaultdict[Keys, dict[str, list[str]]]
"""By stems: the values that may be said so, by the names of their columns."""
Candidate = tuple[str, Mention]  # the rank (among `RANKS`) of what some words of a question may mean, and that


class ValueReader:
    """Finds the values of a table's columns that words of a question may be."""

    def __init__(self, words: tuple[Word, ...], columns: Mapping[str, ColumnInfo], found: Sequence[FoundValue],
                 heads: frozenset[Keys], rows: int) -> None:
        """Take the values that have a word of the question; `heads` is what the table's rows are called."""
        self._words, self._columns, self._heads, self._rows = words, columns, heads, rows
        self._whole, self._parts = _index_values(columns, found, rows)
        self._runs = _index_titles(words, found, heads)
        titles = {column.title.casefold() for column in columns.values()}
        self._spellings = {asked.bare_name(value.value).casefold() for value in found} - titles

    def read(self) -> Iterator[Candidate]:
        """Yield the values that each run of words may be: as written, in another order, or by a word of theirs."""
        for first, last, keys in asked.runs_of(self._words):
            for rank, index, wanted in ((self._rank(first, last), self._whole, keys),
                                        ("value", self._whole, tuple(sorted(keys))), ("value_word", self._parts, keys),
                                        ("value_word", self._runs, keys)):
                if wanted not in index or not _may_be_value(self._words, first, last, index[wanted]):
                    continue
                is_whole = index is not self._parts
                found = {**self._families(keys), **index[wanted]} if is_whole else index[wanted]
                values = self._fitting(first, last, found, is_whole=is_whole)
                if values and not self._is_label(first, last, values):
                    yield rank, Mention(first, last, "value", columns=tuple(values), values=values)
                    break  # the first way in which it is a value

    def _rank(self, first: int, last: int) -> str:
        """Return the rank of words as a whole value: higher if they are written as a value is."""
        if asked.text_of(self._words[first:last]).casefold() not in self._spellings:
            return "value"
        # The topic "Typing" is no form of "type", and 3.10 is no number.
        word = self._words[first]
        return "certain" if asked.is_kind_of("measure", word.folded) or "." in word.text else "literal"

    def _families(self, keys: Keys) -> dict[str, list[str]]:
        """Return the values without spaces that begin with some words, of lists: "acme.com-offer" is Acme's."""
        return {column: family for column, values in self._parts.get(keys, {}).items()
                if self._columns[column].kind == "list" and (
                    family := [one for one in values if " " not in one and asked.keys_of(one)[:len(keys)] == keys])}

    def _is_label(self, first: int, last: int, values: Mapping[str, Sequence[str]]) -> bool:
        """Return True for a plural or verb of another column's label that is only a tag: "titles", "hosted"."""
        word = self._words[first].text
        if last > first + 1 or not (word.islower() and word.endswith(("ed", "s"))):
            return False
        other_labels = [column.title.casefold() for name, column in self._columns.items() if name not in values]
        is_only_tag = all(self._columns[name].kind == "list" for name in values)
        return is_only_tag and any(word != label and asked.is_form_of(word, label) for label in other_labels)

    def _says_kind(self, name: str, values: Sequence[str]) -> bool:
        """Return True if nearly all rows have one of some values of a column that the question does not name."""
        is_named = any(word.key in asked.keys_of(self._columns[name].title) for word in self._words)
        return not is_named and any(value in values and count >= NAMING_SHARE * self._rows
                                    for value, count in self._columns[name].frequent)

    def _fitting(self, first: int, last: int, found: Mapping[str, Sequence[str]], *, is_whole: bool,
                 ) -> dict[str, tuple[str, ...]]:
        """Return those of the found values that words may mean, by column."""
        word = self._words[first].text
        keys = tuple(one.key for one in self._words[first:last])
        values = dict[str, tuple[str, ...]]()
        for column, all_values in found.items():
            # "books" are not those of the series “The Books of Babel”.
            is_part_in_small_letters = not is_whole and word.islower()
            fitting = [value for value in all_values if not (is_part_in_small_letters and _is_name(value))]
            if keys in self._heads and (column in PLAIN or self._says_kind(column, fitting)):
                continue  # RFCs are all documents, not that titled "RFC" or those with `layout: rfc`
            is_named = any(one.key in asked.keys_of(self._columns[column].title) for one in self._words)
            if is_part_in_small_letters and not is_named and self._columns[column].kind == "list":
                continue  # "abstraction" is not the movement “Objective Abstraction”
            is_category = self._columns[column].distinct <= _MOST_CATEGORIES
            is_capital_lost = last == first + 1 and word.islower() and all(map(str.istitle, fitting))
            is_name = first > 0 and word[0].isupper()  # a first word has a capital in any case
            if fitting and (is_category or is_name or (is_whole and not is_capital_lost)):  # "made" is no film “Made”
                values[column] = tuple(sorted(set(fitting)))
        # Words in the titles of several documents name none of them, if they are another column's value.
        if ambiguous := {column for column in PLAIN & values.keys() if len(values[column]) > 1}:
            values = {column: fitting for column, fitting in values.items() if column not in ambiguous} or values
        if "document" in values:  # "RFC 7" is in lists as "7"
            number = self._words[last - 1].key
            for column, members in self._whole.get((number,), {}).items():
                if self._columns[column].kind == "list" and number in members:
                    values[column] = (number,)
        return values


def _is_name(value: str) -> bool:
    """Return True for several words with capitals, function words aside, that are not all capitals."""
    words = [word for word in value.split() if word.lower() not in ENGLISH_STOP]
    return len(words) > 1 and not value.isupper() and all(word[0].isupper() for word in words)


def _index_values(columns: Mapping[str, ColumnInfo], found: Sequence[FoundValue], rows: int) -> tuple[_Index, _Index]:
    """Return the values by the words of each, and by those of its words that may stand for it."""
    whole, parts = (_Index(lambda: defaultdict(list)) for _ in range(2))
    with_codes = {name for name, column in columns.items() if _has_country_codes(column)}
    for value in found:
        column = columns[value.column]
        if column.distinct == 1 and not column.empty:
            continue  # what all rows have says nothing of any: `layout: post`
        text = PurePosixPath(value.value).stem if value.column == "document" else value.value
        keys = asked.keys_of(text)
        is_category = column.distinct <= _MOST_CATEGORIES and column.distinct < NAMING_SHARE * rows
        for variant in dict.fromkeys(asked.value_variants(text, column.name, is_category=is_category)):
            whole[variant][value.column].append(value.value)
        for name, code in asked.country_codes().items() if value.column in with_codes else ():
            if code == value.value.upper():
                whole[name][value.column].append(value.value)
        words = dict.fromkeys((*keys, *(word.key for word in asked.words_of(text))))  # McCall is one word, and two
        may_be_shortened = len(keys) <= asked.MOST_NAME_WORDS and "://" not in text  # unlike prose and addresses
        for part in asked.label_words(tuple(words)) if may_be_shortened else ():
            parts[part][value.column].append(value.value)
    return whole, parts


def _index_titles(words: Sequence[Word], found: Sequence[FoundValue], heads: frozenset[Keys]) -> _Index:
    """Return the only title with a run of a question's words, by their stems; they must be two that say something."""
    titles = [(f" {' '.join(asked.keys_of(value.value))} ", value.value) for value in found if value.column == "title"]
    neighbours = {pair for of_title, _ in titles for pair in pairwise(of_title.split())}
    runs = _Index(lambda: defaultdict(list))
    for first, last, keys in asked.runs_of(tuple(words)):
        if keys[:2] not in neighbours:
            continue
        telling = [word for word in words[first:last] if word.folded not in ENGLISH_STOP and (word.key,) not in heads]
        begins = words[first] in telling or words[first].folded in {"a", "an", "the"}
        if len(telling) < 2 or not begins or words[last - 1] not in telling:  # noqa: PLR2004 - a word alone is rather a subject
            continue
        holding = [title for of_title, title in titles if f" {' '.join(keys)} " in of_title]
        if len(holding) == 1:
            runs[keys]["title"] += holding
    return runs


def _has_country_codes(column: ColumnInfo) -> bool:
    """Return True for countries by their codes; the label has to say so, as "IL" may be a state or a language."""
    codes = {value.upper() for value, _ in column.frequent}
    names_of_countries = asked.lexicon().synonyms[asked.keys_of("country")]
    is_called_so = any((key,) in names_of_countries for key in asked.keys_of(column.title))
    return is_called_so and bool(codes) and codes <= {*asked.country_codes().values()}


def _may_be_value(words: Sequence[Word], first: int, last: int, found: Mapping[str, Sequence[str]]) -> bool:
    """Return True unless words that mean something else are a value only by their spelling: "or" is not Oregon."""
    kinds = asked.kinds_of(words[first:last])
    means_else = any(kind not in {*WEAK, "measure"} or kind == "neutral" for kind, _ in kinds)
    is_short = last == first + 1 and len(words[first].text) < LEAST_LETTERS and not has_han(words[first].text[0])
    if not means_else and not is_short:
        return True
    text = asked.text_of(words[first:last])
    has_capitals = first > 0 and text.lower() != text  # those of the question's first word say nothing
    return has_capitals and any(text in values for values in found.values())
