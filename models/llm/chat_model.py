"""Chat models through LangChain: any OpenAI-compatible endpoint, and other providers by LangChain's names.

Importing this module takes about a second: only what is about to make a call imports it.
"""

import asyncio
import json
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import httpx2
import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models.base import BaseChatOpenAI

from ...config import OPENAI, Settings
from ...text.scripts import estimate_tokens
from ..reasoner import OnText, text_listener
from . import endpoint
from .endpoint import NO_KEY, SYSTEM_ROLE, Capability, Form, Messages, Reply, failure, name_of, reported_count
from .http_client import open_openai

_STREAM_PARAMETERS = {"stream": True, "stream_options": {"include_usage": True}}  # the usage is to come at its end
# Other providers' words for what OpenAI calls them.
_FINISH_REASONS = {"max_tokens": "length", "safety": "content_filter"}
_CALL_ERRORS = (openai.OpenAIError, httpx2.HTTPError, TimeoutError)
# What is raised for a body that is not a response of the protocol.
_INVALID_BODY_ERRORS = (AttributeError, LookupError, TypeError, ValueError, RecursionError)
_COMMON_OPTIONS: dict[str, Any] = {  # of all providers' models
    "cache": False,  # a response cache of LangChain's would repeat the token counts
    "disable_streaming": True,  # the answers are JSON that nobody but a listener for claims can use
    "tags": ["nostream"]}  # LangGraph must not stream them to a chat window


class ChatClient:
    """The client of the model named in the settings. Used only on one event loop.

    Retries with exponential backoff and jitter on 408, 409, 429 (as Retry-After says), 5xx, timeouts and lost
    connections are those of the provider's client, bounded by `llm_retries`.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings, self._name, self._key = settings, name_of(settings), settings.llm_api_key
        # Each other provider's package has errors of its own, so any of its exceptions counts as a failed call.
        self._errors: tuple[type[Exception], ...] = _CALL_ERRORS if settings.speaks_openai else (Exception,)
        self._chosen = endpoint.chosen_parameters(settings)
        limit = {"max_completion_tokens": settings.llm_reply_tokens} if settings.llm_reply_tokens else {}
        self._parameters = {"temperature": 0.0, **limit, **self._chosen}
        try:
            self._chat = _connect_endpoint(settings) if settings.speaks_openai else _connect_provider(settings)
        except self._errors as error:  # a missing package or key
            raise failure(error, self._name, self._key, fix=endpoint.NOT_SET_UP) from None
        if self._chosen and not isinstance(self._chat, BaseChatOpenAI):  # there is no way to send them
            raise failure(ValueError(", ".join(self._chosen)), self._name, self._key, fix=endpoint.NO_OPTIONS)

    async def send(self, messages: Messages, json_schema: dict[str, Any], capability: Capability) -> Reply:
        """Make one paid call, in the first form of request that the endpoint takes.

        A refused form or parameter costs nothing, and the request is sent again at once, in the next form or without
        the parameter. The prompts describe the shape too, so plain text can be as good an answer. The reply's text is
        passed to the listener for claims as it arrives, if there is one and the endpoint streams.
        """
        refused = set(capability.refused)  # `_send_as` adds to it
        forms = capability.forms
        for form in forms:
            try:
                message = await self._send_as(form, messages, json_schema, refused)
            except self._errors as error:
                if form == forms[-1] or not endpoint.may_mean_the_form(error):
                    # From None: the client's own message may repeat the key, and a traceback would print it.
                    raise failure(error, self._name, self._key) from None
            except _INVALID_BODY_ERRORS as error:
                raise failure(error, self._name, self._key, fix=endpoint.NOT_OPENAI) from None
            else:
                # With "max_tokens" refused, too, the user's limit for replies has no effect, so that is warned of.
                capability.record_answer(form, refused, {*self._chosen, "max_tokens"})
                return _to_reply(messages, message)
        raise AssertionError("there is always a form to try")

    async def _send_as(self, form: Form, messages: Messages, json_schema: dict[str, Any],
                       refused: set[str]) -> AIMessage:
        """Send a request in a form, again without each parameter that the endpoint refuses; add those to `refused`."""
        on_text = text_listener() if isinstance(self._chat, ChatOpenAI) else None
        while True:
            stream_to = None if "stream" in refused else on_text  # "stream": the endpoint cannot do that
            sent = endpoint.leave_out(self._parameters | (_STREAM_PARAMETERS if stream_to else {}), refused)
            texts = endpoint.merge_system(messages) if SYSTEM_ROLE in refused else list(messages)
            try:
                if stream_to is None:
                    return await self._in_form(self._chat, form, json_schema, sent).ainvoke(texts)
                streaming = self._chat.model_copy(update={"disable_streaming": False})
                message = await self._stream_reply(self._in_form(streaming, form, json_schema, sent), texts, stream_to,
                                                   refused)
                if message is not None:
                    return message
                on_text = None  # the request is sent again, as a whole
            except self._errors as error:
                refused_name = endpoint.refused_parameter(error, sent, texts)
                if refused_name is None:
                    raise
                refused.add(refused_name)

    async def _stream_reply(self, model: Runnable[Any, AIMessage], messages: list[tuple[str, str]], on_text: OnText,
                            refused: set[str]) -> AIMessage | None:
        """Return a streamed reply; None if it broke off or was no stream, so that it is requested as a whole."""
        parts, text = list[Any](), ""
        try:
            async with asyncio.timeout(self._settings.llm_timeout):  # a small model may repeat itself without end
                async for part in model.astream(messages):
                    parts.append(part)
                    text += str(part.text)
                    await on_text(text)
        except (httpx2.HTTPError, openai.APIError) as error:
            # Without any part, the request failed like any other, and the client has repeated it already.
            has_request_failed = not parts and isinstance(error, openai.APIStatusError | openai.APIConnectionError)
            if has_request_failed or not self._settings.llm_retries:  # sending it again would be a retry
                raise
            return None
        except (ValueError, RecursionError):  # what was sent is no stream
            if parts:  # it began as a stream, so the endpoint does stream
                raise
            refused.add("stream")
            return None
        # Adding the parts up would also add their usages, but each one that is sent is the total so far.
        usages = [part.usage_metadata for part in parts if part.usage_metadata]
        return (parts[0] + parts[1:]).model_copy(  # type: ignore[no-any-return]
            update={"usage_metadata": usages[-1] if usages else None})

    def request_body(self, messages: Messages, json_schema: dict[str, Any], capability: Capability) -> dict[str, Any]:
        """Return the body of a request of a batch; without the temperature, which many models refuse, unless chosen."""
        refused = set(capability.refused)
        if "temperature" not in self._chosen:
            refused.add("temperature")
        texts = endpoint.merge_system(messages) if SYSTEM_ROLE in refused else messages
        parameters = _with_format(endpoint.leave_out(self._parameters, refused), capability.forms[0], json_schema)
        return {"model": self._settings.llm_model.removeprefix(OPENAI),
                "messages": [{"role": role, "content": text} for role, text in texts], **parameters}

    def read_result(self, messages: Messages, result: dict[str, Any]) -> Reply:
        """Return the reply in a result of a batch; raise ValueError, or what an invalid body raises, if it has none."""
        if error := result.get("error"):
            raise ValueError(error.get("code") or error.get("message"))
        parsed = self._chat._create_chat_result(result["response"]["body"]).generations[0]  # type: ignore[attr-defined]  # noqa: SLF001
        parsed.message.response_metadata |= parsed.generation_info
        return _to_reply(messages, parsed.message)._replace(batched=True)

    def _in_form(self, chat: BaseChatModel, form: Form, json_schema: dict[str, Any], parameters: dict[str, Any],
                 ) -> Runnable[Any, AIMessage]:
        """Return the model with the parameters and the form of structured output bound to it."""
        if isinstance(chat, BaseChatOpenAI):
            # In `extra_body`: langchain-openai would parse a `response_format` itself, and lose the raw text and the
            # usage of an answer that does not fit, is cut or filtered.
            return chat.bind(extra_body=_with_format(parameters, form, json_schema))
        # Other providers' models have the parameters as fields; a refused one is set to None, in a copy.
        refused = self._parameters.keys() - parameters.keys()
        left_out = refused & type(chat).model_fields.keys()
        chat = chat.model_copy(update=dict.fromkeys(left_out))
        if form != "json_schema":
            return chat
        return chat.with_structured_output(json_schema, include_raw=True) | RunnableLambda[Any, AIMessage](
            itemgetter("raw"))


def _with_format(parameters: Mapping[str, Any], form: Form, json_schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters with OpenAI's `response_format`, which plain text goes without."""
    if form == "text":
        return dict(parameters)
    response_format: dict[str, Any] = {"type": form}
    if form == "json_schema":
        schema = {keyword: value for keyword, value in json_schema.items() if keyword != "title"}
        response_format["json_schema"] = {"name": json_schema["title"], "strict": True, "schema": schema}
    return {**parameters, "response_format": response_format}


class _EndpointChat(ChatOpenAI):
    """LangChain's client, which also takes Azure's chunks that only tell of content filters, without a delta."""

    def _convert_chunk_to_generation_chunk(self, chunk: dict[str, Any], *more: Any) -> Any:
        for choice in chunk.get("choices") or ():
            choice.setdefault("delta", {})
        return super()._convert_chunk_to_generation_chunk(chunk, *more)


def _connect_endpoint(settings: Settings) -> BaseChatModel:
    """Return LangChain's model of an OpenAI-compatible endpoint, over our client."""
    client = open_openai(settings)
    name = settings.llm_model if settings.llm_base_url else settings.llm_model.removeprefix(OPENAI)
    # The wait for each chunk goes by `llm_timeout`. LangChain's own limit would be `asyncio.wait_for`, which in
    # Python 3.11 loses a cancellation that arrives together with a chunk.
    return _EndpointChat(model=name, client=client.chat.completions, root_async_client=client,
                         async_client=client.chat.completions, use_responses_api=False, stream_chunk_timeout=None,
                         **_COMMON_OPTIONS)


def _connect_provider(settings: Settings) -> BaseChatModel:
    """Return LangChain's model of another provider, such as "anthropic:..."."""
    from langchain.chat_models import init_chat_model  # noqa: PLC0415  (only for other providers)

    key = settings.llm_api_key.get_secret_value()
    options = {"timeout": settings.llm_timeout, "max_retries": settings.llm_retries, "temperature": 0.0,
               **_COMMON_OPTIONS}
    if key != NO_KEY:
        options["api_key"] = key
    if settings.llm_reply_tokens is not None:
        options["max_tokens"] = settings.llm_reply_tokens
    model: BaseChatModel = init_chat_model(settings.llm_model, configurable_fields=None, **options)
    if isinstance(model, BaseChatOpenAI):
        # An OpenAI client, such as Azure's, gets these with each request (`_in_form`): a refused one can be left out.
        return model.model_copy(update={"max_tokens": None, "temperature": None})
    return model


def _to_reply(messages: Messages, message: AIMessage) -> Reply:
    """Convert a message to a reply; tokens that the endpoint does not report are estimated from the texts."""
    # Some models answer with the arguments of a tool. Those that are not JSON are sent back like any such answer.
    arguments = [json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls]
    arguments += [call["args"] or "" for call in message.invalid_tool_calls]
    text = "\n".join(arguments) or str(message.text)
    refusal = str(message.additional_kwargs.get("refusal") or "")
    usage: Mapping[str, Any] = message.usage_metadata or {}
    prompt_tokens = reported_count(usage.get("input_tokens")) or sum(estimate_tokens(sent) for _, sent in messages)
    completion_tokens = reported_count(usage.get("output_tokens")) or estimate_tokens(text or refusal)
    cached_tokens = reported_count((usage.get("input_token_details") or {}).get("cache_read"))
    finish = message.response_metadata.get("finish_reason") or message.response_metadata.get("stop_reason") or "stop"
    return Reply(text, prompt_tokens, completion_tokens, cached_tokens, refusal,
                 _FINISH_REASONS.get(finish.casefold(), finish))
