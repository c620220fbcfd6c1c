"""Chats for other programs: LangServe's at `/chat/kb/{knowledge_base}`, and OpenAI's chat completions.

LangServe's chat takes a conversation and streams an answer, after its citations were checked, in pieces. It is a thin
facade over the same answering as REST's (`runs/questions.py`). The conversation consists of the client's messages or,
with a thread, of the turns stored on the server. The routes use LangServe's own handlers. In addition, error messages
say what is wrong (LangServe says "Internal Server Error"), and input that no handler checks is rejected.

For OpenAI's clients and chat front ends, each knowledge base is a model: `GET /v1/models` lists those that the key
covers, `POST /v1/chat/completions` answers the last message.
"""

import json
import re
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager
from functools import partial
from typing import Annotated, Any, NamedTuple, TypeVar, cast
from urllib.parse import urlencode

import anyio
import anyio.to_thread
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from langchain_core.callbacks.manager import adispatch_custom_event
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    HumanMessage,
    SystemMessage,
    convert_to_messages,
)
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langserve import APIHandler, CustomUserType
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from sse_starlette import EventSourceResponse, ServerSentEvent

from ...agents.retrieval.cited_message import WITHDRAWN, sources_text
from ...agents.retrieval.shown_text import find_marks
from ...agents.retrieval.state import QuestionError
from ...graph_store.layout import check_name, knowledge_bases
from ...graph_store.store_errors import UnknownKnowledgeBaseError
from ...schemas.documents import DocumentNames, MetadataValues
from ...schemas.retrieval import Mode
from ...text.tokens import estimate_tokens
from ..error_responses import RefusedError, UnavailableError, log_and_describe, status_of
from ..responses import KbName, errors, event, event_stream
from ..runs.questions import NOT_ANSWERED, QuestionRequest, question_in
from ..runs.turns import FairRoute
from ..security.clients import Asking, Seeing, may
from ..security.keys import Bases
from ..service import Service, Serving

_T = TypeVar("_T")

MAX_MESSAGES = 200
"""The most messages in a request."""
CLIENT = "banyan_client"
"""The key of the client in a run's configuration; the server sets it, and ignores what a client sends."""
_RUNS = {"invoke": APIHandler.invoke, "batch": APIHandler.batch, "stream": APIHandler.stream,
         "stream_events": APIHandler.astream_events}
_MAX_BATCH = 100


def _as_messages(given: object) -> object:
    """Convert messages in any of LangChain's forms: {"type", "content"}, {"role", "content"}, or [role, text]."""
    try:
        return convert_to_messages(given) if isinstance(given, list) else given
    except (NotImplementedError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a list of messages: {error}") from error


class Conversation(CustomUserType):
    """A conversation that ends with a question."""

    model_config = ConfigDict(extra="forbid")

    messages: Annotated[list[HumanMessage | AIMessage | SystemMessage], BeforeValidator(_as_messages)] = Field(
        min_length=1, max_length=MAX_MESSAGES, description="the conversation; its last message is the question")


class Chat(RunnableLambda[Conversation, AIMessageChunk]):
    """The chat over a service's answering."""

    def __init__(self, service: Service) -> None:
        # Asynchronous generators are supported, although the annotation omits them.
        super().__init__(cast("Any", self._stream_answer), name="banyan_chat")
        self._service = service

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """The options that a client may set in `configurable`; LangServe ignores all others."""
        return [
            ConfigurableFieldSpec(id="thread_id", annotation=str, name="Thread", default="", description=(
                "store the conversation on the server under this name, so follow-ups refer to it")),
            ConfigurableFieldSpec(id="mode", annotation=Mode, name="Mode", default="reject", description=(
                "reject: abstain without evidence; strict: no inferred answers either; open: own knowledge allowed, "
                "and marked")),
            ConfigurableFieldSpec(id="documents", annotation=list[str], name="Documents", default=[], description=(
                "ids, titles or paths of the documents to answer from, or patterns; empty: all")),
            ConfigurableFieldSpec(id="where", annotation=dict[str, str], name="Where", default={}, description=(
                "metadata of the documents to answer from, as {key: value or pattern}"))]

    async def _stream_answer(self, given: Conversation, config: RunnableConfig) -> AsyncIterator[AIMessageChunk]:
        """Yield the pieces of the answer to the conversation's last message, then one with its sources and the rest."""
        settings = config["configurable"]
        earlier, question = question_in(
            given.messages, mode=settings.get("mode") or "reject", thread=settings.get("thread_id") or None,
            documents=settings.get("documents") or [], where=settings.get("where") or {})
        answering = self._service.questions.answering(settings.get(CLIENT, ""), settings["knowledge_base"],
                                                      question, earlier)
        async with _enter_outside_chat_run(answering) as events:
            async for event in events:
                if event.event in {"step", "claim", "withdrawn"}:
                    await adispatch_custom_event(event.event, event.data, config=config)
                if event.event == "token":
                    yield AIMessageChunk(content=event.data["text"])
                elif event.event == "withdrawn":
                    yield AIMessageChunk(content=WITHDRAWN)
                elif event.event == "answer":
                    answer, other_fields = event.data["answer"], {**event.data}
                    del other_fields["answer"]
                    yield AIMessageChunk(content=sources_text(answer, event.data["citations"]),
                                         additional_kwargs=other_fields, chunk_position="last")


@asynccontextmanager
async def _enter_outside_chat_run(run: AbstractAsyncContextManager[_T]) -> AsyncIterator[_T]:
    """Enter the context of a run so that LangChain does not take it for a part of the chat's own run."""
    async with AsyncExitStack() as stack:
        outer = var_child_runnable_config.set(None)  # LangChain finds the enclosing run in this variable
        try:
            entered = await stack.enter_async_context(run)
        finally:
            var_child_runnable_config.reset(outer)
        yield entered


def add_chat_routes(app: FastAPI, service: Service) -> None:
    """Serve the chat: invoke, batch, stream, stream_events."""
    path = "/chat/kb/{knowledge_base}"
    router = APIRouter(include_in_schema=False, dependencies=[may("ask")])
    chat = Chat(service).with_types(input_type=Conversation, output_type=AIMessageChunk)
    handler = APIHandler(chat, path=path, per_req_config_modifier=_add_request_fields)
    for name, handle in _RUNS.items():
        router.add_api_route(f"{path}/{name}", _wrap_handler(partial(handle, handler)), methods=["POST"])
    app.include_router(router)


def _add_request_fields(config: dict[str, Any], request: Request) -> dict[str, Any]:
    configurable = {**(config.get("configurable") or {}), CLIENT: request.state.client,
                    "knowledge_base": check_name(request.path_params["knowledge_base"])}
    return {**config, "configurable": configurable}


def _wrap_handler(handle: Callable[..., Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Return a route that checks a request's body, then calls LangServe's handler, and makes its errors specific."""
    async def respond(request: Request) -> Response:
        try:
            body = await request.json()
        except (ValueError, RecursionError) as error:
            raise RefusedError("the body is not JSON: send an object with `input`") from error
        inputs = body.get("inputs", []) if isinstance(body, dict) else []  # only a batch has several
        if not isinstance(inputs, list) or len(inputs) > _MAX_BATCH:
            raise RefusedError(f"`inputs` is a list of at most {_MAX_BATCH}: send the rest in another batch")
        try:
            response = await handle(request)
        except ValidationError as error:  # an input of a batch is invalid
            raise RequestValidationError(error.errors()) from error
        if isinstance(response, EventSourceResponse):
            return event_stream(_with_error_messages(response.body_iterator, request))
        return response

    return respond


async def _with_error_messages(events: AsyncIterable[Any], request: Request) -> AsyncIterator[Any]:
    """Yield the events of a stream, with an error's own message instead of LangServe's "Internal Server Error"."""
    try:
        async for item in events:
            if item.get("event") != "error":
                yield item
    except Exception as error:  # noqa: BLE001  (the response has started: its error is an event)
        yield event("error", {"status_code": status_of(error), "message": log_and_describe(error, request).message})


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
    if model not in names:
        raise UnknownKnowledgeBaseError(model, service.resources.settings.home, seen=names)
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
