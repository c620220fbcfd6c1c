"""The input of a build: check it, yield its documents, and compare its files with those in the knowledge base."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar, get_args

from langgraph.config import get_stream_writer

from ...graph_store.ledger.document_rows import Documents
from ...ingest.formats import FORMATS
from ...ingest.given import SOURCE, RecordedFormat
from ...ingest.loaders import files_in
from ...ingest.reading import EMPTY, LEFT_OUT, IngestError, Limits, LoadFailure
from ...schemas.documents import Document
from ...schemas.errors import BanyanError
from ...schemas.formats.schema_loading import load_schema
from ...schemas.graph_schema import AUTO_SCHEMA, GraphSchema
from ...text.table_rows import DOCUMENT
from .state import BuildInput

_T = TypeVar("_T")
_DETAILS = re.compile(r"'[^']*+'|\d++")  # what differs between the reasons of one kind of failure: ids and numbers
_RECORD = ", record "  # between the file and the number of a record, in the source of its document
DEFAULT_SCHEMA = "general"  # the seed if no schema is named and no model can infer one


class NoModelError(BanyanError):
    """An option of the build needs a model, and none is set."""


def check_model(*, uses_llm: bool, reread: bool = False, lacks_batches: bool = False,
                fresh_verdicts: bool = False) -> None:
    """Raise NoModelError if an option needs a model, or batches (`lacks_batches`), that the settings do not have."""
    if lacks_batches:
        raise NoModelError("only a model at an OpenAI-compatible endpoint reads documents in batches, and none is set: "
                           "set BANYAN_LLM_BASE_URL and BANYAN_LLM_MODEL, or run without --batch")
    if (fresh_verdicts or reread) and not uses_llm:
        option = "--fresh-verdicts" if fresh_verdicts else "--reread"
        raise NoModelError(f"{option} needs a model, and none is set: set BANYAN_LLM_BASE_URL and BANYAN_LLM_MODEL, or "
                           f"run without {option}")


def named_schema(schema: str) -> GraphSchema | None:
    """Return the schema that an input names; None if it names none."""
    return load_schema(schema) if schema not in {"", AUTO_SCHEMA} else None


def check_input(given: BuildInput) -> None:
    """Raise IngestError unless the fields of the input have the declared types: clients of a server send anything."""
    paths, recorded = given.get("paths") or [], given.get("recorded")
    if not isinstance(paths, list) or not all(isinstance(path, str) and path for path in paths):
        raise IngestError("`paths` is a list of paths as texts: fix the input")
    if not isinstance(given.get("schema", ""), str):
        raise IngestError("`schema` is a text: fix the input")
    if recorded is not None and recorded not in get_args(RecordedFormat):
        raise IngestError(f"`recorded` is {recorded!r}: name one of {', '.join(get_args(RecordedFormat))}")


def named_sources(paths: Sequence[str]) -> list[Path]:
    """Return the named files and folders; raise IngestError for a web address, from which nothing is fetched."""
    for path in paths:
        if path.lower().startswith(("http://", "https://")):
            raise IngestError(f"{path[:200]} is a web address, and Banyan fetches nothing: download it, then name it")
    return [*map(Path, paths)]


def show_progress(step: Literal["read", "batch", "extract", "write", "index"], done: int, total: int | None,
                  file: str = "") -> None:
    """Show how many items of a step are done, of how many; `total` is None if it is not known."""
    get_stream_writer()({"step": step, "done": done, "total": total, "file": file})


class ReadingNotes:
    """What is noted while a build reads its documents: how many, which file is read, and what is wrong with it."""

    def __init__(self, most_failures: int) -> None:
        """Begin to read; `most_failures` of each kind are listed one by one: a file may have one for each record."""
        self._most_failures = most_failures
        self._failures: list[LoadFailure] = []
        self._failures_by_kind = Counter[str]()
        self._file = ""
        self.documents = 0
        self.ids_by_place: dict[str, set[str]] = {}  # of the documents that were read, by their file
        self.failed_places = set[str]()  # the files that could not be read, or not whole
        self.emptied_places = set[str]()  # those that were read, and have no text
        self._unread_places = set[str]()  # all of these but for what was left out on purpose
        self.partly_read: dict[str, str] = {}  # what was not read of a document, by its id
        self.moved: list[str] = []  # documents whose file was probably moved, as "OLD -> NEW"

    def add_documents(self, number: int, file: str = "") -> None:
        """Count further documents that were read, and show how many there are, and the `file` that is read now."""
        self.documents += number
        self._file = file or self._file
        show_progress("read", self.documents, None, self._file)

    def add_failure(self, failure: LoadFailure) -> None:
        """Note a file or record that cannot be read; of each kind only the first ones are listed, others counted."""
        is_empty = failure.reason.startswith(EMPTY)
        places = self.emptied_places if is_empty else self.failed_places
        places.add(_place_of(failure.path))
        if not failure.reason.startswith(LEFT_OUT):
            self._unread_places.add(_place_of(failure.path))
        kind = _DETAILS.sub("", failure.reason)
        self._failures_by_kind[kind] += 1
        if self._failures_by_kind[kind] <= self._most_failures:
            self._failures.append(failure)

    def failure_lines(self, folders: Sequence[Path] = ()) -> list[str]:
        """Return the failures as lines "PATH: REASON", relative to their folder, and how many more there are."""
        lines = [f"{failure.path}: {failure.reason}" for failure in self._failures]
        for folder in folders:  # a failure of the folder itself is left with its reason alone
            lines = [line.removeprefix(f"{folder}/").removeprefix(f"{folder}: ") for line in lines]
        for kind, count in self._failures_by_kind.items():
            if count > self._most_failures:
                lines.append(f"{count - self._most_failures:,} more: {kind}")
        return lines

    def count_unread_files(self) -> int:
        """Return how many files gave no document at all."""
        return len(self._unread_places - self.ids_by_place.keys())

    def partly_read_lines(self) -> list[str]:
        """Return what was not read of documents as lines, without notes that a listed failure says word for word."""
        reasons = {failure.reason for failure in self._failures}
        return [f"{document}: {note}" for document, note in self.partly_read.items() if note not in reasons]


def require_any(items: Iterator[_T], paths: Sequence[Path], notes: ReadingNotes) -> Iterator[_T]:
    """Return the same items, the first read at once; raise IngestError if `paths` have none and no failure says why."""
    first = next(items, None)
    if first is not None:
        return chain((first,), items)
    if paths and not notes.failure_lines():
        named = ", ".join(map(str, paths))
        raise IngestError(f"there is nothing to read in {named}: name files, or folders with files, of these formats: "
                          f"{', '.join(FORMATS)}")
    return iter(())


def join_documents(given: Sequence[Document], read: Iterator[Document], notes: ReadingNotes) -> Iterator[Document]:
    """Yield the documents given as text, then those read from files; one with the id of a given one is a failure."""
    yield from given
    given_ids = {document.id for document in given}
    for document in read:
        notes.ids_by_place.setdefault(_place_of(document.source), set()).add(document.id)
        if document.id in given_ids:
            notes.add_failure(LoadFailure(path=document.source, reason=(
                f"the id {document.id!r} was already {SOURCE}: rename one, or add them to two knowledge bases")))
        else:
            yield document


class FolderChanges(NamedTuple):
    """What differs between a folder and a knowledge base that was built from it."""

    new: list[str]  # paths of files in the folder
    known: int  # the number of other files, which a build reads again if they changed
    gone: list[str]  # ids of documents whose file, or whose record in a file, is gone


def compare_folder(stored: Documents | None, folder: Path, limits: Limits) -> FolderChanges:
    """Compare the files in a folder with the documents that a knowledge base has read from it.

    An IngestError says that the folder does not exist, was built as part of another one, or has no files although the
    knowledge base has documents from it, as when its disk is not mounted.
    """
    if not folder.is_dir():
        raise IngestError(f"{folder} is not a folder: name one that is there")
    root, stored_ids = folder.absolute(), dict[Path, set[str]]()
    for document_id, _, source, _ in stored.about() if stored else ():
        file = _file_of(source)
        if file.is_absolute() and file.is_relative_to(root):  # other sources are documents given as text
            stored_ids.setdefault(file, set()).add(document_id)
    new, existing_ids, known = list[str](), set[str](), 0
    for file, file_ids in files_in(root, limits):
        before = stored_ids.get(file, set())
        # Ids begin with the file's path below the folder that was built, so they differ if another folder was.
        paths_before = {_path_in_id(document_id, file) for document_id in before}
        paths_now = {_path_in_id(document_id, file) for document_id in file_ids}
        if before and file_ids and paths_before.isdisjoint(paths_now):
            raise IngestError(f"{file} gave the document {min(before)!r}, which {folder} would give another id: name "
                              "the folder that was built")
        existing_ids.update(file_ids)
        if before:
            known += 1
        else:
            new.append(file.relative_to(root).as_posix())
    if stored_ids and not new and not known:
        raise IngestError(f"nothing is left to read in {folder}, of which the knowledge base has "
                          f"{sum(map(len, stored_ids.values()))} documents: is its disk mounted? To delete them all, "
                          "use `banyan delete` or `banyan drop`")
    return FolderChanges(sorted(new), known, sorted(set().union(*stored_ids.values()) - existing_ids))


def find_gone(stored: Documents, notes: ReadingNotes) -> list[str]:
    """Return the ids of stored documents that a file, which was read without failure, does not give any more."""
    gone, is_any_read = list[str](), notes.ids_by_place or notes.emptied_places
    for document_id, _, source, _ in stored.about() if is_any_read else ():
        place = _place_of(source)
        ids, file = notes.ids_by_place.get(place, set()), Path(place)
        if ids:
            # All ids of a file begin with its path below the folder, so any tells whether the folder is the same.
            is_of_same_folder = _path_in_id(document_id, file) == _path_in_id(next(iter(ids)), file)
            is_gone = is_of_same_folder and document_id not in ids
        else:  # the file was not read, or has no text any more
            is_gone = place in notes.emptied_places
        if is_gone and place not in notes.failed_places:  # a file that was read in part may still have it
            gone.append(document_id)
    return gone


def accept_documents(stored: Documents, read: Iterator[Document], home: Path,
                     notes: ReadingNotes) -> Iterator[Document]:
    """Yield the documents that may be stored, and note which of them are probably files that were moved.

    A new file may replace the document of another file of the same id only if that one is gone, or the texts are the
    same; else it is noted as a failure. It was probably moved if a stored document has its text, but no file any more.
    """
    gone_by_digest: dict[bytes, str] | None = None  # computed for the first new document: it reads all stored ones
    for document in read:
        before, now = _file_of(stored.source(document.id)), _file_of(document.source)
        are_both_files = now.is_file() and before.is_absolute() and before.is_file()
        are_two_files = before != now and are_both_files and not before.samefile(now)  # one may be a link to the other
        # An upload replaces the document of its name: its file is read from a temporary folder in the home folder.
        is_upload = home.absolute() in (*before.parents, *now.parents)
        if are_two_files and not is_upload and stored.get(document.id).text != document.text:
            notes.add_failure(LoadFailure(path=document.source, reason=(
                f"the id {document.id!r} belongs to {before}: build a folder that contains both files, rename one, "
                "or delete that document first")))
            continue
        if now.is_absolute() and not stored.has(document.id):  # a new file
            if gone_by_digest is None:
                files = [(document_id, _file_of(source)) for document_id, _, source, _ in stored.about()]
                # The file of an upload, in the home folder, is not gone: the server removes it once it is read.
                gone_ids = [document_id for document_id, file in files
                            if file.is_absolute() and not file.exists() and home.absolute() not in file.parents]
                gone_by_digest = {_digest(stored.get(document_id)): document_id for document_id in gone_ids}
            if old_id := gone_by_digest.get(_digest(document)):
                notes.moved.append(f"{old_id} -> {document.id}")
        yield document


def _digest(document: Document) -> bytes:
    """Return a hash of a document's text, which a moved or renamed file keeps."""
    # A first block of metadata that has the document's name is left out, because the name changes with the file.
    first_block, _, rest = document.text.partition("\n\n")
    text = rest if first_block.startswith(f"| {DOCUMENT}: ") else document.text
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _file_of(source: str) -> Path:
    """Return the file of a document's source, which is "FILE" or "FILE, record NUMBER"."""
    return Path(source.partition(_RECORD)[0])


def _place_of(source: str) -> str:
    """Return the absolute path of a document's source or a failure's path."""
    return str(_file_of(source).absolute())


def _path_in_id(document_id: str, file: Path) -> str:
    """Return a document's id up to the file's name, without the record's part; all of it if the name is not in it."""
    start = document_id.find(file.name)
    return document_id if start < 0 else document_id[:start + len(file.name)]
