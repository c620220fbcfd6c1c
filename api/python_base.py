"""One knowledge base in Python: add documents, ask, explore. The command line and the servers run the same code."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any, Self, TypeAlias, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StreamMode

from ..agents.cluster.ray_builds import aresources_on
from ..agents.construction.document_files import FolderChanges, compare_folder
from ..agents.construction.graph import build_graph as construction_graph
from ..agents.construction.state import BuildContext, BuildInput, BuildReport
from ..agents.example_questions import TriedQuestions
from ..agents.introduction import Introduction, introduce
from ..agents.resources import Resources
from ..agents.retrieval.graph import build_graph as retrieval_graph
from ..agents.retrieval.state import AskContext, AskInput, AskOutput, AskState
from ..agents.snapshots import Snapshot
from ..graph_store.graph.graph_file import TreeGraph
from ..graph_store.integrity.status import Status, status_of
from ..graph_store.layout import check_name, knowledge_bases
from ..graph_store.ledger.document_rows import DocumentEntry
from ..graph_store.resolution.decisions import EntityMentions, find_entity_mentions
from ..graph_store.store_errors import UnknownKnowledgeBaseError
from ..ingest.remote_folders import is_remote, mirror_folder
from ..runtime.event_loop import iterate, run
from ..schemas.documents import Scope
from ..schemas.graph_schema import GraphSchema
from ..schemas.lookups import Calculation, TripleLookup
from ..schemas.naming import normalise
from ..schemas.retrieval import Mode
from ..subagent.langchain_retriever import BanyanRetriever, search
from ..subagent.tool import Subagent, as_subagent, as_tool
from ..subagent.tool_answers import RetrievedPassage
from ..text.times import read_day
from ..tools.langchain_tools import lookup_tools
from ..tools.openings import summarise_documents
from ..tools.schema_names import terms_of
from ..tools.table_results import ComputedTable, tabulate
from .manual_edits import ManualEdits
from .progress import Progress, log_failures, show_progress
from .python_results import (
    Answer,
    Community,
    Entity,
    Fact,
    Step,
    answer_of,
    community_of,
    entity_of,
    facts_of,
    status_html,
    step_of,
)
from .sources import Source, read_sources

Where: TypeAlias = Mapping[str, str] | None
_STREAMED: list[StreamMode] = ["custom", "values"]
_OUTPUT = sorted(AskOutput.__annotations__.keys() - {"messages"})


class KnowledgeBase:
    """A knowledge base, opened by `banyan.open` and created when you add the first document.

    Every method opens what it needs, and sees everything that any process has written so far. `aadd`, `aask`,
    `astream`, `asearch` and `adelete` are the async versions. The others also work in an event loop, as in a notebook,
    but block it. Errors that the caller can fix are `banyan.BanyanError`s.
    """

    def __init__(self, name: str, resources: Resources, *, owned: bool = False) -> None:
        """Set the name; nothing is opened yet.

        Args:
            name: the knowledge base's name.
            resources: models and open knowledge bases.
            owned: whether `close` closes the resources.

        Raises:
            KnowledgeBaseNameError: `name` cannot be a knowledge base's name.
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
        """Close the resources that only this knowledge base uses; the process's shared ones stay open."""
        if self._owned:
            self.resources.close()

    # Documents.

    def add(self, *sources: Source, id: str = "", title: str = "", schema: str | os.PathLike[str] = "",  # noqa: A002  (as documents call it)
            reread: bool = False, batch: bool = False, context: BuildContext | None = None,
            progress: Progress | bool | None = None, ray: str | bool = False) -> BuildReport:
        """Read documents into the knowledge base; unchanged documents cost nothing.

        Args:
            sources: files and folders (paths), texts, documents (Banyan's, LangChain's, or {"id", "text", "title",
                "metadata"}), and data frames. With a column `text`, each row of a data frame is a document; otherwise
                it is one table. A string is a path if it names a file or looks like a file's name. Without sources, an
                interrupted build resumes.
            id: the id of a single text or data frame in citations; by default derived from its content. A document with
                the same id is replaced.
            title: the document's title; by default its first heading.
            schema: "auto", a seed schema's name (such as "general"), "open", or a file; only with the first documents.
            reread: let the model read again all chunks that the rules or another model read, or itself with other
                instructions.
            batch: have the model read through the endpoint's batches: for half the price, within a day. A build that is
                interrupted goes on waiting when it resumes.
            context: every option of a build.
            progress: a function to call at each step; True shows a progress bar on standard error; None does so only if
                that is a terminal.
            ray: the Ray cluster whose workers read, extract and embed: "auto" or "HOST:PORT"; True starts Ray on this
                machine for this call.

        Returns:
            A report with the keys of `banyan build --json`. Failures are in `files_failed`, `chunks_failed` and
            `stopped`, and are logged as warnings.

        Raises:
            BanyanError: the documents cannot be added; nothing was changed.
        """
        return run(partial(self.aadd, *sources, id=id, title=title, schema=schema, reread=reread, batch=batch,
                           context=context, progress=progress, ray=ray))

    async def aadd(self, *sources: Source, id: str = "", title: str = "", schema: str | os.PathLike[str] = "",  # noqa: A002  (as documents call it)
                   reread: bool = False, batch: bool = False, context: BuildContext | None = None,
                   progress: Progress | bool | None = None, ray: str | bool = False) -> BuildReport:
        """Add documents like `add`, for an event loop; a cancelled build stops after its step and can be resumed."""
        paths, documents = read_sources(sources, id, title)
        given: BuildInput = {"knowledge_base": self.name, "paths": paths, "documents": documents,
                             "schema": os.fspath(schema)}
        context = context or BuildContext()
        context = replace(context, reread=reread or context.reread, batch=batch or context.batch)
        report = dict[str, Any]()
        async with aresources_on(self.resources, ray) as resources:
            with resources.writers.abandoned_on_error(), show_progress(progress) as show:
                async for kind, event in construction_graph(resources).astream(given, context=context,
                                                                               stream_mode=_STREAMED):
                    if kind == "custom":
                        show(cast("dict[str, Any]", event))
                    else:
                        report.update(cast("dict[str, Any]", event).get("report") or {})
        return log_failures(report)

    def sync(self, folder: str | os.PathLike[str], *, dry_run: bool = False, context: BuildContext | None = None,
             progress: Progress | bool | None = None) -> tuple[FolderChanges, BuildReport | None]:
        """Follow a folder: add its new files, read changed ones again, and delete the documents whose files are gone.

        Args:
            folder: a folder of this machine, or the address of one in a store, such as "s3://reports/2024".
            dry_run: change nothing.
            context: every option of a build.
            progress: as in `add`.

        Returns:
            What the folder had new and has no longer, and the report of the build; None if nothing was read.

        Raises:
            BanyanError: the folder cannot be read, or all of its files are gone, as of a disk that is not mounted.
        """
        named = os.fspath(folder)
        place = mirror_folder(self.resources.settings.home, named) if is_remote(named) else Path(named).expanduser()
        changes, report = self._compare(place), None
        if not dry_run and (changes.new or changes.known):
            report = self.add(place, context=context, progress=progress)
        if not dry_run and changes.gone:
            self.delete(*changes.gone)
        return changes, report

    def _compare(self, folder: Path) -> FolderChanges:
        if self.name not in knowledge_bases(self.resources.settings):
            return compare_folder(None, folder, self.resources.limits)
        with self._snapshot() as snapshot:
            return compare_folder(snapshot.kb.documents, folder, self.resources.limits)

    def delete(self, *documents: str) -> None:
        """Delete documents, and everything that no other document supports.

        Raises:
            UnknownDocumentError: no document has one of the ids; then none is deleted.
        """
        self.resources.delete_documents(self.name, list(dict.fromkeys(documents)))

    def forget(self, entity: str, *, dry_run: bool = False) -> EntityMentions:
        """Delete every document that mentions an entity, by any of its names.

        Args:
            entity: its name, "name (type)" or id.
            dry_run: delete nothing.

        Returns:
            The sentences that mention it, by document.

        Raises:
            EntityDecisionError: no entity has this name, or several have.
        """
        with self._snapshot() as snapshot:
            mentions = find_entity_mentions(snapshot.kb.graph, snapshot.kb.documents, entity)
        if not dry_run and mentions.sentences:
            self.delete(*mentions.sentences)
        return mentions

    async def adelete(self, *documents: str) -> None:
        """Delete documents like `delete`, in a thread."""
        await asyncio.to_thread(self.delete, *documents)

    # Questions.

    def ask(self, question: str, *, mode: Mode = "reject", history: Sequence[tuple[str, str]] = (),
            instructions: str = "", documents: Sequence[str] | str = (), where: Where = None,
            context: AskContext | None = None) -> Answer:
        """Answer a question from the documents, or report that they do not answer it.

        Args:
            question: the question.
            mode: "reject": abstain if the documents do not answer; "strict": also if one link is not stated;
                "open": allow own knowledge, marked.
            history: the earlier conversation, as pairs (question, answer), which gives a follow-up its context.
            instructions: how a model is to word the answer: tone, length, format, language; beside those of the
                knowledge base (`instructions`). What is cited is checked all the same.
            documents: ids, titles or paths of the documents to answer from, or patterns such as "reports/*.pdf"; the
                answer is that of a knowledge base of these documents alone.
            where: metadata of the documents to answer from, such as {"author": "Ana Ruiz", "date": "2024-*"}.
            context: every option of a question, instead of `mode` and `instructions`.

        Raises:
            UnknownKnowledgeBaseError: no documents were added yet.
            InstructionsError: the instructions are too long.
            QuestionError: the question is empty or too long.
            ScopeError: `documents` or `where` fit no document.
        """
        arguments = self._arguments(question, history, _context_of(context, mode, instructions, documents, where))
        return self._answer(run(partial(self._retrieval.ainvoke, **arguments)), arguments)

    async def aask(self, question: str, *, mode: Mode = "reject", history: Sequence[tuple[str, str]] = (),
                   instructions: str = "", documents: Sequence[str] | str = (), where: Where = None,
                   context: AskContext | None = None) -> Answer:
        """Answer like `ask`, for an event loop."""
        arguments = self._arguments(question, history, _context_of(context, mode, instructions, documents, where))
        return await asyncio.to_thread(self._answer, await self._retrieval.ainvoke(**arguments), arguments)

    def stream(self, question: str, *, mode: Mode = "reject", history: Sequence[tuple[str, str]] = (),
               instructions: str = "", documents: Sequence[str] | str = (), where: Where = None,
               context: AskContext | None = None) -> Iterator[Step | Answer]:
        """Answer like `ask`, yielding each step, then the complete answer.

        A step "claim" has a line of the answer whose quotes were checked, while the model still writes; "withdrawn"
        takes all of them back.
        """
        yield from iterate(lambda: self.astream(question, mode=mode, history=history, instructions=instructions,
                                                documents=documents, where=where, context=context))

    async def astream(self, question: str, *, mode: Mode = "reject", history: Sequence[tuple[str, str]] = (),
                      instructions: str = "", documents: Sequence[str] | str = (), where: Where = None,
                      context: AskContext | None = None) -> AsyncIterator[Step | Answer]:
        """Answer like `stream`, for an event loop."""
        output: Any = None
        arguments = self._arguments(question, history, _context_of(context, mode, instructions, documents, where))
        async for kind, event in self._retrieval.astream(**arguments, stream_mode=_STREAMED):
            if kind == "custom":
                yield step_of(event)
            else:
                output = event
        yield await asyncio.to_thread(self._answer, output, arguments)

    @cached_property
    def _retrieval(self) -> CompiledStateGraph[AskState, AskContext, AskInput, AskOutput]:
        """The retrieval graph, cached because compiling it takes as long as a search."""
        return retrieval_graph(self.resources)

    def _arguments(self, question: str, history: Sequence[tuple[str, str]], context: AskContext) -> dict[str, Any]:
        """Return the arguments for running the retrieval graph."""
        messages: list[AnyMessage] = []
        for asked, answered in history:
            messages += [HumanMessage(asked), AIMessage(answered)]
        ask_input: AskInput = {"knowledge_base": self.name, "messages": [*messages, HumanMessage(question)]}
        return {"input": ask_input, "output_keys": _OUTPUT, "context": replace(context, trace=True)}

    def _answer(self, output: Any, arguments: dict[str, Any]) -> Answer:
        context = cast("AskContext", arguments["context"])
        return answer_of(self._snapshot(context.documents, context.where), cast("AskOutput", output))

    def search(self, query: str, k: int = 5, *, documents: Sequence[str] | str = (), where: Where = None,
               context: AskContext | None = None) -> list[RetrievedPassage]:
        """Return the most relevant passages for a query, best first, without calling a model.

        Args:
            query: a question, or keywords.
            k: the maximum number of passages.
            documents: the documents to search, as in `ask`.
            where: their metadata, as in `ask`.
            context: its switches and `decompose` count; None means all routes, and the query undivided.
        """
        context = _limit(context or AskContext(decompose=False), documents, where)
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

    # What it holds.

    def _snapshot(self, documents: Sequence[str] | str = (), where: Where = None) -> AbstractContextManager[Snapshot]:
        """Lease what is stored of some documents alone, or of all."""
        return self.resources.snapshot(self.name, Scope.of(documents, where))

    def documents(self) -> list[DocumentEntry]:
        """Return the documents by id, without their texts."""
        with self._snapshot() as snapshot:
            return snapshot.kb.documents.entries()

    def entities(self, name: str = "", *, type: str = "") -> list[Entity]:  # noqa: A002  (as entities have it)
        """Return the entities, best connected first.

        Args:
            name: words that a name must contain; empty means all entities.
            type: an entity type; empty means all types.
        """
        with self._snapshot() as snapshot:
            kb, wanted = snapshot.kb, normalise(name)
            graph, of_chunks = kb.graph, kb.documents.of_chunks()
            nodes = [node for node in graph.entity_ids()
                     if (not type or graph.type(node) == type)
                     and (not wanted or any(wanted in normalise(known) for known in graph.names(node)))]
            nodes.sort(key=lambda node: (-graph.degree(node), graph.name(node), node))
            return [entity_of(kb, node, of_chunks) for node in nodes]

    def facts(self, entity: str = "", *, relation: str = "", at: str = "", documents: Sequence[str] | str = (),
              where: Where = None) -> list[Fact]:
        """Return the facts with their sources.

        Args:
            entity: the id or name of an entity that is subject or object; empty means all.
            relation: a relation type; empty means all.
            at: a date, such as "2020", "2020-03" or "15 March 2020": the facts that hold at it, which is all of them
                but those that are planned, had ended or been replaced by then, or began later. Empty means all.
            documents: the documents that state them, as in `ask`.
            where: their metadata, as in `ask`.

        Raises:
            ValueError: `at` is no date with a year.
        """
        with self._snapshot(documents, where) as snapshot:
            kb = snapshot.kb
            graph, wanted, day = kb.graph, normalise(entity), read_day(at) if at else None
            about = {node for node in graph.entity_ids()
                     if node == entity or any(normalise(known) == wanted for known in graph.names(node))}
            return list(facts_of(kb, graph, [key for key in graph.edges()
                                             if (not relation or key[1] == relation)
                                             and (not entity or key[0] in about or key[2] in about)
                                             and (day is None or graph.validity(key).holds(*day))]))

    def table(self, relation: str, *, head: str = "", tail: str = "",  # noqa: PLR0913  (all are by name)
              where: Sequence[str] | Mapping[str, str] = (),
              by: str = "", do: Calculation = "list", show: Sequence[str] = (), at: str = "", document: str = "",
              limit: int = 0) -> ComputedTable:
        """Return the rows of a relation or an attribute: filtered, counted, grouped, each with its source.

        Args:
            relation: a relation or attribute, such as "status"; `kb.fields()` lists them.
            head: only rows whose subject has this name or a part of one; "A|B": either.
            tail: only rows whose object or value is this or has it as a part; with a sign: "!=A", ">=2020", "5..10".
            where: conditions on other fields of the subject, or of the object as `tail.FIELD`: "category=Core",
                "created>=2020", "owner=" (has none), or on what stands beside rows, "network=Ropsten"; or {field:
                value}.
            by: group by "head", "tail", a field, "year", "month" or "decade" of the value, or `FIELD.year`.
            do: "list", "count", "distinct", "sum", "mean", "smallest", "largest", "first" or "last".
            show: fields of the subject to show in each row.
            at: only what holds at this date.
            document: only rows of documents with this part in their id or title.
            limit: the most rows or groups; 0 means all groups, and 10,000 rows. What is computed counts all. Of
                "smallest", "largest", "first" and "last": how many values; 0 means one.

        Raises:
            BanyanError: there is no such relation or field, or a condition cannot be read.
            ValueError: `at` is no date with a year.
        """
        conditions = [f"{name}={value}" for name, value in where.items()] if isinstance(where, Mapping) else where
        lookup = TripleLookup(relation=relation, head=head, tail=tail, where=tuple(conditions), by=by, do=do,
                              show=tuple(show), at=at, document=document, limit=limit)
        with self._snapshot() as snapshot:
            return tabulate(snapshot.index, snapshot.kb.schemas.current(), lookup)

    def fields(self) -> dict[str, int]:
        """Return the relations and attributes that `table` takes, with their numbers of rows."""
        with self._snapshot() as snapshot:
            return {term.name: term.rows for term in terms_of(snapshot.index)}

    def communities(self, level: int | None = 0, *, documents: Sequence[str] | str = (), where: Where = None,
                    ) -> list[Community]:
        """Return the communities of the knowledge tree, largest first.

        Args:
            level: 0 for the finest communities, higher for communities of those; None for all levels.
            documents: those of which they are made, as in `ask`.
            where: their metadata, as in `ask`.
        """
        with self._snapshot(documents, where) as snapshot:
            return [community_of(snapshot.kb.graph, community) for community in sorted(
                snapshot.kb.communities.all(level=level), key=lambda item: (-len(item.members), item.id))]

    @property
    def schema(self) -> GraphSchema:
        """The schema in force: entity types, relations with domain and range, attributes."""
        with self._snapshot() as snapshot:
            return snapshot.kb.schemas.current()

    @property
    def graph(self) -> TreeGraph:
        """The graph with its tree as an independent `networkx.MultiDiGraph`, with the same content as `graph.json`."""
        with self._snapshot() as snapshot:
            return snapshot.kb.tree_graph()

    def introduce(self) -> Introduction:
        """Return what the documents are about, what was not read, and questions that were tried and are answered."""
        return introduce(self.resources, self.name, partial(self._question_trials.answer, self.name))

    @cached_property
    def _question_trials(self) -> TriedQuestions:
        return TriedQuestions(self.resources)

    def summaries(self, *documents: str) -> dict[str, str]:
        """Return of each document the sentence that says best what it is about, by its id; "" for one without any.

        Args:
            documents: their ids; none means all.

        Raises:
            UnknownDocumentError: no document has one of the ids.
        """
        with self._snapshot() as snapshot:
            return {one.document: one.said for one in summarise_documents(snapshot.kb.documents, documents)}

    def status(self) -> Status:
        """Return counts of its contents, failures and spending."""
        with self._snapshot() as snapshot:
            return status_of(snapshot.kb, self.resources.spending.prices)

    @property
    def edit(self) -> ManualEdits:
        """Manual changes of the graph: merge, split, rename, retype, reject, correct, undo."""
        return ManualEdits(self.name, self.resources)

    # For your own agents and chains.

    def as_tool(self, *, name: str = "", about: str = "", context: AskContext | None = None) -> BaseTool:
        """Return a LangChain tool that answers from this knowledge base; see `banyan.as_tool`."""
        return as_tool(self.name, name=name, about=about, context=context, resources=self.resources)

    def as_tools(self) -> list[BaseTool]:
        """Return the five lookups as LangChain tools, for agents that plan themselves.

        They are what the retrieval graph's nodes call: `entity_search` (a card), `triple_search` (rows of a relation
        or attribute), `dfs_search` (chains of facts), `community_search` (reports) and `passage_search`. Content:
        lines with the documents that support them; artifact: a list of `Block`.
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


def _context_of(context: AskContext | None, mode: Mode, instructions: str, documents: Sequence[str] | str,
                where: Where) -> AskContext:
    """Return the context of a question, limited to these documents where any are given."""
    return _limit(context or AskContext(mode=mode, instructions=instructions), documents, where)


def _limit(context: AskContext, documents: Sequence[str] | str, where: Where) -> AskContext:
    """Return a context whose scope is these documents, where any are given."""
    scope = Scope.of(documents, where)
    return context if scope.is_everything else replace(context, documents=scope.documents, where=dict(scope.where))


__all__ = ["Answer", "Community", "Entity", "Fact", "KnowledgeBase", "Progress", "Source", "Step"]
