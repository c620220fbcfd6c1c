"""Questions in words about tables, read without a model: as a query, if every word of them is accounted for."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ..graph_store.graph.citations import CITES
from ..graph_store.graph_index import GraphIndex
from ..graph_store.sql.value_words import FoundValue
from ..schemas.records import SqlResult, TableInfo
from ..text.shown_numbers import show_value
from .asked_citations import ask_citations
from .asked_parts import UnclearError
from .query_results import NONE
from .question_query import plan_query
from .question_target import Plan
from .question_words import keys_of, quote_words
from .table_mentions import Reading, read_in_table, value_queries

_REMARK = re.compile(r",? \b(?:whatever|regardless of|no matter|irrespective of)\b[^,.?!;]*|"
                     r",? (?:alone or with others|together or alone|both (?:days|numbers|years) included|inclusive)\b|"
                     r"(?<=[.?!]) (?:give|state|list|show|say)?(?: me)? ?(?:both|the|all|their|its)? ?"
                     r"(?:numbers?|counts?|names?|figures?|titles?)?"
                     r"(?: (?:for|of) each)?(?: will do|,? please| only)?[.!]?$", re.IGNORECASE)
"""Remarks that limit nothing: "whatever the status", "Give both numbers."."""
_MOST_SHOWN = 20
_LONGEST_QUESTION = 500


@dataclass(frozen=True)
class AskedQuery:
    """A question that was read as a query, with its result.

    Attributes:
        sql: the query.
        understood: what it computes, in words: "average of growth where species is Porites".
        table: the table that it reads.
        result: the result of the query.
        short: the answer in the fewest words; "" if the rows are only what the question may mean.
    """

    sql: str
    understood: str
    table: str
    result: SqlResult
    short: str


def ask_tables(index: GraphIndex, question: str) -> AskedQuery | None:
    """Return what a question asks of the tables, if each of its words is accounted for in one of them.

    If it can be read in several tables of records, their answers must agree. Of them and the table of documents, which
    any record is in as well, the larger one answers, unless the question says what the documents are called. None if it
    is unclear or not about a table.
    """
    if len(question) > _LONGEST_QUESTION:
        return None
    question = quote_words(_REMARK.sub("", question))
    if (cited := ask_citations(index, question)) is not None:
        sql, understood, result, short = cited
        return AskedQuery(sql, understood, CITES, result, short)
    values: dict[str, list[FoundValue]] = defaultdict(list)
    for value in index.sql.find_values(value_queries(question)):
        values[value.table].append(value)
    own_names = {word for title in index.sql.titles.get("documents", ()) for word in keys_of(title)}
    is_of_documents = not own_names.isdisjoint(keys_of(question))
    kinds = {"documents"} if is_of_documents else {"documents", "records"}
    tables = sorted((table for table in index.sql.tables() if table.rows and table.kind in kinds),
                    key=lambda table: (-table.rows, table.kind == "documents"))
    asked = list(_answers(index, tables, question, values))
    same_kind = {one and one.short for table, one in asked if table.kind == asked[0][0].kind}
    return asked[0][1] if len(same_kind) == 1 else None


def _answers(index: GraphIndex, tables: Iterable[TableInfo], question: str,
             values: Mapping[str, Sequence[FoundValue]]) -> Iterator[tuple[TableInfo, AskedQuery | None]]:
    """Yield each table in which a question can be read, with its answer there; None if its rows leave that open."""
    for table in tables:
        titles = tuple(dict.fromkeys((table.title, table.name, *index.sql.titles.get(table.name, ()))))
        reading = read_in_table(question, table, titles, values.get(table.name, ()))
        with suppress(UnclearError):
            if reading is not None:
                yield table, _answer(index, table, reading, plan_query(reading))


def _answer(index: GraphIndex, table: TableInfo, reading: Reading, plan: Plan) -> AskedQuery | None:
    """Run a plan; None if its rows leave open which of them answer. Raises UnclearError if there are none."""
    result = index.sql.run(plan.sql)
    if plan.otherwise not in {"", plan.sql} and index.sql.run(plan.otherwise).rows != result.rows:
        return None
    if plan.folded and (folded := index.sql.run(plan.folded)).rows != result.rows:
        result, plan = folded, replace(plan, sql=plan.folded)
    rows = [row for row in result.rows if any(value is not None for value in row)]
    is_cut_in_tie = 0 < plan.shown < len(rows) and rows[plan.shown - 1][-1] == rows[plan.shown][-1]
    if not rows:
        raise UnclearError(table.name)
    if (plan.must_be_single and len(rows) > 1) or is_cut_in_tie:
        return None
    shown = rows[:plan.shown] if plan.shown else rows
    columns = {column.name: column.unit for column in table.columns}
    units = [unit or columns.get(name, "") for name, unit in zip(result.columns, result.units, strict=True)]
    understood = plan.understood + "".join(
        f"; “{reading.words[mention.first].text}” read as {mention.columns[0]}" for mention in reading.mentions
        if mention.is_like)
    return AskedQuery(plan.sql, understood, table.name, result, _short(shown, units, plan))


def _short(rows: Sequence[Sequence[object]], units: Sequence[str], plan: Plan) -> str:
    texts = []
    for row in rows[:_MOST_SHOWN]:
        cells = [_cell(value, unit, plan) for value, unit in zip(row, units, strict=True) if value is not None]
        cells = [NONE, *cells] if row[0] is None and len(row) > 1 else cells
        texts.append(f"{cells[0]}: {', '.join(cells[1:])}" if len(cells) > 1 else cells[0])
    if plan.percent:
        return f"{texts[0]}%"
    more = f"; … ({len(rows)})" if len(rows) > _MOST_SHOWN else ""
    return "; ".join(dict.fromkeys(texts)) + more


def _cell(value: object, unit: str, plan: Plan) -> str:
    """Return a cell as people write it, with the words of the question for a code that it explains."""
    shown = show_value(value, unit)
    words = plan.labels.get(str(value), "")
    return f"{words} ({shown})" if words and words.casefold() != shown.casefold() else shown
