"""The OpenAI-compatible endpoint, through langchain-openai.

Importing this module takes about two seconds: only what is about to make a call imports it.
"""

import json
import re
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import openai
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import Runnable
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr

from ...config import OPENAI, Settings
from ...runtime.event_loop import process_loop
from ...text.tokens import estimate_tokens
from ..claim_stream import text_listener
from .capability import Form
from .endpoint import Messages, Reply, name_of
from .failures import NO_KEY, NOT_OPENAI, NOT_SET_UP, failure, status_of
from .http_client import open_http_client
from .reply_stream import StreamFailed, stream_completion
from .usage import whole, whole_usage

TEMPERATURE = 0.0
# Other providers' words for what OpenAI calls them.
_FINISHES = {"max_tokens": "length", "safety": "content_filter"}

# Statuses that may concern the form, and words that always do: some servers answer 404 or 500 (llama.cpp's
# "tools param requires --jinja flag", OpenRouter's "No endpoints found that support tool use").
_MAY_MEAN_THE_FORM = frozenset({400, 422, 501})
_NAMES_THE_FORM = re.compile(r"response[_ ]?format|json[_ ]?(?:schema|object|mode)|structured|grammar|guided|"
                             r"\btools?\b|tool[_ ](?:choice|call|use)|function", re.IGNORECASE)
_TOO_LONG = re.compile(r"context[_ ](?:length|window)|too long|maximum context|too many tokens", re.IGNORECASE)


class OpenAiEndpoint:
    """The client of the endpoint named in the settings. Used only on the process's event loop.

    Retries with exponential backoff and jitter on 408, 409, 429 (as Retry-After says), 5xx,
    timeouts and lost connections are the openai client's, bounded by `llm_retries`.
    """

    _errors: ClassVar[tuple[type[Exception], ...]] = (openai.OpenAIError,)

    def __init__(self, settings: Settings) -> None:
        self._name = name_of(settings)
        self._key = settings.llm_api_key
        self._chat = self._connect(settings)

    def _connect(self, settings: Settings) -> BaseChatModel:
        client = open_http_client(settings.llm_timeout)
        # Its connections can be closed only on the event loop that opened them.
        weakref.finalize(self, lambda: process_loop().start(client.aclose())).atexit = False
        try:
            return _chat(settings, client)
        except openai.OpenAIError as error:
            raise failure(error, self._name, self._key, fix=NOT_SET_UP) from None

    async def send(self, messages: Messages, json_schema: dict[str, Any], forms: Sequence[Form]) -> Reply:
        """Make one paid call, in the first of some forms of request that the endpoint takes.

        A refused form costs nothing, and the next one is tried at once. The prompts describe the shape too, so plain
        text can be as good an answer.

        Raises:
            ReasonerError: the call failed for good; names the model, the cause and the fix, not the key.
                `EndpointFailed` if it was not the request's fault.
        """
        try:
            return await self._send(messages, json_schema, forms)
        except self._errors as error:
            # From None: the client's own message may repeat the key, and a traceback would print it.
            raise failure(error, self._name, self._key) from None
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            # Raised by a body that is not a response, such as an HTML page.
            raise failure(error, self._name, self._key, fix=NOT_OPENAI) from None

    async def _send(self, messages: Messages, json_schema: dict[str, Any], forms: Sequence[Form]) -> Reply:
        named = True
        for form in forms:
            try:
                message = await self._bind_form(form, json_schema).ainvoke(list(messages))
            except self._errors as error:
                if form == forms[-1] or not _may_mean_the_form(error):
                    raise
                named = named and bool(_NAMES_THE_FORM.search(str(error)))
                continue
            return self._reply(messages, message, form)._replace(named=named)
        raise AssertionError("there is always a form to try")

    def _bind_form(self, form: Form, json_schema: dict[str, Any]) -> Runnable[Any, AIMessage]:
        """Bind a form of request to the model."""
        asked = _asked(form, json_schema)
        # As `extra_body`: langchain-openai would parse a `response_format` itself, and lose the raw text and the
        # usage of an answer that does not fit, is cut or filtered.
        return self._chat.bind(**({"extra_body": asked} if "response_format" in asked else asked))

    def _reply(self, messages: Messages, message: AIMessage, form: Form) -> Reply:
        """Convert a message to a reply, with estimated tokens if the endpoint does not report them."""
        # Arguments that are not JSON stay as they are: they are sent back with the reason, as any answer.
        arguments = [json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls]
        arguments += [call["args"] or "" for call in message.invalid_tool_calls]
        text = "\n".join(arguments) or str(message.text)
        refusal = str(message.additional_kwargs.get("refusal") or "")
        usage: Mapping[str, Any] = message.usage_metadata or {}
        cached = (usage.get("input_token_details") or {}).get("cache_read")
        finish = message.response_metadata.get("finish_reason") or message.response_metadata.get("stop_reason") or ""
        return Reply(text,
                     whole(usage.get("input_tokens")) or sum(estimate_tokens(content) for _, content in messages),
                     whole(usage.get("output_tokens")) or estimate_tokens(text or refusal),
                     whole(cached) or 0,
                     refusal,
                     _FINISHES.get(finish.casefold(), finish or "stop"),
                     form)


def _asked(form: Form, json_schema: dict[str, Any]) -> dict[str, Any]:
    """Return the request fields of a form."""
    name = json_schema["title"]
    schema = {part: value for part, value in json_schema.items() if part != "title"}
    match form:
        case "json_schema":
            return {"response_format": {
                "type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}}
        case "tools":
            return {"tools": [tool(json_schema)], "tool_choice": {"type": "function", "function": {"name": name}}}
        case "json_object":
            return {"response_format": {"type": "json_object"}}
        case "text":
            return {}


def tool(json_schema: dict[str, Any]) -> dict[str, Any]:
    """Describe a function whose parameters are the answer."""
    schema = {part: value for part, value in json_schema.items() if part != "title"}
    return {"type": "function", "function": {"name": json_schema["title"], "description": "Takes the answer.",
                                             "parameters": schema}}


def _may_mean_the_form(error: Exception) -> bool:
    status, message = status_of(error), str(error)
    if _TOO_LONG.search(message):
        return False
    return status in _MAY_MEAN_THE_FORM or (status in {404, 500} and bool(_NAMES_THE_FORM.search(message)))


class _Chat(ChatOpenAI):
    """ChatOpenAI that reports a reply's text as it arrives if a block listens (`models.claim_stream`).

    It does not stream otherwise, and never to LangChain's callbacks: the text is JSON that is not checked yet. It also
    accepts malformed token counts, where ChatOpenAI raises on a list instead of a count.
    """

    _streams: bool = PrivateAttr(default=True)

    async def _agenerate(self, messages: list[BaseMessage], stop: list[str] | None = None,
                         run_manager: AsyncCallbackManagerForLLMRun | None = None, **kwargs: Any) -> ChatResult:
        on_text = text_listener()
        if on_text is None or not self._streams:
            return await super()._agenerate(messages, stop, run_manager, **kwargs)
        payload = self._get_request_payload(messages, stop=stop, **kwargs)
        seconds = cast("float", self.request_timeout)
        try:
            completion = await stream_completion(self.async_client, payload, on_text, seconds)
            return self._create_chat_result(completion)
        except StreamFailed as failed:
            if failed.broken_off and not self.max_retries:
                raise
            result = await super()._agenerate(messages, stop, run_manager, **kwargs)
            self._streams = failed.broken_off
            return result

    def _create_chat_result(self, response: Any, generation_info: dict[str, Any] | None = None) -> ChatResult:
        if isinstance(response, openai.BaseModel):
            usage = getattr(response, "usage", None)
            reported = usage.model_dump(warnings=False) if isinstance(usage, openai.BaseModel) else usage
            response.usage = whole_usage(reported)  # type: ignore[attr-defined]
        return super()._create_chat_result(response, generation_info)


def _chat(settings: Settings, client: openai.DefaultAsyncHttpxClient) -> ChatOpenAI:
    own = settings.llm_base_url is None  # OpenAI's own: its client knows the address, and its variable with the key
    return _Chat(
        model=settings.llm_model.removeprefix(OPENAI) if own else settings.llm_model,
        base_url=settings.llm_base_url,
        api_key=None if own and settings.llm_api_key.get_secret_value() == NO_KEY else settings.llm_api_key,
        http_async_client=client,
        timeout=settings.llm_timeout,
        max_retries=settings.llm_retries,
        temperature=TEMPERATURE,
        max_completion_tokens=settings.llm_reply_tokens,
        cache=False,  # a response cache of LangChain's would repeat the token counts
        use_responses_api=False,  # of all servers only OpenAI's has another one
        disable_streaming=True,  # the answers are JSON for us, see `_Chat`:
        tags=["nostream"],  # LangGraph must not stream them to a chat window
    )
