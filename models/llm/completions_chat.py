"""The chat completions of an OpenAI-compatible endpoint as a LangChain chat model."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import openai
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, MessageLikeRepresentation, convert_to_openai_messages
from langchain_core.messages.ai import InputTokenDetails, UsageMetadata
from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call
from langchain_core.outputs import ChatGeneration, ChatResult

from ..claim_stream import text_listener
from .endpoint import read_usage
from .failures import describe_body
from .reply_stream import StreamFailed, normalise_message, stream_completion

_CALLS_SYSTEM_DEVELOPER = re.compile(r"o\d")
"""OpenAI's models that know no role `system`."""


class CompletionsChat(BaseChatModel):
    """A chat model that reports a reply's text as it arrives if a block listens (`models.claim_stream`).

    It does not stream otherwise, and never to LangChain's callbacks: the text is JSON that is not checked yet. It also
    reads replies with malformed token counts, and with the text in other places, which `ChatOpenAI` does not.
    """

    model: str
    completions: Any
    """`chat.completions` of the openai package's asynchronous client."""
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
        payload = self.request(messages, **kwargs)
        on_text = text_listener()
        may_stream = self.streams
        if on_text is not None and may_stream:
            try:
                return _result(await stream_completion(self.completions, payload, on_text, self.seconds))
            except StreamFailed as failed:
                if failed.broken_off and not self.retries:
                    raise
                may_stream = failed.broken_off
        # Outside the handler, as an error of this request is no consequence of the stream's.
        body = {name: value for name, value in payload["extra_body"].items() if name != "stream_options"}
        result = _result(await self.completions.create(**payload | {"extra_body": body}))
        self.streams = may_stream
        return result

    def request(self, messages: Sequence[MessageLikeRepresentation], **bound: Any) -> dict[str, Any]:
        """Return the arguments of the client's `create` for messages and what is bound to the model."""
        sent: list[dict[str, Any]] = convert_to_openai_messages(messages)
        if _CALLS_SYSTEM_DEVELOPER.match(self.model):
            sent = [{**one, "role": "developer"} if one["role"] == "system" else one for one in sent]
        return {"model": self.model, "stream": False, "messages": sent, **bound}


def read_completion(body: Mapping[str, Any]) -> AIMessage:
    """Return the message in the body of a completion.

    Raises:
        ValueError: there is none.
    """
    generation = _result(openai.types.chat.ChatCompletion.construct(**body)).generations[0]
    return cast("AIMessage", generation.message)


def _result(completion: Any) -> ChatResult:
    """Return a completion as LangChain has it.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(completion, openai.BaseModel):
        raise ValueError(describe_body(completion) if isinstance(completion, str) else  # noqa: TRY004
                         f"its response is a {type(completion).__name__}")
    normalise_message(completion)
    choices = getattr(completion, "choices", None)
    if not choices:
        raise ValueError("its response has no choices")
    reported = getattr(completion, "usage", None)
    usage = read_usage(reported.model_dump(warnings=False) if isinstance(reported, openai.BaseModel) else reported)
    return ChatResult(generations=[ChatGeneration(message=_message(choices[0], usage))],
                      llm_output={"token_usage": usage, "model_name": getattr(completion, "model", "")})


def _message(choice: Any, usage: Mapping[str, Any]) -> AIMessage:
    calls, invalid = [], []
    for call in choice.message.tool_calls or ():
        raw = call.model_dump()
        try:
            calls.append(parse_tool_call(raw, return_id=True))
        except OutputParserException as error:
            invalid.append(make_invalid_tool_call(raw, str(error)))
    refusal = getattr(choice.message, "refusal", None)
    return AIMessage(
        content=choice.message.content, tool_calls=[call for call in calls if call], invalid_tool_calls=invalid,
        usage_metadata=_usage(usage) if usage else None,
        response_metadata={"finish_reason": choice.finish_reason},
        additional_kwargs={"refusal": refusal} if refusal else {})


def _usage(usage: Mapping[str, Any]) -> UsageMetadata:
    prompt, completion = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    details = usage.get("prompt_tokens_details") or {}
    return UsageMetadata(input_tokens=prompt, output_tokens=completion,
                         total_tokens=usage.get("total_tokens", prompt + completion),
                         input_token_details=InputTokenDetails(cache_read=details.get("cached_tokens") or 0))
