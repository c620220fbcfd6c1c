"""The OpenAI-compatible endpoint, through langchain-openai.

Importing this module takes about two seconds: only what is about to make a call imports it.
"""

import re
from socket import gaierror
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import openai
from langchain_core.runnables.config import ensure_config, get_callback_manager_for_config
from langchain_openai import ChatOpenAI

from ...config import Settings
from ...text.tokens import estimate_tokens
from ..reasoner import ReasonerError
from .breaker import EndpointFailed
from .capability import Capability, Form, capability_of
from .completion import Completion, from_json, from_message
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
    """Implements `Endpoint` for the one named in the settings.

    Retries with exponential backoff and jitter on 408, 409, 429 (as Retry-After says), 5xx,
    timeouts and lost connections are the openai client's, bounded by `llm_retries`.

    Args:
        settings: base URL, key, model, timeout, retries.
        capability: which forms of request it takes; none: what this process knows of it.
    """

    def __init__(self, settings: Settings, capability: Capability | None = None) -> None:
        self._model = settings.llm_model
        self._host = urlsplit(settings.llm_base_url or "").netloc.rpartition("@")[2]
        self._key = settings.llm_api_key
        self._chat = _chat(settings)
        self._capability = capability or capability_of(settings.llm_base_url or "", self._model, self._host)

    def send(self, messages: Messages, json_schema: dict[str, Any]) -> Reply:
        """One paid call, in the strictest form of request that the endpoint takes.

        A form that it refuses costs nothing; the next one is tried at once. The prompts spell the shape out as
        well, so that an answer in plain text can be as good.

        Raises:
            ReasonerError: it failed for good; names the model, the cause and the fix, not the key.
                `EndpointFailed` where it was not the request's fault.
        """
        try:
            return self._send(messages, json_schema)
        except openai.OpenAIError as error:
            fix = next(fix for kind, fix in _FIXES if isinstance(error, kind))
            # From None: the client's own message may repeat the key, and a traceback would print it.
            raise self._failure(error, fix) from None
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            # What a body of another form raises, an HTML page for instance.
            raise self._failure(error, _NOT_OPENAI) from None

    def _send(self, messages: Messages, json_schema: dict[str, Any]) -> Reply:
        forms = self._capability.forms()
        named = True
        for form in forms:
            try:
                completion = self._complete(messages, _asked(form, json_schema))
            except openai.APIStatusError as error:
                if form == forms[-1] or not _may_mean_the_form(error):
                    raise
                named = named and bool(_NAMES_THE_FORM.search(error.message))
                continue
            if form != forms[0]:
                self._capability.refused(forms[0], form, named=named)
            return self._reply(messages, completion, form)
        raise AssertionError("there is always a form to try")

    def _complete(self, messages: Messages, asked: dict[str, Any]) -> Completion:
        """One request, with the client's retries.

        LangChain's way, and its messages, runs and typed models, take more processor time than all else of a call: it
        is gone where somebody listens on it, LangSmith for instance. Else the same goes to the same client as JSON.
        """
        if get_callback_manager_for_config(ensure_config()).handlers:
            # As `extra_body`: langchain-openai parses a `response_format` itself, and the raw text and the usage of an
            # answer that does not fit, that was cut or filtered, are then lost.
            more = {"extra_body": asked} if "response_format" in asked else asked
            return from_message(self._chat.invoke(list(messages), **more))
        return from_json(self._chat.root_client.post(
            "/chat/completions", cast_to=object,
            body={"messages": [{"role": role, "content": content} for role, content in messages],
                  "model": self._model, "stream": False, "temperature": _TEMPERATURE, **asked}))

    def _reply(self, messages: Messages, completion: Completion, form: Form) -> Reply:
        """What came back, its tokens estimated where the endpoint does not report them."""
        read, written, cached = completion.tokens
        return Reply(completion.text,
                     read or sum(estimate_tokens(content) for _, content in messages),
                     written or estimate_tokens(completion.text or completion.refusal),
                     cached,
                     completion.refusal,
                     completion.finish,
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


def _chat(settings: Settings) -> ChatOpenAI:
    return ChatOpenAI(
        model=settings.llm_model,
        base_url=settings.llm_base_url,
        api_key=settings.llm_api_key,
        timeout=settings.llm_timeout,
        max_retries=settings.llm_retries,
        temperature=_TEMPERATURE,
        cache=False,  # a response cache of LangChain's would repeat the token counts
        use_responses_api=False,  # of all servers only OpenAI's has another one
        disable_streaming=True,  # the answers are JSON for us:
        tags=["nostream"],  # LangGraph must not stream them to a chat window
    )
