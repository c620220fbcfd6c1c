"""Check a knowledge base: the ledger's rows and all that is derived from them. Each check yields a line per problem."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import orjson

from ...ingest.chunking import chunk_id
from ...schemas.documents import Frozen
from ..graph import graph_file
from ..index import index_file
from ..knowledge_base import KnowledgeBase
from ..layout import Layout
from ..ledger.database import Database
from ..ledger.extractions import chunk_rows, rows_by_table
from ..ledger.revision_rows import read_tables
from ..ledger.schema_rows import ask_rows
from ..ledger.tables import SCHEMA_REQUESTS
from ..sql.table_file import TablesDamagedError, check_file
from ..sql.table_store import files_in
from ..store_errors import DatabaseError, LedgerDamagedError, StoreError
from ..vectors.vector_synchroniser import list_embedded, recorded_model
from .status import status_of

_AT_ONCE = 256  # chunks that are bounded again at once
RESTORE = "restore the knowledge base from a backup (`banyan restore FILE --kb NAME --force`), or build it again"
REINDEX = "run `banyan reindex`"
_MADE_AGAIN = "it was made again from the ledger; if this comes back, check the disk"
_SHOWN = 20  # problems of a check that are listed; further ones are counted


class Problem(Frozen):
    """A problem and its fix."""

    what: str
    fix: str


def damages_on_disk(layout: Layout) -> list[Problem]:
    """Find damaged derived files, and delete them; call this before opening, which would rebuild them silently."""
    problems = list[Problem]()
    with layout.alone():  # raises WriterBusyError while another process writes
        tables = ((check_file, path) for path in files_in(layout.root))
        for load, path in ((graph_file.load, layout.graph), (index_file.load, layout.index), *tables):
            try:
                load(path)
            except FileNotFoundError:
                continue
            except (graph_file.GraphFileDamagedError, index_file.IndexDamagedError, TablesDamagedError) as error:
                path.unlink()
                problems.append(Problem(what=str(error), fix=_MADE_AGAIN))
    return problems


def verify(knowledge_base: KnowledgeBase) -> list[Problem]:
    """Check an open knowledge base, to which nobody writes, against every invariant; return the problems."""
    problems: list[Problem] = []
    for name, check, fix in (*_CHECKS_OF_ROWS, *_CHECKS_OF_DERIVED):
        lines: list[str] = []
        try:
            lines.extend(check(knowledge_base))
        except DatabaseError:
            raise  # the server does not answer, so its data cannot be checked
        except (StoreError, sqlite3.DatabaseError, ValueError, KeyError, TypeError) as error:
            # Damaged rows may raise any of these, and the other checks must still run.
            lines.append(f"{name} cannot be read ({type(error).__name__}: {error})")
        more = [f"... and {len(lines) - _SHOWN} more like this"] if len(lines) > _SHOWN else []
        problems += (Problem(what=line, fix=fix) for line in (*lines[:_SHOWN], *more))
    return problems


def find_unsound(knowledge_base: KnowledgeBase) -> Iterator[str]:
    """Yield problems in the rows of a ledger, without what is made again from it; reading them may raise any error."""
    for _, check, _ in _CHECKS_OF_ROWS:
        yield from check(knowledge_base)


def _check_ledger(kb: KnowledgeBase) -> Iterator[str]:
    """Check the database by its own checks and, in SQLite, that it has exactly the tables of this format."""
    foreign = foreign_objects(kb.database) if kb.layout.database is None else []
    yield from (f"the ledger: {line}" for line in (*kb.database.problems(), *foreign))


def foreign_objects(database: Database) -> list[str]:
    """Return how a ledger's tables, columns, indexes, views and triggers differ from those of a new ledger."""
    with closing(Database(Path(":memory:"))) as fresh:
        expected, actual = _schema_objects(fresh), _schema_objects(database)
    return [*(f"the {kind} {name} is missing or of another kind" for kind, name, _ in sorted(expected - actual)),
            *(f"the {kind} {name} is not of this format" for kind, name, _ in sorted(actual - expected))]


def _schema_objects(database: Database) -> set[tuple[str, str, str]]:
    """Return each column, table, index, view and trigger of a SQLite ledger: its kind, its name and what it is."""
    is_own = "m.name NOT LIKE 'sqlite!_%' ESCAPE '!'"  # not one of SQLite's internal tables
    return {(row[0], row[1], row[2]) for row in database.rows(
        "SELECT 'column', m.name || '.' || c.name, c.type || ' ' || (c.\"notnull\" AND NOT c.pk) || ' ' || c.pk "  # noqa: S608
        f"FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND {is_own} "
        "UNION ALL SELECT m.type, m.name, CASE WHEN m.type IN ('view', 'trigger') THEN m.sql ELSE '' END "
        f"FROM sqlite_master m WHERE {is_own}")}


def _check_chunks(kb: KnowledgeBase) -> Iterator[str]:
    """Check that chunks match their ids, are numbered without gaps, and that extracted ones have a sound extraction."""
    occurrences: Counter[tuple[str, str, str]] = Counter()
    counts: Counter[str] = Counter()  # the chunks of each document so far
    extracted = kb.documents.extracted_ids()
    for chunk in kb.documents.chunks():
        document = chunk.document_id
        where = f"document {document!r}, chunk {chunk.ordinal}"
        content = (document, chunk.heading, chunk.text)
        hashed = (document, chunk.title, chunk.heading, chunk.text, occurrences[content], chunk.opening)
        # In bases built before relative dates were read, a chunk's date does not count.
        if chunk.id not in {chunk_id(*hashed, chunk.said_on), chunk_id(*hashed, "")}:
            yield f"{where}: its text is not the one that its id was made from"
        if chunk.ordinal != counts[document]:
            yield f"{where}: chunk {counts[document]} was expected"
        occurrences[content] += 1
        counts[document] += 1
        try:
            if kb.extractions.get(chunk.id) is None and chunk.id in extracted:
                yield f"{where} was extracted, but its extraction is not there"
        except LedgerDamagedError as error:
            yield f"{where}: {error}"


def _check_readable(kb: KnowledgeBase) -> Iterator[str]:
    """Read all other rows, so that `verify` reports an error in reading them, and check the tables of documents."""
    if kb.schemas.version() or kb.documents.count_status("extracted", "done", "failed"):
        status_of(kb)
        kb.schema_control.list_candidates(1)
    for number in range(1, kb.schemas.version() + 1):
        kb.schemas.base(number)
    schemas, entities = kb.schemas, kb.entities
    for read in (schemas.versions, schemas.declined_labels, entities.decisions, entities.verdicts, kb.edits.all):
        read()
    for entry in kb.documents.entries():
        kb.documents.page(entry.id, 0)
    for row in kb.database.rows("SELECT document, tables FROM revisions"):
        read_tables(row.document, row.tables)
    for document, table in kb.documents.tables():
        if len(table.rows) != len(table.spans) or any(len(row) != len(table.columns) for row in table.rows):
            yield f"document {document!r}: its table {table.title!r} has rows of another length than its columns"


def _check_bounding(kb: KnowledgeBase) -> Iterator[str]:
    """Bound each extraction again, and compare what is admitted, rejected, repaired and asked for with the rows."""
    done = kb.documents.done() if kb.schemas.version() else []
    for start in range(0, len(done), _AT_ONCE):
        for chunk, current, base in kb.schema_control.bound_again(done[start:start + _AT_ONCE]):
            expected = rows_by_table(chunk, current) | {SCHEMA_REQUESTS: ask_rows(chunk, base)}
            wrong = [table.name for table, rows in expected.items()
                     if chunk_rows(kb.database, table, [chunk.id]).get(chunk.id, []) != sorted(rows)]
            if wrong:
                yield (f"document {chunk.document_id!r}, chunk {chunk.ordinal}: its {', '.join(wrong)} are not what "
                       "the schema admits of the extraction")


def _check_graph(kb: KnowledgeBase) -> Iterator[str]:
    """Check that the graph's file equals the graph that the ledger's rows give; a file of another state is skipped."""
    try:
        state, written = graph_file.load(kb.layout.graph)
    except (FileNotFoundError, graph_file.GraphFileDamagedError):
        return  # `damages_on_disk` reports it, and opening the knowledge base rebuilds it
    expected = orjson.loads(orjson.dumps(kb.make_node_link().data()))
    if state == list(kb.version()) and any(written.get(part) != expected[part] for part in ("nodes", "edges")):
        yield f"the graph's file {kb.layout.graph.name} is not what the ledger's rows give"


def _check_index(kb: KnowledgeBase) -> Iterator[str]:
    if kb.table_store.differs(kb.version(), kb.table_source(kb.graph)):
        yield "the tables for SQL are not what the documents and the graph give"
    if kb.written_index() is not None and kb.index_store.differs(kb.index_contents()):
        yield "the index that retrieval reads is not what the graph gives"


def _check_aliases(kb: KnowledgeBase) -> Iterator[str]:
    """Check that aliases, unless of an earlier state, are those of the ledger, and verdicts rest on what is stated."""
    if kb.resolution.is_behind(kb.entities.resolved_by()):
        return
    if kb.resolution.find() != kb.entities.aliases():
        yield "the names that count as one entity's are not those that the ledger gives"
    if kb.resolution.outdated_verdicts() or kb.schema_control.count_outdated_verdicts():
        yield "verdicts of the model rest on what no document states any more"


def _check_vectors(kb: KnowledgeBase) -> Iterator[str]:
    for kind, ids, _ in list_embedded(kb.graph, kb.documents, kb.documents.done()):
        stored, expected = kb.vectors.ids(kind), set(ids)
        if stored != expected:
            yield f"the vectors of the {kind}: {len(expected - stored)} missing, {len(stored - expected)} left over"


def _check_communities(kb: KnowledgeBase) -> Iterator[str]:
    """Check the tree: on every level each entity is in exactly one community."""
    communities = kb.communities.all(level=None)
    if communities and not recorded_model(kb.database)[0]:
        yield "the ledger does not say which embedding model its vectors come from"
    if kb.tree.is_behind():
        return  # the communities describe an earlier state of the graph
    members_by_level: dict[int, list[str]] = {0: []}
    for one in communities:
        members_by_level.setdefault(one.level, []).extend(one.members)
    for level, members in members_by_level.items():
        if sorted(members) != kb.graph.entity_ids():
            yield f"the communities of level {level} do not partition the entities"


_Checks = tuple[tuple[str, Callable[[KnowledgeBase], Iterator[str]], str], ...]
_CHECKS_OF_ROWS: _Checks = (
    ("the ledger", _check_ledger, RESTORE),
    ("documents and chunks", _check_chunks, RESTORE),
    ("what reports show", _check_readable, RESTORE),
    ("the graph", _check_graph, REINDEX),
    ("the communities", _check_communities, REINDEX))
_CHECKS_OF_DERIVED: _Checks = (
    ("what waits for the schema", _check_bounding, REINDEX),
    ("the names of entities", _check_aliases, REINDEX),
    ("the vectors", _check_vectors, REINDEX),
    ("the index", _check_index, REINDEX))
