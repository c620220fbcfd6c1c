"""The query that a question asks of one table: what is computed of which column, of which rows, in which groups."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..schemas.records import ColumnInfo
from ..text.scripts import is_han
from .question_conditions import (
    AskedParts,
    Condition,
    ConditionReader,
    UnclearError,
    is_date,
    is_number,
    quoted,
)
from .question_parts import keys_of, lexicon, normal_unit
from .table_mentions import Mention, Reading

_AGGREGATES = {"sum": "sum", "mean": "avg", "median": "median"}
_AGGREGATE_WORDS = {"sum": "total", "mean": "average", "median": "median"}
_DEGREES = {"max": "DESC", "latest": "DESC", "min": "ASC", "earliest": "ASC"}
_PERIODS = ("year", "month", "decade")
_LEAST_DISTINCT = 1 / 2
"""The share of different values from which a column of texts names rows."""
_NAMING = frozenset({("name",), ("titl",)})


@dataclass(frozen=True)
class Plan:
    """A query, how the question was understood, and whether a single row or several answer it.

    `column` is the place of the value in a row that answers, and `unit` its unit.
    """

    sql: str
    understood: str
    column: int = 0
    is_list: bool = False
    must_be_single: bool = False
    percent: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)


def plan_query(reading: Reading) -> Plan:
    """Return the query that a reading asks for.

    Raises:
        UnclearError: if it could ask for several things, or something of it is not accounted for.
    """
    parts = AskedParts(reading)
    conditions = ConditionReader(parts).read()
    plan = _Planner(parts, conditions).plan()
    parts.use(*(mention for mention in parts.unused("column") if mention.is_head))
    if left := parts.unused():
        raise UnclearError(left[0])
    return plan


class _Planner:
    """Finds what a question asks of the rows that meet its conditions."""

    def __init__(self, parts: AskedParts, conditions: Sequence[Condition]) -> None:
        self._parts, self._conditions, self._table = parts, conditions, parts.table

    def plan(self) -> Plan:
        for attempt in (self._share, self._ratio, self._comparison, self._aggregate, self._extreme_group, self._extreme,
                        self._count, self._lookup):
            if (plan := attempt()) is not None:
                return plan
        raise UnclearError(self._table.name)

    # Text of SQL.

    def _select(self, what: str, *, conditions: Sequence[Condition] | None = None, extra: Iterable[str] = (),
                rest: str = "") -> str:
        wanted = [condition.sql for condition in (self._conditions if conditions is None else conditions)] + [*extra]
        where = f" WHERE {' AND '.join(wanted)}" if wanted else ""
        return f"SELECT {what} FROM {quoted(self._table.name)}{where}{rest}"

    def _of_rows(self, conditions: Sequence[Condition] | None = None) -> str:
        """Return " where species is Porites and year is 2013", empty without conditions."""
        texts = [condition.text for condition in (self._conditions if conditions is None else conditions)]
        return f" where {' and '.join(texts)}" if texts else ""

    # What mentions mean.

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
                return self._grouping(self._only(_is_place))
            period = self._parts.following(mention, *_PERIODS, gap=2)
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
            periods = self._parts.unused(*_PERIODS)
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
        counts = [mention for mention in self._parts.mentions if mention.kind == "count"]
        labels = [keys for column in self._table.columns if is_number(column) for keys in (keys_of(column.title),)]
        noun = next((self._noun_after(mention) for mention in counts), None)
        has_noun_before = any(condition.first < mention.first for condition in self._conditions for mention in counts[:1])
        nouns = ("head" if noun.is_head else noun.kind) if noun is not None else "value" if has_noun_before or not counts else ""
        if nouns == "row_nouns":
            return True
        # A column such as "cases" counts, so the table's rows are not what people count.
        if not counts:
            noun = next((mention for mention in self._parts.mentions if _is_head(mention)), None)
        is_named = noun is not None and noun.kind == "column" and noun.is_head
        if any(keys in lexicon().columns["count_columns"] for keys in labels) and not is_named:
            return False
        texts = [column for column in self._table.columns if column.kind != "number" and column.name != "document"]
        is_series = len(texts) == 1 and texts[0].kind == "date" and self._table.kind == "records"
        if is_series:
            return False
        if nouns == "people":
            return any(keys_of(column.title) in lexicon().columns["person_columns"] for column in self._table.columns)
        if nouns == "documents":
            return self._table.kind == "documents"
        return nouns in {"head", "value"}

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

    # What is asked.

    def _share(self) -> Plan | None:
        if self._take("share") is None:
            return None
        share = next(mention for mention in self._parts.mentions if mention.kind == "share")
        wanted = [condition for condition in self._conditions if not self._is_in_subject(condition, share)]
        whole = [condition for condition in self._conditions if condition not in wanted]
        if not wanted:
            wanted, whole = whole, []
        self._parts.use(*(mention for mention in self._parts.unused("column") if mention.is_head))
        if not wanted or self._parts.unused("column", "count", *_AGGREGATES) or not self._subject_is_rows(share):
            raise UnclearError(share)
        self._parts.use(*self._parts.unused("group") if not self._parts.unused("column") else ())
        inner = " AND ".join(condition.sql for condition in wanted)
        sql = self._select(f"100.0 * count(*) FILTER (WHERE {inner}) / count(*) AS percent", conditions=whole)
        return Plan(sql, f"share of {self._table.title}{self._of_rows(whole)} {self._of_rows(wanted).strip()}",
                    percent=True)

    def _subject_is_rows(self, share: Mention) -> bool:
        following = [other for other in self._parts.mentions if other.first >= share.last]
        kinds = {other.kind for other in following}
        return bool(kinds & {"head", "row_nouns", "people", "documents", "value"})

    def _is_in_subject(self, condition: Condition, share: Mention) -> bool:
        """Return True if a condition stands before the verb of "what share of the female birds are ringed"."""
        verbs = [mention for mention in self._parts.mentions if mention.kind == "neutral" and self._parts.words(mention) in _VERBS
                 and mention.first > share.last]
        return bool(verbs) and condition.last <= verbs[0].first

    def _ratio(self) -> Plan | None:
        """Read "how many deaths from disease for each death from wounds" as the ratio of the sums of two columns."""
        counts, groups = self._parts.unused("count"), self._parts.unused("group")
        numbers = [mention for mention in self._parts.unused("column") if not mention.is_head and any(
            is_number(self._parts.columns[name]) for name in mention.columns)]
        if not (counts and len(groups) == 1 and len(numbers) == 2):  # noqa: PLR2004 - of a ratio
            return None
        above, below = (self._parts.column_of(mention, is_number) for mention in numbers)
        if not counts[0].first < numbers[0].first < groups[0].first < numbers[1].first:
            return None
        self._parts.use(*counts, *groups, *numbers)
        label = f"total of {above.title} for each {below.title}"
        ratio = f"sum({quoted(above.name)}) * 1.0 / nullif(sum({quoted(below.name)}), 0)"
        return Plan(self._select(f"{ratio} AS {quoted(label)}"), f"{label}{self._of_rows()}")

    def _comparison(self) -> Plan | None:
        """Read "Which weighs more on average, A or B?" as groups in order."""
        compared = [condition for condition in self._conditions if len(condition.values) > 1 and not condition.is_negative]
        says_more, says_or = self._parts.unused("compare", "or_more"), any(
            mention.kind in {"or", "or_more"} for mention in self._parts.mentions)
        if not says_more or len(compared) != 1 or not says_or or any(
                self._parts.words(mention) in _LESS for mention in says_more):
            return None
        self._parts.use(*says_more)
        self._parts.use(*(mention for mention in self._parts.unused("group") if self._parts.words(mention) in _OF_EACH))
        column = self._parts.columns[compared[0].column]
        expression, words = (f"year({quoted(column.name)})", f"year of {column.title}") if is_date(column) else (
            self._grouping(column))
        self._take("who")
        measured = next((mention.name for mention in says_more if mention.name), "")
        value, text = self._grouped_value(measured)
        ranked = self._ranked_groups(expression, words, value, text, "DESC", 1, all_groups=True)
        return replace(ranked, column=0, labels=compared[0].words)

    def _grouped_value(self, measure: str = "") -> tuple[str, str]:
        """Return what is computed of each group, in SQL and in words."""
        operation = self._take(*_AGGREGATES)
        measured = self._parts.measured(measure) if measure else []
        column = measured[0] if len(measured) == 1 else self._number_column()
        if operation is not None and column is not None:
            return (f"{_AGGREGATES[operation.kind]}({quoted(column.name)})",
                    f"{_AGGREGATE_WORDS[operation.kind]} of {column.title}")
        if operation is not None or column is not None:
            raise UnclearError(self._table.name)
        self._take("count")
        if not self._rows_are_counted():
            raise UnclearError(self._table.name)
        return "count(*)", f"count of {self._table.title}"

    def _ranked_groups(self, expression: str, words: str, value: str, text: str, order: str, most: int, *,
                       all_groups: bool = False) -> Plan:
        shown = f"{expression} AS {quoted(words)}, {value} AS {quoted(text)}"
        inner = self._select(shown)
        unnested = expression.startswith("unnest(")
        if unnested:
            base = self._select(f"{expression} AS member, *")
            sql = f'SELECT member AS {quoted(words)}, {value} AS {quoted(text)} FROM ({base}) AS members GROUP BY member'
        else:
            sql = f"{inner} GROUP BY 1"
        sql += f" HAVING {value} IS NOT NULL AND {'member' if unnested else expression} IS NOT NULL"
        limit = "" if all_groups else f" LIMIT {most + 1}"
        sql += f" ORDER BY 2 {order}, 1{limit}"
        return Plan(sql, f"{words} with the {'highest' if order == 'DESC' else 'lowest'} {text}{self._of_rows()}",
                    column=most, is_list=True)

    def _aggregate(self) -> Plan | None:
        operations = self._parts.unused(*_AGGREGATES)
        if len({mention.kind for mention in operations}) != 1 or self._parts.unused("max", "min", "most", "fewest"):
            return None
        self._take("count")
        kind = operations[0].kind
        column = self._number_column()
        if column is None:
            return self._count_in_all(kind)
        self._parts.use(*operations)
        group = self._group()
        name = quoted(column.name)
        label = f"{_AGGREGATE_WORDS[kind]} of {column.title}"
        value = f"{_AGGREGATES[kind]}({name})"
        if group is None:
            return Plan(self._select(f"{value} AS {quoted(label)}"), f"{label}{self._of_rows()}")
        return self._groups(*group, value, label)

    def _count_in_all(self, kind: str) -> Plan | None:
        """Read "how many in total" as a count."""
        if kind != "sum" or not any(mention.kind == "count" for mention in self._parts.mentions):
            raise UnclearError(self._table.name)
        self._take("sum")
        return self._counted()

    def _groups(self, expression: str, words: str, value: str, label: str) -> Plan:
        if expression.startswith("unnest("):
            base = self._select(f"{expression} AS member, *")
            sql = f'SELECT member AS {quoted(words)}, {value} AS {quoted(label)} FROM ({base}) AS members'
        else:
            sql = self._select(f"{expression} AS {quoted(words)}, {value} AS {quoted(label)}")
        return Plan(f"{sql} GROUP BY 1 ORDER BY 1", f"{label} for each {words}{self._of_rows()}", is_list=True)

    def _limit(self) -> int:
        """Return how many of the first are asked for, and use the number that says so."""
        number = next(iter(self._parts.unused("number")), None)
        if number is None:
            return 1
        self._parts.use(number)
        if not number.name.isdecimal() or not 1 < int(number.name) <= 100:  # noqa: PLR2004 - more than people rank
            raise UnclearError(number)
        return int(number.name)

    def _extreme_group(self) -> Plan | None:
        """Read "Which author has the most proposals?" and "Which species has the highest average mass?"."""
        most = self._parts.unused("most", "fewest")
        operations = self._parts.unused(*_AGGREGATES)
        degrees = [mention for mention in self._parts.unused("max", "min") if operations or mention.name == "length"]
        groups = [mention for mention in self._parts.unused("column") if not mention.is_head and any(
            not is_number(self._parts.columns[name]) for name in mention.columns)]
        periods = self._parts.unused(*_PERIODS)
        if not (most or degrees) or len({*((g.columns) for g in groups)}) + bool(periods) == 0:
            return None
        if (longest := self._longest_list(groups)) is not None:
            return longest
        if not most and not operations:
            return None
        degree = self._take("most", "fewest", "max", "min")
        limit = self._limit()
        if periods:
            group = self._period_of(periods[0].kind)
        elif len({mention.columns for mention in groups}) == 1:
            self._parts.use(*groups)
            group = self._grouping(self._parts.column_of(groups[0]))
        else:
            raise UnclearError(self._table.name)
        self._take("who")
        value, text = self._grouped_value()
        order = "DESC" if degree is not None and degree.kind in {"most", "max"} else "ASC"
        return self._ranked_groups(*group, value, text, order, limit)

    def _longest_list(self, columns: Sequence[Mention]) -> Plan | None:
        """Read "Which book has the most authors?" as the row with the longest list."""
        degree = self._parts.unused("most", "fewest") or [
            mention for mention in self._parts.unused("max", "min") if mention.name == "length"]
        lists = [mention for mention in columns if not mention.is_head and self._parts.column_of(mention).kind == "list"]
        heads = [mention for mention in self._parts.mentions if _is_head(mention) and self._asks(mention)]
        if not (degree and lists and heads and heads[0].first < degree[0].first < lists[0].first):
            return None
        column = self._parts.column_of(lists[0])
        self._parts.use(*degree, *lists, *self._parts.unused("count"))
        what = ", ".join(quoted(one.name) for one in self._naming_columns())
        length, order = f"len({quoted(column.name)})", "max" if degree[0].kind in {"most", "max"} else "min"
        label = f"number of {column.title}"
        sql = self._select(f"{what}, {length} AS {quoted(label)}", extra=[f"{length} = ({self._select(f'{order}({length})')})"],
                           rest=" ORDER BY ALL")
        return Plan(sql, f"{self._table.title} with the {'highest' if order == 'max' else 'lowest'} {label}{self._of_rows()}",
                    is_list=True)

    def _extreme(self) -> Plan | None:
        degrees = self._parts.unused(*_DEGREES) or self._most_of_rows()
        if len(degrees) != 1:
            return None
        degree = degrees[0]
        order = {**_DEGREES, "most": "DESC", "fewest": "ASC"}[degree.kind]
        self._parts.use(degree)
        limit = self._limit()
        column, order = self._ranked_column(degree, order)
        self._parts.use(*self._parts.unused("when") if is_date(column) else ())
        shown = self._shown_columns()
        self._number_shown(column)
        if shown:
            return self._extreme_rows(column, order, shown, limit)
        if limit > 1:
            raise UnclearError(degree)
        word = {"max": "highest", "min": "lowest"}.get(degree.kind, degree.kind)
        function = "max" if order == "DESC" else "min"
        return Plan(self._select(f"{function}({quoted(column.name)}) AS {quoted(column.title)}"),
                    f"{word} {column.title}{self._of_rows()}")

    def _has_number_column(self) -> bool:
        return any(is_number(self._parts.columns[name]) for mention in self._parts.unused("column")
                   for name in mention.columns if not mention.is_head)

    def _most_of_rows(self) -> list[Mention]:
        """Return the degree of "which book has the most pages", where each row is a book."""
        heads = [mention for mention in self._parts.mentions if _is_head(mention) and self._asks(mention)]
        return self._parts.unused("most", "fewest") if heads and self._has_number_column() else []

    def _number_shown(self, column: ColumnInfo) -> None:
        """Use the words that ask for the ranked number as well: "and how many grams does it weigh?"."""
        measures = [mention for mention in self._parts.unused("measure") if column in self._parts.measured(mention.name)]
        self._parts.use(*measures)
        if measures or self._parts.unused("unit"):
            self._check_units(column)
            self._take("count")

    def _ranked_column(self, degree: Mention, order: str) -> tuple[ColumnInfo, str]:
        """Return the column by which rows are ranked, and the order."""
        if degree.name:
            columns = self._parts.measured(degree.name)
            if degree.name == "age" and not columns:
                columns, order = self._dates(), "ASC" if order == "DESC" else "DESC"
        elif degree.kind in {"latest", "earliest"}:
            columns = self._dates()
        else:
            column = self._number_column()
            columns = [column] if column is not None else []
        names = {column.name for column in columns}
        if len(names) != 1:
            raise UnclearError(degree)
        self._parts.use(*(mention for mention in self._parts.unused("column") if mention.columns == (columns[0].name,)))
        return columns[0], order

    def _dates(self) -> list[ColumnInfo]:
        """Return the columns of dates that the question names, or else all."""
        named = [self._parts.column_of(mention, is_date) for mention in self._parts.unused("column")
                 if any(is_date(self._parts.columns[name]) for name in mention.columns)]
        return named or [column for column in self._table.columns if is_date(column)]

    def _shown_columns(self) -> list[ColumnInfo]:
        """Return the columns that the question asks to see: those it names, else those that name a row it asks for."""
        mentions = [mention for mention in self._parts.unused("column") if not mention.is_head]
        self._parts.use(*mentions)
        named = [self._parts.column_of(mention) for mention in mentions]
        if named:
            return list({column.name: column for column in named}.values())
        asks_for_person = self._take("who") is not None
        asks_for_rows = any(_is_head(mention) and (self._asks(mention) or self._is_superlative(mention))
                            for mention in self._parts.mentions)
        asks_for_rows = asks_for_rows or self._asks_which_one() or asks_for_person
        return self._naming_columns() if asks_for_rows else []

    def _asks(self, mention: Mention) -> bool:
        """Return True if "which" or "what" stands before a mention, with no more than a number or a degree between."""
        if is_han(self._parts.reading.words[mention.first].text[0]):
            return any(word.text in "哪谁" for word in self._parts.reading.words)
        before = self._parts.reading.words[max(mention.first - 3, 0):mention.first]
        asked = {"which", "what", "list", "show", "name", "welch", "welcher", "welches", "welche", "哪", "find"}
        return any(word.text.casefold() in asked for word in before)

    def _is_superlative(self, mention: Mention) -> bool:
        """Return True if a degree stands right before what the rows are called: the deepest lake, not lake area."""
        before = any(other.last == mention.first and other.kind in _DEGREES for other in self._parts.mentions)
        after = any(other.first == mention.last and other.kind == "column" for other in self._parts.mentions)
        return before and not after

    def _asks_which_one(self) -> bool:
        """Return True for "which one", "which of them"."""
        words = [word.text.casefold() for word in self._parts.reading.words]
        return any(word == "which" and following in {"one", "ones", "of"}
                   for word, following in zip(words, words[1:], strict=False))

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

    def _extreme_rows(self, column: ColumnInfo, order: str, shown: Sequence[ColumnInfo], limit: int) -> Plan:
        """Return a query for the rows with an extreme value, with all that share the last one."""
        name, function = quoted(column.name), "max" if order == "DESC" else "min"
        listed = [*(other for other in shown if other.name != column.name), column]
        what = ", ".join(quoted(one.name) for one in listed)
        text = f"{', '.join(one.title for one in shown)} with the {'highest' if order == 'DESC' else 'lowest'} {column.title}"
        if limit == 1:
            best = self._select(f"{function}({name})")
            sql = self._select(what, extra=[f"{name} = ({best})"], rest=" ORDER BY ALL")
            return Plan(sql, f"{text}{self._of_rows()}", is_list=True)
        sql = self._select(what, extra=[f"{name} IS NOT NULL"], rest=f" ORDER BY {name} {order} LIMIT {limit + 1}")
        return Plan(sql, f"{text}{self._of_rows()}", column=limit, is_list=True)

    def _count(self) -> Plan | None:
        if not any(mention.kind == "count" for mention in self._parts.mentions) and not self._parts.unused("distinct"):
            return None
        return self._counted()

    def _counted(self) -> Plan:
        counts = [mention for mention in self._parts.mentions if mention.kind == "count"]
        noun = next((self._noun_after(mention) for mention in counts), None)
        self._take("count")
        is_distinct = self._take("distinct") is not None
        group = self._group()
        if noun is not None and noun.kind == "column" and not noun.is_head and noun in self._parts.unused("column"):
            column = self._parts.column_of(noun)
            self._parts.use(*(mention for mention in self._parts.unused("column") if column.name in mention.columns))
            return self._count_of(column, group, is_distinct=is_distinct)
        self._parts.use(*(mention for mention in self._parts.unused("column") if mention.is_head))
        if noun is None and self._has_number_column():
            return self._measured_count()
        if noun is not None and noun.kind in {"day", "month"} and group is None:
            return self._periods_counted(noun)
        if is_distinct or not self._rows_are_counted():
            return self._measured_count()
        label = f"count of {self._table.title}"
        if group is not None:
            return self._groups(*group, "count(*)", label)
        return Plan(self._select(f"count(*) AS {quoted(label)}"), f"{label}{self._of_rows()}")

    def _periods_counted(self, noun: Mention) -> Plan:
        """Return a query for how many different days or months the rows have."""
        column = self._only(is_date)
        self._parts.use(noun)
        name = quoted(column.name)
        what = f"strftime({name}, '%Y-%m')" if noun.kind == "month" else name
        label = f"number of different {noun.kind}s of {column.title}"
        return Plan(self._select(f"count(DISTINCT {what}) AS {quoted(label)}"), f"{label}{self._of_rows()}")

    def _measured_count(self) -> Plan:
        """Read "how many soldiers died of disease in all" as a sum of a column of numbers."""
        column = self._number_column()
        if column is None:
            raise UnclearError(self._table.name)
        return self._numbers_of(column)

    def _numbers_of(self, column: ColumnInfo) -> Plan:
        """Return a query for the sum of a column if the question says that all is added, else for its only number."""
        self._check_units(column)
        self._parts.use(*(mention for mention in self._parts.unused("column") if mention.is_head))
        name = quoted(column.name)
        if any(mention.kind in {"overall", "sum"} for mention in self._parts.mentions):
            label = f"total of {column.title}"
            self._take("sum")
            return Plan(self._select(f"sum({name}) AS {quoted(label)}"), f"{label}{self._of_rows()}")
        if not self._conditions:
            raise UnclearError(column.name)
        return Plan(self._select(name), f"{column.title}{self._of_rows()}", must_be_single=True)

    def _count_of(self, column: ColumnInfo, group: tuple[str, str] | None, *, is_distinct: bool) -> Plan:
        """Return a query for how many different values a column has; of a column of numbers, for its only number."""
        name = quoted(column.name)
        self._parts.use(*(mention for mention in self._parts.unused("column") if mention.is_head))
        if column.kind == "boolean" or (group is not None and (column.kind == "list" or is_number(column))):
            raise UnclearError(column.name)
        if is_number(column) and not is_distinct:
            return self._numbers_of(column)
        label = f"number of different {column.title}"
        if column.kind == "list":
            base = self._select(f"unnest({name}) AS member")
            return Plan(f"SELECT count(DISTINCT member) AS {quoted(label)} FROM ({base}) AS members",
                        f"{label}{self._of_rows()}")
        value = f"count(DISTINCT {name})"
        if group is not None:
            return self._groups(*group, value, label)
        return Plan(self._select(f"{value} AS {quoted(label)}"), f"{label}{self._of_rows()}")

    def _lookup(self) -> Plan | None:
        """Read a question for a cell or a list: "What is the status of EIP-1?", "Which proposals are Final?"."""
        if not self._conditions:
            return None
        is_time, is_place, is_person = (self._take(kind) is not None for kind in ("when", "where", "who"))
        columns = self._looked_up(is_time=is_time, is_place=is_place)
        has_head = any(_is_head(mention) and self._asks(mention) for mention in self._parts.mentions)
        is_list = has_head or (is_person and not columns)
        if not columns and not is_list:
            return None
        self._parts.use(*(mention for mention in self._parts.unused("group") if self._parts.words(mention) in _OF_EACH))
        listed = [*self._naming_columns(), *columns] if is_list else columns
        what = ", ".join(quoted(column.name) for column in listed)
        text = f"{', '.join(column.title for column in listed)}{self._of_rows()}"
        is_single = not is_list and (any(is_number(column) for column in listed) or len(listed) > 1)
        return Plan(self._select(f"DISTINCT {what}", rest=" ORDER BY ALL"), text, is_list=True,
                    must_be_single=is_single)

    def _looked_up(self, *, is_time: bool, is_place: bool) -> list[ColumnInfo]:
        mentions = [mention for mention in self._parts.unused("column") if not mention.is_head]
        number = self._number_column() if self._parts.unused("measure", "unit") or any(
            is_number(self._parts.columns[name]) for mention in mentions for name in mention.columns) else None
        mentions = [mention for mention in self._parts.unused("column") if not mention.is_head]
        self._parts.use(*mentions)
        columns = [self._parts.column_of(mention) for mention in mentions] + [column for column in (number,) if column]
        fitting = [is_date] * is_time + [_is_place] * is_place
        for fits in fitting:
            if not any(fits(column) for column in columns):
                columns.append(self._only(fits))
        return list({column.name: column for column in columns}.values())


def _is_head(mention: Mention) -> bool:
    return mention.is_head or mention.kind in {"head", "documents"}


def _is_place(column: ColumnInfo) -> bool:
    return keys_of(column.title) in lexicon().columns["place_columns"]


_VERBS = frozenset({"is", "are", "was", "were", "has", "have", "had", "fall", "falls", "ist", "sind", "war", "waren", "是"})
_INSIDE_NOUNS = frozenset({"all", "listed", "的", "个"})
_LEADS = _INSIDE_NOUNS | {"of", "the", "our", "these", "those", "der", "die", "das"}
_LESS = frozenset({"fewer", "less"})
_OF_EACH = frozenset({"each", "of each", "for each"})
_NOUNS = frozenset({"head", "row_nouns", "people", "documents", "value", "column", "title", "day", "month"})
