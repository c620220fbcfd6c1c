"""What the words of a question mean in one table: its name, its columns, its values, and what is to be done."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from ..graph_store.sql.table_file import FoundValue
from ..schemas.records import ColumnInfo, TableInfo
from ..text.scripts import has_han
from . import question_words as asked
from .collection_parts import CollectionPart
from .question_words import LEAST_LETTERS, Keys, Mention, Word
from .value_mentions import NAMING_SHARE, PLAIN, WEAK, Candidate, ValueReader

RANKS = ("certain", "date", "number", "operation", "literal", "column", "value", "quoted", "part", "head", "weak",
          "title", "column_word", "value_word", "column_form", "made", "unit")
"""What words are rather read as, if several readings have equally many of them."""
_MOST_CACHED = 4096  # tables that are prepared for questions: each question is read in all of its knowledge base
_HIDDEN = {"records": frozenset({"document"}), "documents": frozenset({"source"})}
"""Columns that say where a row was read, which no question asks for by their words."""
_TIMES = frozenset({"when", "date", "day", "month", "year", "decade", "latest", "earliest"})
_FEW = 0.05  # the share of documents below which the words of their field are rather about something else
_TITLE_END = re.compile(r"[,:;(–—]| (?:in|of|by|for|from|at|on|per|with|and|to|der|des|von|für|nach)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Reading:
    """A question as it is read in one table: mentions that share no word, in order.

    `heads` are the stems of what the table's rows are called, `parts` the parts of a collection by theirs.
    """

    table: TableInfo
    question: str
    words: tuple[Word, ...]
    mentions: tuple[Mention, ...]
    heads: frozenset[Keys]
    parts: Mapping[Keys, CollectionPart]


def read_in_table(question: str, table: TableInfo, titles: Sequence[str], values: Iterable[FoundValue],
                  parts: Mapping[Keys, CollectionPart]) -> Reading | None:
    """Read a question in a table, which is called by some titles and has some values that its words may mean.

    None if a word means nothing there, as no query comes of it: few tables have to do with a question.
    """
    words = asked.words_of(question)
    heads, others = _title_index((*titles, *_naming_labels(table, tuple(titles))))
    columns = {column.name: column for column in _askable(table)}
    askable_values = [value for value in values if value.column in columns]
    labels = [(rank, mention) for rank, mention in _labels(words, table)
              if not _is_maker(words[mention.last - 1], mention.columns, table)]
    of_any_table = _read_in_any_table(question)
    found_values = list(ValueReader(words, columns, askable_values, heads, table.rows).read())
    if any(mention.kind in _TIMES for _, mention in of_any_table):
        found_values = [one for one in found_values if not _is_dated_event(one[1], words, heads, columns)]
    candidates = [*of_any_table, *labels, *_titles(words, heads, others), *_parts(words, parts), *found_values]
    mentions = _join_labels(_choose(candidates), heads, words)
    unread = [at for at in range(len(words)) if not any(one.first <= at < one.last for one in mentions)]
    of_title = _named_title(mentions)
    if not all(words[at].key in of_title or _is_glossed(question, words, at, mentions) for at in unread):
        return None
    # "Georgia (GA)" is one value, by the code in brackets.
    mentions = [replace(one, kind="neutral") if one.kind == "value" and _is_glossed(
        question, words, one.last - 1, mentions) else one for one in mentions]
    mentions = [replace(mention, text=asked.text_of(words[mention.first:mention.last])) for mention in mentions]
    return None if _has_rival_values(mentions, columns) else Reading(
        table, question, words, tuple(mentions), heads, parts)


def _has_rival_values(mentions: Sequence[Mention], columns: Mapping[str, ColumnInfo]) -> bool:
    """Return True if two values of one column that is no list stand side by side: a cell has one of them at most."""
    # "Targets MapServer 7.0" means no version that is "(Targeting MapServer 8.0)".
    return any(first.kind == second.kind == "value" and first.last == second.first
               and any(columns[name].kind != "list" for name in set(first.columns) & set(second.columns))
               for first, second in pairwise(mentions))


def _is_dated_event(value: Mention, words: Sequence[Word], heads: frozenset[Keys],
                    columns: Mapping[str, ColumnInfo]) -> bool:
    """Return True for a value that is rather a column's date: "When was it released?", unlike "released drafts"."""
    word = words[value.first].folded
    precedes_rows = value.last < len(words) and (words[value.last].key,) in heads
    if value.last > value.first + 1 or precedes_rows or not word.endswith("ed"):
        return False
    return any(column.kind == "date" and asked.is_form_of(word, label.folded)
               for column in columns.values() for label in asked.words_of(column.title.replace("_", " ")))


def _named_title(mentions: Iterable[Mention]) -> Keys:
    """Return the words of the only title that mentions name; of a document that is named, they say nothing more."""
    titles = {mention.values["title"] for mention in mentions if "title" in mention.values}
    named = titles.pop() if len(titles) == 1 else ()
    return asked.keys_of(*named) if len(named) == 1 else ()


def rarely_filled(table: TableInfo, column: ColumnInfo) -> bool:
    """Return True for a field of so few documents that another one with the same words is meant."""
    return table.kind == "documents" and table.rows - column.empty < _FEW * table.rows


def _askable(table: TableInfo) -> Iterator[ColumnInfo]:
    """Return the columns that a question may ask for, without those that only complete another one."""
    hidden = set(_HIDDEN.get(table.kind, ()))
    for column in table.columns:
        if column.last or column.untyped:  # of its last days, and of its cells as written
            hidden |= {column.last, f"{column.name}_text"}
    return (column for column in table.columns if column.name not in hidden)


def _choose(candidates: Iterable[Candidate]) -> list[Mention]:
    """Return mentions that share no word: those of the most words first, of equally many by their ranks."""
    chosen: list[Mention] = []
    ordered = ((mention.first - mention.last, RANKS.index(rank), mention.first, at, mention)
               for at, (rank, mention) in enumerate(candidates))
    for *_, mention in sorted(ordered, key=lambda one: one[:4]):
        if all(mention.last <= other.first or other.last <= mention.first for other in chosen):
            chosen.append(mention)
            continue
        for place, other in enumerate(chosen):
            are_same_words = (other.first, other.last) == (mention.first, mention.last)
            if mention.kind == "value" and other.kind == "quoted" and are_same_words:
                # A quote, which may be a part of a text, has the values that are exactly its words, too, and the only
                # title with several of them.
                is_title = mention.columns == ("title",) and mention.last > mention.first + 1
                equal = {column: tuple(one for one in fitting
                                       if is_title or asked.keys_of(one) == asked.keys_of(other.name))
                         for column, fitting in mention.values.items()}
                equal = {column: fitting for column, fitting in equal.items() if fitting}
                chosen[place] = replace(other, columns=(*other.columns, *equal), values={**other.values, **equal})
    return chosen


def _join_labels(mentions: Sequence[Mention], heads: frozenset[Keys], words: Sequence[Word]) -> list[Mention]:
    """Join neighbouring words of one column's label, and mark columns that are called what the rows are called."""
    joined: list[Mention] = []
    for mention in sorted(mentions, key=lambda one: one.first):
        if mention.kind != "column":
            joined.append(mention)
            continue
        place = next((at for at in range(len(joined) - 1, -1, -1) if joined[at].kind == "column"), None)
        if place is not None:
            prior = joined[place]  # the last mention of a column
            shared = tuple(name for name in (*mention.columns, *mention.also) if name in (*prior.columns, *prior.also))
            between = {word.folded for word in words[prior.last:mention.first]}
            if shared and between <= asked.listed_words("inside labels"):  # "managed the review", "write or co-write"
                joined[place:] = [replace(prior, last=mention.last, columns=shared, also=())]
                continue
        keys = tuple(word.key for word in words[mention.first:mention.last])
        joined.append(replace(mention, is_head=keys in heads))
    return joined


@lru_cache(64)
def _read_in_any_table(question: str) -> tuple[Candidate, ...]:
    """Return the quotes, dates, numbers, units and operations of a question, which are the same in each table."""
    words = asked.words_of(question)
    candidates = []
    for part in asked.fixed_parts(question, words):
        # A quoted word is rather a part of a text than a value: "final" in the title.
        is_quoted_word = part.kind == "quoted" and part.last == part.first + 1
        candidates.append(("certain" if is_quoted_word else part.kind, part))
    # "Released" is rather a column's label or a value than a word for what was made, so this has a rank of its own.
    ranks = {**dict.fromkeys(WEAK, "weak"), "made": "made"}
    for first, last, _ in asked.runs_of(words):
        for kind, name in asked.kinds_of(words[first:last]):
            # "Which talks last longer than an hour" asks for no last one.
            is_verb = (words[first].folded == "last" and last < len(words)
                       and words[last].folded in asked.listed_words("behind last"))
            meant = "neutral" if is_verb else kind
            candidates.append((ranks.get(meant, "operation"), Mention(first, last, meant, name)))
    return tuple(candidates)


def _naming_labels(table: TableInfo, titles: tuple[str, ...]) -> Iterator[str]:
    """Yield the label of a column whose texts tell the rows apart: the rows of a table by city are cities."""
    # It is the first of records, and of documents one that is called as these are: "Proposal: SE-0001".
    heads, _ = _title_index(titles)
    for column in table.columns[:1] if table.kind == "records" else table.columns:
        has_names = column.kind == "text" or (column.kind == "number" and asked.keys_of(column.title) in heads)
        may_name_rows = table.kind == "records" or asked.is_kind_of("documents", column.title)
        is_unique = column.distinct >= NAMING_SHARE * table.rows
        if has_names and may_name_rows and is_unique and column.name not in PLAIN:
            yield column.title


@lru_cache(_MOST_CACHED)
def _label_index(table: TableInfo) -> tuple[Mapping[Keys, tuple[str, ...]], ...]:
    """Return the columns of a table by their whole labels, by stems of single words, and by words in lower case."""
    whole, parts, forms = (defaultdict[Keys, dict[str, None]](dict) for _ in range(3))
    all_labels = {asked.keys_of(name) for column in _askable(table) for name in (column.title, column.name)}
    for column in _askable(table):
        for keys in _whole_labels(column, all_labels):
            whole[keys][column.name] = None
        label = asked.words_of(column.title.replace("_", " "))
        for part in asked.label_words(asked.keys_of(f"{column.title} {column.name}"), 2):
            for said in (part, *asked.lexicon().synonyms.get(part, ())):
                parts[said][column.name] = None
        for word in label:
            if word.folded.isalpha() and (word.key,) not in asked.lexicon().stems:
                forms[word.folded,][column.name] = None
    return tuple({key: tuple(names) for key, names in index.items()} for index in (whole, parts, forms))


def _whole_labels(column: ColumnInfo, all_labels: Collection[Keys]) -> Iterator[Keys]:
    """Yield the ways in which a column's label may be said."""
    of_name = (*asked.label_variants(column.name), asked.keys_of(column.name.replace("_", "")))
    for variant in (*asked.label_variants(column.title), *of_name):
        yield variant
        if column.kind == "number" and variant[-1:] == ("count",) and variant[:-1] not in all_labels:
            yield variant[:-1]  # "how many subjects" of the column "subject count"
        if column.kind == "date":  # "finish date" of `finished`, and of `date_finished`
            rest = tuple(key for key in variant if key != "date")
            yield from ((*rest, "date"), rest)


def _labels(words: tuple[Word, ...], table: TableInfo) -> Iterator[Candidate]:
    """Yield the columns that words may name: by a whole label, by a word of one, or by another form of that word."""
    whole, parts, forms = _label_index(table)
    for first, last, keys in asked.runs_of(words):
        if last == first + 2 and keys not in whole and min(map(len, keys)) >= LEAST_LETTERS:
            joined = asked.keys_of(f"{words[first].folded}{words[first + 1].folded}")
            keys = joined if joined in whole else keys  # noqa: PLW2901 - "time zones" of the column "timezone"
        if keys in whole:
            also = tuple(name for name in parts.get(keys, ()) if name not in whole[keys])
            # The field of few documents is only meant if the words have no other sense.
            is_rare = all(rarely_filled(table, column) for column in table.columns if column.name in whole[keys])
            rank = "column_form" if is_rare else "column"
            yield rank, Mention(first, last, "column", columns=whole[keys], also=also)
        elif keys in parts:
            yield "column_word", Mention(first, last, "column", columns=parts[keys])
    for at, word in enumerate(words):
        if not word.folded.isalpha() or has_han(word.folded[0]):
            continue
        names = dict.fromkeys(name for (label,), columns in forms.items() if asked.is_form_of(word.folded, label)
                              for name in columns)
        if names:
            yield "column_form", Mention(at, at + 1, "column", columns=tuple(names))


def _is_maker(word: Word, names: Collection[str], table: TableInfo) -> bool:
    """Return True for the name of a doer, such as "publisher", if the columns are dates, such as `published`."""
    noun = word.folded.removesuffix("s")
    return noun.endswith(("er", "or")) and all(
        column.kind == "date" and noun not in column.title.lower() for column in table.columns if column.name in names)


@lru_cache(_MOST_CACHED)
def _title_index(titles: tuple[str, ...]) -> tuple[frozenset[Keys], frozenset[Keys]]:
    """Return what a table's rows may be called by its titles, and the other words of its titles."""
    heads, others = set[Keys](), set[Keys]()
    for title in titles:
        noun_phrase = asked.keys_of(_TITLE_END.split(title)[0])
        noun = noun_phrase[-1:]
        for variant in asked.label_variants(title.replace("_", " ")):
            others.update(asked.label_words(variant))
        if noun and not has_han(noun[0][0]):
            heads.update((noun, *asked.lexicon().synonyms.get(noun, ())))
        elif noun:  # the stems of a Chinese phrase are single characters
            heads.add(noun_phrase)
    return frozenset(heads), frozenset(others)


def _titles(words: tuple[Word, ...], heads: frozenset[Keys], others: frozenset[Keys]) -> Iterator[Candidate]:
    """Yield words that are what the rows are called ("head"), or others of the table's titles ("title")."""
    for first, last, keys in asked.runs_of(words):
        for kind, named in (("head", heads), ("title", others)):
            if keys in named:
                yield kind, Mention(first, last, kind)
                break
        # "These Swift Evolution proposals" are called so, whatever the two words mean.
        if first and words[first - 1].folded == "these" and last < len(words) and (
                (words[last].key,) in heads or asked.is_kind_of("documents", words[last].folded)) and all(
                word.text[0].isupper() for word in words[first:last]):
            yield "title", Mention(first, last, "title")


def _parts(words: tuple[Word, ...], parts: Mapping[Keys, CollectionPart]) -> Iterator[Candidate]:
    """Yield words that are a part of the collection: "recipes" of a folder, which are rows, or "AlexCTF"."""
    for first, last, keys in asked.runs_of(words):
        if keys in parts and (parts[keys].is_whole or (first and words[first].text[0].isupper())):
            are_rows = words[last - 1].text.islower()
            yield "part", Mention(first, last, "head" if are_rows else "part")


def _is_glossed(question: str, words: Sequence[Word], at: int, mentions: Sequence[Mention]) -> bool:
    """Return True for a word whose meaning follows in brackets: "Delta (DL)"."""
    following = next((mention for mention in mentions if mention.first == at + 1), None)
    if following is None or following.kind in {"neutral", "title"}:
        return False
    between = question[words[at].end:words[at + 1].start]
    after = question[words[following.last - 1].end:]
    return between.strip() in {"(", "（"} and after.lstrip()[:1] in {")", "）"}
