"""OpenAI's chat completions.

For OpenAI's clients and chat front ends, each knowledge base is a model: `GET /v1/models` lists those that the key
covers, `POST /v1/chat/completions` answers the last message.
"""

import json
import re
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

import anyio
import anyio.to_thread
from fastapi import APIRouter, Request, Response
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import ServerSentEvent

from ...agents.retrieval.cited_message import WITHDRAWN, sources_text
from ...agents.retrieval.shown_text import find_marks
from ...agents.retrieval.state import QuestionError
from ...graph_store.layout import knowledge_bases, split_names
from ...graph_store.store_errors import UnknownKnowledgeBaseError
from ...schemas.documents import DocumentNames, MetadataValues
from ...schemas.retrieval import Mode
from ...text.tokens import estimate_tokens
from ..responses import KbName, UnavailableError, errors, event_stream, log_and_describe
from ..runs.questions import NOT_ANSWERED, QuestionRequest, question_in
from ..runs.turns import FairRoute
from ..security.clients import Asking, Seeing, may
from ..security.keys import Bases
from ..service import Service, Serving

_T = TypeVar("_T")

MAX_MESSAGES = 200
"""The most messages in a request."""
router = APIRouter(prefix="/v1", tags=["openai"], route_class=FairRoute)
_SOURCE_MARK = re.compile(r"^\[(\d+)\]", re.MULTILINE)


class MessagePart(BaseModel):
    """A part of a message: its text, or what is not read, such as a picture."""

    model_config = ConfigDict(extra="ignore")

    type: str = Field(max_length=100)
    text: str = ""

    @property
    def is_text(self) -> bool:
        """Whether the part is text."""
        return self.type in {"text", "input_text", "output_text"}


class ChatMessage(BaseModel):
    """A message of the conversation; those of the system say how to word the answer."""

    model_config = ConfigDict(extra="ignore")

    role: str
    content: str | list[MessagePart] | None = None

    @property
    def text(self) -> str:
        """The message's text."""
        parts = self.content or ""
        return parts if isinstance(parts, str) else "\n".join(
            part.text if part.is_text else f"[{part.type}, which was not read]" for part in parts)


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: bool = False


class CompletionRequest(BaseModel):
    """The question and its options; other fields of OpenAI's API, such as the temperature, have no effect."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(min_length=1, description="the knowledge base's name, or several with commas "
                       "between")
    messages: list[ChatMessage] = Field(min_length=1, max_length=MAX_MESSAGES,
                                        description="the conversation; its last message is the question")
    stream: bool = False
    stream_options: StreamOptions | None = None
    mode: Mode = Field(default="reject", description="strict: no inferred answers; open: own knowledge allowed, "
                                                     "and marked")
    documents: DocumentNames = []
    where: MetadataValues = {}


class Completion(NamedTuple):
    """The fields that all parts of one answer share."""

    id: str
    created: int
    model: str

    def part(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Return an object of OpenAI's API with the shared fields and the given ones; `kind` is its type there."""
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model, **fields}


@router.get("/models", responses=errors(), dependencies=[may("ask")])
def list_models(service: Serving, bases: Seeing) -> dict[str, Any]:
    """List the knowledge bases that the key covers, as models."""
    names = [name for name in knowledge_bases(service.resources.settings) if bases.covers(name)]
    return {"object": "list", "data": [_model_entry(name) for name in names]}


@router.get("/models/{knowledge_base}", responses=errors(404), dependencies=[may("ask")])
def show_model(knowledge_base: KbName, service: Serving, bases: Seeing) -> dict[str, Any]:
    """Return a knowledge base as a model."""
    return _model_entry(_require_base(knowledge_base, service, bases))


def _require_base(model: str, service: Service, bases: Bases) -> str:
    names = [name for name in knowledge_bases(service.resources.settings) if bases.covers(name)]
    for name in split_names(model):
        if name not in names:
            raise UnknownKnowledgeBaseError(name, service.resources.settings.home, seen=names)
    return model


def _model_entry(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "banyan"}


@router.post("/chat/completions", responses=errors(404, 409, 413, 504), response_model=None)
async def complete(asked: CompletionRequest, request: Request, service: Serving, client: Asking, bases: Seeing,
                   ) -> dict[str, Any] | Response:
    """Answer the last message from a knowledge base, with citations, or abstain; in one response or as a stream."""
    await anyio.to_thread.run_sync(_require_base, asked.model, service, bases)
    earlier, question = _last_question(asked)
    pieces = _answer_pieces(asked.model, question, earlier, service, client)
    completion = Completion(f"chatcmpl-{uuid.uuid4().hex}", int(time.time()), asked.model)
    if asked.stream:
        return event_stream(_stream_chunks(completion, asked, pieces, request), service.questions.stop)
    parts: list[str] = []
    answer: dict[str, Any] = {}
    async with aclosing(pieces):
        async for piece, fields in pieces:
            answer = fields  # the fields of the last piece are those of the answer
            parts = [] if piece == WITHDRAWN else [*parts, piece]
            if await request.is_disconnected():
                raise UnavailableError(NOT_ANSWERED)
    text = "".join(parts)
    message = {"role": "assistant", "content": text, "refusal": None, "grade": answer["grade"],
               "annotations": _make_annotations(asked.model, text, answer, request)}
    return completion.part("chat.completion", usage=_estimate_usage(asked, text), choices=[
        {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}])


def _last_question(asked: CompletionRequest) -> tuple[Sequence[AnyMessage], QuestionRequest]:
    *before, last = asked.messages
    if other := [part.type for part in last.content or () if isinstance(part, MessagePart) and not part.is_text]:
        raise QuestionError(f"the last message has a part of the type {other[0]!r}, and only text is read: ask in "
                            "words")
    types: dict[str, type[AIMessage] | type[HumanMessage]] = {"user": HumanMessage, "assistant": AIMessage}
    earlier = [types[message.role](message.text) for message in before if message.role in types]
    instructions = "\n".join(message.text for message in before if message.role in {"system", "developer"})
    last_message = types.get(last.role, AIMessage)(last.text)  # `question_in` refuses one that is not the user's
    return question_in([*earlier, last_message], mode=asked.mode, instructions=instructions,
                       documents=asked.documents, where=asked.where)


async def _answer_pieces(kb: str, question: QuestionRequest, earlier: Sequence[AnyMessage], service: Service,
                         client: str) -> AsyncGenerator[tuple[str, dict[str, Any]]]:
    async with service.questions.answering(client, kb, question, earlier) as events:
        async for item in events:
            if item.event == "answer":
                yield sources_text(item.data["answer"], item.data["citations"]), item.data
                return
            texts = {"token": item.data.get("text", ""), "withdrawn": WITHDRAWN}
            yield texts.get(item.event, ""), {}
    raise UnavailableError(NOT_ANSWERED)


def _make_annotations(kb: str, text: str, answer: dict[str, Any], request: Request) -> list[dict[str, Any]]:
    """Return an annotation of OpenAI's API for each mark `[n]` in an answer, whose link opens the quote in the page."""
    by_id = {cited["id"]: cited for cited in answer["citations"]}
    start = max(text.rfind(WITHDRAWN), 0)  # what precedes the last withdrawal is withdrawn
    sources_start = len(text) - len(sources_text(answer["answer"], answer["citations"]))
    marks = [*find_marks(text[:sources_start], start), *_SOURCE_MARK.finditer(text, sources_start)]
    annotations = []
    for mark in marks:
        if cited := by_id.get(int(mark[1])):
            place = {"kb": kb, "doc": cited["document"], "start": cited["start"], "end": cited["end"]}
            annotations.append({"type": "url_citation", "url_citation": {
                "start_index": mark.start(), "end_index": mark.end(), "title": cited["document"],
                "url": f"{request.base_url}#/ask?{urlencode(place)}", "quote": cited["quote"]}})
    return annotations


async def _stream_chunks(completion: Completion, asked: CompletionRequest,
                         pieces: AsyncIterator[tuple[str, dict[str, Any]]], request: Request,
                         ) -> AsyncIterator[ServerSentEvent]:
    """Yield an answer as the chunks of OpenAI's stream, which ends with `[DONE]`; an error becomes a chunk too."""
    text = ""
    answer: dict[str, Any] = {}
    try:
        yield _make_chunk(completion, {"role": "assistant", "content": ""})
        async for piece, fields in pieces:
            text, answer = text + piece, fields  # the fields of the last piece are those of the answer
            if piece:
                yield _make_chunk(completion, {"content": piece})
        annotations = _make_annotations(completion.model, text, answer, request)
        last_delta = {"grade": answer["grade"], **({"annotations": annotations} if annotations else {})}
        yield _make_chunk(completion, last_delta, "stop")
        if asked.stream_options and asked.stream_options.include_usage:
            yield _json_event(completion.part("chat.completion.chunk", choices=[], usage=_estimate_usage(asked, text)))
    except Exception as error:  # noqa: BLE001  (the response has started, so the error is sent as a part of it)
        yield _json_event({"error": log_and_describe(error, request).model_dump()})
    yield ServerSentEvent("[DONE]")


def _make_chunk(completion: Completion, delta: dict[str, Any], reason: str | None = None) -> ServerSentEvent:
    """Return a chunk of OpenAI's stream; `reason` is why the answer ends, None while it goes on."""
    return _json_event(completion.part("chat.completion.chunk", choices=[
        {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}]))


def _json_event(value: dict[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(value, ensure_ascii=False))


def _estimate_usage(asked: CompletionRequest, text: str) -> dict[str, int]:
    prompt, completion = sum(estimate_tokens(message.text) for message in asked.messages), estimate_tokens(text)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
