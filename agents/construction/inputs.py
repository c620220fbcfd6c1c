"""What a build is given: its checks, its documents, and how their files compare with those of the knowledge base."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar, get_args

from ...graph_store.ledger.document_rows import Documents
from ...ingest.fetching import Address, is_address
from ...ingest.given import SOURCE
from ...ingest.loaders import FORMATS, IngestError, LoadFailure, files_in
from ...ingest.reading import Limits
from ...ingest.recorded import RecordedFormat
from ...schemas.documents import Document
from ...schemas.errors import BanyanError
from ...schemas.formats.schema_loading import load_schema
from ...schemas.graph_schema import AUTO_SCHEMA, GraphSchema
from ...text.table_rows import DOCUMENT
from .state import BuildInput

_T = TypeVar("_T")

DEFAULT_SCHEMA = "general"
"""The seed if no schema is named and no model can infer one."""
_STORED_AT_ONCE, _CHARACTERS_AT_ONCE = 64, 1_000_000
"""The most documents and characters between two commits: a commit for each would rewrite the same pages."""


class NoModelError(BanyanError):
    """A build is to read documents with a model, and none is set."""


def check_model(*, uses_llm: bool, reread: bool = False, batch: bool = False, fresh_verdicts: bool = False) -> None:
    """Check that there is a model if documents are to be read again or in batches, or verdicts to be made again.

    Raises:
        NoModelError: no model is set; the rules would undo what a model was paid for, and have no batches.
    """
    if batch and not uses_llm:
        raise NoModelError("only a model reads documents in batches, and none is set: set BANYAN_LLM_BASE_URL and "
                           "BANYAN_LLM_MODEL, or run without --batch")
    if fresh_verdicts and not uses_llm:
        raise NoModelError("only a model judges again, and none is set: set BANYAN_LLM_BASE_URL and BANYAN_LLM_MODEL, "
                           "or run without --fresh-verdicts")
    if reread and not uses_llm:
        raise NoModelError("documents are read again only with a model, and none is set: set BANYAN_LLM_BASE_URL and "
                           "BANYAN_LLM_MODEL")


def is_inferred(schema: str, recorded: object, *, uses_llm: bool) -> bool:
    """Return True if a new knowledge base gets a schema that a model infers: by default if there is a model."""
    return schema in {"", AUTO_SCHEMA} and recorded is None and uses_llm


def named_schema(schema: str) -> GraphSchema | None:
    """Return the schema that an input names; None if it names none.

    Raises:
        SchemaError: there is no such schema, or it cannot be read.
    """
    return load_schema(schema) if schema not in {"", AUTO_SCHEMA} else None


def check_input(given: BuildInput) -> None:
    """Check that the input has the types that it declares: a server passes on any client input.

    Raises:
        IngestError: a field has another type; names the field.
    """
    paths, recorded = given.get("paths") or [], given.get("recorded")
    if not isinstance(paths, list) or not all(isinstance(path, str) and path for path in paths):
        raise IngestError("`paths` is a list of paths as texts: fix the input")
    if not isinstance(given.get("schema", ""), str):
        raise IngestError("`schema` is a text: fix the input")
    if recorded is not None and recorded not in get_args(RecordedFormat):
        raise IngestError(f"`recorded` is one of {', '.join(get_args(RecordedFormat))}, not {recorded!r}")


def named_sources(paths: Sequence[str]) -> list[Path | Address]:
    """Files and folders, and addresses of the web."""
    return [Address(path) if is_address(path) else Path(path) for path in paths]


def require_any(items: Iterator[_T], paths: Sequence[Path | Address], failures: Sequence[LoadFailure]) -> Iterator[_T]:
    """Read the first item and return all items, the first included.

    Raises:
        IngestError: there is no item, and no failure explains why.
    """
    first = next(items, None)
    if first is not None:
        return chain((first,), items)
    if paths and not failures:
        named = ", ".join(path.url if isinstance(path, Address) else str(path) for path in paths)
        raise IngestError(f"there is nothing to read in {named}: name files, or folders with files, of these formats: "
                          f"{', '.join(FORMATS)}")
    return iter(())


def distinct(given: Sequence[Document], read: Iterator[Document], failures: list[LoadFailure]) -> Iterator[Document]:
    """Yield the documents given as text, then those read; a read one with the id of a given one becomes a failure."""
    yield from given
    ids = {document.id for document in given}
    for document in read:
        if document.id in ids:
            failures.append(LoadFailure(path=document.source, reason=f"the id {document.id!r} was already {SOURCE}: "
                                        "rename one, or add them to two knowledge bases"))
        else:
            yield document


def group_documents(documents: Iterator[Document]) -> Iterator[list[Document]]:
    """Group documents to be stored in one transaction each, bounded by number and by length of text."""
    group: list[Document] = []
    for document in documents:
        group.append(document)
        if len(group) == _STORED_AT_ONCE or sum(len(member.text) for member in group) > _CHARACTERS_AT_ONCE:
            yield group
            group = []
    if group:
        yield group


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
