"""What a question asks of the rows of a table: the columns and groups it means, as parts of a statement."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..graph_store.sql.logical_tables import quoted
from ..schemas.records import ColumnInfo
from .asked_parts import PERIODS, AskedParts
from .question_columns import UnclearError, column_unit, columns_in_unit, columns_of_measure, fits, only, written_column
from .question_measures import Condition, Expression
from .question_words import Mention, bare_name, keys_of, listed_words, normal_unit
from .value_mentions import NAMING_SHARE, PLAIN

AGGREGATES = {"sum": ("sum", "total"), "mean": ("avg", "average"), "median": ("median", "median")}
"""The function of SQL and the word for each kind of operation."""
_WITHOUT_ADDRESS = r"regexp_replace({}, '\s*(<[^<>]*>|\((@|[\w.-]+(@| at ))[^()]*\))$', '')"
"""What `bare_name` does, in SQL."""


BEST = {"DESC": "max", "ASC": "min"}  # the function of SQL for the best value in an order
BEST_WORD = {"number": {"DESC": "highest", "ASC": "lowest"}, "date": {"DESC": "latest", "ASC": "earliest"}}
"""What the best value is called, by the kind of its column."""


@dataclass(frozen=True)
class Plan:
    """A query, and how the question was understood.

    Attributes:
        sql: the query.
        understood: what it computes, in words.
        shown: how many of its rows answer; 0 for all. The query has more, which show whether the last one is tied.
        must_be_single: whether only a single row answers.
        percent: whether its value is a share of a hundred.
        of_people: whether each row must begin with the name of a person.
        of_columns: whether it is one row of two figures, which answer with the names of their columns.
        folded: the query that takes values for one which differ in capitals and accents alone.
        others: queries in other senses of the question's words: all must have the same result.
        lacking: by the title of a column with a condition, the query for the rows without a value of it.
    """

    sql: str
    understood: str
    shown: int = 0
    must_be_single: bool = False
    percent: bool = False
    of_people: bool = False
    of_columns: bool = False
    folded: str = ""
    others: tuple[str, ...] = ()
    lacking: Mapping[str, str] = field(default_factory=dict)


class QuestionTarget:
    """The mentions and conditions of a question in a table, from which its query is assembled."""

    def __init__(self, parts: AskedParts, conditions: Sequence[Condition]) -> None:
        """Take a question's parts and conditions; use the words that add nothing to these."""
        self._parts, self._table, self.conditions = parts, parts.table, conditions
        self.compared: Sequence[Condition] = ()  # of which a question asks which has more
        # Without a number these are only prepositions: "under the tag", "under president".
        parts.use(*(mention for mention in parts.unused("under", "over") if mention.words in {"under", "over"}))
        # Numbers that the rows are called by, if they are asked for: "the BIP numbers", not "how many", "page number".
        number_words = parts.unused("number_word")
        parts.use(*number_words)
        nouns_before = [parts.preceding(mention, "column", gap=0) for mention in number_words]
        is_asked = not parts.has("count") and any(noun is None or noun.is_head for noun in nouns_before)
        self._identifiers = [column for column in self._table.columns if is_asked and column.kind == "number"
                             and keys_of(column.title) in parts.reading.heads]

    # The parts of a statement.

    def _select(self, what: str, *, extra: Iterable[str] = (), rest: str = "", members: str = "") -> str:
        """Return a SELECT of `what` over the rows that meet the conditions and `extra` ones, with `rest` behind them.

        With `members`, the expression for the members of a list, it has a row for each of these, called `member`.
        """
        conditions = [*(condition.sql for condition in self.conditions), *extra]
        source = quoted(self._table.name)
        if conditions:
            source += f" WHERE {' AND '.join(conditions)}"
        if members:
            source = f"(SELECT {members} AS member, * FROM {source}) AS members"  # noqa: S608 - all parts are quoted
        return f"SELECT {what} FROM {source}{rest}"  # noqa: S608 - all parts are quoted

    def _where(self) -> str:
        """Return " where species is Porites and year is 2013", empty without conditions."""
        return where(self.conditions)

    def _computed(self, value: Expression, group: Expression | None = None, rest: str = " ORDER BY 1") -> Plan:
        """Return a query for a value of all rows, or of each group of them, with `rest` behind its GROUP BY."""
        if group is None:
            return Plan(self._select(f"{value.sql} AS {quoted(value.words)}"), f"{value.words}{self._where()}")
        members, name = unnested(group.sql)
        named = f"AS {quoted(group.words)}, {value.sql} AS {quoted(value.words)}"
        plain = self._select(f"{name} {named}", members=members, rest=f" GROUP BY 1{rest}")
        # A group of names that differ in capitals alone is called by the one that most rows have.
        folded = self._select(f"mode({name}) {named}", members=members, rest=f" GROUP BY {folded_text(name)}{rest}")
        is_text_group = any(quoted(column.name) in group.sql for column in self._table.columns
                            if column.kind in {"text", "list"})
        return Plan(plain, f"{value.words} for each {group.words}{self._where()}",
                    folded=folded if is_text_group else "")

    def _extreme_rows(self, value: Expression, order: str, shown: Sequence[ColumnInfo], limit: int, words: str) -> Plan:
        """Return a query for the rows with an extreme value, with all that share the last one."""
        columns = [quoted(column.name) for column in shown]
        text = f"{', '.join(column.title for column in shown)} with the " if shown else ""
        text += f"{words} {value.words}{self._where()}"
        dates = next((one for one in self._table.columns if one.last and quoted(one.name) == value.sql), None)
        if dates is not None and limit == 1:  # of dates that may say a month alone: the one row that may be the latest
            may_be, must_be = quoted(dates.last), quoted(dates.name)
            if order == "ASC":
                may_be, must_be = must_be, may_be
            written = f"{quoted(written_column(self._table, dates))} AS {quoted(dates.title)}"
            sign = ">=" if order == "DESC" else "<="
            best = f"{may_be} {sign} ({self._select(f'{BEST[order]}({must_be})')})"
            return Plan(self._select(", ".join([*columns, written]), extra=[best], rest=" ORDER BY ALL"), text,
                        must_be_single=True)
        alias = "" if value.sql == quoted(value.words) else f" AS {quoted(value.words)}"
        what = ", ".join([*columns, f"{value.sql}{alias}"])
        if limit == 1:
            best = f"{value.sql} = ({self._select(f'{BEST[order]}({value.sql})')})"
            return Plan(self._select(what, extra=[best], rest=" ORDER BY ALL"), text)
        sql = self._select(what, extra=[f"{value.sql} IS NOT NULL"],
                           rest=f" ORDER BY {value.sql} {order} LIMIT {limit + 1}")
        return Plan(sql, text, shown=limit)

    # Columns.

    def _columns(self, *, heads: bool = False) -> list[Mention]:
        """Return the unused mentions of columns; with `heads` also those of what the rows are called."""
        return [mention for mention in self._parts.unused("column") if heads or not mention.is_head]

    def _number_column(self) -> ColumnInfo | None:
        """Return the column of numbers that the question names or measures, and use its mentions; None without one."""
        measure = next(iter(self._parts.unused("measure")), None)
        unit = next(iter(self._parts.unused("unit")), None)
        # What rows are called is a number of theirs only in records, and if a column has exactly this name.
        may_be_head = not (measure or unit or self._columns() or self._parts.are_documents)
        mentions = [mention for mention in self._columns(heads=may_be_head) if self._parts.may_be(mention, "number")
                    and (not mention.is_head or mention.words.replace(" ", "_") in mention.columns)]
        columns = [self._parts.column_of(one, "number") for one in mentions]
        if not columns and measure is not None:
            columns = columns_of_measure(self._table, measure.name)
        elif not columns and unit is not None:
            columns = columns_in_unit(self._table, unit.name)
        if not columns and measure is None:
            return None
        column = only(list({column.name: column for column in columns}.values()), self._table.name)
        self._parts.use(*mentions, *self._parts.unused("measure"))
        self._check_units(column)
        return column

    def _check_units(self, column: ColumnInfo) -> None:
        """Use the units that a question asks for; raise UnclearError if the column has another one, or several."""
        own = column_unit(column)
        for unit in self._parts.unused("unit"):
            if own and normal_unit(unit.name) != normal_unit(own):
                raise UnclearError(unit)
            self._parts.use(unit)
        if column.units:
            raise UnclearError(column.name)

    def _dates(self) -> list[ColumnInfo]:
        """Return the columns of dates that the question names, and use these names; else those that it may mean."""
        named = [mention for mention in self._columns() if self._parts.may_be(mention, "date")]
        # "the year in which most were rejected" is of no date that documents have.
        limits_values = any(one.values and self._parts.columns[one.column].kind != "date" for one in self.conditions)
        says_when = self._parts.has("when", "day") or (self._parts.has(*PERIODS) and limits_values)
        if not named and self._parts.are_documents and says_when and not self._parts.has("made"):
            raise UnclearError(self._table.name)
        self._parts.use(*named)
        # "The date it was created" is no field `date`.
        named = [one for one in named if one.words not in listed_words("dates")] or named
        columns = [self._parts.column_of(mention, "date") for mention in named] or [
            self._parts.columns[one.column] for one in self.conditions
            if self._parts.columns[one.column].kind == "date"] or self._parts.dates()
        return list({column.name: column for column in columns}.values())

    def _numbers_of(self, column: ColumnInfo) -> Plan:
        """Return a query for the sum of a column if the question says that all is added, else for its only number."""
        self._check_units(column)
        if self._parts.has("overall", "sum"):
            self._parts.take("sum")
            return self._computed(Expression(f"sum({quoted(column.name)})", f"total of {column.title}"))
        return Plan(self._select(quoted(column.name)), f"{column.title}{self._where()}", must_be_single=True)

    # Groups.

    def _group(self) -> Expression | None:
        """Return what the rows are grouped by; None if they are not."""
        for mention in self._parts.unused("group"):
            group = self._parts.following(mention, "column", "head", *PERIODS, gap=2)
            if group is not None:
                self._parts.use(mention)
                return self._grouping(group)
        return None

    def _grouping(self, mention: Mention) -> Expression:
        """Return what a mention groups rows by: a column, a place or a period of dates; use the words for it."""
        self._parts.use(mention)
        if mention.kind in PERIODS:
            return self._period(mention.kind)
        column = self._parts.column_of(mention)
        self._parts.use(*(other for other in self._columns() if other.columns == (column.name,)))
        return Expression(members_of(column), column.title)

    def _period(self, period: str) -> Expression:
        """Return the period of the only column of dates that is asked for."""
        self._parts.take(period)
        dates = self._dates()
        if period == "year" and not dates:  # "Which year had the most fellows?"
            column = only(self._parts.columns_of("year"), period)
            return Expression(quoted(column.name), column.title)
        column = only(dates, period)
        if column.untyped:  # each may be of any period
            raise UnclearError(column.name)
        period_of = PERIODS[period].format
        first, last = period_of(quoted(column.name)), period_of(quoted(column.last or column.name))
        sql = first if first == last else f"CASE WHEN {first} = {last} THEN {first} END"  # of two, none is certain
        return Expression(sql, f"{period} of {column.title}")

    def lacking(self, plan: Plan) -> Iterator[tuple[str, str]]:
        """Yield the title of each column on which a count or rank rests, and the query for the rows without a value."""
        for condition in self.conditions if plan.sql.startswith('SELECT count(*) AS "count of') else ():
            column = self._parts.columns[condition.column]
            # A list may be empty, but where nearly all rows have one, the others were not read or not filled in.
            may_lack_value = column.empty and (column.kind != "list" or self._parts.is_nearly_full(column))
            if (may_lack_value or column.untyped) and not condition.sql.endswith(" NULL"):
                yield column.title, plan.sql.replace(condition.sql, f"{quoted(column.name)} IS NULL")
        for name, column in self._parts.columns.items() if self._parts.are_documents else ():
            is_computed = f"({quoted(name)})" in plan.sql or f" IN {quoted(name)}]" in plan.sql
            if is_computed and column.empty and self._parts.is_nearly_full(column):
                conditions = [*(one.sql for one in self.conditions if one.column != name), f"{quoted(name)} IS NULL"]
                yield column.title, f"SELECT count(*) FROM documents WHERE {' AND '.join(conditions)}"  # noqa: S608

    def _row_count(self) -> Expression:
        return Expression("count(*)", f"count of {self._table.title}")

    def _named_documents(self) -> list[Condition]:
        """Return the conditions that name single documents, by the names of their files, titles or numbers."""
        numbering = {column.name for column in self._parts.numbering}
        naming = {column.name for column in self._table.columns if column.name in PLAIN or (
            column.kind == "text" and column.distinct >= NAMING_SHARE * self._table.rows)}
        return [one for one in self.conditions if (self._parts.are_documents and one.values and one.column in naming)
                or (one.column in numbering and " = " in one.sql)]


def where(conditions: Sequence[Condition]) -> str:
    """Return conditions in words: " where species is Porites and year is 2013", empty without conditions."""
    return f" where {' and '.join(condition.text for condition in conditions)}" if conditions else ""


def folded_text(expression: str) -> str:
    """Return the expression for a text without capitals and accents."""
    return f"strip_accents(lower({expression}))"


def unnested(expression: str) -> tuple[str, str]:
    """Return what `_select` takes as `members` ("" for a value that is no list), and what a value is then called."""
    return (expression, "member") if "unnest(" in expression else ("", expression)


def members_of(column: ColumnInfo) -> str:
    """Return the expression for a column, or for the members of its lists; people are named without addresses."""
    name = quoted(column.name)
    has_addresses = fits(column, "author") or any(bare_name(value) != value for value, _ in column.frequent)
    if column.kind != "list":
        return _WITHOUT_ADDRESS.format(name) if has_addresses else name
    # A record that has a person with an address and without has her once.
    listed = f"[{_WITHOUT_ADDRESS.format('one')} FOR one IN {name}]" if has_addresses else name
    return f"unnest(list_distinct({listed}))"
