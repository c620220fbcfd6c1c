"""The conditions of a question on the rows of one table: values, words of texts, what is missing, numbers and dates."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from ..graph_store.sql.logical_tables import literal, quoted
from ..schemas.records import ColumnInfo
from .asked_columns import UnclearError, is_list, is_number, is_text, only
from .asked_parts import SKIPPED
from .question_conditions import Condition, MeasureReader
from .question_words import Mention, keys_of, lexicon
from .table_mentions import rarely_filled

_NONE = frozenset({"no", "without", "lack", "lacks", "lacking", "ohne", "没有", "缺少", "无", "no such"})
_NOT_HAVING = _NONE | {"lack any", "not have", "not have a", "not have an", "not have any"}
_BEFORE_MISSING = _NONE | {"neither", "nor"}
"""First words of what stands before the name of a missing value, not behind it."""
_FIELDS = frozenset({"field", "fields", "list", "header"})
_FOLDER_KINDS = frozenset({"documents", "head", "title", "row_nouns", "column"})
_JOINING = frozenset({"or", "or_more", "compare", "than"})
_MOST_VALUES = 200
_WITHIN_VALUES = frozenset({"in", "for", "with", "as", "of", "the"})
"""Words between those of one value: "implemented in version 5"."""


class ConditionReader(MeasureReader):
    """Reads the conditions of a question, and marks what says them as used."""

    def read(self, folders: Collection[str]) -> list[Condition]:
        """Return the conditions in the order of the question; raise UnclearError if they exclude one another.

        `folders` are the names of folders that documents are in, in lower case.
        """
        # In this order, as earlier readers use words that later ones would read otherwise: "between 3 and 5" is no "5".
        conditions = [*self._comparisons(), *self._dates(), *self._presence(), *self._texts(), *self._values(),
                      *self._numbers(), *self._truths(), *self._in_folder(folders)]
        single = [condition.column for condition in conditions if condition.values and not condition.is_negative
                  and not is_list(self._parts.columns[condition.column])]
        if len(set(single)) < len(single):  # "how many are open, and how many are closed?"
            raise UnclearError(self._parts.table.name)
        missing = [condition for condition in conditions if condition.sql.endswith(" IS NULL")]
        for condition in conditions:
            if condition not in missing and any(condition.column == other.column for other in missing):
                raise UnclearError(self._parts.table.name)  # "without a rating of 5"
        return sorted(conditions, key=lambda condition: condition.first)

    def _truths(self) -> list[Condition]:
        """Read the name of a column of truth values as "is yes", if rows are asked for: "how many are full-time"."""
        conditions = []
        asks_rows = self._parts.has("count", "share") or self._parts.are_asked()
        for mention in self._parts.unused("column") if asks_rows else ():
            column = self._parts.columns[mention.columns[0]]
            is_grouped_by = self._parts.preceding(mention, "group", gap=1) is not None
            if column.kind == "boolean" and len(mention.columns) == 1 and not is_grouped_by:
                conditions.append(self._condition(column, quoted(column.name), f"{column.title} is yes", mention))
        return conditions

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
        references = list[Condition]()
        for mention in self._parts.unused("value", "quoted"):
            if not mention.columns:
                continue
            if (reference := self._reference(mention)) is not None:
                references.append(reference)
                continue
            column = self._value_column(mention)
            if groups and self._is_alternative(groups[-1], column, mention):
                groups[-1][1].append(mention)
            else:
                groups.append((column, [mention]))
        return references + [self._value_condition(self._parts.columns[column], same) for column, same in groups]

    def _is_alternative(self, group: tuple[str, list[Mention]], column: str, mention: Mention) -> bool:
        """Return True if a value is an alternative to the values before it, False if it is a condition of its own."""
        last_column, last = group[0], group[1][-1]
        between = self._words_between(last, mention)
        if last_column != column:
            if between == ["and"] and set(last.columns) & set(mention.columns):
                raise UnclearError(mention)  # "Ada and Bo", one of them only as an owner
            return False
        if self._is_apart(last, mention):
            return False
        if not self._are_joined(last, mention):
            raise UnclearError(mention)
        # Of a list, both may be asked for: "by Ada and Bo together", "by Ada with Bo".
        are_both = (self._parts.has("together") and not self._parts.has("or")) or "with" in between
        return not (are_both and is_list(self._parts.columns[column]))

    def _reference(self, mention: Mention) -> Condition | None:
        """Read a document beside a list of its like: "require RFC 7" and "required by RFC 7"; None without one."""
        before = self._parts.preceding(mention, "column", gap=1)
        documents = mention.values.get("document", ())
        field = self._parts.following(mention, "column", gap=4)
        if field is not None and self._words_between(mention, field)[-2:-1] == ["in"] and any(
                one.first == field.last and self._parts.words(one) in _FIELDS for one in self._parts.mentions):
            before = field  # "name RFC 7 in their requires field"
        if len(documents) != 1 or before is None or not self._parts.columns_for(before, is_list):
            return None
        column = self._parts.column_of(before, is_list)
        shown = self._parts.text(mention)
        if (by := self._parts.by_after(before)) is not None:
            sql = self._is_listed_sql(column, documents[0], mention)
            return self._condition(column, sql, f"{column.title} of {shown} has it", mention, before, by)
        if column.name not in mention.columns:
            return None
        values = mention.values[column.name]
        return self._condition(column, _value_sql(column, values), f"{column.title} has {shown}", mention, before,
                               values=values)

    def _is_listed_sql(self, column: ColumnInfo, document: str, mention: Mention) -> str:
        """Return the condition that a document's list has the key of a row, such as its number."""
        keys = [one for one in self._parts.columns.values()
                if one.name != "document" and keys_of(one.title) in self._parts.reading.heads]
        key = quoted(only(keys, mention).name)
        listed = (f"SELECT {quoted(column.name)} FROM {quoted(self._parts.table.name)} "  # noqa: S608 - names quoted
                  f"WHERE document = {literal(document)}")
        return f"coalesce(list_contains(({listed}), CAST({key} AS VARCHAR)), false)"  # it may have no list

    def _texts(self) -> list[Condition]:
        """Read quoted words that a column of texts has: "mention “soup” in their title"."""
        conditions = []
        for mention in self._parts.unused("quoted"):
            before, after = self._beside(mention, mention)
            columns = [column for column in (after, before) if column is not None and not column.is_head]
            name = next((other for other in self._parts.after(mention)[:3] if self._parts.words(other) == "name"), None)
            if name is not None and self._parts.are_documents:  # their names are their titles
                columns = [replace(name, kind="column", columns=("title",))]
            if any(set(column.columns) & set(mention.columns) for column in columns):
                continue  # the tag “quick” is a value
            if columns and self._parts.columns_for(columns[0], is_text):
                conditions.append(self._text_condition(mention, columns[0]))
            elif any(other.kind == "contains" for other in self._parts.before(mention)[-1:]):
                raise UnclearError(mention)
        return conditions

    def _text_condition(self, mention: Mention, named: Mention) -> Condition:
        """Return the condition that a text has quoted words; as a part of words, they must give the same answer."""
        column, words = self._parts.column_of(named, is_text), re.escape(mention.name)
        value = self._parts.following(named, "value")
        if value is not None and column.name in value.columns:
            raise UnclearError(mention)  # in "mention floods in the city of Oslo", the city has a value of its own
        parts, whole = (f"regexp_matches({quoted(column.name)}, {literal(f'(?i){pattern}')})"
                        for pattern in (words, rf"\b{words}\b"))
        says_word = any(self._parts.words(other).endswith("word") for other in self._parts.before(mention)[-1:])
        condition = self._condition(column, whole, f"{column.title} has “{mention.name}”", mention, named)
        return replace(condition, otherwise="" if says_word else condition.sql.replace(whole, parts))

    def _is_apart(self, last: Mention, mention: Mention) -> bool:
        """Return True if words between two values say that they are not listed together."""
        between = [other for other in self._parts.mentions if last.last <= other.first < mention.first]
        kinds = {other.kind for other in between}
        # "by Ada and reviewed by Bo", unlike "by Ada or by Bo"
        if kinds.isdisjoint(_JOINING) and any(self._parts.words(other) == "by" for other in between):
            return True
        # "How many are open, and how many closed?" asks for each of both.
        return not kinds <= {*_JOINING, *SKIPPED, "column", "value", "count"}

    def _are_joined(self, last: Mention, mention: Mention) -> bool:
        """Return True if "or", "and" or a comma joins two values of a column, or they are words of one value."""
        words, text = self._words_between(last, mention), self._parts.reading.text_between(last, mention)
        kinds = {other.kind for other in self._parts.mentions if last.last <= other.first < mention.first}
        is_one = any(set(last.values[name]) & set(mention.values[name])
                     for name in set(last.columns) & set(mention.columns))
        if self._parts.has("ratio", "difference") and "to" in words:
            return True
        return is_one or not kinds.isdisjoint({*_JOINING, "value", "count"}) or not {"and", "und", "with"}.isdisjoint(
            words) or not {",", "、", ";", "和", "与"}.isdisjoint(text)

    def _words_between(self, last: Mention, mention: Mention) -> list[str]:
        return [word.folded for word in self._parts.reading.words[last.last:mention.first]]

    def _value_column(self, mention: Mention) -> str:
        """Return the column of a value: its only one, or the one named beside it or beside what it is listed with."""
        if self._parts.does_other(mention):
            raise UnclearError(mention)
        listed = [other for other in self._parts.mentions if other.kind == "value" and not self._is_apart(
            *sorted((mention, other), key=lambda one: one.first)) and set(other.columns) & set(mention.columns)]
        named = self._named_beside(mention, [mention]) or self._named_beside(mention, listed)
        if len(mention.columns) > 1 and not named and self._parts.is_genitive(mention):
            named = {name for name in mention.columns if lexicon().labels["owner"].intersection(
                (key,) for key in keys_of(self._parts.columns[name].title))}
        said = keys_of(self._parts.text(mention))
        if "document" in mention.columns:  # "RFC 7" is "7" in lists, which are meant only before it
            named = {name for name in named if keys_of(mention.values[name][0]) != said[1:]}
        if len(mention.columns) > 1 and not named and self._parts.are_documents:
            named = {name for name in mention.columns
                     if not rarely_filled(self._parts.table, self._parts.columns[name])}
            if "document" in named:  # the name of a file is one of a title as well
                named = {"title"} if "title" in named else {"document"}
        if len(mention.columns) > 1 and len(named) != 1:
            raise UnclearError(mention)
        column = self._parts.columns[next(iter(named), mention.columns[0])]
        if not named and rarely_filled(self._parts.table, column):
            raise UnclearError(mention)  # the other documents say nothing of it
        return column.name

    def _named_beside(self, mention: Mention, listed: Sequence[Mention]) -> set[str]:
        """Return those columns of a value that are named beside it or other values: first those named in full."""
        beside = []
        for value in listed:
            before, after = self._beside(value, value)
            # A column behind a value may be of the next one: "posts by Ada that were reviewed by Bo".
            if after is not None and [*map(self._parts.words, self._parts.after(after)[:1])] == ["by"]:
                after = None
            beside += [column for column in (before, after) if column is not None]
        whole = {name for column in beside for name in column.columns}
        in_part = {name for column in beside if not column.is_head for name in column.also}
        return whole.intersection(mention.columns) or in_part.intersection(mention.columns)

    def _value_condition(self, column: ColumnInfo, mentions: Sequence[Mention]) -> Condition:
        values = self._joined_values(column.name, mentions)
        # A document is named whole, or by words that no other's title has.
        is_vague = self._parts.are_documents and column.name in {"title", "document"} and len(values) > len(mentions)
        if is_vague or len(values) > _MOST_VALUES:
            raise UnclearError(mentions[0])
        self._absorb(column.name, mentions[0], mentions[-1])
        links = [other for other in self._parts.unused("or") if mentions[0].first < other.first < mentions[-1].last]
        words_of = {mention.values[column.name][0]: self._parts.text(mention) for mention in mentions
                    if len(mention.values[column.name]) == 1}
        sql = _value_sql(column, values)
        shown: Sequence[str] = values
        if set(words_of) == set(values):  # with the question's words if these differ
            shown = [value if set(keys_of(value)) & set(keys_of(words)) else f"{value} ({words})"
                     for value, words in words_of.items()]
        elif len(values) > 2 * len(mentions):
            shown = [f"…{self._parts.text(mention)}…" for mention in mentions]
        text = f"{column.title} {'has' if is_list(column) else 'is'} {' or '.join(shown)}"
        condition = self._condition(column, sql, text, *mentions, *links, values=values, words=words_of)
        each = {self._parts.text(mention): _value_sql(column, mention.values[column.name]) for mention in mentions}
        # "Ada and Bo wrote" may mean together, or each of them.
        different = dict.fromkeys(each.values())
        is_open = is_list(column) and not links and len(different) > 1 and not self._parts.has("compare")
        both = f"({') AND ('.join(different)})"
        is_whole = {*values} == {value for mention in mentions for value in mention.values[column.name]}
        if is_whole and not different.keys() - {sql} and column.name not in {"document", "title"} and (
                wider := _wider_sql(column, self._parts.text(mentions[0]), values)):
            both, is_open = f"({sql} OR {wider})", True
        return replace(condition, otherwise=condition.sql.replace(sql, both) if is_open else "",
                       alternatives=each if len(mentions) > 1 else {})

    def _joined_values(self, name: str, mentions: Sequence[Mention]) -> tuple[str, ...]:
        """Return the values of any of some mentions; neighbouring words of one value must all be in it."""
        joined: list[set[str]] = []
        end = -1
        for mention in mentions:
            fitting = set(mention.values[name])
            between = [word.folded for word in self._parts.reading.words[end:mention.first]]
            if joined and _WITHIN_VALUES.issuperset(between) and joined[-1] & fitting:
                joined[-1] &= fitting
            else:
                joined.append(fitting)
            end = mention.last
        return tuple(sorted(set().union(*joined)))

    # What is there and what is not.

    def _presence(self) -> list[Condition]:
        """Read which columns have a value, and which have none: "have a sponsor", "without a rating"."""
        conditions = []
        for mention in self._parts.unused("missing", "present", "have"):
            beside, is_before = self._present_column(mention)
            if beside is None and mention.kind == "have":
                continue  # "have a status of ..."
            if beside is None:
                raise UnclearError(mention)
            conditions.append(self._presence_condition(mention, beside))
            while (other := self._joined_column(mention, beside, is_before=is_before)) is not None:
                beside = other
                conditions.append(self._presence_condition(mention, beside, is_joined=True))
        return conditions

    def _present_column(self, mention: Mention) -> tuple[Mention | None, bool]:
        """Return the column that "missing" or "have" is said of, None without one, and whether it stands before it."""
        if mention.kind == "have":
            self._parts.use(mention)
            beside = self._parts.following(mention, "column", gap=0)
            may_lack = beside is not None and self._parts.columns_for(
                beside, lambda column: column.empty > 0 or column.kind == "boolean")
            return (beside if may_lack else None), False
        before, after = self._beside(mention, mention)
        precedes_name = self._parts.words(mention).split()[0] in _BEFORE_MISSING
        is_before = not (precedes_name or before is None or before.is_head)
        return (before if is_before else after), is_before

    def _presence_condition(self, mention: Mention, beside: Mention, *, is_joined: bool = False) -> Condition:
        """Return the condition that a column has a value or none; `is_joined` if "and" joins it to another column."""
        column, is_missing = self._parts.column_of(beside), mention.kind == "missing"
        said = self._parts.words(mention).rpartition(" ")[2]
        if is_missing and (values := [value for value, _ in column.frequent if value.casefold() == said]):
            return self._condition(column, _value_sql(column, values), f"{column.title} is {values[0]}", mention,
                                   beside, values=values)  # what is written as "unknown" is no empty cell
        name, negation = quoted(self._parts.texts_of(column)), "not " * is_missing
        sql, text = f"{name} IS {'' if is_missing else 'NOT '}NULL", f"{column.title} is {negation}given"
        if is_joined:
            return self._condition(column, sql, text, beside)
        says_none = self._parts.words(mention) in _NONE
        may_be_zero = is_number(column) and float(column.smallest or 0) <= 0
        if says_none and may_be_zero and self._parts.following(beside, "reading") is None:
            if column.empty or column.untyped:  # "no rain" may be zero or an empty cell
                raise UnclearError(mention)
            sql, text = f"{quoted(column.name)} = 0", f"{column.title} is 0"
        if column.kind == "boolean" and (mention.kind == "have" or self._parts.words(mention) in _NOT_HAVING):
            sql = f"{'NOT ' * is_missing}{quoted(column.name)}"
            text = f"{column.title} is {'no' if is_missing else 'yes'}"
        return self._condition(column, sql, text, mention, beside)

    def _joined_column(self, mention: Mention, column: Mention, *, is_before: bool) -> Mention | None:
        """Return what "and" joins: "have a stage and a sponsor", "both the mass and the distance are known"."""
        if mention.kind == "have":
            other = self._parts.following(column, "column", gap=2)
            fits = other is not None and self._parts.columns_for(other, lambda one: one.empty > 0
                                                                 and one.kind != "boolean")
        else:
            other = self._parts.preceding(column, "column", gap=2)
            fits = is_before and self._parts.has("together")
        first, last = (column, other) if mention.kind == "have" else (other, column)
        is_joined = first is not None and last is not None and self._words_between(first, last)[:1] == ["and"]
        return other if fits and is_joined else None


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
