"""The typed interface of every step that needs language understanding."""

from collections.abc import Sequence
from typing import Protocol

from ..schemas.errors import BanyanError
from ..schemas.extraction import Extraction, ExtractionRequest
from ..schemas.graph_schema import GraphSchema
from ..schemas.inquiry import Inquiry, Judgement
from ..schemas.resolution import EntityPair, PairVerdict
from ..schemas.retrieval import CommunityDigest, CommunitySummary


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
        """Return the entities, triples and attributes of each of some chunks, which may share a call.

        They are in the schema's terms where they fit.
        """

    @property
    def resolves(self) -> bool:
        """Whether it can tell doubtful pairs of entities apart at all."""

    @property
    def reasons(self) -> bool:
        """Whether it judges evidence: then each of its calls costs, and each item that it reads.

        A reasoner that only finds and quotes reads more of what search ranks, and looks nothing up.
        """

    def with_instructions(self, instructions: str) -> "Reasoner":
        """Return a reasoner whose answers follow these wishes for their wording: tone, length, format, language."""

    async def resolve(self, pairs: Sequence[EntityPair]) -> list[PairVerdict | None]:
        """Judge whether the two entities of each pair are the same thing, in order; None where it cannot tell."""

    async def summarise(self, communities: Sequence[CommunityDigest]) -> list[CommunitySummary]:
        """Return a name and a description for each community, in order."""

    async def judge(self, inquiry: Inquiry) -> Judgement:
        """Answer from the evidence, or say what to look up next.

        A claim names the items that support it, by their number. Whether a doubtful answer is shown is for the caller
        to decide, by its `confidence`.
        """

    async def condense(self, question: str, messages: Sequence[tuple[str, str]]) -> str:
        """Return a follow-up question made to stand alone; `messages` are (role, text), oldest first."""
