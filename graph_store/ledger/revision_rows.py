"""New content of documents that waits as a revision until it is extracted, and how content is stored in the ledger.

A revision's chunks are rows of `chunks` with `revision` = 1. Unchanged chunks keep their row; the revision has their
new positions.
"""

import json
from collections.abc import Sequence

from pydantic import TypeAdapter

from ...schemas.documents import Chunk, Document, SourceTable
from ..store_errors import readable
from .database import Database, Record
from .tables import REVISIONS, among

CONTENTS = "title, text, source, metadata, pages, tables"
"""The columns of `documents` and `revisions` with a document's content."""
PLACE = ('INSERT INTO chunks (id, document, ordinal, start, "end", heading, revision) '
          "VALUES (:id, :document, :ordinal, :start, :end, :heading, :revision) ON CONFLICT (id) "
          'DO UPDATE SET ordinal = excluded.ordinal, start = excluded.start, "end" = excluded."end" '
          "WHERE chunks.revision = excluded.revision")
"""Inserts chunks and updates the positions of existing ones. A revision does not move chunks in service, because its
text is not yet the one that their positions are looked up in."""
_TABLES = TypeAdapter(tuple[SourceTable, ...])


class Revisions:
    """Revisions by document, at most one each; a new one replaces one that still waits."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def hold(self, document: Document, chunks: Sequence[Chunk]) -> bool:
        """Store new content of a document, in place of other content that waits; return False if the same waits."""
        revision = (*contents_of(document), json.dumps([[c.id, c.ordinal, c.start, c.end] for c in chunks]))
        with self._db.transaction():
            waiting = self._db.rows(f"SELECT {CONTENTS}, chunks FROM revisions WHERE document = :document",  # noqa: S608
                                 document=document.id)
            if waiting and tuple(waiting[0]) == revision:
                return False
            self._db.insert(REVISIONS, [(document.id, *revision)], replace=True)
            self._db.execute(f"DELETE FROM chunks WHERE document = :document AND revision = 1 AND NOT {among('id')}",  # noqa: S608
                             document=document.id, among=[c.id for c in chunks])
            self._db.execute_many(PLACE, places_of(document.id, chunks, revision=1))
        return True

    def drop(self, document_id: str) -> bool:
        """Delete the new content that waits for a document; return True if there was any."""
        with self._db.transaction():
            self._db.execute("DELETE FROM chunks WHERE document = :document AND revision = 1", document=document_id)
            return self._db.execute("DELETE FROM revisions WHERE document = :document", document=document_id) > 0

    def find_ready(self) -> list[str]:
        """Return the sorted ids of documents whose new content is completely extracted."""
        return self._db.texts(
            "SELECT document FROM revisions r WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.document = r.document "
            "AND c.revision = 1 AND c.status <> 'extracted') ORDER BY document")

    def put_in_service(self, document_id: str) -> list[str]:
        """Replace a document's content by the new content; return the ids of the new chunks, in order.

        Chunks of the old content alone go with their facts. The caller writes those of the new ones in a transaction.
        """
        with self._db.transaction():
            positions = json.loads(str(self._db.scalar("SELECT chunks FROM revisions WHERE document = :document",
                                                       document=document_id)))
            self._db.execute(f"DELETE FROM chunks WHERE document = :document AND revision = 0 AND NOT {among('id')}",  # noqa: S608
                             document=document_id, among=[chunk for chunk, *_ in positions])
            new_chunk_ids = self._db.texts("SELECT id FROM chunks WHERE document = :document AND revision = 1 "
                                           "ORDER BY ordinal", document=document_id)
            self._db.execute(f"UPDATE documents SET ({CONTENTS}) = (SELECT {CONTENTS} FROM revisions "  # noqa: S608
                             "WHERE document = :document) WHERE id = :document", document=document_id)
            self._db.execute_many(
                'UPDATE chunks SET revision = 0, ordinal = :ordinal, start = :start, "end" = :end WHERE id = :id',
                [dict(zip(("id", "ordinal", "start", "end"), position, strict=True)) for position in positions])
            self._db.execute("DELETE FROM revisions WHERE document = :document", document=document_id)
        return new_chunk_ids


def document_of(row: Record) -> Document:
    """Build a document from a row with its id and contents."""
    return Document(id=row.id, title=row.title, text=row.text, source=row.source, metadata=json.loads(row.metadata),
                    pages=json.loads(row.pages), tables=read_tables(row.id, row.tables))


def read_tables(document_id: str, stored: str) -> tuple[SourceTable, ...]:
    """Return the tables of a document from their stored form, or raise LedgerDamagedError."""
    with readable(f"a table of document {document_id!r}"):
        return _TABLES.validate_json(stored)


def contents_of(document: Document) -> tuple[str, ...]:
    """Return the values of a document's columns `CONTENTS`."""
    return (document.title, document.text, document.source, json.dumps(document.metadata, ensure_ascii=False),
            json.dumps(document.pages), _TABLES.dump_json(document.tables).decode())


def places_of(document_id: str, chunks: Sequence[Chunk], revision: int) -> list[dict[str, object]]:
    """Return chunks as parameters of the statement `PLACE`; `revision` is 0 for content in service, 1 for new one."""
    return [{"id": c.id, "document": document_id, "ordinal": c.ordinal, "start": c.start, "end": c.end,
             "heading": c.heading, "revision": revision} for c in chunks]
