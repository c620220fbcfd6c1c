"""Questions for the rows or groups with the most, the least, the first and the last, and for which of two has more."""

from collections.abc import Sequence
from dataclasses import replace

from ..schemas.records import ColumnInfo
from .asked_parts import UnclearError, is_date, is_number, quoted
from .question_target import AGGREGATE_WORDS, AGGREGATES, DEGREES, OF_EACH, PERIODS, Plan, Target, is_head
from .table_mentions import Mention

_LESS = frozenset({"fewer", "less"})


class Ranking(Target):
    """Finds what is ranked, and by what."""

    def comparison(self) -> Plan | None:
        """Read "Which weighs more on average, A or B?" as groups in order."""
        compared = [condition for condition in self._conditions
                    if len(condition.values) > 1 and not condition.is_negative]
        says_more, says_or = self._parts.unused("compare", "or_more"), any(
            mention.kind in {"or", "or_more"} for mention in self._parts.mentions)
        if not says_more or len(compared) != 1 or not says_or or any(
                self._parts.words(mention) in _LESS for mention in says_more):
            return None
        self._parts.use(*says_more)
        self._parts.use(*(mention for mention in self._parts.unused("group") if self._parts.words(mention) in OF_EACH))
        column = self._parts.columns[compared[0].column]
        expression, words = (f"year({quoted(column.name)})", f"year of {column.title}") if is_date(column) else (
            self._grouping(column))
        self._take("who")
        measured = next((mention.name for mention in says_more if mention.name), "")
        value, text = self._grouped_value(measured)
        ranked = self._ranked_groups(expression, words, value, text, "DESC", 1, all_groups=True)
        return replace(ranked, shown=0, labels=compared[0].words)

    def _grouped_value(self, measure: str = "") -> tuple[str, str]:
        """Return what is computed of each group, in SQL and in words."""
        operation = self._take(*AGGREGATES)
        measured = self._parts.measured(measure) if measure else []
        column = measured[0] if len(measured) == 1 else self._number_column()
        if operation is not None:
            self._take("count")  # the average number of pages
        if operation is not None and column is not None:
            return (f"{AGGREGATES[operation.kind]}({quoted(column.name)})",
                    f"{AGGREGATE_WORDS[operation.kind]} of {column.title}")
        if operation is not None or column is not None:
            raise UnclearError(self._table.name)
        self._take("count")
        if not self._rows_are_counted():
            raise UnclearError(self._table.name)
        return "count(*)", f"count of {self._table.title}"

    def _ranked_groups(self, expression: str, words: str, value: str, text: str, order: str, most: int, *,
                       all_groups: bool = False) -> Plan:
        group = "member" if expression.startswith("unnest(") else expression
        limit = "" if all_groups else f" LIMIT {most + 1}"
        sql = (f"{self._select_groups(expression, words, value, text)} GROUP BY 1 HAVING {value} IS NOT NULL "
               f"AND {group} IS NOT NULL ORDER BY 2 {order}, 1{limit}")
        return Plan(sql, f"{words} with the {'highest' if order == 'DESC' else 'lowest'} {text}{self._of_rows()}",
                    shown=most)

    def _limit(self) -> int:
        """Return how many of the first are asked for, and use the number that says so."""
        number = next(iter(self._parts.unused("number")), None)
        if number is None:
            return 1
        self._parts.use(number)
        if not number.name.isdecimal() or not 1 < int(number.name) <= 100:  # noqa: PLR2004 - more than people rank
            raise UnclearError(number)
        return int(number.name)

    def extreme_group(self) -> Plan | None:
        """Read "Which author has the most proposals?" and "Which species has the highest average mass?"."""
        most = self._parts.unused("most", "fewest")
        operations = self._parts.unused(*AGGREGATES)
        degrees = [mention for mention in self._parts.unused("max", "min") if operations or mention.name == "length"]
        groups = [mention for mention in self._parts.unused("column") if not mention.is_head and any(
            not is_number(self._parts.columns[name]) for name in mention.columns)]
        periods = self._parts.unused(*PERIODS)
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
        lists = [mention for mention in columns
                 if not mention.is_head and self._parts.column_of(mention).kind == "list"]
        heads = [mention for mention in self._parts.mentions if is_head(mention) and self._asks(mention)]
        if not (degree and lists and heads and heads[0].first < degree[0].first < lists[0].first):
            return None
        column = self._parts.column_of(lists[0])
        self._parts.use(*degree, *lists, *self._parts.unused("count"))
        what = ", ".join(quoted(one.name) for one in self._naming_columns())
        length, order = f"len({quoted(column.name)})", "max" if degree[0].kind in {"most", "max"} else "min"
        label, best = f"number of {column.title}", self._select(f"{order}({length})")
        sql = self._select(f"{what}, {length} AS {quoted(label)}", extra=[f"{length} = ({best})"], rest=" ORDER BY ALL")
        degree_word = "highest" if order == "max" else "lowest"
        return Plan(sql, f"{self._table.title} with the {degree_word} {label}{self._of_rows()}")

    def extreme(self) -> Plan | None:
        """Read the highest or latest value, or the rows that have it."""
        degrees = self._parts.unused(*DEGREES) or self._most_of_rows()
        if len(degrees) != 1:
            return None
        degree = degrees[0]
        order = {**DEGREES, "most": "DESC", "fewest": "ASC"}[degree.kind]
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

    def _most_of_rows(self) -> list[Mention]:
        """Return the degree of "which book has the most pages", where each row is a book."""
        heads = [mention for mention in self._parts.mentions if is_head(mention) and self._asks(mention)]
        return self._parts.unused("most", "fewest") if heads and self._has_number_column() else []

    def _number_shown(self, column: ColumnInfo) -> None:
        """Use the words that ask for the ranked number as well: "and how many grams does it weigh?"."""
        measures = [mention for mention in self._parts.unused("measure")
                    if column in self._parts.measured(mention.name)]
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
        asks_for_rows = any(is_head(mention) and (self._asks(mention) or self._is_superlative(mention))
                            for mention in self._parts.mentions)
        asks_for_rows = asks_for_rows or self._asks_which_one() or asks_for_person
        return self._naming_columns() if asks_for_rows else []

    def _extreme_rows(self, column: ColumnInfo, order: str, shown: Sequence[ColumnInfo], limit: int) -> Plan:
        """Return a query for the rows with an extreme value, with all that share the last one."""
        name, function = quoted(column.name), "max" if order == "DESC" else "min"
        listed = [*(other for other in shown if other.name != column.name), column]
        what = ", ".join(quoted(one.name) for one in listed)
        degree_word = "highest" if order == "DESC" else "lowest"
        text = f"{', '.join(one.title for one in shown)} with the {degree_word} {column.title}"
        if limit == 1:
            best = self._select(f"{function}({name})")
            sql = self._select(what, extra=[f"{name} = ({best})"], rest=" ORDER BY ALL")
            return Plan(sql, f"{text}{self._of_rows()}")
        sql = self._select(what, extra=[f"{name} IS NOT NULL"], rest=f" ORDER BY {name} {order} LIMIT {limit + 1}")
        return Plan(sql, f"{text}{self._of_rows()}", shown=limit)
