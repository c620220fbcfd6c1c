"""Questions and conversations."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Literal

import anyio
from fastapi import APIRouter, Path, Query, Request, Response
from langchain_core.messages import AIMessage, HumanMessage
from sse_starlette import EventSourceResponse, ServerSentEvent

from ..answers import AskAnswer, Conversation, Message
from ..errors import NotFoundError, UnavailableError, error_told
from ..parameters import KbName, errors
from ..runs.questions import Question
from ..runs.threads import THREAD_NAME, Thread
from ..security.access import Asking
from ..service import Service, Serving
from ..streaming import event, event_stream

router = APIRouter(prefix="/api", tags=["questions"])
_GONE = "the client disconnected, or the server stopped, before the question was answered"

ThreadName = Annotated[str, Path(pattern=THREAD_NAME)]
KnowledgeBaseName = Annotated[str, Query(alias="kb", max_length=100, description="the knowledge base asked")]


@router.post("/knowledge-bases/{kb}/ask", responses=errors(404, 409, 413), response_model_exclude_unset=True)
async def ask(kb: KbName, question: Question, request: Request, service: Serving, client: Asking) -> AskAnswer:
    """Answer a question from a knowledge base, with citations, or abstain."""
    async with service.questions.answering(client, kb, question) as events:
        async for item in events:
            if item.event == "answer":
                return AskAnswer(**item.data)
            if await request.is_disconnected():
                break
    raise UnavailableError(_GONE)


@router.post("/knowledge-bases/{kb}/ask/stream", responses=errors(404, 409, 413), response_class=EventSourceResponse)
async def ask_stream(kb: KbName, question: Question, request: Request, service: Serving, client: Asking,
                     ) -> EventSourceResponse:
    """The same as events: `step`, then `token` with pieces of the checked answer, then `answer`; or `error`."""
    stopping = anyio.Event()
    return event_stream(_events(kb, question, request, service, client, stopping), stopping)


async def _events(kb: str, question: Question, request: Request, service: Service, client: str,
                  stopping: anyio.Event) -> AsyncIterator[ServerSentEvent]:
    failure: Exception = UnavailableError(_GONE)
    try:
        async with service.questions.answering(client, kb, question) as events:
            ending = asyncio.create_task(_stop(stopping, events.stop))
            try:
                async for item in events:
                    yield event(item.event, item.data)
                    if item.event == "answer":
                        return
            finally:
                ending.cancel()
    except Exception as error:  # noqa: BLE001  (the response has started: its error is an event)
        failure = error
    yield event("error", error_told(failure, request).model_dump())


async def _stop(stopping: anyio.Event, stop: Callable[[], None]) -> None:
    await stopping.wait()
    stop()


@router.get("/threads/{thread}", responses=errors(404))
def show_thread(thread: ThreadName, kb: KnowledgeBaseName, service: Serving, client: Asking) -> Conversation:
    """A conversation, oldest turn first."""
    messages = service.threads.messages(Thread(client, kb, thread))
    if not messages:
        raise NotFoundError(f"there is no thread {thread!r} about {kb!r}")
    roles: dict[type, Literal["user", "assistant"]] = {HumanMessage: "user", AIMessage: "assistant"}
    return Conversation(messages=[Message(role=roles[type(message)], content=message.text) for message in messages
                                  if type(message) in roles])


@router.delete("/threads/{thread}", status_code=204, responses=errors(404, 409), response_class=Response)
def forget_thread(thread: ThreadName, kb: KnowledgeBaseName, service: Serving, client: Asking) -> None:
    """Forget a conversation."""
    show_thread(thread, kb, service, client)
    service.threads.delete(Thread(client, kb, thread))
