"""The LangServe chat over HTTP: `/chat` for any knowledge base, `/chat/kb/{knowledge_base}` for one of them.

The routes use LangServe's own handlers. In addition, error messages say what is wrong (LangServe says "Internal Server
Error"), input that no handler checks is rejected, and each playground has the content security policy it needs.
"""

import base64
import hashlib
import warnings
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import Any, Literal, cast

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from langserve import APIHandler
from pydantic import ValidationError
from sse_starlette import EventSourceResponse

from ...graph_store.layout import check_name
from ..error_responses import RefusedError, error_told, status_of
from ..runs.chat import BASES, CLIENT, Chat, ChatInput, ChatOutput, Conversation
from ..security.access import AFFORDABLE, may
from ..service import Service
from ..streaming import event, event_stream

# LangServe's chat playground supports only this stream.
warnings.filterwarnings("ignore", message="astream_log is deprecated")

_RUNS = {"invoke": APIHandler.invoke, "batch": APIHandler.batch, "stream": APIHandler.stream,
         "stream_log": APIHandler.stream_log, "stream_events": APIHandler.astream_events}
_SCHEMAS = ("input_schema", "output_schema", "config_schema")
_MAX_BATCH = 100
_MAX_HASH = 2_000
"""The most characters of a playground's compressed configuration, which unpacks to at most their square."""


class ChatRequestError(RefusedError):
    """The request cannot be read."""


def add_chat_routes(app: FastAPI, service: Service) -> None:
    """Serve the chat: invoke, batch, stream, stream_log, stream_events, schemas, and a playground for each path."""
    chat, router = Chat(service), APIRouter(include_in_schema=False, dependencies=[may("ask")])
    paths: list[tuple[str, Any, Literal["default", "chat"]]] = [
        ("/chat", ChatInput, "default"), ("/chat/kb/{knowledge_base}", Conversation, "chat")]
    for path, input_type, playground in paths:
        handler = APIHandler(
            chat.with_types(input_type=input_type, output_type=cast("Any", ChatOutput)), path=path,
            per_req_config_modifier=_of_request, playground_type=playground)
        for below in (path, path + "/c/{config_hash}"):
            for name, handle in _RUNS.items():
                router.add_api_route(f"{below}/{name}", _run(partial(handle, handler)), methods=["POST"],
                                     dependencies=[AFFORDABLE])
            for name in _SCHEMAS:
                router.add_api_route(f"{below}/{name}", _schema(getattr(handler, name)), methods=["GET"])
            router.add_api_route(below + "/playground/{file_path:path}", _playground(handler), methods=["GET"])
    app.include_router(router)


def _of_request(config: dict[str, Any], request: Request) -> dict[str, Any]:
    """Add the knowledge base and the client, which are not in the request's body, to the run's configuration."""
    configurable = dict(config.get("configurable") or {})
    if name := request.path_params.get("knowledge_base"):
        configurable["knowledge_base"] = check_name(name)
    configurable[CLIENT], configurable[BASES] = request.state.client, request.state.bases
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
        response: Response = await handler.playground(
            request.path_params["file_path"], request, config_hash=_hash(request))
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
