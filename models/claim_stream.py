"""The claims of an answer, read while a model is still writing it.

The listener is set for a block, like LangChain's callbacks, so that no layer between a node of the graph and the LLM
client has to pass it on. A client that cannot stream ignores it.
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
_EVIDENCE_SUFFICES = re.compile(r'"(?:sufficient|answerable)"\s*:\s*true\b')
_CLAIMS_OPENING = re.compile(r'"claims"\s*:\s*\[')
_BETWEEN_CLAIMS = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder(strict=False)
_LONGEST_REPLY = 50_000
"""Characters of a reply in which claims are looked for: far more than an answer has."""

_LISTENER: ContextVar[OnText | None] = ContextVar("banyan_claim_listener", default=None)


def complete_claims(reply: str) -> list[Claim]:
    """Return the claims in the part of a reply that has arrived.

    Args:
        reply: the beginning of a reply in the form of `reflect` or `answer`.

    Returns:
        The claims up to the first one that is incomplete or invalid. There are none unless the reply says before them
        that the evidence suffices. Claims in a `<think>` block do not count.
    """
    answer = reply[reply.rfind("</think") + 1:]  # what follows the last block, or all, as `rfind` then returns -1
    opening = None if answer.lstrip().startswith("<think") else _CLAIMS_OPENING.search(answer)
    if opening is None or not _EVIDENCE_SUFFICES.search(answer, 0, opening.start()):
        return []
    claims: list[Claim] = []
    end = opening.end()
    while True:
        try:
            value, end = _DECODER.raw_decode(answer, _BETWEEN_CLAIMS.match(answer, end).end())  # type: ignore[union-attr]
            claims.append(Claim.model_validate(clean_json(value)))
        except (ValidationError, ValueError, RecursionError):
            return claims


@contextmanager
def claims_to(on_claims: OnClaims) -> Iterator[None]:
    """Call a function with the claims of the answer that a model writes within the block."""
    read_length = claim_count = 0

    async def on_text(reply: str) -> None:
        """Pass the claims on if the new part of the reply completes one: a claim ends with a brace."""
        nonlocal read_length, claim_count
        if len(reply) < read_length:  # the model was called again and begins another reply
            read_length = claim_count = 0
        new_text, read_length = reply[read_length:], len(reply)
        if "}" not in new_text or len(reply) > _LONGEST_REPLY:
            return
        claims = complete_claims(reply)
        if len(claims) > claim_count:
            claim_count = len(claims)
            await on_claims(claims)

    token = _LISTENER.set(on_text)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def text_listener() -> OnText | None:
    """Return the function to call with the text of a reply as it arrives, or None if nobody listens."""
    return _LISTENER.get()
