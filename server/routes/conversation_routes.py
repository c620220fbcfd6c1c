"""Conversations: list them, show them with their sources, rename, rate, share and delete them."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from ...graph_store.layout import Layout
from ..error_responses import NotFoundError
from ..parameters import errors
from ..responses import Conversation, ConversationItem, Items, Message, SharedConversation
from ..runs.conversations import THREAD_NAME, Thread, no_link
from ..security.access import Asking, Seeing
from ..service import Serving

router = APIRouter(prefix="/api", tags=["questions"])
_MOST_TITLE = 200

ThreadName = Annotated[str, Path(pattern=THREAD_NAME)]
KnowledgeBaseName = Annotated[str, Query(alias="kb", max_length=100, description="the knowledge base asked")]


class Change(BaseModel):
    """Changes of a conversation; omitted fields stay the same."""

    model_config = ConfigDict(extra="forbid")

    title: str | None = Field(default=None, min_length=1, max_length=_MOST_TITLE)
    shared: bool | None = Field(default=None, description="whether it can be read by its link")


class Rating(BaseModel):
    """A person's rating of an answer."""

    model_config = ConfigDict(extra="forbid")

    rating: Literal[-1, 0, 1] = Field(description="1: good, -1: bad, 0: no rating")


@router.get("/threads", responses=errors())
def list_threads(kb: KnowledgeBaseName, service: Serving, client: Asking) -> Items[ConversationItem]:
    """List the conversations about a knowledge base, most recently used first."""
    return Items(items=service.conversations.all(client, kb))


@router.get("/threads/{thread}", responses=errors(404))
def show_thread(thread: ThreadName, kb: KnowledgeBaseName, service: Serving, client: Asking) -> Conversation:
    """Show a conversation, oldest turn first."""
    one = Thread(client, kb, thread)
    turns = service.conversations.turns(one)
    if not turns:
        raise NotFoundError(f"there is no thread {thread!r} about {kb!r}")
    said = [message for turn in turns for message in (Message(role="user", content=turn.question),
                                                      Message(role="assistant", content=turn.answer.answer))]
    entry = service.conversations.entry(one)
    return Conversation(messages=said, turns=turns, title=entry.title, link=entry.link)


@router.patch("/threads/{thread}", responses=errors(404))
def change_thread(thread: ThreadName, kb: KnowledgeBaseName, change: Change, service: Serving, client: Asking,
                  ) -> ConversationItem:
    """Rename a conversation, share it through a link, or stop sharing it."""
    one = Thread(client, kb, thread)
    if change.title is not None:
        service.conversations.rename(one, change.title.strip() or change.title)
    if change.shared is not None:
        service.conversations.share(one, shared=change.shared)
    return service.conversations.entry(one)


@router.put("/threads/{thread}/turns/{number}/rating", responses=errors(404))
def rate_turn(thread: ThreadName, number: Annotated[int, Path(ge=1, le=2**31)], kb: KnowledgeBaseName, rating: Rating,
              service: Serving, client: Asking) -> Rating:
    """Rate an answer."""
    service.conversations.rate(Thread(client, kb, thread), number, rating.rating)
    return rating


@router.delete("/threads/{thread}", status_code=204, responses=errors(404, 409), response_class=Response)
def forget_thread(thread: ThreadName, kb: KnowledgeBaseName, service: Serving, client: Asking) -> None:
    """Delete a conversation."""
    show_thread(thread, kb, service, client)
    service.conversations.delete(Thread(client, kb, thread))


@router.get("/shared/{link}", responses=errors(404))
def show_shared(link: Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{16,64}$")], service: Serving,
                bases: Seeing, _: Asking) -> SharedConversation:
    """Show a shared conversation to a client that has its link and may ask its knowledge base."""
    found = service.conversations.by_link(link)
    # If a command drops a knowledge base, its conversations remain until a server starts.
    if not bases.hold(found.kb) or not Layout.by(service.resources.settings, found.kb).exists():
        raise no_link()
    return found
