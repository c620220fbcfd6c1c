"""Check a ledger's rows: its file and tables, documents and stages, accounts, the schema, extractions and facts.

Each check yields a line for each problem.
"""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ...ingest.chunking import chunk_id
from ...schemas.naming import label_key
from ...text.section_lines import opening_of
from ..evolution.elements import KIND_NAMES, find_element
from ..knowledge_base import KnowledgeBase
from ..ledger.database import Database
from ..ledger.extractions import chunk_rows, rows_by_table
from ..ledger.schema_requests import ask_rows
from ..ledger.tables import SCHEMA_REQUESTS
from ..ledger.version import ledger_state
from ..store_errors import LedgerDamagedError, StoreError
from ..vectors.ledger_embedder import recorded_model
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
        if chunk.id != chunk_id(chunk.document_id, chunk.title, chunk.heading, chunk.text, occurrences[key],
                                chunk.opening):
            yield f"{where}: its text is not the one that its id was made from"
        if chunk.ordinal != ordinals[chunk.document_id]:
            yield f"{where}: chunk {ordinals[chunk.document_id]} was expected"
        occurrences[key] += 1
        ordinals[chunk.document_id] += 1


def waiting(kb: KnowledgeBase) -> Iterator[str]:
    """Check that each revision has the chunks it was split into, and that no other chunk waits."""
    known: set[str] = set()
    for row in kb.database.rows("SELECT document, title, text, chunks FROM revisions ORDER BY document"):
        occurrences: Counter[tuple[str, str]] = Counter()
        for chunk, ordinal, start, end in json.loads(row.chunks):
            known.add(chunk)
            where = f"the new content of document {row.document!r}, chunk {ordinal}"
            heading = kb.database.scalar("SELECT heading FROM chunks WHERE id = :chunk AND document = :document",
                                         chunk=chunk, document=row.document)
            if heading is None:
                yield f"{where} is missing"
                continue
            text = row.text[start:end]
            occurrence = occurrences[str(heading), text]
            opening = opening_of(row.text, start)
            if chunk != chunk_id(row.document, row.title, str(heading), text, occurrence, opening):
                yield f"{where}: its text is not the one that its id was made from"
            occurrences[str(heading), text] += 1
    for row in kb.database.rows("SELECT id, document FROM chunks WHERE revision = 1 ORDER BY document, ordinal"):
        if row.id not in known:
            yield f"a chunk of document {row.document!r} waits for new content that is not there"


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


def vector_settings(kb: KnowledgeBase) -> Iterator[str]:
    """Check that the ledger names the embedding model of its vectors, and how far these can be trusted."""
    if kb.communities.count() and not recorded_model(kb.database)[0]:
        yield "the ledger does not say which embedding model its vectors come from"
    try:
        shares = ledger_state(kb.database).reliability.values()
        sound = all(0 <= share <= 1 for share in shares)
    except (ValueError, AttributeError, TypeError):
        sound = False
    if not sound:
        yield "how far vectors can be trusted is not a share for each script"


def accounts(kb: KnowledgeBase) -> Iterator[str]:
    """Check that the accounts cover every stored response, and that each step with completions has one.

    An account may exceed its responses: two equal calls at the same time are both paid, and one response is stored.
    """
    kb.calls.steps()  # reads the accounts as reports do, which raises if a number is not an integer
    for row in kb.database.rows(
            "SELECT step, count(*) FROM calls WHERE CAST(prompt_tokens AS INTEGER) <> prompt_tokens OR "
            "CAST(completion_tokens AS INTEGER) <> completion_tokens OR prompt_tokens < 0 OR completion_tokens < 0 "
            "GROUP BY step ORDER BY step"):
        yield f"the tokens of {row[1]} responses of the step {row[0]!r} are no whole numbers"
    for row in kb.database.rows(
            "WITH kept AS (SELECT step, count(*) calls, sum(prompt_tokens) prompt, sum(completion_tokens) completion "
            "FROM calls GROUP BY step), accounts AS (SELECT step, sum(calls) calls, sum(prompt) prompt, "
            "sum(completion) completion, count(*) FILTER (WHERE calls < 0 OR prompt < 0 OR completion < 0 OR "
            "cached < 0 OR wasted_calls < 0 OR wasted < 0 OR calls < wasted_calls OR prompt < cached OR "
            "prompt + completion < wasted) wrong FROM tokens GROUP BY step), "
            "steps AS (SELECT step FROM accounts UNION SELECT step FROM kept) "
            "SELECT step, coalesce(t.calls, 0), coalesce(k.calls, 0) FROM steps LEFT JOIN accounts t USING (step) "
            "LEFT JOIN kept k USING (step) WHERE t.step IS NULL OR t.calls < k.calls OR t.prompt < k.prompt OR "
            "t.completion < k.completion OR (t.completion > 0 AND k.step IS NULL) "
            "OR t.wrong > 0 ORDER BY step"):
        yield (f"the account of the step {row[0]!r} does not add up: {row[1]} calls were paid, the responses of "
               f"{row[2]} are kept")


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


def growth(kb: KnowledgeBase) -> Iterator[str]:
    """Check that documents ask for every grown element, and that the schema has no declined one."""
    try:
        base, current = kb.schemas.base(), kb.schemas.current()
    except StoreError:
        return  # there is no schema yet, which `history` reports
    for kind, label in sorted(kb.schemas.declined_labels()):
        if find_element(current, kind, label) is not None:
            yield f"the schema has the {KIND_NAMES[kind]} {label!r}, which was declined"
    if kb.schema_control.policy != "auto":
        return  # without automatic growth, elements stay when their documents are deleted
    asked = {(count.kind, count.label) for count in kb.schema_control.asks.counts()}
    for kind in KIND_NAMES:
        own = {element.name for element in base.elements(kind)}
        for element in current.elements(kind):
            if element.name not in own and not asked & {(kind, label_key(name)) for name in element.all_names()}:
                yield f"the {KIND_NAMES[kind]} {element.name!r} grew by itself, and no document asks for it"


def extractions(kb: KnowledgeBase) -> Iterator[str]:
    """Check that each chunk's extraction can be read."""
    for chunk in kb.documents.chunks():
        try:
            kb.extractions.get(chunk.id)
        except LedgerDamagedError as error:
            yield f"document {chunk.document_id!r}, chunk {chunk.ordinal}: {error}"


def bounding(kb: KnowledgeBase) -> Iterator[str]:
    """Check that each chunk's facts, rejections, repairs and asks are those of its extraction, bounded again.

    Bounding finds the words of each fact in the source and admits only what fits the schema.
    """
    done = kb.documents.done() if kb.schemas.version() else []
    for start in range(0, len(done), _AT_ONCE):
        for chunk, current, base in kb.schema_control.bound_again(done[start:start + _AT_ONCE]):
            wanted = rows_by_table(chunk, current) | {SCHEMA_REQUESTS: ask_rows(chunk, base)}
            wrong = [_WHAT.get(table.name, "its facts") for table, rows in wanted.items()
                     if chunk_rows(kb.database, table, [chunk.id]).get(chunk.id, []) != sorted(rows)]
            for what in dict.fromkeys(wrong):
                yield (f"document {chunk.document_id!r}, chunk {chunk.ordinal}: {what} are not what the schema admits "
                       "of the extraction")
