"""Answering: runs of the retrieval graph for clients, single questions or turns of stored conversations."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext
from typing import Any, Literal, NamedTuple, cast

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream
from cachetools import LRUCache
from langchain_core.messages import AnyMessage, HumanMessage
from pydantic import Field, ValidationError

from ...agents.resources import Resources
from ...agents.retrieval.graph import build_graph
from ...agents.retrieval.state import MAX_QUESTION, TOOL_NAMES, AskContext, QuestionError, ToolName
from ...graph_store.ledger.notes import MOST_INSTRUCTIONS
from ...runtime.budgets import charge
from ...schemas.documents import DocumentNames, MetadataValues, Scope
from ...schemas.retrieval import Mode
from ..error_responses import DeadlineError, UnavailableError
from ..metrics import QUESTIONS
from ..responses import AskAnswer, Body
from ..security.gate import LOCAL
from .conversations import THREAD_NAME, Conversations, Thread

GONE = "the client disconnected, or the server stopped, before the question was answered"
WITHDRAWN = "\n\n(The text above is withdrawn; the answer follows.)\n\n"
"""For streams of text, in which nothing can be replaced."""
MOST_WAITING = 500
"""The most questions that may wait for a thread; further ones are refused for now."""
_KEPT = 2_000
"""Most events to buffer for a slow client. A question has a few hundred at most (retrieval/caps.py)."""
_RULES_AT_ONCE = 2
_RULES_SECONDS, _LLM_SECONDS = 60.0, 300.0
"""The time limit of a question, from its arrival."""
_CLIENTS = 10_000
"""Clients whose shares are cached."""
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_PIECE = re.compile(rf"\s*(?:[{_CJK}]|[^\s{_CJK}]+)|\s+")
"""A word, or a letter of a script without spaces, with the preceding space."""
_ANSWER = tuple(name for name in AskAnswer.model_fields if name not in {"rows", "trace", "turn"})


class QuestionRequest(Body):
    """A question, and the options for its answer."""

    question: str = Field(min_length=1, max_length=MAX_QUESTION)
    mode: Mode = Field(default="reject", description="strict: no inferred answers; open: own knowledge allowed, "
                                                     "and marked")
    agent: bool = Field(default=True, description="judge what was found, and look further")
    decompose: bool = Field(default=True, description="let the model choose the first lookups")
    routes: list[ToolName] = Field(default=list(TOOL_NAMES), max_length=len(TOOL_NAMES), description="lookups to use")
    instructions: str = Field(default="", max_length=MOST_INSTRUCTIONS, description="how a model is to word the "
                              "answer: tone, length, format, language")
    documents: DocumentNames = Field(default=[])
    where: MetadataValues = Field(default={})
    trace: bool = Field(default=False, description="include every step in the answer")
    thread: str | None = Field(default=None, pattern=THREAD_NAME, description="store the conversation under this name, "
                                                                                "so follow-ups refer to it")


def question_in(messages: Sequence[AnyMessage], **options: Any) -> tuple[Sequence[AnyMessage], QuestionRequest]:
    """Return the conversation before the question, and the question, which is the last message.

    Args:
        messages: at least one message.
        options: the other fields of the question.

    Raises:
        QuestionError: there is no question, or a field is not allowed.
    """
    *earlier, last = messages
    if not isinstance(last, HumanMessage):
        raise QuestionError("the last message is not the user's: end the conversation with the question")
    if not last.text.strip():
        raise QuestionError("the question is empty: ask something")
    try:
        return earlier, QuestionRequest(question=last.text, **options)
    except ValidationError as error:
        first = error.errors()[0]
        raise QuestionError(f"the {'.'.join(map(str, first['loc']))} is not allowed: {first['msg']}") from error


class Event(NamedTuple):
    """An event for the client while a question is being answered."""

    event: Literal["step", "claim", "withdrawn", "token", "answer"]
    data: dict[str, Any]


class Questions:
    """Answers questions, as many in parallel as the settings allow."""

    def __init__(self, resources: Resources, conversations: Conversations) -> None:
        self._resources = resources
        self._conversations = conversations
        self._graph = build_graph(resources)
        settings = resources.settings
        # The rules need a core; a model's threads mostly wait for its endpoint.
        at_once = settings.asks_at_once or (settings.llm_concurrency if settings.uses_llm else _RULES_AT_ONCE)
        self._limiter = anyio.CapacityLimiter(at_once)
        # Always leave one slot to other clients; without keys, there are no other clients.
        self._most = max(1, at_once - 1)
        self._shares: LRUCache[str, anyio.CapacityLimiter] = LRUCache(_CLIENTS)
        self._answering = set[asyncio.Task[None]]()

    def stop(self) -> None:
        """Stop answering, because the server stops."""
        for task in self._answering:
            task.cancel()

    @property
    def _seconds(self) -> float:
        settings = self._resources.settings
        return settings.ask_seconds or (_LLM_SECONDS if settings.uses_llm else _RULES_SECONDS)

    def _share(self, client: str) -> AbstractAsyncContextManager[None]:
        """Return the client's share of the slots, to be entered before waiting for a slot."""
        if client == LOCAL:
            return nullcontext()
        return self._shares.setdefault(client, anyio.CapacityLimiter(self._most))

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[None]:
        """Wait for a slot, in which a question of any interface is answered, and both within the time of one."""
        try:
            async with asyncio.timeout(self._seconds) as deadline, self._share(client), self._limiter:
                await anyio.to_thread.run_sync(charge().read_spending)
                with QUESTIONS.track_inprogress():
                    yield
        except TimeoutError:
            if deadline.expired():
                raise DeadlineError(self._seconds) from None
            raise

    @asynccontextmanager
    async def answering(self, client: str, kb: str, question: QuestionRequest, earlier: Sequence[AnyMessage] = (),
                        ) -> AsyncIterator[AsyncIterator[Event]]:
        """Follow the answering of a question: its steps, pieces of the checked answer, and the answer.

        A `claim` has a line of the answer whose citations were checked, while the model still writes; its `token`s
        follow at once. After `withdrawn`, which is rare, the pieces of the answer begin anew. Leaving the block ends
        the run.

        Args:
            client: the client that asks, and that owns the conversation.
            kb: the knowledge base.
            question: the question; with a thread, the turn is stored as soon as it is answered.
            earlier: the conversation so far, if there is no thread.

        Raises:
            UnavailableError: too many questions are waiting.
            DeadlineError: the time limit has passed; raised while reading.
            BanyanError: the question cannot be answered; raised while reading.
        """
        if self._limiter.statistics().tasks_waiting >= MOST_WAITING:
            raise UnavailableError("too many questions are waiting; ask again later")
        send, receive = anyio.create_memory_object_stream[Event](_KEPT)

        async def answer() -> None:
            with send:
                async with self.turn(client), aclosing(self._answer(client, kb, question, earlier)) as events:
                    async for event in events:
                        send.send_nowait(event)

        # Events are buffered, so the answering goes on while its client reads slowly.
        task = asyncio.create_task(answer())
        # Its exception is raised to the reader of its events; without a reader it is dropped.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._answering.add(task)
        try:
            with receive:
                yield _events_of(task, receive)
        finally:
            self._answering.remove(task)
            task.cancel()

    async def _answer(self, client: str, kb: str, question: QuestionRequest, earlier: Sequence[AnyMessage],
                      ) -> AsyncGenerator[Event]:
        thread = None if question.thread is None else Thread(client, kb, question.thread)
        if thread is not None:
            earlier = await asyncio.to_thread(self._conversations.messages, thread)
        async for event in self._steps(kb, question, earlier):
            if thread is not None and event.event == "answer":  # stored first: the client may ask a follow-up at once
                event.data["turn"] = await asyncio.to_thread(
                    self._conversations.add, thread, question.question, event.data,
                    Scope.of(question.documents, question.where), follows=bool(earlier))
            yield event

    async def _steps(self, kb: str, question: QuestionRequest, earlier: Sequence[AnyMessage]) -> AsyncGenerator[Event]:
        context = AskContext(mode=question.mode, instructions=question.instructions, agent=question.agent,
                             decompose=question.decompose, routes=tuple(question.routes), trace=question.trace,
                             documents=tuple(question.documents), where=question.where)
        given = {"knowledge_base": kb, "messages": [*earlier, HumanMessage(question.question)]}
        wanted = [*_ANSWER, "structured_response", *(["trace"] if question.trace else [])]
        answer: dict[str, Any] = {}
        shown = ""
        async for kind, streamed in self._graph.astream(
                cast("Any", given), context=context, stream_mode=["custom", "values"], output_keys=wanted):
            update = cast("dict[str, Any]", streamed)
            if kind == "values":
                answer = update
            elif update["step"] == "claim":
                line, = update["found"]
                yield Event("claim", {"text": line, "citations": update["citations"]})
                for piece in _tokens(f"\n{line}" if shown else line):
                    yield piece
                shown = f"{shown}\n{line}" if shown else line
            elif update["step"] == "withdrawn":
                yield Event("withdrawn", {})
                shown = ""
            else:
                yield Event("step", update)
        answer["rows"] = [row.model_dump() for row in answer.pop("structured_response").rows]
        if not answer["answer"].startswith(shown):  # a document was changed or deleted meanwhile
            yield Event("withdrawn", {})
            shown = ""
        for piece in _tokens(answer["answer"][len(shown):]):
            yield piece
        yield Event("answer", answer)


async def _events_of(task: asyncio.Task[None], events: MemoryObjectReceiveStream[Event]) -> AsyncIterator[Event]:
    """Yield the events as they come, then raise the exception that ended the task, if any."""
    async for event in events:
        yield event
    await asyncio.wait([task])
    if not task.cancelled():
        task.result()


def _tokens(text: str) -> Iterator[Event]:
    return (Event("token", {"text": piece}) for piece in _PIECE.findall(text))
