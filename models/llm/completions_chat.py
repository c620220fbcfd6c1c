"""The chat completions of an OpenAI-compatible endpoint as a LangChain chat model."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, MessageLikeRepresentation, convert_to_openai_messages
from langchain_core.messages.ai import InputTokenDetails, UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult

from ..claim_stream import text_listener
from .endpoint import read_usage
from .failures import describe_body
from .reply_stream import StreamFailed, reasoning_of, stream_completion

_CALLS_SYSTEM_DEVELOPER = re.compile(r"o\d")
"""OpenAI's models that know no role `system`."""


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
                may_stream = failed.broken_off
        # Outside the handler, as an error of this request is no consequence of the stream's.
        body.pop("stream_options", None)
        result = _result(await self.client.post("/chat/completions", body=body, cast_to=object))
        self.streams = may_stream
        return result

    def request(self, messages: Sequence[MessageLikeRepresentation], *, extra_body: Mapping[str, Any],
                **bound: Any) -> dict[str, Any]:
        """Return the body of a request for messages, with what is bound to the model."""
        sent: list[dict[str, Any]] = convert_to_openai_messages(messages)
        if _CALLS_SYSTEM_DEVELOPER.match(self.model):
            sent = [{**one, "role": "developer"} if one["role"] == "system" else one for one in sent]
        return {"model": self.model, "stream": False, "messages": sent, **bound, **extra_body}


def _result(completion: Any) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=read_completion(completion))])


def read_completion(completion: Any) -> AIMessage:
    """Return the message in the body of a completion; what is called with a function is its text.

    The content may be a list of parts, or be empty with the text among the reasoning; the arguments of a function may
    be an object instead of its JSON.

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
    called = [call["function"].get("arguments") or "" for call in message.get("tool_calls") or ()]
    text = "\n".join(part if isinstance(part, str) else json.dumps(part) for part in called)
    text, refusal = text or _text_of(message.get("content")), message.get("refusal")
    prompt, cached = usage.get("prompt_tokens", 0), usage.get("prompt_tokens_details") or {}
    answer = usage.get("completion_tokens", 0)
    return AIMessage(
        content=text if text.strip() or called or refusal else reasoning_of(message),
        usage_metadata=UsageMetadata(
            input_tokens=prompt, output_tokens=answer, total_tokens=usage.get("total_tokens", prompt + answer),
            input_token_details=InputTokenDetails(cache_read=cached.get("cached_tokens") or 0)) if usage else None,
        response_metadata={"finish_reason": choice.get("finish_reason")},
        additional_kwargs={"refusal": refusal} if refusal else {})


def _text_of(content: Any) -> str:
    """Return the text of a content, which may be a list of parts; thoughts among the parts are left out."""
    if isinstance(content, list):
        return "".join(map(_text_of, content))
    if isinstance(content, dict):
        return _text_of(content.get("text"))
    return content if isinstance(content, str) else ""
