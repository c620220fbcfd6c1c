"""Questions, answered in one response or as a stream, and the conversations that they belong to."""

from collections.abc import AsyncIterator
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from ...graph_store.layout import knowledge_bases, split_names
from ..responses import (
    Body,
    Items,
    KbNames,
    NotFoundError,
    UnavailableError,
    errors,
    event,
    event_stream,
    log_and_describe,
)
from ..runs.conversations import (
    THREAD_NAME,
    AskAnswer,
    ConversationItem,
    ConversationTurn,
    SharedConversation,
    Thread,
    no_link,
)
from ..runs.questions import NOT_ANSWERED, QuestionRequest
from ..runs.turns import FairRoute
from ..security.clients import Asking, Seeing
from ..service import Service, Serving

router = APIRouter(prefix="/api", tags=["questions"], route_class=FairRoute)
_MOST_TITLE = 200

ThreadName = Annotated[str, Path(pattern=THREAD_NAME)]
KnowledgeBaseName = Annotated[str, Query(alias="kb", max_length=400, description="the knowledge base asked, or those")]


class Message(BaseModel):
    """A turn of a conversation."""

    role: Literal["user", "assistant"]
    content: str


class StoredConversation(BaseModel):
    """A conversation, oldest turn first."""

    title: str = ""
    link: str | None = Field(default=None, description="the part of its link that identifies it; none: not shared")
    messages: list[Message]
    turns: list[ConversationTurn] = Field(default=[], description="with citations and trace, if requested")


@router.post("/knowledge-bases/{kb}/ask", responses=errors(404, 409, 413, 504), response_model_exclude_unset=True)
async def ask(kb: KbNames, question: QuestionRequest, request: Request, service: Serving, client: Asking) -> AskAnswer:
    """Answer a question from one or more knowledge bases, with citations, or abstain."""
    async with service.questions.answering(client, kb, question) as events:
        async for item in events:
            if item.event == "answer":
                return AskAnswer(**item.data)
            if await request.is_disconnected():
                break
    raise UnavailableError(NOT_ANSWERED)


@router.post("/knowledge-bases/{kb}/ask/stream", responses=errors(404, 409, 413, 504),
             response_class=EventSourceResponse)
async def ask_stream(kb: KbNames, question: QuestionRequest, request: Request, service: Serving, client: Asking,
                     ) -> EventSourceResponse:
    """Stream an answer as events: `step`, `claim`, `token`, `withdrawn`, then `answer`; or `error`.

    A `claim` is a line of the answer whose citations were checked, while the model still writes; `token`s are the
    pieces of the checked answer. `withdrawn` takes back all claims and tokens before it.
    """
    return event_stream(_events(kb, question, request, service, client), service.questions.stop)


async def _events(kb: str, question: QuestionRequest, request: Request, service: Service, client: str,
                  ) -> AsyncIterator[ServerSentEvent]:
    failure: Exception = UnavailableError(NOT_ANSWERED)
    try:
        async with service.questions.answering(client, kb, question) as events:
            async for item in events:
                yield event(item.event, item.data)
                if item.event == "answer":
                    return
    except Exception as error:  # noqa: BLE001  (the response has started: its error is an event)
        failure = error
    yield event("error", log_and_describe(failure, request).model_dump())


class Change(Body):
    """Changes of a conversation; omitted fields stay the same."""

    title: str | None = Field(default=None, min_length=1, max_length=_MOST_TITLE)
    shared: bool | None = Field(default=None, description="whether it can be read by its link")


class Rating(Body):
    """A person's rating of an answer."""

    rating: Literal[-1, 0, 1] = Field(description="1: good, -1: bad, 0: no rating")


@router.get("/threads", responses=errors())
def list_threads(kb: KnowledgeBaseName, service: Serving, client: Asking) -> Items[ConversationItem]:
    """List the conversations about a knowledge base, most recently used first."""
    return Items(items=service.conversations.all(client, kb))


@router.get("/threads/{thread}", responses=errors(404))
def show_thread(thread: ThreadName, kb: KnowledgeBaseName, service: Serving, client: Asking) -> StoredConversation:
    """Show a conversation, oldest turn first."""
    key = Thread(client, kb, thread)
    turns = service.conversations.turns(key)
    if not turns:
        raise NotFoundError(f"there is no thread {thread!r} about {kb!r}: `GET /api/threads` lists them")
    messages: list[Message] = []
    for turn in turns:
        messages += [Message(role="user", content=turn.question), Message(role="assistant", content=turn.answer.answer)]
    entry = service.conversations.entry(key)
    return StoredConversation(messages=messages, turns=turns, title=entry.title, link=entry.link)


@router.patch("/threads/{thread}", responses=errors(404))
def change_thread(thread: ThreadName, kb: KnowledgeBaseName, change: Change, service: Serving, client: Asking,
                  ) -> ConversationItem:
    """Rename a conversation, share it through a link, or stop sharing it."""
    key = Thread(client, kb, thread)
    if change.title is not None:
        service.conversations.rename(key, change.title.strip() or change.title)  # a title of spaces stays as it is
    if change.shared is not None:
        service.conversations.share(key, shared=change.shared)
    return service.conversations.entry(key)


@router.put("/threads/{thread}/turns/{number}/rating", responses=errors(404))
def rate_turn(thread: ThreadName, number: Annotated[int, Path(ge=1, le=2**31)], kb: KnowledgeBaseName, rating: Rating,
              service: Serving, client: Asking) -> Rating:
    """Rate an answer."""
    service.conversations.rate(Thread(client, kb, thread), number, rating.rating)
    return rating


@router.delete("/threads/{thread}", status_code=204, responses=errors(404), response_class=Response)
def forget_thread(thread: ThreadName, kb: KnowledgeBaseName, service: Serving, client: Asking) -> None:
    """Delete a conversation."""
    show_thread(thread, kb, service, client)  # raises NotFoundError if there is none
    service.conversations.delete(Thread(client, kb, thread))


@router.get("/shared/{link}", responses=errors(404))
def show_shared(link: Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{16,64}$")], service: Serving,
                bases: Seeing, _: Asking) -> SharedConversation:
    """Show a shared conversation to a client that has its link and may ask its knowledge base."""
    conversation = service.conversations.by_link(link)
    # Conversations about a knowledge base that a command has dropped may remain until a server starts.
    bases_exist = set(split_names(conversation.kb)).issubset(knowledge_bases(service.resources.settings))
    if not bases.covers(conversation.kb) or not bases_exist:
        raise no_link()
    return conversation
