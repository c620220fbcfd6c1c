"""Replies that arrive as a stream, reported to a listener while they arrive."""

from collections.abc import AsyncIterator

import httpx2
import openai
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

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


async def listen(chunks: AsyncIterator[ChatGenerationChunk], on_text: OnText) -> AsyncIterator[ChatGenerationChunk]:
    """Pass on the chunks of a reply, and report its text so far with each one.

    Args:
        chunks: what ChatOpenAI streams.
        on_text: called with the text, or with the arguments of a function, so far.

    Raises:
        StreamFailed: the endpoint refuses streams, or what it sends is not one, or it broke off.
        openai.OpenAIError: the call failed for another reason before the reply began.
    """
    text, usage, is_reply = "", None, False
    try:
        async for chunk in chunks:
            message = chunk.message
            if isinstance(message, AIMessageChunk):
                # Some endpoints repeat the sum so far in every chunk, and LangChain would add up these sums.
                usage, message.usage_metadata = message.usage_metadata or usage, None
                more = str(message.text) or "".join(call["args"] or "" for call in message.tool_call_chunks)
                is_reply = is_reply or bool(more or message.additional_kwargs or chunk.generation_info)
                if more:
                    text += more
                    await on_text(text)
            yield chunk
    except openai.APIStatusError as error:
        if error.status_code not in _MAY_MEAN_THE_STREAM:
            raise
        raise StreamFailed(error) from error
    except (openai.APIError, httpx2.HTTPError) as error:
        if not text:
            raise
        raise StreamFailed(error, broken_off=True) from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise StreamFailed(error) from error
    if not is_reply:
        raise StreamFailed(ValueError("the stream is empty"))
    yield ChatGenerationChunk(message=AIMessageChunk(content="", usage_metadata=usage))
