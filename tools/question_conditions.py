"""The conditions of a question on the rows of one table: values, what is missing, truth values and folders."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ..graph_store.sql.logical_tables import literal, quoted
from ..schemas.records import ColumnInfo
from ..text.lexicon import COUNTRIES
from .asked_parts import SKIPPED
from .question_columns import UnclearError, fits, only, written_column
from .question_measures import Condition, MeasureReader
from .question_words import Mention, keys_of, listed_words, text_of, words_of
from .value_mentions import PLAIN

_PART_KINDS = frozenset({"part", "documents", "head", "title", "row_nouns", "column"})  # what may name a part, too
_BESIDE_VALUES = frozenset({"or", "column", "value", *SKIPPED})  # what may stand between values of one list


class ConditionReader(MeasureReader):
    """Reads the conditions of a question, and marks what says them as used."""

    def read(self) -> list[Condition]:
        """Return the conditions in the order of the question; raise UnclearError if they exclude one another."""
        conditions = [*self._numbers(), *self._dates(), *self._presence(), *self._values(), *self._truths(),
                      *self._in_parts()]
        one_valued = [condition.column for condition in conditions if condition.values and not condition.is_negative
                      and self._parts.columns[condition.column].kind != "list"]
        empty = {condition.column for condition in conditions if condition.sql.endswith(" IS NULL")}
        filled = {condition.column for condition in conditions if not condition.sql.endswith(" IS NULL")}
        if len(set(one_valued)) < len(one_valued) or empty & filled:
            raise UnclearError(self._parts.table.name)  # "are open, and closed", "without a rating of 5"
        return sorted(conditions, key=lambda condition: condition.first)

    def _truths(self) -> list[Condition]:
        """Read the name of a column of truth values as "is yes", if rows are counted: "how many are full-time"."""
        named = self._parts.unused("column") if self._parts.has("count", "share") else []
        columns = [(self._parts.columns[mention.columns[0]], mention) for mention in named if len(mention.columns) == 1]
        return [self._condition(column, quoted(column.name), f"{column.title} is yes", mention)
                for column, mention in columns if column.kind == "boolean"]

    def _in_parts(self) -> list[Condition]:
        """Read what documents are called as the part of the collection that they are in: "recipes" in recipes/."""
        parts = self._parts.reading.parts
        named = [mention for mention in self._parts.mentions if mention.kind in _PART_KINDS
                 and keys_of(mention.text) in parts]
        if any(mention.kind == "column" for mention in named) or len({keys_of(one.text) for one in named}) > 1:
            raise UnclearError(named)  # a field of documents, or two folders
        found = [(mention, parts[keys_of(mention.text)]) for mention in named]
        return [self._condition(self._parts.columns["document"], part.sql, part.text, mention, otherwise=part.otherwise)
                for mention, part in found]

    # Values.

    def _values(self) -> list[Condition]:
        """Read values of columns; of neighbouring ones of a column, any is enough: "draft or final"."""
        columns, groups = list[str](), list[list[Mention]]()  # the names of columns, and mentions of their values
        for mention in self._parts.unused("value", "quoted"):
            column = self._value_column(mention)
            self._check_kind(mention)
            # Of a list, both may be asked for: "by Ada and Bo together".
            wants_both = self._parts.columns[column].kind == "list" and self._parts.has("together")
            if (columns[-1:] == [column] and self._is_listed(groups[-1][-1], mention)
                    and (self._parts.has("or") or not wants_both)):
                groups[-1].append(mention)
            else:
                columns.append(column)
                groups.append([mention])
        return [self._value_condition(self._parts.columns[column], same)
                for column, same in zip(columns, groups, strict=True)]

    def _check_kind(self, value: Mention) -> None:
        """Raise UnclearError for a value that may be what all rows are called: "podcast episodes in this folder"."""
        behind = self._parts.directly_behind(value)
        names_whole = any(word.folded in listed_words("wholes") for word in self._parts.reading.words)  # "this folder"
        is_of_language = behind is not None and behind.words in {"name", "names"} and value.text in COUNTRIES
        if is_of_language or (names_whole and behind is not None and self._parts.is_rows(behind)):
            raise UnclearError(value)  # "Icelandic names" are not those of Iceland

    def _is_listed(self, last: Mention, mention: Mention) -> bool:
        """Return True if two values are listed together, unlike "by Ada and reviewed by Bo"."""
        between = self._parts.between(last, mention)
        kinds = {other.kind for other in between} - ({"than"} if self._parts.has("more") else set())
        return kinds <= _BESIDE_VALUES and ("or" in kinds or all(other.words != "by" for other in between))

    def _value_column(self, mention: Mention) -> str:
        """Return the column of a value: its only one, or the one named beside it or beside what it is listed with."""
        if self._is_event(mention):
            raise UnclearError(mention)  # no cell tells of it
        names = mention.columns
        listed = [other for other in self._parts.mentions if other.kind == "value" and set(other.columns) & set(names)
                  and self._is_listed(*sorted((mention, other), key=lambda one: one.first))]
        named = self._named_beside(mention, [mention]) or self._named_beside(mention, listed)
        if len(names) > 1 and not named and self._is_genitive(mention):  # "proposals of Ada" are those that she owns
            named = {name for name in names if fits(self._parts.columns[name], "owner")}
        if not named and self._parts.are_documents:
            states = [name for name in names if self._parts.says_kind(name)]
            behind = self._parts.directly_behind(mention)
            if mention.text.islower() and len(states) == 1 and (behind is None or not self._parts.is_rows(behind)):
                names = (states[0],)  # what is said of rows, "were returned", is rather a state of theirs
            if "document" in names:  # the name of a file is one of a title as well
                names = ("title",) if "title" in names else ("document",)
        # What a status is comes before what a note on it says.
        names = tuple(named) or tuple(name for name in names if not any(
            name.startswith(f"{other}_") for other in names))
        fitting = [self._parts.columns[name] for name in names]
        return only(_alike(fitting, mention)[:1] or fitting, mention).name

    def _is_event(self, value: Mention) -> bool:
        """Return True if a value's word is the verb of someone's deed: "rejected by Ada", "who rejected"."""
        before, behind = self._parts.before(value)[:2], self._parts.directly_behind(value)  # the nearest first
        words = [one.words for one in before]
        if words[:1] == ["into"] or (words[:1] == ["by"] and before[-1].kind == "value"):
            return True  # "made into films", "rejected by Ada"
        follows_auxiliary = not listed_words("auxiliaries").isdisjoint(words[:1])
        if any(one.kind == "who" for one in before[:2 if follows_auxiliary else 1]):
            return True  # "Who adopted the most?", "Who has adopted the most?"
        if not follows_auxiliary or behind is None:
            return False
        # "did Ada Blum finish in 2018" says what authors do not do with their documents.
        is_of_reader = self._parts.are_documents and self._parts.may_be(value, "author") and any(
            fits(self._parts.columns[name], "date") and not fits(self._parts.columns[name], "made")
            for name in behind.columns)
        return behind.kind == "value" or is_of_reader

    def _is_genitive(self, mention: Mention) -> bool:
        """Return True for a value behind the rows and "of" or "by": "proposals of Ada Blum"."""
        before = self._parts.before(mention)
        return len(before) > 1 and before[0].words in listed_words("genitive") and self._parts.is_rows(before[1])

    def _named_beside(self, mention: Mention, listed: Sequence[Mention]) -> set[str]:
        """Return those columns of a value that are named beside some values: itself, or those listed with it."""
        beside = list[Mention]()
        for value in listed:
            before, after = self._beside(value, value)
            if after is not None and "in" in self._parts.words_between(value, after):
                if value.kind == "quoted":
                    raise UnclearError(mention)  # “final” in the title is no value
            elif after is not None:
                # Columns of lists have a document by its number: "RFC 7" is "7" in them.
                number = keys_of(value.text)[1:]
                references = {name for name in value.columns if "document" in value.columns
                              and keys_of(value.values[name][0]) == number}
                is_of_next = any(one.words == "by" for one in self._parts.after(after)[:1])
                if is_of_next or references & set(after.columns):
                    after = None  # "posts by Ada that were reviewed by Bo", "RFC 7 requires"
            beside += [column for column in (before, after) if column is not None]
        return {name for column in beside for name in column.columns}.intersection(mention.columns)

    def _value_condition(self, column: ColumnInfo, mentions: Sequence[Mention]) -> Condition:
        joined = [set(mentions[0].values[column.name])]
        for last, mention in pairwise(mentions):
            fitting = set(mention.values[column.name])
            # Neighbours that may be words of one value mean the values that have all of them.
            if self._parts.words_between(last, mention) <= listed_words("within values") and joined[-1] & fitting:
                joined[-1] &= fitting
            else:
                joined.append(fitting)
        values = tuple(sorted(set().union(*joined)))
        self._absorb(column.name, mentions[0], mentions[-1])
        links = [one for one in self._parts.between(mentions[0], mentions[-1]) if one.kind in {"or", "than"}]
        if column.kind != "list":
            links += filter(None, [self._parts.preceding(mentions[0], "only", gap=0)])  # "are only proposed"
        text = f"{column.title} is {' or '.join(values)}"
        otherwise = self._other_sense(column, mentions, values, has_or=bool(links))
        condition = self._condition(column, _value_sql(column, values), text, *mentions, *links, values=values,
                                    otherwise=otherwise)
        is_compared = len(mentions) > 1 and self._parts.has("more")
        return replace(condition, each=tuple(self._value_condition(column, [one]) for one in mentions)
                       ) if is_compared else condition

    def _other_sense(self, column: ColumnInfo, mentions: Sequence[Mention], values: Sequence[str], *,
                     has_or: bool) -> str:
        """Return what values may mean as well: all of them in one list, or the words beside others in a text."""
        if column.name in PLAIN and text_of(words_of(values[0])) == mentions[0].text:
            return ""  # no part of another title
        versions = {one for mention in mentions for one in re.findall(r"(?<!\d)\d++\.[\d.]*\d", mention.text)}
        if len(versions) == 1 and column.kind == "text":  # "Done (5.6)" may be as well "Done (Release 5.6)"
            pattern = literal(rf"(^|[^\d.]){re.escape(*versions)}($|[^\d.])")
            return f"({_value_sql(column, values)} OR regexp_matches({quoted(column.name)}, {pattern}))"
        each = dict.fromkeys(_value_sql(column, mention.values[column.name]) for mention in mentions)
        if len(each) > 1:  # "Ada and Bo wrote" may mean together, or each of them
            return f"({') AND ('.join(each)})" if column.kind == "list" and not has_or else ""
        wider = _wider_sql(column, mentions[0].text, values)
        return f"({_value_sql(column, values)} OR {wider})" if wider else ""

    # What is there and what is not.

    def _presence(self) -> list[Condition]:
        """Read which columns have a value, and which have none: "have a sponsor", "without a rating"."""
        conditions = []
        for mention in self._parts.unused("missing", "present", "have"):
            before, after = self._beside(mention, mention)
            precedes_name = mention.words.split()[0] in listed_words("before missing")  # "without a rating"
            beside = after if precedes_name or before is None or before.is_head else before  # "the rating is missing"
            if mention.kind == "have":
                self._parts.use(mention)
                beside = self._parts.following(mention, "column", gap=0)
                if beside is None or not any(
                        self._parts.columns[name].empty or self._parts.may_be(beside, "boolean")
                        for name in beside.columns):
                    continue  # "have a status of ..."
            if beside is None:
                raise UnclearError(mention)
            conditions.append(self._presence_condition(mention, beside))
        return conditions

    def _presence_condition(self, mention: Mention, beside: Mention) -> Condition:
        """Return the condition that a column has a value or none."""
        column, is_missing = self._parts.column_of(beside), mention.kind == "missing"
        # What is written as "unknown" is no empty cell.
        written = [value for value, _ in column.frequent if value.casefold() == mention.words.rpartition(" ")[2]]
        values = written if is_missing else []
        negation = "not " if is_missing else ""
        name = quoted(written_column(self._parts.table, column))
        sql, text = f"{name} IS {'' if is_missing else 'NOT '}NULL", f"{column.title} is {negation}given"
        if values:
            sql, text = _value_sql(column, values), f"{column.title} is {values[0]}"
        elif column.kind == "boolean":
            sql, text = f"{negation}{quoted(column.name)}", f"{column.title} is {'no' if is_missing else 'yes'}"
        elif (column.kind == "number" and float(column.smallest or 0) <= 0
              and mention.words in listed_words("before missing")):
            raise UnclearError(mention)  # "no rain" may be zero or an empty cell
        return self._condition(column, sql, text, mention, beside, values=values)


def _alike(columns: Sequence[ColumnInfo], value: Mention) -> list[ColumnInfo]:
    """Return the columns that have a value if it does not matter which is meant, the best one first; [] if it does.

    That is so for a title, and for columns that divide the rows alike, as a show's name and its slug do.
    """
    texts = {text_of(words_of(text)).casefold() for column in columns for text in value.values[column.name]}
    if texts == {value.words} and any(column.name == "title" for column in columns):  # a title is a name as well
        return sorted(columns, key=lambda column: column.name != "title")
    # Only of a text column with few values are all counts known.
    are_listed = all(column.kind == "text" and 0 < column.distinct == len(column.frequent) for column in columns)
    counts = {tuple(count for _, count in column.frequent) for column in columns}
    return list(columns) if are_listed and len(columns) > 1 and len(counts) == 1 else []


def _value_sql(column: ColumnInfo, values: Sequence[str]) -> str:
    name = quoted(column.name)
    if column.kind == "list":
        return " OR ".join(f"list_contains({name}, {literal(value)})" for value in values)
    return f"{name} IN ({', '.join(map(literal, values))})" if len(values) > 1 else f"{name} = {literal(values[0])}"


def _wider_sql(column: ColumnInfo, said: str, values: Sequence[str]) -> str:
    """Return the condition that a value has some words beside others; "" if these would make it another value."""
    # Whether "adopted" is "Adopted and implemented" as well, or "Ada Blum" is in "Ada Blum (editor)", must not matter.
    is_name = " " in said and said.istitle()
    if not (is_name or column.kind == "text"):
        return ""  # the tag "science" is not "science fiction"
    words = re.escape(said if is_name else min(values, key=len))  # "Draft" of "drafts"
    if is_name:  # "Doug" and "Douglas Gregor" may be one person
        words = re.sub(r"^(\w{3})\w*(?=\\ )", r"\1\\w*", words)
    pattern = literal(rf"(?i)\b{words}\b")
    if column.kind == "list":
        return f"len([one FOR one IN {quoted(column.name)} IF regexp_matches(one, {pattern})]) > 0"
    return f"regexp_matches({quoted(column.name)}, {pattern})"
