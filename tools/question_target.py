"""What a question asks of the rows of a table: the columns and groups it means, as parts of a statement."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..schemas.records import ColumnInfo
from .asked_parts import AskedParts, UnclearError, is_date, is_list, is_number, literal, only, quoted
from .question_conditions import Condition, unit_of_column
from .question_words import bare_name, is_kind_of, keys_of, lexicon, normal_unit
from .table_mentions import Mention

AGGREGATES = {"sum": ("sum", "total"), "mean": ("avg", "average"), "median": ("median", "median")}
PERIODS = {"year": "year({})", "month": "strftime({}, '%Y-%m')", "decade": "year({}) // 10 * 10", "day": "{}"}
_MOST_RANKED = 100
_WITHOUT_ADDRESS = r"regexp_replace({}, '\s*(<[^<>]*>|\(@[^()]*\))$', '')"
"""The same as `bare_name`."""


@dataclass(frozen=True)
class Plan:
    """A query, and how the question was understood.

    Attributes:
        sql: the query.
        understood: what it computes, in words.
        shown: how many of its rows answer; 0 for all. The query has one more, which shows whether the last one is tied.
        must_be_single: whether only a single row answers.
        percent: whether its value is a share of a hundred.
        is_named: whether its values, in one row, are shown with the names of their columns.
        labels: the words of the question for codes of a column.
        folded: the query that takes values for one which differ in capitals and accents alone.
        otherwise: the query in another sense of the question's words: both must have the same result.
    """

    sql: str
    understood: str
    shown: int = 0
    must_be_single: bool = False
    percent: bool = False
    is_named: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    folded: str = ""
    otherwise: str = ""


class QuestionTarget:
    """The mentions and conditions of a question in a table, from which its query is assembled."""

    def __init__(self, parts: AskedParts, conditions: Sequence[Condition]) -> None:
        """Assemble from the parts of a question that its conditions leave."""
        self._parts = parts
        self.conditions = conditions
        self._table = parts.table
        # Without a number these are only prepositions: "under the tag", "under president".
        parts.use(*(mention for mention in parts.unused("under", "over") if parts.words(mention) in {"under", "over"}))
        # The column of numbers that the rows are called by, if the question asks for it: "the BIP numbers".
        words = parts.unused("number_word")
        parts.use(*words)
        before = [parts.preceding(one, "column", gap=0) for one in words]
        is_asked = not parts.has("count") and any(one is None or one.is_head for one in before)
        self._identifiers = [column for column in self._table.columns if is_asked and is_number(column)
                             and keys_of(column.title) in parts.reading.heads]

    # The parts of a statement.

    def _select(self, what: str, *, conditions: Sequence[Condition] | None = None, extra: Iterable[str] = (),
                rest: str = "", members: str = "") -> str:
        """Return a SELECT over the rows that meet conditions, or over the members of their lists."""
        wanted = [condition.sql for condition in (self.conditions if conditions is None else conditions)] + [*extra]
        source = f"{quoted(self._table.name)}{' WHERE ' * bool(wanted)}{' AND '.join(wanted)}"
        if members:
            source = f"(SELECT {members} AS member, * FROM {source}) AS members"  # noqa: S608 - all parts are quoted
        return f"SELECT {what} FROM {source}{rest}"  # noqa: S608 - all parts are quoted

    def _where(self, conditions: Sequence[Condition] | None = None) -> str:
        """Return " where species is Porites and year is 2013", empty without conditions."""
        texts = [condition.text for condition in (self.conditions if conditions is None else conditions)]
        return f" where {' and '.join(texts)}" if texts else ""

    def _computed(self, value: str, label: str, group: tuple[str, str] | None = None, rest: str = "") -> Plan:
        """Return a query for a value of all rows, or of each group of them."""
        if group is None:
            return Plan(self._select(f"{value} AS {quoted(label)}"), f"{label}{self._where()}")
        expression, words = group
        members = expression if "unnest(" in expression else ""
        name, rest = "member" if members else expression, rest or " ORDER BY 1"
        plain, folded = (self._select(f"{shown} AS {quoted(words)}, {value} AS {quoted(label)}", members=members,
                                      rest=f" GROUP BY {group}{rest}")
                         for shown, group in ((name, "1"), (f"mode({name})", folded_text(name))))
        is_text = any(quoted(column.name) in expression and column.kind in {"text", "list"}
                      for column in self._table.columns)
        return Plan(plain, f"{label} for each {words}{self._where()}", folded=folded if is_text else "")

    def _ranked_groups(self, group: tuple[str, str], value: str, label: str, order: str, most: int,
                       among: Sequence[str] = ()) -> Plan:
        member = "member" if "unnest(" in group[0] else group[0]
        # The other members of a list are not compared.
        kept = f"{member} IN ({', '.join(map(literal, among))})" if among else f"count({member}) > 0"
        limit = f" LIMIT {most + 1}" if most else ""
        plan = self._computed(value, label, group,
                              f" HAVING {value} IS NOT NULL AND {kept} ORDER BY 2 {order}, 1{limit}")
        degree = "highest" if order == "DESC" else "lowest"
        return replace(plan, understood=f"{group[1]} with the {degree} {label}{self._where()}", shown=most,
                       folded="" if among else plan.folded)

    def _limit(self) -> int:
        """Return how many of the first are asked for, and use the number that says so."""
        number = next(iter(self._parts.unused("number")), None)
        if number is None:
            return 1
        self._parts.use(number)
        if not number.name.isdecimal() or not 1 < int(number.name) <= _MOST_RANKED:
            raise UnclearError(number)
        return int(number.name)

    # Columns.

    def _columns(self, *, heads: bool = False) -> list[Mention]:
        return [mention for mention in self._parts.unused("column") if heads or not mention.is_head]

    def _take_heads(self) -> None:
        self._parts.use(*(mention for mention in self._parts.unused("column") if mention.is_head))

    def _number_column(self) -> ColumnInfo | None:
        """Return the column of numbers that the question names or measures, and use its mentions; None without one."""
        measure, unit = (next(iter(self._parts.unused(kind)), None) for kind in ("measure", "unit"))
        # The number by which a document is called is no measure of it.
        has_heads = not (measure or unit or self._columns() or self._parts.are_documents)
        mentions = [mention for mention in self._columns(heads=has_heads)
                    if self._parts.columns_for(mention, is_number)
                    and self._parts.preceding(mention, "group", gap=1) is None]
        mentions = [mention for mention in mentions if not mention.is_head
                    or self._parts.words(mention) in {text.casefold() for name in mention.columns
                                                      for text in (name, self._parts.columns[name].title)}]
        columns = {column.name: column for mention in mentions
                   if (column := self._parts.column_of(mention, is_number))}
        if measure is not None:
            measured = {column.name: column for column in self._parts.measured(measure.name)}
            columns = {name: column for name, column in columns.items() if name in measured} or columns or measured
        elif not columns and unit is not None:
            columns = {column.name: column for column in self._parts.measured_in(unit.name)}
        if not columns and measure is None:
            return None
        column = only(list(columns.values()), self._table.name)
        self._parts.use(*mentions, *self._parts.unused("measure"))
        self._check_units(column)
        return column

    def _check_units(self, column: ColumnInfo) -> None:
        """Use the unit that a question asks for if it is the column's."""
        if column.units:
            raise UnclearError(column.name)
        for unit in self._parts.unused("unit"):
            own = unit_of_column(column)
            if own and normal_unit(unit.name) != normal_unit(own):
                raise UnclearError(unit)
            self._parts.use(unit)

    def _dates(self) -> list[ColumnInfo]:
        """Return the columns of dates that the question names, or else all."""
        named = [mention for mention in self._columns() if self._parts.columns_for(mention, is_date)]
        # "the year in which most were rejected" is of no date that documents have.
        says_when = self._parts.has("when", "day") or (self._parts.has(*PERIODS) and any(
            one.values and not is_date(self._parts.columns[one.column]) for one in self.conditions))
        if not named and self._parts.are_documents and says_when and not self._parts.has("made"):
            raise UnclearError(self._table.name)
        self._parts.use(*named)
        columns = [self._parts.column_of(one, is_date) for one in named] or self._parts.dates()
        return list({column.name: column for column in columns}.values())

    def _labelled(self, kind: str) -> ColumnInfo:
        """Return the only column that says where or who something is, by its label."""
        return only([column for column in self._table.columns if keys_of(column.title) in lexicon().labels[kind]], kind)

    # Groups.

    def _group(self) -> tuple[str, str] | None:
        """Return the expression and the words of what the rows are grouped by; None if they are not."""
        for mention in self._parts.unused("group", "spread"):
            of = self._parts.following(mention, "column", "head", "where", *PERIODS, gap=2)
            if of is not None or self._parts.words(mention) == "by":
                self._parts.use(mention)
            if of is not None:
                self._parts.use(*self._made(of))  # "how many books did each publisher release"
            if of is not None and not (self._parts.is_rows(of) and self._parts.are_documents):
                return self._grouping(of)
            if of is not None and not self._parts.has(*AGGREGATES):
                raise UnclearError(of)  # "on average per proposal" is of all, but not "how many per proposal"
            self._parts.use(of)
        return None

    def _made(self, *groups: Mention) -> list[Mention]:
        """Return the verbs for what a maker such as a publisher does that are the name of a column: "released"."""
        keys = {(key,) for mention in groups for name in mention.columns
                for key in keys_of(self._parts.columns[name].title)}
        return [one for one in self._columns() if is_kind_of("made", self._parts.words(one))
                and not keys.isdisjoint(lexicon().labels["owner"])]

    def _grouping(self, mention: Mention) -> tuple[str, str]:
        """Return the expression and the words of a group by a column, a place or a period of dates."""
        self._parts.use(mention)
        if mention.kind in PERIODS:
            return self._period(mention.kind)
        column = self._labelled("place") if mention.kind == "where" else self._parts.column_of(mention)
        self._parts.use(*(other for other in self._columns() if other.columns == (column.name,)))
        if is_date(column) and (period := self._parts.take(*PERIODS)):
            return self._period(period.kind, column)
        return members_of(column), column.title

    def _period(self, period: str, column: ColumnInfo | None = None) -> tuple[str, str]:
        self._parts.take(period)
        limited = {one.column: self._parts.columns[one.column] for one in self.conditions
                   if is_date(self._parts.columns[one.column])}
        column = column or only([*limited.values()] or self._dates(), period)
        return PERIODS[period].format(quoted(column.name)), f"{period} of {column.title}"

    def _counted_list(self) -> Mention | None:
        """Return the list whose members are counted: "how many authors", "the average number of authors"."""
        nouns = [self._parts.noun_after(mention) for mention in self._parts.unused("count")]
        return next((one for one in nouns if one is not None and self._parts.columns_for(one, is_list)), None)

    def _is_numbered(self) -> bool:
        """Return True if a condition is the number that one row is called by: "RFC 31"."""
        numbering = self._parts.numbering_columns()
        return any(one.column in numbering and " = " in one.sql for one in self.conditions)

    def _named_documents(self) -> list[Condition]:
        """Return the conditions that name single documents, by the names of their files or by words of their titles.

        Of those that a question says to be titled so, there may be several.
        """
        is_titled = any(one.kind == "column" and "title" in one.columns for one in self._parts.mentions)
        return [one for one in self.conditions if self._parts.are_documents and one.values and (
            one.column == "document" or (one.column == "title" and not is_titled))]


def folded_text(expression: str) -> str:
    """Return the expression for a text without capitals and accents."""
    return f"strip_accents(lower({expression}))"


def members_of(column: ColumnInfo) -> str:
    """Return the expression for the members of a column; people are named without their addresses."""
    members = f"unnest(list_distinct({quoted(column.name)}))"
    members = members if is_list(column) else quoted(column.name)
    return _WITHOUT_ADDRESS.format(members) if any(
        bare_name(value) != value for value, _ in column.frequent) else members


def count_different(column: ColumnInfo) -> tuple[str, str]:
    """Return the number of different values of a column in a group, in SQL and in words."""
    name = quoted(column.name)
    return (f"len(list_distinct(flatten(list({name}))))" if is_list(column) else f"count(DISTINCT {name})",
            f"number of different {column.title}")
