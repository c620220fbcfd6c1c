"""What became of the documents behind items: superseded and amended ones are marked, and their rows are told apart."""

from collections.abc import Iterable, Sequence

import sqlglot
from sqlglot import exp

from ..graph_store.graph_index import GraphIndex
from ..graph_store.sql.checking import DIALECT
from ..graph_store.sql.logical_tables import DOCUMENT
from ..schemas.inquiry import Block
from ..schemas.records import TableInfo
from ..schemas.retrieval import Passage


def mark_versions(index: GraphIndex, blocks: Iterable[Block], question: str) -> list[Block]:
    """Return blocks with the items of superseded and amended documents marked."""
    versions = index.versions
    if not (versions.superseded or versions.amended):
        return [*blocks]
    outdated = versions.outdated(question)

    def mark(item: Passage) -> Passage:
        documents = sorted({place.document for place in item.places} or {item.document} - {""})
        is_outdated = set(documents) <= outdated
        if not documents or not (item.kind == "passage" or is_outdated or set(documents) <= versions.superseded.keys()):
            return item
        status = versions.status(documents[0], is_later=is_outdated)
        statement = f"{item.statement} [{status}]" if item.statement and status else item.statement
        return item.model_copy(update={"status": status, "is_outdated": is_outdated, "statement": statement})

    return [block.model_copy(update={"items": tuple(map(mark, block.items))}) for block in blocks]


def outdated_rows(index: GraphIndex, table: TableInfo, question: str) -> list[str]:
    """Return the documents of a table of records that are not in force for a question and that others replace there."""
    outdated = index.versions.outdated(question)
    if not outdated or table.kind != "records" or not any(column.name == DOCUMENT for column in table.columns):
        return []
    rows = index.sql.run(f'SELECT DISTINCT "{DOCUMENT}" FROM "{table.name}"', most_cited=0).rows  # noqa: S608
    documents = {str(row[0]) for row in rows}
    return sorted(documents & outdated) if documents - outdated else []


def without_documents(sql: str, table: str, documents: Iterable[str]) -> str:
    """Return a query that leaves out a table's rows of some documents."""
    tree = sqlglot.parse_one(sql, dialect=DIALECT)
    is_current = exp.column(DOCUMENT, quoted=True).isin(*documents).not_()
    for select in tree.find_all(exp.Select):
        source = select.args.get("from_")
        if source is not None and source.this.name == table:
            select.where(is_current, copy=False)
    return tree.sql(dialect=DIALECT)


def note_outdated_rows(index: GraphIndex, blocks: Sequence[Block]) -> list[Block]:
    """Return results of queries with a note on each table with rows of superseded documents beside newer ones."""
    notes = {table.name: "; ".join(f"{document} is {index.versions.status(document)}" for document in documents)
             for table in (index.sql.tables() if index.versions.superseded else ())
             if (documents := outdated_rows(index, table, ""))}
    return [block.model_copy(update={"note": "; ".join(filter(None, [block.note, *(
        f"{name} has rows of older versions, told apart by its column {DOCUMENT}: {statuses}"
        for name, statuses in notes.items() if name in block.title)]))}) for block in blocks]
