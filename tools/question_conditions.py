"""The conditions of a question on the rows of one table: values, numbers, dates, and what is missing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..schemas.records import ColumnInfo
from .asked_parts import SKIPPED, AskedParts, UnclearError, is_date, is_number, literal, quoted
from .question_dates import between, dated, in_period
from .question_parts import convert, keys_of, label_variants, lexicon
from .table_mentions import Mention

_SIGNS = {"over": ">", "under": "<", "least_bound": ">=", "most_bound": "<="}
_AFTER_NUMBER = {"or_more": ">=", "or_less": "<="}
_DATE_WORDS = {"": "in", "over": "after", "under": "before"}
_MOST_VALUES = 200


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
                      *self._numbers()]
        self._check_exclusive(conditions)
        return sorted(conditions, key=lambda condition: condition.first)

    def _check_exclusive(self, conditions: Sequence[Condition]) -> None:
        """Raise UnclearError if a cell would have to be two values: "how many are open, and how many are closed?"."""
        single = [condition.column for condition in conditions if condition.values and not condition.is_negative
                  and self._parts.columns[condition.column].kind != "list"]
        if len(set(single)) < len(single):
            raise UnclearError(self._parts.table.name)

    def _quotes(self) -> list[Condition]:
        """Read words in quotation marks as a part of the column beside them: the word "harbour" in the title."""
        conditions = []
        for mention in self._parts.unused("quoted"):
            after, before = self._parts.following(mention, "column"), self._parts.preceding(mention, "contains", gap=1)
            beside = after or (self._parts.preceding(before or mention, "column"))
            if beside is None:
                raise UnclearError(mention)
            column = self._parts.column_of(beside, lambda one: one.kind in {"text", "list"})
            self._parts.use(*filter(None, (mention, beside, before)))
            text = f"array_to_string({quoted(column.name)}, '; ')" if column.kind == "list" else quoted(column.name)
            conditions.append(Condition(column.name, f"contains(lower({text}), {literal(mention.name.lower())})",
                                        f"{column.title} contains “{mention.name}”", mention.first, mention.last))
        return conditions

    # Values.

    def _values(self) -> list[Condition]:
        groups: list[tuple[str, list[Mention]]] = []
        for mention in self._parts.unused("value"):
            column = self._value_column(mention)
            last = groups[-1][1][-1] if groups else None
            if last is not None and groups[-1][0] == column and not self._is_apart(last, mention):
                groups[-1][1].append(mention)
            else:
                groups.append((column, [mention]))
        return [self._value_condition(column, mentions) for column, mentions in groups]

    def _is_apart(self, last: Mention, mention: Mention) -> bool:
        between = [other for other in self._parts.mentions if last.last <= other.first < mention.first]
        return any(other.kind not in {"or", "or_more", "compare", *SKIPPED, "column"} for other in between)

    def _value_column(self, mention: Mention) -> str:
        if len(mention.columns) == 1:
            return mention.columns[0]
        beside = self._parts.preceding(mention, "column"), self._parts.following(mention, "column")
        named = [name for name in mention.columns if any(other and name in other.columns for other in beside)]
        if len(named) != 1:
            raise UnclearError(mention)
        return named[0]

    def _value_condition(self, name: str, mentions: Sequence[Mention]) -> Condition:
        values = self._joined_values(name, mentions)
        if len(values) > _MOST_VALUES:
            raise UnclearError(mentions[0])
        self._parts.use(*mentions)
        self._absorb(name, mentions[0], mentions[-1])
        self._parts.use(*(other for other in self._parts.unused("or")
                          if mentions[0].first < other.first < mentions[-1].last))
        is_negative = self._take_negation(mentions[0])
        column = self._parts.columns[name]
        return Condition(name, _one_of(column, values, is_negative=is_negative), _one_of_text(
            column, self._shown_values(name, mentions, values), is_negative=is_negative),
            mentions[0].first, mentions[-1].last, values, is_negative, self._words_for(name, mentions))

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

    def _shown_values(self, name: str, mentions: Sequence[Mention], values: Sequence[str]) -> Sequence[str]:
        """Return values for people: those themselves if they are few, else the words of the question."""
        words = self._parts.reading.words
        asked = [" ".join(word.text for word in words[mention.first:mention.last]) for mention in mentions]
        said = self._words_for(name, mentions)
        if set(said) == set(values):
            return [value if _is_like(value, word) else f"{value} ({word})" for value, word in said.items()]
        return values if len(values) <= 2 * len(asked) else [f"…{word}…" for word in asked]

    def _absorb(self, name: str, first: Mention, last: Mention) -> None:
        """Use the mention of a column beside its value: "Dream island", "status Final"."""
        for beside in (self._parts.preceding(first, "column"), self._parts.following(last, "column")):
            if beside is not None and name in beside.columns and not self._is_grouped(beside):
                self._parts.use(beside)

    def _is_grouped(self, mention: Mention) -> bool:
        return self._parts.preceding(mention, "group", gap=1) is not None

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
        for mention in self._parts.unused(*_SIGNS):
            number = self._parts.following(mention, "number", "date", gap=1)
            if number is not None:
                conditions.append(self._comparison(mention, number, _SIGNS[mention.kind]))
        for mention in self._parts.unused(*_AFTER_NUMBER):
            number = self._parts.preceding(mention, "number", "date", gap=0)
            if number is not None:
                conditions.append(self._comparison(mention, number, _AFTER_NUMBER[mention.kind]))
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
        return Condition(column.name, f"{quoted(column.name)} BETWEEN {lowest} AND {highest}",
                         f"{column.title} is from {low.name} to {high.name}", mention.first, high.last)

    def _comparison(self, mention: Mention, number: Mention, sign: str) -> Condition:
        column = self._compared_column(mention, number)
        figure = self._figure(number, column)
        self._parts.use(mention, number)
        self._absorb(column.name, mention, number)
        is_negative = self._take_negation(mention)
        sql = f"{quoted(column.name)} {sign} {figure}"
        return Condition(column.name, f"NOT ({sql})" if is_negative else sql,
                         f"{column.title} {'not ' * is_negative}{sign} {figure}", mention.first, number.last)

    def _compared_column(self, mention: Mention, number: Mention) -> ColumnInfo:
        """Return the column that a number is compared with: by the words around it, else by its unit."""
        beside = [self._parts.preceding(mention, "column", "measure"), self._parts.following(number, "column")]
        measures = [mention.name] if mention.name else [
            other.name for other in beside if other is not None and other.kind == "measure"]
        for name in measures:
            self._parts.use(*(other for other in beside if other is not None and other.kind == "measure"))
            return self._one(self._parts.measured(name), mention)
        for other in beside:
            if other is not None and any(is_number(self._parts.columns[name]) for name in other.columns):
                self._parts.use(other)
                return self._parts.column_of(other, is_number)
        unit = number.name.partition(" ")[2]
        names = [name for name, units in lexicon().units.items() if unit and unit in units]
        fitting = {column.name: column for name in names for column in self._parts.measured(name)}
        return self._one(list(fitting.values()), mention)

    @staticmethod
    def _one(columns: Sequence[ColumnInfo], mention: Mention) -> ColumnInfo:
        if len(columns) != 1:
            raise UnclearError(mention)
        return columns[0]

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
        """Read numbers beside a column: "4 cylinders"."""
        conditions = [self._noon(mention) for mention in self._parts.unused("noon")]
        for number in self._parts.unused("number"):
            beside = [other for other in (self._parts.following(number, "column", gap=0),
                                          self._parts.preceding(number, "column", gap=1))
                      if other is not None and any(is_number(self._parts.columns[name]) for name in other.columns)]
            if beside and not number.name.partition(" ")[2]:
                column = self._parts.column_of(beside[0], is_number)
                self._parts.use(number, beside[0])
                is_negative = self._take_negation(number)
                sign = "<>" if is_negative else "="
                conditions.append(Condition(column.name, f"{quoted(column.name)} {sign} {number.name}",
                                            f"{column.title} {sign} {number.name}", number.first, number.last))
        return conditions

    def _noon(self, mention: Mention) -> Condition:
        hours = [column for column in self._parts.table.columns
                 if is_number(column) and keys_of(column.title)[-1:] == keys_of("hour")]
        column = self._one(hours, mention)
        self._parts.use(mention)
        return Condition(column.name, f"{quoted(column.name)} = 12", f"{column.title} is 12", mention.first,
                         mention.last)

    # Dates.

    def _dates(self) -> list[Condition]:
        dates = self._parts.unused("date")
        conditions = list[Condition]()
        while dates:
            first = dates.pop(0)
            link = self._parts.link_after(first) if dates else None
            second = dates.pop(0) if link is not None and link.last == dates[0].first else None
            conditions.append(self._date_condition(first, link if second is not None else None, second))
        return conditions

    def _date_condition(self, first: Mention, link: Mention | None, second: Mention | None) -> Condition:
        column = self._date_column(first, second or first)
        sign = self._parts.preceding(first, "after", "before", "since", "until", "between", "over", "under", gap=1)
        kind = sign.kind if sign is not None else ""
        self._parts.use(*filter(None, (first, link, second, sign)))
        if link is not None and second is not None:
            is_range = link.kind == "through" or self._parts.words(link) == "to" or kind in {"between", "since"}
            sql = between(column, first.name, second.name) if is_range else (
                f"({in_period(column, first.name)} OR {in_period(column, second.name)})")
            text = f"{column.title} is {first.name} {'to' if is_range else 'or'} {second.name}"
            return Condition(column.name, sql, text, first.first, second.last, (first.name, second.name))
        is_negative = not kind and self._take_negation(first)
        sql = dated(column, first.name, kind)
        return Condition(column.name, f"NOT ({sql})" if is_negative else sql,
                         f"{column.title} is {'not ' * is_negative}{_DATE_WORDS.get(kind, kind)} {first.name}",
                         first.first, first.last, (first.name,))

    def _date_column(self, first: Mention, last: Mention) -> ColumnInfo:
        """Return the column of dates that a question names, the only one of the table, or a column of years."""
        named = [mention for mention in self._parts.mentions if mention.kind == "column"
                 and any(is_date(self._parts.columns[name]) for name in mention.columns)]
        dates = [column for column in self._parts.table.columns if is_date(column)]
        if named:
            nearest = min(named, key=lambda one: min(abs(one.last - first.first), abs(one.first - last.last)))
            column = self._parts.column_of(nearest, is_date)
            if self._parts.preceding(nearest, "group", gap=1) is None:
                self._parts.use(nearest)
            return column
        if not dates and re.fullmatch(r"\d{4}", first.name):
            return self._one([column for column in self._parts.table.columns
                              if is_number(column) and keys_of(column.title)[-1:] in {*label_variants("year")}], first)
        return self._one(dates, first)

    # What is there and what is not.

    def _presence(self) -> list[Condition]:
        conditions = []
        for mention in self._parts.unused("missing", "present"):
            after, before = self._parts.following(mention, "column"), self._parts.preceding(mention, "column")
            beside = after if self._says_none(mention) else before or after
            if beside is None:
                raise UnclearError(mention)
            column = self._parts.column_of(beside)
            if self._says_none(mention) and is_number(column) and self._parts.following(beside, "reading") is None:
                conditions.append(self._zero(mention, beside, column))
                continue
            is_missing = mention.kind == "missing"
            self._parts.use(mention, beside)
            conditions.append(Condition(
                column.name, f"{quoted(column.name)} IS {'NULL' if is_missing else 'NOT NULL'}",
                f"{column.title} is {'not ' * is_missing}given", min(mention.first, beside.first),
                max(mention.last, beside.last)))
        return conditions

    def _zero(self, mention: Mention, beside: Mention, column: ColumnInfo) -> Condition:
        """Read "no rain" as zero, unless cells are empty: then it could be these."""
        if column.empty or column.untyped:
            raise UnclearError(mention)
        self._parts.use(mention, beside)
        return Condition(column.name, f"{quoted(column.name)} = 0", f"{column.title} is 0", mention.first, beside.last)

    def _says_none(self, mention: Mention) -> bool:
        return self._parts.words(mention) in {"no", "without", "lack", "lacks", "lacking", "ohne", "没有", "缺少", "无"}


def _is_like(value: str, word: str) -> bool:
    return bool(set(keys_of(value)) & set(keys_of(word)))


def _one_of(column: ColumnInfo, values: Sequence[str], *, is_negative: bool) -> str:
    name, listed = quoted(column.name), ", ".join(map(literal, values))
    if column.kind == "list":
        has = " OR ".join(f"list_contains({name}, {literal(value)})" for value in values)
        return f"{'NOT ' * is_negative}({has})"
    if len(values) == 1:
        return f"{name} {'<>' if is_negative else '='} {listed}"
    return f"{name} {'NOT ' * is_negative}IN ({listed})"


def _one_of_text(column: ColumnInfo, values: Sequence[str], *, is_negative: bool) -> str:
    verb = "has" if column.kind == "list" else "is"
    return f"{column.title} {verb} {'not ' * is_negative}{' or '.join(values)}"
