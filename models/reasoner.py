"""The typed interface of every step that needs language understanding, and the claims of an answer as it is written.

The listener for claims is set for a block, like LangChain's callbacks, so that no layer between a node of the graph and
the LLM client has to pass it on. A client that cannot stream ignores it.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import jiter
from pydantic import ValidationError

from ..schemas.errors import BanyanError
from ..schemas.extraction import Extraction, ExtractionRequest
from ..schemas.graph_schema import GraphSchema
from ..schemas.inquiry import Inquiry, Judgement
from ..schemas.resolution import EntityPair, PairVerdict
from ..schemas.retrieval import Claim, CommunityDigest, CommunitySummary
from ..text.cleaning import clean_json

OnClaims = Callable[[Sequence[Claim]], Awaitable[None]]
"""Called with all claims that are complete so far, each time that there is a new one."""
OnText = Callable[[str], Awaitable[None]]  # called with the reply so far, each time that there is more of it

_LONGEST_REPLY = 50_000  # characters in which claims are looked for: far more than an answer has
_LISTENER: ContextVar[OnText | None] = ContextVar("banyan_claim_listener", default=None)  # see `text_listener`


class ReasonerError(BanyanError):
    """A step failed for good: the endpoint refused, or its answer stayed unusable after a repair."""


class Reasoner(Protocol):
    """Understands language. Implementations: `rules` (no model) and `llm` (any OpenAI endpoint).

    Its coroutines may run on several event loops at once. Each raises `ReasonerError` when it failed for good.
    """

    @property
    def fingerprint(self) -> str:
        """Names the implementation and model; part of the identity of what it extracted."""

    async def extract(self, requests: Sequence[ExtractionRequest], schema: GraphSchema) -> list[Extraction]:
        """Return what each of some chunks states, in the schema's terms where they fit; the chunks may share a call."""

    @property
    def resolves(self) -> bool:
        """Whether it can tell doubtful pairs of entities apart at all."""

    @property
    def can_reason(self) -> bool:
        """Whether it judges evidence, which costs for each item; others only quote, and read more of what is ranked."""

    def with_instructions(self, instructions: str) -> "Reasoner":
        """Return a reasoner whose answers follow these wishes for their wording: tone, length, format, language."""

    async def resolve(self, pairs: Sequence[EntityPair]) -> list[PairVerdict | None]:
        """Judge whether the two entities of each pair are the same thing, in order; None where it cannot tell."""

    async def summarise(self, communities: Sequence[CommunityDigest]) -> list[CommunitySummary]:
        """Return a name and a description for each community, in order."""

    async def judge(self, inquiry: Inquiry) -> Judgement:
        """Answer from the evidence, or say what to look up next; a claim names the items that support it by number."""

    async def condense(self, question: str, messages: Sequence[tuple[str, str]]) -> str:
        """Return a follow-up question made to stand alone; `messages` are (role, text), oldest first."""


def complete_claims(reply: str) -> list[Claim]:
    """Return the claims in the part of a reply that has arrived, up to the first one that is incomplete or invalid.

    There are none unless the reply says before them that it answers. Claims in a `<think>` block do not count.
    """
    answer = reply[reply.rfind("</think") + 1:]  # what follows the last block, or all, as `rfind` then returns -1
    start = answer.find("{")
    if start < 0 or answer.lstrip().startswith("<think"):  # it has not begun, or is still in a block
        return []
    try:
        fields: Any = jiter.from_json(answer[start:].encode(errors="replace"), partial_mode="trailing-strings")
    except ValueError:
        return []
    written_claims = fields.get("claims")
    names = list(fields)  # in the order in which they are written
    if fields.get("answerable") is not True or not isinstance(written_claims, list):
        return []
    if names.index("claims") < names.index("answerable"):  # written before the verdict, they may be drafts
        return []
    if names[-1] == "claims":  # the last claim may be incomplete as long as no other field follows
        written_claims = written_claims[:-1]
    claims: list[Claim] = []
    for value in written_claims:
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
        nonlocal read_length, claim_count
        if len(reply) < read_length:  # the model was called again and begins another reply
            claim_count = 0
        read_length = len(reply)
        claims = complete_claims(reply) if len(reply) <= _LONGEST_REPLY else []
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
