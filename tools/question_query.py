"""The query that a question asks of one table, by the form of the question: a count, an extreme, a share, a lookup."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ..graph_store.sql.logical_tables import quoted
from ..schemas.records import ColumnInfo
from .asked_columns import UnclearError, is_date, is_list, is_number, is_of_persons, is_text, is_year, only, tells_when
from .asked_parts import SKIPPED, AskedParts
from .question_comparison import EACH, ComparedRows
from .question_conditions import Expression, size
from .question_target import AGGREGATES, PERIODS, Plan, folded_text, members_of
from .question_values import ConditionReader
from .question_words import MOST_NAME_WORDS, Mention, words_of
from .table_mentions import Reading

_THERE_ARE = frozenset({"there", "exist", "all", "different", "distinct", "possible"})
_PERSONS = frozenset({"i", "he", "she", "we", "they", "you"})
_MOST_LISTED = 100
_WHETHER = frozenset({"is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can"})


def plan_query(reading: Reading, folders: Collection[str] = ()) -> Plan:
    """Return the query that a reading asks for; `folders` are the names of folders that documents are in.

    Raises:
        UnclearError: the question may mean several things, or has a word that became no part of the query.
    """
    parts = AskedParts(reading)
    if not parts.mentions:  # "?"
        raise UnclearError(reading.table.name)
    query = QuestionQuery(parts, ConditionReader(parts).read(folders))
    plan = query.plan()
    conditioned = {condition.column for condition in query.conditions}
    for mention in parts.unused("column"):  # "authored", beside an author
        is_dated = parts.is_deed(mention) and (
            parts.has(*PERIODS) or any(is_date(parts.columns[name]) for name in conditioned))
        if mention.is_head or is_dated or not conditioned.isdisjoint((*mention.columns, *mention.also)):
            parts.use(mention)
    is_of_kind = any(condition.values and is_text(parts.columns[condition.column]) for condition in query.conditions)
    if is_of_kind and not any(tells_when(parts.columns[name]) for name in conditioned):
        parts.use(*parts.unused("consumed"))  # "read on the Kindle" says no more than "on the Kindle", but for its time
    for mention in parts.unused("or"):  # "write or co-write"
        before, after = parts.preceding(mention, "column"), parts.following(mention, "column")
        if before is not None and after is not None and set(before.columns) & set(after.columns):
            parts.use(mention)
    if left := parts.unused():
        raise UnclearError(left[0])
    otherwise, possible = plan.otherwise or plan.sql, plan.sql
    for condition in query.conditions:
        otherwise = otherwise.replace(condition.sql, condition.otherwise or condition.sql)
        possible = possible.replace(condition.sql, condition.possible or condition.sql)
    otherwise = _with_rivals(otherwise, parts.rivals)
    lacking = {column.title: plan.sql.replace(one.sql, f"{quoted(column.name)} IS NULL")
               for one in query.conditions if not one.sql.endswith(" NULL")
               and (column := parts.columns[one.column]).empty + column.untyped and not is_list(column)}
    return replace(plan, otherwise=otherwise, possible=possible, lacking=lacking)


def _with_rivals(sql: str, rivals: Mapping[str, Sequence[ColumnInfo]]) -> str:
    """Return a query with the dates that a question may mean as well, where rows have them."""
    for name, others in rivals.items():
        either = f"CAST(coalesce({', '.join(quoted(column.name) for column in others)}, {quoted(name)}) AS DATE)"
        sql = either.join(re.split(rf"(?<! AS ){re.escape(quoted(name))}", sql))
    return sql


class QuestionQuery(ComparedRows):
    """The forms of questions, each a rule over what the conditions of a question leave."""

    def plan(self) -> Plan:
        """Return the query of the first form that the question has."""
        # Forms with more words of their own come first: "how many more" is a difference before it is a count.
        forms = (self._span, self._share, self._several_counts, self._several_figures, self._groups_of_size,
                 self._comparison, self._ranking, self._aggregate, self._listing, self._count, self._lookup)
        plan = next((plan for form in forms if (plan := form()) is not None), None)
        if plan is None:
            raise UnclearError(self._table.name)
        return plan

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
        value = size(column)
        return self._computed(Expression(f"{function}({value.sql})", f"{word} of {value.words}"), self._group())

    def _mean_size(self, kind: str, counts: Sequence[Mention]) -> Plan:
        """Read "the average number of books per author" as the mean of how many rows the groups have."""
        self._parts.use(*self._parts.unused(*AGGREGATES), *counts)
        group = self._group()
        if group is None or not self._parts.are_counted():
            raise UnclearError(kind)
        function, word = AGGREGATES[kind]
        size_of_group = self._row_count()
        plan = self._computed(size_of_group, group, f" HAVING count({group.row_sql}) > 0 ORDER BY 1")
        sql, folded = (f"SELECT {function}({quoted(size_of_group.words)}) AS {quoted(word)} FROM ({sql}) AS sizes"  # noqa: S608 - as above
                       for sql in (plan.sql, plan.folded))
        return Plan(sql, f"{word} of the {plan.understood}", otherwise=folded if plan.folded else "")

    def _count(self) -> Plan | None:
        """Read how many rows there are, or different values of a column."""
        counts = [mention for mention in self._parts.mentions if mention.kind == "count"]
        if not self.conditions and not _PERSONS.isdisjoint(word.folded for word in self._parts.reading.words):
            return None  # what he or she did is a condition that no field says
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
        counts_people = noun is not None and noun.kind == "people" and (is_distinct or self._parts.are_documents)
        people = [mention for mention in self._columns() if self._parts.columns_for(mention, is_of_persons)]
        if counts_people and people:  # of "how many different people have been editors", the editors
            return self._count_of(self._parts.column_of(people[0]), group, is_distinct=True)
        has_number = any(self._parts.columns_for(mention, is_number) for mention in self._columns())
        if (noun is None and has_number) or is_distinct or not self._parts.are_counted():
            if (column := self._number_column()) is None:
                raise UnclearError(self._table.name)
            return self._numbers_of(column)
        if self._named_documents() or self._is_numbered():
            raise UnclearError(noun)  # what is counted is something in a document, or whatever deals with its subject
        return self._computed(self._row_count(), group)

    def _numbers_of(self, column: ColumnInfo) -> Plan:
        """Return a query for the sum of a column if the question says that all is added, else for its only number."""
        self._check_units(column)
        self._take_heads()
        if self._parts.has("overall", "sum"):
            self._parts.take("sum")
            return self._computed(Expression(f"sum({quoted(column.name)})", f"total of {column.title}"))
        if not self.conditions:
            raise UnclearError(column.name)
        return Plan(self._select(quoted(column.name)), f"{column.title}{self._where()}", must_be_single=True)

    def _count_of(self, column: ColumnInfo, group: Expression | None, *, is_distinct: bool) -> Plan:
        """Return a query for how many different values a column has; of a column of numbers, for its only number."""
        self._parts.use(*(mention for mention in self._parts.unused("column") if column.name in mention.columns))
        self._take_heads()
        # "How many are full-time" of a truth value counts rows, and a list or number of a group may be added, too.
        if column.kind == "boolean" or (group is not None and (is_list(column) or is_number(column))):
            raise UnclearError(column.name)
        if is_number(column) and not is_distinct:
            return self._numbers_of(column)
        is_person = is_of_persons(column)
        is_prose = not column.frequent or (column.distinct > _MOST_LISTED and any(
            len(words_of(value)) > MOST_NAME_WORDS for value, _ in column.frequent))
        is_free = self._parts.are_documents and is_prose and not (is_person or column.name == "title")
        is_of_one = bool(self._named_documents()) and not is_list(column)
        if is_free or is_of_one or (self._parts.has("people") and not is_person):
            raise UnclearError(column.name)  # free texts are no things that are counted, nor is a document's only one
        label = f"number of different {column.title}"
        members = members_of(column) if is_list(column) else ""
        name = "member" if members else quoted(column.name)
        plain, folded = f"count(DISTINCT {name})", f"count(DISTINCT {folded_text(name)})"
        if group is not None or not (members or column.kind == "text"):
            return self._computed(Expression(plain, label), group)
        rest = " HAVING count(*) > 0" if self._is_numbered() else ""  # of no such row, nothing is said
        return Plan(self._select(f"{plain} AS {quoted(label)}", members=members, rest=rest), f"{label}{self._where()}",
                    otherwise=self._select(f"{folded} AS {quoted(label)}", members=members, rest=rest))

    def _listing(self) -> Plan | None:
        """Read "Which genres are there?" as the values of a column."""
        mentions = self._columns()
        words = {word.folded for word in self._parts.reading.words}
        is_of_one_column = len({mention.columns for mention in mentions}) == 1
        if self.conditions or not is_of_one_column or _THERE_ARE.isdisjoint(words) or not (
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
        asks_where, asks_who = (self._parts.take(kind) is not None for kind in ("where", "who"))
        columns = self._looked_up_columns(asks_where=asks_where)
        only_values = all(mention.kind in {"who", "value", *SKIPPED} for mention in self._parts.mentions)
        # No document is a person, and "Who is Ada Blum?" asks for no record with her in it.
        if asks_who and not columns and (self._parts.are_documents or only_values):
            raise UnclearError(self._table.name)
        are_rows = self._parts.are_asked() or self._parts.asks_for_deeds() or (asks_who and not columns)
        before_numbers = [self._parts.preceding(mention, "column", gap=0) for mention in self._parts.mentions
                          if mention.kind == "number"]
        is_called_by_number = any(column is not None and column.is_head for column in before_numbers)
        if are_rows and ((columns and is_called_by_number) or self._named_documents()):
            raise UnclearError(self._table.name)  # "Which RFCs replace RFC 2616?" asks for others
        if not columns and not are_rows:
            return None
        if asks_who and columns and not any(is_text(column) or is_list(column) for column in columns):
            raise UnclearError(self._table.name)  # "Who published Salt?" is not asked of the year
        are_several = any(len(condition.values) > 1 for condition in self._named_documents())
        naming = self._parts.naming_columns() if (are_rows or are_several) and not self._identifiers else []
        shown = list({column.name: column for column in (*naming, *columns)}.values())
        text = f"{', '.join(column.title for column in shown)}{self._where()}"
        if len(shown) == 1 and is_list(shown[0]):
            return Plan(self._select("DISTINCT member", members=members_of(shown[0]), rest=" ORDER BY ALL"), text)
        what = ", ".join(self._written(column) for column in shown)
        # A number, or several cells of a row that the question does not ask for, are of one row.
        is_single = not (are_rows or are_several or self._identifiers) and (
            len(shown) > 1 or any(map(is_number, shown)))
        return Plan(self._select(f"DISTINCT {what}", rest=" ORDER BY ALL"), text, must_be_single=is_single)

    def _written(self, column: ColumnInfo) -> str:
        """Return a column in a SELECT: as it is written if some of its dates say a month or a year alone."""
        name = quoted(column.name)
        return f"{quoted(self._parts.texts_of(column))} AS {name}" if column.last else name

    def _looked_up_columns(self, *, asks_where: bool) -> list[ColumnInfo]:
        """Return the columns whose cells a question asks for, by their names or by "when" and "where"."""
        asks_when = self._parts.take("when") is not None or self._parts.take("day") is not None
        number = self._number_column() if self._parts.unused("measure", "unit") else None
        if self._parts.asks_for_deeds() or self._parts.are_asked():
            self._parts.use(*filter(self._parts.is_deed, self._columns()))
        mentions = self._columns()
        self._parts.use(*mentions, *(one for one in self._parts.unused("group") if self._parts.words(one) in EACH))
        asks_year = bool(self._parts.unused("year")) and any(map(self._parts.asks, self._parts.unused("year")))
        dated = [self._parts.column_of(one, tells_when) if (asks_when or asks_year) and self._parts.columns_for(
            one, tells_when) else self._parts.column_of(one) for one in mentions]
        columns = [*self._identifiers, *dated]
        if asks_year and any(map(is_year, dated)):
            self._parts.take("year")
        if number is not None:
            columns.append(number)
        if asks_when and not any(map(tells_when, columns)):
            columns.append(only(self._dates(), "when"))
        if asks_where and not columns:
            columns.append(self._labelled("place"))
        return columns

    def _asks_whether_or_of_others(self) -> bool:
        """Return True for questions that no cell answers, as they are about a relation between rows."""
        # These are "Does RFC 1 require RFC 2?", "the status of what RFC 1 requires", "who wrote both", and a list of
        # documents beside other documents: "Which RFCs require RFCs by Ada?".
        if self._parts.reading.words[0].folded in _WHETHER:
            return True
        columns = self._columns()
        rows = [mention.first for mention in self._parts.mentions if self._parts.is_rows(mention)]
        if rows and any(rows[0] < one.first < rows[-1] and self._parts.columns_for(one, is_list) for one in columns):
            return True
        documents = [condition for condition in self.conditions if condition.column == "document" and condition.values]
        if documents and self._parts.has("together"):
            return True
        if not columns:
            return False
        first, last = columns[0].first, columns[-1].first
        return any(first < document.first and last >= document.last for document in documents)
