"""The ledger's documents and chunks, and how far each chunk is in a build; new content waits as a revision."""

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from ...schemas.documents import Chunk, Document, Frozen, SourceTable
from ...schemas.edits import trust_ranks
from ...text.relative_dates import SayingDates, document_date, relative_dates, with_meant_dates
from ...text.section_lines import opening_of
from ..store_errors import UnknownDocumentError
from .database import Database, Record, now
from .entity_rows import EditTable
from .notes import ledger_state
from .revision_rows import CONTENTS, PLACE, Revisions, contents_of, document_of, places_of, read_tables
from .tables import DOCUMENTS, among, replacement
from .token_accounts import forget_documents

_TEXTS_AT_ONCE = 500  # texts of documents read by one query

_AROUND = 300  # characters around a quote that are read with it: the words around a relative date decide its tense

Status = Literal["pending", "extracted", "done", "failed"]


class DocumentEntry(Frozen):
    """A line of `banyan documents`."""

    id: str
    title: str
    source: str
    characters: int
    chunks: int
    failed: int
    added_at: str
    updating: bool
    """True while new content waits for its extraction; until then, questions are answered from the old content."""
    trust: int
    """The rank that a person gave it, 0 without one: of documents that differ, the one of the higher rank counts."""


class DocumentSummary(NamedTuple):
    """A document without its text."""

    id: str
    title: str
    source: str
    metadata: dict[str, str]


class _Content(NamedTuple):
    """What chunks take from their document."""

    title: str
    text: str
    dates: SayingDates


class Documents:
    """Documents and their chunks. A chunk whose text did not change keeps its id and extraction."""

    def __init__(self, database: Database) -> None:
        self._db, self.revisions = database, Revisions(database)
        # The content that was read last, behind a key of its state: chunks of a document are often read one by one.
        self._last_content: tuple[object, _Content | None] = None, None

    def put(self, document: Document, chunks: Sequence[Chunk]) -> bool:
        """Store a document with its chunks, or new content of one that exists; return True if anything changed.

        Chunks whose ids are stored keep their extraction. If chunks in the graph disappear and others have to be read
        first, the new content waits as a revision (see `Revisions`), and the old one stays in use.
        """
        new_places = {chunk.id: (chunk.ordinal, chunk.start) for chunk in chunks}
        with self._db.transaction():
            before = self._db.rows(f"SELECT {CONTENTS} FROM documents WHERE id = :id", id=document.id)  # noqa: S608
            rows = self._db.rows("SELECT id, ordinal, start, status FROM chunks WHERE document = :document "
                                 "AND revision = 0", document=document.id)
            old_places = {row.id: (row.ordinal, row.start) for row in rows}
            if before and tuple(before[0]) == contents_of(document) and old_places == new_places:
                return self.revisions.drop(document.id)  # if new content waits, it is outdated
            # Replacing the content now would remove facts before those of the new chunks are extracted.
            has_new_chunks = bool(new_places.keys() - old_places.keys())
            loses_facts = any(row.status == "done" and row.id not in new_places for row in rows)
            if has_new_chunks and loses_facts:
                return self.revisions.hold(document, chunks)
            self.revisions.drop(document.id)
            row = (document.id, *contents_of(document), now())
            self._db.execute(replacement(DOCUMENTS, *CONTENTS.split(", ")),
                             **dict(zip(DOCUMENTS.columns.keys(), row, strict=True)))
            self._db.execute(f"DELETE FROM chunks WHERE {among('id')}", among=old_places.keys() - new_places.keys())  # noqa: S608
            self._db.execute_many(PLACE, places_of(document.id, chunks, revision=0))
        return True

    def in_service(self, chunk_ids: Sequence[str]) -> list[str]:
        """Return those of some chunks, in the given order, that are stored and belong to no revision that waits."""
        stored = set(self._db.texts(f"SELECT id FROM chunks WHERE revision = 0 AND {among('id')}", among=chunk_ids))  # noqa: S608
        return [chunk for chunk in chunk_ids if chunk in stored]

    def delete(self, *document_ids: str, missing_ok: bool = False) -> None:
        """Remove documents with their chunks and, by foreign keys, the rows that belong to these.

        Raises UnknownDocumentError if one is not there, without `missing_ok`, and removes none. The caller then calls
        `derive`, and at the end `finish_deletion`; until then a killed command can be repeated.
        """
        with self._db.transaction():
            known = set(self._db.texts(f"SELECT id FROM documents WHERE {among('id')}", among=document_ids))  # noqa: S608
            deleting = self._db.get_meta(_DELETING).split("\n")
            # A repeated command names documents that the killed one has removed already: these are not missing.
            missing = [one for one in document_ids if one not in known and one not in deleting]
            if missing and not missing_ok:
                raise UnknownDocumentError(f"there is no document {missing[0]!r}; see `banyan documents`")
            if not known:
                return
            self._db.set_meta(_DELETING, "\n".join(filter(None, [*deleting, *sorted(known)])))
            forget_documents(self._db, known)
            self._db.execute(f"DELETE FROM documents WHERE {among('id')}", among=known)  # noqa: S608

    def is_deleting(self) -> bool:
        """Return True if a deletion was begun and not finished (see `finish_deletion`)."""
        return bool(self._db.get_meta(_DELETING))

    def finish_deletion(self) -> None:
        """End a deletion, as nothing derived has its text any more; delete the descriptions of former communities."""
        if self.is_deleting():
            with self._db.transaction():
                self._db.execute("DELETE FROM summaries WHERE id NOT IN (SELECT id FROM communities)")
                self._db.set_meta(_DELETING, "")

    def get(self, document_id: str) -> Document:
        """Return a document with its text, or raise UnknownDocumentError."""
        for row in self._db.rows(f"SELECT id, {CONTENTS} FROM documents WHERE id = :id", id=document_id):  # noqa: S608
            return document_of(row)
        raise UnknownDocumentError(f"there is no document {document_id!r}; see `banyan documents`")

    def text(self, document_id: str) -> str:
        """Return a document's text, or raise UnknownDocumentError."""
        for text in self._db.texts("SELECT text FROM documents WHERE id = :id", id=document_id):
            return text
        raise UnknownDocumentError(f"there is no document {document_id!r}; see `banyan documents`")

    def tables(self, like: str = "_%") -> Iterator[tuple[str, SourceTable]]:
        """Yield the tables of documents with their document's id, by id and in the order of the text.

        Only those of documents whose tables, as JSON, fit a pattern of SQL's LIKE: by default, whose tables are any.
        """
        ids = "SELECT id FROM documents WHERE tables <> '[]' AND tables LIKE :like ORDER BY id"
        for document_id in self._db.texts(ids, like=like):
            stored = self._column(document_id, "tables") or "[]"  # "": another process has deleted the document
            yield from ((document_id, table) for table in read_tables(document_id, stored))

    def _column(self, document_id: str, column: str) -> str:
        """Return a column of a document's row; "" if there is no such document."""
        return str(self._db.scalar(f"SELECT {column} FROM documents WHERE id = :id", id=document_id) or "")  # noqa: S608

    def metadata(self, document_id: str) -> dict[str, str]:
        """Return the metadata of a document; empty if there is no such document."""
        return dict(json.loads(self._column(document_id, "metadata") or "{}"))

    def page(self, document_id: str, character: int) -> int | None:
        """Return the page on which a character of a document is, from 1, or None if the document has no pages."""
        page_starts = json.loads(self._column(document_id, "pages") or "[]")
        pages_begun = bisect_right(page_starts, character)  # as many as the page's number
        return pages_begun or None

    def meant_dates(self, document_id: str, start: int, end: int) -> tuple[str, ...]:
        """Return the relative dates of a part of a document with what they mean: "yesterday [2024-03-04]"."""
        if (content := self._content(document_id)) is None:
            return ()
        line_start = content.text.rfind("\n", 0, start) + 1
        first = max(line_start, start - _AROUND)  # an earlier line may have been said on another day
        around = content.text[first:end + _AROUND]
        dates = [date for date in relative_dates(around, content.dates.at(first))
                 if start <= first + date.start and first + date.end <= end]
        return tuple(with_meant_dates(around, [date], date.start, date.end) for date in dates)

    def source(self, document_id: str) -> str:
        """Return where a document was read from; "" if there is no such document."""
        return self._column(document_id, "source")

    def has(self, document_id: str) -> bool:
        """Return True if there is a document of that id."""
        return bool(self._column(document_id, "id"))

    def ids(self, offset: int, limit: int) -> list[str]:
        """Return some of the documents' ids, in order."""
        page = "SELECT id FROM documents ORDER BY id LIMIT :most OFFSET :first"
        return self._db.texts(page, most=limit, first=min(offset, _ALL))

    def titles(self) -> dict[str, str]:
        """Return the titles of all documents by their ids, in the order of these."""
        return {row.id: row.title for row in self._db.rows("SELECT id, title FROM documents ORDER BY id")}

    def entries(self, ids: Sequence[str] | None = None) -> list[DocumentEntry]:
        """Return all documents, or some, by id, without their texts."""
        where, values = ("", {}) if ids is None else (f"WHERE {among('d.id')} ", {"among": ids})
        # Revision 0 is in service. A pending chunk with a failure is being tried again; a done one failed when it was
        # read again, and keeps what it gave before.
        rows = self._db.rows(
            "SELECT d.id, d.title, d.source, length(d.text) AS characters, "  # noqa: S608
            "count(c.id) FILTER (WHERE c.revision = 0) AS chunks, "
            "count(f.chunk) FILTER (WHERE c.status IN ('failed', 'done')) AS failed, d.added_at, "
            "EXISTS (SELECT 1 FROM revisions r WHERE r.document = d.id) AS updating "
            "FROM documents d LEFT JOIN chunks c ON c.document = d.id LEFT JOIN failures f ON f.chunk = c.id "
            f"{where}GROUP BY d.id ORDER BY d.id", **values)
        ranks = trust_ranks(EditTable(self._db).in_force(), [row.id for row in rows])
        return [DocumentEntry(**row._asdict(), trust=ranks[row.id]) for row in rows]

    def about(self) -> list[DocumentSummary]:
        """Return all documents without their texts, by id."""
        return [DocumentSummary(row.id, row.title, row.source, json.loads(row.metadata)) for row in self._db.rows(
            "SELECT id, title, source, metadata FROM documents ORDER BY id")]

    def chunks(self, chunk_ids: Iterable[str] | None = None) -> list[Chunk]:
        """Return chunks with their texts: all in service, by document and position, or those of some ids, in order."""
        if chunk_ids is None:
            return self._with_texts(self._db.rows(f"{_CHUNK} WHERE revision = 0 {_IN_ORDER}"))
        wanted = list(chunk_ids)
        found = {row.id: row for row in self._db.rows(f"{_CHUNK} WHERE {among('id')}", among=wanted)}
        return self._with_texts([found[chunk] for chunk in wanted if chunk in found])

    def chunks_of(self, documents: Iterable[str]) -> list[Chunk]:
        """Return the chunks in service of some documents, by document and position."""
        return self._with_texts(self._db.rows(f"{_CHUNK} WHERE revision = 0 AND {among('document')} {_IN_ORDER}",
                                              among=list(documents)))

    def _with_texts(self, rows: Sequence[Record]) -> list[Chunk]:
        """Return the chunks of some rows of `_CHUNK`, without those whose document another process has deleted."""
        # Each document is read once and cut here: substr() in SQL would count characters from the text's beginning for
        # every chunk, which is quadratic in a long document.
        chunks: list[Chunk] = []
        for (document, revision), of_document in groupby(rows, lambda row: (row.document, row.revision)):
            content = self._content(document, is_new=bool(revision))
            if content is not None:
                chunks += (Chunk(
                    id=row.id, document_id=document, ordinal=row.ordinal, start=row.start, end=row.end,
                    heading=row.heading, title=content.title, text=content.text[row.start:row.end],
                    opening=opening_of(content.text, row.start), said_on=content.dates.at(row.start))
                    for row in of_document)
        return chunks

    def whole_texts(self) -> Iterator[tuple[str, str]]:
        """Yield the ids and texts of all documents, reading some at a time."""
        ids = self._db.texts("SELECT id FROM documents ORDER BY id")
        for start in range(0, len(ids), _TEXTS_AT_ONCE):
            some = ids[start:start + _TEXTS_AT_ONCE]
            yield from map(tuple, self._db.rows(f"SELECT id, text FROM documents WHERE {among('id')}", among=some))  # noqa: S608

    def _content(self, document_id: str, *, is_new: bool = False) -> _Content | None:
        """Return a document's content in service, or with `is_new` the one that waits; None without such a document."""
        # Any process may have changed the content (`position`), or an open transaction of this connection (`changes`).
        key = document_id, is_new, ledger_state(self._db).position, self._db.changes
        if self._last_content[0] != key:
            waiting = "SELECT title, text, metadata FROM revisions WHERE document = :id"
            rows = self._db.rows(waiting, id=document_id) if is_new else ()
            # New content that waits no more was put in service meanwhile.
            rows = rows or self._db.rows("SELECT title, text, metadata FROM documents WHERE id = :id", id=document_id)
            content = None
            for title, text, metadata in rows:  # one, or none
                date = document_date(document_id, title, json.loads(metadata))
                content = _Content(title, text, SayingDates(text, date))
            self._last_content = key, content
        return self._last_content[1]

    def count(self, documents: Sequence[str] | None = None) -> int:
        """Return the number of chunks in service, of all documents or of some."""
        of_documents, values = ("", {}) if documents is None else (f" AND {among('document')}", {"among": documents})
        return self._db.count(f"SELECT count(*) FROM chunks WHERE revision = 0{of_documents}", **values)  # noqa: S608

    def count_status(self, *status: Status) -> int:
        """Return the number of chunks of some statuses, including those of new content that waits."""
        open_only = "" if "done" in status else f"{_TO_DO} AND "  # changes no count, and makes the index usable
        return self._db.count(f"SELECT count(*) FROM chunks WHERE {open_only}{among('status')}", among=status)  # noqa: S608

    def to_reread(self, fingerprints: Sequence[str]) -> dict[str, str]:
        """Return the chunks that `next_batch` would have read again, in order, with their readers' fingerprints."""
        return {row.id: row.reasoner for row in self._db.rows(
            f"SELECT c.id, e.reasoner {_REREAD} ORDER BY c.document, c.ordinal", among=fingerprints)}

    def status(self, chunk_id: str) -> Status | None:
        """Return how far a chunk has come in a build, or None if there is no such chunk."""
        return cast("Status | None", self._db.scalar("SELECT status FROM chunks WHERE id = :id", id=chunk_id))

    def count_documents(self) -> int:
        """Return the number of documents."""
        return self._db.count("SELECT count(*) FROM documents")

    def sample(self, most: int) -> list[Chunk]:
        """Return up to `most` chunks: the first of each document, then the second; each in order of ids, the hashes."""
        return self.chunks(self._db.texts("SELECT id FROM chunks ORDER BY ordinal, id LIMIT :most", most=most))

    def done(self) -> list[str]:
        """Return the ids of the chunks that are part of the graph, in order of document and position."""
        return self._db.texts("SELECT id FROM chunks WHERE status = 'done' ORDER BY document, ordinal")

    def extracted_ids(self) -> set[str]:
        """Return the ids of the chunks that are extracted, including those of new content that waits."""
        return set(self._db.texts("SELECT id FROM chunks WHERE status IN ('extracted', 'done')"))

    def of_chunks(self) -> dict[str, str]:
        """Return the document's id of each chunk."""
        return dict(map(tuple, self._db.rows("SELECT id, document FROM chunks")))

    def pending_in_tables(self) -> Iterator[list[str]]:
        """Yield the ids of the pending chunks of each document that has tables, in order of document and position."""
        rows = self._db.rows(
            "SELECT document, id FROM chunks WHERE status = 'pending' AND document IN (SELECT id FROM documents WHERE "  # noqa: S608
            f"tables <> '[]' UNION SELECT document FROM revisions WHERE tables <> '[]') {_IN_ORDER}")
        yield from ([row.id for row in group] for _, group in groupby(rows, lambda row: row.document))

    def next_batch(self, limit: int | None, after: Sequence[str] = (), reread: Sequence[str] = ()) -> list[str]:
        """Return the ids of the next chunks for a build to extract or to write, in order of document and position.

        Args:
            limit: the most chunks; None means all. A revision's extracted ones are written when it is put in service.
            after: chunks that the build is working on, which are left out.
            reread: fingerprints of readers whose chunks in the graph are read again, unless that failed before.
        """
        # One query for each status: the database then merges what the index `chunks_to_do` has in order.
        queries = [f"SELECT id, document, ordinal FROM chunks WHERE {_TO_DO} AND {condition}"  # noqa: S608
                   for condition in ("status = 'pending'", "status = 'extracted' AND revision = 0")]
        if reread:
            queries.append(f"SELECT c.id, c.document, c.ordinal {_REREAD}")
        most = _ALL if limit is None else limit + len(after)  # all of `after` may be among the first that are due
        due = self._db.texts(f"{' UNION ALL '.join(queries)} {_IN_ORDER} LIMIT :most", most=most,
                             **({"among": reread} if reread else {}))
        in_work = set(after)
        return [chunk for chunk in due if chunk not in in_work][:limit]

    def retry_failed(self, chunks: Sequence[str] | None = None) -> int:
        """Make failed chunks pending, all or some, and return how many; those in the graph only lose their failure."""
        only, values = ("", {}) if chunks is None else (f"AND {among('id')}", {"among": chunks})
        with self._db.transaction():
            self._db.execute("DELETE FROM failures WHERE chunk IN "  # noqa: S608
                             f"(SELECT id FROM chunks WHERE status = 'done' {only})", **values)
            return self._db.execute(f"UPDATE chunks SET status = 'pending' WHERE status = 'failed' {only}", **values)  # noqa: S608

    def failures(self) -> list[tuple[str, int, str]]:
        """Return (document, chunk's position, reason) of each chunk whose last reading failed, in the graph or not."""
        return [(row.document, row.ordinal, row.reason) for row in self._db.rows(
            "SELECT c.document, c.ordinal, f.reason FROM failures f JOIN chunks c ON c.id = f.chunk "
            "WHERE c.status IN ('failed', 'done') ORDER BY c.document, c.ordinal")]


class JoinedDocuments:
    """The documents of several bases, by their names: the methods of `Documents` that take an id, here a joined one."""

    def __init__(self, documents: Mapping[str, Documents]) -> None:
        self._documents = documents

    def __getattr__(self, method: str) -> Callable[..., Any]:
        """Return the method of that name, for a document of any of the bases."""
        def call(document_id: str, *arguments: Any) -> Any:
            base, own_id = split_id(document_id)
            if base not in self._documents:
                raise UnknownDocumentError(f"there is no document {document_id!r}; see `banyan documents`")
            return getattr(self._documents[base], method)(own_id, *arguments)

        return call


SourceDocuments: TypeAlias = Documents | JoinedDocuments  # the documents that an answer cites


def joined_id(base: str, document_id: str) -> str:
    """Return how a document of one of several knowledge bases is called; of one alone ("") by its id."""
    return f"{base}/{document_id}" if base and document_id else document_id


def split_id(document_id: str) -> tuple[str, str]:
    """Return the knowledge base and the id there of one of several bases' documents."""
    base, _, own_id = document_id.partition("/")  # no name of a base has a slash
    return base, own_id


_ALL = 2**31 - 1  # a limit above any number of rows, which is still an integer of both databases
_IN_ORDER = "ORDER BY document, ordinal"
_CHUNK = 'SELECT id, document, ordinal, start, "end", heading, revision FROM chunks'  # what `_with_texts` needs
_TO_DO = "status <> 'done'"  # the condition of the index `chunks_to_do`, which serves only queries that repeat it
_REREAD = (f"FROM chunks c JOIN extractions e ON e.chunk = c.id WHERE c.status = 'done' AND {among('e.reasoner')} "  # noqa: S608
           "AND c.id NOT IN (SELECT chunk FROM failures)")
"""Selects the chunks of the graph by the fingerprints of their readers, if reading them again has not failed."""
_DELETING = "deleting"  # the key of `meta` with the ids of the documents of a deletion that is not finished, one a line
