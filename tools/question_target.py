"""What a question asks of the rows of a table: the columns and groups it means, as parts of a statement."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..graph_store.sql.logical_tables import literal, quoted
from ..schemas.records import ColumnInfo
from .asked_columns import UnclearError, columns_in_unit, columns_of_measure, is_date, is_list, is_number, only
from .asked_parts import AskedParts
from .question_conditions import Condition, Expression, unit_of_column
from .question_words import Mention, bare_name, is_kind_of, keys_of, lexicon, normal_unit

AGGREGATES = {"sum": ("sum", "total"), "mean": ("avg", "average"), "median": ("median", "median")}
"""The function of SQL and the word for each kind of operation."""
PERIODS = {"year": "year({})", "month": "strftime({}, '%Y-%m')", "decade": "year({}) // 10 * 10", "day": "{}"}
"""The period of a date in SQL, by the word for it."""
_MOST_RANKED = 100
_WITHOUT_ADDRESS = r"regexp_replace({}, '\s*(<[^<>]*>|\((@|[\w.-]+(@| at ))[^()]*\))$', '')"
"""What `bare_name` does, in SQL."""


@dataclass(frozen=True)
class Plan:
    """A query, and how the question was understood.

    Attributes:
        sql: the query.
        understood: what it computes, in words.
        shown: how many of its rows answer; 0 for all. The query has more, which show whether the last one is tied.
        must_be_single: whether only a single row answers.
        percent: whether its value is a share of a hundred.
        is_named: whether its values, in one row, are shown with the names of their columns.
        labels: the words of the question for codes of a column.
        folded: the query that takes values for one which differ in capitals and accents alone.
        otherwise: the query in another sense of the question's words: both must have the same result.
        lacking: by the title of a column with a condition, the query for the rows without a value of it.
        possible: the query with the rows whose dates say too little for the question.
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
    possible: str = ""
    lacking: Mapping[str, str] = field(default_factory=dict)


class QuestionTarget:
    """The mentions and conditions of a question in a table, from which its query is assembled."""

    def __init__(self, parts: AskedParts, conditions: Sequence[Condition]) -> None:
        self._parts = parts
        self.conditions = conditions
        self._table = parts.table
        # Without a number these are only prepositions: "under the tag", "under president".
        parts.use(*(mention for mention in parts.unused("under", "over") if parts.words(mention) in {"under", "over"}))
        # Numbers that the rows are called by, if they are asked for: "the BIP numbers", not "how many".
        number_words, heads = parts.unused("number_word"), parts.reading.heads
        parts.use(*number_words)
        owners = [parts.preceding(mention, "column", gap=0) for mention in number_words]
        # "the page number" is a number of another kind.
        is_asked = not parts.has("count") and any(owner is None or owner.is_head for owner in owners)
        self._identifiers = [column for column in self._table.columns
                             if is_asked and is_number(column) and keys_of(column.title) in heads]

    # The parts of a statement.

    def _select(self, what: str, *, conditions: Sequence[Condition] | None = None, extra: Iterable[str] = (),
                rest: str = "", members: str = "") -> str:
        """Return a SELECT of `what` over the rows that meet conditions: by default those of the question.

        `extra` are further conditions in SQL, and `rest` stands behind the conditions. With `members`, the expression
        for the members of a list, the SELECT has a row for each of these, called `member`.
        """
        wanted = [condition.sql for condition in (self.conditions if conditions is None else conditions)] + [*extra]
        source = quoted(self._table.name)
        if wanted:
            source += f" WHERE {' AND '.join(wanted)}"
        if members:
            source = f"(SELECT {members} AS member, * FROM {source}) AS members"  # noqa: S608 - all parts are quoted
        return f"SELECT {what} FROM {source}{rest}"  # noqa: S608 - all parts are quoted

    def _where(self, conditions: Sequence[Condition] | None = None) -> str:
        """Return " where species is Porites and year is 2013", empty without conditions."""
        texts = [condition.text for condition in (self.conditions if conditions is None else conditions)]
        return f" where {' and '.join(texts)}" if texts else ""

    def _computed(self, value: Expression, group: Expression | None = None, rest: str = "") -> Plan:
        """Return a query for a value of all rows, or of each group of them; `rest` stands behind GROUP BY."""
        if group is None:
            return Plan(self._select(f"{value.sql} AS {quoted(value.words)}"), f"{value.words}{self._where()}")
        members = group.sql if group.is_of_members else ""
        rest = rest or " ORDER BY 1"
        named = f"AS {quoted(group.words)}, {value.sql} AS {quoted(value.words)}"
        plain = self._select(f"{group.row_sql} {named}", members=members, rest=f" GROUP BY 1{rest}")
        # A group of names that differ in capitals alone is called by the one that most rows have.
        folded = self._select(f"mode({group.row_sql}) {named}", members=members,
                              rest=f" GROUP BY {folded_text(group.row_sql)}{rest}")
        is_text = any(quoted(column.name) in group.sql and column.kind in {"text", "list"}
                      for column in self._table.columns)
        return Plan(plain, f"{value.words} for each {group.words}{self._where()}", folded=folded if is_text else "")

    def _row_count(self) -> Expression:
        return Expression("count(*)", f"count of {self._table.title}")

    def _ranked_groups(self, group: Expression, value: Expression, order: str, most: int,
                       among: Sequence[str] = ()) -> Plan:
        """Return a query for groups in the order of a value: the first `most`, 0 for all, or those called `among`."""
        is_compared = f"count({group.row_sql}) > 0"
        if among:  # the other members of a list are not compared
            is_compared = f"{group.row_sql} IN ({', '.join(map(literal, among))})"
        limit = f" LIMIT {max(most, 5) + 1}" if most else ""  # the others show whether the last one is tied
        plan = self._computed(value, group,
                              f" HAVING {value.sql} IS NOT NULL AND {is_compared} ORDER BY 2 {order}, 1{limit}")
        degree = "highest" if order == "DESC" else "lowest"
        return replace(plan, understood=f"{group.words} with the {degree} {value.words}{self._where()}", shown=most,
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
        """Return the unused mentions of columns; with `heads` also those of what the rows are called."""
        return [mention for mention in self._parts.unused("column") if heads or not mention.is_head]

    def _take_heads(self) -> None:
        self._parts.use(*(mention for mention in self._parts.unused("column") if mention.is_head))

    def _number_column(self) -> ColumnInfo | None:
        """Return the column of numbers that the question names or measures, and use its mentions; None without one."""
        measure = next(iter(self._parts.unused("measure")), None)
        unit = next(iter(self._parts.unused("unit")), None)
        # The number by which a document is called is no measure of it.
        may_be_head = not (measure or unit or self._columns() or self._parts.are_documents)
        mentions = [mention for mention in self._columns(heads=may_be_head) if self._names_number(mention)]
        columns = {column.name: column for column in (self._parts.column_of(one, is_number) for one in mentions)}
        if measure is not None:
            measured = {column.name: column for column in columns_of_measure(self._table, measure.name)}
            columns = {name: column for name, column in columns.items() if name in measured} or columns or measured
        elif not columns and unit is not None:
            columns = {column.name: column for column in columns_in_unit(self._table, unit.name)}
        if not columns and measure is None:
            return None
        column = only(list(columns.values()), self._table.name)
        self._parts.use(*mentions, *self._parts.unused("measure"))
        self._check_units(column)
        return column

    def _names_number(self, mention: Mention) -> bool:
        """Return True if a mention names a column of numbers to compute with, unlike one that rows are grouped by."""
        if not self._parts.columns_for(mention, is_number) or self._parts.preceding(mention, "group", gap=1):
            return False
        # What the rows are called is such a column only if it is written as the column is.
        names = {text.casefold() for name in mention.columns for text in (name, self._parts.columns[name].title)}
        return not mention.is_head or self._parts.words(mention) in names

    def _check_units(self, column: ColumnInfo) -> None:
        """Use the unit that a question asks for if it is the column's, which must have one unit alone."""
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
        is_of_value = self._parts.has(*PERIODS) and any(
            one.values and not is_date(self._parts.columns[one.column]) for one in self.conditions)
        says_when = self._parts.has("when", "day") or is_of_value
        if not named and self._parts.are_documents and says_when and not self._parts.has("made"):
            raise UnclearError(self._table.name)
        self._parts.use(*named)
        columns = [self._parts.column_of(mention, is_date) for mention in named] or self._parts.dates()
        return list({column.name: column for column in columns}.values())

    def _labelled(self, kind: str) -> ColumnInfo:
        """Return the only column that says where or who something is, by its label."""
        return only([column for column in self._table.columns if keys_of(column.title) in lexicon().labels[kind]], kind)

    # Groups.

    def _group(self) -> Expression | None:
        """Return what the rows are grouped by; None if they are not."""
        for mention in self._parts.unused("group", "spread"):
            of = self._parts.following(mention, "column", "head", "where", *PERIODS, gap=2)
            if of is not None or self._parts.words(mention) == "by":
                self._parts.use(mention)
            if of is None:
                continue
            self._parts.use(*self._maker_verbs(of))  # "how many books did each publisher release"
            if not (self._parts.is_rows(of) and self._parts.are_documents):
                return self._grouping(of)
            # "on average per proposal" is of all, but not "how many per proposal".
            if not self._parts.has(*AGGREGATES):
                raise UnclearError(of)
            self._parts.use(of)
        return None

    def _maker_verbs(self, *groups: Mention) -> list[Mention]:
        """Return verbs that only say what a group's members do: "released" in "which publisher released the most"."""
        # Such a verb may be read as the name of a column (the date of release), which the question does not mean. There
        # are none unless the groups are makers or owners, such as publishers.
        labels = {(key,) for mention in groups for name in mention.columns
                  for key in keys_of(self._parts.columns[name].title)}
        if labels.isdisjoint(lexicon().labels["owner"]):
            return []
        return [mention for mention in self._columns() if is_kind_of("made", self._parts.words(mention))]

    def _grouping(self, mention: Mention) -> Expression:
        """Return what a mention groups rows by: a column, a place or a period of dates; use the words for it."""
        self._parts.use(mention)
        if mention.kind in PERIODS:
            return self._period(mention.kind)
        column = self._labelled("place") if mention.kind == "where" else self._parts.column_of(mention)
        self._parts.use(*(other for other in self._columns() if other.columns == (column.name,)))
        if is_date(column) and (period := self._parts.take(*PERIODS)):
            return self._period(period.kind, column)
        return Expression(members_of(column), column.title)

    def _period(self, period: str, column: ColumnInfo | None = None) -> Expression:
        """Return the period of a column of dates: by default of the one with a condition, or the only one asked for."""
        self._parts.take(period)
        limited = {one.column: self._parts.columns[one.column] for one in self.conditions
                   if is_date(self._parts.columns[one.column])}
        column = column or only([*limited.values()] or self._dates(), period)
        first, last = (PERIODS[period].format(quoted(name)) for name in (column.name, column.last or column.name))
        sql = first if first == last else f"CASE WHEN {first} = {last} THEN {first} END"  # else it says too little
        return Expression(sql, f"{period} of {column.title}")

    def _counted_list(self) -> Mention | None:
        """Return the list whose members are counted: "how many authors", "the average number of authors"."""
        nouns = [self._parts.noun_after(mention) for mention in self._parts.unused("count")]
        return next((noun for noun in nouns if noun is not None and self._parts.columns_for(noun, is_list)), None)

    def _is_numbered(self) -> bool:
        """Return True if a condition is the number that one row is called by: "RFC 31"."""
        numbering = self._parts.numbering_columns()
        return any(one.column in numbering and " = " in one.sql for one in self.conditions)

    def _named_documents(self) -> list[Condition]:
        """Return the conditions that name single documents, by the names of their files or by words of their titles."""
        # Of those that a question says to be titled so, there may be several.
        if not self._parts.are_documents:
            return []
        is_titled = any(one.kind == "column" and "title" in one.columns for one in self._parts.mentions)
        naming = {"document"} if is_titled else {"document", "title"}
        return [one for one in self.conditions if one.values and one.column in naming]


def folded_text(expression: str) -> str:
    """Return the expression for a text without capitals and accents."""
    return f"strip_accents(lower({expression}))"


def members_of(column: ColumnInfo) -> str:
    """Return the expression for a column, or for the members of its lists; people are named without addresses."""
    name = quoted(column.name)
    has_addresses = keys_of(column.title) in lexicon().labels["author"] or any(
        bare_name(value) != value for value, _ in column.frequent)
    if not is_list(column):
        return _WITHOUT_ADDRESS.format(name) if has_addresses else name
    # A record that has a person with an address and without has her once.
    listed = f"[{_WITHOUT_ADDRESS.format('one')} FOR one IN {name}]" if has_addresses else name
    return f"unnest(list_distinct({listed}))"


def count_different(column: ColumnInfo) -> Expression:
    """Return the number of different values of a column in a group."""
    name = quoted(column.name)
    sql = f"len(list_distinct(flatten(list({name}))))" if is_list(column) else f"count(DISTINCT {name})"
    return Expression(sql, f"number of different {column.title}")
