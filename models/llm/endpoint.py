"""What is sent to a model and comes back: the interface of everything that sends calls."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from ...config import Settings
from ...schemas.request_options import effort_of
from .capability import Form
from .refusals import Refusals

Messages = Sequence[tuple[str, str]]
"""(role, text), the role one of "system", "user" and "assistant"."""


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
