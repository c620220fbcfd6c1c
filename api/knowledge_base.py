"""One knowledge base in Python: add documents, ask, look around. What runs is what the command line and servers run."""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from html import escape
from typing import Any, Self, TypeAlias, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StreamMode
from rich.console import Console

from ..agents.cluster.builds import aresources_on, resources_on
from ..agents.construction.graph import build_graph as construction_graph
from ..agents.construction.state import BuildContext, BuildInput, BuildReport
from ..agents.resources import Resources
from ..agents.retrieval.graph import build_graph as retrieval_graph
from ..agents.retrieval.state import AskContext, AskInput, AskOutput, AskState
from ..graph_store import knowledge_base as stored
from ..graph_store.errors import UnknownKnowledgeBaseError
from ..graph_store.graph.tree_graph import TreeGraph
from ..graph_store.integrity.status import Status, status_of
from ..graph_store.layout import check_name
from ..graph_store.ledger.documents import DocumentEntry
from ..schemas.graph_schema import GraphSchema
from ..schemas.naming import normalise
from ..schemas.retrieval import Mode
from ..subagent.answers import RetrievedPassage
from ..subagent.compiled import Subagent, as_subagent
from ..subagent.retriever import BanyanRetriever
from ..subagent.searching import search
from ..subagent.tool import as_tool
from ..tools.langchain_tools import route_tools
from .answers import Answer, Community, Entity, Fact, Step, answer_of, community_of, entity_of, facts_of, step_of
from .editing import Editing
from .notebooks import status_html
from .progress import build_progress
from .sources import Source, read_sources

_LOG = logging.getLogger("banyan")
Progress: TypeAlias = Callable[[dict[str, Any]], None]
"""Told of each step of a build: {"step", "done", "total"}; a total that is not known is None."""
_STREAMED: list[StreamMode] = ["custom", "values"]
_OUTPUT = sorted(AskOutput.__annotations__.keys() - {"messages"})


class KnowledgeBase:
    """A knowledge base by its name, made by `banyan.open`. It comes into being with the first document.

    Every method opens what it needs, and sees what any process has written until then. `aadd`, `aask`, `astream`,
    `asearch` and `adelete` are for an event loop; the others may be called in one too, as in a notebook, and keep it
    waiting. Errors that the caller can fix are `banyan.BanyanError`s.
    """

    def __init__(self, name: str, resources: Resources, *, owned: bool = False) -> None:
        """Name it; nothing is opened yet.

        Args:
            name: the knowledge base's name.
            resources: models and open knowledge bases.
            owned: whether they are closed with this.

        Raises:
            KnowledgeBaseNameError: it cannot be a knowledge base's name.
        """
        self.name = check_name(name)
        self.resources = resources
        self._owned = owned

    def __repr__(self) -> str:
        return f"banyan.open({self.name!r})"

    def _repr_html_(self) -> str:
        try:
            return status_html(self.name, self.status())
        except UnknownKnowledgeBaseError:  # nothing was added yet
            return f"<p>{escape(repr(self))}: no documents yet</p>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what was opened for this one alone; what the process shares stays open."""
        if self._owned:
            self.resources.close()

    # Documents.

    def add(self, *sources: Source, id: str = "", title: str = "", schema: str | os.PathLike[str] = "",  # noqa: A002  (as documents call it)
            context: BuildContext | None = None, progress: Progress | bool | None = None,
            ray: str | bool = False) -> BuildReport:
        """Read documents into the knowledge base; what is unchanged costs nothing.

        Args:
            sources: files and folders (paths), texts, documents (Banyan's, LangChain's, or {"id", "text", "title",
                "metadata"}), and data frames: with a column `text` each row is a document, else all is a table. A
                string is a path if it names a file or reads like a file's name. None: go on with what is stored.
            id: what citations call a text or data frame; none: made from its words. A document of the same id is
                replaced.
            title: its title; none: its first heading.
            schema: "auto", a seed schema's name (such as "general"), "open", or a file; only with the first documents.
            context: every option of a build.
            progress: told of each step; True: a bar on standard error; none: a bar where that is a terminal.
            ray: the Ray cluster whose workers read, extract and embed: "auto" or "HOST:PORT"; True: a Ray of this
                machine, for this call.

        Returns:
            What was done, with the keys of `banyan build --json`. What failed is in `files_failed`, `chunks_failed`
            and `stopped`, and is logged as a warning.

        Raises:
            BanyanError: nothing can be added; says why. Nothing has changed then.
        """
        given, report = self._build_input(sources, id, title, schema), dict[str, Any]()
        with (resources_on(self.resources, ray) as resources, resources.runs.abandoned_on_error(),
              _shown(progress) as show):
            for kind, event in construction_graph(resources).stream(
                    given, context=context or BuildContext(), stream_mode=_STREAMED):
                _follow(kind, event, show, report)
        return _reported(report)

    async def aadd(self, *sources: Source, id: str = "", title: str = "", schema: str | os.PathLike[str] = "",  # noqa: A002  (as documents call it)
                   context: BuildContext | None = None, progress: Progress | bool | None = None,
                   ray: str | bool = False) -> BuildReport:
        """As `add`, for an event loop; cancelling it ends the build after its step, and the next one goes on there."""
        given, report = self._build_input(sources, id, title, schema), dict[str, Any]()
        async with aresources_on(self.resources, ray) as resources:
            with resources.runs.abandoned_on_error(), _shown(progress) as show:
                async for kind, event in construction_graph(resources).astream(
                        given, context=context or BuildContext(), stream_mode=_STREAMED):
                    _follow(kind, event, show, report)
        return _reported(report)

    def _build_input(self, sources: Sequence[Source], name: str, title: str, schema: str | os.PathLike[str],
                     ) -> BuildInput:
        paths, documents = read_sources(sources, name, title)
        return {"knowledge_base": self.name, "paths": paths, "documents": documents, "schema": os.fspath(schema)}

    def delete(self, document: str) -> None:
        """Delete a document with all that only it supports.

        Raises:
            UnknownDocumentError: there is none of that id.
        """
        self.resources.delete_document(self.name, document)

    async def adelete(self, document: str) -> None:
        """As `delete`, in a thread."""
        await asyncio.to_thread(self.delete, document)

    # Questions.

    def ask(self, question: str, *, mode: Mode = "reject", history: Sequence[tuple[str, str]] = (),
            context: AskContext | None = None) -> Answer:
        """Answer a question from the documents, or say that they do not answer it.

        Args:
            question: what is asked.
            mode: "reject": abstain where the documents do not answer; "open": own knowledge allowed, and marked.
            history: the conversation before it, as (question, answer); a follow-up is understood from it.
            context: every option of a question, instead of `mode`.

        Raises:
            UnknownKnowledgeBaseError: no documents were added yet.
            QuestionError: the question is empty or too long.
        """
        output = self._answering.invoke(**self._asking(question, history, context, mode))
        return self._answer(output)

    async def aask(self, question: str, *, mode: Mode = "reject", history: Sequence[tuple[str, str]] = (),
                   context: AskContext | None = None) -> Answer:
        """As `ask`, for an event loop."""
        output = await self._answering.ainvoke(**self._asking(question, history, context, mode))
        return await asyncio.to_thread(self._answer, output)

    def stream(self, question: str, *, mode: Mode = "reject", history: Sequence[tuple[str, str]] = (),
               context: AskContext | None = None) -> Iterator[Step | Answer]:
        """As `ask`: each step as it is taken, and at last the answer, whole, because it is checked first."""
        output: Any = None
        for kind, event in self._answering.stream(
                **self._asking(question, history, context, mode), stream_mode=_STREAMED):
            if kind == "custom":
                yield step_of(event)
            else:
                output = event
        yield self._answer(output)

    async def astream(self, question: str, *, mode: Mode = "reject", history: Sequence[tuple[str, str]] = (),
                      context: AskContext | None = None) -> AsyncIterator[Step | Answer]:
        """As `stream`, for an event loop."""
        output: Any = None
        async for kind, event in self._answering.astream(
                **self._asking(question, history, context, mode), stream_mode=_STREAMED):
            if kind == "custom":
                yield step_of(event)
            else:
                output = event
        yield await asyncio.to_thread(self._answer, output)

    @cached_property
    def _answering(self) -> CompiledStateGraph[AskState, AskContext, AskInput, AskOutput]:
        """The retrieval graph: compiling it takes as long as a search."""
        return retrieval_graph(self.resources)

    def _asking(self, question: str, history: Sequence[tuple[str, str]], context: AskContext | None, mode: Mode,
                ) -> dict[str, Any]:
        """What the retrieval graph is run with."""
        messages: list[AnyMessage] = []
        for asked, answered in history:
            messages += [HumanMessage(asked), AIMessage(answered)]
        given: AskInput = {"knowledge_base": self.name, "messages": [*messages, HumanMessage(question)]}
        return {"input": given, "output_keys": _OUTPUT,
                "context": replace(context or AskContext(mode=mode), trace=True)}

    def _answer(self, output: Any) -> Answer:
        return answer_of(self._opened, cast("AskOutput", output))

    def search(self, query: str, k: int = 5, *, context: AskContext | None = None) -> list[RetrievedPassage]:
        """The passages that say most about a query, best first; no model is asked.

        Args:
            query: a question, or words.
            k: how many at most.
            context: how to search; none: one round along all routes.
        """
        return [RetrievedPassage(document=passage.document, title=passage.title, start=passage.start,
                                 end=passage.start + len(passage.text), text=passage.text, score=passage.score)
                for passage in search(self.resources, self.name, query, k, context)]

    async def asearch(self, query: str, k: int = 5, *, context: AskContext | None = None) -> list[RetrievedPassage]:
        """As `search`, in a thread."""
        return await asyncio.to_thread(lambda: self.search(query, k, context=context))

    # What it holds.

    @property
    def _opened(self) -> stored.KnowledgeBase:
        return self.resources.knowledge_base(self.name)

    def documents(self) -> list[DocumentEntry]:
        """The documents, by id, without their texts."""
        return self._opened.documents.entries()

    def entities(self, name: str = "", *, type: str = "") -> list[Entity]:  # noqa: A002  (as entities have it)
        """The entities, best connected first.

        Args:
            name: words of a name that is looked for; none: all.
            type: an entity type; none: all.
        """
        kb = self._opened
        graph, of_chunks, wanted = kb.graph, kb.documents.of_chunks(), normalise(name)
        nodes = [node for node in graph.entity_ids()
                 if (not type or graph.network.nodes[node]["type"] == type)
                 and (not wanted or any(wanted in normalise(known) for known in graph.names(node)))]
        nodes.sort(key=lambda node: (-graph.network.degree(node), graph.name(node), node))
        return [entity_of(kb, node, of_chunks) for node in nodes]

    def facts(self, entity: str = "", *, relation: str = "") -> list[Fact]:
        """The facts with their sources.

        Args:
            entity: the id or a name of an entity that is subject or object; none: all.
            relation: a relation type; none: all.
        """
        kb = self._opened
        graph, wanted = kb.graph, normalise(entity)
        about = {node for node in graph.entity_ids()
                 if node == entity or any(normalise(known) == wanted for known in graph.names(node))}
        return list(facts_of(kb, [key for key in graph.edges()
                                  if (not relation or key[1] == relation)
                                  and (not entity or key[0] in about or key[2] in about)]))

    def communities(self, level: int | None = 0) -> list[Community]:
        """The communities of the knowledge tree, largest first.

        Args:
            level: 0: the finest; above: communities of them; None: of all levels.
        """
        kb = self._opened
        return [community_of(kb.graph, community) for community in sorted(
            kb.communities.all(level=level), key=lambda item: (-len(item.members), item.id))]

    @property
    def schema(self) -> GraphSchema:
        """The schema in force: entity types, relations with domain and range, attributes."""
        return self._opened.schemas.current()

    @property
    def graph(self) -> TreeGraph:
        """The graph with its tree as a plain `networkx.MultiDiGraph` of its own, as `graph.json` has it."""
        return self._opened.tree_graph()

    def status(self) -> Status:
        """What it holds, what failed, and what was spent."""
        return status_of(self._opened, self.resources.spending.prices)

    @property
    def edit(self) -> Editing:
        """Changes its graph by hand: merge, split, rename, retype, reject, correct, undo."""
        return Editing(self.name, self.resources)

    # For agents and chains of one's own.

    def as_tool(self, *, name: str = "", about: str = "", context: AskContext | None = None) -> BaseTool:
        """A LangChain tool that answers from this knowledge base; see `banyan.as_tool`."""
        return as_tool(self.name, name=name, about=about, context=context, resources=self.resources)

    def as_tools(self) -> list[BaseTool]:
        """Return the four routes of retrieval as LangChain tools, for agents that plan themselves.

        They are what the retrieval graph's search nodes call: `entity_search`, `triple_search`, `community_search`
        and `dfs_search`. Content: a finding a line with the documents that support it; artifact: `Evidence`.
        """
        return route_tools(lambda: self.resources.retriever(self.name))

    def as_subagent(self, *, name: str = "", about: str = "", context: AskContext | None = None) -> Subagent:
        """A subagent for deepagents, supervisors and graphs of your own; see `banyan.as_subagent`."""
        return as_subagent(self.name, name=name, about=about, context=context, resources=self.resources)

    def as_retriever(self, *, k: int = 4, agent: bool = False) -> BanyanRetriever:
        """A LangChain retriever of its passages; see `banyan.BanyanRetriever`."""
        return BanyanRetriever(kb=self.name, k=k, agent=agent, resources=self.resources)


@contextmanager
def _shown(progress: Progress | bool | None) -> Iterator[Progress]:
    """What is told of a build's steps."""
    if callable(progress):
        yield progress
    elif progress or (progress is None and sys.stderr.isatty()):
        with build_progress(Console(stderr=True)) as show:
            yield show
    else:
        yield lambda _: None


def _follow(kind: str, event: Any, show: Progress, report: dict[str, Any]) -> None:
    if kind == "custom":
        show(event)
    else:
        report.update(event.get("report") or {})


def _reported(report: dict[str, Any]) -> BuildReport:
    """The report; what did not go well is logged, so that nobody has to look for it."""
    for line in report["files_failed"]:
        _LOG.warning("not read: %s", line)
    if report["chunks_failed"]:
        _LOG.warning("%d chunks failed; add again with BuildContext(retry_failed=True)", report["chunks_failed"])
    if report["stopped"]:
        _LOG.warning("stopped: %s", report["stopped"])
    return cast("BuildReport", report)


__all__ = ["Answer", "Community", "Entity", "Fact", "KnowledgeBase", "Progress", "Source", "Step"]
