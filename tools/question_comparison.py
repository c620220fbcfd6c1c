"""The query of a question that compares rows: a share, ranks, groups in order or of a size, differences, counts."""

from collections.abc import Sequence
from dataclasses import replace

from ..graph_store.sql.logical_tables import quoted
from ..schemas.records import ColumnInfo
from .asked_columns import (
    UnclearError,
    columns_of_measure,
    is_date,
    is_list,
    is_number,
    is_of_persons,
    is_year,
    only,
    tells_when,
    years_of,
)
from .asked_parts import DEGREES
from .question_conditions import SIGNS, Expression, size
from .question_figures import SeveralFigures, share_of
from .question_target import AGGREGATES, PERIODS, Plan, count_different, members_of
from .question_words import Mention, bare_name, is_kind_of, lexicon

_FUNCTIONS = {"DESC": "max", "ASC": "min"}
_EXTREMES = {"DESC": ("highest", "latest"), "ASC": ("lowest", "earliest")}
"""The words for the first value in an order, of numbers and of dates."""
EACH = frozenset({"each", "of each", "for each"})


class ComparedRows(SeveralFigures):
    """The forms of questions that compare rows; each returns None if the question does not have this form."""

    def _group_value(self, measure: str = "") -> Expression:
        """Return what is computed of each group: a share, an aggregate, or how many rows it has."""
        if (share := self._parts.take("share")) is not None:  # "the highest percentage of final proposals"
            wanted = [condition for condition in self.conditions if condition.first >= share.last]
            says_of_what = any(map(self._parts.is_rows, self._parts.mentions))
            if not wanted or len(wanted) < len(self.conditions) or not says_of_what:
                raise UnclearError(share)
            self._take_heads()
            self.conditions = []  # the rows that do not meet them are in the groups, too
            return share_of(wanted)._replace(words=f"percent{self._where(wanted)}")
        operation = self._parts.take(*AGGREGATES)
        function, word = AGGREGATES[operation.kind] if operation is not None else ("", "")
        if operation is not None and (listed := self._counted_list()) is not None:
            self._parts.use(*self._parts.unused("count"), listed)
            value = size(self._parts.column_of(listed, is_list))
            return Expression(f"{function}({value.sql})", f"{word} of {value.words}")
        measured = columns_of_measure(self._table, measure) if measure else []
        column = measured[0] if len(measured) == 1 else self._number_column()
        self._parts.take("count")  # the average number of pages
        if operation is not None and column is not None:
            return Expression(f"{function}({quoted(column.name)})", f"{word} of {column.title}")
        if operation is not None or column is not None or not self._parts.are_counted():
            raise UnclearError(self._table.name)
        return self._row_count()

    # Groups.

    def _comparison(self) -> Plan | None:
        """Read "Which weighs more on average, A or B?" as groups in order."""
        compared = [condition for condition in self.conditions
                    if len(condition.values) > 1 and not condition.is_negative]
        says_more = self._parts.unused("compare", "or_more")
        says_less = any(self._parts.words(mention) in {"fewer", "less"} for mention in says_more)
        if not says_more or says_less or len(compared) != 1 or not self._parts.has("or", "or_more"):
            return None
        self._parts.use(*says_more, self._parts.take("who"), *(
            mention for mention in self._parts.unused("group") if self._parts.words(mention) in EACH))
        column = self._parts.columns[compared[0].column]
        group = self._period("year", column) if is_date(column) else Expression(members_of(column), column.title)
        self._parts.use(*(mention for mention in self._columns() if column.name in mention.columns))
        value = self._group_value(next((mention.name for mention in says_more if mention.name), ""))
        among = sorted({bare_name(name) for name in compared[0].values}) if is_list(column) else ()
        return replace(self._ranked_groups(group, value, "DESC", 0, among),
                       labels={bare_name(name): words for name, words in compared[0].words.items()})

    def _groups_of_size(self) -> Plan | None:
        """Read "Which authors wrote more than five books?"."""
        if (number := self._parts.counted_rows()) is None:
            return None
        sign = self._parts.preceding(number, *SIGNS, gap=0)
        self._parts.use(self._parts.preceding(number, "only", gap=0))
        groups = self._columns()
        if len({mention.columns for mention in groups}) > 1:
            raise UnclearError(number)
        if not groups and not self._parts.has("who", "people"):
            raise UnclearError(number)  # "how many of the 20 books"
        column = self._parts.column_of(groups[0]) if groups else self._labelled("author")
        counts = self._parts.take("count")
        self._parts.use(number, sign, *groups, self._parts.take("who"))
        self._take_heads()
        bound = f"{SIGNS[sign.kind] if sign is not None else '='} {number.name}"
        plan = self._computed(self._row_count(), Expression(members_of(column), column.title),
                              f" HAVING count(*) {bound} AND count({quoted(column.name)}) > 0 ORDER BY 2 DESC, 1")
        plan = replace(plan, understood=f"{column.title} with {plan.understood} {bound}")
        if counts is None:
            return plan
        sql, folded = (f"SELECT count(*) FROM ({sql}) AS sizes" for sql in (plan.sql, plan.folded))  # noqa: S608 - as above
        return Plan(sql, f"number of {plan.understood}", otherwise=folded if plan.folded else "")

    # Ranks.

    def _ranking(self) -> Plan | None:
        """Read the highest or latest value, the rows that have it, or the groups with the most rows."""
        if not (degrees := self._parts.unused(*DEGREES)):
            return None
        if len(degrees) > 1:
            raise UnclearError(degrees[1])
        degree = degrees[0]
        self._parts.use(degree)
        limit = self._limit()
        if (longest := self._longest_list(degree) or self._extreme_size(degree)) is not None:
            return longest
        distinct = self._parts.following(degree, "distinct", gap=0)  # "the most different species"
        counted = self._parts.following(distinct, "column", gap=0) if distinct is not None else None
        self._parts.use(distinct, counted)
        if (group := self._ranked_group(degree)) is None:
            return self._extreme(degree, limit)
        self._parts.take("who")
        for mention in self._parts.unused("group"):  # "sorted by status: which are the most common, how many has each"
            named = self._parts.following(mention, "column", gap=0)
            names_group = named is not None and self._parts.columns[named.columns[0]].title == group.words
            if names_group or self._parts.words(mention) in EACH:
                self._parts.use(mention)
        value = self._group_value(degree.name) if counted is None else count_different(self._parts.column_of(counted))
        return replace(self._ranked_groups(group, value, DEGREES[degree.kind], limit),
                       percent=value.words.startswith("percent"))

    def _longest_list(self, degree: Mention) -> Plan | None:
        """Read "Which book has the most authors?" as the row with the longest list."""
        lists = [mention for mention in self._columns() if self._parts.columns_for(mention, is_list)]
        asked = [mention for mention in self._parts.mentions
                 if self._parts.is_rows(mention) and self._parts.asks(mention)]
        if not lists or not asked or degree.kind in {"latest", "earliest", "commonest"}:
            return None
        says_long = degree.kind in {"most", "fewest"} or degree.name == "length" or self._parts.unused("count")
        # "which author has the most books" asks for an author, and "required by the most" counts other rows.
        is_of_row = asked[0].first < min(lists[0].first, degree.first)
        if not says_long or not is_of_row or self._parts.by_after(lists[0]) is not None:
            return None
        column = self._parts.column_of(lists[0], is_list)
        if degree.kind == "fewest" and column.empty:
            raise UnclearError(degree)  # a row without a list may have none
        self._parts.use(*(mention for mention in lists if column.name in mention.columns), self._parts.take("count"),
                        *(mention for mention in self._parts.unused("measure") if mention.name == "length"))
        shown = self._identifiers or self._parts.naming_columns()
        return self._extreme_rows(size(column), DEGREES[degree.kind], shown, 1)

    def _extreme_size(self, degree: Mention) -> Plan | None:
        """Read "What is the maximum number of authors of a book?"."""
        counts = self._parts.unused("count")
        noun = self._parts.noun_after(counts[0] if counts else degree)
        says_number = degree.kind in {"max", "min"} if counts else self._parts.words(degree).endswith("number of")
        asks_what = self._parts.reading.words[0].folded == "what"
        if noun is None or not says_number or not asks_what or self._columns() != [noun] or (
                not self._parts.columns_for(noun, is_list)):
            return None
        column, order = self._parts.column_of(noun, is_list), DEGREES[degree.kind]
        if order == "ASC" and column.empty:
            raise UnclearError(degree)  # a row without a list may have none
        self._parts.use(noun, *counts)
        value = size(column)
        return self._computed(Expression(f"{_FUNCTIONS[order]}({value.sql})", f"{_EXTREMES[order][0]} {value.words}"))

    def _ranked_group(self, degree: Mention) -> Expression | None:
        """Return what is grouped by, if groups are ranked: by how many rows they have, or by an operation."""
        years = {column.name for column in years_of(self._table)}
        numbers = [mention for mention in self._columns() if self._parts.columns_for(mention, is_number)
                   and not (self._parts.asks(mention) and years.issuperset(mention.columns))]
        has_operation = self._parts.unused("share", *AGGREGATES)
        # "the top three regions by number of sales"
        is_by_count = not degree.name and bool(self._parts.unused("count"))
        is_count = not numbers and (degree.kind in {"most", "fewest", "commonest"} or is_by_count)
        if not (has_operation or is_count) or degree.kind in {"latest", "earliest"}:
            return None
        groups = [mention for mention in self._columns() if mention not in numbers]
        verbs = self._maker_verbs(*groups)
        self._parts.use(*verbs)
        counted = self._counted_list() if has_operation else None
        groups = [mention for mention in groups if mention not in (*verbs, counted)]
        self._parts.use(*(self._parts.by_after(mention) for mention in groups))
        periods = self._parts.unused(*PERIODS)
        if len(periods) == 1 and all(self._parts.columns_for(mention, is_date) for mention in groups):
            return self._grouping(periods[0])
        if len({mention.columns for mention in groups}) == 1 and not periods:
            if self._parts.unused("who") and not self._parts.columns_for(groups[0], is_of_persons):
                raise UnclearError(degree)  # "Who edited the most?" is not asked of the day of the last edit
            return self._grouping(groups[0])
        if groups or periods or (is_count and not self._parts.unused("who")):
            raise UnclearError(degree)
        if not is_count:
            return None
        column = self._labelled("author")  # "who wrote the most"
        return Expression(members_of(column), column.title)

    def _extreme(self, degree: Mention, limit: int) -> Plan:
        """Return a query for the highest or latest value, or for the rows that have it."""
        column, order = self._ranked_column(degree, DEGREES[degree.kind])
        if column.untyped and self._parts.are_documents:
            raise UnclearError(column.name)  # "around 400 BC" may be the earliest
        period = next((one for one in self._parts.unused("year", "month", "decade") if self._parts.asks(one)), None)
        extreme = f"{_FUNCTIONS[order]}({quoted(column.name)})"
        words = f"{_EXTREMES[order][is_date(column)]} {column.title}"
        if is_date(column) and period is not None and limit == 1 and not self._parts.unused("group"):
            self._parts.use(period)  # "In which year was the first one made?"
            sql = f"{PERIODS[period.kind].format(extreme)} AS {quoted(period.kind)}"
            return Plan(self._select(sql), f"{period.kind} of the {words}{self._where()}")
        if is_date(column):
            self._parts.use(self._parts.take("when"), self._parts.take("day"))
        elif any(column in columns_of_measure(self._table, mention.name) for mention in self._parts.unused("measure")):
            self._parts.take("measure")
        if self._parts.unused("group"):  # "the highest price for each region"
            group = None if column.last else self._group()
            if group is None or limit > 1 or self._parts.are_asked() or self._parts.has("who"):
                raise UnclearError(degree)
            return self._computed(Expression(extreme, words), group)
        if self._parts.unused("unit", "count"):  # "and how many grams does it weigh?"
            self._check_units(column)
            self._parts.take("count")
        shown = self._shown_columns(column)
        if not shown and (limit > 1 or degree.kind in {"most", "fewest", "commonest"}):
            raise UnclearError(degree)
        if shown or column.last:
            return self._extreme_rows(Expression(quoted(column.name), column.title), order, shown, limit)
        return Plan(self._select(f"{extreme} AS {quoted(column.title)}"), f"{words}{self._where()}")

    def _ranked_column(self, degree: Mention, order: str) -> tuple[ColumnInfo, str]:
        """Return the column by which rows are ranked, and the order: the oldest has the earliest date."""
        if degree.name and self._parts.following(degree, "reading", gap=0) is not None:
            raise UnclearError(degree)  # "the longest production"
        if degree.name:
            columns = self._columns_of_measure(degree)
            if degree.name == "age" and not columns:
                columns, order = self._dates() or years_of(self._table), "ASC" if order == "DESC" else "DESC"
        elif degree.kind in {"latest", "earliest"}:
            if self._parts.are_documents and any(
                    one.last == degree.first and one.kind == "value" for one in self._parts.mentions):
                raise UnclearError(degree)  # "rejected first", which no date of the documents may tell
            named = [one for one in self._columns() if self._parts.columns_for(one, is_year)]
            self._parts.use(*named)
            behind = self._parts.directly_behind(degree)
            if behind is not None and behind.kind == "column" and not behind.is_head and not self._parts.columns_for(
                    behind, tells_when):
                raise UnclearError(degree)  # the latest version may be that of the latest document, or the highest
            columns = [self._parts.column_of(one, is_year) for one in named] or self._dates() or years_of(self._table)
        else:
            columns = [column] if (column := self._number_column()) is not None else []
        column = only(columns, degree)
        self._parts.use(*(mention for mention in self._parts.unused("column") if mention.columns == (column.name,)))
        return column, order

    def _columns_of_measure(self, degree: Mention) -> list[ColumnInfo]:
        """Return the columns of what a degree such as "longest" measures, or of the number named behind it."""
        columns = columns_of_measure(self._table, degree.name)
        named = self._parts.following(degree, "column", gap=0)
        if named is None or not self._parts.columns_for(named, is_number):
            return columns
        if both := [column for column in columns if column.name in named.columns]:
            return both
        # "the longest period" is of the period, not of a distance. But a number that has a measure of its own, or by
        # which rows are called, is not measured so: "the longest weight".
        measured = {column.name for measure in lexicon().measures
                    for column in columns_of_measure(self._table, measure)}
        is_other = degree.name == "age" or not measured.isdisjoint(named.columns) or is_kind_of(
            "number_word", self._parts.words(named).split()[-1])
        return [] if is_other else [self._parts.column_of(named, is_number)]

    def _shown_columns(self, ranked: ColumnInfo) -> list[ColumnInfo]:
        """Return the columns that the question asks to see: those it names, else those that name a row it asks for."""
        if self._parts.are_asked():
            self._parts.use(*filter(self._parts.is_deed, self._columns()))
        mentions = self._columns()
        self._parts.use(*mentions)
        columns = [*self._identifiers, *(self._parts.column_of(mention) for mention in mentions)]
        named = {column.name: column for column in columns if column != ranked}
        asks_for_person = self._parts.take("who") is not None
        if asks_for_person and not named and self._parts.are_documents:
            raise UnclearError(ranked.name)
        if named or not (asks_for_person or self._parts.are_asked()):
            return list(named.values())
        return self._parts.naming_columns()

    def _extreme_rows(self, value: Expression, order: str, shown: Sequence[ColumnInfo], limit: int) -> Plan:
        """Return a query for the rows with an extreme value, with all that share the last one."""
        shown_value = value.sql if value.sql == quoted(value.words) else f"{value.sql} AS {quoted(value.words)}"
        what = ", ".join([*(quoted(column.name) for column in shown), shown_value])
        is_dated = any(is_date(column) and quoted(column.name) == value.sql for column in self._table.columns)
        text = f"{', '.join(column.title for column in shown)} with the " if shown else ""
        text += f"{_EXTREMES[order][is_dated]} {value.words}{self._where()}"
        partial = next((one for one in self._table.columns if one.last and quoted(one.name) == value.sql), None)
        if partial is not None:
            return self._extreme_partial(partial, order, shown, text, limit)
        if limit == 1:
            best = self._select(f"{_FUNCTIONS[order]}({value.sql})")
            return Plan(self._select(what, extra=[f"{value.sql} = ({best})"], rest=" ORDER BY ALL"), text)
        sql = self._select(what, extra=[f"{value.sql} IS NOT NULL"],
                           rest=f" ORDER BY {value.sql} {order} LIMIT {limit + 1}")
        return Plan(sql, text, shown=limit)

    def _extreme_partial(self, column: ColumnInfo, order: str, shown: Sequence[ColumnInfo], text: str,
                         limit: int) -> Plan:
        """Return a query for the only row that must have the latest or earliest of dates that may say a month alone."""
        if limit > 1:
            raise UnclearError(column.name)
        ends = (column.last, column.name) if order == "DESC" else (column.name, column.last)
        may_be, must_be = map(quoted, ends)
        best = self._select(f"{_FUNCTIONS[order]}({must_be})")
        written = f"{quoted(self._parts.texts_of(column))} AS {quoted(column.title)}"
        what = ", ".join([*(quoted(one.name) for one in shown), written])
        sign = ">=" if order == "DESC" else "<="
        return Plan(self._select(what, extra=[f"{may_be} {sign} ({best})"], rest=" ORDER BY ALL"), text,
                    must_be_single=True)
