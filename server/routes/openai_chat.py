"""OpenAI's chat completions, so OpenAI clients and chat front ends can ask: each knowledge base is a model.

`GET /v1/models` lists the knowledge bases that the key covers, `POST /v1/chat/completions` answers the last message.
"""

import json
import re
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

import anyio
import anyio.to_thread
from fastapi import APIRouter, Request
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import ServerSentEvent
from starlette.responses import Response

from ...agents.retrieval.shown_text import find_marks, source_text
from ...graph_store.layout import knowledge_bases
from ...graph_store.store_errors import UnknownKnowledgeBaseError
from ...schemas.documents import DocumentNames, MetadataValues
from ...schemas.retrieval import Mode
from ...text.tokens import estimate_tokens
from ..error_responses import UnavailableError, error_told
from ..responses import KbName, errors, event_stream
from ..runs.questions import GONE, WITHDRAWN, QuestionRequest, question_in
from ..security.access import AFFORDABLE, Asking, Seeing, may
from ..security.keys import Bases
from ..service import Service, Serving
from .chat_routes import MAX_MESSAGES

router = APIRouter(prefix="/v1", tags=["openai"])
_SOURCE = re.compile(r"^\[(\d+)\]", re.MULTILINE)


class TextPart(BaseModel):
    """A text part of a message."""

    type: Literal["text", "input_text", "output_text"]
    text: str


class ChatMessage(BaseModel):
    """A message of the conversation; those of the system say how to word the answer."""

    model_config = ConfigDict(extra="ignore")

    role: str
    content: str | list[TextPart] | None = None

    @property
    def text(self) -> str:
        """The message's text."""
        parts = self.content or ""
        return parts if isinstance(parts, str) else "\n".join(part.text for part in parts)


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: bool = False


class CompletionRequest(BaseModel):
    """The question and its options; other fields of OpenAI's API, such as the temperature, have no effect."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(min_length=1, description="the knowledge base's name")
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
        """Return an object of OpenAI's API."""
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model, **fields}


@router.get("/models", responses=errors(), dependencies=[may("ask")])
def list_models(service: Serving, bases: Seeing) -> dict[str, Any]:
    """List the knowledge bases that the key covers, as models."""
    names = [name for name in knowledge_bases(service.resources.settings) if bases.hold(name)]
    return {"object": "list", "data": [_model(name) for name in names]}


@router.get("/models/{knowledge_base}", responses=errors(404), dependencies=[may("ask")])
def show_model(knowledge_base: KbName, service: Serving, bases: Seeing) -> dict[str, Any]:
    """Return a knowledge base as a model."""
    return _model(_known(knowledge_base, service, bases))


def _known(model: str, service: Service, bases: Bases) -> str:
    """Return the knowledge base that a model names.

    Raises:
        UnknownKnowledgeBaseError: there is none of that name, whatever the name is; lists those that there are.
    """
    names = [name for name in knowledge_bases(service.resources.settings) if bases.hold(name)]
    if model not in names:
        raise UnknownKnowledgeBaseError(model, service.resources.settings.home, seen=names)
    return model


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "banyan"}


@router.post("/chat/completions", responses=errors(404, 409, 413, 504), response_model=None, dependencies=[AFFORDABLE])
async def complete(asked: CompletionRequest, request: Request, service: Serving, client: Asking, bases: Seeing,
                   ) -> dict[str, Any] | Response:
    """Answer the last message from a knowledge base, with citations, or abstain; in one response or as a stream."""
    await anyio.to_thread.run_sync(_known, asked.model, service, bases)
    earlier, question = _question(asked)
    pieces = _pieces(asked.model, question, earlier, service, client)
    completion = Completion(f"chatcmpl-{uuid.uuid4().hex}", int(time.time()), asked.model)
    if asked.stream:
        return event_stream(_chunks(completion, asked, pieces, request), service.questions.stop)
    parts: list[str] = []
    answer: dict[str, Any] = {}
    async with aclosing(pieces):
        async for text, found in pieces:
            parts = [] if text == WITHDRAWN else [*parts, text]
            answer = found
            if await request.is_disconnected():
                raise UnavailableError(GONE)
    text = "".join(parts)
    message = {"role": "assistant", "content": text, "refusal": None, "grade": answer["grade"],
               "annotations": _annotations(asked.model, text, answer["citations"], request)}
    return completion.part("chat.completion", usage=_usage(asked, text), choices=[
        {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}])


def _question(asked: CompletionRequest) -> tuple[Sequence[AnyMessage], QuestionRequest]:
    """Return the conversation before the question, and the question; messages of the system are instructions.

    Raises:
        QuestionError: there is no question, or it is not allowed.
    """
    *before, last = asked.messages
    kinds: dict[str, type[AIMessage] | type[HumanMessage]] = {"user": HumanMessage, "assistant": AIMessage}
    earlier = [kinds[message.role](message.text) for message in before if message.role in kinds]
    instructions = "\n".join(message.text for message in before if message.role in {"system", "developer"})
    return question_in([*earlier, kinds.get(last.role, AIMessage)(last.text)], mode=asked.mode,
                       instructions=instructions, documents=asked.documents, where=asked.where)


async def _pieces(kb: str, question: QuestionRequest, earlier: Sequence[AnyMessage], service: Service, client: str,
                  ) -> AsyncGenerator[tuple[str, dict[str, Any]]]:
    """Yield the pieces of the answer, an empty one at each step; the last one, the list of sources, with the answer."""
    async with service.questions.answering(client, kb, question, earlier) as events:
        async for item in events:
            if item.event == "answer":
                yield _sources(item.data["citations"]), item.data
                return
            pieces = {"token": item.data.get("text", ""), "withdrawn": WITHDRAWN}
            yield pieces.get(item.event, ""), {}
    raise UnavailableError(GONE)


def _sources(citations: Sequence[dict[str, Any]]) -> str:
    """Return the sources as lines, for front ends that do not show annotations."""
    lines = [f"[{one['id']}] {one['document']}: \u201c{source_text(one['quote'])}\u201d" for one in citations]
    return "\n\n" + "\n".join(lines) if lines else ""


def _annotations(kb: str, text: str, citations: Sequence[dict[str, Any]], request: Request) -> list[dict[str, Any]]:
    """Return each mark `[n]`, of claims and of sources, as a citation of OpenAI's API.

    Its address opens the quote in Banyan's page.
    """
    by_id = {one["id"]: one for one in citations}
    start = max(text.rfind(WITHDRAWN), 0)  # what is withdrawn cites nothing
    sources = len(text) - len(_sources(citations))
    marks = [*find_marks(text[:sources], start), *_SOURCE.finditer(text, sources)]
    return [{"type": "url_citation", "url_citation": {
        "start_index": mark.start(), "end_index": mark.end(), "title": cited["document"],
        "url": _address(kb, cited, request), "quote": cited["quote"]}}
        for mark in marks if (cited := by_id.get(int(mark[1])))]


def _address(kb: str, cited: dict[str, Any], request: Request) -> str:
    place = {"kb": kb, "doc": cited["document"], "start": cited["start"], "end": cited["end"]}
    return f"{request.base_url}#/ask?{urlencode(place)}"


async def _chunks(completion: Completion, asked: CompletionRequest,
                  pieces: AsyncIterator[tuple[str, dict[str, Any]]], request: Request,
                  ) -> AsyncIterator[ServerSentEvent]:
    text = ""
    answer: dict[str, Any] = {}
    try:
        yield _chunk(completion, {"role": "assistant", "content": ""})
        async for piece, found in pieces:
            text, answer = text + piece, found
            if piece:
                yield _chunk(completion, {"content": piece})
        noted = _annotations(completion.model, text, answer["citations"], request)
        yield _chunk(completion, {"grade": answer["grade"], **({"annotations": noted} if noted else {})}, "stop")
        if asked.stream_options and asked.stream_options.include_usage:
            yield _data(completion.part("chat.completion.chunk", choices=[], usage=_usage(asked, text)))
    except Exception as error:  # noqa: BLE001  (the response has started, so the error is sent as a part of it)
        yield _data({"error": error_told(error, request).model_dump()})
    yield ServerSentEvent("[DONE]")


def _chunk(completion: Completion, delta: dict[str, Any], reason: str | None = None) -> ServerSentEvent:
    return _data(completion.part("chat.completion.chunk", choices=[
        {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}]))


def _data(value: dict[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(value, ensure_ascii=False))


def _usage(asked: CompletionRequest, text: str) -> dict[str, int]:
    """Estimate the tokens of the conversation and the answer; the model's own usage is in the accounts."""
    prompt, completion = sum(estimate_tokens(message.text) for message in asked.messages), estimate_tokens(text)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
