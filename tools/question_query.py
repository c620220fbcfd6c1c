"""The query that a question asks of one table, by the form of the question: a count, an extreme, a share, a lookup."""

from collections.abc import Sequence
from dataclasses import replace

from ..schemas.records import ColumnInfo
from .asked_parts import DEGREES, SKIPPED, AskedParts, UnclearError, is_date, is_list, is_number, only, quoted
from .question_comparison import EACH, ComparedRows
from .question_conditions import size
from .question_target import (
    AGGREGATES,
    PERIODS,
    Plan,
    count_different,
    folded_text,
    members_of,
)
from .question_values import ConditionReader
from .question_words import is_kind_of, lexicon
from .table_mentions import Mention, Reading

_EXTREMES = {"DESC": ("highest", "latest"), "ASC": ("lowest", "earliest")}
"""The words for the first value in an order, of numbers and of dates."""
_THERE_ARE = frozenset({"there", "exist", "all", "different", "distinct", "possible"})
_MOST_LISTED = 100
_WHETHER = frozenset({"is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can"})


def plan_query(reading: Reading) -> Plan:
    """Return the query that a reading asks for."""
    parts = AskedParts(reading)
    if not parts.mentions:  # "?"
        raise UnclearError(reading.table.name)
    query = QuestionQuery(parts, ConditionReader(parts).read())
    plan = query.plan()
    conditioned = {condition.column for condition in query.conditions}
    parts.use(*(mention for mention in parts.unused("column") if mention.is_head or conditioned.intersection(
        (*mention.columns, *mention.also))))  # "authored", beside an author
    for mention in parts.unused("or"):  # "write or co-write"
        before, after = parts.preceding(mention, "column"), parts.following(mention, "column")
        if before is not None and after is not None and set(before.columns) & set(after.columns):
            parts.use(mention)
    if left := parts.unused():
        raise UnclearError(left[0])
    otherwise = plan.otherwise or plan.sql
    for condition in query.conditions:
        otherwise = otherwise.replace(condition.sql, condition.otherwise or condition.sql)
    return replace(plan, otherwise=otherwise)


class QuestionQuery(ComparedRows):
    """The forms of questions, each a rule over what the conditions of a question leave."""

    def plan(self) -> Plan:
        """Return the query of the first form that the question has."""
        forms = (self._share, self._several_counts, self._several_figures, self._groups_of_size, self._comparison,
                 self._ranking, self._aggregate, self._listing, self._count, self._lookup)
        plan = next((plan for form in forms if (plan := form()) is not None), None)
        if plan is None:
            raise UnclearError(self._table.name)
        return plan

    def _ranking(self) -> Plan | None:
        """Read the highest or latest value, the rows that have it, or the groups with the most rows."""
        degrees = self._parts.unused(*DEGREES)
        if not degrees:
            return None
        if len(degrees) > 1:
            raise UnclearError(degrees[1])
        degree, order = degrees[0], DEGREES[degrees[0].kind]
        self._parts.use(degree)
        limit = self._limit()
        if (longest := self._longest_list(degree) or self._extreme_size(degree)) is not None:
            return longest
        distinct = self._parts.following(degree, "distinct", gap=0)
        of = self._parts.following(distinct, "column", gap=0) if distinct is not None else None
        self._parts.use(distinct, of)
        group = self._ranked_group(degree)
        if group is None:
            return self._extreme(degree, limit)
        self._parts.take("who")
        for mention in self._parts.unused("group"):  # "sorted by status: which are the most common, how many has each"
            of = self._parts.following(mention, "column", gap=0)
            names_group = of is not None and self._parts.columns[of.columns[0]].title == group[1]
            if names_group or self._parts.words(mention) in EACH:
                self._parts.use(mention)
        value = self._group_value(degree.name) if of is None else count_different(self._parts.column_of(of))
        return replace(self._ranked_groups(group, *value, order, limit), percent=value[1].startswith("percent"))

    def _longest_list(self, degree: Mention) -> Plan | None:
        """Read "Which book has the most authors?" as the row with the longest list."""
        lists = [mention for mention in self._columns() if self._parts.columns_for(mention, is_list)]
        heads = [one for one in self._parts.mentions if self._parts.is_rows(one) and self._parts.asks(one)]
        says_long = degree.kind in {"most", "fewest"} or degree.name == "length" or self._parts.unused("count")
        is_row = heads and heads[0].first < min(one.first for one in (*lists[:1], degree))
        if not (lists and is_row and says_long and degree.kind not in {"latest", "earliest", "commonest"}) or (
                self._parts.by_after(lists[0]) is not None):
            return None
        column = self._parts.column_of(lists[0], is_list)
        if degree.kind == "fewest" and column.empty:
            raise UnclearError(degree)  # a row without a list may have none
        self._parts.use(*(mention for mention in lists if column.name in mention.columns), self._parts.take("count"),
                        *(one for one in self._parts.unused("measure") if one.name == "length"))
        shown = self._identifiers or self._parts.naming_columns()
        return self._extreme_rows(*size(column), DEGREES[degree.kind], shown, 1)

    def _extreme_size(self, degree: Mention) -> Plan | None:
        """Read "What is the maximum number of authors of a book?"."""
        counts = self._parts.unused("count")
        noun = self._parts.noun_after(counts[0] if counts else degree)
        says_number = degree.kind in {"max", "min"} if counts else self._parts.words(degree).endswith("number of")
        if noun is None or not says_number or self._columns() != [noun] or not (
                self._parts.columns_for(noun, is_list) and self._parts.reading.words[0].folded == "what"):
            return None
        column, order = self._parts.column_of(noun, is_list), DEGREES[degree.kind]
        if order == "ASC" and column.empty:
            raise UnclearError(degree)  # a row without a list may have none
        self._parts.use(noun, *counts)
        value, label = size(column)
        label = f"{_EXTREMES[order][0]} {label}"
        return Plan(self._select(f"{'max' if order == 'DESC' else 'min'}({value}) AS {quoted(label)}"),
                    f"{label}{self._where()}")

    def _ranked_group(self, degree: Mention) -> tuple[str, str] | None:
        """Return what is grouped by, if groups are ranked: by how many rows they have, or by an operation."""
        years = {column.name for column in self._parts.years()}
        numbers = [mention for mention in self._columns() if self._parts.columns_for(mention, is_number)
                   and not (self._parts.asks(mention) and years.issuperset(mention.columns))]
        has_operation = self._parts.unused("share", *AGGREGATES)
        # "the top three regions by number of sales"
        is_by_count = not degree.name and bool(self._parts.unused("count"))
        is_count = not numbers and (degree.kind in {"most", "fewest", "commonest"} or is_by_count)
        if not (has_operation or is_count) or degree.kind in {"latest", "earliest"}:
            return None
        groups = [mention for mention in self._columns() if mention not in numbers]
        made = self._made(*groups)  # "which publisher released the most"
        self._parts.use(*made)
        groups = [one for one in groups if one not in made]
        if has_operation and (listed := self._counted_list()) is not None:
            groups = [one for one in groups if one != listed]
        self._parts.use(*(self._parts.by_after(mention) for mention in groups))
        periods = self._parts.unused(*PERIODS)
        if len(periods) == 1 and all(self._parts.columns_for(one, is_date) for one in groups):
            return self._grouping(periods[0])
        if len({mention.columns for mention in groups}) == 1 and not periods:
            return self._grouping(groups[0])
        if groups or periods or (is_count and not self._parts.unused("who")):
            raise UnclearError(degree)
        if not is_count:
            return None
        column = self._labelled("author")
        return members_of(column), column.title

    def _extreme(self, degree: Mention, limit: int) -> Plan:
        """Return a query for the highest or latest value, or for the rows that have it."""
        column, order = self._ranked_column(degree, DEGREES[degree.kind])
        period = next((one for one in self._parts.unused("year", "month", "decade") if self._parts.asks(one)), None)
        if is_date(column) and period is not None and limit == 1 and not self._parts.unused("group"):
            self._parts.use(period)  # "In which year was the first one made?"
            first = PERIODS[period.kind].format(f"{'max' if order == 'DESC' else 'min'}({quoted(column.name)})")
            return Plan(self._select(f"{first} AS {quoted(period.kind)}"),
                        f"{period.kind} of the {_EXTREMES[order][1]} {column.title}{self._where()}")
        if is_date(column):
            self._parts.use(self._parts.take("when"), self._parts.take("day"))
        elif any(column in self._parts.measured(mention.name) for mention in self._parts.unused("measure")):
            self._parts.take("measure")
        word, function = _EXTREMES[order][is_date(column)], "max" if order == "DESC" else "min"
        extreme = f"{function}({quoted(column.name)})"
        if self._parts.unused("group"):  # "the highest price for each region"
            group = self._group()
            if group is None or limit > 1 or self._parts.are_asked() or self._parts.has("who"):
                raise UnclearError(degree)
            return self._computed(extreme, f"{word} {column.title}", group)
        if self._parts.unused("unit", "count"):  # "and how many grams does it weigh?"
            self._check_units(column)
            self._parts.take("count")
        shown = self._shown_columns(column)
        if shown:
            return self._extreme_rows(quoted(column.name), column.title, order, shown, limit)
        if limit > 1 or degree.kind in {"most", "fewest", "commonest"}:
            raise UnclearError(degree)
        return Plan(self._select(f"{extreme} AS {quoted(column.title)}"), f"{word} {column.title}{self._where()}")

    def _ranked_column(self, degree: Mention, order: str) -> tuple[ColumnInfo, str]:
        """Return the column by which rows are ranked, and the order: the oldest has the earliest date."""
        named = self._parts.following(degree, "column", gap=0)
        if degree.name and self._parts.following(degree, "reading", gap=0) is not None:
            raise UnclearError(degree)  # "the longest production"
        if degree.name:
            columns = self._parts.measured(degree.name)
            if named is not None and self._parts.columns_for(named, is_number):  # "the longest period", not distance
                measured = [one.name for other in lexicon().measures for one in self._parts.measured(other)]
                is_other = degree.name == "age" or not set(measured).isdisjoint(named.columns) or is_kind_of(
                    "number_word", self._parts.words(named).split()[-1])
                columns = [column for column in columns if column.name in named.columns] or (
                    [] if is_other else [self._parts.column_of(named, is_number)])
            if degree.name == "age" and not columns:
                columns, order = self._dates(), "ASC" if order == "DESC" else "DESC"
        elif degree.kind in {"latest", "earliest"}:
            if self._parts.are_documents and any(
                    one.last == degree.first and one.kind == "value" for one in self._parts.mentions):
                raise UnclearError(degree)  # "rejected first", which no date of the documents may tell
            columns = self._dates() or self._parts.years()
        else:
            columns = [column] if (column := self._number_column()) is not None else []
        column = only(columns, degree)
        self._parts.use(*(mention for mention in self._parts.unused("column") if mention.columns == (column.name,)))
        return column, order

    def _shown_columns(self, ranked: ColumnInfo) -> list[ColumnInfo]:
        """Return the columns that the question asks to see: those it names, else those that name a row it asks for."""
        mentions = self._columns()
        self._parts.use(*mentions)
        named = {column.name: column for column in [
            *self._identifiers, *(self._parts.column_of(mention) for mention in mentions)] if column != ranked}
        asks_for_person = self._parts.take("who") is not None
        if asks_for_person and not named and self._parts.are_documents:
            raise UnclearError(ranked.name)
        if named or not (asks_for_person or self._parts.are_asked()):
            return list(named.values())
        return self._parts.naming_columns()

    def _extreme_rows(self, value: str, label: str, order: str, shown: Sequence[ColumnInfo], limit: int) -> Plan:
        """Return a query for the rows with an extreme value, with all that share the last one."""
        what = ", ".join([*(quoted(one.name) for one in shown),
                          value if value == quoted(label) else f"{value} AS {quoted(label)}"])
        degree = "highest" if order == "DESC" else "lowest"
        text = f"{', '.join(one.title for one in shown)} with the {degree} {label}{self._where()}"
        if limit == 1:
            best = self._select(f"{'max' if order == 'DESC' else 'min'}({value})")
            return Plan(self._select(what, extra=[f"{value} = ({best})"], rest=" ORDER BY ALL"), text)
        sql = self._select(what, extra=[f"{value} IS NOT NULL"], rest=f" ORDER BY {value} {order} LIMIT {limit + 1}")
        return Plan(sql, text, shown=limit)

    def _aggregate(self) -> Plan | None:
        """Read a total, mean or median of a column, of all rows or of groups."""
        operations, counts = self._parts.unused(*AGGREGATES), self._parts.unused("count")
        if len({mention.kind for mention in operations}) != 1:
            return None
        kind = operations[0].kind
        column = self._number_column()
        if column is None and kind == "sum" and counts:
            self._parts.use(*operations)
            return self._count()  # "how many in total"
        if column is None:  # "how many authors on average"
            listed = self._counted_list()
            if kind != "sum" and counts and listed is None:
                return self._mean_size(kind, counts)
            if kind == "sum" or listed is None:
                raise UnclearError(kind)
            self._parts.use(listed)
            column = self._parts.column_of(listed, is_list)
        self._parts.use(*operations, *counts)
        function, word = AGGREGATES[kind]
        value, label = size(column)
        return self._computed(f"{function}({value})", f"{word} of {label}", self._group())

    def _mean_size(self, kind: str, counts: Sequence[Mention]) -> Plan:
        """Read "the average number of books per author" as the mean of how many rows the groups have."""
        self._parts.use(*self._parts.unused(*AGGREGATES), *counts)
        group = self._group()
        if group is None or not self._parts.are_counted():
            raise UnclearError(kind)
        function, word = AGGREGATES[kind]
        label = f"count of {self._table.title}"
        member = "member" if "unnest(" in group[0] else group[0]
        plan = self._computed("count(*)", label, group, f" HAVING count({member}) > 0 ORDER BY 1")
        sql, folded = (f"SELECT {function}({quoted(label)}) AS {quoted(word)} FROM ({sql}) AS sizes"  # noqa: S608 - as above
                       for sql in (plan.sql, plan.folded))
        return Plan(sql, f"{word} of the {plan.understood}", otherwise=folded if plan.folded else "")

    def _count(self) -> Plan | None:
        """Read how many rows there are, or different values of a column."""
        counts = [mention for mention in self._parts.mentions if mention.kind == "count"]
        # "films by genre"
        is_heading = self._parts.is_rows(self._parts.mentions[0]) and bool(self._parts.unused("group"))
        if self._identifiers or not (counts or is_heading or self._parts.unused("distinct", "spread")):
            return None
        noun = next((self._parts.noun_after(mention) for mention in counts), None)
        self._parts.take("count")
        is_distinct = self._parts.take("distinct") is not None
        group = self._group()
        if noun is not None and noun.kind == "column" and not noun.is_head and noun in self._parts.unused("column"):
            return self._count_of(self._parts.column_of(noun), group, is_distinct=is_distinct)
        self._take_heads()
        has_number = any(self._parts.columns_for(mention, is_number) for mention in self._columns())
        are_people = noun is not None and noun.kind == "people" and (is_distinct or self._parts.are_documents)
        people = [one for one in self._columns() if not self._parts.columns_for(one, is_number)] if are_people else []
        if people:  # "how many different people have been editors"
            return self._count_of(self._parts.column_of(people[0]), group, is_distinct=True)
        if (noun is None and has_number) or is_distinct or not self._parts.are_counted():
            column = self._number_column()
            if column is None:
                raise UnclearError(self._table.name)
            return self._numbers_of(column)
        if self._named_documents() or self._is_numbered():
            raise UnclearError(noun)  # what is counted is something in a document, or whatever deals with its subject
        return self._computed("count(*)", f"count of {self._table.title}", group)

    def _numbers_of(self, column: ColumnInfo) -> Plan:
        """Return a query for the sum of a column if the question says that all is added, else for its only number."""
        self._check_units(column)
        self._take_heads()
        if self._parts.has("overall", "sum"):
            self._parts.take("sum")
            return self._computed(f"sum({quoted(column.name)})", f"total of {column.title}")
        if not self.conditions:
            raise UnclearError(column.name)
        return Plan(self._select(quoted(column.name)), f"{column.title}{self._where()}", must_be_single=True)

    def _count_of(self, column: ColumnInfo, group: tuple[str, str] | None, *, is_distinct: bool) -> Plan:
        """Return a query for how many different values a column has; of a column of numbers, for its only number."""
        self._parts.use(*(mention for mention in self._parts.unused("column") if column.name in mention.columns))
        self._take_heads()
        if column.kind == "boolean" or (group is not None and (is_list(column) or is_number(column))):
            raise UnclearError(column.name)
        if is_number(column) and not is_distinct:
            return self._numbers_of(column)
        label = f"number of different {column.title}"
        members = members_of(column) if is_list(column) else ""
        name = "member" if members else quoted(column.name)
        plain, folded = f"count(DISTINCT {name})", f"count(DISTINCT {folded_text(name)})"
        if group is not None or not (members or column.kind == "text"):
            return self._computed(plain, label, group)
        rest = " HAVING count(*) > 0" if self._is_numbered() else ""  # of no such row, nothing is said
        return Plan(self._select(f"{plain} AS {quoted(label)}", members=members, rest=rest), f"{label}{self._where()}",
                    otherwise=self._select(f"{folded} AS {quoted(label)}", members=members, rest=rest))

    def _listing(self) -> Plan | None:
        """Read "Which genres are there?" as the values of a column."""
        mentions = self._columns()
        words = {word.folded for word in self._parts.reading.words}
        if self.conditions or len({one.columns for one in mentions}) != 1 or _THERE_ARE.isdisjoint(words) or not (
                self._parts.asks(mentions[0])):
            return None
        column = self._parts.column_of(mentions[0])
        if column.kind not in {"text", "list"} or column.distinct > _MOST_LISTED:
            return None
        self._parts.use(*mentions, self._parts.take("distinct"))
        members = members_of(column) if is_list(column) else ""
        name = "member" if members else quoted(column.name)
        return Plan(self._select(f"DISTINCT {name} AS {quoted(column.title)}", members=members, rest=" ORDER BY ALL"),
                    f"different {column.title}")

    def _lookup(self) -> Plan | None:
        """Read a question for a cell or a list: "What is the status of EIP-1?", "Which proposals are Final?"."""
        if not self.conditions or self._asks_whether_or_of_others():
            return None
        when, where, who = (self._parts.take(kind) is not None for kind in ("when", "where", "who"))
        when = when or self._parts.take("day") is not None
        number = self._number_column() if self._parts.unused("measure", "unit") else None
        mentions = self._columns()
        self._parts.use(*mentions, *(one for one in self._parts.unused("group") if self._parts.words(one) in EACH))
        columns = [*self._identifiers, *(self._parts.column_of(mention) for mention in mentions)]
        columns += [number] if number is not None else []
        if when and not any(is_date(column) for column in columns):
            columns.append(only(self._dates(), "when"))
        if where and not columns:
            columns.append(self._labelled("place"))
        if who and not columns and self._parts.are_documents:
            raise UnclearError(self._table.name)  # no document is a person
        if who and not columns and all(one.kind in {"who", "value", *SKIPPED} for one in self._parts.mentions):
            raise UnclearError(self._table.name)  # "Who is Ada Blum?" asks for no record with her in it
        are_rows = self._parts.are_asked() or (who and not columns)
        names = [one for one in self._parts.mentions if one.kind == "number"
                 and (head := self._parts.preceding(one, "column", gap=0)) is not None and head.is_head]
        if are_rows and ((names and columns) or self._named_documents()):
            raise UnclearError(self._table.name)  # "Which RFCs replace RFC 2616?" asks for others
        if not columns and not are_rows:
            return None
        named = self._parts.naming_columns() if are_rows and not self._identifiers else []
        listed = list({column.name: column for column in (*named, *columns)}.values())
        text = f"{', '.join(column.title for column in listed)}{self._where()}"
        if len(listed) == 1 and is_list(listed[0]):
            return Plan(self._select("DISTINCT member", members=members_of(listed[0]), rest=" ORDER BY ALL"), text)
        what = ", ".join(quoted(column.name) for column in listed)
        is_single = not are_rows and not self._identifiers and (
            len(listed) > 1 or any(is_number(column) for column in listed))
        return Plan(self._select(f"DISTINCT {what}", rest=" ORDER BY ALL"), text, must_be_single=is_single)

    def _asks_whether_or_of_others(self) -> bool:
        """Return True for "Does RFC 1 require RFC 2?", "the status of what RFC 1 requires", and "who wrote both".

        Also for a list of documents beside other documents: "Which RFCs require RFCs by Ada?".
        """
        if self._parts.reading.words[0].folded in _WHETHER:
            return True
        columns = self._columns()
        rows = [one.first for one in self._parts.mentions if self._parts.is_rows(one)]
        if rows and any(rows[0] < one.first < rows[-1] and self._parts.columns_for(one, is_list) for one in columns):
            return True
        documents = [one for one in self.conditions if one.column == "document"]
        if documents and self._parts.has("together"):
            return True
        firsts = [column.first for column in columns]
        return bool(firsts) and any(min(firsts) < one.first and max(firsts) >= one.last for one in documents)
