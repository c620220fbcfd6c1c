"""The conditions of a question on the rows of one table: values, words of texts, what is missing, numbers and dates."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ..schemas.records import ColumnInfo
from .asked_parts import SKIPPED, UnclearError, is_list, is_number, is_text, literal, only, quoted
from .question_conditions import Condition, MeasureReader
from .question_words import keys_of, lexicon
from .table_mentions import Mention, rarely_filled

_NONE = frozenset({"no", "without", "lack", "lacks", "lacking", "ohne", "没有", "缺少", "无", "no such"})
_NOT_HAVING = _NONE | {"lack any", "not have", "not have a", "not have an", "not have any"}
_BEFORE_MISSING = _NONE | {"neither", "nor"}
"""First words of what stands before the name of a missing value, not behind it."""
_FIELDS = frozenset({"field", "fields", "list", "header"})
_MOST_VALUES = 200
_WITHIN_VALUES = frozenset({"in", "for", "with", "as", "of", "the"})
"""Words between those of one value: "implemented in version 5"."""


class ConditionReader(MeasureReader):
    """Reads the conditions of a question, and marks what says them as used."""

    def read(self) -> list[Condition]:
        """Return the conditions in the order of the question."""
        conditions = [*self._comparisons(), *self._dates(), *self._presence(), *self._texts(), *self._values(),
                      *self._numbers()]
        for mention in self._parts.unused("column") if self._parts.has("count", "share") else ():
            column = self._parts.columns[mention.columns[0]]  # a truth value is true, unless it is what is asked for
            if column.kind == "boolean" and len(mention.columns) == 1 and (
                    self._parts.preceding(mention, "group", gap=1) is None):
                conditions.append(self._condition(column, quoted(column.name), f"{column.title} is yes", mention))
        single = [condition.column for condition in conditions if condition.values and not condition.is_negative
                  and not is_list(self._parts.columns[condition.column])]
        if len(set(single)) < len(single):  # "how many are open, and how many are closed?"
            raise UnclearError(self._parts.table.name)
        missing = {condition.column for condition in conditions if condition.sql.endswith(" IS NULL")}
        if any(condition.column in missing and not condition.sql.endswith(" IS NULL") for condition in conditions):
            raise UnclearError(self._parts.table.name)  # "without a rating of 5"
        return sorted(conditions, key=lambda condition: condition.first)

    # Values.

    def _values(self) -> list[Condition]:
        groups: list[tuple[str, list[Mention]]] = []
        references = list[Condition]()
        are_all = self._parts.has("together") and not self._parts.has("or")
        for mention in self._parts.unused("value", "quoted"):
            if not mention.columns:
                continue
            if (reverse := self._reference(mention)) is not None:
                references.append(reverse)
                continue
            column = self._value_column(mention)
            last = groups[-1][1][-1] if groups else None
            if last is not None and groups[-1][0] != column:
                if self._words_between(last, mention) == ["and"] and set(last.columns) & set(mention.columns):
                    raise UnclearError(mention)  # "Ada and Bo", one of them only as an owner
                last = None
            is_both = are_all or (last is not None and "with" in self._words_between(last, mention))
            if last is None or self._is_apart(last, mention) or (is_both and is_list(self._parts.columns[column])):
                groups.append((column, [mention]))
            else:
                groups[-1][1].append(mention)
        conditions = [self._value_condition(self._parts.columns[column], mentions) for column, mentions in groups]
        return references + conditions

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
        by = self._parts.by_after(before)
        if by is None and column.name not in mention.columns:
            return None
        values = mention.values[column.name] if by is None else ()
        if by is None:
            sql = _value_sql(column, values)
        else:
            keys = [one for one in self._parts.columns.values()
                    if one.name != "document" and keys_of(one.title) in self._parts.reading.heads]
            key = quoted(only(keys, mention).name)
            listed = (f"SELECT {quoted(column.name)} FROM {quoted(self._parts.table.name)} "  # noqa: S608 - names quoted
                      f"WHERE document = {literal(documents[0])}")
            sql = f"coalesce(list_contains(({listed}), CAST({key} AS VARCHAR)), false)"  # it may have no list
        text = f"{column.title} {'of' if by else 'has'} {self._parts.text(mention)}{' has it' if by else ''}"
        return self._condition(column, sql, text, mention, before, by, values=values)

    def _texts(self) -> list[Condition]:
        """Read quoted words that a column of texts has: "mention “soup” in their title"."""
        conditions = []
        for mention in self._parts.unused("quoted"):
            cue = self._parts.before(mention)[-1:]
            name = next((other for other in self._parts.after(mention)[:3] if self._parts.words(other) == "name"), None)
            around = self._beside(mention, mention)[::-1]
            beside = [other for other in around if other is not None and not other.is_head]
            if name is not None and self._parts.are_documents:
                beside = [replace(name, kind="column", columns=("title",))]
            if any(set(other.columns) & set(mention.columns) for other in beside):
                continue  # the tag “quick”
            if not beside or not self._parts.columns_for(beside[0], is_text):
                if [other for other in cue if other.kind == "contains"]:
                    raise UnclearError(mention)
                continue
            column, words = self._parts.column_of(beside[0], is_text), re.escape(mention.name)
            value = self._parts.following(beside[0], "value")
            if value is not None and column.name in value.columns:
                raise UnclearError(mention)  # in "mention floods in the city of Oslo", the city has a value of its own
            parts, whole = (f"regexp_matches({quoted(column.name)}, {literal(f'(?i){pattern}')})"
                            for pattern in (words, rf"\b{words}\b"))
            condition = self._condition(column, whole, f"{column.title} has “{mention.name}”", mention, beside[0])
            is_word = any(self._parts.words(other).endswith("word") for other in cue)
            otherwise = "" if is_word else condition.sql.replace(whole, parts)
            conditions.append(replace(condition, otherwise=otherwise))
        return conditions

    def _is_apart(self, last: Mention, mention: Mention) -> bool:
        between = [other for other in self._parts.mentions if last.last <= other.first < mention.first]
        joining = {"or", "or_more", "compare", "than"}
        is_of_other = not any(other.kind in joining for other in between) and any(
            self._parts.words(other) == "by" for other in between)  # "by Ada and reviewed by Bo"
        # "How many are open, and how many closed?" asks for each of both.
        return is_of_other or any(
            other.kind not in {*joining, *SKIPPED, "column", "value", "count"} for other in between)

    def _words_between(self, last: Mention, mention: Mention) -> list[str]:
        return [word.folded for word in self._parts.reading.words[last.last:mention.first]]

    def _value_column(self, mention: Mention) -> str:
        """Return the column of a value: its only one, or the one named beside it or beside what it is listed with."""
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
            if "document" in named:
                named = named & {"title"} or {"document"}
        if (len(mention.columns) > 1 and len(named) != 1) or self._parts.does_other(mention):
            raise UnclearError(mention)
        column = self._parts.columns[next(iter(named), mention.columns[0])]
        if not named and rarely_filled(self._parts.table, column):
            raise UnclearError(mention)  # the other documents say nothing of it
        return column.name

    def _named_beside(self, mention: Mention, listed: Sequence[Mention]) -> set[str]:
        # A column behind a value may be of the next one: "posts by Ada that were reviewed by Bo".
        beside = [column for one in listed for column in self._beside(one, one) if column is not None and not (
            column.first > one.first and [*map(self._parts.words, self._parts.after(column)[:1])] == ["by"])]
        named = {name for name in mention.columns if any(name in column.columns for column in beside)}
        return named or {name for name in mention.columns if any(
            name in column.also for column in beside if not column.is_head)}

    def _value_condition(self, column: ColumnInfo, mentions: Sequence[Mention]) -> Condition:
        values = self._joined_values(column.name, mentions)
        # A document is named whole, or by words that no other's title has.
        is_vague = self._parts.are_documents and column.name in {"title", "document"} and len(values) > len(mentions)
        if is_vague or len(values) > _MOST_VALUES:
            raise UnclearError(mentions[0])
        self._absorb(column.name, mentions[0], mentions[-1])
        links = [other for other in self._parts.unused("or") if mentions[0].first < other.first < mentions[-1].last]
        said = {mention.values[column.name][0]: self._parts.text(mention) for mention in mentions
                if len(mention.values[column.name]) == 1}
        shown: Sequence[str] = values
        if set(said) == set(values):
            shown = [value if set(keys_of(value)) & set(keys_of(word)) else f"{value} ({word})"
                     for value, word in said.items()]
        elif len(values) > 2 * len(mentions):
            shown = [f"…{self._parts.text(mention)}…" for mention in mentions]
        sql = _value_sql(column, values)
        text = f"{column.title} {'has' if is_list(column) else 'is'} {' or '.join(shown)}"
        each = dict.fromkeys(_value_sql(column, mention.values[column.name]) for mention in mentions)
        condition = self._condition(column, sql, text, *mentions, *links, values=values, words=said)
        # "Ada and Bo wrote" may mean together, or each of them.
        is_open = is_list(column) and not links and len(each) > 1 and not self._parts.has("compare")
        both = f"({') AND ('.join(each)})"
        return replace(condition, otherwise=condition.sql.replace(sql, both) if is_open else "", alternatives={
            self._parts.text(mention): _value_sql(column, mention.values[column.name]) for mention in mentions}
            if len(mentions) > 1 else {})

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
        conditions = []
        for mention in self._parts.unused("missing", "present", "have"):
            before, after = self._beside(mention, mention)
            says_none = self._parts.words(mention) in _NONE
            is_before = self._parts.words(mention).split()[0] in _BEFORE_MISSING
            beside = after if is_before or before is None or before.is_head else before
            if mention.kind == "have":  # "have a sponsor", but not "have a status of ..."
                self._parts.use(mention)
                beside = self._parts.following(mention, "column", gap=0)
                if beside is None or not self._parts.columns_for(
                        beside, lambda one: one.empty > 0 or one.kind == "boolean"):
                    continue
            if beside is None:
                raise UnclearError(mention)
            column, is_missing = self._parts.column_of(beside), mention.kind == "missing"
            sql = f"{quoted(column.name)} IS {'' if is_missing else 'NOT '}NULL"
            text = f"{column.title} is {'not ' * is_missing}given"
            if says_none and is_number(column) and self._parts.following(beside, "reading") is None:
                if column.empty or column.untyped:  # "no rain" may be zero or an empty cell
                    raise UnclearError(mention)
                sql, text = f"{quoted(column.name)} = 0", f"{column.title} is 0"
            if column.kind == "boolean" and (mention.kind == "have" or self._parts.words(mention) in _NOT_HAVING):
                sql = f"{'NOT ' * is_missing}{quoted(column.name)}"
                text = f"{column.title} is {'no' if is_missing else 'yes'}"
            conditions.append(self._condition(column, sql, text, mention, beside))
            while (other := self._joined_column(mention, beside, is_before=beside is before)) is not None:
                beside, before = other, other if beside is before else before
                column = self._parts.column_of(other)
                conditions.append(self._condition(
                    column, f"{quoted(column.name)} IS {'' if is_missing else 'NOT '}NULL",
                    f"{column.title} is {'not ' * is_missing}given", other))
        return conditions

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
    """Return the condition that a column has one of some values, in SQL."""
    name = quoted(column.name)
    if is_list(column):
        return " OR ".join(f"list_contains({name}, {literal(value)})" for value in values)
    return f"{name} IN ({', '.join(map(literal, values))})" if len(values) > 1 else f"{name} = {literal(values[0])}"
