"""The conditions of a question on the rows of one table: values, what is missing, truth values and folders."""

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from ..graph_store.sql.logical_tables import literal, quoted
from ..schemas.records import ColumnInfo
from .asked_parts import (
    SKIPPED,
    UnclearError,
    is_list,
    is_number,
    is_text,
    is_truth,
    only,
    says_owner,
)
from .question_measures import Condition, MeasureReader, written_column
from .question_words import Mention, keys_of
from .table_mentions import rarely_filled

_AND = frozenset({"and", "und", "with", "和", "与"})
_BEFORE_MISSING = frozenset({"no", "without", "lack", "lacks", "lacking", "ohne", "没有", "缺少", "无", "neither",
                             "nor", "nobody"})
"""First words of what stands before the name of a missing value, not behind it."""
_FOLDER_KINDS = frozenset({"documents", "head", "title", "row_nouns", "column"})
_WITHIN_VALUES = frozenset({"in", "for", "with", "as", "of", "the"})
"""Words between those of one value: "implemented in version 5"."""
_BESIDE_VALUES = frozenset({"or", "column", "value", *SKIPPED})
_WHOLES = frozenset({"folder", "collection", "archive", "set", "dataset", "corpus", "repository", "directory"})
"""What a question calls all documents together."""
_MOST_VALUES = 200


class ConditionReader(MeasureReader):
    """Reads the conditions of a question, and marks what says them as used."""

    def read(self, folders: Collection[str]) -> list[Condition]:
        """Return the conditions in the order of the question; raise UnclearError if they exclude one another.

        `folders` are the names of folders that documents are in, in lower case.
        """
        conditions = [*self._numbers(), *self._dates(), *self._presence(), *self._values(), *self._truths(),
                      *self._in_folder(folders)]
        single = [condition.column for condition in conditions if condition.values and not condition.is_negative
                  and not is_list(self._parts.columns[condition.column])]
        missing = {condition.column for condition in conditions if condition.sql.endswith(" IS NULL")}
        others = {condition.column for condition in conditions if not condition.sql.endswith(" IS NULL")}
        if len(set(single)) < len(single) or missing & others:
            raise UnclearError(self._parts.table.name)  # "are open, and closed", "without a rating of 5"
        return sorted(conditions, key=lambda condition: condition.first)

    def _truths(self) -> list[Condition]:
        """Read the name of a column of truth values as "is yes", if rows are asked for: "how many are full-time"."""
        asks_rows = self._parts.has("count", "share") or self._parts.are_asked()
        named = [mention for mention in self._parts.unused("column") if asks_rows and len(mention.columns) == 1
                 and self._parts.preceding(mention, "group", gap=1) is None]
        columns = [(self._parts.columns[mention.columns[0]], mention) for mention in named]
        return [self._condition(column, quoted(column.name), f"{column.title} is yes", mention)
                for column, mention in columns if is_truth(column)]

    def _in_folder(self, folders: Collection[str]) -> list[Condition]:
        """Read what documents are called as the folder that they are in: "recipes" in recipes/."""
        named = [mention for mention in self._parts.mentions if self._parts.are_documents
                 and mention.kind in _FOLDER_KINDS and self._parts.words(mention) in folders]
        if len(named) > 1 or any(mention.kind == "column" for mention in named):
            raise UnclearError(named)  # a field of documents, or a folder?
        return [self._condition(self._parts.columns["document"],
                                f"contains(lower(concat('/', document)), {literal(f'/{self._parts.words(mention)}/')})",
                                f"the folder is {self._parts.words(mention)}", mention) for mention in named]

    # Values.

    def _values(self) -> list[Condition]:
        """Read values of columns; of neighbouring ones of a column, any is enough: "draft or final"."""
        groups: list[tuple[str, list[Mention]]] = []  # the name of a column, and mentions of its values
        for mention in self._parts.unused("value", "quoted"):
            if not mention.columns:
                continue
            column = self._value_column(mention)
            if self._is_of_labels(mention):
                self._parts.use(mention)
                continue
            if self._may_name_all(mention, column):
                raise UnclearError(mention)
            if groups and groups[-1][0] == column and self._is_alternative(groups[-1][1][-1], mention, column):
                groups[-1][1].append(mention)
            else:
                groups.append((column, [mention]))
        return [self._value_condition(self._parts.columns[column], same) for column, same in groups]

    def _is_of_labels(self, value: Mention) -> bool:
        """Return True for "podcast episodes" where fields of all are called podcast_file and podcast_duration."""
        behind, keys = self._parts.directly_behind(value), keys_of(self._parts.words(value))
        labels = [keys_of(column.name) for column in self._parts.table.columns if not column.empty]
        are_tags = self._parts.are_documents and all(is_list(self._parts.columns[name]) for name in value.columns)
        is_noun = behind is not None and (behind.kind == "column" or self._parts.is_rows(behind))
        return are_tags and is_noun and sum(
            label[:len(keys)] == keys and len(label) > len(keys) for label in labels) > 1

    def _may_name_all(self, value: Mention, column: str) -> bool:
        """Return True if a value before a noun may be what all rows are called: "podcast episodes in this folder"."""
        behind = self._parts.directly_behind(value)
        is_before_rows = behind is not None and self._parts.is_rows(behind)
        says_place = not _WHOLES.isdisjoint(word.folded for word in self._parts.reading.words)
        is_whole = keys_of(self._parts.text(value)) in map(keys_of, value.values[column])
        return says_place and is_before_rows and (is_list(self._parts.columns[column]) or not is_whole)

    def _is_listed(self, last: Mention, mention: Mention) -> bool:
        """Return True if two values are listed together, unlike "by Ada and reviewed by Bo"."""
        between = [other for other in self._parts.mentions if last.last <= other.first < mention.first]
        kinds = {other.kind for other in between}
        return kinds <= _BESIDE_VALUES and ("or" in kinds or not any(
            self._parts.words(other) == "by" for other in between))

    def _is_alternative(self, last: Mention, mention: Mention, column: str) -> bool:
        """Return True if a value is an alternative to the one before it, False if it is a condition of its own."""
        between = self._parts.words_between(last, mention)
        if not self._is_listed(last, mention):
            return False
        is_one = bool(set(last.values[column]) & set(mention.values[column]))  # words of one value
        reading = self._parts.reading
        text = reading.question[reading.words[last.last - 1].end:reading.words[mention.first].start]
        joins = {"or", "value"} & {
            other.kind for other in self._parts.mentions if last.last <= other.first < mention.first}
        if not (is_one or joins or _AND & between or {",", "、", ";"} & set(text)):
            raise UnclearError(mention)
        # Of a list, both may be asked for: "by Ada and Bo together", "by Ada with Bo".
        are_both = (self._parts.has("together") and not self._parts.has("or")) or "with" in between
        return not (are_both and is_list(self._parts.columns[column]))

    def _value_column(self, mention: Mention) -> str:
        """Return the column of a value: its only one, or the one named beside it or beside what it is listed with."""
        if self._parts.is_event(mention):
            raise UnclearError(mention)
        names = mention.columns
        listed = [other for other in self._parts.mentions if other.kind == "value" and set(other.columns) & set(names)
                  and self._is_listed(*sorted((mention, other), key=lambda one: one.first))]
        named = self._named_beside(mention, [mention]) or self._named_beside(mention, listed)
        if len(names) > 1 and not named and self._is_genitive(mention):
            named = {name for name in names if says_owner(self._parts.columns[name])}
        if not named:
            names = tuple(name for name in names if name not in self._references(mention))
        if len(names) > 1 and not named and self._parts.are_documents:
            names = tuple(name for name in names if not rarely_filled(self._parts.table, self._parts.columns[name]))
            if "document" in names:  # the name of a file is one of a title as well
                names = ("title",) if "title" in names else ("document",)
        fitting = [self._parts.columns[name] for name in named or names]
        fitting = _alike(fitting)[:1] or fitting
        column = only(fitting, mention)
        if not named and rarely_filled(self._parts.table, column):
            raise UnclearError(mention)  # the other documents say nothing of it
        return column.name

    def _references(self, mention: Mention) -> set[str]:
        """Return the columns of lists that have a document by its number: "RFC 7" is "7" in them, if they are named."""
        number = keys_of(self._parts.text(mention))[1:]
        return {name for name in mention.columns if "document" in mention.columns
                and keys_of(mention.values[name][0]) == number}

    def _is_genitive(self, mention: Mention) -> bool:
        """Return True for a genitive: "proposals of Ada Blum", "Ada Blum's draft proposals"."""
        before, after = self._parts.before(mention), self._parts.after(mention)
        if after and self._parts.words(after[0]) in {"s", "的"}:
            owned = next((other for other in after[1:] if other.kind not in {"value", "neutral"}), None)
            return owned is not None and self._parts.is_rows(owned)
        return len(before) > 1 and self._parts.is_rows(before[-2]) and self._parts.words(before[-1]) in {
            "of", "by", "der", "des", "von"}

    def _named_beside(self, mention: Mention, listed: Sequence[Mention]) -> set[str]:
        """Return those columns of a value that are named beside it or other values: first those named in full."""
        beside = list[Mention]()
        for value in listed:
            before, after = self._beside(value, value)
            is_passive = any(self._parts.words(one) == "by" for one in self._parts.before(value)[-1:])
            if is_passive and before is not None and self._references(value) & set(before.columns):
                raise UnclearError(mention)  # "required by RFC 7" is said in the other document
            if after is not None and "in" not in self._parts.words_between(value, after):
                is_of_next = any(self._parts.words(one) == "by" for one in self._parts.after(after)[:1])
                if is_of_next or self._references(value) & set(after.columns):
                    after = None  # "posts by Ada that were reviewed by Bo", "RFC 7 requires"
            elif after is not None and value.kind == "quoted" and not set(after.columns) & set(value.columns):
                raise UnclearError(mention)  # “final” in the title is no value
            beside += [column for column in (before, after) if column is not None]
        whole = {name for column in beside for name in column.columns}
        in_part = {name for column in beside if not column.is_head for name in column.also}
        return whole.intersection(mention.columns) or in_part.intersection(mention.columns)

    def _value_condition(self, column: ColumnInfo, mentions: Sequence[Mention]) -> Condition:
        values = self._joined_values(column.name, mentions)
        only_one = self._parts.preceding(mentions[0], "only", gap=1) if is_text(column) and len(mentions) == 1 else None
        if only_one is not None:  # "only a low impact" is not "low (high before version 2)"
            said = keys_of(self._parts.text(mentions[0]))
            values = tuple(value for value in values if keys_of(value) == said)
            if not values:
                raise UnclearError(only_one)
            self._parts.use(only_one)
        # A document is named whole, or by words that no other's title has.
        is_vague = self._parts.are_documents and column.name in {"title", "document"} and len(values) > len(mentions)
        if is_vague or len(values) > _MOST_VALUES:
            raise UnclearError(mentions[0])
        self._absorb(column.name, mentions[0], mentions[-1])
        links = [other for other in self._parts.unused("or") if mentions[0].first < other.first < mentions[-1].last]
        words = {mention.values[column.name][0]: self._parts.text(mention) for mention in mentions
                 if len(mention.values[column.name]) == 1}
        shown: Sequence[str] = values
        if set(words) == set(values):  # with the question's words if these differ
            shown = [value if set(keys_of(value)) & set(keys_of(said)) else f"{value} ({said})"
                     for value, said in words.items()]
        elif len(values) > 2 * len(mentions):
            shown = [f"…{self._parts.text(mention)}…" for mention in mentions]
        text = f"{column.title} {'has' if is_list(column) else 'is'} {' or '.join(shown)}"
        sql = _value_sql(column, values)
        otherwise = "" if only_one else self._other_sense(column, mentions, values, has_or=bool(links))
        return self._condition(column, sql, text, *mentions, *links, values=values, otherwise=otherwise)

    def _other_sense(self, column: ColumnInfo, mentions: Sequence[Mention], values: Sequence[str], *,
                     has_or: bool) -> str:
        """Return what values may mean as well: all of them in one list, or the words beside others in a text."""
        each = dict.fromkeys(_value_sql(column, mention.values[column.name]) for mention in mentions)
        if len(each) > 1:  # "Ada and Bo wrote" may mean together, or each of them
            return f"({') AND ('.join(each)})" if is_list(column) and not has_or else ""
        is_whole = {*values} == {value for mention in mentions for value in mention.values[column.name]}
        if not is_whole or column.name in {"document", "title"}:
            return ""
        senses = [_wider_sql(column, self._parts.text(mentions[0]), values)]
        if not self._named_beside(mentions[0], mentions):
            alike = _alike([self._parts.columns[name] for name in mentions[0].columns])
            senses += [_value_sql(one, self._joined_values(one.name, mentions)) for one in alike if one != column]
        wider = " OR ".join(filter(None, senses))
        return f"({_value_sql(column, values)} OR {wider})" if wider else ""

    def _joined_values(self, name: str, mentions: Sequence[Mention]) -> tuple[str, ...]:
        """Return the values of any of some mentions; neighbouring words of one value must all be in it."""
        joined = [set(mentions[0].values[name])]
        for last, mention in pairwise(mentions):
            fitting = set(mention.values[name])
            if self._parts.words_between(last, mention) <= _WITHIN_VALUES and joined[-1] & fitting:
                joined[-1] &= fitting
            else:
                joined.append(fitting)
        return tuple(sorted(set().union(*joined)))

    # What is there and what is not.

    def _presence(self) -> list[Condition]:
        """Read which columns have a value, and which have none: "have a sponsor", "without a rating"."""
        conditions = []
        for mention in self._parts.unused("missing", "present", "have"):
            before, after = self._beside(mention, mention)
            precedes_name = self._parts.words(mention).split()[0] in _BEFORE_MISSING
            beside = after if precedes_name or before is None or before.is_head else before
            if mention.kind == "have":
                self._parts.use(mention)
                beside = self._parts.following(mention, "column", gap=0)
                if beside is None or not self._parts.columns_for(beside, lambda one: one.empty > 0 or is_truth(one)):
                    continue  # "have a status of ..."
            if beside is None:
                raise UnclearError(mention)
            conditions.append(self._presence_condition(mention, beside))
        return conditions

    def _presence_condition(self, mention: Mention, beside: Mention) -> Condition:
        """Return the condition that a column has a value or none."""
        column, is_missing = self._parts.column_of(beside), mention.kind == "missing"
        said = self._parts.words(mention)
        written = [value for value, _ in column.frequent if value.casefold() == said.rpartition(" ")[2]]
        values = written if is_missing else []  # what is written as "unknown" is no empty cell
        negation = "not " * is_missing
        sql = f"{quoted(written_column(self._parts, column))} IS {'' if is_missing else 'NOT '}NULL"
        text = f"{column.title} is {negation}given"
        may_be_zero = is_number(column) and float(column.smallest or 0) <= 0
        if values:
            sql, text = _value_sql(column, values), f"{column.title} is {values[0]}"
        elif is_truth(column):
            sql, text = f"{negation}{quoted(column.name)}", f"{column.title} is {'no' if is_missing else 'yes'}"
        elif may_be_zero and said in _BEFORE_MISSING and self._parts.following(beside, "reading") is None:
            raise UnclearError(mention)  # "no rain" may be zero or an empty cell
        return self._condition(column, sql, text, mention, beside, values=values)


def _alike(columns: Sequence[ColumnInfo]) -> list[ColumnInfo]:
    """Return the columns that seem to divide all rows alike: a show by its name and by its slug."""
    whole = [column for column in columns if is_text(column) and not column.empty
             and 0 < column.distinct == len(column.frequent)]
    counts = [[count for _, count in column.frequent] for column in whole]
    return [column for column, own in zip(whole, counts, strict=True) if own == counts[0]] if len(whole) > 1 else []


def _value_sql(column: ColumnInfo, values: Sequence[str]) -> str:
    name = quoted(column.name)
    if is_list(column):
        return " OR ".join(f"list_contains({name}, {literal(value)})" for value in values)
    return f"{name} IN ({', '.join(map(literal, values))})" if len(values) > 1 else f"{name} = {literal(values[0])}"


def _wider_sql(column: ColumnInfo, said: str, values: Sequence[str]) -> str:
    """Return the condition that a value has some words beside others; "" if these would make it another value.

    Whether "adopted" is "Adopted and implemented" as well, or "Ada Blum" is in "Ada Blum (editor)", must not matter.
    """
    is_name = " " in said and said.istitle()
    said = said if is_name else min(values, key=len)  # "Draft" of "drafts"
    if not (is_name or is_text(column)):
        return ""  # the tag "science" is not "science fiction"
    pattern = literal(rf"(?i)\b{re.escape(said)}\b")
    if is_list(column):
        return f"len([one FOR one IN {quoted(column.name)} IF regexp_matches(one, {pattern})]) > 0"
    return f"regexp_matches({quoted(column.name)}, {pattern})"
