"""The OpenAI-compatible endpoint, through langchain-openai.

Importing this module takes about two seconds: only what is about to make a call imports it.
"""

import json
import re
import weakref
from socket import gaierror
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import openai
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI

from ...config import Settings
from ...runtime.event_loop import process_loop
from ...text.tokens import estimate_tokens
from ..reasoner import ReasonerError
from .breaker import EndpointFailed
from .capability import Capability, Form
from .endpoint import Messages, Reply

_PLACEHOLDER_KEY = "none"
_SHOWN = 300
_TEMPERATURE = 0.0


class _Fix(NamedTuple):
    """What a kind of error means to the user."""

    problem: str
    fix: str
    of_endpoint: bool = True
    """It is the endpoint that failed, not the one request."""
    certain: bool = False
    """No other call can fare better."""


_REFUSED = _Fix("it refused the request", "lower BANYAN_CHUNK_TOKENS or BANYAN_CONTEXT_TOKENS if it was too long",
                 of_endpoint=False)
_NOT_OPENAI = _Fix("what it sent is not an OpenAI chat completion",
                    "check BANYAN_LLM_BASE_URL, which usually ends in /v1")
# The first that matches counts, so a narrower error stands before a wider one.
_FIXES: tuple[tuple[type[Exception], _Fix], ...] = (
    (openai.AuthenticationError, _Fix("it refused the key", "check BANYAN_LLM_API_KEY", certain=True)),
    (openai.PermissionDeniedError, _Fix("it denied access", "check what the key of BANYAN_LLM_API_KEY may use")),
    (openai.NotFoundError, _Fix("it does not know the model or the path",
                                 "check BANYAN_LLM_MODEL and BANYAN_LLM_BASE_URL", certain=True)),
    (openai.RateLimitError, _Fix("it kept refusing for its rate limit or quota",
                                  "lower BANYAN_LLM_REQUESTS_PER_SECOND or raise BANYAN_LLM_RETRIES")),
    (openai.BadRequestError, _REFUSED),
    (openai.UnprocessableEntityError, _REFUSED),
    (openai.APITimeoutError, _Fix("it did not answer in time", "raise BANYAN_LLM_TIMEOUT")),
    (openai.APIConnectionError, _Fix("it cannot be reached", "check BANYAN_LLM_BASE_URL and that it is running")),
    (openai.OpenAIError, _Fix("it failed", "see to the endpoint, then try again")),
)

# What a server says that may mean the form, and what it says only if it does: some answer 404 or 500 (llama.cpp's
# "tools param requires --jinja flag", OpenRouter's "No endpoints found that support tool use").
_MAY_MEAN_THE_FORM = frozenset({400, 422, 501})
_NAMES_THE_FORM = re.compile(r"response[_ ]?format|json[_ ]?(?:schema|object|mode)|structured|grammar|guided|"
                             r"\btools?\b|tool[_ ](?:choice|call|use)|function", re.IGNORECASE)
_TOO_LONG = re.compile(r"context[_ ](?:length|window)|too long|maximum context|too many tokens", re.IGNORECASE)


class OpenAiEndpoint:
    """The client of the endpoint named in the settings. Used on the process's event loop alone.

    Retries with exponential backoff and jitter on 408, 409, 429 (as Retry-After says), 5xx,
    timeouts and lost connections are the openai client's, bounded by `llm_retries`.

    Args:
        settings: base URL, key, model, timeout, retries.
        capability: which forms of request it takes.
    """

    def __init__(self, settings: Settings, capability: Capability) -> None:
        self._model = settings.llm_model
        self._host = urlsplit(settings.llm_base_url or "").netloc.rpartition("@")[2]
        self._key = settings.llm_api_key
        self._capability = capability
        client = openai.DefaultAsyncHttpxClient(timeout=settings.llm_timeout)
        self._chat = _chat(settings, client)
        # Its connections can be closed only on the event loop that opened them.
        weakref.finalize(self, lambda: process_loop().start(client.aclose())).atexit = False

    async def send(self, messages: Messages, json_schema: dict[str, Any]) -> Reply:
        """One paid call, in the strictest form of request that the endpoint takes.

        A form that it refuses costs nothing; the next one is tried at once. The prompts spell the shape out as
        well, so that an answer in plain text can be as good.

        Raises:
            ReasonerError: it failed for good; names the model, the cause and the fix, not the key.
                `EndpointFailed` where it was not the request's fault.
        """
        try:
            return await self._send(messages, json_schema)
        except openai.OpenAIError as error:
            fix = next(fix for kind, fix in _FIXES if isinstance(error, kind))
            # From None: the client's own message may repeat the key, and a traceback would print it.
            raise self._failure(error, fix) from None
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            # What a body of another form raises, an HTML page for instance.
            raise self._failure(error, _NOT_OPENAI) from None

    async def _send(self, messages: Messages, json_schema: dict[str, Any]) -> Reply:
        forms = self._capability.forms()
        named = True
        for form in forms:
            try:
                # As `extra_body`: langchain-openai parses a `response_format` itself, and the raw text and the usage
                # of an answer that does not fit, that was cut or filtered, are then lost.
                asked = _asked(form, json_schema)
                more = {"extra_body": asked} if "response_format" in asked else asked
                message = await self._chat.ainvoke(list(messages), **more)
            except openai.APIStatusError as error:
                if form == forms[-1] or not _may_mean_the_form(error):
                    raise
                named = named and bool(_NAMES_THE_FORM.search(error.message))
                continue
            if form != forms[0]:
                self._capability.refused(forms[0], form, named=named)
            return self._reply(messages, message, form)
        raise AssertionError("there is always a form to try")

    def _reply(self, messages: Messages, message: AIMessage, form: Form) -> Reply:
        """What came back, its tokens estimated where the endpoint does not report them."""
        # Arguments that are no JSON are kept as they came: they go back with the reason, as any answer would.
        arguments = [json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls]
        arguments += [call["args"] or "" for call in message.invalid_tool_calls]
        text = "\n".join(arguments) or str(message.text)
        refusal = str(message.additional_kwargs.get("refusal") or "")
        usage = message.response_metadata.get("token_usage") or {}
        return Reply(text,
                     usage.get("prompt_tokens") or sum(estimate_tokens(content) for _, content in messages),
                     usage.get("completion_tokens") or estimate_tokens(text or refusal),
                     (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
                     refusal,
                     str(message.response_metadata.get("finish_reason") or "stop"),
                     lambda usable: self._capability.judged(form, usable=usable))

    def _failure(self, error: Exception, fix: _Fix) -> ReasonerError:
        detail = " ".join(str(error).split())
        key = self._key.get_secret_value()
        if key and key != _PLACEHOLDER_KEY:
            detail = detail.replace(key, "***")
        message = f"model {self._model!r} at {self._host}: {fix.problem} ({detail[:_SHOWN]}); {fix.fix}"
        if not fix.of_endpoint:
            return ReasonerError(message)
        return EndpointFailed(message, certain=fix.certain or _nobody_listens(error))


def _nobody_listens(error: BaseException | None) -> bool:
    """Whether a connection was refused, or there is no such host."""
    while error is not None and not isinstance(error, ConnectionRefusedError | gaierror):
        error = error.__cause__ or error.__context__
    return error is not None


def _asked(form: Form, json_schema: dict[str, Any]) -> dict[str, Any]:
    """What a form adds to the request."""
    name = json_schema["title"]
    schema = {part: value for part, value in json_schema.items() if part != "title"}
    match form:
        case "json_schema":
            return {"response_format": {
                "type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}}
        case "tools":
            return {"tools": [{"type": "function", "function": {
                "name": name, "description": "Takes the answer.", "parameters": schema}}],
                "tool_choice": {"type": "function", "function": {"name": name}}}
        case "json_object":
            return {"response_format": {"type": "json_object"}}
        case "text":
            return {}


def _may_mean_the_form(error: openai.APIStatusError) -> bool:
    if _TOO_LONG.search(error.message):
        return False
    return error.status_code in _MAY_MEAN_THE_FORM or (
        error.status_code in {404, 500} and bool(_NAMES_THE_FORM.search(error.message)))


def _chat(settings: Settings, client: openai.DefaultAsyncHttpxClient) -> ChatOpenAI:
    return ChatOpenAI(
        model=settings.llm_model,
        base_url=settings.llm_base_url,
        api_key=settings.llm_api_key,
        http_async_client=client,
        timeout=settings.llm_timeout,
        max_retries=settings.llm_retries,
        temperature=_TEMPERATURE,
        cache=False,  # a response cache of LangChain's would repeat the token counts
        use_responses_api=False,  # of all servers only OpenAI's has another one
        disable_streaming=True,  # the answers are JSON for us:
        tags=["nostream"],  # LangGraph must not stream them to a chat window
    )
