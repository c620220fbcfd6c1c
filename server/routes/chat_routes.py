"""Questions in one response or as a stream, the conversations that they belong to, and OpenAI's chat completions.

For OpenAI's clients and chat front ends, each knowledge base is a model: `GET /v1/models` lists those that the key
covers, `POST /v1/chat/completions` answers the last message.
"""

import json
import re
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlencode

import anyio.to_thread
from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi import Body as FromBody
from langchain_core.messages import SystemMessage
from pydantic import BaseModel, Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from ...agents.retrieval.cited_message import WITHDRAWN, find_marks, sources_text
from ...graph_store.layout import knowledge_bases, split_names
from ...graph_store.store_errors import UnknownKnowledgeBaseError
from ...schemas.documents import DocumentNames, MetadataValues
from ...schemas.retrieval import Mode
from ...subagent.tool import answer_text
from ...text.scripts import estimate_tokens
from .. import responses
from ..responses import Body, Items, KbName, KbNames, UnavailableError, event
from ..runs.conversations import THREAD_NAME, AskAnswer, ConversationItem, ConversationTurn, SharedConversation, Thread
from ..runs.questions import Event, Messages, QuestionRequest, question_in
from ..security.clients import AskingClient, VisibleBases, may
from ..security.keys import Bases
from ..service import Service, Serving

_MOST_TITLE = 200
_SOURCE_MARK = re.compile(r"^\[(\d+)\]", re.MULTILINE)  # of a line in the list of sources
router = APIRouter(prefix="/api", tags=["questions"])
openai_router = APIRouter(prefix="/v1", tags=["openai"])
ThreadName = Annotated[str, Path(pattern=THREAD_NAME)]
KnowledgeBaseName = Annotated[str, Query(alias="kb", max_length=400, description="the knowledge base asked, or those")]
Answering: TypeAlias = AbstractAsyncContextManager[AsyncIterator[Event]]
"""A question that is answered within the block, which gets the events (`Questions.answering`)."""


class CompletionRequest(BaseModel):
    """The question and its options; other fields of OpenAI's API, such as the temperature, have no effect."""

    model: str = Field(min_length=1, description="the knowledge base's name, or several with commas between")
    messages: Messages
    stream: bool = False
    stream_options: dict[str, Any] | None = Field(default=None, description="`include_usage` is read")
    mode: Mode = Field(default="reject", description="strict: no inferred answers; open: own knowledge allowed, "
                                                     "and marked")
    documents: DocumentNames = []
    where: MetadataValues = {}


class StoredConversation(BaseModel):
    """A conversation, oldest turn first."""

    title: str = ""
    link: str | None = Field(default=None, description="the part of its link that identifies it; none: not shared")
    messages: list[dict[str, str]] = Field(description="questions and answers, as {role, content}")
    turns: list[ConversationTurn] = Field(default=[], description="with citations and trace, if requested")


class Change(Body):
    """Changes of a conversation; omitted fields stay the same."""

    title: str | None = Field(default=None, min_length=1, max_length=_MOST_TITLE)
    shared: bool | None = Field(default=None, description="whether it can be read by its link")


Rating = Annotated[Literal[-1, 0, 1], FromBody(embed=True, description="1: good, -1: bad, 0: no rating")]


@openai_router.get("/models", dependencies=[may("ask")])
def list_models(service: Serving, bases: VisibleBases) -> dict[str, Any]:
    """List the knowledge bases that the key covers, as models."""
    seen = filter(bases.covers, knowledge_bases(service.resources.settings))
    return {"object": "list", "data": [_model_entry(name) for name in seen]}


@openai_router.get("/models/{knowledge_base}", dependencies=[may("ask")])
def show_model(knowledge_base: KbName, service: Serving, bases: VisibleBases) -> dict[str, Any]:
    """Return a knowledge base as a model."""
    _require_bases(knowledge_base, service, bases)
    return _model_entry(knowledge_base)


def _model_entry(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "banyan"}


def _require_bases(model: str, service: Service, bases: Bases) -> None:
    """Raise UnknownKnowledgeBaseError if a model, one or more bases, has one that the client does not see."""
    seen = list(filter(bases.covers, knowledge_bases(service.resources.settings)))
    for name in split_names(model):
        if name not in seen:
            raise UnknownKnowledgeBaseError(name, service.resources.settings.home, seen=seen)


@openai_router.post("/chat/completions", response_model=None)
async def complete(asked: CompletionRequest, request: Request, service: Serving, client: AskingClient,
                   bases: VisibleBases) -> dict[str, Any] | Response:
    """Answer the last message from a knowledge base, with citations, or abstain; in one response or as a stream."""
    await anyio.to_thread.run_sync(_require_bases, asked.model, service, bases)
    instructions = "\n".join(message.text for message in asked.messages[:-1] if isinstance(message, SystemMessage))
    earlier, question = question_in(asked.messages, mode=asked.mode, instructions=instructions,
                                    documents=asked.documents, where=asked.where)
    shared = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": asked.model}
    answering = service.questions.answering(client, asked.model, question, earlier)
    if asked.stream:
        return responses.event_stream(_stream_chunks(shared, asked, answering, request))
    answer = await _wait_for_answer(answering, request)
    text = answer_text(answer)
    message = {"role": "assistant", "content": text, "refusal": None, "grade": answer["grade"],
               "annotations": _make_annotations(asked.model, text, answer, request)}
    return {**shared, "object": "chat.completion", "usage": _estimate_usage(asked, text), "choices": [
        {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}]}


async def _wait_for_answer(answering: Answering, request: Request) -> dict[str, Any]:
    """Return the fields of an answer; raise UnavailableError if its client leaves before."""
    async with answering as events:
        async for item in events:
            if item.event == "answer":
                return item.data
            if await request.is_disconnected():
                break
    raise UnavailableError("the client disconnected before the question was answered")


def _make_annotations(kb: str, text: str, answer: dict[str, Any], request: Request) -> list[dict[str, Any]]:
    """Return an annotation of OpenAI's API for each mark `[n]` in an answer, whose link opens the quote in the page."""
    by_id = {cited["id"]: cited for cited in answer["citations"]}
    start = max(text.rfind(WITHDRAWN), 0)  # what precedes the last withdrawal is withdrawn
    # The text ends with the list of sources, in which a mark begins a line.
    sources_start = len(text) - len(sources_text(answer["answer"], answer["citations"]))
    annotations = []
    for mark in (*find_marks(text[:sources_start], start), *_SOURCE_MARK.finditer(text, sources_start)):
        cited = by_id.get(int(mark[1]))
        if cited is None:  # a number in brackets that is no mark
            continue
        place = {"kb": kb, "doc": cited["document"], "start": cited["start"], "end": cited["end"]}
        annotations.append({"type": "url_citation", "url_citation": {
            "start_index": mark.start(), "end_index": mark.end(), "title": cited["document"],
            "url": f"{request.base_url}#/ask?{urlencode(place)}", "quote": cited["quote"]}})
    return annotations


async def _stream_chunks(shared: dict[str, Any], asked: CompletionRequest, answering: Answering, request: Request,
                         ) -> AsyncIterator[ServerSentEvent]:
    """Yield an answer as the chunks of OpenAI's stream, which ends with `[DONE]`; an error becomes a chunk too."""
    # `shared` has the fields that all chunks have. The list of sources follows the answer's text.
    text, answer = "", dict[str, Any]()

    def chunk(value: dict[str, Any]) -> ServerSentEvent:
        return ServerSentEvent(json.dumps({**shared, "object": "chat.completion.chunk", **value}, ensure_ascii=False))

    def delta(fields: dict[str, Any], reason: str | None = None) -> ServerSentEvent:
        return chunk({"choices": [{"index": 0, "delta": fields, "finish_reason": reason, "logprobs": None}]})

    try:
        yield delta({"role": "assistant", "content": ""})
        async with answering as events:
            async for item in events:
                piece = ""  # of a step, or of a claim, whose text follows as tokens
                if item.event == "token":
                    piece = item.data["text"]
                elif item.event == "withdrawn":
                    piece = WITHDRAWN
                elif item.event == "answer":
                    answer = item.data
                    piece = sources_text(answer["answer"], answer["citations"])
                text += piece
                if piece:
                    yield delta({"content": piece})
        annotations = _make_annotations(asked.model, text, answer, request)
        yield delta({"grade": answer["grade"], **({"annotations": annotations} if annotations else {})}, "stop")
        if (asked.stream_options or {}).get("include_usage"):
            yield chunk({"choices": [], "usage": _estimate_usage(asked, text)})
    except Exception as error:  # noqa: BLE001  (the response has started, so the error is sent as a part of it)
        yield chunk({"error": responses.log_and_describe(error, request).model_dump()})
    yield ServerSentEvent("[DONE]")


def _estimate_usage(asked: CompletionRequest, text: str) -> dict[str, int]:
    prompt, completion = sum(estimate_tokens(message.text) for message in asked.messages), estimate_tokens(text)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


@router.post("/knowledge-bases/{kb}/ask", response_model_exclude_unset=True)
async def ask(kb: KbNames, question: QuestionRequest, request: Request, service: Serving,
              client: AskingClient) -> AskAnswer:
    """Answer a question from one or more knowledge bases, with citations, or abstain."""
    return AskAnswer(**await _wait_for_answer(service.questions.answering(client, kb, question), request))


@router.post("/knowledge-bases/{kb}/ask/stream", response_class=EventSourceResponse)
async def ask_stream(kb: KbNames, question: QuestionRequest, request: Request, service: Serving,
                     client: AskingClient) -> EventSourceResponse:
    """Stream an answer as events: `step`, `claim`, `token`, `withdrawn`, then `answer`; or `error`.

    A `claim` is a line of the answer whose citations were checked, while the model still writes; `token`s are the
    pieces of the checked answer. `withdrawn` takes back all claims and tokens before it.
    """
    async def stream() -> AsyncIterator[ServerSentEvent]:
        try:
            async with service.questions.answering(client, kb, question) as events:
                async for item in events:
                    yield event(item.event, item.data)
        except Exception as error:  # noqa: BLE001  (the response has started: its error is an event)
            yield event("error", responses.log_and_describe(error, request).model_dump())

    return responses.event_stream(stream())


def _own_thread(thread: ThreadName, kb: KnowledgeBaseName, client: AskingClient) -> Thread:
    return Thread(client, kb, thread)


OwnThread = Annotated[Thread, Depends(_own_thread)]  # a client reaches no other client's conversation


@router.get("/threads")
def list_threads(kb: KnowledgeBaseName, service: Serving, client: AskingClient) -> Items[ConversationItem]:
    """List the conversations about a knowledge base, most recently used first."""
    return Items(items=service.conversations.all(client, kb))


@router.get("/threads/{thread}")
def show_thread(thread: OwnThread, service: Serving) -> StoredConversation:
    """Show a conversation, oldest turn first."""
    entry, turns = service.conversations.entry(thread), service.conversations.turns(thread.key)
    messages = [{"role": role, "content": text} for turn in turns
                for role, text in (("user", turn.question), ("assistant", turn.answer.answer))]
    return StoredConversation(messages=messages, turns=turns, title=entry.title, link=entry.link)


@router.patch("/threads/{thread}")
def change_thread(thread: OwnThread, change: Change, service: Serving) -> ConversationItem:
    """Rename a conversation, share it through a link, or stop sharing it."""
    return service.conversations.change(thread, title=change.title, shared=change.shared)


@router.put("/threads/{thread}/turns/{number}/rating")
def rate_turn(thread: OwnThread, number: Annotated[int, Path(ge=1, le=2**31)], rating: Rating,
              service: Serving) -> dict[str, int]:
    """Rate an answer."""
    service.conversations.rate(thread, number, rating)
    return {"rating": rating}


@router.delete("/threads/{thread}", status_code=204)
def forget_thread(thread: OwnThread, service: Serving) -> None:
    """Delete a conversation."""
    service.conversations.entry(thread)  # raises NotFoundError if there is none
    service.conversations.delete(thread)


@router.get("/shared/{link}")
def show_shared(link: Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{16,64}$")], service: Serving,
                bases: VisibleBases, _: AskingClient) -> SharedConversation:
    """Show a shared conversation to a client that has its link and may ask its knowledge base."""
    return service.conversations.by_link(link, bases.covers)
