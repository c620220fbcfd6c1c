"""Questions in words about tables, read without a model: as a query, if every word of them is accounted for.

1. `table_mentions.py` finds the words that mention a table's rows, columns and values, numbers, dates and operations.
   If a word is none of these, the question is not about the table.
2. `question_conditions.py` and `question_measures.py` read which rows it asks about, `question_query.py` what of them.
   `asked_parts.py` records which mentions became a part of the query: if one did not, there is none.
3. The query, and those of other senses of its words, run here: all must have the same rows, or there is no answer.
4. The answer says in words how the question was understood.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from sqlglot import exp

from ..graph_store.graph.links import CITES
from ..graph_store.graph_index import GraphIndex
from ..graph_store.sql.checking import MixedUnitsError
from ..graph_store.sql.logical_tables import DOCUMENT, OWN_FIELDS, literal
from ..graph_store.sql.table_file import FoundValue
from ..models.rules.likeness import may_be
from ..schemas.naming import spaced_words
from ..schemas.records import SqlResult, TableInfo
from ..text.content_words import content_words
from ..text.lexicon import read_patterns
from ..text.quantities import show_value
from ..text.section_lines import UNREAD
from .collection_parts import collection_parts
from .document_status import outdated_rows, restrict_rows
from .question_columns import UnclearError
from .question_query import plan_query
from .question_target import Plan
from .question_words import keys_of, value_queries, words_of
from .table_mentions import Reading, rarely_filled, read_in_table
from .table_query import NONE
from .value_mentions import NAMING_SHARE

_FORMS = {name: re.compile("|".join(forms), re.IGNORECASE)
          for name, forms in read_patterns("questions.toml")["asked"].items()}
_MOST_SHOWN = 20  # rows in a short answer, which ends with the number of all
_MOST_TIED = 5  # how many may share the first place: of more, none is the one that a question asks for
_ALL_DOCUMENTS = frozenset({"document", "documents", "file", "files"})
_LONGEST_QUESTION = 500  # characters; a longer text says more than a query
_FEWEST_WORDS = 2  # the fewest content words by which a part of a title names a document
_EDGES = " \"'“”‘’«»?？.。"


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
    question = _FORMS["breakdown"].sub(r"how many \1 by", _FORMS["remark"].sub("", question))
    if (cited := _ask_citations(index, question)) is not None:
        return cited
    values: dict[str, list[FoundValue]] = defaultdict(list)
    for value in index.sql.find_values(value_queries(question)):
        values[value.table].append(value)
    words_for_documents = {word for title in _names_of_documents(index) for word in keys_of(title)}
    kinds = {"documents", "records"} if words_for_documents.isdisjoint(keys_of(question)) else {"documents"}
    tables = sorted((table for table in index.sql.tables() if table.rows and table.kind in kinds),
                    key=lambda table: (-table.rows, table.kind == "documents"))
    if not (answers := list(_answers(index, tables, question, values))):
        return None
    table, answer = answers[0]
    of_same_kind = {other.short if other else None for other_table, other in answers if other_table.kind == table.kind}
    is_part = sum(other.title == table.title for other in tables) > 1  # what it tells of is in several tables
    return answer if len(of_same_kind) == 1 and not is_part else None


def _answers(index: GraphIndex, tables: Iterable[TableInfo], question: str,
             values: Mapping[str, Sequence[FoundValue]]) -> Iterator[tuple[TableInfo, AskedQuery | None]]:
    """Yield each table in which a question can be read, with its answer there; None if its rows leave that open."""
    # "How many documents" asks for all, so no folder that is called so counts.
    parts = {keys: part for keys, part in collection_parts(index).items() if keys not in map(keys_of, _ALL_DOCUMENTS)}
    for table in tables:
        names = _names_of_documents(index) if table.kind == "documents" else index.sql.titles.get(table.name, ())
        if table.kind == "documents" and len(table.columns) > len(OWN_FIELDS):  # books in a folder called "files"
            names = (*names, index.store.layout.name, *_common_names(index, question))
        titles = tuple(dict.fromkeys((table.title, table.name, *names)))
        reading = read_in_table(question, table, titles, values.get(table.name, ()),
                                parts if table.kind == "documents" else {})
        if reading is None:
            continue
        with suppress(UnclearError, MixedUnitsError):  # another table may answer
            plan = plan_query(reading)
            plan = _without_outdated(index, table, question, _compare_population(table, reading, plan))
            yield table, _answer(index, table, reading, plan)


def _compare_population(table: TableInfo, reading: Reading, plan: Plan) -> Plan:
    """Return a plan for shares, missing values and all rows that has to hold of the documents with fields, too."""
    # A folder may hold a file of fields beside each text: the texts are none of the things that the fields tell of.
    columns = [column.name for column in table.columns if column.name not in OWN_FIELDS
               and column.title != UNREAD and not rarely_filled(table, column)]
    counts_all = plan.sql.startswith("SELECT count(*)") and " WHERE " not in plan.sql and _ALL_DOCUMENTS.isdisjoint(
        word.folded for word in reading.words)
    if table.kind != "documents" or not columns or not (plan.percent or " IS NULL" in plan.sql or counts_all):
        return plan
    has_field = exp.or_(*(exp.column(name, quoted=True).is_(exp.null()).not_() for name in columns))
    return replace(plan, others=(*plan.others, restrict_rows(plan.sql, table.name, has_field)))


def _names_of_documents(index: GraphIndex) -> tuple[str, ...]:
    """Return what the documents are called: also by the folders that nearly all are in, if they have fields."""
    (table,) = (table for table in index.sql.tables() if table.kind == "documents")
    are_records = len(table.columns) > len(OWN_FIELDS)  # a folder of tables is called by what is in these
    folders = [name for name, count in index.folder_counts.items() if count >= NAMING_SHARE * table.rows]
    return (*index.sql.titles.get(table.name, ()), *(folders if are_records else ()))


def _common_names(index: GraphIndex, question: str) -> Iterator[str]:
    """Yield the names in a question that nearly all documents hold: of "Tor proposals", "Tor" tells none apart."""
    words = index.documents[0]
    for word in words_of(question)[1:]:
        if word.text[0].isupper() and (words.scores(word.text) > 0).sum() >= NAMING_SHARE * len(words):
            yield f"{word.text} documents"


def _without_outdated(index: GraphIndex, table: TableInfo, question: str, plan: Plan) -> Plan:
    """Return a plan that leaves out the rows of documents that are out of date for a question, and says so."""
    if not (documents := outdated_rows(index, table, question)):
        return plan
    statuses = "; ".join(f"without {document}, {index.versions.status(document, is_later=True)}"
                         for document in documents)

    def restrict(query: str) -> str:
        is_in_force = exp.column(DOCUMENT, quoted=True).isin(*documents).not_()
        return restrict_rows(query, table.name, is_in_force) if query else ""

    return replace(plan, sql=restrict(plan.sql), folded=restrict(plan.folded), others=tuple(map(restrict, plan.others)),
                   understood=f"{plan.understood} ({statuses})")


def _answer(index: GraphIndex, table: TableInfo, reading: Reading, plan: Plan) -> AskedQuery | None:
    """Run a plan; None if its rows, or those of another sense, leave open which answer; UnclearError without rows."""
    result = index.sql.run(plan.sql)
    shown = plan.shown + 1 if plan.shown else None  # of a ranking, the groups below the tied ones do not matter
    has_other_answer = any(index.sql.run(other, most_cited=0).rows[:shown] != result.rows[:shown]
                           for other in {*plan.others} - {plan.sql})
    if has_other_answer:
        return None
    if plan.folded and (folded := index.sql.run(plan.folded)).rows != result.rows:
        result, plan = folded, replace(plan, sql=plan.folded)
    unit_of = {column.name: column.unit for column in table.columns}
    rows = [row for row in result.rows if any(value is not None for value in row)]
    units = [unit or unit_of.get(name, "") for name, unit in zip(result.columns, result.units, strict=True)]
    if plan.of_columns:
        rows, units = _compare_columns(result, rows), ["", units[0]]
    if not rows:
        raise UnclearError(table.name)
    answering = _answering_rows(plan, rows)
    if not answering or (plan.of_people and not all(may_be("person", str(row[0])) for row in answering)):
        return None
    short = _short_answer(answering, units, "%" if plan.percent else "")
    if short == "0" and any(first.kind == second.kind == "value" and first.last == second.first
                            for first, second in pairwise(reading.mentions)):
        return None  # two neighbouring words, each taken for a value, may be one name
    # The other rows that have no value in the columns on which the answer rests.
    counts = {title: index.sql.run(sql, most_cited=0).rows[0][0] for title, sql in plan.lacking.items()}
    lacking = ", ".join(f"{count} without {title}" for title, count in counts.items() if count)
    short += f" ({lacking})" if lacking else ""
    return AskedQuery(plan.sql, plan.understood, table.name, result, short)


def _compare_columns(result: SqlResult, rows: Sequence[tuple[Any, ...]]) -> list[tuple[object, ...]]:
    """Return the two columns of a row as rows, with their difference; none if one of them has no value."""
    (first, second), = rows or [(None, None)]
    if first is None or second is None:
        return []
    return [*zip(result.columns, (first, second), strict=True), ("difference", abs(first - second))]


def _answering_rows(plan: Plan, rows: Sequence[tuple[object, ...]]) -> Sequence[tuple[object, ...]]:
    """Return the rows of a result that answer; none if several rows, or a tie, leave open which."""
    if plan.must_be_single and len(rows) > 1:
        return []
    # The plan asks for one row more than is shown: of two with the same value, neither is the last one for certain.
    is_cut_in_tie = 0 < plan.shown < len(rows) and rows[plan.shown - 1][-1] == rows[plan.shown][-1]
    if not is_cut_in_tie:
        return rows[:plan.shown] if plan.shown else rows
    # For a single first place more rows were fetched than are shown; the last column is what they are ranked by.
    tied = [row for row in rows if row[-1] == rows[0][-1]]
    return tied if plan.shown == 1 and len(tied) <= _MOST_TIED else []


def _short_answer(rows: Sequence[Sequence[object]], units: Sequence[str], percent: str) -> str:
    """Return rows as a short answer, each as its first cell and the others with a value: "Alba: 3, 4; Bora: 2"."""
    texts = dict[str, None]()
    for row in rows[:_MOST_SHOWN]:
        cells = [show_value(value, unit) for value, unit in zip(row, units, strict=True) if value is not None]
        if row[0] is None and len(row) > 1:  # rows of a group without a name
            cells.insert(0, NONE)
        row_text = f"{cells[0]}: {', '.join(cells[1:])}" if len(cells) > 1 else cells[0]
        texts[f"{row_text}{percent}"] = None
    more = f"; … ({len(rows)})" if len(rows) > _MOST_SHOWN else ""
    return "; ".join(texts) + more


# Questions about which documents cite one another, read as a query of the relation `cites`.


def _ask_citations(index: GraphIndex, question: str) -> AskedQuery | None:
    """Return the query that a question about citations is; None unless a list of references has its document."""
    asked = question.strip(_EDGES)
    citing = _FORMS["citing"].fullmatch(asked)
    match = citing or _FORMS["cited"].fullmatch(asked)
    known, wanted, words = ("tail", "head", "cite") if citing else ("head", "tail", "are cited by")
    if match is None or not any(table.title == CITES for table in index.sql.tables()):
        return None
    words_for_document = next(filter(None, match.groups()))  # each form of the question has a group of its own
    if not (name := _find_document(index, known, words_for_document)):
        return None
    sql = f'SELECT "{wanted}" AS document FROM {CITES} WHERE "{known}" = {literal(name)} ORDER BY "{wanted}"'  # noqa: S608
    result = index.sql.run(sql)
    shown = dict.fromkeys(str(row[0]) for row in result.rows)
    short = str(len(shown)) if asked.casefold().startswith("how many") else "; ".join(shown)
    return AskedQuery(sql, f"documents that {words} {name}", CITES, result, short)


def _find_document(index: GraphIndex, column: str, name: str) -> str:
    """Return the document in a column of `cites` that some words name: "" unless they are of its title alone."""
    # A single word is rather a subject than a title, unless it is a whole title.
    name = _FORMS["kind"].sub("", name.strip(_EDGES))
    words = spaced_words(name)
    titles = [spaced_words(title) for title in index.store.documents.titles().values()]
    is_of_several = sum(words in title for title in titles) > 1
    is_subject = len(list(content_words(name))) < _FEWEST_WORDS and words not in titles
    if is_of_several or is_subject:
        return ""
    names = [str(name) for (name,) in index.sql.run(f'SELECT DISTINCT "{column}" FROM {CITES}', most_cited=0).rows]  # noqa: S608
    fitting = [name for name in names if words in spaced_words(name)]
    return fitting[0] if len(fitting) == 1 else ""
