"""Trying out an endpoint: one small call, paid by nobody's budget and stored nowhere."""

import asyncio
from time import monotonic
from typing import Any, NamedTuple

from ...config import Settings
from ...runtime.event_loop import run
from ..reasoner import ReasonerError
from .capability import FORMS, Refusals
from .endpoint import Reply, name_of, open_client

_SCHEMA: dict[str, Any] = {"title": "Ready", "type": "object", "properties": {"ready": {"type": "boolean"}},
                           "required": ["ready"], "additionalProperties": False}
_SECONDS = 20.0


class Trial(NamedTuple):
    """What came back."""

    seconds: float
    tokens: int


def try_out(settings: Settings) -> Trial:
    """Ask the settings' model once, without retries.

    It is a separate client: a wrong key opens no breaker, and what is learnt of the endpoint is learnt again.

    Raises:
        ReasonerError: the call failed; names the model, the cause and the fix, not the key.
    """
    settings = settings.model_copy(update={"llm_retries": 0, "llm_timeout": min(settings.llm_timeout, _SECONDS)})
    started = monotonic()
    reply = run(_send, settings)
    return Trial(monotonic() - started, reply.prompt_tokens + reply.completion_tokens)


async def _send(settings: Settings) -> Reply:
    send = open_client(settings)
    try:
        # The client's own limit is on each wait for a byte, of which there may be many.
        async with asyncio.timeout(settings.llm_timeout):
            return await send([("user", 'Reply with this JSON object and nothing else: {"ready": true}')], _SCHEMA,
                              FORMS, Refusals(name_of(settings)))
    except TimeoutError:
        raise ReasonerError(f"{name_of(settings)}: it did not answer within {settings.llm_timeout:g} s; see to the "
                            "endpoint, then try again") from None
