"""What became of the documents behind items and rows: superseded, amended and less trusted ones are marked."""

from collections.abc import Iterable, Sequence, Set

import sqlglot
from sqlglot import exp

from ..graph_store.document_versions import COMPETES, Versions
from ..graph_store.graph_index import GraphIndex
from ..graph_store.sql.checking import DIALECT
from ..graph_store.sql.logical_tables import DOCUMENT
from ..schemas.inquiry import Block
from ..schemas.records import TableInfo
from ..schemas.retrieval import Passage


def mark_versions(index: GraphIndex, blocks: Iterable[Block], question: str) -> list[Block]:
    """Return blocks with the items of superseded, amended and less trusted documents marked."""
    versions, outdated = index.versions, index.versions.outdated(question)
    marked = [block.model_copy(update={"items": tuple(_mark_version(versions, outdated, item) for item in block.items)})
              for block in blocks]
    current = [item for block in marked for item in block.items if not item.is_outdated]
    return [block.model_copy(update={"items": tuple(_mark_trust(versions, current, item) for item in block.items)})
            for block in marked]


def _mark_version(versions: Versions, outdated: Set[str], item: Passage) -> Passage:
    """Return an item with what became of its documents; unless it is a passage, only if none of them is in force."""
    # `outdated` are not in force for the question: at an earlier date that it names, even those that are newest.
    documents = _documents_of(item)
    if not documents:
        return item
    is_outdated = set(documents) <= outdated
    are_all_superseded = set(documents) <= versions.superseded.keys()
    if not (item.kind == "passage" or is_outdated or are_all_superseded):
        return item
    if item.basis and not any(document in item.statement for document in documents):
        return item  # a count or a group, of which only the first documents are cited
    return _with_status(item, versions.status(documents[0], is_later=is_outdated), is_outdated=is_outdated)


def _mark_trust(versions: Versions, current: Sequence[Passage], item: Passage) -> Passage:
    """Return an item with a mark if a more trusted document has a current one of its kind that scores about as much."""
    documents = [document for document in _documents_of(item) if document in versions.trust]
    if not documents or item.is_outdated:
        return item
    rivals = [rival for rival in current if rival.kind == item.kind and rival.score >= COMPETES * item.score]
    rival_documents = [document for rival in rivals for document in _documents_of(rival) if document in versions.trust]
    most_trusted = max(documents, key=versions.trust.__getitem__)
    note = versions.trusted_less(most_trusted, rival_documents)
    return _with_status(item, note, is_trusted_less=True) if note else item


def _documents_of(item: Passage) -> list[str]:
    """Return the documents that an item cites, sorted; none for an item without a record."""
    return sorted({place.document for place in item.places} or {item.document} - {""})


def _with_status(item: Passage, status: str, **marks: bool) -> Passage:
    """Return an item with a status beside those that it has; a line of the graph or a table says it in its text."""
    statement = f"{item.statement} [{status}]" if item.statement and status else item.statement
    all_statuses = "; ".join(filter(None, (item.status, status)))
    return item.model_copy(update={"status": all_statuses, "statement": statement, **marks})


def outdated_rows(index: GraphIndex, table: TableInfo, question: str) -> list[str]:
    """Return the documents with rows of a table that are not in force for a question; none unless others are."""
    outdated = index.versions.outdated(question)
    if not outdated or table.kind != "records" or not any(column.name == DOCUMENT for column in table.columns):
        return []
    rows = index.sql.run(f'SELECT DISTINCT "{DOCUMENT}" FROM "{table.name}"', most_cited=0).rows  # noqa: S608
    documents = {str(row[0]) for row in rows}
    return sorted(documents & outdated) if documents - outdated else []


def restrict_rows(sql: str, table: str, condition: exp.Expr) -> str:
    """Return a query that reads only the rows of a table that meet a condition, also in its subqueries."""
    tree = sqlglot.parse_one(sql, dialect=DIALECT)
    for select in tree.find_all(exp.Select):
        source = select.args.get("from_")
        if source is not None and source.this.name == table:
            select.where(condition, copy=False)
    return tree.sql(dialect=DIALECT)


def note_outdated_rows(index: GraphIndex, blocks: Sequence[Block]) -> list[Block]:
    """Return results of queries with a note on each table with rows of superseded documents beside newer ones."""
    if not index.versions.superseded:
        return [*blocks]
    notes = dict[str, str]()  # by the name of a table
    for table in index.sql.tables():
        if documents := outdated_rows(index, table, ""):
            statuses = "; ".join(f"{document} is {index.versions.status(document)}" for document in documents)
            notes[table.name] = (f"{table.name} has rows of older versions, told apart by its column {DOCUMENT}: "
                                 f"{statuses}")
    noted = list[Block]()
    for block in blocks:
        of_block = [note for name, note in notes.items() if name in block.title]  # the title is the query
        noted.append(block.model_copy(update={"note": "; ".join(filter(None, [block.note, *of_block]))}))
    return noted
