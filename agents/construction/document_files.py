"""Compare the files of documents with those of the knowledge base: other files of one name, and moved files."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from ...graph_store.ledger.document_rows import Documents
from ...ingest.loaders import LoadFailure
from ...schemas.documents import Document
from ...text.table_rows import DOCUMENT


def without_replaced_files(stored: Documents, read: Iterator[Document], home: Path,
                           failures: list[LoadFailure]) -> Iterator[Document]:
    """Yield the documents, except those that would replace the document of another file, which become failures.

    A folder that was moved is no other file, and neither is a copy with the same text.

    Args:
        stored: the documents of the knowledge base.
        read: the documents that were read.
        home: the folder in which a server stores uploads; an upload replaces the document of its name.
        failures: receives the failures.
    """
    for document in read:
        before, now = map(_file_of, (stored.source(document.id), document.source))
        is_other = (before != now and now.is_file() and before.is_absolute() and before.is_file()
                    and not before.samefile(now) and home.absolute() not in (*before.parents, *now.parents)
                    and stored.get(document.id).text != document.text)
        if is_other:
            failures.append(LoadFailure(path=document.source, reason=(
                f"the id {document.id!r} belongs to {before}: build a folder that contains both files, rename one, "
                "or delete that document first")))
        else:
            yield document


def note_moved_files(stored: Documents, read: Iterator[Document], home: Path, moved: list[str]) -> Iterator[Document]:
    """Yield the documents, and note the new ones with the text of a document whose file no longer exists.

    Args:
        stored: the documents of the knowledge base.
        read: the documents that were read.
        home: the folder in which a server stores uploads, which it deletes after reading.
        moved: receives "OLD ID -> NEW ID" for each.
    """
    missing: dict[bytes, str] | None = None
    for document in read:
        if _file_of(document.source).is_absolute() and not stored.has(document.id):
            missing = _missing_files(stored, home) if missing is None else missing
            if before := missing.get(_digest(document)):
                moved.append(f"{before} -> {document.id}")
        yield document


def _missing_files(stored: Documents, home: Path) -> dict[bytes, str]:
    """Return the ids of the documents whose files no longer exist, by what `_digest` returns."""
    files = ((name, _file_of(source)) for name, _, source, _ in stored.about())
    return {_digest(stored.get(name)): name for name, file in files
            if file.is_absolute() and home.absolute() not in file.parents and not file.exists()}


def _file_of(source: str) -> Path:
    return Path(source.partition(", record ")[0])


def _digest(document: Document) -> bytes:
    """Return a hash of a document's text without the row of its metadata, which has the document's name."""
    text = document.text
    row, _, rest = text.partition("\n\n")
    is_named = row.startswith(f"| {DOCUMENT}: ")
    return hashlib.sha256((rest if is_named else text).encode("utf-8", "surrogatepass")).digest()
