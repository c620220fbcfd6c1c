"""LangServe's chat at `/chat/kb/{knowledge_base}`, for the extra `langserve`: a thin facade over `runs/questions.py`.

The conversation consists of the client's messages or, with a thread, of the turns stored on the server. In addition to
LangServe's own handlers, error messages say what is wrong, and input that no handler checks is rejected.
"""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import Any, cast

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from langchain_core.callbacks.manager import adispatch_custom_event
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langserve import APIHandler, CustomUserType
from pydantic import ConfigDict, ValidationError
from sse_starlette import EventSourceResponse

from ...agents.retrieval.cited_message import WITHDRAWN, sources_text
from ...graph_store.layout import check_name
from ...schemas.retrieval import Mode
from ..responses import RefusedError, event, event_stream, log_and_describe, status_of
from ..runs.questions import Messages, question_in
from ..security.clients import may
from ..service import Service

CLIENT = "banyan_client"  # where a run's configuration names the client; the server ignores what a client sends


class Conversation(CustomUserType):
    """A conversation that ends with a question."""

    model_config = ConfigDict(extra="forbid")

    messages: Messages


class Chat(RunnableLambda[Conversation, AIMessageChunk]):
    """The chat over a service's answering."""

    def __init__(self, service: Service) -> None:
        # Asynchronous generators are supported, although the annotation omits them.
        super().__init__(cast("Any", self._stream_answer), name="banyan_chat")
        self._service = service

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """The options that a client may set in `configurable`; LangServe ignores all others."""
        options: tuple[tuple[str, Any, Any, str], ...] = (
                   ("thread_id", str, "", "store the conversation under this name, so follow-ups refer to it"),
                   ("mode", Mode, "reject", "strict: no inferred answers; open: own knowledge allowed, and marked"),
                   ("documents", list[str], [], "documents to answer from: ids, titles, paths, patterns; empty: all"),
                   ("where", dict[str, str], {}, "metadata of these documents, as {key: value or pattern}"))
        return [ConfigurableFieldSpec(id=name, annotation=kind, default=default, description=description)
                for name, kind, default, description in options]

    async def _stream_answer(self, given: Conversation, config: RunnableConfig) -> AsyncIterator[AIMessageChunk]:
        """Yield the pieces of the answer to the conversation's last message, then one with its sources and the rest."""
        settings = config["configurable"]
        earlier, question = question_in(
            given.messages, mode=settings.get("mode") or "reject", thread=settings.get("thread_id") or None,
            documents=settings.get("documents") or [], where=settings.get("where") or {})
        answering = self._service.questions.answering(settings.get(CLIENT, ""), settings["knowledge_base"],
                                                      question, earlier)
        # The answering's task copies this variable: without a value, its run is no part of the chat's for LangChain.
        outer = var_child_runnable_config.set(None)
        async with answering as events:
            var_child_runnable_config.reset(outer)
            async for event in events:
                if event.event in {"step", "claim", "withdrawn"}:
                    await adispatch_custom_event(event.event, event.data, config=config)
                if event.event == "token":
                    yield AIMessageChunk(content=event.data["text"])
                elif event.event == "withdrawn":
                    yield AIMessageChunk(content=WITHDRAWN)
                elif event.event == "answer":
                    fields = {**event.data}
                    yield AIMessageChunk(content=sources_text(fields.pop("answer"), fields["citations"]),
                                         additional_kwargs=fields, chunk_position="last")


def add_chat_routes(app: FastAPI, service: Service) -> None:
    """Serve the chat: invoke, batch, stream, stream_events."""
    path = "/chat/kb/{knowledge_base}"
    router = APIRouter(include_in_schema=False, dependencies=[may("ask")])
    chat = Chat(service).with_types(input_type=Conversation, output_type=AIMessageChunk)
    handler = APIHandler(chat, path=path, per_req_config_modifier=_add_request_fields)
    runs = {"invoke": handler.invoke, "batch": handler.batch, "stream": handler.stream,
            "stream_events": handler.astream_events}
    for name, run in runs.items():
        router.add_api_route(f"{path}/{name}", _wrap_handler(run), methods=["POST"])
    app.include_router(router)


def _add_request_fields(config: dict[str, Any], request: Request) -> dict[str, Any]:
    """Add the client and the knowledge base of a request to its run's configuration, over what the client sent."""
    configurable = {**(config.get("configurable") or {}), CLIENT: request.state.client,
                    "knowledge_base": check_name(request.path_params["knowledge_base"])}
    return {**config, "configurable": configurable}


def _wrap_handler(handle: Callable[..., Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Return a route that checks a request's body, then calls LangServe's handler, and makes its errors specific."""
    async def respond(request: Request) -> Response:
        try:
            await request.json()
        except (ValueError, RecursionError) as error:
            raise RefusedError("the body is not JSON: send an object with `input`") from error
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
