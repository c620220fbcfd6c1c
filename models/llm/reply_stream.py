"""One reply of an OpenAI-compatible endpoint, received as a stream."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

import httpx2
import openai

from ..claim_stream import OnText
from .capability import refused_parameter
from .failures import cause_of

_MAY_MEAN_THE_STREAM = frozenset({400, 404, 422, 500, 501})
_REASONING = ("reasoning_content", "reasoning")
_NO_PARAMETERS = frozenset({"model", "messages", "stream", "tools", "tool_choice"})
_END = 0.2
"""Seconds in which a stream ends after its last chunk."""


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
        seconds: how long a reply may take from its beginning, which a small model that repeats itself would not end.

    Raises:
        StreamFailed: the endpoint refuses streams, or what it sends is not one, or it broke off.
        openai.OpenAIError: the call failed for another reason before the reply began, or the reply takes too long.
    """
    try:
        # In `extra_body`: the openai package looks through all other arguments, and through their types.
        async with client.chat.completions.with_streaming_response.create(
                model=body["model"], messages=(), stream=True, extra_body={**body, "stream": True}) as response:
            return await _read(response, on_text, seconds)
    except openai.APIStatusError as error:
        is_explained = cause_of(error) or refused_parameter(error, body.keys() - _NO_PARAMETERS)
        if is_explained or error.status_code not in _MAY_MEAN_THE_STREAM:
            raise
        raise StreamFailed(error) from error


async def _read(response: Any, on_text: OnText, seconds: float) -> Any:
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
    """Yield the chunks of a stream; the SDK makes objects of them, which takes longer than all else of a call."""
    lines = response.iter_lines()
    async for line in lines:
        field, _, data = line.partition(":")
        if field != "data":
            continue
        if data.strip() == "[DONE]":
            # To its end, so that the next call uses the connection again; one that stays open is closed.
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
    """Return the reply that the chunks make up."""
    content = refusal = arguments = finish = reasoning = ""
    usage, is_empty = None, True
    async for chunk in chunks:
        is_empty, usage = False, chunk.get("usage") or usage
        for choice in chunk["choices"][:1]:
            finish, delta = choice.get("finish_reason") or finish, choice["delta"]
            before = len(content) + len(arguments)
            content += delta.get("content") or ""
            refusal += delta.get("refusal") or ""
            reasoning += reasoning_of(delta)
            for called in (call["function"] for call in delta.get("tool_calls") or () if call.get("function")):
                arguments += called.get("arguments") or ""
            if len(content) + len(arguments) > before:
                await on_text(arguments or content)
    if is_empty:
        raise ValueError("the stream is empty")
    return {"usage": usage, "choices": [{"finish_reason": finish or None, "message": {
        "content": content, "refusal": refusal or None, "reasoning": reasoning,
        "tool_calls": [{"function": {"arguments": arguments}}] if arguments else None}}]}


def reasoning_of(fields: Mapping[str, Any]) -> str:
    """Return the text that a message, or a part of one, has in the fields of thinking models."""
    texts = map(fields.get, _REASONING)
    return next((text for text in texts if isinstance(text, str) and text), "")
