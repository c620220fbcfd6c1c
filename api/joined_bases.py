"""Questions, searches and SQL in Python, over one knowledge base or over several that are read as one."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial, wraps
from typing import Any, Concatenate, ParamSpec, Self, TypedDict, TypeVar, Unpack, cast

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StreamMode

from ..agents.resources import Resources
from ..agents.retrieval.graph import build_graph as retrieval_graph
from ..agents.retrieval.state import AskContext, AskInput, AskOutput, AskState
from ..graph_store.layout import check_names, split_names
from ..runtime.threads import iterate, run
from ..schemas.documents import Scope
from ..schemas.records import TableInfo
from ..schemas.retrieval import Mode
from ..subagent.tool import BanyanRetriever, RetrievedPassage, Subagent, as_subagent, as_tool, search
from ..tools.langchain_tools import lookup_tools
from .base_contents import Where
from .python_results import MOST_ROWS, SQL_SECONDS, Answer, SqlRows, Step, answer_of

STREAMED: list[StreamMode] = ["custom", "values"]  # a graph's events and its states
_P = ParamSpec("_P")
_S = TypeVar("_S")
_T = TypeVar("_T")
_OUTPUT = sorted(AskOutput.__annotations__.keys() - {"messages"})  # the keys of the state to return


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


def in_thread_version(method: Callable[Concatenate[_S, _P], _T],
                      ) -> Callable[Concatenate[_S, _P], Coroutine[Any, Any, _T]]:
    """Return the async version of a method, which calls it in a thread."""
    @wraps(method)
    async def call(self: _S, /, *arguments: _P.args, **named: _P.kwargs) -> _T:
        return await asyncio.to_thread(method, self, *arguments, **named)

    return call


class JoinedBases:
    """One knowledge base, or several that are read as one (`banyan.open(["papers", "notes"])`).

    Of several, a document is called BASE/DOCUMENT and a table BASE.TABLE; entities of one name are never merged.
    """

    def __init__(self, name: str, resources: Resources, *, owned: bool = False) -> None:
        """Set the name, or names with commas between; nothing is opened yet. `owned`: `close` closes the resources."""
        self.name, self.resources, self._owned = check_names(name), resources, owned

    def __repr__(self) -> str:
        names = split_names(self.name)
        return f"banyan.open({names if len(names) > 1 else self.name!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the resources that were opened for this alone; the process's shared ones stay open."""
        if self._owned:
            self.resources.close()

    def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """Answer a question from the documents, or report that they do not answer it; `AskOptions` has the options.

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
        async for kind, event in self._retrieval.astream(**arguments, stream_mode=STREAMED):
            if kind == "custom":
                yield Step(step=event["step"], found=tuple(event["found"]))
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
        """Return the arguments of a run of the retrieval graph, with the trace that `Answer` has switched on."""
        context = _with_scope(context or AskContext(mode=mode, instructions=instructions), documents, where)
        earlier = [message for asked, answered in history for message in (HumanMessage(asked), AIMessage(answered))]
        ask_input: AskInput = {"knowledge_base": self.name, "messages": [*earlier, HumanMessage(question)]}
        return {"input": ask_input, "output_keys": _OUTPUT, "context": replace(context, trace=True)}

    def _answer(self, output: Any, arguments: dict[str, Any]) -> Answer:
        """Return the graph's output as an answer, with facts from the documents that the question was limited to."""
        context = cast("AskContext", arguments["context"])
        snapshots = self.resources.snapshots_of(self.name, Scope.of(context.documents, context.where))
        return answer_of(snapshots, cast("AskOutput", output))

    def search(self, query: str, k: int = 5, *, documents: Sequence[str] | str = (), where: Where = None,
               context: AskContext | None = None) -> list[RetrievedPassage]:
        """Return the `k` most relevant passages for a question or keywords, best first, without calling a model.

        `documents` and `where` limit the search as in `ask`; of `context`, only the switches have an effect.
        """
        context = _with_scope(context or AskContext(), documents, where)
        return search(self.resources, self.name, query, k, context)

    asearch = in_thread_version(search)

    def tables(self, *, documents: Sequence[str] | str = (), where: Where = None) -> tuple[TableInfo, ...]:
        """Return the tables that `sql` reads: those of the documents' records, `documents`, then those of the graph."""
        with self.resources.tables_of(self.name, Scope.of(documents, where)) as engine:
            return engine.tables()

    atables = in_thread_version(tables)

    def sql(self, query: str, *, documents: Sequence[str] | str = (), where: Where = None, limit: int = MOST_ROWS,
            seconds: float = SQL_SECONDS) -> SqlRows:
        """Run one SELECT in DuckDB's SQL over what `tables` lists, and return its rows with their sources.

        `documents` and `where` limit the rows that are read as in `ask`, `limit` those that are returned (`total`
        counts all), and `seconds` the time.

        Raises:
            SqlError: the query is not one SELECT over known tables and columns, or took too long.
        """
        with self.resources.tables_of(self.name, Scope.of(documents, where)) as engine:
            return SqlRows(**vars(engine.run(query, most_rows=limit, seconds=seconds)))

    asql = in_thread_version(sql)

    def as_tool(self, *, name: str = "", about: str = "", context: AskContext | None = None) -> BaseTool:
        """Return a LangChain tool that answers from this knowledge base; see `banyan.as_tool`."""
        return as_tool(self.name, name=name, about=about, context=context, resources=self.resources)

    def as_tools(self) -> list[BaseTool]:
        """Return the six lookups that the retrieval graph makes as LangChain tools, for agents that plan themselves.

        A tool's content is lines of text, each with the documents that support it; its artifact is a list of `Block`.
        """
        return lookup_tools(lambda: self.resources.retrievers(self.name))

    def as_subagent(self, *, name: str = "", about: str = "", context: AskContext | None = None) -> Subagent:
        """Return a subagent for deepagents, supervisors and your own graphs; see `banyan.as_subagent`."""
        return as_subagent(self.name, name=name, about=about, context=context, resources=self.resources)

    def as_retriever(self, *, k: int = 4, documents: Sequence[str] | str = (), where: Where = None) -> BanyanRetriever:
        """Return a LangChain retriever of its passages, or of some documents'; see `banyan.BanyanRetriever`."""
        return BanyanRetriever(kb=self.name, k=k, documents=Scope.of(documents).documents,
                               where=dict(where or {}), resources=self.resources)


def _with_scope(context: AskContext, documents: Sequence[str] | str, where: Where) -> AskContext:
    """Return a context limited to these documents; without any, it keeps its own limits."""
    scope = Scope.of(documents, where)
    return context if scope.is_everything else replace(context, documents=scope.documents, where=dict(scope.where))
