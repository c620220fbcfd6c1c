"""What the words of a question mean in one table: its name, its columns, its values, and what is to be done."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from ..graph_store.sql.value_words import FoundValue
from ..models.rules.likeness import likeness
from ..schemas.records import ColumnInfo, TableInfo
from ..text.scripts import is_han
from .question_words import (
    LEAST_LETTERS,
    MOST_NAME_WORDS,
    Keys,
    Mention,
    Word,
    bare_name,
    fixed_parts,
    is_form_of,
    is_kind_of,
    keys_of,
    label_variants,
    label_words,
    lexicon,
    runs_of,
    value_variants,
    words_of,
)

_LEAST_LIKENESS, _LEAST_LEAD = 0.5, 0.05
"""The cosine from which a word may stand for a column's, and its lead over the next column. Of 97 pairs of synonyms and
95 of other words that tables hold side by side (tests/unit/tools/test_asked_query.py), .5 takes 27 and 1."""
_WEAK = frozenset({"neutral", "reading", "through", "overall", "people", "year", "day", "month", "decade", "until",
                   "compare", "made", "together", "number_word", "documents", "edge"})
"""Kinds of words that give way to a column, a value or a table of the same words."""
_RANKS = ("certain", "date", "number", "operation", "literal", "column", "value", "quoted", "head", "weak", "title",
          "column_word", "value_word", "column_form", "made", "unit")
"""What words are rather read as, if several readings have equally many of them."""
_TABLES = frozenset({"tabl", "list", "data", "dataset", "sheet", "tabell", "表"})
_NAMING_SHARE = 0.9  # the share of different values from which a column tells the rows apart
_MOST_CATEGORIES = 100
"""A word stands for a value that it is a part of only in names and in columns of few values, not in prose."""
_LONGEST_SHORT = 5  # letters of an abbreviation such as KEP
_MOST_CACHED = 4096  # tables that are prepared for questions: each question is read in all of its knowledge base
_HIDDEN = {"records": frozenset({"document"}), "documents": frozenset({"source"})}
"""Columns that say where a row was read, which no question asks for by their words."""
_FEW = 0.05
"""The share of documents below which a field says nothing of others, and its words are rather about something else."""
_PLAIN = frozenset({"document", "title"})  # columns of documents whose labels say nothing of what these are
_EVENTS = ("ment", "ments", "ion", "ions", "ings")
"""Endings of nouns for what happens: each row with an appointee is an appointment."""
_TITLE_END = re.compile(r"[,:;(–—]| (?:in|of|by|for|from|at|on|per|with|and|to|der|des|von|für|nach)\b", re.IGNORECASE)
_Index = defaultdict[Keys, dict[str, list[str]]]
"""By stems: the values that may be said so, by the names of their columns."""


class _Candidate(NamedTuple):
    """What some words of a question may mean, with its rank among `_RANKS`."""

    rank: str
    mention: Mention


@dataclass(frozen=True)
class Reading:
    """A question as it is read in one table: mentions that share no word, in order.

    `heads` are the stems of what the table's rows are called.
    """

    table: TableInfo
    words: tuple[Word, ...]
    mentions: tuple[Mention, ...]
    heads: frozenset[Keys]


def read_in_table(question: str, table: TableInfo, titles: Sequence[str],
                  values: Iterable[FoundValue]) -> Reading | None:
    """Read a question in a table, which is called by some titles and has some values that its words may mean.

    None if a word cannot be read, as no query comes of it: few tables have to do with a question.
    """
    words = words_of(question)
    heads, others = _title_index((*titles, *_naming_labels(table, tuple(titles))))
    heads |= set(_expansions(words, heads))
    columns = {column.name: column for column in _shown(table)}
    known = [value for value in values if value.column in columns]
    candidates = [*_fixed(question), *_labels(words, table), *_titles(words, heads, others),
                  *_ValueReader(words, columns, known, heads, table.rows).read()]
    mentions = _join_labels(_choose(candidates), heads, others, words)
    unread = [at for at in range(len(words)) if not any(one.first <= at < one.last for one in mentions)]
    # Capitalised words, which are like no column, come first, as likenesses take long to compute.
    for at in sorted(unread, key=lambda at: words[at].text.islower()):
        if _is_glossed(question, words, at, mentions):
            continue
        if (mention := _like_column(words[at].text, at, table)) is None:
            return None
        mentions.append(mention)
    mentions.sort(key=lambda mention: mention.first)
    if any(mention.kind == "mentioned" for mention in mentions) or _has_rival_values(mentions, columns):
        return None
    return Reading(table, words, tuple(mentions), heads)


def _has_rival_values(mentions: Sequence[Mention], columns: Mapping[str, ColumnInfo]) -> bool:
    """Return True if two values of one column that is no list stand side by side: a cell has one of them at most."""
    # "Targets MapServer 7.0" means no version that is "(Targeting MapServer 8.0)".
    return any(first.kind == second.kind == "value" and first.last == second.first
               and any(columns[name].kind != "list" for name in set(first.columns) & set(second.columns))
               for first, second in pairwise(mentions))


def rarely_filled(table: TableInfo, column: ColumnInfo) -> bool:
    """Return True for a field of so few documents that another one with the same words is meant."""
    return table.kind == "documents" and table.rows - column.empty < _FEW * table.rows


def _shown(table: TableInfo) -> Iterator[ColumnInfo]:
    """Return the columns that a question may ask for."""
    hidden = _HIDDEN.get(table.kind, frozenset())
    return (column for column in table.columns if column.name not in hidden)


def _choose(candidates: Iterable[_Candidate]) -> list[Mention]:
    """Return mentions that share no word: those of the most words first, of equally many by their ranks."""
    def preference(candidate: _Candidate) -> tuple[int, int, int]:
        mention = candidate.mention
        return mention.first - mention.last, _RANKS.index(candidate.rank), mention.first

    chosen: list[Mention] = []
    for _, mention in sorted(candidates, key=preference):
        if all(mention.last <= other.first or other.last <= mention.first for other in chosen):
            chosen.append(mention)
            continue
        for place, other in enumerate(chosen if mention.kind == "value" else ()):
            if other.kind == "quoted" and (other.first, other.last) == (mention.first, mention.last):
                # A quote, which may be a part of a text, has the values that are exactly its words, too.
                equal = {column: same for column, fitting in mention.values.items() if (
                    same := tuple(one for one in fitting if keys_of(one) == keys_of(other.name)))}
                chosen[place] = replace(other, columns=(*other.columns, *equal), values={**other.values, **equal})
    return chosen


def _join_labels(mentions: Sequence[Mention], heads: frozenset[Keys], others: frozenset[Keys],
                 words: Sequence[Word]) -> list[Mention]:
    """Join neighbouring words of one column's label, and mark columns that are called what the rows are called."""
    joined: list[Mention] = []
    for mention in sorted(mentions, key=lambda one: one.first):
        if mention.kind != "column":
            joined.append(mention)
            continue
        place = next((at for at in range(len(joined) - 1, -1, -1) if joined[at].kind == "column"), None)
        if place is not None:
            last = joined[place]
            shared = tuple(name for name in (*mention.columns, *mention.also) if name in (*last.columns, *last.also))
            between = {word.folded for word in words[last.last:mention.first]}
            if shared and between <= {"the", "of"}:  # "managed the review", as the review manager
                joined[place:] = [replace(last, last=mention.last, columns=shared, also=())]
                continue
        keys = tuple(word.key for word in words[mention.first:mention.last])
        behind = words[mention.last:mention.last + 1]
        # "the penguins table" is called what it lists.
        names_table = keys in others and bool(behind) and behind[0].key in _TABLES
        joined.append(replace(mention, is_head=keys in heads or names_table))
    return joined


@lru_cache(64)
def _fixed(question: str) -> tuple[_Candidate, ...]:
    """Return the quotes, dates, numbers, units and operations of a question, which are the same in each table."""
    words = words_of(question)
    candidates = []
    for part in fixed_parts(question, words):
        # A quoted word is rather a part of a text than a value: "final" in the title.
        is_quoted_word = part.kind == "quoted" and part.last == part.first + 1
        candidates.append(_Candidate("certain" if is_quoted_word else part.kind,
                                     Mention(part.first, part.last, part.kind, part.name)))
    ranks = {**dict.fromkeys(_WEAK, "weak"), "made": "made"}
    for first, last, _ in runs_of(words):
        kinds = lexicon().phrases.get(tuple(word.folded for word in words[first:last]), ())
        for kind, name in sorted(kinds, key=lambda one: one[0] in _WEAK):
            candidates.append(_Candidate(ranks.get(kind, "operation"), Mention(first, last, kind, name)))
    return tuple(candidates)


def _naming_labels(table: TableInfo, titles: tuple[str, ...]) -> Iterator[str]:
    """Yield the label of a column whose texts tell the rows apart: the rows of a table by city are cities."""
    # It is the first of records, and of documents one that is called as these are: "Proposal: SE-0001".
    heads, _ = _title_index(titles)
    for column in table.columns[:1] if table.kind == "records" else table.columns:
        is_name = column.kind == "text" or (column.kind == "number" and keys_of(column.title) in heads)
        is_own = table.kind == "records" or is_kind_of("documents", column.title)
        if is_name and is_own and column.name not in _PLAIN and column.distinct >= _NAMING_SHARE * table.rows:
            yield column.title


@lru_cache(_MOST_CACHED)
def _label_index(table: TableInfo) -> tuple[Mapping[Keys, tuple[str, ...]], ...]:
    """Return the columns of a table by their whole labels, by stems of single words, and by these in lower case."""
    whole, parts, forms = (defaultdict[Keys, dict[str, None]](dict) for _ in range(3))
    for column in _shown(table):
        for variant in (*label_variants(column.title), *label_variants(column.name)):
            whole[variant][column.name] = None
            if column.kind == "date" and variant[-1:] != ("date",):
                whole[*variant, "date"][column.name] = None
            for part in label_words(variant, 2):
                parts[part][column.name] = None
        for word in words_of(column.title.replace("_", " ")):
            if word.folded.isalpha() and (word.key,) not in lexicon().stems:
                forms[word.folded,][column.name] = None
    return tuple({key: tuple(names) for key, names in index.items()} for index in (whole, parts, forms))


def _labels(words: tuple[Word, ...], table: TableInfo) -> Iterator[_Candidate]:
    """Yield the columns that words may name: by a whole label, by a word of one, or by another form of that word."""
    whole, parts, forms = _label_index(table)
    for first, last, keys in runs_of(words):
        if keys in whole:
            also = tuple(name for name in parts.get(keys, ()) if name not in whole[keys])
            is_rare = all(rarely_filled(table, column) for column in table.columns if column.name in whole[keys])
            rank = "column_form" if is_rare else "column"
            yield _Candidate(rank, Mention(first, last, "column", columns=whole[keys], also=also))
        elif keys in parts:
            yield _Candidate("column_word", Mention(first, last, "column", columns=parts[keys]))
    for at, word in enumerate(words):
        if not word.folded.isalpha() or is_han(word.folded[0]):
            continue
        names = dict.fromkeys(name for (label,), columns in forms.items() if is_form_of(word.folded, label)
                              for name in columns)
        is_event = word.folded.endswith(_EVENTS) and not any(
            column.empty for column in table.columns if column.name in names)
        if names and is_event:
            yield _Candidate("column_form", Mention(at, at + 1, "head"))
        elif names:
            yield _Candidate("column_form", Mention(at, at + 1, "column", columns=tuple(names)))


@lru_cache(_MOST_CACHED)
def _title_index(titles: tuple[str, ...]) -> tuple[frozenset[Keys], frozenset[Keys]]:
    """Return what a table's rows may be called by its titles, and the other words of its titles."""
    heads, others = set[Keys](), set[Keys]()
    for title in titles:
        head = keys_of(_TITLE_END.split(title)[0])[-1:]
        for variant in label_variants(title.replace("_", " ")):
            others.update(label_words(variant))
        if head and not is_han(head[0][0]):
            heads.update((head, *lexicon().synonyms.get(head, ())))
        elif head:
            heads.add(keys_of(_TITLE_END.split(title)[0]))
    return frozenset(heads), frozenset(others)


def _expansions(words: tuple[Word, ...], heads: Iterable[Keys]) -> Iterator[Keys]:
    """Yield runs of words that an abbreviation of the rows is short for: "enhancement proposals" are KEPs."""
    short = {head[0] for head in heads if len(head) == 1 and len(head[0]) <= _LONGEST_SHORT}
    for _, last, keys in (run for run in runs_of(words) if len(run[2]) > 1):
        initials = "".join(key[0] for key in keys)
        ends_in_kind = any(is_kind_of(kind, words[last - 1].text) for kind in ("documents", "row_nouns"))
        is_whole = initials in short and len(initials) >= LEAST_LETTERS
        if is_whole or (ends_in_kind and any(one.endswith(initials) for one in short)):
            yield keys


def _titles(words: tuple[Word, ...], heads: frozenset[Keys], others: frozenset[Keys]) -> Iterator[_Candidate]:
    """Yield words that are what the rows are called ("head"), or others of the table's titles ("title")."""
    for first, last, keys in runs_of(words):
        for kind, named in (("head", heads), ("title", others)):
            if keys in named or (len(keys) == 1 and any(
                    len(one) == 1 and is_form_of(words[first].folded, one[0]) for one in named)):
                yield _Candidate(kind, Mention(first, last, kind))
                break


class _ValueReader:
    """Finds the values of a table's columns that words of a question may be."""

    def __init__(self, words: tuple[Word, ...], columns: Mapping[str, ColumnInfo], found: Sequence[FoundValue],
                 heads: frozenset[Keys], rows: int) -> None:
        """Take the values that have a word of the question; `heads` is what the table's rows are called."""
        self._words, self._columns, self._heads = words, columns, heads
        self._whole, self._parts = _index_values(columns, found, rows)
        self._keys = {(value.column, value.value): set(keys_of(value.legend or value.value)) for value in found}
        self._label_keys = {(key,) for column in columns.values() for key in keys_of(column.title)}
        titles = {column.title.casefold() for column in columns.values()}
        self._spellings = {bare_name(value.value).casefold() for value in found} - titles

    def read(self) -> Iterator[_Candidate]:
        """Yield the values that each run of words may be: as written, in another order, or by a word of theirs."""
        for first, last, keys in runs_of(self._words):
            for rank, index, wanted in ((self._rank(first, last), self._whole, keys),
                                        ("value", self._whole, tuple(sorted(keys))), ("value_word", self._parts, keys)):
                if wanted not in index or not _may_be_value(self._words, first, last, index[wanted]):
                    continue
                values = self._fitting(first, last, index[wanted], is_whole=index is self._whole)
                # "died" may be the kind “Death”, but asks for its date.
                is_spelt = any(self._keys.get((column, value), set()).issuperset(keys)
                               for column, fitting in values.items() for value in fitting)
                names_column = not is_spelt and not self._label_keys.isdisjoint(lexicon().synonyms.get(keys, ()))
                if values and not names_column:
                    yield _Candidate(rank, Mention(first, last, "value", columns=tuple(values), values=values))
                    break

    def _rank(self, first: int, last: int) -> str:
        """Return the rank of words as a whole value: higher if they are written as a value is."""
        if _text_of(self._words[first:last]).casefold() not in self._spellings:
            return "value"
        # The topic "Typing" is no form of "type", and 3.10 is no number.
        word = self._words[first]
        is_measure = any(kind == "measure" for kind, _ in lexicon().phrases.get((word.folded,), ()))
        return "certain" if is_measure or "." in word.text else "literal"

    def _fitting(self, first: int, last: int, found: Mapping[str, Sequence[str]], *, is_whole: bool,
                 ) -> dict[str, tuple[str, ...]]:
        """Return those of the found values that words may mean, by column."""
        word, said = self._words[first].text, _text_of(self._words[first:last]).casefold()
        keys = tuple(one.key for one in self._words[first:last])
        exact = {value for fitting in found.values() for value in fitting
                 if said in self._spellings and bare_name(value).casefold() == said}
        values = dict[str, tuple[str, ...]]()
        for column, fitting in found.items():
            if keys in self._heads and column in _PLAIN:
                continue  # RFCs are all documents, not that titled "RFC"
            is_category = self._columns[column].distinct <= _MOST_CATEGORIES
            # "made" is not the film “Made”.
            is_written = last - first > 1 or not word.islower() or not all(map(str.istitle, fitting))
            if not (is_category or (is_whole and is_written) or (first > 0 and word[0].isupper())):
                continue
            # The page "done" is not "done (in part)" as well, but the status is.
            values[column] = tuple(sorted({value for value in fitting if exact.isdisjoint(fitting) or value in exact
                                           or (is_category and len(words_of(value)) != last - first)}))
        if "document" in values:  # "RFC 7" is in lists as "7"
            number = self._words[last - 1].key
            for column, members in self._whole.get((number,), {}).items():
                if self._columns[column].kind == "list" and number in members:
                    values[column] = (number,)
        return values


def _index_values(columns: Mapping[str, ColumnInfo], found: Sequence[FoundValue], rows: int) -> tuple[_Index, _Index]:
    """Return the values by the words of each, and by those of its words that may stand for it."""
    whole, parts = (_Index(lambda: defaultdict(list)) for _ in range(2))
    for value in found:
        column = columns[value.column]
        if column.distinct == 1 and not column.empty:
            continue  # what all rows have says nothing of any: `layout: post`
        said = value.legend or value.value
        text = PurePosixPath(said).stem if value.column == "document" else said
        keys = keys_of(text)
        is_category = column.distinct <= _MOST_CATEGORIES and column.distinct < _NAMING_SHARE * rows
        for variant in dict.fromkeys(value_variants(text, column.name, is_category=is_category)):
            whole[variant][value.column].append(value.value)
        for part in label_words(keys) if len(keys) <= MOST_NAME_WORDS and "://" not in text else ():
            parts[part][value.column].append(value.value)
    return whole, parts


def _may_be_value(words: Sequence[Word], first: int, last: int, found: Mapping[str, Sequence[str]]) -> bool:
    """Return True unless words that mean something else are a value only by their spelling: "or" is not Oregon."""
    kinds = lexicon().phrases.get(tuple(word.folded for word in words[first:last]), ())
    is_phrase = any(kind not in {*_WEAK, "measure"} or kind == "neutral" for kind, _ in kinds)
    is_short = last == first + 1 and len(words[first].text) < LEAST_LETTERS and not is_han(words[first].text[0])
    if not is_phrase and not is_short:
        return True
    text = _text_of(words[first:last])
    return first > 0 and text.lower() != text and any(text in values for values in found.values())


def _text_of(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)


def _like_column(word: str, at: int, table: TableInfo) -> Mention | None:
    """Return a word that is used like the words of one column's label, as a mention of it; None if there is none."""
    if len(word) <= LEAST_LETTERS or not (word.isascii() and word.islower()):
        return None
    columns = list(_shown(table))
    labels = [" ".join((column.title, column.name.replace("_", " "))) for column in columns]
    if any(label.find(word) > 0 for text in labels for label in text.casefold().split()):
        return None  # "affected" is not "unaffected"
    ranked = sorted(zip(likeness([word], labels)[:, 0].tolist(), (column.name for column in columns), strict=True),
                    reverse=True)
    if not ranked or ranked[0][0] < _LEAST_LIKENESS or (len(ranked) > 1 and ranked[0][0] - ranked[1][0] < _LEAST_LEAD):
        return None
    return Mention(at, at + 1, "column", columns=(ranked[0][1],), is_like=True)


def _is_glossed(question: str, words: Sequence[Word], at: int, mentions: Sequence[Mention]) -> bool:
    """Return True for a word whose meaning follows in brackets: "Delta (DL)"."""
    following = next((mention for mention in mentions if mention.first == at + 1), None)
    if following is None or following.kind in {"neutral", "title"}:
        return False
    between = question[words[at].end:words[at + 1].start]
    after = question[words[following.last - 1].end:]
    return between.strip() in {"(", "（"} and after.lstrip()[:1] in {")", "）"}
