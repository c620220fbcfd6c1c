"""Chat models through LangChain: any OpenAI-compatible endpoint, and other providers by LangChain's names.

Importing this module takes about a second: only what is about to make a call imports it.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda

from ...config import OPENAI, Settings
from ...text.tokens import estimate_tokens
from .capability import SYSTEM_ROLE, Form, Refusals, leave_out, may_mean_the_form, merge_system, refused_parameter
from .completions_chat import CompletionsChat, read_completion
from .endpoint import Messages, Reply, chosen_parameters, name_of, reported_count
from .failures import NO_KEY, NO_OPTIONS, NOT_OPENAI, NOT_SET_UP, failure
from .http_client import open_openai

_STREAM = "stream"
# Other providers' words for what OpenAI calls them.
_FINISH_REASONS = {"max_tokens": "length", "safety": "content_filter"}

# What is raised for a body that is not a response, such as an HTML page.
_INVALID_BODY_ERRORS = (AttributeError, LookupError, TypeError, ValueError)


class ChatClient:
    """The client of the model named in the settings. Used only on one event loop.

    Retries with exponential backoff and jitter on 408, 409, 429 (as Retry-After says), 5xx, timeouts and lost
    connections are those of the provider's client, bounded by `llm_retries`.

    Raises:
        EndpointFailed: a package or a key is missing.
    """

    def __init__(self, settings: Settings) -> None:
        """Connect to the model; nothing is requested yet."""
        self._name = name_of(settings)
        self._key = settings.llm_api_key
        is_openai = settings.speaks_openai
        # Each other provider's package raises its own errors; all become one that names the cause.
        self._errors: tuple[type[Exception], ...] = (openai.OpenAIError,) if is_openai else (Exception,)
        self._chosen = chosen_parameters(settings)
        limit = {"max_completion_tokens": settings.llm_reply_tokens} if settings.llm_reply_tokens else {}
        self._parameters = {"temperature": 0.0, **limit, **self._chosen}
        try:
            self._chat = self._connect(settings) if is_openai else _connect_provider(settings)
        except self._errors as error:  # a missing package or key
            raise failure(error, self._name, self._key, fix=NOT_SET_UP) from None
        if isinstance(self._chat, CompletionsChat):
            self._parameters["stream_options"] = {"include_usage": True}
        if self._chosen and not _is_openai(self._chat):
            raise failure(ValueError(", ".join(self._chosen)), self._name, self._key, fix=NO_OPTIONS)

    def _connect(self, settings: Settings) -> BaseChatModel:
        return CompletionsChat(
            model=settings.llm_model if settings.llm_base_url else settings.llm_model.removeprefix(OPENAI),
            client=open_openai(settings), seconds=settings.llm_timeout, retries=settings.llm_retries, **_COMMON_OPTIONS)

    async def send(self, messages: Messages, json_schema: dict[str, Any], forms: Sequence[Form],
                   refusals: Refusals) -> Reply:
        """Make one paid call, in the first of some forms of request that the endpoint takes.

        A refused form or parameter costs nothing, and the request is sent again at once, in the next form or without
        the parameter. The prompts describe the shape too, so plain text can be as good an answer.

        Raises:
            ReasonerError: the call failed for good; names the model, the cause and the fix, not the key.
                `EndpointFailed` if it was not the request's fault, `TooLong` if it is longer than the endpoint takes.
        """
        refused = set(refusals.names)
        # `streams` tells the chat whether to try a stream, and is False afterwards if the endpoint refused one.
        streaming_chat = self._chat if isinstance(self._chat, CompletionsChat) else None
        if streaming_chat:
            streaming_chat.streams = _STREAM not in refused
        for form in forms:
            try:
                message = await self._send_as(form, messages, json_schema, refused)
            except self._errors as error:
                if form == forms[-1] or not may_mean_the_form(error):
                    # From None: the client's own message may repeat the key, and a traceback would print it.
                    raise failure(error, self._name, self._key) from None
            except _INVALID_BODY_ERRORS as error:
                raise failure(error, self._name, self._key, fix=NOT_OPENAI) from None
            else:
                if streaming_chat and not streaming_chat.streams:
                    refused.add(_STREAM)
                # If "max_tokens" is refused like "max_completion_tokens", the user's limit for replies has no effect,
                # which is worth a warning.
                refusals.remember(refused, {*self._chosen, "max_tokens"})
                return _reply(messages, message, form)
        raise AssertionError("there is always a form to try")

    async def _send_as(self, form: Form, messages: Messages, json_schema: dict[str, Any],
                       refused: set[str]) -> AIMessage:
        """Send a request in a form, and repeat it without each parameter that the endpoint refuses."""
        while True:
            parameters, sent = self._leave_out(form, messages, refused)
            try:
                model, arguments = self._in_form(form, json_schema, parameters)
                return await model.ainvoke(sent, **arguments)
            except self._errors as error:
                name = refused_parameter(error, parameters, sent)
                if name is None:
                    raise
                refused.add(name)

    def _leave_out(self, form: Form, messages: Messages, refused: Collection[str],
                   ) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        """Return the parameters and messages to send, without what is refused."""
        return ({} if form == "bare" else leave_out(self._parameters, refused),
                merge_system(messages) if form == "bare" or SYSTEM_ROLE in refused else list(messages))

    def request_body(self, messages: Messages, json_schema: dict[str, Any], form: Form,
                     refused_parameters: Collection[str]) -> dict[str, Any]:
        """Return the body of the request that `send` makes, to be sent by other means, such as a batch.

        Only for OpenAI-compatible endpoints. It asks for no stream, which a batch cannot have.
        """
        parameters, sent = self._leave_out(form, messages, refused_parameters)
        _, arguments = self._in_form(form, json_schema, parameters)
        body = cast("CompletionsChat", self._chat).request(sent, **arguments)
        return {name: value for name, value in body.items() if name not in {"stream", "stream_options"}}

    def read_body(self, body: Mapping[str, Any]) -> Reply:
        """Return the reply in the body of a response that came by other means than `send`; its form means nothing.

        Raises:
            ReasonerError: it is no reply.
        """
        try:
            return _reply((), read_completion(body), "text")
        except _INVALID_BODY_ERRORS as error:
            raise failure(error, self._name, self._key, fix=NOT_OPENAI) from None

    def _in_form(self, form: Form, json_schema: dict[str, Any], parameters: dict[str, Any],
                 ) -> tuple[Runnable[Any, AIMessage], dict[str, Any]]:
        """Return the model to call and the arguments to call it with for a form of request."""
        chat, sent, name = self._chat, {"extra_body": parameters}, json_schema["title"]
        schema = {part: value for part, value in json_schema.items() if part != "title"}
        is_openai = _is_openai(chat)
        if not is_openai:
            # Other providers' models have the parameters as fields; a refused one is set to None, in a copy. A copy for
            # each call would open connections of its own.
            left_out = (self._parameters.keys() - parameters.keys()) & type(chat).model_fields.keys()
            chat, sent = chat.model_copy(update=dict.fromkeys(left_out)) if left_out else chat, {}
        if form == "tools":
            function = {"name": name, "description": "Takes the answer.", "parameters": schema}
            tools = [{"type": "function", "function": function}]
            choice = {"type": "function", "function": {"name": name}}
            if is_openai:
                return chat, {"tools": tools, "tool_choice": choice, **sent}
            return chat.bind_tools(tools, tool_choice=name, **sent), {}
        if form == "json_schema" and not is_openai:
            structured = chat.with_structured_output(json_schema, method=form, include_raw=True)
            return structured | RunnableLambda[Any, AIMessage](lambda answer: answer["raw"]), {}
        if form in {"json_schema", "json_object"} and is_openai:
            # In `extra_body`: langchain-openai would parse a `response_format` itself, and lose the raw text and the
            # usage of an answer that does not fit, is cut or filtered.
            strict = {"json_schema": {"name": name, "strict": True, "schema": schema}} if form == "json_schema" else {}
            sent = {"extra_body": {**parameters, "response_format": {"type": form, **strict}}}
        return chat, sent


_COMMON_OPTIONS: dict[str, Any] = {
    "cache": False,  # a response cache of LangChain's would repeat the token counts
    "disable_streaming": True,  # the answers are JSON that nobody else can use, see `CompletionsChat`
    "tags": ["nostream"]}  # LangGraph must not stream them to a chat window
"""Options of all providers' models."""


def _is_openai(chat: BaseChatModel) -> bool:
    """Return True if a model takes OpenAI's parameters with each request, as Azure's does."""
    if isinstance(chat, CompletionsChat):
        return True
    from langchain_openai.chat_models.base import BaseChatOpenAI  # noqa: PLC0415  (only for other providers)

    return isinstance(chat, BaseChatOpenAI)


def _connect_provider(settings: Settings) -> BaseChatModel:
    """Return LangChain's model of another provider, such as "anthropic:..."."""
    from langchain.chat_models import init_chat_model  # noqa: PLC0415  (only for other providers)

    key = settings.llm_api_key.get_secret_value()
    optional = {"api_key": None if key == NO_KEY else key, "max_tokens": settings.llm_reply_tokens, "temperature": 0.0}
    options = {"timeout": settings.llm_timeout, "max_retries": settings.llm_retries, **_COMMON_OPTIONS}
    options |= {name: value for name, value in optional.items() if value is not None}
    model: BaseChatModel = init_chat_model(settings.llm_model, configurable_fields=None, **options)
    if _is_openai(model):  # such as Azure's: the parameters are sent with each request
        return model.model_copy(update={"max_tokens": None, "temperature": None})
    return model


def _reply(messages: Messages, message: AIMessage, form: Form) -> Reply:
    """Convert a message to a reply; tokens that the endpoint does not report are estimated from the texts."""
    # Arguments that are not JSON stay as they are: they are sent back with the reason, as any answer.
    arguments = [json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls]
    arguments += [call["args"] or "" for call in message.invalid_tool_calls]
    text = "\n".join(arguments) or str(message.text)
    refusal = str(message.additional_kwargs.get("refusal") or "")
    usage: Mapping[str, Any] = message.usage_metadata or {}
    cached = (usage.get("input_token_details") or {}).get("cache_read")
    finish = message.response_metadata.get("finish_reason") or message.response_metadata.get("stop_reason") or ""
    return Reply(text,
                 reported_count(usage.get("input_tokens")) or sum(estimate_tokens(content) for _, content in messages),
                 reported_count(usage.get("output_tokens")) or estimate_tokens(text or refusal),
                 reported_count(cached) or 0,
                 refusal,
                 _FINISH_REASONS.get(finish.casefold(), finish or "stop"),
                 form)
