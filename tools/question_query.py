"""The query that a question asks of one table, by what is computed: a share, an extreme, a total, a count, a cell."""

import re
from dataclasses import replace

from ..graph_store.sql.logical_tables import quoted
from ..schemas.records import ColumnInfo
from .asked_parts import DEGREES, PERIODS, SKIPPED, AskedParts
from .question_columns import UnclearError, columns_of_measure, fits, only, written_column
from .question_conditions import ConditionReader
from .question_measures import Expression, size
from .question_target import AGGREGATES, BEST, BEST_WORD, Plan, QuestionTarget, folded_text, members_of, unnested, where
from .question_words import LEAST_LETTERS, Mention, keys_of, listed_words
from .table_mentions import Reading

_MOST_RANKED = 100  # rows of a "top" list, as a larger number is rather a year


def plan_query(reading: Reading) -> Plan:
    """Return the query that a reading asks for.

    Raises:
        UnclearError: the question may mean several things, or has a word that became no part of the query.
    """
    parts = AskedParts(reading)
    query = QuestionQuery(parts, ConditionReader(parts).read())
    plan = query.plan()
    all_conditions = (*query.conditions, *query.compared)
    conditioned = {condition.column for condition in all_conditions}
    people = {name for name in conditioned if fits(parts.columns[name], "person")}
    parts.use(*(mention for mention in parts.unused("column") if mention.is_head
                or (parts.is_deed(mention) and people.issubset(mention.columns))  # "written in 2001"
                or not conditioned.isdisjoint((*mention.columns, *mention.also))))  # "authored", beside an author
    is_dated = any(fits(parts.columns[name], "time") for name in conditioned)
    if is_dated:
        parts.use(*parts.unused("fresh"))  # what is of 2019 was new in 2019
    elif conditioned:
        parts.use(*parts.unused("consumed"))  # "read on the Kindle" says no more than "on the Kindle", but for its time
    if any(quoted(column.name) in plan.sql for column in parts.columns_of("consumed")):
        parts.use(*parts.unused("consumed"))  # "watched the most", by its views
    if unused := parts.unused():
        raise UnclearError(unused[0])
    other_sense = plan.sql
    for condition in all_conditions:
        other_sense = other_sense.replace(condition.sql, condition.otherwise or condition.sql)
    for name, rivals in parts.rivals.items():  # another date of the rows may be meant, where they have one
        dates = ", ".join(quoted(column.name) for column in (*rivals, parts.columns[name]))
        any_date = f"CAST(coalesce({dates}) AS DATE)"
        other_sense = any_date.join(re.split(rf"(?<! AS ){re.escape(quoted(name))}", other_sense))
    return replace(plan, others=(*plan.others, other_sense), lacking=dict(query.lacking(plan)))


class QuestionQuery(QuestionTarget):
    """The forms of questions, each a rule over what the conditions of a question leave."""

    def plan(self) -> Plan:
        """Return the query of the first form that the question has."""
        for form in (self._comparison, self._share, self._ranking, self._aggregate, self._count, self._lookup):
            if (plan := form()) is not None:
                return plan
        raise UnclearError(self._table.name)

    # The forms of questions; each returns None if the question does not have it.

    def _comparison(self) -> Plan | None:
        """Read "Did Ada or Bo write more drafts?" and "how many more in 2017 than in 2016"."""
        joined = [condition for condition in self.conditions if condition.each]
        if len(joined) != 1 or len(joined[0].each) != 2 or self._parts.take("more") is None:  # noqa: PLR2004 - two sides
            return None
        self.compared, self.conditions = joined[0].each, [one for one in self.conditions if one not in joined]
        for kind in ("more", "who", "count"):
            self._parts.take(kind)
        column = self._number_column()
        if column is None and not any(map(self._parts.is_rows, self._parts.mentions)):
            raise UnclearError(self._table.name)
        value = self._row_count() if column is None else Expression(
            f"sum({quoted(column.name)})", f"total of {column.title}")
        sides = [f"{value.sql} FILTER (WHERE {one.sql}) AS {quoted(' or '.join(one.values))}" for one in self.compared]
        text = f"{value.words}{self._where()}, of {' and of '.join(one.text for one in self.compared)}"
        return Plan(self._select(", ".join(sides)), text, of_columns=True)

    def _share(self) -> Plan | None:
        """Read "what percentage of the birds are female"."""
        if self._parts.unused(*DEGREES) or (share := self._parts.take("share")) is None:
            return None
        # "What share of the female birds are heavier than 5 kg": the conditions before the verb are of the rows, those
        # behind it of the share. Without a verb, all are of the share.
        verb = next((mention.first for mention in self._parts.after(share)
                     if mention.words.partition(" ")[0] in listed_words("verbs")), 0)
        whole = [condition for condition in self.conditions if condition.last <= verb]
        of_share = [condition for condition in self.conditions if condition not in whole]
        self._parts.use(*(mention for mention in self._parts.unused("unit") if mention.name == "%"))
        if not of_share or self._named_documents():  # a share of one document is one of its contents
            raise UnclearError(share)
        self.conditions = whole
        inner = " AND ".join(condition.sql for condition in of_share)
        return Plan(self._select(f"round(100.0 * count(*) FILTER (WHERE {inner}) / count(*), 1) AS percent"),
                    f"share of {self._table.title}{self._where()} {where(of_share).strip()}", percent=True)

    def _ranking(self) -> Plan | None:
        """Read the highest or latest value, the rows that have it, or the groups with the most rows."""
        degrees = self._parts.unused(*DEGREES)
        if len(degrees) != 1:
            return None
        degree = degrees[0]
        self._parts.use(degree)
        order, number = DEGREES[degree.kind], next(iter(self._parts.unused("number")), None)
        self._parts.use(number)
        if number is not None and not (number.name.isdecimal() and 1 < int(number.name) <= _MOST_RANKED):
            raise UnclearError(number)  # rather a year, or with a unit
        limit = int(number.name) if number is not None else 1  # how many of the first are asked for
        if (longest := self._longest_list(degree)) is not None:
            shown = self._identifiers or self._parts.naming_columns()
            return self._extreme_rows(size(longest), order, shown, 1, BEST_WORD["number"][order])
        if (group := self._ranked_group(degree)) is None:
            return self._extreme(degree, limit)
        self._parts.take("who")
        self._parts.take("group")  # "sorted by status: which are the most common, how many has each"
        value = self._group_value()
        # A few more groups show whether the last one is tied, or which others share the first place.
        _, name = unnested(group.sql)
        plan = self._computed(value, group, f" HAVING {value.sql} IS NOT NULL AND count({name}) > 0 "
                                            f"ORDER BY 2 {order}, 1 LIMIT {max(limit, 5) + 1}")
        understood = f"{group.words} with the {BEST_WORD['number'][order]} {value.words}{self._where()}"
        return replace(plan, understood=understood, shown=limit)

    def _group_value(self) -> Expression:
        """Return what is computed of each group that is ranked: an aggregate, or how many rows it has."""
        operation, column = self._parts.take(*AGGREGATES), self._number_column()
        self._parts.take("count")  # the average number of pages
        if operation is not None and column is not None:
            function, word = AGGREGATES[operation.kind]
            return Expression(f"{function}({quoted(column.name)})", f"{word} of {column.title}")
        if operation is not None or column is not None or not self._parts.are_counted():
            raise UnclearError(self._table.name)  # "the region with the highest average" does not say of what
        return self._row_count()

    def _longest_list(self, degree: Mention) -> ColumnInfo | None:
        """Return the column of lists of which a row with the longest is asked for: "Which book has most authors?"."""
        lists = [mention for mention in self._columns() if self._parts.may_be(mention, "list")]
        says_long = degree.kind in {"most", "fewest"} or degree.name == "length"
        if not (lists and says_long and self._parts.asks_for_rows()):
            return None
        column = self._parts.column_of(lists[0], "list")
        behind = self._parts.directly_behind(lists[0])
        if (degree.kind == "fewest" and column.empty) or (behind is not None and behind.words == "by"):
            raise UnclearError(degree)  # a row without a list may have none, "required by the most" counts other rows
        self._parts.use(*(mention for mention in lists if column.name in mention.columns), self._parts.take("count"))
        return column

    def _ranked_group(self, degree: Mention) -> Expression | None:
        """Return what is grouped by, if groups are ranked: by how many rows they have, or by an operation."""
        numbers = [mention for mention in self._columns()
                   if self._parts.may_be(mention, "number") and not self._parts.may_be(mention, "year")]
        # "the top three regions by number of sales"; a degree with a name ("heaviest") ranks by that measure.
        is_by_count = not degree.name and bool(self._parts.unused("count"))
        ranks_by_count = not numbers and (degree.kind in {"most", "fewest", "commonest"} or is_by_count)
        if degree.kind in {"latest", "earliest"} or not (ranks_by_count or self._parts.unused(*AGGREGATES)):
            return None
        groups = [mention for mention in self._columns() if mention not in numbers]
        periods = self._parts.unused(*PERIODS)
        if groups and all(self._parts.may_be(mention, "year") for mention in groups):
            self._parts.use(*(period for period in periods if period.kind == "year"))  # "In which year were most sold?"
            periods = self._parts.unused(*PERIODS)
        if len(periods) == 1 and all(self._parts.may_be(mention, "date") for mention in groups):
            return self._grouping(periods[0])
        if groups and groups[0].first > degree.first and self._parts.asks_for_rows():
            raise UnclearError(groups[0])  # "Which book has the most pages?" asks for no group of books
        if len({mention.columns for mention in groups}) == 1 and not periods:
            if self._parts.unused("who") and not self._parts.may_be(groups[0], "person"):
                raise UnclearError(degree)  # "Who edited the most?" is not asked of the day of the last edit
            return self._grouping(groups[0])
        if groups or periods or not (ranks_by_count and self._parts.unused("who")):
            raise UnclearError(degree)  # several groups, or none that is ranked
        column = only(self._parts.columns_of("author"), degree)  # "who wrote the most"
        return Expression(members_of(column), column.title)

    def _extreme(self, degree: Mention, limit: int) -> Plan:
        """Return a query for the rows with the highest or latest value, or for this alone if no row is asked for."""
        column, order = self._ranked_column(degree, DEGREES[degree.kind])
        self._parts.check_comparable(column)
        word = BEST_WORD["date" if column.kind == "date" else "number"][order]
        extreme, words = f"{BEST[order]}({quoted(column.name)})", f"{word} {column.title}"
        if column.kind == "date":  # "and in which year was that?" is answered by the date
            self._parts.use(*self._parts.unused("when", "day"), *filter(
                self._parts.asks, self._parts.unused("year", "month", "decade")))
        elif any(column in columns_of_measure(self._table, mention.name) for mention in self._parts.unused("measure")):
            self._parts.take("measure")
        if self._parts.unused("unit", "count"):  # "and how many grams does it weigh?"
            self._check_units(column)
            self._parts.take("count")
        shown = self._shown_columns(column)
        if not shown and (limit > 1 or degree.kind in {"most", "fewest", "commonest"}):
            raise UnclearError(degree)  # these are of things, of which the question asks for none
        if shown or column.last:
            return self._extreme_rows(Expression(quoted(column.name), column.title), order, shown, limit, word)
        return Plan(self._select(f"{extreme} AS {quoted(column.title)}"), f"{words}{self._where()}")

    def _ranked_column(self, degree: Mention, order: str) -> tuple[ColumnInfo, str]:
        """Return the column by which rows are ranked, and the order: the oldest has the earliest date."""
        years = self._parts.columns_of("year")
        if degree.name:
            columns = columns_of_measure(self._table, degree.name)
            named = self._parts.following(degree, "column", gap=0)
            if named is not None and self._parts.may_be(named, "number"):  # "the longest running time"
                columns = [column for column in columns if column.name in named.columns]
            if degree.name == "age" and not columns:
                columns, order = self._dates() or years, "ASC" if order == "DESC" else "DESC"
        elif degree.kind in {"latest", "earliest"}:
            behind = self._parts.directly_behind(degree)
            if behind is not None and behind.kind == "column" and not (
                    behind.is_head or self._parts.may_be(behind, "time")):
                raise UnclearError(degree)  # "the latest version" may be the highest
            columns = self._dates() or years
        else:
            columns = [column] if (column := self._number_column()) is not None else []
        column = only(columns, degree)
        self._parts.use(*(mention for mention in self._parts.unused("column") if mention.columns == (column.name,)))
        return column, order

    def _shown_columns(self, ranked: ColumnInfo) -> list[ColumnInfo]:
        """Return the columns that the question asks to see: those it names, else those that name a row it asks for."""
        named = {column.name: column for column in self._named_columns() if column != ranked}
        asks_for_person = self._parts.take("who") is not None
        if asks_for_person and not named and self._parts.are_documents:
            # No document is a person, but the latest episode has one guest.
            people = [column for column in self._parts.columns_of("person") if self._parts.is_nearly_full(column)]
            named = {column.name: column for column in [only(people, ranked.name)]}
        for column in named.values():
            self._parts.check_common(column)
        if named or not (asks_for_person or self._parts.are_asked()):
            return list(named.values())
        return self._parts.naming_columns()

    def _aggregate(self) -> Plan | None:
        """Read a total, mean or median of a column, of all rows or of groups."""
        operations, counts = self._parts.unused(*AGGREGATES), self._parts.unused("count")
        if len({mention.kind for mention in operations}) != 1:
            return None
        kind = operations[0].kind
        column = self._number_column()
        self._parts.use(*operations)
        if column is None:  # "how many authors on average"
            listed = next(filter(None, map(self._parts.noun_after, counts)), None)
            if listed is None or kind == "sum":
                raise UnclearError(kind)  # "how many authors in total" may count each once
            self._parts.use(listed)
            column = self._parts.column_of(listed, "list")
        self._parts.use(*counts)
        function, word = AGGREGATES[kind]
        value = size(column)
        sql = f"{function}({value.sql})"
        if kind == "mean" and (column.kind == "list" or keys_of(column.title)[-1:] == ("count",)):
            sql = f"round({sql}, 2)"  # of numbers of things
        return self._computed(Expression(sql, f"{word} of {value.words}"), self._group())

    def _count(self) -> Plan | None:
        """Read how many rows there are, or different values of a column."""
        counts = [mention for mention in self._parts.mentions if mention.kind == "count"]
        if self._identifiers or not counts:  # identifiers are shown, not counted
            return None
        noun = self._parts.noun_after(counts[0])
        self._parts.take("count")
        is_distinct = self._parts.take("distinct") is not None
        group = self._group()
        people = [one for one in self._columns() if self._parts.may_be(one, "person")]
        if noun is not None and noun.kind == "people" and len(people) == 1:
            noun = people[0]  # "how many people have acted as review manager"
        if noun is not None and noun in self._columns():
            return self._count_of(self._parts.column_of(noun), group, is_distinct=is_distinct)
        if is_distinct or not self._parts.are_counted():
            if (column := self._number_column()) is None:
                raise UnclearError(self._table.name)
            return self._numbers_of(column)
        if self._named_documents():
            raise UnclearError(noun)  # what is counted is something in a document, or whatever deals with its subject
        return self._computed(self._row_count(), group)

    def _count_of(self, column: ColumnInfo, group: Expression | None, *, is_distinct: bool) -> Plan:
        """Return a query for how many different values a column has; of a column of numbers, for its only number."""
        self._parts.use(*(mention for mention in self._parts.unused("column") if column.name in mention.columns))
        if column.kind == "number" and not is_distinct and group is None:
            return self._numbers_of(column)
        self._parts.check_common(column)
        # None of these is a number of different values.
        may_be_in_text = bool(self._named_documents()) and column.kind != "list"  # the number of one document's things
        is_of_other_people = self._parts.has("people") and not fits(column, "person")
        counts_rows = column.kind == "boolean"  # "how many are full-time"
        if may_be_in_text or is_of_other_people or counts_rows:
            raise UnclearError(column.name)
        label = f"number of different {column.title}"
        members, name = unnested(members_of(column) if column.kind == "list" else quoted(column.name))
        if group is not None or not (members or column.kind == "text"):
            return self._computed(Expression(f"count(DISTINCT {name})", label), group)
        rest = " HAVING count(*) > 0" if self._named_documents() else ""  # of no such row, nothing is said
        plain = self._select(f"count(DISTINCT {name}) AS {quoted(label)}", members=members, rest=rest)
        folded = [folded_text(name)]
        if fits(column, "person"):  # "Doug" and "Douglas Gregor" may be one person
            folded.append(f"concat(left({folded[0]}, {LEAST_LETTERS}), regexp_extract({folded[0]}, '[^ ]+$'))")
        others = (self._select(f"count(DISTINCT {name}) AS {quoted(label)}", members=members, rest=rest)
                  for name in folded)
        return Plan(plain, f"{label}{self._where()}", others=tuple(others))

    def _lookup(self) -> Plan | None:
        """Read a question for a cell or a list: "What is the status of EIP-1?", "Which proposals are Final?"."""
        if not self.conditions or self._asks_whether_or_of_others():
            return None
        asks_who = self._parts.take("who") is not None
        columns = self._looked_up_columns()
        are_rows = self._parts.are_asked() or self._parts.asks_for_deeds() or (asks_who and not columns)
        are_people = asks_who and not columns and self._parts.are_documents and any(
            one.kind == "head" for one in self._parts.mentions)  # "Who are the fellows from ...?"
        named = self._named_documents()
        only_values = all(mention.kind in {"who", "value", *SKIPPED} for mention in self._parts.mentions)
        asks_without_names = asks_who and not any(column.kind in {"text", "list"} for column in columns)
        # "Who published Salt?" asks for no year, "Who is Ada Blum?" for no record; no document is a person.
        if asks_without_names and (columns or (self._parts.are_documents and not are_people) or only_values):
            raise UnclearError(self._table.name)
        if columns and any(one.words.startswith(("neither", "nor")) for one in self._parts.mentions):
            raise UnclearError(columns)  # "neither a target nor a version that it was made in" asks for none of these
        if are_rows and named:
            raise UnclearError(self._table.name)  # "Which RFCs replace RFC 2616?" asks for others
        if not columns and not are_rows:
            return None
        are_several = any(len(condition.values) > 1 for condition in named)
        naming = self._parts.naming_columns() if (are_rows or are_several) and not self._identifiers else []
        naming = naming[-1:] if are_people else naming  # the titles
        shown = list({column.name: column for column in (*naming, *columns)}.values())
        text = f"{', '.join(column.title for column in shown)}{self._where()}"
        if len(shown) == 1 and shown[0].kind == "list":
            return Plan(self._select("DISTINCT member", members=members_of(shown[0]), rest=" ORDER BY ALL"), text)
        what = ", ".join(f"{quoted(written_column(self._table, column))} AS {quoted(column.name)}" if column.last
                         else quoted(column.name) for column in shown)
        # A number, or several cells, whose rows the question does not name, are of one row.
        are_of_named_rows = bool(are_rows or are_several or self._identifiers)
        is_of_number = any("regexp_extract(" in one.sql for one in named)
        must_be_single = is_of_number or (not are_of_named_rows and (len(shown) > 1 or shown[0].kind == "number"))
        return Plan(self._select(f"DISTINCT {what}", rest=" ORDER BY ALL"), text, must_be_single=must_be_single,
                    of_people=are_people)

    def _looked_up_columns(self) -> list[ColumnInfo]:
        """Return the columns whose cells a question asks for, by their names or by "when"."""
        asks_when = self._parts.take("when") is not None or self._parts.take("day") is not None
        number = self._number_column() if self._parts.unused("measure", "unit") else None
        self._parts.use(*(one for one in self._parts.unused("group") if one.words in listed_words("each")))
        asks_year = any(map(self._parts.asks, self._parts.unused("year")))
        columns = self._named_columns(of_time=asks_when or asks_year)
        if asks_year and any(fits(column, "year") for column in columns):
            self._parts.take("year")
        if number is not None:
            columns.append(number)
        if asks_when and not any(fits(column, "time") for column in columns):
            columns.append(only(self._dates(), "when"))
        return columns

    def _named_columns(self, *, of_time: bool = False) -> list[ColumnInfo]:
        """Return the columns that the question asks to see, and use their mentions; with `of_time` rather dates."""
        mentions = self._columns()
        self._parts.use(*mentions)
        return [*self._identifiers, *(
            self._parts.column_of(one, "time") if of_time and self._parts.may_be(one, "time")
            else self._parts.column_of(one) for one in mentions)]

    def _asks_whether_or_of_others(self) -> bool:
        """Return True for questions that no cell answers, as they are about a relation between rows."""
        columns = self._columns()
        rows = [mention.first for mention in self._parts.mentions if self._parts.is_rows(mention)]
        documents = [condition for condition in self.conditions if condition.column == "document" and condition.values]
        asks_whether = self._parts.reading.words[0].folded in listed_words("whether")  # "Does RFC 1 require RFC 2?"
        asks_for_common = bool(documents) and self._parts.has("together")  # "who wrote both"
        # "Which RFCs require RFCs by Ada?", and "the status of what RFC 1 requires".
        links_rows = any(rows[0] < one.first < rows[-1] and self._parts.may_be(one, "list") for one in columns if rows)
        asks_of_linked = any(columns[0].first < one.first and columns[-1].first >= one.last
                             for one in documents if columns)
        return asks_whether or asks_for_common or links_rows or asks_of_linked
