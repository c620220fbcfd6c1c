"""The claims of an answer, read while a model is still writing it.

The listener is set for a block, as LangChain's callbacks are, so no layer between a node and the client passes it on.
A client that cannot stream ignores it.
"""

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from pydantic import ValidationError

from ..schemas.retrieval import Claim
from ..text.cleaning import clean_json

OnClaims = Callable[[Sequence[Claim]], Awaitable[None]]
"""Called with all claims that are complete so far, each time that there is a new one."""
OnText = Callable[[str], Awaitable[None]]
"""Called with the reply so far, each time that there is more of it."""

# In a JSON string, the quotation marks would be escaped: these match names of fields only.
_SUFFICES = re.compile(r'"(?:sufficient|answerable)"\s*:\s*true\b')
_CLAIMS = re.compile(r'"claims"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder(strict=False)
_LONGEST = 50_000
"""Characters of a reply in which claims are looked for: far more than an answer has."""

_LISTENER: ContextVar[OnText | None] = ContextVar("banyan_claim_listener", default=None)


def complete_claims(reply: str) -> list[Claim]:
    """Return the claims in the part of a reply that has arrived.

    Args:
        reply: the beginning of a reply in the form of `reflect` or `answer`.

    Returns:
        The claims up to the first that is incomplete or invalid; none unless the reply says before them that the
        evidence suffices. A draft in a `<think>` block does not count.
    """
    answer = reply[reply.rfind("</think") + 1:]
    opening = None if answer.lstrip().startswith("<think") else _CLAIMS.search(answer)
    if opening is None or not _SUFFICES.search(answer, 0, opening.start()):
        return []
    claims: list[Claim] = []
    end = opening.end()
    while True:
        try:
            value, end = _DECODER.raw_decode(answer, _BETWEEN.match(answer, end).end())  # type: ignore[union-attr]
            claims.append(Claim.model_validate(clean_json(value)))
        except (ValidationError, ValueError, RecursionError):
            return claims


@contextmanager
def claims_to(on_claims: OnClaims) -> Iterator[None]:
    """Call a function with the claims of the answer that a model writes within the block."""
    read = count = 0

    async def on_text(reply: str) -> None:
        nonlocal read, count
        if len(reply) < read:  # another attempt
            read = count = 0
        piece, read = reply[read:], len(reply)
        if "}" not in piece or len(reply) > _LONGEST:
            return
        claims = complete_claims(reply)
        if len(claims) > count:
            count = len(claims)
            await on_claims(claims)

    token = _LISTENER.set(on_text)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def text_listener() -> OnText | None:
    """Return what is to be called with the text of a reply as it arrives, or None."""
    return _LISTENER.get()
