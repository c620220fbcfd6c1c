"""Check a ledger's rows: its file and tables, documents and stages, the schema and its history, facts, accounts.

Each check yields a line for each problem.
"""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ...ingest.chunking import chunk_id
from ...schemas.documents import Chunk, Span
from ...schemas.extraction import BoundedExtraction
from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import label_key
from ..errors import LedgerDamagedError, StoreError
from ..evolution.editing import KIND_NAMES, find_element
from ..knowledge_base import KnowledgeBase
from ..ledger.database import Database
from ..ledger.extractions import rejection_row
from ..ledger.facts import Contribution, contribution_of
from ..ledger.schema_requests import ask_row
from ..vectors.reliability import Reliability

_AT_ONCE = 256
Column = tuple[str, str, str, int, int]
"""Table, column, type, whether it is NOT NULL outside the primary key, place in the primary key."""


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
            if chunk != chunk_id(row.document, row.title, str(heading), text, occurrence):
                yield f"{where}: its text is not the one that its id was made from"
            occurrences[str(heading), text] += 1
    for row in kb.database.rows("SELECT id, document FROM chunks WHERE revision = 1 ORDER BY document, ordinal"):
        if row.id not in known:
            yield f"a chunk of document {row.document!r} waits for new content that is not there"


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


def owners(kb: KnowledgeBase) -> Iterator[str]:
    """Check that what was rejected or asked for is charged to its chunk's document."""
    for row in kb.database.rows(
            "SELECT DISTINCT x.document, x.chunk FROM (SELECT chunk, document FROM rejections UNION "
            "SELECT chunk, document FROM schema_requests) x JOIN chunks c ON c.id = x.chunk "
            "WHERE c.document <> x.document"):
        yield f"what waits of chunk {row[1]} is put down to document {row[0]!r}"


def positions(kb: KnowledgeBase) -> Iterator[str]:
    """Check that no derived data is ahead of the ledger, and that its other settings are valid."""
    position = kb.extractions.position()
    tree = int(kb.database.get_meta("tree_position") or 0)
    if tree > position:
        yield "the communities are noted as ahead of the ledger"
    if tree and kb.database.get_meta("embedding") is None:
        yield "the ledger does not say which embedding model its vectors come from"
    try:
        shares = Reliability.parse(kb.database.get_meta("reliability")).by_script.values()
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


# The schema.


def history(kb: KnowledgeBase) -> Iterator[str]:
    """Check that there is a schema if there are chunks, and that its versions can be read and are without gaps."""
    versions = kb.schemas.versions()
    if not versions and kb.documents.count():
        yield "there are chunks and no schema"
    for number, version in enumerate(versions, 1):
        if version.version != number:
            yield f"version {number} of the schema is missing"
            return
        kb.schemas.based(number)


def growth(kb: KnowledgeBase) -> Iterator[str]:
    """Check that documents ask for every grown element, and that the schema has no declined one."""
    try:
        base, current = kb.schemas.base(), kb.schemas.current()
    except StoreError:
        return  # there is no schema yet, which `history` reports
    for kind, label in sorted(kb.schemas.declined()):
        if find_element(current, kind, label) is not None:
            yield f"the schema has the {KIND_NAMES[kind]} {label!r}, which was declined"
    if kb.schema_control.policy != "auto":
        return  # without automatic growth, elements stay when their documents are deleted
    asked = set(kb.schema_control.asks.labels())
    for kind in KIND_NAMES:
        own = {element.name for element in base.elements(kind)}
        for element in current.elements(kind):
            if element.name not in own and not asked & {(kind, label_key(name)) for name in element.all_names()}:
                yield f"the {KIND_NAMES[kind]} {element.name!r} grew by itself, and no document asks for it"


# Facts.


def contributions(kb: KnowledgeBase) -> Iterator[str]:
    """Check that each stored fact quotes its source, connects entities of its chunk and fits the schema in force."""
    schema = kb.schemas.current() if kb.schemas.version() else None
    for chunk in kb.documents.chunks():
        where = f"document {chunk.document_id!r}, chunk {chunk.ordinal}"
        try:
            contribution = kb.extractions.admitted.contribution(chunk)
        except LedgerDamagedError as error:
            yield f"{where}: {error}"
            continue
        yield from (f"{where}: {line}" for line in _find_ungrounded(contribution, chunk))
        yield from (f"{where}: {line} does not fit the schema" for line in _find_misfits(contribution, schema))


def extractions(kb: KnowledgeBase) -> Iterator[str]:
    """Check that each chunk's extraction can be read."""
    for chunk in kb.documents.chunks():
        try:
            kb.extractions.get(chunk.id)
        except LedgerDamagedError as error:
            yield f"document {chunk.document_id!r}, chunk {chunk.ordinal}: {error}"


def _find_ungrounded(contribution: Contribution, chunk: Chunk) -> Iterator[str]:
    spans: list[Span] = [*(item.span for item in contribution.mentions), *(item.span for item in contribution.facts),
                         *(item.span for item in contribution.attributes)]
    for span in spans:
        if not 0 <= span.start < span.end <= len(chunk.text):
            yield f"a fact rests on words at {span.start}..{span.end}, which are not there"
    mentioned = {(mention.name, mention.type) for mention in contribution.mentions}
    ends = [end for fact in contribution.facts for end in ((fact.head, fact.head_type), (fact.tail, fact.tail_type))]
    for name, kind in sorted({*ends, *((a.entity, a.entity_type) for a in contribution.attributes)} - mentioned):
        yield f"a fact is about {name!r} ({kind}), which the chunk does not mention"


def _find_misfits(contribution: Contribution, schema: GraphSchema | None) -> Iterator[str]:
    for fact in contribution.facts:
        if schema is None or not schema.fits(fact.head_type, fact.relation, fact.tail_type):
            yield f"({fact.head}; {fact.relation}; {fact.tail})"
    for value in contribution.attributes:
        if schema is None or not schema.fits_attribute(value.entity_type, value.attribute):
            yield f"({value.entity}; {value.attribute})"
    for mention in contribution.mentions:
        if schema is None or not (schema.open or schema.entity_type(mention.type)):
            yield f"{mention.name!r} of the type {mention.type!r}"


def bounding(kb: KnowledgeBase) -> Iterator[str]:
    """Check that each chunk's facts, rejections, repairs and asks are what the schema makes of its extraction."""
    if not kb.schemas.version():
        return
    done = kb.documents.done()
    for start in range(0, len(done), _AT_ONCE):
        for chunk, current, base in kb.schema_control.bound_again(done[start:start + _AT_ONCE]):
            where = f"document {chunk.document_id!r}, chunk {chunk.ordinal}"
            for what in _differences(kb, chunk, current, base):
                yield f"{where}: {what} are not what the schema admits of the extraction"


def _differences(kb: KnowledgeBase, chunk: Chunk, current: BoundedExtraction, base: BoundedExtraction) -> Iterator[str]:
    if kb.extractions.admitted.contribution(chunk) != contribution_of(current):
        yield "its facts"
    key = chunk.document_id, chunk.id
    if _rows(kb, "rejections", chunk.id) != sorted(json.dumps(rejection_row(*key, r)) for r in current.rejections):
        yield "its rejected facts"
    if _rows(kb, "repairs", chunk.id) != sorted(json.dumps((chunk.id, *r)) for r in current.repairs.items()):
        yield "its repairs"
    requests = sorted(json.dumps(row) for ask in base.asks if (row := ask_row(*key, ask)))
    if _rows(kb, "schema_requests", chunk.id) != requests:
        yield "the facts that wait for the schema"


def _rows(kb: KnowledgeBase, table: str, chunk_id: str) -> list[str]:
    rows = kb.database.rows(f"SELECT * FROM {table} WHERE chunk = :chunk", chunk=chunk_id)  # noqa: S608
    return sorted(json.dumps(tuple(row)) for row in rows)
