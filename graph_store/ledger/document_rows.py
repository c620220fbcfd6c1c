"""The ledger's documents and chunks, and how far each chunk has come in a build."""

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, cast

from ...schemas.documents import Chunk, Document, Frozen
from ...text.section_lines import opening_of
from ..store_errors import UnknownDocumentError
from .communities import GROUP
from .database import Database, Record, now
from .readings import read_beside_deleted
from .revisions import CONTENTS, PLACE, Revisions, contents_of, document_of, places_of
from .tables import DOCUMENTS, among, replacement
from .token_accounts import forget_document
from .version import advance, ledger_state

_TEXTS_AT_ONCE = 500
"""Texts of documents read by one query."""

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
    """Whether newer content waits for its extraction; until then the content that was there before answers."""


class Documents:
    """Documents and their chunks. A chunk whose text did not change keeps its id and extraction."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self.revisions = Revisions(database)
        self._last: tuple[object, Mapping[tuple[str, bool], Document]] | None = None

    def put(self, document: Document, chunks: Sequence[Chunk]) -> bool:
        """Store a document with all its chunks, or its new content under the same id; return True if anything changed.

        Chunks that are stored under the same ids stay as they are. Facts of chunks that are gone stay in service until
        the new chunks are extracted: the new content then waits as a revision (see `Revisions`).
        """
        new = {chunk.id: (chunk.ordinal, chunk.start) for chunk in chunks}
        with self._db.transaction():
            before = self._db.rows(f"SELECT {CONTENTS} FROM documents WHERE id = :id", id=document.id)  # noqa: S608
            rows = self._db.rows("SELECT id, ordinal, start, status FROM chunks WHERE document = :document "
                                 "AND revision = 0", document=document.id)
            old = {row.id: (row.ordinal, row.start) for row in rows}
            if before and tuple(before[0]) == contents_of(document) and old == new:
                return self.revisions.drop(document.id)
            # In place now, new chunks would remove facts before their replacements are extracted.
            if new.keys() - old.keys() and any(row.status == "done" and row.id not in new for row in rows):
                return self.revisions.hold(document, chunks)
            self.revisions.drop(document.id)
            self._replace(document, chunks, sorted(old.keys() - new.keys()))
            advance(self._db)
        return True

    def _replace(self, document: Document, chunks: Sequence[Chunk], gone: list[str]) -> None:
        row = (document.id, *contents_of(document), now())
        self._db.execute(replacement(DOCUMENTS, *CONTENTS.split(", ")),
                         **dict(zip(DOCUMENTS.columns.keys(), row, strict=True)))
        self._db.execute_many("DELETE FROM chunks WHERE id = :id", [{"id": chunk} for chunk in gone])
        self._db.execute_many(PLACE, places_of(document.id, chunks, revision=0))

    def in_service(self, chunk_ids: Sequence[str]) -> list[str]:
        """Return which of some chunks are of content in service, in their order."""
        waiting = {str(row[0]) for row in self._db.rows(
            f"SELECT id FROM chunks WHERE revision = 1 AND {among('id')}", among=json.dumps(chunk_ids))}  # noqa: S608
        return [chunk for chunk in chunk_ids if chunk not in waiting]

    def delete(self, document_id: str) -> None:
        """Remove a document and its chunks; foreign keys remove the rows that belong to a chunk.

        `derive` has to follow: it computes everything else from the rows that are left, so nothing stays.
        Until `finish_deletion` the same deletion may be asked for again: a process that is killed before all that
        follows is done takes it up by the same command.

        Raises:
            UnknownDocumentError: there is none of that id.
        """
        with self._db.transaction():
            deleting = (self._db.get_meta(_DELETING) or "").split("\n")
            if document_id in deleting and not self.has(document_id):
                return
            self._db.set_meta(_DELETING, "\n".join(filter(None, [*deleting, document_id])))
            advance(self._db)
            forget_document(self._db, document_id)
            self._note_read_beside(document_id)
            if not self._db.execute("DELETE FROM documents WHERE id = :id", id=document_id):
                raise UnknownDocumentError(f"there is no document {document_id!r}; see `banyan documents`")

    def _note_read_beside(self, document_id: str) -> None:
        """Let `build --reread` read again what one call read together with a document."""
        calls = ("call IN (SELECT call FROM extractions e JOIN chunks c ON c.id = e.chunk "
                 "WHERE c.document = :document AND call <> '')")
        for (reader,) in self._db.rows(f"SELECT DISTINCT reasoner FROM extractions WHERE {calls}",  # noqa: S608
                                       document=document_id):
            self._db.execute(f"UPDATE extractions SET reasoner = :beside WHERE reasoner = :reader AND {calls}",  # noqa: S608
                             reader=reader, beside=read_beside_deleted(reader), document=document_id)

    def is_deleting(self) -> bool:
        """Return True if not all that follows from the last deletion is done."""
        return bool(self._db.get_meta(_DELETING))

    def finish_deletion(self) -> None:
        """Note that all that follows from the last deletion is done."""
        if self.is_deleting():
            with self._db.transaction():
                # Descriptions of communities that are gone were stored in case that these come back. What reports on
                # groups rest on is known (`CommunityTable.find_shared`).
                self._db.execute("DELETE FROM summaries WHERE id NOT IN (SELECT id FROM communities) "
                                 "AND id NOT LIKE :groups", groups=f"{GROUP}%")
                self._db.set_meta(_DELETING, "")

    def get(self, document_id: str) -> Document:
        """Return a document with its text.

        Raises:
            UnknownDocumentError: there is none of that id.
        """
        rows = self._db.rows(f"{_DOCUMENT} WHERE id = :id", id=document_id)
        if not rows:
            raise UnknownDocumentError(f"there is no document {document_id!r}; see `banyan documents`")
        return document_of(rows[0])

    def metadata(self, document_id: str) -> dict[str, str]:
        """Return the metadata of a document; empty if there is no such document."""
        stored = self._db.scalar("SELECT metadata FROM documents WHERE id = :id", id=document_id)
        return dict(json.loads(str(stored))) if stored else {}

    def page(self, document_id: str, character: int) -> int | None:
        """Return the page on which a character of a document is, from 1; None where it has no pages."""
        stored = self._db.scalar("SELECT pages FROM documents WHERE id = :id", id=document_id)
        return bisect_right(json.loads(str(stored or "[]")), character) or None

    def source(self, document_id: str) -> str:
        """Return where a document was read from; "" if there is no such document."""
        return str(self._db.scalar("SELECT source FROM documents WHERE id = :id", id=document_id) or "")

    def has(self, document_id: str) -> bool:
        """Return True if there is a document of that id."""
        return self._db.scalar("SELECT 1 FROM documents WHERE id = :id", id=document_id) is not None

    def entries(self) -> list[DocumentEntry]:
        """Return all documents by id, without their texts."""
        return [DocumentEntry(**row._asdict()) for row in self._db.rows(
            "SELECT d.id, d.title, d.source, length(d.text) AS characters, "
            "count(c.id) FILTER (WHERE c.revision = 0) AS chunks, "
            "count(f.chunk) FILTER (WHERE c.status IN ('failed', 'done')) AS failed, d.added_at, "
            "EXISTS (SELECT 1 FROM revisions r WHERE r.document = d.id) AS updating "
            "FROM documents d LEFT JOIN chunks c ON c.document = d.id LEFT JOIN failures f ON f.chunk = c.id "
            "GROUP BY d.id ORDER BY d.id")]

    def about(self) -> list[tuple[str, str, str, dict[str, str]]]:
        """Return the names of all documents, by id: (id, title, source, metadata)."""
        return [(row.id, row.title, row.source, json.loads(row.metadata)) for row in self._db.rows(
            "SELECT id, title, source, metadata FROM documents ORDER BY id")]

    def count_chunks_of(self, documents: Sequence[str]) -> int:
        """Return the number of chunks in service of some documents."""
        return self._db.count(f"SELECT count(*) FROM chunks WHERE revision = 0 AND {among('document')}",  # noqa: S608
                              among=json.dumps(documents))

    def chunks(self, chunk_ids: Iterable[str] | None = None) -> list[Chunk]:
        """Return chunks with their texts: all in service by document and position, or those of some ids in their order.

        Ids that do not exist are left out.
        """
        if chunk_ids is None:
            return self._with_texts(self._db.rows(f"{_CHUNK} WHERE revision = 0 ORDER BY document, ordinal"))
        wanted = list(chunk_ids)
        found = {row.id: row for row in self._db.rows(f"{_CHUNK} WHERE {among('id')}", among=json.dumps(wanted))}
        return self._with_texts([found[chunk] for chunk in wanted if chunk in found])

    def chunks_of(self, documents: Iterable[str]) -> list[Chunk]:
        """Return the chunks in service of some documents, by id."""
        return self._with_texts(self._db.rows(f"{_CHUNK} WHERE revision = 0 AND {among('document')} ORDER BY id",
                                              among=json.dumps(list(documents))))

    def _with_texts(self, rows: Sequence[Record]) -> list[Chunk]:
        # Each text is read once and cut here: substr() in SQL counts characters from the text's
        # beginning for every chunk, which is quadratic in a long document.
        documents = self._contents(frozenset((str(row.document), bool(row.revision)) for row in rows))
        # Another process may have deleted a document in between.
        return [_chunk(row, document) for row in rows
                if (document := documents.get((row.document, bool(row.revision)))) is not None]

    def whole_texts(self) -> Iterator[tuple[str, str]]:
        """Yield the ids and texts of all documents, reading some at a time."""
        ids = [str(row.id) for row in self._db.rows("SELECT id FROM documents ORDER BY id")]
        for start in range(0, len(ids), _TEXTS_AT_ONCE):
            for row in self._db.rows(f"{_DOCUMENT} WHERE {among('id')}",
                                     among=json.dumps(ids[start:start + _TEXTS_AT_ONCE])):
                yield row.id, row.text

    def _contents(self, parents: frozenset[tuple[str, bool]]) -> Mapping[tuple[str, bool], Document]:
        """Return documents, or the new content that waits for them, by id and whether it is new.

        The last one is cached for its chunks. Otherwise a large text would be read again for each of thousands.
        """
        key = parents, ledger_state(self._db).position
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        ids = json.dumps(sorted(document for document, is_new in parents if not is_new))
        documents = {(str(row.id), False): document_of(row)
                     for row in self._db.rows(f"{_DOCUMENT} WHERE {among('id')}", among=ids)}
        documents |= {(document, True): self.revisions.get(document) or self.get(document)
                      for document, is_new in parents if is_new}
        if len(documents) == 1:
            self._last = key, documents
        return documents

    def count(self) -> int:
        """Return the number of chunks in service."""
        return self._db.count("SELECT count(*) FROM chunks WHERE revision = 0")

    def count_status(self, *status: Status) -> int:
        """Return the number of chunks of some statuses, including those of new content that waits."""
        # A query that excludes what is done is answered from the index of what is to do.
        open_only = "" if "done" in status else f"{_TO_DO} AND "
        return self._db.count(f"SELECT count(*) FROM chunks WHERE {open_only}{among('status')}",  # noqa: S608
                              among=json.dumps(status))

    def count_failed(self) -> int:
        """Return the number of failed chunks, including those in the graph that could not be read again."""
        return self._db.count(f"SELECT count(*) {_FAILED}")

    def count_to_reread(self, fingerprints: Sequence[str]) -> dict[str, int]:
        """Return the number of chunks that `next_batch` would have read again, by the fingerprint of their reader."""
        if not fingerprints:
            return {}
        return {str(name): int(number) for name, number in self._db.rows(
            f"SELECT e.reasoner, count(*) {_REREAD} GROUP BY e.reasoner", among=json.dumps(fingerprints))}

    def to_reread(self, fingerprints: Sequence[str]) -> list[str]:
        """Return the ids of the chunks that `next_batch` would have read again, in order of document and position."""
        return [str(row[0]) for row in self._db.rows(
            f"SELECT c.id {_REREAD} ORDER BY c.document, c.ordinal", among=json.dumps(fingerprints))]

    def status(self, chunk_id: str) -> Status | None:
        """Return how far a chunk has come in a build, or None if there is no such chunk."""
        return cast("Status | None", self._db.scalar("SELECT status FROM chunks WHERE id = :id", id=chunk_id))

    def count_documents(self) -> int:
        """Return the number of documents."""
        return self._db.count("SELECT count(*) FROM documents")

    def sample(self, most: int) -> list[Chunk]:
        """Return some chunks: the first ones of all documents by id, which is a hash of their content, then the next.

        So the sample is a function of the documents.
        """
        return self.chunks(str(row[0]) for row in self._db.rows(
            "SELECT id FROM chunks ORDER BY ordinal, id LIMIT :most", most=most))

    def count_characters(self) -> int:
        """Return the length of all documents together."""
        return self._db.count("SELECT coalesce(sum(length(text)), 0) FROM documents")

    def done(self) -> list[str]:
        """Return the ids of the chunks that are part of the graph, in order of document and position."""
        return [str(row[0]) for row in self._db.rows(
            "SELECT id FROM chunks WHERE status = 'done' ORDER BY document, ordinal")]

    def extracted_ids(self) -> set[str]:
        """Return the ids of the chunks whose extraction is paid for, those of new content that waits included."""
        return {str(row[0]) for row in self._db.rows("SELECT id FROM chunks WHERE status IN ('extracted', 'done')")}

    def of_chunks(self) -> dict[str, str]:
        """Return the document's id of each chunk."""
        return {str(row[0]): str(row[1]) for row in self._db.rows("SELECT id, document FROM chunks")}

    def next_batch(self, limit: int, after: Sequence[str] = (), reread: Sequence[str] = ()) -> list[str]:
        """Return the ids of the next chunks that a build has to do, in order of document and position.

        What is extracted of a revision has no more to be done until the revision is put in service. Chunks in the
        graph whose extraction has one of the fingerprints `reread` are read again, unless that failed before.
        """
        # Each status by itself, in the order of the index: together they would pass over all that is done.
        first = (f"SELECT * FROM (SELECT id, document, ordinal FROM chunks WHERE {_TO_DO} AND {condition} "  # noqa: S608
                 f"ORDER BY document, ordinal LIMIT :most) AS {name}" for name, condition in _DUE)
        parts, values = [*first], dict[str, object]({"most": limit + len(after)})
        if reread:
            parts.append(f"SELECT * FROM (SELECT c.id, c.document, c.ordinal {_REREAD} "  # noqa: S608
                         "ORDER BY c.document, c.ordinal LIMIT :most) AS again")
            values |= {"among": json.dumps(reread)}
        due = [str(row[0]) for row in self._db.rows(
            f"{' UNION ALL '.join(parts)} ORDER BY document, ordinal LIMIT :most", **values)]
        in_work = set(after)
        return [chunk for chunk in due if chunk not in in_work][:limit]

    def retry_failed(self, chunks: Sequence[str] | None = None) -> int:
        """Make failed chunks pending again, of the given ones or of all; returns how many.

        Those in the graph that could not be read again may be from now on.
        """
        of, values = (f"AND {among('id')}", {"among": json.dumps(chunks)}) if chunks is not None else ("", {})
        with self._db.transaction():
            self._db.execute("DELETE FROM failures WHERE chunk IN "  # noqa: S608
                             f"(SELECT id FROM chunks WHERE status = 'done' {of})", **values)
            return self._db.execute(f"UPDATE chunks SET status = 'pending' WHERE status = 'failed' {of}", **values)  # noqa: S608

    def failures(self) -> list[tuple[str, int, str]]:
        """Return the failed chunks as (document, chunk's position, reason), by document and position."""
        return [(str(row[0]), int(row[1]), str(row[2])) for row in self._db.rows(
            f"SELECT c.document, c.ordinal, f.reason {_FAILED} ORDER BY c.document, c.ordinal")]


_TO_DO = "status <> 'done'"
"""The condition of the index of chunks that a build has to do, which a query must repeat to be answered from it."""
_DUE = (("unread", "status = 'pending'"), ("unwritten", "status = 'extracted' AND revision = 0"))
_FAILED = "FROM failures f JOIN chunks c ON c.id = f.chunk WHERE c.status IN ('failed', 'done')"
_REREAD = (f"FROM chunks c JOIN extractions e ON e.chunk = c.id WHERE c.status = 'done' AND {among('e.reasoner')} "  # noqa: S608
           "AND c.id NOT IN (SELECT chunk FROM failures)")
_DELETING = "deleting"
_DOCUMENT = f"SELECT id, {CONTENTS} FROM documents"  # noqa: S608
_CHUNK = 'SELECT id, document, ordinal, start, "end", heading, revision FROM chunks'


def _chunk(row: Record, document: Document) -> Chunk:
    return Chunk(id=row.id, document_id=document.id, ordinal=row.ordinal, start=row.start, end=row.end,
                 heading=row.heading, title=document.title, text=document.text[row.start:row.end],
                 opening=opening_of(document.text, row.start))
