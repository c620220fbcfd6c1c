"""Check the ledger itself: its file, tables, documents, stages and accounts."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ...ingest.chunking import chunk_id
from ..knowledge_base import KnowledgeBase
from ..ledger.database import Database
from ..vectors.reliability import Reliability
from .problems import REINDEX, RESTORE, Problem

Column = tuple[str, str, str, int, int]
"""Table, column, type, whether it is NOT NULL outside the primary key, place in the primary key."""


def file(kb: KnowledgeBase) -> Iterator[Problem]:
    """Run SQLite's checks of pages, indexes and foreign keys; in PostgreSQL, compare the tables' columns."""
    for line in kb.database.problems():
        yield Problem(what=f"the ledger: {line}", fix=RESTORE)


def tables(kb: KnowledgeBase) -> Iterator[Problem]:
    """Check that tables and indexes are those of the format, and that no view or trigger was added."""
    for line in foreign_objects(kb.database) if kb.layout.database is None else ():
        yield Problem(what=f"the ledger: {line}", fix=RESTORE)


def foreign_objects(database: Database) -> list[str]:
    """Return the differences of a ledger's columns, tables, indexes, views and triggers from a new one's."""
    with closing(Database(Path(":memory:"))) as fresh:
        expected, actual = _shape(fresh), _shape(database)
        parts, others = _parts(fresh), _parts(database)
    return [*(f"the column {c[0]}.{c[1]} is missing or of another kind" for c in sorted(expected - actual)),
            *(f"the column {c[0]}.{c[1]} is not of this format" for c in sorted(actual - expected)),
            *(f"the {kind} {name} is missing" for kind, name in sorted(parts - others)),
            *(f"the {kind} {name} is not of this format" for kind, name in sorted(others - parts))]


def _shape(database: Database) -> set[Column]:
    return {(str(row[0]), str(row[1]), str(row[2]), int(row[3]), int(row[4])) for row in database.rows(
        'SELECT m.name, c.name, c.type, c."notnull" AND NOT c.pk, c.pk FROM sqlite_master m '
        "JOIN pragma_table_info(m.name) c "
        "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!'")}


def _parts(database: Database) -> set[tuple[str, str]]:
    return {(str(row[0]), str(row[1])) for row in database.rows(
        "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'")}


def chunks(kb: KnowledgeBase) -> Iterator[Problem]:
    """Check that each chunk's text matches its id, and that a document's chunks are numbered without gaps."""
    occurrences: Counter[tuple[str, str, str]] = Counter()
    ordinals: Counter[str] = Counter()
    for chunk in kb.documents.chunks():
        where = f"document {chunk.document_id!r}, chunk {chunk.ordinal}"
        key = (chunk.document_id, chunk.heading, chunk.text)
        if chunk.id != chunk_id(chunk.document_id, chunk.title, chunk.heading, chunk.text, occurrences[key]):
            yield Problem(what=f"{where}: its text is not the one that its id was made from", fix=RESTORE)
        if chunk.ordinal != ordinals[chunk.document_id]:
            yield Problem(what=f"{where}: chunk {ordinals[chunk.document_id]} was expected", fix=RESTORE)
        occurrences[key] += 1
        ordinals[chunk.document_id] += 1


def waiting(kb: KnowledgeBase) -> Iterator[Problem]:
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
                yield Problem(what=f"{where} is missing", fix=RESTORE)
                continue
            text = row.text[start:end]
            occurrence = occurrences[str(heading), text]
            if chunk != chunk_id(row.document, row.title, str(heading), text, occurrence):
                yield Problem(what=f"{where}: its text is not the one that its id was made from", fix=RESTORE)
            occurrences[str(heading), text] += 1
    for row in kb.database.rows("SELECT id, document FROM chunks WHERE revision = 1 ORDER BY document, ordinal"):
        if row.id not in known:
            yield Problem(what=f"a chunk of document {row.document!r} waits for new content that is not there",
                          fix=RESTORE)


_STAGE = ("SELECT c.document, c.ordinal FROM chunks c LEFT JOIN extractions e ON e.chunk = c.id "
          "LEFT JOIN failures f ON f.chunk = c.id")
_STAGES = (
    ("was extracted, but its extraction is not there",
     "c.status IN ('extracted', 'done') AND e.chunk IS NULL", RESTORE),
    ("waits to be extracted, but was", "c.status = 'pending' AND e.chunk IS NOT NULL", RESTORE),
    ("failed, but nothing says why", "c.status = 'failed' AND f.chunk IS NULL", RESTORE),
    ("is not done, but adds to the graph",
     "c.status <> 'done' AND EXISTS (SELECT 1 FROM mentions m WHERE m.chunk = c.id)", RESTORE),
)


def stages(kb: KnowledgeBase) -> Iterator[Problem]:
    """Check that each chunk's rows match its stage in the build."""
    for what, condition, fix in _STAGES:
        for row in kb.database.rows(f"{_STAGE} WHERE {condition} ORDER BY 1, 2"):
            yield Problem(what=f"document {row[0]!r}, chunk {row[1]} {what}", fix=fix)
    for row in kb.database.rows(
            "SELECT DISTINCT x.document, x.chunk FROM (SELECT chunk, document FROM rejections UNION "
            "SELECT chunk, document FROM schema_requests) x JOIN chunks c ON c.id = x.chunk "
            "WHERE c.document <> x.document"):
        yield Problem(what=f"what waits of chunk {row[1]} is put down to document {row[0]!r}", fix=REINDEX)


def positions(kb: KnowledgeBase) -> Iterator[Problem]:
    """Check that no derived data is ahead of the ledger, and that its other settings are valid."""
    position = kb.extractions.position()
    tree = int(kb.database.get_meta("tree_position") or 0)
    if tree > position:
        yield Problem(what="the communities are noted as ahead of the ledger", fix=REINDEX)
    if tree and kb.database.get_meta("embedding") is None:
        yield Problem(what="the ledger does not say which embedding model its vectors come from", fix=REINDEX)
    try:
        shares = Reliability.parse(kb.database.get_meta("reliability")).by_script.values()
        sound = all(0 <= share <= 1 for share in shares)
    except (ValueError, AttributeError, TypeError):
        sound = False
    if not sound:
        yield Problem(what="how far vectors can be trusted is not a share for each script", fix=REINDEX)


def accounts(kb: KnowledgeBase) -> Iterator[Problem]:
    """Check that the accounts cover every stored response, and that each step with completions has one.

    An account may exceed its responses: two equal calls at the same time are both paid, and one response is stored.
    """
    kb.calls.steps()  # reads the accounts as reports do, which raises if a number is not an integer
    for row in kb.database.rows(
            "SELECT step, count(*) FROM calls WHERE CAST(prompt_tokens AS INTEGER) <> prompt_tokens OR "
            "CAST(completion_tokens AS INTEGER) <> completion_tokens OR prompt_tokens < 0 OR completion_tokens < 0 "
            "GROUP BY step ORDER BY step"):
        yield Problem(what=f"the tokens of {row[1]} responses of the step {row[0]!r} are no whole numbers", fix=RESTORE)
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
        yield Problem(what=f"the account of the step {row[0]!r} does not add up: {row[1]} calls were paid, the "
                           f"responses of {row[2]} are kept", fix=RESTORE)
