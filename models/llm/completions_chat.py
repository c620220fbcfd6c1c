"""The chat completions of an OpenAI-compatible endpoint, whole or as a stream, as a LangChain chat model."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import httpx2
import openai
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, MessageLikeRepresentation, convert_to_openai_messages
from langchain_core.messages.ai import InputTokenDetails, UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult

from ..claim_stream import OnText, text_listener
from .capability import refused_parameter
from .endpoint import read_usage
from .failures import cause_of, describe_body

_MODEL_WITHOUT_SYSTEM_ROLE = re.compile(r"o\d")
"""The names of OpenAI's reasoning models, such as o3."""
_MAY_MEAN_THE_STREAM = frozenset({400, 404, 422, 500, 501})
_REASONING_FIELDS = ("reasoning_content", "reasoning")
_REQUIRED_FIELDS = frozenset({"model", "messages", "stream", "tools", "tool_choice"})
_END = 0.2
"""Seconds in which a stream ends after its last chunk."""


class CompletionsChat(BaseChatModel):
    """A chat model that reports a reply's text as it arrives if a block listens (`models.claim_stream`).

    It does not stream otherwise, and never to LangChain's callbacks: the text is JSON that is not checked yet. It also
    reads replies with malformed token counts, and with the text in other places, which `ChatOpenAI` does not.
    """

    model: str
    client: Any
    """The openai package's asynchronous client."""
    seconds: float
    """How long a streamed reply may take."""
    retries: int
    """How often a request is sent again; a stream that breaks off is asked for as a whole if there are any."""
    streams: bool = True
    """Whether a stream is asked for; False once the endpoint has refused one."""

    @property
    def _llm_type(self) -> str:
        return "openai-chat"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": self.model}

    def _generate(self, messages: list[BaseMessage], stop: list[str] | None = None,
                  run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any) -> ChatResult:
        raise NotImplementedError("its client is asynchronous: use ainvoke")

    async def _agenerate(self, messages: list[BaseMessage], stop: list[str] | None = None,
                         run_manager: AsyncCallbackManagerForLLMRun | None = None, **kwargs: Any) -> ChatResult:
        """Return a reply, received as a stream if somebody listens to its text."""
        del run_manager, stop
        body = self.request(messages, **kwargs)
        on_text = text_listener()
        may_stream = self.streams
        if on_text is not None and may_stream:
            try:
                return _result(await stream_completion(self.client, body, on_text, self.seconds))
            except StreamFailed as failed:
                if failed.broken_off and not self.retries:
                    raise
                may_stream = failed.broken_off  # otherwise the endpoint refused the stream
        # Outside the handler, so that an error of this request does not name the stream's failure as its cause.
        body.pop("stream_options", None)
        result = _result(await self.client.post("/chat/completions", body=body, cast_to=object))
        self.streams = may_stream
        return result

    def request(self, messages: Sequence[MessageLikeRepresentation], *, extra_body: Mapping[str, Any],
                **bound: Any) -> dict[str, Any]:
        """Return the body of a request: the model, the messages, and the arguments of the call."""
        sent: list[dict[str, Any]] = convert_to_openai_messages(messages)
        if _MODEL_WITHOUT_SYSTEM_ROLE.match(self.model):
            sent = [{**one, "role": "developer"} if one["role"] == "system" else one for one in sent]
        return {"model": self.model, "stream": False, "messages": sent, **bound, **extra_body}


def _result(completion: Any) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=read_completion(completion))])


def read_completion(completion: Any) -> AIMessage:
    """Return the message in the body of a completion.

    Its text is the first of these that is not empty: the arguments of function calls, the content, and, without a call
    or a refusal, the reasoning. The content may be a list of parts, and arguments may be an object instead of JSON.

    Raises:
        ValueError: there is no message.
    """
    if isinstance(completion, str) and completion.lstrip().startswith("{"):  # sent as another type of content
        completion = json.loads(completion)
    if not isinstance(completion, Mapping):
        raise ValueError(describe_body(completion) if isinstance(completion, str) else  # noqa: TRY004
                         f"its response is a {type(completion).__name__}")
    if not completion.get("choices"):
        raise ValueError("its response has no choices")
    choice = completion["choices"][0]
    message, usage = choice["message"], read_usage(completion.get("usage"))
    call_arguments = [call["function"].get("arguments") or "" for call in message.get("tool_calls") or ()]
    text = "\n".join(part if isinstance(part, str) else json.dumps(part) for part in call_arguments)
    text, refusal = text or _text_of(message.get("content")), message.get("refusal")
    has_answer = bool(text.strip() or call_arguments or refusal)
    prompt_tokens, details = usage.get("prompt_tokens", 0), usage.get("prompt_tokens_details") or {}
    answer_tokens = usage.get("completion_tokens", 0)
    return AIMessage(
        content=text if has_answer else reasoning_of(message),
        usage_metadata=UsageMetadata(
            input_tokens=prompt_tokens, output_tokens=answer_tokens,
            total_tokens=usage.get("total_tokens", prompt_tokens + answer_tokens),
            input_token_details=InputTokenDetails(cache_read=details.get("cached_tokens") or 0)) if usage else None,
        response_metadata={"finish_reason": choice.get("finish_reason")},
        additional_kwargs={"refusal": refusal} if refusal else {})


def _text_of(content: Any) -> str:
    """Return the text of a content, which may be a list of parts; thoughts among the parts are left out."""
    if isinstance(content, list):
        return "".join(map(_text_of, content))
    if isinstance(content, dict):
        return _text_of(content.get("text"))
    return content if isinstance(content, str) else ""


class StreamFailed(openai.OpenAIError):
    """A reply could not be received as a stream; ask for it as a whole.

    Args:
        error: the cause.
        broken_off: it failed within the stream, which says nothing about the endpoint's ability to stream.
    """

    def __init__(self, error: Exception, *, broken_off: bool = False) -> None:
        super().__init__(str(error) or type(error).__name__)
        self.broken_off = broken_off


async def stream_completion(client: Any, body: dict[str, Any], on_text: OnText, seconds: float) -> Any:
    """Send a chat completion request with `stream`, and return the complete reply as if it had been sent whole.

    Args:
        client: the openai package's client.
        body: the request's fields.
        on_text: called with the reply's text so far as it arrives; not called if the endpoint ignores `stream`.
        seconds: how long a reply may take from its beginning: a small model may repeat itself without end.

    Raises:
        StreamFailed: the endpoint refuses streams, or what it sends is not one, or it broke off.
        openai.OpenAIError: the call failed for another reason before the reply began, or the reply takes too long.
    """
    try:
        # In `extra_body`: the openai package looks through all other arguments, and through their types.
        async with client.chat.completions.with_streaming_response.create(
                model=body["model"], messages=(), stream=True, extra_body={**body, "stream": True}) as response:
            return await _read_response(response, on_text, seconds)
    except openai.APIStatusError as error:
        is_explained = cause_of(error) or refused_parameter(error, body.keys() - _REQUIRED_FIELDS)
        if is_explained or error.status_code not in _MAY_MEAN_THE_STREAM:
            raise
        raise StreamFailed(error) from error


async def _read_response(response: Any, on_text: OnText, seconds: float) -> Any:
    """Return the reply in a response, whether it is a stream or not."""
    try:
        async with asyncio.timeout(seconds):
            if "json" in response.headers.get("content-type", ""):
                return await response.json()
            return await _receive(_chunks(response), on_text)
    except TimeoutError as error:
        raise openai.APITimeoutError(request=response.http_request) from error
    except httpx2.HTTPError as error:
        raise StreamFailed(openai.APIConnectionError(request=response.http_request), broken_off=True) from error
    except openai.APIError as error:
        raise StreamFailed(error, broken_off=True) from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise StreamFailed(error) from error


async def _chunks(response: Any) -> AsyncIterator[dict[str, Any]]:
    """Yield the chunks of a stream as JSON objects."""
    lines = response.iter_lines()
    async for line in lines:
        field, _, data = line.partition(":")
        if field != "data":
            continue
        if data.strip() == "[DONE]":
            # Read the stream to its end, so that the next call can use the connection again. If it does not end soon,
            # the connection is closed.
            with suppress(TimeoutError, httpx2.HTTPError):
                async with asyncio.timeout(_END):
                    async for _ in lines:
                        pass
            return
        chunk = json.loads(data)
        if error := chunk.get("error"):
            message = error.get("message") if isinstance(error, dict) else error
            raise openai.APIError(str(message), response.http_request, body=error)
        yield chunk


async def _receive(chunks: AsyncIterator[dict[str, Any]], on_text: OnText) -> dict[str, Any]:
    """Join the chunks of a reply, and return it in the form of a reply that was sent whole."""
    content = refusal = arguments = finish = reasoning = ""
    usage, is_empty = None, True
    async for chunk in chunks:
        is_empty, usage = False, chunk.get("usage") or usage
        for choice in chunk["choices"][:1]:  # the chunk with the usage has none
            finish, delta = choice.get("finish_reason") or finish, choice["delta"]
            length_before = len(content) + len(arguments)
            content += delta.get("content") or ""
            refusal += delta.get("refusal") or ""
            reasoning += reasoning_of(delta)
            for function in (call["function"] for call in delta.get("tool_calls") or () if call.get("function")):
                arguments += function.get("arguments") or ""
            if len(content) + len(arguments) > length_before:
                await on_text(arguments or content)
    if is_empty:
        raise ValueError("the stream is empty")
    return {"usage": usage, "choices": [{"finish_reason": finish or None, "message": {
        "content": content, "refusal": refusal or None, "reasoning": reasoning,
        "tool_calls": [{"function": {"arguments": arguments}}] if arguments else None}}]}


def reasoning_of(fields: Mapping[str, Any]) -> str:
    """Return the reasoning in a message or a part of one, from whichever field has it; "" if there is none."""
    texts = map(fields.get, _REASONING_FIELDS)
    return next((text for text in texts if isinstance(text, str) and text), "")
