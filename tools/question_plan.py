"""The query that a question asks of one table: what is computed of which column, of which rows, in which groups."""

from ..schemas.records import ColumnInfo
from .asked_parts import AskedParts, UnclearError, is_date, is_number, quoted
from .question_conditions import ConditionReader
from .question_counts import Counting
from .question_ranks import Ranking
from .question_target import OF_EACH, Plan, Target, is_head, is_place
from .table_mentions import Reading


def plan_query(reading: Reading) -> Plan:
    """Return the query that a reading asks for.

    Raises:
        UnclearError: if it could ask for several things, or something of it is not accounted for.
    """
    parts = AskedParts(reading)
    conditions = ConditionReader(parts).read()
    counting, ranking = Counting(parts, conditions), Ranking(parts, conditions)
    attempts = (counting.share, counting.ratio, ranking.comparison, counting.aggregate, ranking.extreme_group,
                ranking.extreme, counting.count, Looking(parts, conditions).lookup)
    plan = next((plan for attempt in attempts if (plan := attempt()) is not None), None)
    if plan is None:
        raise UnclearError(reading.table.name)
    parts.use(*(mention for mention in parts.unused("column") if mention.is_head))
    if left := parts.unused():
        raise UnclearError(left[0])
    return plan


class Looking(Target):
    """Finds which cells or rows are asked for."""

    def lookup(self) -> Plan | None:
        """Read a question for a cell or a list: "What is the status of EIP-1?", "Which proposals are Final?"."""
        if not self._conditions:
            return None
        is_time, is_where, is_person = (self._take(kind) is not None for kind in ("when", "where", "who"))
        columns = self._looked_up(is_time=is_time, is_where=is_where)
        has_head = any(is_head(mention) and self._asks(mention) for mention in self._parts.mentions)
        is_list = has_head or (is_person and not columns)
        if not columns and not is_list:
            return None
        self._parts.use(*(mention for mention in self._parts.unused("group") if self._parts.words(mention) in OF_EACH))
        listed = [*self._naming_columns(), *columns] if is_list else columns
        what = ", ".join(quoted(column.name) for column in listed)
        text = f"{', '.join(column.title for column in listed)}{self._of_rows()}"
        is_single = not is_list and (any(is_number(column) for column in listed) or len(listed) > 1)
        return Plan(self._select(f"DISTINCT {what}", rest=" ORDER BY ALL"), text, must_be_single=is_single)

    def _looked_up(self, *, is_time: bool, is_where: bool) -> list[ColumnInfo]:
        mentions = [mention for mention in self._parts.unused("column") if not mention.is_head]
        number = self._number_column() if self._parts.unused("measure", "unit") or any(
            is_number(self._parts.columns[name]) for mention in mentions for name in mention.columns) else None
        mentions = [mention for mention in self._parts.unused("column") if not mention.is_head]
        self._parts.use(*mentions)
        columns = [self._parts.column_of(mention) for mention in mentions] + [column for column in (number,) if column]
        fitting = [is_date] * is_time + [is_place] * is_where
        for fits in fitting:
            if not any(fits(column) for column in columns):
                columns.append(self._only(fits))
        return list({column.name: column for column in columns}.values())
