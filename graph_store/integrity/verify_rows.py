"""Check a ledger's rows: its file and tables, documents and stages, the schema's history, extractions and facts.

Each check yields a line for each problem.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from ...ingest.chunking import chunk_id
from ...schemas.documents import Chunk
from ..knowledge_base import KnowledgeBase
from ..ledger.database import Database
from ..ledger.extractions import rejection_rows, repair_rows
from ..ledger.facts import chunk_rows, rows_of
from ..ledger.schema_requests import ask_rows
from ..ledger.tables import ATTRIBUTE_VALUES, FACTS, MENTIONS, REJECTIONS, REPAIRS, SCHEMA_REQUESTS
from ..store_errors import LedgerDamagedError
from .status import status_of

_AT_ONCE = 256
_WHAT = {"rejections": "its rejected facts", "repairs": "its repairs",
         "schema_requests": "the facts that wait for the schema"}


def file(kb: KnowledgeBase) -> Iterator[str]:
    """Run SQLite's checks of pages, indexes and foreign keys; in PostgreSQL, compare the tables' columns."""
    for line in kb.database.problems():
        yield f"the ledger: {line}"


def tables(kb: KnowledgeBase) -> Iterator[str]:
    """Check that tables and indexes are those of the format, and that no view or trigger was added."""
    for line in foreign_objects(kb.database) if kb.layout.database is None else ():
        yield f"the ledger: {line}"


def foreign_objects(database: Database) -> list[str]:
    """Return the differences of a ledger's columns, tables, indexes, views and triggers from a new one's."""
    with closing(Database(Path(":memory:"))) as fresh:
        expected, actual = _objects(fresh), _objects(database)
    return [*(f"the {kind} {name} is missing or of another kind" for kind, name, _ in sorted(expected - actual)),
            *(f"the {kind} {name} is not of this format" for kind, name, _ in sorted(actual - expected))]


def _objects(database: Database) -> set[tuple[str, str, str]]:
    """Return kind and name of what a ledger consists of; columns have their types and constraints as well."""
    named = "m.name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    return {(row[0], row[1], row[2]) for row in database.rows(
        "SELECT 'column', m.name || '.' || c.name, c.type || ' ' || (c.\"notnull\" AND NOT c.pk) || ' ' || c.pk "  # noqa: S608
        f"FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND {named} "
        f"UNION ALL SELECT m.type, m.name, '' FROM sqlite_master m WHERE {named}")}


def chunks(kb: KnowledgeBase) -> Iterator[str]:
    """Check that each chunk's text matches its id, and that a document's chunks are numbered without gaps."""
    occurrences: Counter[tuple[str, str, str]] = Counter()
    ordinals: Counter[str] = Counter()
    for chunk in kb.documents.chunks():
        where = f"document {chunk.document_id!r}, chunk {chunk.ordinal}"
        key = (chunk.document_id, chunk.heading, chunk.text)
        if chunk.id != chunk_id(chunk.document_id, chunk.title, chunk.heading, chunk.text, occurrences[key]):
            yield f"{where}: its text is not the one that its id was made from"
        if chunk.ordinal != ordinals[chunk.document_id]:
            yield f"{where}: chunk {ordinals[chunk.document_id]} was expected"
        occurrences[key] += 1
        ordinals[chunk.document_id] += 1


def reports(kb: KnowledgeBase) -> Iterator[str]:
    """Check that accounts, candidates, decisions, verdicts and edits can be read; if not, this raises an error."""
    if kb.schemas.version():
        status_of(kb)
        kb.schema_control.waiting(1)
    kb.schemas.declined_labels()
    kb.documents.entries()
    kb.entities.decisions()
    kb.entities.verdicts()
    kb.edits.table.all()
    yield from ()


_STAGE = ("SELECT c.document, c.ordinal FROM chunks c LEFT JOIN extractions e ON e.chunk = c.id "
          "LEFT JOIN failures f ON f.chunk = c.id")
_STAGES = (
    ("was extracted, but its extraction is not there",
     "c.status IN ('extracted', 'done') AND e.chunk IS NULL"),
    ("waits to be extracted, but was", "c.status = 'pending' AND e.chunk IS NOT NULL"),
    ("failed, but nothing says why", "c.status = 'failed' AND f.chunk IS NULL"),
    ("is not done, but adds to the graph",
     "c.status <> 'done' AND EXISTS (SELECT 1 FROM mentions m WHERE m.chunk = c.id)"),
)


def stages(kb: KnowledgeBase) -> Iterator[str]:
    """Check that each chunk's rows match its stage in the build."""
    for what, condition in _STAGES:
        for row in kb.database.rows(f"{_STAGE} WHERE {condition} ORDER BY 1, 2"):
            yield f"document {row[0]!r}, chunk {row[1]} {what}"


def history(kb: KnowledgeBase) -> Iterator[str]:
    """Check that there is a schema if there are chunks, and that its versions can be read and are without gaps."""
    versions = kb.schemas.versions()
    if not versions and kb.documents.count():
        yield "there are chunks and no schema"
    for number, version in enumerate(versions, 1):
        if version.version != number:
            yield f"version {number} of the schema is missing"
            return
        kb.schemas.base(number)


def extractions(kb: KnowledgeBase) -> Iterator[str]:
    """Check that each chunk's extraction can be read."""
    return _find_unreadable(kb, lambda chunk: kb.extractions.get(chunk.id))


def facts(kb: KnowledgeBase) -> Iterator[str]:
    """Check that the rows of each chunk's mentions, facts and values can be read."""
    return _find_unreadable(kb, kb.extractions.admitted.contribution)


def _find_unreadable(kb: KnowledgeBase, read: Callable[[Chunk], object]) -> Iterator[str]:
    for chunk in kb.documents.chunks():
        try:
            read(chunk)
        except LedgerDamagedError as error:
            yield f"document {chunk.document_id!r}, chunk {chunk.ordinal}: {error}"


def bounding(kb: KnowledgeBase) -> Iterator[str]:
    """Check that each chunk's facts, rejections, repairs and asks are those of its extraction, bounded again.

    Bounding finds the words of each fact in the source and admits only what fits the schema.
    """
    done = kb.documents.done() if kb.schemas.version() else []
    for start in range(0, len(done), _AT_ONCE):
        for chunk, current, base in kb.schema_control.bound_again(done[start:start + _AT_ONCE]):
            mentions, facts, values = rows_of({chunk.id: current})
            wanted = ((MENTIONS, mentions), (FACTS, facts), (ATTRIBUTE_VALUES, values),
                      (REJECTIONS, rejection_rows(chunk, current)), (REPAIRS, repair_rows(chunk, current)),
                      (SCHEMA_REQUESTS, ask_rows(chunk, base)))
            wrong = [_WHAT.get(table.name, "its facts") for table, rows in wanted
                     if chunk_rows(kb.database, table, [chunk.id]).get(chunk.id, []) != sorted(rows)]
            for what in dict.fromkeys(wrong):
                yield (f"document {chunk.document_id!r}, chunk {chunk.ordinal}: {what} are not what the schema admits "
                       "of the extraction")
