"""The conditions of a question on the rows of one table: values, numbers, dates, and what is missing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from ..schemas.records import ColumnInfo
from .asked_parts import SKIPPED, AskedParts, UnclearError, is_date, is_list, is_number, literal, only, quoted
from .question_words import convert, keys_of, label_variants, lexicon
from .table_mentions import Mention

_SIGNS = {"over": ">", "under": "<", "least_bound": ">=", "most_bound": "<="}
_AFTER_NUMBER = {"or_more": ">=", "or_less": "<="}
_DATE_SIGNS = ("after", "before", "since", "until", "between", "over", "under")
_NONE = frozenset({"no", "without", "lack", "lacks", "lacking", "ohne", "没有", "缺少", "无", "no such"})
_DEGREES = ("most", "fewest", "commonest", "max", "min", "latest", "earliest")
_MOST_VALUES = 200
_DECEMBER = 12


@dataclass(frozen=True)
class Condition:
    """A condition on a column, in SQL and in words, with the words of the question that say so."""

    column: str
    sql: str
    text: str
    first: int
    last: int
    values: tuple[str, ...] = ()
    is_negative: bool = False
    words: Mapping[str, str] = field(default_factory=dict)


def size(column: ColumnInfo) -> tuple[str, str]:
    """Return the number that a column holds, in SQL and in words: of a list, how many it has."""
    name = quoted(column.name)
    return (f"len({name})", f"number of {column.title}") if is_list(column) else (name, column.title)


class ConditionReader:
    """Reads the conditions of a question, and marks what says them as used."""

    def __init__(self, parts: AskedParts) -> None:
        """Read from the parts of a question."""
        self._parts = parts

    def read(self) -> list[Condition]:
        """Return the conditions in the order of the question.

        Raises:
            UnclearError: if a value, a number with a sign or a date could be of several columns or of none.
        """
        conditions = [*self._quotes(), *self._comparisons(), *self._dates(), *self._presence(), *self._values(),
                      *self._numbers(), *self._flags()]
        single = [condition.column for condition in conditions if condition.values and not condition.is_negative
                  and not is_list(self._parts.columns[condition.column])]
        if len(set(single)) < len(single):  # "how many are open, and how many are closed?"
            raise UnclearError(self._parts.table.name)
        return sorted(conditions, key=lambda condition: condition.first)

    def _quotes(self) -> list[Condition]:
        """Read words in quotation marks as a part of the column beside them: the word "harbour" in the title."""
        conditions = []
        for mention in self._parts.unused("quoted"):
            after, before = self._parts.following(mention, "column"), self._parts.preceding(mention, "contains", gap=1)
            beside = after or self._parts.preceding(before or mention, "column")
            if beside is None:
                raise UnclearError(mention)
            column = self._parts.column_of(beside, lambda one: one.kind in {"text", "list"})
            self._parts.use(mention, beside, before)
            text = f"array_to_string({quoted(column.name)}, '; ')" if is_list(column) else quoted(column.name)
            conditions.append(Condition(column.name, f"contains(lower({text}), {literal(mention.name.lower())})",
                                        f"{column.title} contains “{mention.name}”", mention.first, mention.last))
        return conditions

    # Values.

    def _values(self) -> list[Condition]:
        groups: list[tuple[str, list[Mention]]] = []
        is_each = self._parts.has("together")
        for mention in self._parts.unused("value"):
            column = self._value_column(mention)
            last = groups[-1][1][-1] if groups else None
            is_of_last = last is not None and groups[-1][0] == column and not self._is_apart(last, mention)
            if is_of_last and not (is_each and self._is_all(column)):
                groups[-1][1].append(mention)
            else:
                groups.append((column, [mention]))
        return [self._value_condition(column, mentions) for column, mentions in groups]

    def _is_all(self, column: str) -> bool:
        return is_list(self._parts.columns[column]) and not self._parts.has("or")

    def _is_apart(self, last: Mention, mention: Mention) -> bool:
        between = [other for other in self._parts.mentions if last.last <= other.first < mention.first]
        return any(other.kind not in {"or", "or_more", "compare", *SKIPPED, "column"} for other in between)

    def _value_column(self, mention: Mention) -> str:
        beside = self._parts.preceding(mention, "column"), self._parts.following(mention, "column")
        named = [name for name in mention.columns if any(other and name in other.columns for other in beside)]
        if len(mention.columns) > 1 and len(named) != 1:
            raise UnclearError(mention)
        return (named or mention.columns)[0]

    def _value_condition(self, name: str, mentions: Sequence[Mention]) -> Condition:
        values = self._joined_values(name, mentions)
        if len(values) > _MOST_VALUES:
            raise UnclearError(mentions[0])
        self._parts.use(*mentions)
        self._absorb(name, mentions[0], mentions[-1])
        self._parts.use(*(other for other in self._parts.unused("or")
                          if mentions[0].first < other.first < mentions[-1].last))
        is_negative = self._take_negation(mentions[0])
        column, words = self._parts.columns[name], self._words_for(name, mentions)
        shown = self._shown_values(mentions, values, words)
        text = f"{column.title} {'has' if is_list(column) else 'is'} {'not ' * is_negative}{' or '.join(shown)}"
        return Condition(name, _one_of(column, values, is_negative=is_negative), text, mentions[0].first,
                         mentions[-1].last, values, is_negative, words)

    def _words_for(self, name: str, mentions: Sequence[Mention]) -> dict[str, str]:
        """Return the words of the question for each value that one mention alone means."""
        words = self._parts.reading.words
        return {mention.values[name][0]: " ".join(word.text for word in words[mention.first:mention.last])
                for mention in mentions if len(mention.values[name]) == 1}

    def _joined_values(self, name: str, mentions: Sequence[Mention]) -> tuple[str, ...]:
        """Return the values of any of some mentions; neighbouring words of one value must all be in it."""
        joined: list[set[str]] = []
        end = -1
        for mention in mentions:
            fitting = set(mention.values[name])
            if joined and mention.first == end and joined[-1] & fitting:
                joined[-1] &= fitting
            else:
                joined.append(fitting)
            end = mention.last
        return tuple(sorted(set().union(*joined)))

    def _shown_values(self, mentions: Sequence[Mention], values: Sequence[str],
                      said: Mapping[str, str]) -> Sequence[str]:
        """Return values for people: those themselves if they are few, else the words of the question."""
        if set(said) == set(values):
            return [value if set(keys_of(value)) & set(keys_of(word)) else f"{value} ({word})"
                    for value, word in said.items()]
        asked = [self._parts.words(mention) for mention in mentions]
        return values if len(values) <= 2 * len(asked) else [f"…{word}…" for word in asked]

    def _absorb(self, name: str, first: Mention, last: Mention) -> None:
        """Use the mention of a column beside its value: "Dream island", "status Final"."""
        for beside in (self._parts.preceding(first, "column"), self._parts.following(last, "column")):
            if beside is not None and name in beside.columns and self._parts.preceding(beside, "group", gap=1) is None:
                self._parts.use(beside)

    def _take_negation(self, mention: Mention) -> bool:
        """Return True if a negation stands before a mention, and use it."""
        negation = next((other for other in reversed(self._parts.unused("not")) if other.first < mention.first), None)
        if negation is None:
            return False
        between = [other for other in self._parts.mentions if negation.last <= other.first < mention.first]
        if any(other.kind not in {*SKIPPED, "column", "unit"} for other in between):
            return False
        self._parts.use(negation)
        return True

    # Numbers.

    def _comparisons(self) -> list[Condition]:
        conditions = [self._range(mention) for mention in self._parts.unused("between")]
        for signs, find, gap in ((_SIGNS, self._parts.following, 1), (_AFTER_NUMBER, self._parts.preceding, 0)):
            for mention in self._parts.unused(*signs):
                number = find(mention, "number", gap=gap)
                if number is not None:
                    conditions.append(self._comparison(mention, number, signs[mention.kind]))
        return [condition for condition in conditions if condition is not None]

    def _range(self, mention: Mention) -> Condition | None:
        low = self._parts.following(mention, "number", gap=1)
        link = self._parts.link_after(low) if low is not None else None
        high = self._parts.following(link, "number", gap=1) if link is not None else None
        if low is None or link is None or high is None:
            return None
        column = self._compared_column(mention, high)
        lowest, highest = self._figure(low, column, high), self._figure(high, column)
        self._parts.use(mention, low, link, high)
        expression, words = size(column)
        return Condition(column.name, f"{expression} BETWEEN {lowest} AND {highest}",
                         f"{words} is from {low.name} to {high.name}", mention.first, high.last)

    def _comparison(self, mention: Mention, number: Mention, sign: str) -> Condition:
        first, last = sorted((mention, number), key=lambda one: one.first)
        column = self._compared_column(first, last)
        figure = self._figure(number, column)
        self._parts.use(mention, number)
        self._absorb(column.name, first, last)
        is_negative = self._take_negation(first)
        expression, words = size(column)
        sql = f"{expression} {sign} {figure}"
        return Condition(column.name, f"NOT ({sql})" if is_negative else sql,
                         f"{words} {'not ' * is_negative}{sign} {figure}", first.first, last.last)

    def _compared_column(self, first: Mention, last: Mention) -> ColumnInfo:
        """Return the column that a number is compared with: by the words around it, else by its unit."""
        after, before = (self._parts.following(last, "column"),
                         self._parts.preceding(first, "column", "measure"))
        measures = [one.name for one in (first, last) if one.kind in _SIGNS and one.name] or [
            other.name for other in (before, after) if other is not None and other.kind == "measure"]
        for name in measures:
            self._parts.use(*(other for other in (before, after) if other is not None and other.kind == "measure"))
            return only(self._parts.measured(name), first)
        number = first if first.kind == "number" else last
        for other, fits in ((after, is_list), (before, is_number), (after, is_number), (before, is_list)):
            if other is not None and self._parts.columns_for(other, fits):
                self._parts.use(other)
                return self._parts.column_of(other, fits)
        unit = number.name.partition(" ")[2]
        names = [name for name, units in lexicon().units.items() if unit and unit in units]
        fitting = {column.name: column for name in names for column in self._parts.measured(name)}
        if not fitting and unit:
            fitting = {column.name: column for column in self._parts.table.columns
                       if is_number(column) and column.unit == unit}
        return only(list(fitting.values()), first)

    @staticmethod
    def _figure(number: Mention, column: ColumnInfo, other: Mention | None = None) -> str:
        """Return a number in the unit of a column; a range says its unit once, with the other number."""
        figure, _, unit = number.name.partition(" ")
        unit = unit or (other.name.partition(" ")[2] if other is not None else "")
        if keys_of(unit) and set(keys_of(unit)) <= set(keys_of(column.title)):
            unit = ""  # "more than 3 years" of years of service
        converted = convert(float(figure), unit, column.unit) if column.unit or not unit else float(figure)
        if converted is None:
            raise UnclearError(number)
        return f"{converted:.10g}"

    def _numbers(self) -> list[Condition]:
        """Read numbers beside a column: "4 cylinders", "exactly three authors", "EIP 20"."""
        hours = [column for column in self._parts.table.columns if keys_of(column.title)[-1:] == ("hour",)]
        conditions = [Condition(only(hours, one).name, f"{quoted(only(hours, one).name)} = 12", "it is noon", one.first,
                                one.last) for one in self._parts.unused("noon")]
        self._parts.take("noon")
        for number in self._parts.unused("number"):
            after, before = (self._parts.following(number, "column", gap=0),
                             self._parts.preceding(number, "column", gap=1))
            beside = next((other for other, fits in ((after, is_number), (before, is_number), (after, is_list))
                           if other is not None and self._parts.columns_for(other, fits)), None)
            if beside is None or " " in number.name or (beside is after and self._parts.has(*_DEGREES)):
                continue
            fits = is_number if self._parts.columns_for(beside, is_number) else is_list
            column = self._parts.column_of(beside, fits)
            expression, words = size(column)
            self._parts.use(number, beside)
            sign = "<>" if self._take_negation(min(number, beside, key=lambda one: one.first)) else "="
            conditions.append(Condition(column.name, f"{expression} {sign} {number.name}",
                                        f"{words} {sign} {number.name}", number.first, number.last))
        return conditions

    # Dates.

    def _dates(self) -> list[Condition]:
        dates = self._parts.unused("date")
        conditions = list[Condition]()
        while dates:
            first = dates.pop(0)
            link = self._parts.link_after(first) if dates else None
            second = dates.pop(0) if link is not None and self._parts.following(
                link, "date", gap=4) == dates[0] else None
            conditions.append(self._date_condition(first, link if second is not None else None, second))
        return conditions

    def _date_condition(self, first: Mention, link: Mention | None, second: Mention | None) -> Condition:
        column = self._date_column(first, second or first)
        sign = self._parts.preceding(first, *_DATE_SIGNS, gap=2)
        kind = sign.kind if sign is not None else ""
        self._parts.use(first, link, second, sign)
        if link is not None and second is not None:
            low, high = first.name, second.name
            if low.startswith("XXXX") and not high.startswith("XXXX"):
                low = high[:4] + low[4:]  # "between 15 March and 15 June 2020"
            is_range = link.kind == "through" or self._parts.words(link) == "to" or kind in {"between", "since"}
            sql = _between(column, low, high) if is_range else f"({_in(column, low)} OR {_in(column, high)})"
            text = f"{column.title} is {low} {'to' if is_range else 'or'} {high}"
            return Condition(column.name, sql, text, first.first, second.last, (low, high))
        is_negative = not kind and self._take_negation(first)
        sql = _dated(column, first.name, kind)
        word = {"": "in", "over": "after", "under": "before"}.get(kind, kind)
        return Condition(column.name, f"NOT ({sql})" if is_negative else sql,
                         f"{column.title} is {'not ' * is_negative}{word} {first.name}", first.first, first.last,
                         (first.name,))

    def _date_column(self, first: Mention, last: Mention) -> ColumnInfo:
        """Return the column of dates that a question names, the only one of the table, or a column of years."""
        named = [mention for mention in self._parts.mentions
                 if mention.kind == "column" and self._parts.columns_for(mention, is_date)]
        dates = [column for column in self._parts.table.columns if is_date(column)]
        if named:
            nearest = min(named, key=lambda one: min(abs(one.last - first.first), abs(one.first - last.last)))
            column = self._parts.column_of(nearest, is_date)
            if self._parts.preceding(nearest, "group", gap=1) is None:
                self._parts.use(nearest)
            return column
        if not dates and re.fullmatch(r"\d{4}", first.name):
            years = [column for column in self._parts.table.columns
                     if is_number(column) and keys_of(column.title)[-1:] in {*label_variants("year")}]
            column = only(years, first)
            self._absorb(column.name, first, last)
            return column
        return only(dates, first)

    # What is there and what is not.

    def _presence(self) -> list[Condition]:
        conditions = []
        for mention in self._parts.unused("missing", "present"):
            after, before = self._parts.following(mention, "column"), self._parts.preceding(mention, "column")
            says_none = self._parts.words(mention) in _NONE
            beside = after if says_none or before is None or before.is_head else before
            if beside is None:
                raise UnclearError(mention)
            column = self._parts.column_of(beside)
            self._parts.use(mention, beside)
            is_missing = mention.kind == "missing"
            sql, text = f"{quoted(column.name)} IS {'' if is_missing else 'NOT '}NULL", f"{column.title} is given"
            if says_none and is_number(column) and self._parts.following(beside, "reading") is None:
                if column.empty or column.untyped:  # "no rain" may be zero or an empty cell
                    raise UnclearError(mention)
                sql, text = f"{quoted(column.name)} = 0", f"{column.title} is 0"
            elif is_missing:
                text = f"{column.title} is not given"
            conditions.append(Condition(column.name, sql, text, min(mention.first, beside.first),
                                        max(mention.last, beside.last)))
        return conditions

    def _flags(self) -> list[Condition]:
        """Read the name of a column of truth values as true, unless it is what is asked for."""
        conditions = []
        for mention in self._parts.unused("column"):
            if not all(self._parts.columns[name].kind == "boolean" for name in mention.columns):
                continue
            if self._parts.preceding(mention, "group", gap=1) is not None or not self._parts.has("count", "share"):
                continue
            column = self._parts.column_of(mention)
            self._parts.use(mention)
            is_negative = self._take_negation(mention)
            conditions.append(Condition(column.name, f"{'NOT ' * is_negative}{quoted(column.name)}",
                                        f"{column.title} is {'no' if is_negative else 'yes'}", mention.first,
                                        mention.last, is_negative=is_negative))
        return conditions


def _one_of(column: ColumnInfo, values: Sequence[str], *, is_negative: bool) -> str:
    name, listed = quoted(column.name), ", ".join(map(literal, values))
    if is_list(column):
        has = " OR ".join(f"list_contains({name}, {literal(value)})" for value in values)
        return f"({name} IS NULL OR NOT ({has}))" if is_negative else f"({has})"
    if len(values) == 1:
        return f"{name} {'<>' if is_negative else '='} {listed}"
    return f"{name} {'NOT ' * is_negative}IN ({listed})"


def _bounds(period: str) -> tuple[str, str]:
    """Return the first day of a year, decade, month or day, and the day after it."""
    if period.endswith("X"):
        first = int(period.replace("X", "0"))
        return f"{first}-01-01", f"{first + 10 ** period.count('X')}-01-01"
    year, *rest = map(int, period.split("-"))
    if not rest:
        return f"{year:04}-01-01", f"{year + 1:04}-01-01"
    if len(rest) == 1:
        following = (year + 1, 1) if rest[0] == _DECEMBER else (year, rest[0] + 1)
        return f"{year:04}-{rest[0]:02}-01", f"{following[0]:04}-{following[1]:02}-01"
    day = date(year, *rest)
    return day.isoformat(), (day + timedelta(1)).isoformat()


def _in(column: ColumnInfo, period: str) -> str:
    """Return that a date is in a year, decade, month or day."""
    if is_number(column) and period.isdigit():
        return f"{quoted(column.name)} = {period}"
    return _between(column, period, period)


def _between(column: ColumnInfo, first: str, last: str) -> str:
    """Return that a date is from the start of one period to the end of another."""
    name = quoted(column.name)
    if is_number(column):
        return f"{name} BETWEEN {_year(first)} AND {_year(last)}"
    if first.startswith("XXXX-") and last.startswith("XXXX-") and len(first) == len(last):
        form = "%m-%d" if first.count("-") > 1 else "%m"
        return f"strftime({name}, '{form}') BETWEEN '{first[5:]}' AND '{last[5:]}'"
    if "X" in first[:4] + last[:4] and not (first == last and first[:3].isdigit()):
        raise UnclearError(first)
    return f"({name} >= DATE '{_bounds(first)[0]}' AND {name} < DATE '{_bounds(last)[1]}')"


def _year(period: str) -> int:
    if not period.isdigit():
        raise UnclearError(period)
    return int(period)


def _dated(column: ColumnInfo, period: str, kind: str) -> str:
    """Return that a date is in a period, or after, before, since or until it."""
    if not kind:
        return _in(column, period)
    if "X" in period or kind == "between":
        raise UnclearError(period)
    name = quoted(column.name)
    if is_number(column):
        return f"{name} {({'after': '>', 'over': '>', 'since': '>=', 'until': '<='}).get(kind, '<')} {_year(period)}"
    first, end = _bounds(period)
    sign, day = {"after": (">=", end), "over": (">=", end), "since": (">=", first), "until": ("<", end)}.get(
        kind, ("<", first))
    return f"{name} {sign} DATE '{day}'"
