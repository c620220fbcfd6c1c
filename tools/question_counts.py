"""Questions for how many, how much in all, on average, and for shares of the rows of a table."""

from ..schemas.records import ColumnInfo
from .asked_parts import UnclearError, is_date, is_number, quoted
from .question_conditions import Condition
from .question_target import AGGREGATE_WORDS, AGGREGATES, Plan, Target
from .table_mentions import Mention

_VERBS = frozenset({"is", "are", "was", "were", "has", "have", "had", "fall", "falls", "ist", "sind", "war", "waren",
                    "是"})


class Counting(Target):
    """Finds what is counted or added up."""

    def share(self) -> Plan | None:
        """Read "what percentage of the birds are female"."""
        if self._take("share") is None:
            return None
        share = next(mention for mention in self._parts.mentions if mention.kind == "share")
        wanted = [condition for condition in self._conditions if not self._is_in_subject(condition, share)]
        whole = [condition for condition in self._conditions if condition not in wanted]
        if not wanted:
            wanted, whole = whole, []
        self._parts.use(*(mention for mention in self._parts.unused("column") if mention.is_head))
        if not wanted or self._parts.unused("column", "count", *AGGREGATES) or not self._subject_is_rows(share):
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
        verbs = [mention for mention in self._parts.mentions if mention.kind == "neutral"
                 and self._parts.words(mention) in _VERBS and mention.first > share.last]
        return bool(verbs) and condition.last <= verbs[0].first

    def ratio(self) -> Plan | None:
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

    def aggregate(self) -> Plan | None:
        """Read a total, mean or median of a column, of all rows or of groups."""
        operations = self._parts.unused(*AGGREGATES)
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
        label = f"{AGGREGATE_WORDS[kind]} of {column.title}"
        value = f"{AGGREGATES[kind]}({name})"
        if group is None:
            return Plan(self._select(f"{value} AS {quoted(label)}"), f"{label}{self._of_rows()}")
        return self._groups(*group, value, label)

    def _count_in_all(self, kind: str) -> Plan | None:
        """Read "how many in total" as a count."""
        if kind != "sum" or not any(mention.kind == "count" for mention in self._parts.mentions):
            raise UnclearError(self._table.name)
        self._take("sum")
        return self._counted()

    def count(self) -> Plan | None:
        """Read how many rows there are, or different values of a column."""
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
            return Plan(self._select_members(f"unnest({name})", f"count(DISTINCT member) AS {quoted(label)}"),
                        f"{label}{self._of_rows()}")
        value = f"count(DISTINCT {name})"
        if group is not None:
            return self._groups(*group, value, label)
        return Plan(self._select(f"{value} AS {quoted(label)}"), f"{label}{self._of_rows()}")
