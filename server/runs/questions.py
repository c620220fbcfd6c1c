"""Answering: runs of the retrieval graph for clients, single questions or turns of stored conversations."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Annotated, Any, Literal, NamedTuple, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from fastapi import Request
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, convert_to_messages
from pydantic import AfterValidator, Field, ValidationError

from ...agents.resources import Resources
from ...agents.retrieval.graph import build_graph
from ...agents.retrieval.state import MAX_QUESTION, TOOL_NAMES, AskContext, QuestionError, ToolName
from ...graph_store.ledger.notes import MOST_INSTRUCTIONS
from ...schemas.documents import DocumentNames, MetadataValues, Scope
from ...schemas.retrieval import Mode
from ..metrics import QUESTIONS
from ..responses import Body, UnavailableError
from .conversations import THREAD_NAME, AskAnswer, Conversations, Thread
from .turns import Turns, check_connected, time_limit

MAX_MESSAGES = 200  # the most messages in a request
MOST_WAITING = 500  # the most questions that may wait for a turn; further ones are refused for now
_MOST_BUFFERED = 2_000  # most events to buffer for a slow client; a question has a few hundred (retrieval/state.py)
_RULES_AT_ONCE = 2  # questions that the rules answer at once: each needs a core
_RULES_SECONDS, _LLM_SECONDS = 60.0, 300.0  # the time limit of a question, from its arrival
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_PIECE = re.compile(rf"\s*(?:[{_CJK}]|[^\s{_CJK}]+)|\s+")  # a word, or a letter of CJK, with the space before it
_ANSWER_FIELDS = tuple(name for name in AskAnswer.model_fields if name not in {"rows", "trace", "turn"})


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


def _as_messages(given: list[Any]) -> list[BaseMessage]:
    """Convert messages in any of LangChain's or OpenAI's forms, such as {"role", "content"} or [role, text]."""
    try:
        return convert_to_messages(given)
    except (NotImplementedError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a list of messages: {error}") from error


Messages = Annotated[list[Any], AfterValidator(_as_messages), Field(
    min_length=1, max_length=MAX_MESSAGES, description="the conversation; its last message is the question, and those "
    "of the system say how to word the answer")]


def question_in(messages: Sequence[BaseMessage], **options: Any) -> tuple[Sequence[AnyMessage], QuestionRequest]:
    """Return the texts of user and model before the last message, and that as a question, or raise QuestionError."""
    *before, last = messages
    earlier: list[AnyMessage] = [type(message)(message.text) for message in before
                                 if isinstance(message, HumanMessage | AIMessage)]
    if not isinstance(last, HumanMessage):
        raise QuestionError("the last message is not the user's: end the conversation with the question")
    for part in last.content:  # dicts, or the letters of a text
        if isinstance(part, dict) and part.get("type") != "text":
            raise QuestionError(f"the last message has a part of the type {part.get('type')!r}, and only text is read: "
                                "ask in words")
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
        # With a model, questions mostly wait for its endpoint, so as many run as may call it.
        at_once = settings.asks_at_once or (settings.llm_concurrency if settings.uses_llm else _RULES_AT_ONCE)
        self._turns = Turns(at_once, max(1, at_once - 1))  # one client may use all slots but one

    @asynccontextmanager
    async def turn(self, client: str, request: Request | None = None) -> AsyncIterator[None]:
        """Wait for a slot, and hold it within the block, which computes a question or a table, up to the deadline.

        `request` is one whose body is read already: if its client has left meanwhile, the block does not begin.
        """
        settings = self._resources.settings
        most_seconds = settings.ask_seconds or (_LLM_SECONDS if settings.uses_llm else _RULES_SECONDS)
        async with time_limit(most_seconds, f"the question was not answered within {most_seconds:g} s "
                                            "(BANYAN_ASK_SECONDS): ask a simpler one, or ask again when the server is "
                                            "less busy"), self._turns.take(client):
            if request is not None:
                await check_connected(request)
            with QUESTIONS.track_inprogress():
                yield

    @asynccontextmanager
    async def answering(self, client: str, kb: str, question: QuestionRequest, earlier: Sequence[AnyMessage] = (),
                        ) -> AsyncIterator[AsyncIterator[Event]]:
        """Answer a question in the background, and give the block its events; leaving the block ends the run.

        A `claim` is a line of the answer whose citations were checked, sent while the model still writes. Its text
        follows at once in pieces, as `token`s. `withdrawn`, which is rare, takes back all claims and tokens so far, and
        the pieces begin anew. The last event is `answer`. With a thread, the turn is stored as soon as it is answered;
        without one, the conversation so far is given as `earlier`. UnavailableError is raised at once if too many
        questions wait, and other errors while reading.
        """
        if self._turns.waiting >= MOST_WAITING:
            raise UnavailableError("too many questions are waiting; ask again later")
        send, receive = anyio.create_memory_object_stream[Event](_MOST_BUFFERED)

        async def answer() -> None:
            with send:
                async with self.turn(client), aclosing(self._answer(client, kb, question, earlier)) as events:
                    async for event in events:
                        send.send_nowait(event)

        # Events are buffered, so the answering goes on while its client reads slowly.
        task = asyncio.create_task(answer())
        # `_events_of` raises its exception to a reader. If nobody reads, asking for it keeps asyncio from logging it.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            with receive:
                yield _events_of(task, receive)
        finally:
            task.cancel()

    async def _answer(self, client: str, kb: str, question: QuestionRequest, earlier: Sequence[AnyMessage],
                      ) -> AsyncGenerator[Event]:
        """Yield the events of a question; with a thread, its earlier turns are read, and the new one is stored."""
        thread = None if question.thread is None else Thread(client, kb, question.thread)
        if thread is not None:
            earlier = await asyncio.to_thread(self._conversations.messages, thread)
        async for event in self._run_steps(kb, question, earlier):
            # The turn is stored before the client has the answer, since the client may then ask a follow-up at once.
            if thread is not None and event.event == "answer":
                event.data["turn"] = await asyncio.to_thread(
                    self._conversations.add, thread, question.question, event.data,
                    Scope.of(question.documents, question.where), follows=bool(earlier))
            yield event

    async def _run_steps(self, kb: str, question: QuestionRequest, earlier: Sequence[AnyMessage],
                         ) -> AsyncGenerator[Event]:
        """Run the retrieval graph, and yield its events, then the pieces of the answer that no claim has sent yet."""
        context = AskContext(**question.model_dump(exclude={"question", "thread"}))  # options of the same names
        graph_input: Any = {"knowledge_base": kb, "messages": [*earlier, HumanMessage(question.question)]}
        wanted = [*_ANSWER_FIELDS, "structured_response", *(["trace"] if question.trace else [])]
        answer: dict[str, Any] = {}
        sent = ""  # the text of the answer that the client has so far
        async for kind, streamed in self._graph.astream(
                graph_input, context=context, stream_mode=["custom", "values"], output_keys=wanted):
            update = cast("dict[str, Any]", streamed)
            if kind == "values":
                answer = update  # the output so far; the last one is complete
            elif update["step"] == "claim":
                (line,) = update["found"]
                yield Event("claim", {"text": line, "citations": update["citations"]})
                new_text = f"\n{line}" if sent else line
                for token in _token_events(new_text):
                    yield token
                sent += new_text
            elif update["step"] == "withdrawn":
                yield Event("withdrawn", {})
                sent = ""
            else:
                yield Event("step", update)
        answer["rows"] = answer.pop("structured_response")["rows"]
        if not answer["answer"].startswith(sent):  # a document was changed or deleted, so a claim no longer holds
            yield Event("withdrawn", {})
            sent = ""
        for token in _token_events(answer["answer"][len(sent):]):
            yield token
        yield Event("answer", answer)


async def _events_of(task: asyncio.Task[None], events: MemoryObjectReceiveStream[Event]) -> AsyncIterator[Event]:
    """Yield the events of a task as they come; if an exception ended the task, raise it after the last event."""
    async for event in events:
        yield event
    await task


def _token_events(text: str) -> Iterator[Event]:
    return (Event("token", {"text": piece}) for piece in _PIECE.findall(text))
