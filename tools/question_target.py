"""What a question asks of the rows of a table: the parts that counts, extremes and lookups share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ..schemas.records import ColumnInfo
from ..text.scripts import is_han
from .asked_parts import AskedParts, UnclearError, is_date, is_number, quoted
from .question_conditions import Condition
from .question_parts import keys_of, lexicon, normal_unit
from .table_mentions import Mention

AGGREGATES = {"sum": "sum", "mean": "avg", "median": "median"}
AGGREGATE_WORDS = {"sum": "total", "mean": "average", "median": "median"}
DEGREES = {"max": "DESC", "latest": "DESC", "min": "ASC", "earliest": "ASC"}
OF_EACH = frozenset({"each", "of each", "for each"})
PERIODS = ("year", "month", "decade")
_LEAST_DISTINCT = 1 / 2
"""The share of different values from which a column of texts names rows."""
_NEARLY_ALL = 0.9
_NAMING = frozenset({("name",), ("titl",)})
_INSIDE_NOUNS = frozenset({"all", "listed", "的", "个"})
_LEADS = _INSIDE_NOUNS | {"of", "the", "our", "these", "those", "der", "die", "das"}
_NOUNS = frozenset({"head", "row_nouns", "people", "documents", "value", "column", "title", "day", "month"})


@dataclass(frozen=True)
class Plan:
    """A query, and how the question was understood.

    Attributes:
        sql: the query.
        understood: what it computes, in words.
        shown: how many of its rows answer; 0 for all. The query has one more, which shows whether the last one is tied.
        must_be_single: whether only a single row answers.
        percent: whether its value is a share of a hundred.
        labels: the words of the question for codes of a column.
    """

    sql: str
    understood: str
    shown: int = 0
    must_be_single: bool = False
    percent: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)


class Target:
    """The mentions and conditions of a question in a table, and what is found from them."""

    def __init__(self, parts: AskedParts, conditions: Sequence[Condition]) -> None:
        self._parts, self._conditions, self._table = parts, conditions, parts.table

    def _select(self, what: str, *, conditions: Sequence[Condition] | None = None, extra: Iterable[str] = (),
                rest: str = "") -> str:
        wanted = [condition.sql for condition in (self._conditions if conditions is None else conditions)] + [*extra]
        where = f" WHERE {' AND '.join(wanted)}" if wanted else ""
        return f"SELECT {what} FROM {quoted(self._table.name)}{where}{rest}"  # noqa: S608 - all parts are quoted

    def _select_members(self, expression: str, what: str) -> str:
        """Return a SELECT over the members of a list, which are called member."""
        members = self._select(f"{expression} AS member, *")
        return f"SELECT {what} FROM ({members}) AS members"  # noqa: S608 - all parts are quoted

    def _select_groups(self, expression: str, words: str, value: str, label: str) -> str:
        """Return a SELECT of groups and a value of each, without GROUP BY."""
        if expression.startswith("unnest("):
            return self._select_members(expression, f"member AS {quoted(words)}, {value} AS {quoted(label)}")
        return self._select(f"{expression} AS {quoted(words)}, {value} AS {quoted(label)}")

    def _of_rows(self, conditions: Sequence[Condition] | None = None) -> str:
        """Return " where species is Porites and year is 2013", empty without conditions."""
        texts = [condition.text for condition in (self._conditions if conditions is None else conditions)]
        return f" where {' and '.join(texts)}" if texts else ""

    def _take(self, *kinds: str) -> Mention | None:
        """Return the first unused mention of some kinds, and use all of the same kind."""
        found = self._parts.unused(*kinds)
        if not found:
            return None
        self._parts.use(*(mention for mention in found if mention.kind == found[0].kind))
        return found[0]

    def _number_column(self) -> ColumnInfo | None:
        """Return the column of numbers that the question names or measures, and use its mentions; None without one."""
        mentions = [mention for mention in self._parts.unused("column")
                    if any(is_number(self._parts.columns[name]) for name in mention.columns)
                    and self._parts.preceding(mention, "group", gap=1) is None]
        measure = next(iter(self._parts.unused("measure")), None)
        if len(mentions) > 1 or measure is not None or self._parts.unused("unit"):
            mentions = [mention for mention in mentions if not mention.is_head]
        mentions = [mention for mention in mentions if not mention.is_head or self._is_exact(mention)]
        columns = {column.name: column for mention in mentions
                   if (column := self._parts.column_of(mention, is_number))}
        if measure is not None:
            measured = {column.name: column for column in self._parts.measured(measure.name)}
            columns = {name: column for name, column in columns.items() if name in measured} if columns else measured
        if not columns and measure is None:
            return self._column_of_unit()
        if len(columns) != 1:
            raise UnclearError(measure or mentions[0])
        self._parts.use(*mentions, *self._parts.unused("measure"))
        (column,) = columns.values()
        self._check_units(column)
        return column

    def _is_exact(self, mention: Mention) -> bool:
        """Return True if a column is written as its title, and not only with the same stems: sales, but not flights."""
        return self._parts.words(mention) in {text.casefold() for name in mention.columns
                                        for text in (name, self._parts.columns[name].title)}

    def _column_of_unit(self) -> ColumnInfo | None:
        unit = next(iter(self._parts.unused("unit")), None)
        if unit is None:
            return None
        names = [name for name, units in lexicon().units.items() if unit.name in units]
        columns = {column.name: column for name in names for column in self._parts.measured(name)}
        if len(columns) != 1:
            return None
        (column,) = columns.values()
        self._check_units(column)
        return column

    def _check_units(self, column: ColumnInfo) -> None:
        """Use the unit that a question asks for if it is the column's.

        Raises:
            UnclearError: if the column has another unit, or numbers of several units.
        """
        if column.units:
            raise UnclearError(column.name)
        for unit in self._parts.unused("unit"):
            if column.unit and normal_unit(unit.name) != normal_unit(column.unit):
                raise UnclearError(unit)
            self._parts.use(unit)

    def _group(self) -> tuple[str, str] | None:
        """Return the expression and the words of what the rows are grouped by; None if they are not."""
        for mention in self._parts.unused("group"):
            column = self._parts.following(mention, "column", gap=2)
            place = self._parts.following(mention, "where", gap=1)
            if place is not None:
                self._parts.use(mention, place)
                return self._grouping(self._only(is_place))
            period = self._parts.following(mention, *PERIODS, gap=2)
            if column is not None:
                self._parts.use(mention, column)
                return self._grouping(self._parts.column_of(column))
            if period is not None:
                self._parts.use(mention, period)
                return self._period_of(period.kind)
            words = [word.text for word in self._parts.reading.words[mention.first:mention.last]]
            if words == ["by"]:
                self._parts.use(mention)
        return None

    def _only(self, fits: Callable[[ColumnInfo], bool]) -> ColumnInfo:
        found = [column for column in self._table.columns if fits(column)]
        if len(found) != 1:
            raise UnclearError(self._table.name)
        return found[0]

    def _grouping(self, column: ColumnInfo) -> tuple[str, str]:
        name = quoted(column.name)
        if is_date(column):
            periods = self._parts.unused(*PERIODS)
            return self._period_of(periods[0].kind, column) if periods else (name, column.title)
        return (f"unnest({name})" if column.kind == "list" else name), column.title

    def _period_of(self, period: str, column: ColumnInfo | None = None) -> tuple[str, str]:
        """Return the expression of a period of the column of dates that the question names, or of the only one."""
        self._parts.use(*self._parts.unused(period))
        named = [mention for mention in self._parts.unused("column")
                 if any(is_date(self._parts.columns[name]) for name in mention.columns)]
        dates = [column] if column else [self._parts.column_of(mention, is_date) for mention in named] or [
            other for other in self._table.columns if is_date(other)]
        if len(dates) != 1:
            raise UnclearError(period)
        self._parts.use(*named)
        name = quoted(dates[0].name)
        expression = {"year": f"year({name})", "month": f"strftime({name}, '%Y-%m')",
                      "decade": f"year({name}) // 10 * 10"}[period]
        return expression, f"{period} of {dates[0].title}"

    def _rows_are_counted(self) -> bool:
        """Return True if the noun that is counted is what the table's rows are, or a value of theirs, or none."""
        noun, kind = self._counted_noun()
        if kind == "row_nouns":
            return True
        is_named = noun is not None and noun.kind == "column" and noun.is_head
        if self._is_series() or (self._holds_counts() and not is_named):
            return False
        if kind == "people":
            return any(keys_of(column.title) in lexicon().columns["person_columns"] for column in self._table.columns)
        if kind == "documents":
            return self._table.kind == "documents"
        return kind == "head" or (kind == "value" and (noun is None or not self._names_one_row(noun)))

    def _counted_noun(self) -> tuple[Mention | None, str]:
        """Return the noun that is counted, and what it is: "value" also if values before "how many" say what."""
        counts = [mention for mention in self._parts.mentions if mention.kind == "count"]
        if counts:
            noun = self._noun_after(counts[0])
        else:
            noun = next((mention for mention in self._parts.mentions if is_head(mention)), None)
        if noun is not None:
            return noun, "head" if noun.is_head else noun.kind
        is_said = not counts or any(condition.first < counts[0].first for condition in self._conditions)
        return None, "value" if is_said else ""

    def _holds_counts(self) -> bool:
        """Return True if a column such as "cases" counts: then the table's rows are not what people count."""
        return any(is_number(column) and keys_of(column.title) in lexicon().columns["count_columns"]
                   for column in self._table.columns)

    def _is_series(self) -> bool:
        """Return True for numbers by date alone."""
        texts = [column for column in self._table.columns if column.kind != "number" and column.name != "document"]
        return len(texts) == 1 and texts[0].kind == "date" and self._table.kind == "records"

    def _names_one_row(self, noun: Mention) -> bool:
        """Return True if a value's column tells the rows apart: "flights" as a title is one document, no flight."""
        return any(self._parts.columns[name].distinct >= _NEARLY_ALL * self._table.rows for name in noun.columns)

    def _noun_after(self, mention: Mention) -> Mention | None:
        """Return the last noun of the words behind "how many", up to a word between phrases; None if there is none."""
        noun = None
        for other in self._parts.mentions:
            if other.first < mention.last:
                continue
            text = self._parts.words(other)
            if other.kind in _NOUNS:
                noun = other
            elif other.kind == "neutral" and text in (_INSIDE_NOUNS if noun is not None else _LEADS):
                continue
            elif other.kind != "distinct":
                break
        return noun

    def _has_number_column(self) -> bool:
        return any(is_number(self._parts.columns[name]) for mention in self._parts.unused("column")
                   for name in mention.columns if not mention.is_head)

    def _groups(self, expression: str, words: str, value: str, label: str) -> Plan:
        return Plan(f"{self._select_groups(expression, words, value, label)} GROUP BY 1 ORDER BY 1",
                    f"{label} for each {words}{self._of_rows()}")

    def _naming_columns(self) -> list[ColumnInfo]:
        """Return the column whose texts tell rows apart.

        Raises:
            UnclearError: if the table has none.
        """
        heads = [self._parts.column_of(mention) for mention in self._parts.mentions if mention.is_head]
        if self._table.kind == "documents":
            named = [column for column in self._table.columns if column.name in {"document", "title"}]
            return [*heads[:1], named[-1]] if heads else named
        if heads:
            return heads[:1]
        texts = [column for column in self._table.columns if column.kind == "text" and column.name != "document"]
        named = [column for column in texts if keys_of(column.title)[-1:] in _NAMING]
        telling = [column for column in texts if column.distinct >= _LEAST_DISTINCT * self._table.rows]
        if not (named or telling):
            raise UnclearError(self._table.name)
        return (named or telling)[:1]

    def _asks(self, mention: Mention) -> bool:
        """Return True if "which" or "what" stands before a mention, with no more than a number or a degree between."""
        if is_han(self._parts.reading.words[mention.first].text[0]):
            return any(word.text in "哪谁" for word in self._parts.reading.words)
        before = self._parts.reading.words[max(mention.first - 3, 0):mention.first]
        asked = {"which", "what", "list", "show", "name", "welch", "welcher", "welches", "welche", "哪", "find"}
        return any(word.text.casefold() in asked for word in before)

    def _is_superlative(self, mention: Mention) -> bool:
        """Return True if a degree stands right before what the rows are called: the deepest lake, not lake area."""
        before = any(other.last == mention.first and other.kind in DEGREES for other in self._parts.mentions)
        after = any(other.first == mention.last and other.kind == "column" for other in self._parts.mentions)
        return before and not after

    def _asks_which_one(self) -> bool:
        """Return True for "which one", "which of them"."""
        words = [word.text.casefold() for word in self._parts.reading.words]
        return any(word == "which" and following in {"one", "ones", "of"}
                   for word, following in pairwise(words))


def is_head(mention: Mention) -> bool:
    """Return True for words that are what the table's rows are called."""
    return mention.is_head or mention.kind in {"head", "documents"}


def is_place(column: ColumnInfo) -> bool:
    """Return True for a column that says where something is or comes from."""
    return keys_of(column.title) in lexicon().columns["place_columns"]
