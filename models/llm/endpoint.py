"""What is sent to a model and comes back, with its tokens: the interface of everything that sends calls."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ...config import Settings
from ...schemas.services import effort_of

Messages = Sequence[tuple[str, str]]
"""(role, text), the role one of "system", "user" and "assistant"."""
_OPENAI = "https://api.openai.com"
_MOST_TOKENS = 1_000_000_000
"""Tokens of one call; more is no count."""


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
    judged: Callable[[bool], None] = _ignore_feedback
    """Call it with whether the answer could be used: the endpoint learns which form of request to send."""


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


def chosen_parameters(settings: Settings) -> dict[str, Any]:
    """Return the parameters of requests that the user has set."""
    effort = effort_of(settings.llm_reasoning_effort, "")
    return ({"reasoning_effort": effort} if effort else {}) | settings.llm_extra_body


def host_of(settings: Settings) -> str:
    """Return the endpoint's host, or the provider that the name of the settings' model begins with."""
    host = urlsplit(settings.llm_base_url or "").netloc
    return host or settings.llm_model.partition(":")[0]


def name_of(settings: Settings) -> str:
    """Return the settings' model, its endpoint's host and the proxy before it, for messages."""
    proxy = proxy_before(settings)
    through = f" (through the proxy {proxy} of HTTP_PROXY, HTTPS_PROXY or ALL_PROXY)" if proxy else ""
    return f"model {settings.llm_model!r} at {host_of(settings)}{through}"


def proxy_before(settings: Settings) -> str:
    """Return the proxy through which requests to the endpoint go, without its password; "" if there is none."""
    parts, proxies = urlsplit(settings.llm_base_url or _OPENAI), getproxies()
    if not parts.hostname or proxy_bypass(parts.hostname):
        return ""
    proxy = urlsplit(proxies.get(parts.scheme) or proxies.get("all") or "")
    return f"{proxy.scheme}://{proxy.netloc.rpartition('@')[2]}" if proxy.netloc else ""


def reported_count(usage: object, *names: str) -> int:
    """Return a count of tokens in what an endpoint reports, the first of some names; 0 if there is none.

    A fraction is rounded up, and what can be no count is ignored.
    """
    for name in names:
        count = usage.get(name) if isinstance(usage, Mapping) else None
        if isinstance(count, int | float) and not isinstance(count, bool) and 0 < count <= _MOST_TOKENS:
            return math.ceil(count)
    return 0
