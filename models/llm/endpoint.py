"""What is sent to a model and comes back, with its tokens: the interface of everything that sends calls."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import monotonic
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from ...config import Settings
from ...runtime.event_loop import run
from ...schemas.services import effort_of
from ..reasoner import ReasonerError
from .capability import FORMS, Form, Refusals

Messages = Sequence[tuple[str, str]]
"""(role, text), the role one of "system", "user" and "assistant"."""
_MOST_TOKENS = 1_000_000_000
"""Tokens of one call; more is no count."""
_TRIAL_SCHEMA: dict[str, Any] = {"title": "Ready", "type": "object", "properties": {"ready": {"type": "boolean"}},
                           "required": ["ready"], "additionalProperties": False}
_TRIAL_SECONDS = 20.0


def _ignore_feedback(_: bool) -> None:
    """Ignore feedback."""


class Reply(NamedTuple):
    """The reply to one call, and its tokens."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    refusal: str = ""
    """Why the model declined to answer, if the endpoint reports that."""
    finish: str = "stop"
    """Why the answer ended, as the endpoint reports it: "stop", "length", "content_filter" ..."""
    form: Form = "text"
    """The form of request that was answered."""
    judged: Callable[[bool], None] = _ignore_feedback
    """Call it with whether the answer could be used: the endpoint learns which form of request to send."""


SendIn = Callable[[Messages, dict[str, Any], Sequence[Form], Refusals], Awaitable[Reply]]
"""Sends messages and the JSON schema of the answer, in the first of some forms that is not refused, without the
parameters that are."""


class Endpoint(Protocol):
    """Sends messages to a model."""

    async def send(self, messages: Messages, json_schema: dict[str, Any], permit: Callable[[], None]) -> Reply:
        """Make one paid call.

        Args:
            messages: the conversation.
            json_schema: the shape of the answer, a hint that the endpoint may ignore.
            permit: called just before the call is sent; if it raises, the call is not sent.

        Raises:
            ReasonerError: the call failed for good; names the cause and the fix.
        """


def open_client(settings: Settings) -> SendIn:
    """Open a client for the settings' model, and return its function to send calls."""
    from .chat_model import ChatClient  # noqa: PLC0415  (a second of imports, only for what makes a call)

    return ChatClient(settings).send


def chosen_parameters(settings: Settings) -> dict[str, Any]:
    """Return the parameters of requests that the user has set."""
    effort = effort_of(settings.llm_reasoning_effort, "")
    return ({"reasoning_effort": effort} if effort else {}) | settings.llm_extra_body


def host_of(settings: Settings) -> str:
    """Return the endpoint's host, or the provider that the name of the settings' model begins with."""
    host = urlsplit(settings.llm_base_url or "").netloc
    return host or settings.llm_model.partition(":")[0]


def name_of(settings: Settings) -> str:
    """Return the settings' model and its endpoint's host, for messages."""
    return f"model {settings.llm_model!r} at {host_of(settings)}"


def reported_count(reported: object) -> int | None:
    """Return a count of tokens as a whole number, a fraction rounded up; None if it can be no count."""
    if isinstance(reported, bool) or not isinstance(reported, int | float) or not 0 <= reported <= _MOST_TOKENS:
        return None
    return math.ceil(reported)


def read_usage(reported: object) -> dict[str, Any]:
    """Return the token counts of an answer's `usage`; values that can be no count are left out."""
    if not isinstance(reported, Mapping):
        return {}
    details = reported.get("prompt_tokens_details")
    cached = reported_count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    counts = {name: count for name in ("prompt_tokens", "completion_tokens", "total_tokens")
              if (count := reported_count(reported.get(name))) is not None}
    return {**counts, **({"prompt_tokens_details": {"cached_tokens": cached}} if cached is not None else {})}


class Trial(NamedTuple):
    """What a call of `try_out` took."""

    seconds: float
    tokens: int


def try_out(settings: Settings) -> Trial:
    """Ask the settings' model once, without retries.

    It uses a separate client, so that the trial neither opens the circuit breaker nor changes what the process has
    learnt of the endpoint.

    Raises:
        ReasonerError: the call failed; names the model, the cause and the fix, not the key.
    """
    settings = settings.model_copy(update={"llm_retries": 0, "llm_timeout": min(settings.llm_timeout, _TRIAL_SECONDS)})
    started = monotonic()
    reply = run(_send_trial, settings)
    return Trial(monotonic() - started, reply.prompt_tokens + reply.completion_tokens)


async def _send_trial(settings: Settings) -> Reply:
    """Send the request of `try_out`, and return the reply."""
    send = open_client(settings)
    try:
        # The client's own limit is on each wait for a byte, of which there may be many.
        async with asyncio.timeout(settings.llm_timeout):
            return await send([("user", 'Reply with this JSON object and nothing else: {"ready": true}')],
                              _TRIAL_SCHEMA, FORMS, Refusals(name_of(settings)))
    except TimeoutError:
        raise ReasonerError(f"{name_of(settings)}: it did not answer within {settings.llm_timeout:g} s; see to the "
                            "endpoint, then try again") from None
