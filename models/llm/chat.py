"""The OpenAI-compatible endpoint, through langchain-openai.

Importing this module takes about two seconds: only what is about to make a call imports it.
"""

import json
from typing import Any
from urllib.parse import urlsplit

import openai
from langchain_core.messages import AIMessage
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_openai import ChatOpenAI

from ...config import Settings
from ...ingest.tokens import estimate_tokens
from ..reasoner import ReasonerError
from .structured import Messages, Reply

_PLACEHOLDER_KEY = "none"
_SHOWN = 300

# The first that matches counts, so a narrower error stands before a wider one.
_MENDS: tuple[tuple[type[Exception], str, str], ...] = (
    (openai.AuthenticationError, "it refused the key", "check BANYAN_LLM_API_KEY"),
    (openai.PermissionDeniedError, "it denied access", "check what the key of BANYAN_LLM_API_KEY may use"),
    (openai.NotFoundError, "it does not know the model or the path",
     "check BANYAN_LLM_MODEL and BANYAN_LLM_BASE_URL"),
    (openai.RateLimitError, "it kept refusing for its rate limit or quota",
     "lower BANYAN_LLM_REQUESTS_PER_SECOND or raise BANYAN_LLM_RETRIES"),
    (openai.BadRequestError, "it refused the request",
     "lower BANYAN_CHUNK_TOKENS or BANYAN_CONTEXT_TOKENS if it was too long"),
    (openai.APITimeoutError, "it did not answer in time", "raise BANYAN_LLM_TIMEOUT"),
    (openai.APIConnectionError, "it cannot be reached", "check BANYAN_LLM_BASE_URL and that it is running"),
    (openai.ContentFilterFinishReasonError, "its content filter stopped the answer",
     "use another model (BANYAN_LLM_MODEL) for this text"),
    (openai.OpenAIError, "it failed", "see to the endpoint, then try again"),
)
_NOT_OPENAI = ("what it sent is not an OpenAI chat completion",
               "check BANYAN_LLM_BASE_URL, which usually ends in /v1")


class OpenAiEndpoint:
    """Implements `Endpoint` for the one named in the settings.

    Retries with exponential backoff and jitter on 408, 409, 429 (as Retry-After says), 5xx,
    timeouts and lost connections are the openai client's, bounded by `llm_retries`.

    Args:
        settings: base URL, key, model, timeout, retries, rate limit.
    """

    def __init__(self, settings: Settings) -> None:
        self._model = settings.llm_model
        self._host = urlsplit(settings.llm_base_url or "").netloc.rpartition("@")[2]
        self._key = settings.llm_api_key
        self._chat = _chat(settings)
        self._takes_schemas = True

    def send(self, messages: Messages, json_schema: dict[str, Any]) -> Reply:
        """One paid call; with the JSON schema until the endpoint turns out to refuse schemas.

        The prompts spell the shape out as well, so that a plain answer can be as good.

        Raises:
            ReasonerError: it failed for good; names the model, the cause and the mend, not the key.
        """
        try:
            return self._send(messages, json_schema)
        except openai.LengthFinishReasonError as error:
            # The client raises where the answer hit the length limit, but it was paid and may be whole.
            usage = error.completion.usage
            return self._reply(messages, error.completion.choices[0].message.content or "",
                               usage.prompt_tokens if usage else 0,
                               usage.completion_tokens if usage else 0)
        except openai.OpenAIError as error:
            problem, mend = next((problem, mend) for kind, problem, mend in _MENDS if isinstance(error, kind))
            # From None: the client's own message may repeat the key, and a traceback would print it.
            raise self._failure(problem, mend, error) from None
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            # What langchain-openai raises on a body of another form, an HTML page for instance.
            raise self._failure(*_NOT_OPENAI, error) from None

    def _send(self, messages: Messages, json_schema: dict[str, Any]) -> Reply:
        if not self._takes_schemas:
            return self._plain(messages)
        structured = self._chat.with_structured_output(json_schema, method="json_schema", include_raw=True,
                                                       strict=True)
        try:
            # Of the result only the raw message is used: its parser completes truncated JSON.
            answer = structured.invoke(list(messages))
        except (openai.BadRequestError, openai.UnprocessableEntityError):
            reply = self._plain(messages)  # raises again where the schema was not what it refused
            self._takes_schemas = False
            return reply
        return self._of_message(messages, answer["raw"])

    def _plain(self, messages: Messages) -> Reply:
        return self._of_message(messages, self._chat.invoke(list(messages)))

    def _of_message(self, messages: Messages, message: AIMessage) -> Reply:
        text = str(message.text)
        if not text and message.tool_calls:  # langchain-openai asks old models for a tool call instead
            text = json.dumps(message.tool_calls[0]["args"])
        usage = message.usage_metadata
        return self._reply(messages, text, usage["input_tokens"] if usage else 0,
                           usage["output_tokens"] if usage else 0)

    @staticmethod
    def _reply(messages: Messages, text: str, prompt_tokens: int, completion_tokens: int) -> Reply:
        """The reply, its tokens estimated where the endpoint does not report them."""
        return Reply(text,
                     prompt_tokens or sum(estimate_tokens(content) for _, content in messages),
                     completion_tokens or estimate_tokens(text))

    def _failure(self, problem: str, mend: str, error: Exception) -> ReasonerError:
        detail = " ".join(str(error).split())
        key = self._key.get_secret_value()
        if key and key != _PLACEHOLDER_KEY:
            detail = detail.replace(key, "***")
        return ReasonerError(f"model {self._model!r} at {self._host}: {problem} ({detail[:_SHOWN]}); {mend}")


def _chat(settings: Settings) -> ChatOpenAI:
    rate = settings.llm_requests_per_second
    limiter = None if rate is None else InMemoryRateLimiter(
        requests_per_second=rate, check_every_n_seconds=min(0.1, 1 / rate), max_bucket_size=max(1, rate))
    return ChatOpenAI(
        model=settings.llm_model,
        base_url=settings.llm_base_url,
        api_key=settings.llm_api_key,
        timeout=settings.llm_timeout,
        max_retries=settings.llm_retries,
        rate_limiter=limiter,
        temperature=0,
        cache=False,  # a response cache of LangChain's would repeat the token counts
        disable_streaming=True,  # the answers are JSON for us:
        tags=["nostream"],  # LangGraph must not stream them to a chat window
    )
