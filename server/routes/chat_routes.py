"""The LangServe chat over HTTP, of each knowledge base at `/chat/kb/{knowledge_base}`.

The chat takes a conversation and streams an answer, after its citations were checked, in pieces. It is a thin facade
over the same answering as REST's (`runs/questions.py`). The conversation consists of the client's messages or, with a
thread, of the turns stored on the server.

The routes use LangServe's own handlers. In addition, error messages say what is wrong (LangServe says "Internal Server
Error"), input that no handler checks is rejected, and the playground has the content security policy it needs.
"""

import base64
import hashlib
import warnings
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Annotated, Any, TypeVar, cast

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from langchain_core.callbacks.manager import adispatch_custom_event
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    SystemMessage,
    convert_to_messages,
)
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langserve import APIHandler, CustomUserType
from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from sse_starlette import EventSourceResponse

from ...graph_store.layout import check_name
from ...schemas.retrieval import Mode
from ..error_responses import RefusedError, error_told, status_of
from ..responses import event, event_stream
from ..runs.questions import WITHDRAWN, question_in
from ..security.access import AFFORDABLE, may
from ..service import Service

_T = TypeVar("_T")

MAX_MESSAGES = 200
"""The most messages in a request."""
CLIENT = "banyan_client"
"""The key of the client in a run's configuration; the server sets it, and ignores what a client sends."""
_RUNS = {"invoke": APIHandler.invoke, "batch": APIHandler.batch, "stream": APIHandler.stream,
         "stream_log": APIHandler.stream_log, "stream_events": APIHandler.astream_events}
_SCHEMAS = ("input_schema", "output_schema", "config_schema")
_MAX_BATCH = 100
_MAX_HASH = 2_000
"""The most characters of a playground's compressed configuration, which unpacks to at most their square."""


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


# LangServe's chat playground recognises a message by the `enum` of its type, but pydantic writes `const`.
ChatOutput = Annotated[AIMessageChunk, WithJsonSchema({"anyOf": [{
    "title": "AIMessageChunk", "type": "object", "properties": {
        "type": {"type": "string", "enum": ["ai", "AIMessageChunk"]},
        "content": {"type": "string", "description": "a piece of the answer; all pieces together are the answer"},
        "additional_kwargs": {"type": "object", "description": (
            "of the last piece: citations {id, document, start, end, quote}, abstained, confidence, short, "
            "grade, sub_queries, iterations")}}}]})]
"""A piece of the answer; the last one has no text."""


class Chat(RunnableLambda[Conversation, AIMessageChunk]):
    """The chat over a service's answering."""

    def __init__(self, service: Service) -> None:
        # Asynchronous generators are supported, although the annotation omits them.
        super().__init__(cast("Any", self._answer), name="banyan_chat")
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

    async def _answer(self, given: Conversation, config: RunnableConfig) -> AsyncIterator[AIMessageChunk]:
        settings = config["configurable"]
        earlier, asked = question_in(
            given.messages, mode=settings.get("mode") or "reject", thread=settings.get("thread_id") or None,
            documents=settings.get("documents") or [], where=settings.get("where") or {})
        answering = self._service.questions.answering(settings.get(CLIENT, ""), settings["knowledge_base"], asked,
                                                      earlier)
        async with _detach(answering) as events:
            async for event in events:
                if event.event in {"step", "claim", "withdrawn"}:
                    await adispatch_custom_event(event.event, event.data, config=config)
                if event.event in {"token", "withdrawn"}:
                    yield AIMessageChunk(content=event.data.get("text", WITHDRAWN))
                elif event.event == "answer":
                    rests_on = {name: value for name, value in event.data.items() if name != "answer"}
                    yield AIMessageChunk(content="", additional_kwargs=rests_on, chunk_position="last")


@asynccontextmanager
async def _detach(run: AbstractAsyncContextManager[_T]) -> AsyncIterator[_T]:
    """Enter a run outside of the chat's run, whose event stream would otherwise include every node's whole state."""
    async with AsyncExitStack() as stack:
        outer = var_child_runnable_config.set(None)
        try:
            entered = await stack.enter_async_context(run)
        finally:
            var_child_runnable_config.reset(outer)
        yield entered


# LangServe's chat playground supports only this stream.
warnings.filterwarnings("ignore", message="astream_log is deprecated")


class ChatRequestError(RefusedError):
    """The request cannot be read."""


def add_chat_routes(app: FastAPI, service: Service) -> None:
    """Serve the chat: invoke, batch, stream, stream_log, stream_events, schemas, and a playground."""
    chat, router = Chat(service), APIRouter(include_in_schema=False, dependencies=[may("ask")])
    path = "/chat/kb/{knowledge_base}"
    handler = APIHandler(chat.with_types(input_type=Conversation, output_type=cast("Any", ChatOutput)), path=path,
                         per_req_config_modifier=_of_request, playground_type="chat")
    for below in (path, path + "/c/{config_hash}"):  # the playground sends its options in the address
        for name, handle in _RUNS.items():
            router.add_api_route(f"{below}/{name}", _run(partial(handle, handler)), methods=["POST"],
                                 dependencies=[AFFORDABLE])
        for name in _SCHEMAS:
            router.add_api_route(f"{below}/{name}", _schema(getattr(handler, name)), methods=["GET"])
    router.add_api_route(f"{path}/playground/{{file_path:path}}", _playground(handler), methods=["GET"])
    app.include_router(router)


def _of_request(config: dict[str, Any], request: Request) -> dict[str, Any]:
    """Add the knowledge base and the client, which are not in the request's body, to the run's configuration."""
    configurable = {**(config.get("configurable") or {}), CLIENT: request.state.client,
                    "knowledge_base": check_name(request.path_params["knowledge_base"])}
    return {**config, "configurable": configurable}


def _run(handle: Callable[..., Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        try:
            body = await request.json()
        except (ValueError, RecursionError) as error:
            raise ChatRequestError("the body is not JSON: send an object with `input`") from error
        inputs = body.get("inputs", []) if isinstance(body, dict) else []
        if not isinstance(inputs, list) or len(inputs) > _MAX_BATCH:
            raise ChatRequestError(f"`inputs` is a list of at most {_MAX_BATCH}: send the rest in another batch")
        try:
            response = await handle(request, config_hash=_hash(request))
        except ValidationError as error:  # of a batch's inputs
            raise RequestValidationError(error.errors()) from error
        if isinstance(response, EventSourceResponse):
            return event_stream(_with_error_messages(response.body_iterator, request))
        return response

    return respond


async def _with_error_messages(events: AsyncIterable[Any], request: Request) -> AsyncIterator[Any]:
    """Pass on the events of a stream, with specific error messages instead of LangServe's "Internal Server Error"."""
    try:
        async for item in events:
            if item.get("event") != "error":
                yield item
    except Exception as error:  # noqa: BLE001  (the response has started: its error is an event)
        yield event("error", {"status_code": status_of(error), "message": error_told(error, request).message})


def _schema(handle: Callable[..., Awaitable[Any]]) -> Callable[[Request], Awaitable[Any]]:
    async def respond(request: Request) -> Any:
        return await handle(request, config_hash=_hash(request))

    return respond


def _playground(handler: APIHandler) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        response: Response = await handler.playground(request.path_params["file_path"], request)
        if response.media_type == "text/html":
            response.headers["Content-Security-Policy"] = _policy(bytes(response.body))
        return response

    return respond


def _inline_scripts(page: bytes) -> Iterator[bytes]:
    for part in page.split(b"<script>")[1:]:
        script, closed, _ = part.partition(b"</script>")
        if closed:
            yield script


def _policy(page: bytes) -> str:
    """Return the policy for a playground's page: its own files, its inline script, and code from its form library."""
    scripts = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"
                       for script in _inline_scripts(page))
    return (f"default-src 'self'; script-src 'self' 'unsafe-eval' {scripts}; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'")


def _hash(request: Request) -> str:
    packed = str(request.path_params.get("config_hash", ""))
    if len(packed) > _MAX_HASH:
        raise ChatRequestError(f"the configuration in the address has more than {_MAX_HASH} letters: send it in the "
                               "body, as `config`")
    return packed
