"""One reply of an OpenAI-compatible endpoint, received as a stream."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import openai
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from ..claim_stream import OnText

_MAY_MEAN_THE_STREAM = frozenset({400, 404, 422, 500, 501})


class StreamFailed(openai.OpenAIError):
    """A reply could not be received as a stream; ask for it as a whole.

    Args:
        error: the cause.
        broken_off: it failed within the stream, which says nothing about the endpoint's ability to stream.
    """

    def __init__(self, error: Exception, *, broken_off: bool = False) -> None:
        super().__init__(str(error) or type(error).__name__)
        self.broken_off = broken_off


async def stream_completion(client: Any, payload: dict[str, Any], on_text: OnText) -> ChatCompletion:
    """Send a chat completion request with `stream`, and return the complete reply.

    Args:
        client: the openai package's `chat.completions`.
        payload: the request's fields.
        on_text: called with the reply's text so far as it arrives; not called if the endpoint ignores `stream`.

    Raises:
        StreamFailed: the endpoint refuses streams, or what it sends is not one, or it broke off.
        openai.OpenAIError: the call failed for another reason before the reply began.
    """
    payload = {**payload, "stream": True, "stream_options": {"include_usage": True}}
    try:
        async with client.with_streaming_response.create(**payload) as response:
            return await _read(response, on_text)
    except openai.APIStatusError as error:
        if error.status_code not in _MAY_MEAN_THE_STREAM:
            raise
        raise StreamFailed(error) from error


async def _read(response: Any, on_text: OnText) -> ChatCompletion:
    """Return the reply in a response, whether it is a stream or not."""
    try:
        if "json" in response.headers.get("content-type", ""):
            return ChatCompletion.construct(**await response.json())
        return await _receive(await response.parse(), on_text)
    except (openai.APIError, httpx2.HTTPError) as error:
        raise StreamFailed(error, broken_off=True) from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise StreamFailed(error) from error


async def _receive(chunks: AsyncIterator[ChatCompletionChunk], on_text: OnText) -> ChatCompletion:
    state = ChatCompletionStreamState()
    text, usage, is_empty = "", None, True
    async for chunk in chunks:
        is_empty = False
        state.handle_chunk(chunk)
        usage = chunk.usage or usage
        if piece := _text_of(chunk):
            text += piece
            await on_text(text)
    if is_empty:
        raise ValueError("the stream is empty")
    completion = state.current_completion_snapshot
    completion.usage = usage
    return completion


def _text_of(chunk: ChatCompletionChunk) -> str:
    """Return what a chunk adds to the reply: text, or arguments of the function that takes the answer."""
    if not chunk.choices:
        return ""
    delta = chunk.choices[0].delta
    calls = [call.function.arguments or "" for call in delta.tool_calls or () if call.function]
    return (delta.content or "") + "".join(calls)
