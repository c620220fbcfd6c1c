"""Chat models by LangChain: OpenAI-compatible endpoints and other providers. Importing this takes about a second."""

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
from .endpoint import NO_KEY, Capability, Form, Messages, Reply, failure, reported_count
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
        self._settings = settings
        # Each other provider's package has errors of its own, so any of its exceptions counts as a failed call.
        self._errors: tuple[type[Exception], ...] = _CALL_ERRORS if settings.speaks_openai else (Exception,)
        self._chosen = endpoint.chosen_parameters(settings)
        limit = {"max_completion_tokens": settings.llm_reply_tokens} if settings.llm_reply_tokens else {}
        self._parameters = {"temperature": 0.0, **limit, **self._chosen}
        try:
            self._chat = _connect_endpoint(settings) if settings.speaks_openai else _connect_provider(settings)
        except self._errors as error:  # a missing package or key
            raise failure(error, settings, fix=endpoint.NOT_SET_UP) from None
        if self._chosen and not isinstance(self._chat, BaseChatOpenAI):  # there is no way to send them
            raise failure(ValueError(", ".join(self._chosen)), settings, fix=endpoint.NO_OPTIONS)

    async def send(self, messages: Messages, json_schema: dict[str, Any], capability: Capability) -> Reply:
        """Make one paid call, in the first form of request that the endpoint takes.

        A refused form or parameter costs nothing, and the request is sent again at once without it. The reply's text is
        passed to the listener for claims as it arrives, if there is one and the endpoint streams.
        """
        refused, forms = set(capability.refused), list(capability.forms)
        on_text = text_listener() if isinstance(self._chat, ChatOpenAI) else None
        message: AIMessage | None
        while True:
            stream_to = None if "stream" in refused else on_text  # "stream": the endpoint cannot do that
            texts = endpoint.merge_system(messages, refused)
            sent = endpoint.leave_out(self._parameters | (_STREAM_PARAMETERS if stream_to else {}), refused)
            try:
                model = self._in_form(forms[0], json_schema, sent, is_streamed=stream_to is not None)
                if stream_to is None:
                    message = await model.ainvoke(texts)
                else:
                    message = await self._stream_reply(model, texts, stream_to, refused)
            except self._errors as error:
                refused_name = endpoint.refused_parameter(error, sent)
                if refused_name and refused_name not in refused:
                    refused.add(refused_name)
                elif len(forms) > 1 and endpoint.may_mean_the_form(error):
                    del forms[0]
                else:
                    # From None: the client's own message may repeat the key, and a traceback would print it.
                    raise failure(error, self._settings) from None
            except _INVALID_BODY_ERRORS as error:
                raise failure(error, self._settings, fix=endpoint.NOT_OPENAI) from None
            else:
                if message is not None:
                    # With "max_tokens" refused, too, the user's limit for replies has no effect: that is warned of.
                    capability.record_answer(forms[0], refused, {*self._chosen, "max_tokens"})
                    return _to_reply(messages, message)
                on_text = None  # the request is sent again, as a whole

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
        refused = capability.refused if "temperature" in self._chosen else {*capability.refused, "temperature"}
        parameters = _with_format(endpoint.leave_out(self._parameters, refused), capability.forms[0], json_schema)
        texts = endpoint.merge_system(messages, refused)
        return {"model": self._settings.llm_model.removeprefix(OPENAI),
                "messages": [{"role": role, "content": text} for role, text in texts], **parameters}

    def read_result(self, messages: Messages, result: dict[str, Any]) -> Reply:
        """Return the reply in a result of a batch; raise ValueError, or what an invalid body raises, if it has none."""
        if error := result.get("error"):
            raise ValueError(error.get("code") or error.get("message"))
        parsed = self._chat._create_chat_result(result["response"]["body"]).generations[0]  # type: ignore[attr-defined]  # noqa: SLF001
        parsed.message.response_metadata |= parsed.generation_info
        return _to_reply(messages, parsed.message)._replace(batched=True)

    def _in_form(self, form: Form, json_schema: dict[str, Any], parameters: dict[str, Any], *, is_streamed: bool,
                 ) -> Runnable[Any, AIMessage]:
        """Return the model with the parameters and the form of structured output bound to it."""
        chat = self._chat.model_copy(update={"disable_streaming": not is_streamed})
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
    # `client` is for synchronous calls, which nobody makes; a value keeps LangChain from opening one of its own.
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
