"""One knowledge base in Python: open, add documents, ask, explore. Command line and servers run the same code."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, Unpack, cast, overload

from ..agents.cluster import aresources_on
from ..agents.construction.graph import build_graph as construction_graph
from ..agents.construction.inputs import FolderChanges, compare_folder
from ..agents.construction.state import BuildContext, BuildInput, BuildReport, GivenDocument, new_run
from ..agents.resources import Resources, default_resources
from ..config import Settings, SettingsError
from ..graph_store.layout import check_name, knowledge_bases
from ..ingest.formats import FORMATS
from ..ingest.reading import IngestError
from ..ingest.source_tables import collected_tables, place_tables
from ..ingest.table_lines import table_lines
from ..runtime.threads import run
from ..schemas.documents import Document, SourceTable
from ..schemas.naming import content_id
from ..subagent.tool import resources_for
from ..text.cleaning import clean_text
from .base_contents import BaseContents
from .joined_bases import STREAMED, JoinedBases, in_thread_version
from .progress import Progress, log_failures, show_progress

Source: TypeAlias = "str | os.PathLike[str] | Document | Mapping[str, Any] | Any"
"""A path, a text, a Banyan or LangChain document, {"id", "title", "text", "metadata"}, or a data frame."""

_LONGEST_PATH = 4096  # bytes of a file's path on common systems


class AddOptions(TypedDict, total=False):
    """The options of `add` and `aadd`."""

    id: str
    """The id of a single text or data frame in citations; by default derived from its content. A document with the same
    id is replaced."""
    title: str
    """The document's title; by default its first heading."""
    schema: str | os.PathLike[str]
    """"auto", a seed schema's name (such as "general"), "open", or a file; only with the first documents."""
    reread: bool
    """Let the model read again all chunks that the rules or another model read, or itself with other instructions."""
    batch: bool
    """Have the model read through the endpoint's batches: for half the price, within a day (see docs/llm.md)."""
    context: BuildContext | None
    """Every option of a build."""
    progress: Progress | bool | None
    """A function to call at each step; True shows a progress bar on standard error; None (the default) does so only if
    that is a terminal."""
    ray: str | bool
    """The Ray cluster whose workers read, extract and embed: "auto" or "HOST:PORT"; True starts Ray on this machine for
    this call."""


class KnowledgeBase(JoinedBases, BaseContents):
    """A knowledge base, opened by `banyan.open` and created when you add the first document.

    Every method opens what it needs, and sees everything that any process has written so far. `aadd`, `aask`,
    `astream`, `asearch`, `asql`, `atables` and `adelete` are the async versions. The others also work in an event loop,
    as in a notebook, but block it. Errors that the caller can fix are `banyan.BanyanError`s.
    """

    def add(self, *sources: Source, **options: Unpack[AddOptions]) -> BuildReport:
        """Read documents into the knowledge base; unchanged documents cost nothing.

        Args:
            sources: files and folders (paths), texts, documents (Banyan's, LangChain's, or {"id", "text", "title",
                "metadata"}), and data frames. With a column `text`, each row of a data frame is a document; otherwise
                it is one table. A string is a path if it names a file or looks like a file's name. Without sources, an
                interrupted build resumes.
            options: see `AddOptions`.

        Returns:
            The report of `banyan build --json`. Its `files_failed`, `chunks_failed` and `stopped` are also logged.

        Raises:
            BanyanError: the documents cannot be added; nothing was changed.
        """
        return run(partial(self.aadd, *sources, **options))

    async def aadd(self, *sources: Source, id: str = "", title: str = "", schema: str | os.PathLike[str] = "",  # noqa: A002  (as documents call it)
                   reread: bool = False, batch: bool = False, context: BuildContext | None = None,
                   progress: Progress | bool | None = None, ray: str | bool = False) -> BuildReport:
        """Add documents like `add`, for an event loop; a cancelled build ends after its step, and can be resumed."""
        paths, documents = read_sources(sources, id, title)
        build_input: BuildInput = {"knowledge_base": self.name, "paths": paths, "documents": documents,
                                   "schema": os.fspath(schema)}
        context = context or BuildContext()
        context = replace(context, reread=reread or context.reread, batch=batch or context.batch)
        report, run_id = dict[str, Any](), new_run()
        async with aresources_on(self.resources, ray) as resources:
            with ExitStack() as on_error, show_progress(progress) as show:
                # After an error between two steps, nobody resumes this build, so it must not keep other builds out.
                on_error.callback(resources.writers.end, self.name, run_id)
                events = construction_graph(resources).astream(
                    build_input, {"configurable": {"resumes": run_id}}, context=context, stream_mode=STREAMED)
                async for kind, event in events:
                    if kind == "custom":  # progress
                        show(cast("dict[str, Any]", event))
                    else:  # the state so far, which has the report at the end
                        report.update(cast("dict[str, Any]", event).get("report") or {})
                on_error.pop_all()
        return log_failures(report)

    def sync(self, folder: str | os.PathLike[str], *, dry_run: bool = False, context: BuildContext | None = None,
             progress: Progress | bool | None = None) -> tuple[FolderChanges, BuildReport | None]:
        """Follow a folder: add its new files, read changed ones again, and delete the documents whose files are gone.

        It returns what differed, and the report of the build, which is None if nothing was read. A `dry_run` changes
        nothing; `context` and `progress` are as in `add`.

        Raises:
            BanyanError: the folder cannot be read, or all of its files are gone, as if its disk were not mounted.
        """
        local_folder = Path(folder).expanduser()
        is_new = self.name not in knowledge_bases(self.resources.settings)  # there is nothing to open yet
        with nullcontext() if is_new else self._snapshot() as snapshot:
            changes = compare_folder(snapshot.kb.documents if snapshot else None, local_folder, self.resources.limits)
        if dry_run:
            return changes, None
        has_files = changes.new or changes.known
        report = self.add(local_folder, context=context, progress=progress) if has_files else None
        # The build may have deleted some of these already, as what their files do not give any more.
        if changes.gone:
            self.resources.delete_documents(self.name, changes.gone, missing_ok=True)
        return changes, report

    def delete(self, *documents: str) -> None:
        """Delete documents and what only they support, or none, with UnknownDocumentError, if one is not there."""
        self.resources.delete_documents(self.name, list(dict.fromkeys(documents)))

    adelete = in_thread_version(delete)

    @property
    def instructions(self) -> str:
        """How a model is to word all answers: tone, length, format, language; set it to change it, "" removes it."""
        with self._snapshot() as snapshot:
            return snapshot.kb.instructions.get()

    @instructions.setter
    def instructions(self, text: str) -> None:
        self.resources.instruct(self.name, text)

    @property
    def extraction_instructions(self) -> str:
        """What a model is to heed in each extraction; documents already read stay until `add(reread=True)`."""
        with self._snapshot() as snapshot:
            return snapshot.kb.extraction_instructions.get()

    @extraction_instructions.setter
    def extraction_instructions(self, text: str) -> None:
        self.resources.instruct(self.name, text, "extraction")


@overload
def open_base(name: str, *, resources: Resources | None = None, **settings: Any) -> KnowledgeBase: ...
@overload
def open_base(name: Sequence[str], *, resources: Resources | None = None, **settings: Any) -> JoinedBases: ...
def open_base(name: str | Sequence[str], *, resources: Resources | None = None, **settings: Any) -> JoinedBases:
    """Open a knowledge base by name, or several to ask, search and query them as one; a `with` block closes it.

    A new one is created when you add the first document.

    Args:
        name: the knowledge base's name: letters, digits, `-` and `_`; or a list of names.
        resources: resources that your own code has opened, for example with your own embedding model.
        settings: any setting of `banyan.Settings` by its name, such as `home` or `llm_model`, instead of the
            environment's. Without any, the process's shared resources are used.

    Raises:
        KnowledgeBaseNameError: `name` cannot be a knowledge base's name.
        SettingsError: a setting does not exist, or settings cannot be combined.
    """
    if resources is not None and settings:
        raise SettingsError("give `resources` or settings, not both: resources have theirs")
    resources = resources or _resources(settings)
    owned = bool(settings)  # these resources were opened here, for this knowledge base alone
    if isinstance(name, str):
        return KnowledgeBase(check_name(name), resources, owned=owned)
    return JoinedBases(",".join(map(check_name, name)), resources, owned=owned)


def list_bases(**settings: Any) -> list[str]:
    """Return the sorted names of all knowledge bases; `settings` as for `open`."""
    return knowledge_bases(_resources(settings).settings)


def drop_base(name: str, **settings: Any) -> None:
    """Delete a knowledge base and everything stored in it; `settings` and errors as for `open` and `rename`."""
    _resources(settings).drop(name)


def rename_base(old: str, new: str, **settings: Any) -> None:
    """Rename a knowledge base; `settings` as for `open`.

    Raises:
        BanyanError: none has the old name, the new one is taken or not allowed, or another process is writing to it.
    """
    _resources(settings).rename(old, new)


def _resources(settings: dict[str, Any]) -> Resources:
    """Return resources with these settings, or the process's shared ones without any; SettingsError: one is unknown."""
    if unknown := settings.keys() - Settings.model_fields.keys():
        raise SettingsError(f"there is no setting {min(unknown)!r}; docs/settings.md lists all")
    return resources_for(Settings(**settings)) if settings else default_resources()


def read_sources(sources: Iterable[Source], name: str = "", title: str = "") -> tuple[list[str], list[GivenDocument]]:
    """Sort sources into paths to read, and documents that were given as text; `name` is an id.

    Raise IngestError for an unsupported type, or if `name` or `title` are given for other than a single document.
    """
    paths, documents, sources = list[str](), list[GivenDocument](), list(sources)
    if (name or title) and len(sources) != 1:
        raise IngestError(f"`id` and `title` are for a single document, but {len(sources)} were given: add them one by "
                          "one, or as documents with their own ids and titles")
    for source in sources:
        if isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
            if name or title:
                raise IngestError(f"{os.fspath(source)} is a path: its documents have their own ids and titles; leave "
                                  "`id` and `title` out")
            paths.append(os.path.expanduser(os.fspath(source)))  # noqa: PTH111
        else:
            documents.extend(_to_documents(source, name, title))
    return paths, documents


def _is_path(text: str) -> bool:
    """Return True if a text names a file, or looks like a file's name, rather than being a document."""
    if not text or "\n" in text or "\0" in text or len(text) > _LONGEST_PATH:
        return False  # no file can have this name
    # A missing path counts, too: its error helps more than a document of this text. Words with a slash are none.
    has_suffix = Path(text).suffix.lower() in FORMATS
    has_folder = os.sep in text and not any(map(str.isspace, text))
    return has_suffix or has_folder or os.path.exists(os.path.expanduser(text))  # noqa: PTH110, PTH111  (never raise)


def _to_documents(source: Source, name: str, title: str) -> list[GivenDocument]:
    """Return a source that is no path as documents; `name` and `title`, if given, replace its own id and title."""
    if isinstance(source, str):
        return [_make_document(name, title, source)]
    if isinstance(source, Document):
        return [_make_document(name or source.id, title or source.title, source.text, source.metadata, source.tables)]
    if isinstance(source, Mapping):  # its keys are not checked here, because the build checks them
        given = {key: value for key, value in (("id", name), ("title", title)) if value}
        return [cast("GivenDocument", {**source, **given})]
    if hasattr(source, "page_content"):  # LangChain's Document
        loaded, metadata = cast("Any", source), dict(cast("Any", source).metadata)
        own_id = loaded.id or metadata.pop("source", "")
        own_title = str(metadata.pop("title", ""))
        return [_make_document(name or str(own_id), title or own_title, loaded.page_content, metadata)]
    if hasattr(source, "columns") and (hasattr(source, "itertuples") or hasattr(source, "iter_rows")):
        return _frame_documents(source, name or "table", title)
    raise IngestError(f"{type(source).__name__} cannot be added: give a path, a text, a Document, "
                      "{\"id\", \"text\"}, or a data frame")


def _frame_documents(frame: Any, name: str, title: str) -> list[GivenDocument]:
    """Return the rows of a pandas or polars frame as documents if it has a column `text`, else the frame as one."""
    columns = [str(column) for column in frame.columns]
    values = frame.itertuples(index=False, name=None) if hasattr(frame, "itertuples") else frame.iter_rows()
    rows = [[_cell_text(value) for value in row] for row in values]
    if "text" not in columns:
        with collected_tables() as tables:
            lines = table_lines(columns, rows, title or name)
            text, placed = place_tables(clean_text("\n".join(lines)), tables)
        return [_make_document(name, title or name, text, tables=placed)]
    documents = []
    for number, row in enumerate(rows):
        # What is left of them after id, title and text is the document's metadata.
        fields = {column: value for column, value in zip(columns, row, strict=True) if value}
        own_id, own_title = fields.pop("id", f"{name}#{number}"), fields.pop("title", title)
        documents.append(_make_document(own_id, own_title, fields.pop("text", ""), fields))
    return documents


def _make_document(name: str, title: str, text: str, metadata: Mapping[str, str] | None = None,
                   tables: Sequence[SourceTable] = ()) -> GivenDocument:
    """Return a document for the build without its empty fields; one without a name is named after its text."""
    fields = {"title": title, "metadata": dict(metadata or {}), "tables": [table.model_dump() for table in tables]}
    return cast("GivenDocument", {"id": name or f"text-{content_id('text', text)[:12]}", "text": text,
                                  **{key: value for key, value in fields.items() if value}})


def _cell_text(value: Any) -> str:
    """Return a cell of a data frame as text; empty for a missing value, which is None, NaN, NaT or pandas.NA."""
    is_missing = value is None or (not isinstance(value, str) and str(value) in {"nan", "NaT", "<NA>"})
    return "" if is_missing else str(value)
