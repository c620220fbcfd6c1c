"""One knowledge base in Python: open, add documents, ask, explore. Command line and servers run the same code."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StreamMode

from ..agents.cluster.joining import aresources_on
from ..agents.construction.graph import build_graph as construction_graph
from ..agents.construction.inputs import FolderChanges, compare_folder
from ..agents.construction.state import BuildContext, BuildInput, BuildReport
from ..agents.resources import Resources, default_resources
from ..agents.retrieval.graph import build_graph as retrieval_graph
from ..agents.retrieval.state import AskContext, AskInput, AskOutput, AskState
from ..config import Settings, SettingsError
from ..graph_store.layout import knowledge_bases
from ..runtime.event_loop import iterate, run
from ..schemas.documents import Scope
from ..schemas.retrieval import Mode
from ..subagent.tool import BanyanRetriever, Subagent, as_subagent, as_tool, resources_for, search
from ..subagent.tool_answers import RetrievedPassage
from ..tools.langchain_tools import lookup_tools
from .base_contents import BaseContents, Where
from .progress import Progress, log_failures, show_progress
from .python_results import Answer, Community, Entity, Fact, Step, answer_of, step_of
from .sources import Source, read_sources

_STREAMED: list[StreamMode] = ["custom", "values"]
_OUTPUT = sorted(AskOutput.__annotations__.keys() - {"messages"})


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
    """Have the model read through the endpoint's batches: for half the price, within a day. A build that is interrupted
    goes on waiting when it resumes."""
    context: BuildContext | None
    """Every option of a build."""
    progress: Progress | bool | None
    """A function to call at each step; True shows a progress bar on standard error; None (the default) does so only if
    that is a terminal."""
    ray: str | bool
    """The Ray cluster whose workers read, extract and embed: "auto" or "HOST:PORT"; True starts Ray on this machine for
    this call."""


class AskOptions(TypedDict, total=False):
    """The options of `ask`, `aask`, `stream` and `astream`."""

    mode: Mode
    """"reject" (the default) abstains if the documents do not answer the question; "strict" abstains also if they do
    not state every link of the answer; "open" allows the model's own knowledge, which is marked."""
    history: Sequence[tuple[str, str]]
    """The earlier conversation, as pairs (question, answer), which gives a follow-up its context."""
    instructions: str
    """How a model is to word the answer: tone, length, format, language; beside those of the knowledge base
    (`kb.instructions`). What is cited is checked all the same."""
    documents: Sequence[str] | str
    """Ids, titles or paths of the documents to answer from, or patterns such as "reports/*.pdf"; the answer is that of
    a knowledge base of these documents alone."""
    where: Where
    """Metadata of the documents to answer from, such as {"author": "Ana Ruiz", "date": "2024-*"}."""
    context: AskContext | None
    """Every option of a question, instead of `mode` and `instructions`."""


class KnowledgeBase(BaseContents):
    """A knowledge base, opened by `banyan.open` and created when you add the first document.

    Every method opens what it needs, and sees everything that any process has written so far. `aadd`, `aask`,
    `astream`, `asearch`, `asql`, `atables` and `adelete` are the async versions. The others also work in an event loop,
    as in a notebook, but block it. Errors that the caller can fix are `banyan.BanyanError`s.
    """

    def __init__(self, name: str, resources: Resources, *, owned: bool = False) -> None:
        """Set the name; nothing is opened yet. `owned`: `close` closes the resources."""
        super().__init__(name, resources)
        self._owned = owned

    def __repr__(self) -> str:
        return f"banyan.open({self.name!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the resources that only this knowledge base uses; the process's shared ones stay open."""
        if self._owned:
            self.resources.close()

    # Documents.

    def add(self, *sources: Source, **options: Unpack[AddOptions]) -> BuildReport:
        """Read documents into the knowledge base; unchanged documents cost nothing.

        Args:
            sources: files and folders (paths), texts, documents (Banyan's, LangChain's, or {"id", "text", "title",
                "metadata"}), and data frames. With a column `text`, each row of a data frame is a document; otherwise
                it is one table. A string is a path if it names a file or looks like a file's name. Without sources, an
                interrupted build resumes.
            options: see `AddOptions`.

        Returns:
            A report with the keys of `banyan build --json`. Failures are in `files_failed`, `chunks_failed` and
            `stopped`, and are logged as warnings.

        Raises:
            BanyanError: the documents cannot be added; nothing was changed.
        """
        return run(partial(self.aadd, *sources, **options))

    async def aadd(self, *sources: Source, id: str = "", title: str = "", schema: str | os.PathLike[str] = "",  # noqa: A002  (as documents call it)
                   reread: bool = False, batch: bool = False, context: BuildContext | None = None,
                   progress: Progress | bool | None = None, ray: str | bool = False) -> BuildReport:
        """Add documents like `add`, for an event loop.

        If the task is cancelled, the build stops after its current step, and can be resumed.
        """
        paths, documents = read_sources(sources, id, title)
        build_input: BuildInput = {"knowledge_base": self.name, "paths": paths, "documents": documents,
                                   "schema": os.fspath(schema)}
        context = context or BuildContext()
        context = replace(context, reread=reread or context.reread, batch=batch or context.batch)
        report = dict[str, Any]()
        async with aresources_on(self.resources, ray) as resources:
            with resources.writers.abandoned_on_error(), show_progress(progress) as show:
                graph = construction_graph(resources)
                async for kind, event in graph.astream(build_input, context=context, stream_mode=_STREAMED):
                    if kind == "custom":  # progress
                        show(cast("dict[str, Any]", event))
                    else:  # the state so far, which has the report at the end
                        report.update(cast("dict[str, Any]", event).get("report") or {})
        return log_failures(report)

    def sync(self, folder: str | os.PathLike[str], *, dry_run: bool = False, context: BuildContext | None = None,
             progress: Progress | bool | None = None) -> tuple[FolderChanges, BuildReport | None]:
        """Follow a folder: add its new files, read changed ones again, and delete the documents whose files are gone.

        Args:
            folder: a folder of this machine.
            dry_run: change nothing.
            context: every option of a build.
            progress: as in `add`.

        Returns:
            What differed, and the report of the build, which is None if nothing was read.

        Raises:
            BanyanError: the folder cannot be read, or all of its files are gone, as if its disk were not mounted.
        """
        local_folder = Path(folder).expanduser()
        changes, report = self._compare(local_folder), None
        if not dry_run and (changes.new or changes.known):
            report = self.add(local_folder, context=context, progress=progress)
        if not dry_run and changes.gone:
            # Reading the files again has deleted what they do not give any more.
            self.resources.delete_documents(self.name, changes.gone, missing_ok=True)
        return changes, report

    def _compare(self, folder: Path) -> FolderChanges:
        if self.name not in knowledge_bases(self.resources.settings):
            return compare_folder(None, folder, self.resources.limits)
        with self._snapshot() as snapshot:
            return compare_folder(snapshot.kb.documents, folder, self.resources.limits)

    def delete(self, *documents: str) -> None:
        """Delete documents, and everything that no other document supports; UnknownDocumentError: none is deleted."""
        self.resources.delete_documents(self.name, list(dict.fromkeys(documents)))

    async def adelete(self, *documents: str) -> None:
        """Delete documents like `delete`, in a thread."""
        await asyncio.to_thread(self.delete, *documents)

    # Questions.

    def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """Answer a question from the documents, or report that they do not answer it.

        Args:
            question: the question.
            options: see `AskOptions`.

        Raises:
            UnknownKnowledgeBaseError: no documents were added yet.
            InstructionsError: the instructions are too long.
            QuestionError: the question is empty or too long.
            ScopeError: `documents` or `where` fit no document.
        """
        return run(partial(self.aask, question, **options))

    async def aask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """Answer like `ask`, for an event loop."""
        arguments = self._graph_arguments(question, **options)
        return await asyncio.to_thread(self._answer, await self._retrieval.ainvoke(**arguments), arguments)

    def stream(self, question: str, **options: Unpack[AskOptions]) -> Iterator[Step | Answer]:
        """Answer like `ask`, yielding each step, then the complete answer.

        A step "claim" is a line of the answer whose quotes were checked; it comes while the model still writes the next
        line. A step "withdrawn" takes back all claims before it.
        """
        yield from iterate(lambda: self.astream(question, **options))

    async def astream(self, question: str, **options: Unpack[AskOptions]) -> AsyncIterator[Step | Answer]:
        """Answer like `stream`, for an event loop."""
        output: Any = None
        arguments = self._graph_arguments(question, **options)
        async for kind, event in self._retrieval.astream(**arguments, stream_mode=_STREAMED):
            if kind == "custom":
                yield step_of(event)
            else:
                output = event  # a state of the graph; the last one has the answer
        yield await asyncio.to_thread(self._answer, output, arguments)

    @cached_property
    def _retrieval(self) -> CompiledStateGraph[AskState, AskContext, AskInput, AskOutput]:
        """The retrieval graph, cached because compiling it takes as long as a search."""
        return retrieval_graph(self.resources)

    def _graph_arguments(self, question: str, *, mode: Mode = "reject", history: Sequence[tuple[str, str]] = (),
                         instructions: str = "", documents: Sequence[str] | str = (), where: Where = None,
                         context: AskContext | None = None) -> dict[str, Any]:
        context = _with_scope(context or AskContext(mode=mode, instructions=instructions), documents, where)
        messages: list[AnyMessage] = []
        for asked, answered in history:
            messages += [HumanMessage(asked), AIMessage(answered)]
        ask_input: AskInput = {"knowledge_base": self.name, "messages": [*messages, HumanMessage(question)]}
        return {"input": ask_input, "output_keys": _OUTPUT, "context": replace(context, trace=True)}

    def _answer(self, output: Any, arguments: dict[str, Any]) -> Answer:
        """Return the graph's output as an answer, with facts from the documents that the question was limited to."""
        context = cast("AskContext", arguments["context"])
        return answer_of(self._snapshot(context.documents, context.where), cast("AskOutput", output))

    def search(self, query: str, k: int = 5, *, documents: Sequence[str] | str = (), where: Where = None,
               context: AskContext | None = None) -> list[RetrievedPassage]:
        """Return the `k` most relevant passages for a query, best first, without calling a model.

        Args:
            query: a question, or keywords.
            k: the maximum number of passages.
            documents: the documents to search; given as in `ask`.
            where: metadata of the documents to search; given as in `ask`.
            context: options of a question, of which only the switches have an effect.
        """
        context = _with_scope(context or AskContext(), documents, where)
        return search(self.resources, self.name, query, k, context)

    async def asearch(self, query: str, k: int = 5, *, documents: Sequence[str] | str = (), where: Where = None,
                      context: AskContext | None = None) -> list[RetrievedPassage]:
        """Search like `search`, in a thread."""
        return await asyncio.to_thread(
            lambda: self.search(query, k, documents=documents, where=where, context=context))

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
        """What a model is to heed when it extracts, and a glossary; set it to change it, "" removes it.

        They are part of every extraction call. Documents already read stay as they are until `add(reread=True)`.
        """
        with self._snapshot() as snapshot:
            return snapshot.kb.extraction_instructions.get()

    @extraction_instructions.setter
    def extraction_instructions(self, text: str) -> None:
        self.resources.instruct(self.name, text, "extraction")

    # For your own agents and chains.

    def as_tool(self, *, name: str = "", about: str = "", context: AskContext | None = None) -> BaseTool:
        """Return a LangChain tool that answers from this knowledge base; see `banyan.as_tool`."""
        return as_tool(self.name, name=name, about=about, context=context, resources=self.resources)

    def as_tools(self) -> list[BaseTool]:
        """Return the six lookups that the retrieval graph makes as LangChain tools, for agents that plan themselves.

        A tool's content is lines of text, each with the documents that support it; its artifact is a list of `Block`.
        """
        return lookup_tools(lambda: self.resources.retriever(self.name))

    def as_subagent(self, *, name: str = "", about: str = "", context: AskContext | None = None) -> Subagent:
        """Return a subagent for deepagents, supervisors and your own graphs; see `banyan.as_subagent`."""
        return as_subagent(self.name, name=name, about=about, context=context, resources=self.resources)

    def as_retriever(self, *, k: int = 4, documents: Sequence[str] | str = (),
                     where: Where = None) -> BanyanRetriever:
        """Return a LangChain retriever of its passages, or of some documents'; see `banyan.BanyanRetriever`."""
        return BanyanRetriever(kb=self.name, k=k, documents=Scope.of(documents).documents,
                               where=dict(where or {}), resources=self.resources)


def _with_scope(context: AskContext, documents: Sequence[str] | str, where: Where) -> AskContext:
    scope = Scope.of(documents, where)
    return context if scope.is_everything else replace(context, documents=scope.documents, where=dict(scope.where))


__all__ = ["Answer", "Community", "Entity", "Fact", "KnowledgeBase", "Progress", "Source", "Step"]


def open_base(name: str, *, resources: Resources | None = None, **settings: Any) -> KnowledgeBase:
    """Open a knowledge base by name; a new one is created when you add the first document.

    Args:
        name: the knowledge base's name: letters, digits, `-` and `_`.
        resources: resources that your own code has opened, for example with your own embedding model.
        settings: any setting of `banyan.Settings` by its name, instead of the environment's: `home`, `llm_base_url`,
            `llm_model`, `embedding_model` and so on. Without any, the process's shared resources are used.

    Returns:
        The knowledge base; a `with` block closes it at the end.

    Raises:
        KnowledgeBaseNameError: `name` cannot be a knowledge base's name.
        SettingsError: a setting does not exist, or settings cannot be combined.
    """
    if resources is not None and settings:
        raise SettingsError("give `resources` or settings, not both: resources have theirs")
    return KnowledgeBase(name, resources or _resources(settings), owned=bool(settings))


def list_bases(**settings: Any) -> list[str]:
    """Return the sorted names of all knowledge bases; `settings` as for `open`."""
    return knowledge_bases(_resources(settings).settings)


def drop_base(name: str, **settings: Any) -> None:
    """Delete a knowledge base and everything stored in it; `settings` and errors as for `open` and `rename`."""
    _resources(settings).drop(name)


def rename_base(old: str, new: str, **settings: Any) -> None:
    """Rename a knowledge base; `settings` as for `open`.

    Raises:
        UnknownKnowledgeBaseError: no knowledge base has the old name.
        KnowledgeBaseNameError: the new name is taken, or is not allowed.
        WriterBusyError: another process is writing to it.
    """
    _resources(settings).rename(old, new)


def _resources(settings: dict[str, Any]) -> Resources:
    for name in settings:
        if name not in Settings.model_fields:
            similar = get_close_matches(name, Settings.model_fields, n=1)
            hint = f"did you mean {similar[0]!r}?" if similar else "docs/settings.md lists all"
            raise SettingsError(f"there is no setting {name!r}; {hint}")
    return resources_for(Settings(**settings)) if settings else default_resources()
