"""Store new content of documents until it is extracted, while the old content and its facts stay in service.

A revision's chunks are rows of `chunks` with `revision` = 1 and positions in the new text. Unchanged chunks keep their
row, and the revision has their new positions.
"""

import json
from collections.abc import Sequence

from ...schemas.documents import Chunk, Document
from .database import Database, Record
from .tables import REVISIONS, among
from .version import advance


def document_of(row: Record) -> Document:
    """Build a document from a row with its id and contents (see `contents_of`)."""
    return Document(id=row.id, title=row.title, text=row.text, source=row.source, metadata=json.loads(row.metadata),
                    pages=json.loads(row.pages))


CONTENTS = "title, text, source, metadata, pages"


def contents_of(document: Document) -> tuple[str, str, str, str, str]:
    """Return a document's `CONTENTS` as values to store."""
    return (document.title, document.text, document.source, json.dumps(document.metadata, ensure_ascii=False),
            json.dumps(document.pages))


PLACE = ('INSERT INTO chunks (id, document, ordinal, start, "end", heading, revision) '
         "VALUES (:id, :document, :ordinal, :start, :end, :heading, :revision) ON CONFLICT (id) "
         'DO UPDATE SET ordinal = excluded.ordinal, start = excluded.start, "end" = excluded."end" '
         "WHERE chunks.revision = excluded.revision")
"""Inserts chunks and updates the positions of existing ones. A revision does not move chunks in service."""


def places_of(document_id: str, chunks: Sequence[Chunk], revision: int) -> list[dict[str, object]]:
    """Return chunks as parameters of the statement `PLACE`; `revision` is 0 for content in service, 1 for new one."""
    return [{"id": c.id, "document": document_id, "ordinal": c.ordinal, "start": c.start, "end": c.end,
             "heading": c.heading, "revision": revision} for c in chunks]


class Revisions:
    """Revisions by document, at most one each; a new one replaces one that still waits."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def get(self, document_id: str) -> Document | None:
        """Return the new content of a document, or None if none waits."""
        rows = self._db.rows(f"SELECT document AS id, {CONTENTS} FROM revisions WHERE document = :document",  # noqa: S608
                             document=document_id)
        return document_of(rows[0]) if rows else None

    def hold(self, document: Document, chunks: Sequence[Chunk]) -> bool:
        """Store new content of a document until it is extracted; it replaces new content that waited before.

        Chunks that are in both keep their extraction.

        Returns:
            True if anything changed.
        """
        positions = json.dumps([[c.id, c.ordinal, c.start, c.end] for c in chunks])
        row = (*contents_of(document), positions)
        with self._db.transaction():
            rows = self._db.rows(f"SELECT {CONTENTS}, chunks FROM revisions WHERE document = :document",  # noqa: S608
                                 document=document.id)
            if rows and tuple(rows[0]) == row:
                return False
            self._db.replace(REVISIONS, [(document.id, *row)])
            self._db.execute(f"DELETE FROM chunks WHERE document = :document AND revision = 1 AND NOT {among('id')}",  # noqa: S608
                             document=document.id, among=json.dumps([c.id for c in chunks]))
            self._db.execute_many(PLACE, places_of(document.id, chunks, revision=1))
            advance(self._db)
        return True

    def drop(self, document_id: str) -> bool:
        """Delete the new content that waits for a document; return True if there was any."""
        with self._db.transaction():
            self._db.execute("DELETE FROM chunks WHERE document = :document AND revision = 1", document=document_id)
            return bool(self._db.execute("DELETE FROM revisions WHERE document = :document", document=document_id))

    def find_ready(self) -> list[str]:
        """Return the sorted ids of documents whose new content is completely extracted."""
        return [str(row[0]) for row in self._db.rows(
            "SELECT document FROM revisions r WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.document = r.document "
            "AND c.revision = 1 AND c.status <> 'extracted') ORDER BY document")]

    def put_in_service(self, document_id: str) -> list[str]:
        """Replace a document's content by the new content, and delete the chunks that only the old one has.

        Deleting a chunk deletes its facts. The caller writes the new chunks' facts in the same transaction.

        Returns:
            The ids of the new chunks, in order.
        """
        with self._db.transaction():
            positions = json.loads(str(self._db.scalar("SELECT chunks FROM revisions WHERE document = :document",
                                                       document=document_id)))
            ids = json.dumps([chunk for chunk, *_ in positions])
            only_in_old = f"document = :document AND revision = 0 AND NOT {among('id')}"
            self._db.execute(f"DELETE FROM chunks WHERE {only_in_old}", document=document_id, among=ids)  # noqa: S608
            advance(self._db)
            new = [str(chunk[0]) for chunk in self._db.rows(
                "SELECT id FROM chunks WHERE document = :document AND revision = 1 ORDER BY ordinal",
                document=document_id)]
            self._db.execute(f"UPDATE documents SET ({CONTENTS}) = (SELECT {CONTENTS} FROM revisions "  # noqa: S608
                             "WHERE document = :document) WHERE id = :document", document=document_id)
            self._db.execute_many(
                'UPDATE chunks SET revision = 0, ordinal = :ordinal, start = :start, "end" = :end WHERE id = :id',
                [dict(zip(("id", "ordinal", "start", "end"), position, strict=True)) for position in positions])
            self._db.execute("DELETE FROM revisions WHERE document = :document", document=document_id)
        return new
