"""The conditions of a question on the rows of one table that compare numbers and dates."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import NamedTuple

from ..graph_store.sql.logical_tables import quoted
from ..schemas.records import ColumnInfo
from .asked_parts import DEGREES, SKIPPED, AskedParts
from .question_columns import AskedKind, UnclearError, column_unit, columns_in_unit, columns_of_measure, figure_in, only
from .question_words import Mention, convert

_LINKS = frozenset({"to", "and", "und", "和"})
_SIGNS = {"over": ">", "under": "<", "least_bound": ">=", "most_bound": "<="}
_DATE_SIGNS = ("after", "before", "since", "until", "between", "over", "under")
_DATE_SQL = {"": "({0} >= {2} AND {1} < {3})", "since": "{0} >= {2}", "until": "{1} < {3}", "after": "{0} >= {3}",
             "before": "{1} < {2}"}
"""For each sign: the first day ({0}) and the last one ({1}) that a date may be, the same if it says a day, compared
with the first day of a period ({2}) and the day after its last one ({3})."""
_NUMBERED = (r"{} IN (TRY_CAST(regexp_extract(document, '(?:^|/)[^/\d]*(\d+)[^/]*(?:/[^/\d]*)*$', 1) AS BIGINT), "
             r"TRY_CAST(regexp_extract(title, '\d+') AS BIGINT))")
"""The condition that a number is the first one in the name of a document's file, else folder, or in its title."""
_SAME_SIGNS = {"over": "after", "under": "before", "over age": "before", "under age": "after"}
"""What signs of numbers mean of dates, alone ("over") or as a measure of age: "older than" is "over age"."""


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
        otherwise: the condition in another sense of the words, which must have the same answer; "" if there is none.
        each: the conditions of two that it joins, where a question asks which has more.
    """

    column: str
    sql: str
    text: str
    first: int
    last: int
    values: tuple[str, ...] = ()
    is_negative: bool = False
    otherwise: str = ""
    each: tuple["Condition", ...] = ()


class Expression(NamedTuple):
    """A value of a row or of a group of rows, in SQL and in words."""

    sql: str
    words: str


def size(column: ColumnInfo) -> Expression:
    """Return the number that a column holds: of a list, how many members it has."""
    name = quoted(column.name)
    return Expression(f"len({name})", f"number of {column.title}") if column.kind == "list" else Expression(
        name, column.title)


class MeasureReader:
    """Reads conditions on numbers and dates, and marks what says them as used."""

    def __init__(self, parts: AskedParts) -> None:
        self._parts = parts

    def _condition(self, column: ColumnInfo, sql: str, text: str, *said: Mention | None, otherwise: str = "",
                   values: Sequence[str] = ()) -> Condition:
        """Return the condition that some mentions (`said`) state; use them, and a "not" before them that negates it."""
        mentions = sorted((mention for mention in said if mention is not None), key=lambda mention: mention.first)
        self._parts.use(*mentions)
        negation = next((one for one in self._parts.before(mentions[0]) if one in self._parts.unused("not")), None)
        if negation is not None and any(one.kind not in {*SKIPPED, "column", "unit"}
                                        for one in self._parts.between(negation, mentions[0])):
            negation = None  # it belongs to the words between
        if negation is not None:
            self._parts.use(negation)
            sql = f"NOT ({sql})"
            text = text.replace(" is ", " is not ", 1) if " is " in text else f"not {text}"
            otherwise = f"NOT ({otherwise})" if otherwise else ""
            # A document without a field does not have a value of it; of a bird without a sex, nobody knows.
            if values and (column.kind == "list" or self._parts.are_documents):
                is_empty = f"{quoted(column.name)} IS NULL"
                sql, otherwise = f"{is_empty} OR {sql}", f"{is_empty} OR {otherwise}" if otherwise else ""
        sql = f"({sql})" if " OR " in sql else sql  # conditions are joined by AND
        otherwise = f"({otherwise})" if " OR " in otherwise else otherwise
        return Condition(column.name, sql, text, mentions[0].first, mentions[-1].last, tuple(values),
                         is_negative=negation is not None, otherwise=otherwise)

    def _beside(self, first: Mention, last: Mention, *kinds: str) -> tuple[Mention | None, Mention | None]:
        """Return the mentions of columns, or of other kinds, before and behind some words."""
        return self._parts.preceding(first, "column", *kinds), self._parts.following(last, "column", *kinds)

    def _absorb(self, name: str, first: Mention, last: Mention) -> None:
        """Use the mention of a column beside its value: "Dream island", "status Final"."""
        self._parts.use(*(beside for beside in self._beside(first, last) if beside is not None
                          and name in (*beside.columns, *beside.also)))

    # Numbers.

    def _numbers(self) -> list[Condition]:
        """Read numbers with a comparison ("more than 5 kg") or beside a column ("4 cylinders")."""
        conditions = []
        for number in self._parts.unused("number"):
            unit = self._parts.directly_behind(number)
            if unit is not None and unit.kind == "unit" and " " not in number.name:  # "two hours", as "2 hours"
                self._parts.use(unit)
                number = replace(number, name=f"{number.name} {unit.name}")  # noqa: PLW2901
            sign = self._parts.preceding(number, *_SIGNS, gap=1)
            found = self._compared(sign, number) if sign else self._beside_number(number)
            if found is None:
                continue
            named, column = found
            self._absorb(column.name, sign or number, number)
            if sign is None:
                only_word, comparison = self._parts.preceding(number, "only", gap=0), f"= {number.name}"
            else:
                self._parts.check_comparable(column)
                only_word, comparison = None, f"{_SIGNS[sign.kind]} {figure_in(column, number)}"
            if column.name == "document":
                conditions.append(self._condition(column, _NUMBERED.format(number.name), f"the number is {number.name}",
                                                  number, named, values=(number.name,)))
                continue
            otherwise = ""
            if column.kind == "list" and all(" " in member for member, _ in column.frequent):
                # The members are people: "Ada Blum, Independent" has one, so what is no name must not matter.
                names = f"[name FOR name IN {quoted(column.name)} IF regexp_matches(name, '^\\p{{Lu}}.* ')]"
                otherwise = f"len({names}) {comparison}"
            value = size(column)
            conditions.append(self._condition(column, f"{value.sql} {comparison}", f"{value.words} {comparison}",
                                              number, sign, only_word, named, otherwise=otherwise))
        return conditions

    def _compared(self, sign: Mention, number: Mention) -> tuple[Mention | None, ColumnInfo]:
        """Return the column that a number is compared with, by a word for a measure, by name, or by its unit."""
        before, after = self._beside(sign, number, "measure")
        unit = number.name.partition(" ")[2]
        # "longer than" names a measure itself; others stand beside: "a mass of more than".
        measure = next((one for one in (sign, before, after) if one is not None and one.name and (
            one.kind in _SIGNS or one.kind == "measure")), None)
        if measure is not None:
            fitting = columns_of_measure(self._parts.table, measure.name)
            # Of a distance and a running time, the unit tells which is longer than 150 minutes.
            of_unit = [column for column in fitting if convert(1, unit, column_unit(column)) is not None]
            return measure, only(of_unit or fitting, sign)
        # In this order: "more than two authors", "a price above 5", "more than 5 cylinders", "authors: at least two".
        named = self._first_named((after, "list"), (before, "number"), (after, "number"), (before, "list"))
        return named or (None, only(columns_in_unit(self._parts.table, unit), sign))

    def _beside_number(self, number: Mention) -> tuple[Mention, ColumnInfo] | None:
        """Return the column that a number is a value of: what rows are called by ("RFC 31"), or one named beside it."""
        after = self._parts.following(number, "column", gap=0)
        before = self._parts.preceding(number, "column", gap=1)
        head = before if before is not None and before.is_head else self._parts.preceding(
            number, "head", "documents", gap=0)
        # In "RFCs 4 authors wrote", the plural is not the name of one row.
        if head is not None and not head.words.endswith("s"):
            if self._parts.numbering:
                return head, self._parts.numbering[0]
            if self._parts.are_documents and number.name.isdecimal():
                return head, self._parts.columns["document"]
        # Without a comparison, a number with a unit says too little, and "the two tallest towers" are no value.
        if " " in number.name or self._parts.has(*DEGREES):
            return None
        return self._first_named((after, "number"), (before, "number"), (after, "list"))

    def _first_named(self, *candidates: tuple[Mention | None, AskedKind]) -> tuple[Mention, ColumnInfo] | None:
        """Return the first mention that may mean a column of its kind, with that; None if there is none."""
        return next(((mention, self._parts.column_of(mention, kind)) for mention, kind in candidates
                     if mention is not None and self._parts.may_be(mention, kind)), None)

    # Dates.

    def _dates(self) -> list[Condition]:
        """Read dates, each alone or several that words join: "in 2019", "from March to May", "2018, 2019 and 2021"."""
        groups: list[list[Mention]] = []
        for said in self._parts.unused("date"):
            if groups and self._are_joined(groups[-1][-1], said):
                groups[-1].append(said)
            else:
                groups.append([said])
        return [self._dated(dates) for dates in groups]

    def _are_joined(self, last: Mention, following: Mention) -> bool:
        """Return True for dates side by side, or with a word such as "to" or "and" between them."""
        if not (between := self._parts.between(last, following)):
            return True
        kinds = {"through", "or", "than"} if self._parts.has("more") else {"through", "or"}
        is_link = between[0].kind in kinds or between[0].words in _LINKS
        return is_link and all(one.kind in SKIPPED for one in between[1:])

    def _dated(self, dates: Sequence[Mention]) -> Condition:
        """Return the condition of one date, of the range between two of them, or of any of several."""
        first, last = dates[0], dates[-1]
        links = [one for one in self._parts.between(first, last) if one not in dates]
        link = links[0] if links else None
        column, sign = self._date_column(first, last), self._date_sign(first, last)
        low, high, kind = first.name, last.name, sign.kind if sign is not None else ""
        if len(dates) > 1:
            is_range = link is not None and (
                link.kind == "through" or link.words == "to" or kind in {"between", "since"})
            if (kind and not is_range) or (is_range and len(dates) > 2):  # noqa: PLR2004 - a range has two ends
                raise UnclearError(first)  # "after 2019 or 2020"
            word, periods = "", [(low, high)] if is_range else [(one.name, one.name) for one in dates]
            text = f"{column.title} is {(' to ' if is_range else ' or ').join(one.name for one in dates)}"
        else:
            # "older than 2019" is before it.
            word = _SAME_SIGNS.get(f"{kind} {sign.name}".strip(), kind) if sign is not None else ""
            periods, text = [(low, low)], f"{column.title} is {word or 'in'} {low}"
        may_include_period = sign is not None and sign.words in {"以 后", "以 前"}  # after or since, before or until
        if word not in _DATE_SQL or may_include_period:  # "between 2019", "longer than 2019"
            raise UnclearError(first)
        if word:
            self._parts.check_comparable(column)
        bounds = [(_bounds(column, start)[0], _bounds(column, end)[1]) for start, end in periods]

        def compare(first_day: str, last_day: str) -> str:
            return " OR ".join(_DATE_SQL[word].format(first_day, last_day, *bound) for bound in bounds)

        # "May" may be each day from a first to a last: the condition holds for all of these, its other sense for one.
        first_day, last_day = quoted(column.name), quoted(column.last or column.name)
        self._parts.use(*(one for one in self._parts.unused("year") if one.last == first.first
                          and not one.words.endswith("s")))  # "the year 2019"
        condition = self._condition(column, compare(first_day, last_day), text, *dates, *links, sign,
                                    values=tuple(one.name for one in dates), otherwise=compare(last_day, first_day))
        if column.last and condition.is_negative:
            raise UnclearError(column.name)  # a date that says too little is neither in a period nor outside
        is_compared = len(dates) > 1 and not word and self._parts.has("more")
        return replace(condition, each=tuple(self._dated([one]) for one in dates)) if is_compared else condition

    def _date_sign(self, first: Mention, last: Mention) -> Mention | None:
        """Return the word such as "after" before dates; in Chinese also behind them: 2019年之后."""
        behind = self._parts.directly_behind(last)
        is_sign = behind is not None and behind.kind in {"after", "before"}
        return self._parts.preceding(first, *_DATE_SIGNS, gap=2) or (behind if is_sign else None)

    def _date_column(self, first: Mention, last: Mention) -> ColumnInfo:
        """Return the column of dates or years that a question names, and use that name; else the table's only one."""
        in_years = [one for one in self._parts.unused("column") if self._parts.may_be(one, "year")]
        if in_years:  # "published in 2004" where documents have a publication year
            self._parts.use(*in_years)
            return self._parts.column_of(in_years[0], "year")
        named = [one for one in self._parts.mentions if self._parts.may_be(one, "date")]
        if named:
            nearest = min(named, key=lambda one: min(abs(one.last - first.first), abs(one.first - last.last)))
            self._parts.use(nearest)
            return self._parts.column_of(nearest, "date")
        dates = self._parts.dates()
        if dates:
            if self._is_of_other_event(first) and not self._parts.has("made"):
                raise UnclearError(first)
            return only(dates, first)
        years = only(self._parts.columns_of("year"), first)
        self._absorb(years.name, first, last)
        return years

    def _is_of_other_event(self, first: Mention) -> bool:
        """Return True if a date says when something happened that the dates of documents may not tell."""
        # This is so behind a status ("rejected in 2019"), and behind what others than authors do ("reviewed in 2019").
        said = [word.folded for word in self._parts.reading.words[:first.first]][-2:]
        if said in (["is", "from"], ["are", "from"], ["was", "from"], ["were", "from"]):
            return False  # "those that Ada reviewed are from 2019"
        before = [mention for mention in self._parts.before(first)
                  if mention.kind not in {"neutral", "year", *_DATE_SIGNS}][:1]
        return any(one.kind == "value" or (one.kind == "column" and one.words.endswith("ed")
                                           and not self._parts.may_be(one, "author")) for one in before)


def _bounds(column: ColumnInfo, period: str) -> tuple[str, str]:
    """Return the first day of a year, decade (201X), month or day and the day after it; of a column of years, years."""
    year, *rest = (int(part) for part in period.replace("X", "0").split("-"))
    if not year or (column.kind == "number" and not period.isdigit()):
        raise UnclearError(period)  # "in May" of no year, or a day of a column of years
    years = 10 ** period.count("X")
    if column.kind == "number":
        return str(year), str(year + years)
    month, day = (*rest, 1, 1)[:2]
    first = date(year, month, day)
    if len(rest) > 1:
        after = first + timedelta(1)
    else:
        after = date(year + month // 12, month % 12 + 1, 1) if rest else date(year + years, 1, 1)
    return f"DATE '{first}'", f"DATE '{after}'"
