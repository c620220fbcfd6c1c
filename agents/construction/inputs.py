"""Check the input of a build, and group its documents for storing."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeVar, get_args

from ...ingest.fetching import Address, is_address
from ...ingest.given import SOURCE
from ...ingest.loaders import FORMATS, IngestError, LoadFailure
from ...ingest.recorded import RecordedFormat
from ...schemas.documents import Document
from ...schemas.errors import BanyanError
from ...schemas.formats.schema_loading import load_schema
from ...schemas.graph_schema import AUTO_SCHEMA, GraphSchema
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
