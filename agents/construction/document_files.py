"""Compare the files of documents with those of the knowledge base: other files of one name, moved and deleted files."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ...graph_store.ledger.document_rows import Documents
from ...ingest.loaders import IngestError, LoadFailure, files_in
from ...ingest.reading import Limits
from ...schemas.documents import Document
from ...text.table_rows import DOCUMENT


class FolderChanges(NamedTuple):
    """How a folder differs from what a knowledge base has of it.

    Attributes:
        new: the files that gave no document yet, relative to the folder.
        known: how many files gave documents; those that changed are read again.
        gone: the ids of the documents whose file or record is no longer there.
    """

    new: list[str]
    known: int
    gone: list[str]


def compare_folder(stored: Documents | None, folder: Path, limits: Limits) -> FolderChanges:
    """Compare a folder with what a knowledge base has of it.

    Args:
        stored: the documents of the knowledge base; None if there is none yet.
        folder: the folder.
        limits: what of the folder is read.

    Raises:
        IngestError: there is no such folder, or it has nothing to read and all documents of it would be gone, as of
            a disk that is not mounted.
    """
    if not folder.is_dir():
        raise IngestError(f"{folder} is not a folder: name one that is there")
    root, of_file = folder.absolute(), dict[Path, set[str]]()
    for name, _, source, _ in stored.about() if stored else ():
        if (file := _file_of(source)).is_absolute() and file.is_relative_to(root):
            of_file.setdefault(file, set()).add(name)
    new, kept, known = list[str](), set[str](), 0
    for file, own in files_in(root, limits):
        names, ids = of_file.get(file, set()), set(own)
        if names and names.isdisjoint(ids):
            raise IngestError(f"{file} gave the document {min(names)!r}, which {folder} would give another id: name "
                              "the folder that was built")
        kept |= ids
        known += bool(names)
        new += [] if names else [file.relative_to(root).as_posix()]
    if of_file and not new and not known:
        raise IngestError(f"nothing is left to read in {folder}, of which the knowledge base has "
                          f"{sum(map(len, of_file.values()))} documents: is its disk mounted? To delete them all, use "
                          "`banyan delete` or `banyan drop`")
    return FolderChanges(sorted(new), known, sorted(set().union(*of_file.values()) - kept))


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
