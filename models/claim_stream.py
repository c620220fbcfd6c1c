"""The claims of an answer, read while a model is still writing it.

The listener is set for a block, like LangChain's callbacks, so that no layer between a node of the graph and the LLM
client has to pass it on. A client that cannot stream ignores it.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jiter
from pydantic import ValidationError

from ..schemas.retrieval import Claim
from ..text.cleaning import clean_json

OnClaims = Callable[[Sequence[Claim]], Awaitable[None]]
"""Called with all claims that are complete so far, each time that there is a new one."""
OnText = Callable[[str], Awaitable[None]]
"""Called with the reply so far, each time that there is more of it."""

_LONGEST_REPLY = 50_000
"""Characters of a reply in which claims are looked for: far more than an answer has."""

_LISTENER: ContextVar[OnText | None] = ContextVar("banyan_claim_listener", default=None)


def complete_claims(reply: str) -> list[Claim]:
    """Return the claims in the part of a reply that has arrived, up to the first one that is incomplete or invalid.

    There are none unless the reply says before them that it answers. Claims in a `<think>` block do not count.
    """
    answer = reply[reply.rfind("</think") + 1:]  # what follows the last block, or all, as `rfind` then returns -1
    start = answer.find("{")
    if start < 0 or answer.lstrip().startswith("<think"):
        return []
    try:
        fields: Any = jiter.from_json(answer[start:].encode(errors="replace"), partial_mode="trailing-strings")
    except ValueError:
        return []
    names = list(fields)
    if fields.get("answerable") is not True or "claims" not in names or not isinstance(fields["claims"], list):
        return []
    if names.index("claims") < names.index("answerable"):
        return []
    # The last claim may be incomplete as long as no other field follows.
    written = fields["claims"] if names[-1] != "claims" else fields["claims"][:-1]
    claims: list[Claim] = []
    for value in written:
        try:
            claims.append(Claim.model_validate(clean_json(value)))
        except ValidationError:
            break
    return claims


@contextmanager
def claims_to(on_claims: OnClaims) -> Iterator[None]:
    """Call a function with the claims of the answer that a model writes within the block."""
    read_length = claim_count = 0

    async def on_text(reply: str) -> None:
        """Pass the claims on if the new part of the reply may complete one, by a bracket or the field that follows."""
        nonlocal read_length, claim_count
        if len(reply) < read_length:  # the model was called again and begins another reply
            read_length = claim_count = 0
        new_text, read_length = reply[read_length:], len(reply)
        if not any(sign in new_text for sign in '}]"') or len(reply) > _LONGEST_REPLY:
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
