"""The conditions of a question on the rows of one table that compare numbers and dates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import NamedTuple

from ..graph_store.sql.logical_tables import quoted
from ..schemas.records import ColumnInfo
from .asked_columns import (
    UnclearError,
    columns_in_unit,
    columns_of_measure,
    is_date,
    is_list,
    is_number,
    is_year,
    only,
    years_of,
)
from .asked_parts import DEGREES, SKIPPED, AskedParts
from .question_words import Mention, convert, keys_of, lexicon, unit_of

SIGNS = {"over": ">", "under": "<", "least_bound": ">=", "most_bound": "<="}
_AFTER_NUMBER = {"or_more": ">=", "or_less": "<="}
_DATE_SIGNS = ("after", "before", "since", "until", "between", "over", "under")
_DATE_SQL = {"": "({0} >= {2} AND {1} < {3})", "since": "{0} >= {2}", "until": "{1} < {3}", "after": "{0} >= {3}",
             "before": "{1} < {2}"}
"""For each sign: the first day ({0}) and the last one ({1}) that a date may be, the same if it says a day, compared
with the first day of a period ({2}) and the day after its last one ({3})."""
_SAME_SIGNS = {"over": "after", "under": "before", "over age": "before", "under age": "after"}
"""What signs of numbers mean of dates, alone ("over") or as a measure of age: "older than" is "over age"."""
_INCLUDING, _OPEN_SIGNS = {"after": "since", "before": "until"}, frozenset({"以后", "以前"})
"""Signs with those that include the date itself, and words that may mean either: 2019年以后."""
_PARTS_OF_YEAR = {code: (3 * at + 1, 3) for at, code in enumerate((33, 34, 35, 36))} | {40: (1, 6), 41: (7, 6)}
"""The first month of a quarter or a half of a year, by its number in EDTF, and how many it has."""


@dataclass(frozen=True)
class Condition:
    """A condition on a column, with the words of the question that say so.

    Attributes:
        column: the name of the column.
        sql: the condition in SQL.
        text: the condition in words.
        first: the place of the first word of the question that says so.
        last: the place behind the last one.
        values: the values, dates included, of which the column must have one; empty for other conditions.
        is_negative: whether it is negated.
        words: the words of the question for values, by the value.
        otherwise: the condition in another sense of the words, which must have the same answer; "" if there is none.
        possible: the condition under which a date that says too little may meet it; "" if all dates say enough.
        alternatives: by the words of each, the conditions of which any is enough, where there are several.
    """

    column: str
    sql: str
    text: str
    first: int
    last: int
    values: tuple[str, ...] = ()
    is_negative: bool = False
    words: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = ""
    possible: str = ""
    alternatives: Mapping[str, str] = field(default_factory=dict)


class Expression(NamedTuple):
    """A value of a row or of a group of rows, in SQL and in words."""

    sql: str
    words: str

    @property
    def is_of_members(self) -> bool:
        """True if the value is each member of a list, so that a row of the table becomes several rows."""
        return "unnest(" in self.sql

    @property
    def row_sql(self) -> str:
        """The value in a SELECT whose rows are the members of a list (`QuestionTarget._select`), or the table's."""
        return "member" if self.is_of_members else self.sql


def size(column: ColumnInfo) -> Expression:
    """Return the number that a column holds: of a list, how many members it has."""
    name = quoted(column.name)
    return Expression(f"len({name})", f"number of {column.title}") if is_list(column) else Expression(
        name, column.title)


class MeasureReader:
    """Reads conditions on numbers and dates, and marks what says them as used."""

    def __init__(self, parts: AskedParts) -> None:
        self._parts = parts

    def _condition(self, column: ColumnInfo, sql: str, text: str, *said: Mention | None, values: Sequence[str] = (),
                   words: Mapping[str, str] | None = None) -> Condition:
        """Return what some mentions say of a column; use them, and a negation before them."""
        mentions = sorted((mention for mention in said if mention is not None), key=lambda mention: mention.first)
        self._parts.use(*mentions)
        negation = next((one for one in reversed(self._parts.unused("not")) if one.first < mentions[0].first), None)
        between = (one.kind for one in self._parts.mentions
                   if negation is not None and negation.last <= one.first < mentions[0].first)
        if any(kind not in {*SKIPPED, "column", "unit"} for kind in between):
            negation = None  # it belongs to other words
        if negation is not None:
            self._parts.use(negation)
            verb = next((verb for verb in (" is ", " has ") if verb in text), " ")
            sql, text = f"NOT ({sql})", text.replace(verb, f"{verb}not ", 1)
            # A document without a field does not have a value of it; of a bird without a sex, nobody knows.
            if values and (is_list(column) or self._parts.are_documents):
                sql = f"{quoted(column.name)} IS NULL OR {sql}"
        if " OR " in sql:
            sql = f"({sql})"
        return Condition(column.name, sql, text, mentions[0].first, mentions[-1].last, tuple(values),
                         negation is not None, words or {})

    def _beside(self, first: Mention, last: Mention, *kinds: str) -> tuple[Mention | None, Mention | None]:
        """Return the mentions of columns, or of other kinds, before and behind some words."""
        return self._parts.preceding(first, "column", *kinds), self._parts.following(last, "column", *kinds)

    def _absorb(self, name: str, first: Mention, last: Mention) -> None:
        """Use the mention of a column beside its value: "Dream island", "status Final"."""
        self._parts.use(*(
            beside for beside in self._beside(first, last) if beside is not None
            and name in (*beside.columns, *beside.also) and self._parts.preceding(beside, "group", gap=1) is None))

    # Numbers.

    def _comparisons(self) -> list[Condition]:
        """Read ranges and comparisons of numbers: "between 3 and 5 kg", "more than 5 kg", "5 kg or more"."""
        counted = self._parts.counted_rows()
        ranges = [self._range(mention) for mention in self._parts.unused("between")]
        conditions = [condition for condition in ranges if condition is not None]
        compared = [(mention, SIGNS[mention.kind], self._parts.following(mention, "number", gap=1))
                    for mention in self._parts.unused(*SIGNS)]
        compared += [(mention, _AFTER_NUMBER[mention.kind], self._parts.preceding(mention, "number", gap=0))
                     for mention in self._parts.unused(*_AFTER_NUMBER)]
        for mention, sign, number in compared:
            if number is None or number == counted:
                continue
            first, last = sorted((mention, number), key=lambda one: one.first)
            column = self._compared_column(first, last)
            self._absorb(column.name, first, last)
            conditions.append(self._size_condition(column, f"{sign} {_figure(number, column)}", first, last))
        return conditions

    def _range(self, mention: Mention) -> Condition | None:
        """Read "between 3 and 5 kg"; None if no two numbers follow, which may be dates."""
        low = self._parts.following(mention, "number", gap=1)
        link = self._parts.link_after(low) if low is not None else None
        high = self._parts.following(link, "number", gap=1) if link is not None else None
        if low is None or high is None:
            return None
        column = self._compared_column(mention, high)
        # A range says its unit once, with the other number.
        low = low if " " in low.name else replace(low, name=f"{low.name} {high.name.partition(' ')[2]}".strip())
        said = f"between {_figure(low, column)} and {_figure(high, column)}"
        return self._size_condition(column, said, mention, low, link, high)

    def _size_condition(self, column: ColumnInfo, comparison: str, *mentions: Mention | None) -> Condition:
        """Return the condition that a column's number, or how long its list is, fits a comparison such as "> 5"."""
        value = size(column)
        if not comparison.startswith("="):
            self._check_texts(column)
        condition = self._condition(column, f"{value.sql} {comparison}", f"{value.words} {comparison}", *mentions)
        if is_list(column) and all(" " in member for member, _ in column.frequent):
            # "Ada Blum, Independent" has one author: what is no name, where all others are, must not matter.
            names = f"len([name FOR name IN {quoted(column.name)} IF regexp_matches(name, '^\\p{{Lu}}.* ')])"
            return replace(condition, otherwise=condition.sql.replace(value.sql, names))
        return condition

    def _check_texts(self, column: ColumnInfo) -> None:
        """Raise UnclearError if cells of a field are texts that may be above or below a number: "around 400 BC"."""
        if column.untyped and self._parts.are_documents:
            raise UnclearError(column.name)

    def _compared_column(self, first: Mention, last: Mention) -> ColumnInfo:
        """Return the column that a number is compared with: by the words around it, else by its unit."""
        before, after = self._beside(first, last, "measure")
        unit = (first if first.kind == "number" else last).name.partition(" ")[2]
        # "longer than" names a measure itself; others stand beside: "a mass of more than".
        measures = [one for one in (first, last) if one.kind in SIGNS and one.name] or [
            one for one in (before, after) if one is not None and one.kind == "measure"]
        if measures:
            self._parts.use(*measures)
            fitting = columns_of_measure(self._parts.table, measures[0].name)
            # Of a distance and a running time, the unit tells which is longer than 150 minutes.
            of_unit = [column for column in fitting if unit and unit_of_column(column)
                       and convert(1, unit, unit_of_column(column)) is not None]
            return only(of_unit or fitting, first)
        # In this order: "more than two authors", "a price above 5", "more than 5 cylinders", "authors: at least two".
        for mention, fits in ((after, is_list), (before, is_number), (after, is_number), (before, is_list)):
            if mention is not None and self._parts.columns_for(mention, fits):
                self._parts.use(mention)
                return self._parts.column_of(mention, fits)
        fitting = columns_in_unit(self._parts.table, unit) or [
            column for column in self._parts.table.columns if unit and column.unit == unit]
        return only(fitting, first)

    def _numbers(self) -> list[Condition]:
        """Read numbers beside a column: "4 cylinders", "exactly three authors", "EIP 20", and noon as an hour."""
        hours = [column for column in self._parts.table.columns if keys_of(column.title)[-1:] == ("hour",)]
        conditions = [self._size_condition(only(hours, noon), "= 12", noon) for noon in self._parts.unused("noon")]
        for number in self._parts.unused("number"):
            named = self._column_beside(number)
            if named is None or " " in number.name:  # without a comparison, a number with a unit says too little
                continue
            mention, fits = named
            is_behind = mention.first >= number.last
            if is_behind and (self._parts.has(*DEGREES) or number == self._parts.counted_rows()):
                continue  # "the two tallest towers", "more than five books"
            column = self._parts.column_of(mention, fits)
            self._parts.use(self._parts.preceding(number, "only", gap=0))
            conditions.append(self._size_condition(column, f"= {number.name}", number, mention))
        return conditions

    def _column_beside(self, number: Mention) -> tuple[Mention, Callable[[ColumnInfo], bool]] | None:
        """Return the mention of the column that a number is a value of, and which of its columns fit; None without one.

        It is what the rows are called, if a column numbers them ("RFC 31"), or the column named beside the number.
        """
        after = self._parts.following(number, "column", gap=0)
        before = self._parts.preceding(number, "column", gap=1)
        named = next(((mention, fits) for mention, fits in ((after, is_number), (before, is_number), (after, is_list))
                      if mention is not None and self._parts.columns_for(mention, fits)), None)
        head = self._parts.preceding(number, "head", "documents", gap=0)
        numbering = self._parts.numbering_columns() if head is not None else []
        # In "RFCs 4 authors wrote", the plural is not the name of one row.
        if head is not None and numbering and (named is None or not self._parts.words(head).endswith("s")):
            return replace(head, columns=tuple(numbering)), is_number
        return named

    # Dates.

    def _dates(self) -> list[Condition]:
        """Read dates, each alone or two that a word joins: "in 2019", "from March to May"."""
        dates = self._parts.unused("date")
        conditions = list[Condition]()
        while dates:
            first = dates.pop(0)
            link = self._parts.link_after(first)
            link = self._parts.following(link or first, "count") or link  # "in 2019, and how many in 2020"
            if dates and link is not None and self._parts.following(link, "date", gap=4) == dates[0]:
                conditions.append(self._two_dates(first, link, dates.pop(0)))
            else:
                conditions.append(self._date_condition(first))
        return conditions

    def _date_sign(self, first: Mention, last: Mention) -> Mention | None:
        """Return the word such as "after" before dates; in Chinese also behind them: 2019年之后."""
        before = self._parts.preceding(first, *_DATE_SIGNS, gap=2)
        behind = (mention for mention in self._parts.mentions if mention.first == last.last
                  and mention.kind in {*_INCLUDING, *_INCLUDING.values()} and not self._parts.words(mention).isascii())
        return before or next(behind, None)

    def _two_dates(self, first: Mention, link: Mention, second: Mention) -> Condition:
        """Return the condition of two dates: that a date is in the range between them, or in either."""
        column, sign = self._date_column(first, second), self._date_sign(first, second)
        low, high = first.name, second.name
        if low.startswith("XXXX") and not high.startswith("XXXX"):
            low = high[:4] + low[4:]  # "between 15 March and 15 June 2020"
        is_range = link.kind == "through" or self._parts.words(link) == "to" or (
            sign is not None and sign.kind in {"between", "since"})
        periods = [(low, high)] if is_range else [(low, low), (high, high)]
        sql, possible = (" OR ".join(_date_sql(one, "", *period) for period in periods)
                         for one in (column, _reversed(column)))
        text = f"{column.title} is {_shown_period(low)} {'to' if is_range else 'or'} {_shown_period(high)}"
        condition = self._dated(column, sql, possible, text, first, link, second, sign, values=(low, high))
        return condition if is_range else replace(condition, alternatives={
            _shown_period(period): _date_sql(column, "", period, period) for period in (low, high)})

    def _date_condition(self, first: Mention) -> Condition:
        """Return the condition of one date, with the sign beside it: "in 2019", "after 2019", "2019年以后"."""
        column, sign = self._date_column(first, first), self._date_sign(first, first)
        kind = sign.kind if sign is not None else ""
        if ("X" in first.name and kind) or kind == "between":
            raise UnclearError(first)  # "after May" of no year, or a range with one end
        # "older than 2019" is before it.
        word = _SAME_SIGNS.get(f"{kind} {sign.name}".strip(), kind) if sign is not None else ""
        if word:
            self._check_texts(column)
        if word in _SAME_SIGNS:
            raise UnclearError(first)  # "longer than 2019"
        sql, possible = (_date_sql(one, word, first.name, first.name) for one in (column, _reversed(column)))
        condition = self._dated(column, sql, possible, f"{column.title} is {word or 'in'} {_shown_period(first.name)}",
                                first, sign, values=(first.name,))
        if sign is not None and self._parts.words(sign).replace(" ", "") in _OPEN_SIGNS:
            including = _date_sql(column, _INCLUDING[word], first.name, first.name)
            return replace(condition, otherwise=condition.sql.replace(sql, including))
        return condition

    def _dated(self, column: ColumnInfo, sql: str, possible: str, text: str, *said: Mention | None,
               values: Sequence[str]) -> Condition:
        """Return a condition on dates, with what may meet it."""
        condition = self._condition(column, sql, text, *said, values=values)
        if possible == sql:
            return condition
        if condition.is_negative:  # a date that says too little is neither in a period nor outside
            raise UnclearError(column.name)
        return replace(condition, possible=f"({possible})")

    def _date_column(self, first: Mention, last: Mention) -> ColumnInfo:
        """Return the column of dates that a question names, the only one of the table, or a column of years."""
        in_years = [one for one in self._parts.unused("column") if self._parts.columns_for(one, is_year)]
        if in_years and first.name.isdigit():  # "published in 2004" where documents have a publication year
            self._parts.use(*in_years)
            return self._parts.column_of(in_years[0], is_year)
        named = [one for one in self._parts.mentions if one.kind == "column" and self._parts.columns_for(one, is_date)]
        if named:
            nearest = min(named, key=lambda one: min(abs(one.last - first.first), abs(one.first - last.last)))
            if self._parts.preceding(nearest, "group", gap=1) is None:  # else rows are grouped by it as well
                self._parts.use(nearest)
            return self._parts.column_of(nearest, is_date)
        dates = self._parts.dates()
        if dates or not first.name.isdigit():  # the name of a year has digits alone
            if self._parts.are_documents and self._is_of_other_event(first) and not self._parts.has("made"):
                raise UnclearError(first)
            return only(dates, first)
        years = years_of(self._parts.table)
        self._absorb(only(years, first).name, first, last)
        return years[0]

    def _is_of_other_event(self, first: Mention) -> bool:
        """Return True if a date says when something happened that the dates of documents may not tell."""
        # This is so behind a status ("rejected in 2019"), and behind what others than authors do ("reviewed in 2019").
        before = [mention for mention in self._parts.before(first)
                  if mention.kind not in {"neutral", "year", *_DATE_SIGNS}]
        if not before or before[-1].kind != "column":
            return bool(before) and before[-1].kind == "value"
        is_by_author = any(keys_of(self._parts.columns[name].title) in lexicon().labels["author"]
                           for name in before[-1].columns)
        return self._parts.words(before[-1]).endswith("ed") and not is_by_author


def unit_of_column(column: ColumnInfo) -> str:
    """Return the unit of a column, which may be the last word of its label: "Running Time min"."""
    return column.unit or unit_of(column.title.replace("_", " ").rpartition(" ")[2])


def _figure(number: Mention, column: ColumnInfo) -> str:
    figure, _, unit = number.name.partition(" ")
    if keys_of(unit) and set(keys_of(unit)) <= set(keys_of(column.title)):
        unit = ""  # "more than 3 years" of years of service
    # A number without a unit is of none that has others: two hours are not "2" in a column of durations.
    is_bare = not unit_of_column(column) and all(unit not in units for units in lexicon().units.values())
    converted = float(figure) if is_bare else convert(float(figure), unit, unit_of_column(column))
    if converted is None:
        raise UnclearError(number)
    return f"{converted:.10g}"


def _date_sql(column: ColumnInfo, sign: str, first: str, last: str) -> str:
    """Return that a date is from the start of one period to the end of another, or on one side of it."""
    if first.startswith("XXXX-") and last.startswith("XXXX-") and len(first) == len(last) and is_date(column):
        form = "%m-%d" if first.count("-") > 1 else "%m"
        return " AND ".join(f"strftime({quoted(name)}, '{form}') BETWEEN '{first[5:]}' AND '{last[5:]}'"
                            for name in filter(None, (column.name, column.last)))
    days = quoted(column.name), quoted(column.last or column.name)
    return _DATE_SQL[sign].format(*days, _bounds(column, first)[0], _bounds(column, last)[1])


def _reversed(column: ColumnInfo) -> ColumnInfo:
    """Return a column with its first and last days exchanged: what is certain of the one is possible of the other."""
    return column.model_copy(update={"name": column.last, "last": column.name}) if column.last else column


def _shown_period(period: str) -> str:
    """Return a period as people write it: 2020-Q3 and 2020-H1 for the numbers of EDTF."""
    year, _, code = period.partition("-")
    month, months = _PARTS_OF_YEAR.get(int(code), (0, 0)) if code.isdigit() else (0, 0)
    return f"{year}-{'Q' if months == 3 else 'H'}{month // months + 1}" if months else period  # noqa: PLR2004


def _bounds(column: ColumnInfo, period: str) -> tuple[str, str]:
    """Return the first day of a year, decade, month or day, and the day after it; of a column of years, these."""
    if not period[:3].isdigit() or (is_number(column) and not period.isdigit()):
        raise UnclearError(period)
    year, *rest = (int(part) for part in period.replace("X", "0").split("-"))
    years = 10 ** period.count("X")
    month, months = _PARTS_OF_YEAR.get(rest[0], (rest[0], 1)) if rest else (1, 12 * years)
    if is_number(column):
        return str(year), str(year + years)
    first = date(year, month, *(rest[1:] or [1]))
    after = first + timedelta(1)
    if len(rest) < 2:  # noqa: PLR2004 - a month and a day
        after = date(year + (first.month + months - 1) // 12, (first.month + months - 1) % 12 + 1, 1)
    return f"DATE '{first}'", f"DATE '{after}'"
