"""The conditions of a question on the rows of one table that compare numbers and dates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from ..schemas.records import ColumnInfo
from .asked_parts import (
    DEGREES,
    SKIPPED,
    AskedParts,
    UnclearError,
    is_date,
    is_list,
    is_number,
    only,
    quoted,
)
from .question_words import convert, keys_of, lexicon, unit_of
from .table_mentions import Mention

SIGNS = {"over": ">", "under": "<", "least_bound": ">=", "most_bound": "<="}
_AFTER_NUMBER = {"or_more": ">=", "or_less": "<="}
_DATE_SIGNS = ("after", "before", "since", "until", "between", "over", "under")
_DATE_SQL = {"": "({0} >= {1} AND {0} < {2})", "since": "{0} >= {1}", "until": "{0} < {2}", "after": "{0} >= {2}",
             "before": "{0} < {1}"}
_SAME_SIGNS = {"over": "after", "under": "before", "over age": "before", "under age": "after"}
_INCLUDING, _OPEN_SIGNS = {"after": "since", "before": "until"}, frozenset({"以后", "以前"})
"""Signs with those that include the date itself, and words that may mean either: 2019年以后."""
_PARTS_OF_YEAR = {code: (3 * at + 1, 3) for at, code in enumerate((33, 34, 35, 36))} | {40: (1, 6), 41: (7, 6)}
"""The first month of a quarter or a half of a year, by its number in EDTF, and how many it has."""


@dataclass(frozen=True)
class Condition:
    """A condition on a column, in SQL and in words, with the words of the question that say so.

    `otherwise` is the condition in another sense of the words, which must have the same answer. `alternatives` are, by
    the words of each, the conditions of which any is enough, where there are several.
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
    alternatives: Mapping[str, str] = field(default_factory=dict)


def size(column: ColumnInfo) -> tuple[str, str]:
    """Return the number that a column holds, in SQL and in words: of a list, how many it has."""
    name = quoted(column.name)
    return (f"len({name})", f"number of {column.title}") if is_list(column) else (name, column.title)


class MeasureReader:
    """Reads conditions on numbers and dates, and marks what says them as used."""

    def __init__(self, parts: AskedParts) -> None:
        """Read from the parts of a question."""
        self._parts = parts

    def _condition(self, column: ColumnInfo, sql: str, text: str, *said: Mention | None, values: Sequence[str] = (),
                   words: Mapping[str, str] | None = None) -> Condition:
        """Return what some mentions say of a column, and use them, and a negation before them."""
        mentions = sorted((mention for mention in said if mention is not None), key=lambda one: one.first)
        self._parts.use(*mentions)
        negation = next((one for one in reversed(self._parts.unused("not")) if one.first < mentions[0].first), None)
        is_negative = negation is not None and all(
            one.kind in {*SKIPPED, "column", "unit"} for one in self._parts.mentions
            if negation.last <= one.first < mentions[0].first)
        if is_negative:
            self._parts.use(negation)
            verb = next((verb for verb in (" is ", " has ") if verb in text), " ")
            sql, text = f"NOT ({sql})", text.replace(verb, f"{verb}not ", 1)
            # A document without a field does not have a value of it; of a bird without a sex, nobody knows.
            has_none = bool(values) and (is_list(column) or self._parts.are_documents)
            sql = f"{quoted(column.name)} IS NULL OR {sql}" if has_none else sql
        sql = f"({sql})" if " OR " in sql else sql
        return Condition(column.name, sql, text, mentions[0].first, mentions[-1].last, tuple(values), is_negative,
                         words or {})

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
        counted = self._parts.counted_rows()
        conditions = [self._range(mention) for mention in self._parts.unused("between")]
        for signs, find, gap in ((SIGNS, self._parts.following, 1), (_AFTER_NUMBER, self._parts.preceding, 0)):
            for mention in self._parts.unused(*signs):
                number = find(mention, "number", gap=gap)
                if number is not None and number != counted:
                    first, last = sorted((mention, number), key=lambda one: one.first)
                    column = self._compared_column(first, last)
                    self._absorb(column.name, first, last)
                    said = f"{signs[mention.kind]} {_figure(number, column)}"
                    conditions.append(self._size_condition(column, said, first, last))
        return [condition for condition in conditions if condition is not None]

    def _range(self, mention: Mention) -> Condition | None:
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

    def _size_condition(self, column: ColumnInfo, said: str, *mentions: Mention | None) -> Condition:
        expression, words = size(column)
        return self._condition(column, f"{expression} {said}", f"{words} {said}", *mentions)

    def _compared_column(self, first: Mention, last: Mention) -> ColumnInfo:
        """Return the column that a number is compared with: by the words around it, else by its unit."""
        beside = before, after = self._beside(first, last, "measure")
        unit = next(one for one in (first, last) if one.kind == "number").name.partition(" ")[2]
        measures = [one for one in (first, last) if one.kind in SIGNS and one.name] or [
            other for other in beside if other is not None and other.kind == "measure"]
        if measures:
            self._parts.use(*measures)
            fitting = self._parts.measured(measures[0].name)
            # Of a distance and a running time, the unit tells which is longer than 150 minutes.
            return only([column for column in fitting if unit and unit_of_column(column) and convert(
                1, unit, unit_of_column(column)) is not None] or fitting, first)
        for other, fits in ((after, is_list), (before, is_number), (after, is_number), (before, is_list)):
            if other is not None and self._parts.columns_for(other, fits):
                self._parts.use(other)
                return self._parts.column_of(other, fits)
        fitting = self._parts.measured_in(unit) or [
            column for column in self._parts.table.columns if unit and column.unit == unit]
        return only(fitting, first)

    def _numbers(self) -> list[Condition]:
        """Read numbers beside a column: "4 cylinders", "exactly three authors", "EIP 20", and noon as an hour."""
        hours = [column for column in self._parts.table.columns if keys_of(column.title)[-1:] == ("hour",)]
        conditions = [self._size_condition(only(hours, one), "= 12", one) for one in self._parts.unused("noon")]
        for number in self._parts.unused("number"):
            after = self._parts.following(number, "column", gap=0)
            before = self._parts.preceding(number, "column", gap=1)
            beside, fits = next(((other, fits) for other, fits in (
                (after, is_number), (before, is_number), (after, is_list))
                if other is not None and self._parts.columns_for(other, fits)), (None, is_list))
            head = self._parts.preceding(number, "head", "documents", gap=0)
            numbers = self._parts.numbering_columns() if head is not None else []
            is_named = bool(numbers) and (beside is None or not self._parts.words(head or number).endswith("s"))
            if head is not None and is_named:  # "RFC 31"
                beside, fits = replace(head, columns=tuple(numbers)), is_number
            is_count = beside is after and (self._parts.has(*DEGREES) or number == self._parts.counted_rows())
            if beside is not None and " " not in number.name and not is_count:
                column = self._parts.column_of(beside, fits)
                conditions.append(self._size_condition(column, f"= {number.name}", number, beside))
        return conditions

    # Dates.

    def _dates(self) -> list[Condition]:
        dates = self._parts.unused("date")
        conditions = list[Condition]()
        while dates:
            first = dates.pop(0)
            # "how many in 2019, and how many in 2020"
            link = self._parts.link_after(first) if dates else None
            link = (self._parts.following(link or first, "count") or link) if dates else None
            is_linked = link is not None and self._parts.following(link, "date", gap=4) == dates[0]
            conditions.append(self._date_condition(first, link if is_linked else None,
                                                   dates.pop(0) if is_linked else None))
        return conditions

    def _date_condition(self, first: Mention, link: Mention | None, second: Mention | None) -> Condition:
        column = self._date_column(first, second or first)
        sign = self._parts.preceding(first, *_DATE_SIGNS, gap=2) or next((  # a Chinese sign stands behind: 2019年之后
            one for one in self._parts.mentions if one.first == (second or first).last
            and one.kind in {*_INCLUDING, *_INCLUDING.values()} and not self._parts.words(one).isascii()), None)
        kind = sign.kind if sign is not None else ""
        if link is not None and second is not None:
            low, high = first.name, second.name
            if low.startswith("XXXX") and not high.startswith("XXXX"):
                low = high[:4] + low[4:]  # "between 15 March and 15 June 2020"
            is_range = link.kind == "through" or self._parts.words(link) == "to" or kind in {"between", "since"}
            sql = _date_sql(column, "", low, high) if is_range else (
                f"({_date_sql(column, '', low, low)} OR {_date_sql(column, '', high, high)})")
            said = f"{_shown_period(low)} {'to' if is_range else 'or'} {_shown_period(high)}"
            condition = self._condition(column, sql, f"{column.title} is {said}", first, link, second, sign,
                                        values=(low, high))
            return condition if is_range else replace(condition, alternatives={
                _shown_period(period): _date_sql(column, "", period, period) for period in (low, high)})
        if ("X" in first.name and kind) or kind == "between":
            raise UnclearError(first)
        word = _SAME_SIGNS.get(f"{kind} {sign.name}".strip(), kind) if sign is not None else ""
        if word in _SAME_SIGNS:
            raise UnclearError(first)  # "longer than 2019"
        sql = _date_sql(column, word, first.name, first.name)
        condition = self._condition(column, sql, f"{column.title} is {word or 'in'} {_shown_period(first.name)}",
                                    first, sign, values=(first.name,))
        if sign is not None and self._parts.words(sign).replace(" ", "") in _OPEN_SIGNS:
            including = _date_sql(column, _INCLUDING[word], first.name, first.name)
            return replace(condition, otherwise=condition.sql.replace(sql, including))
        return condition

    def _date_column(self, first: Mention, last: Mention) -> ColumnInfo:
        """Return the column of dates that a question names, the only one of the table, or a column of years."""
        named = [one for one in self._parts.mentions if one.kind == "column" and self._parts.columns_for(one, is_date)]
        dates = self._parts.dates()
        if named:
            nearest = min(named, key=lambda one: min(abs(one.last - first.first), abs(one.first - last.last)))
            if self._parts.preceding(nearest, "group", gap=1) is None:
                self._parts.use(nearest)
            return self._parts.column_of(nearest, is_date)
        if dates or not first.name.isdigit():
            # "rejected in 2019" says when it was rejected, which no date of the documents may tell.
            before = [other for other in self._parts.before(first)
                      if other.kind not in {"neutral", "year", *_DATE_SIGNS}][-1:]
            is_of_other = any(other.kind == "value" or (  # others than authors do: "reviewed in 2019"
                other.kind == "column" and self._parts.words(other).endswith("ed") and not any(
                    keys_of(self._parts.columns[name].title) in lexicon().labels["author"] for name in other.columns))
                for other in before)
            if self._parts.are_documents and is_of_other and not self._parts.has("made"):
                raise UnclearError(first)
            return only(dates, first)
        years = self._parts.years()
        self._absorb(only(years, first).name, first, last)
        return years[0]


def unit_of_column(column: ColumnInfo) -> str:
    """Return the unit of a column, which may be the last word of its label: "Running Time min"."""
    return column.unit or unit_of(column.title.replace("_", " ").rpartition(" ")[2])


def _figure(number: Mention, column: ColumnInfo) -> str:
    """Return a number in the unit of a column."""
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
        return f"strftime({quoted(column.name)}, '{form}') BETWEEN '{first[5:]}' AND '{last[5:]}'"
    return _DATE_SQL[sign].format(quoted(column.name), _bounds(column, first)[0], _bounds(column, last)[1])


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
