"""The rules reasoner, the default: no language model, no network."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ...runtime.threads import in_thread
from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema
from ...schemas.inquiry import Inquiry, Judgement
from ...schemas.resolution import EntityPair, PairVerdict
from ...schemas.retrieval import CommunityDigest, CommunitySummary
from ..parsing.parser import Parser
from . import follow_ups, summaries
from .answers import Answers

if TYPE_CHECKING:
    from .reader import RulesReader


class RulesReasoner:
    """The `Reasoner` with patterns and word lists: it finds and quotes, and does not know any facts itself.

    All modes therefore answer alike. Safe for threads.
    """

    def __init__(self, parser: Parser | None = None) -> None:
        self._parser = parser or Parser()
        self._answers = Answers(self._parser)

    @cached_property
    def _extractor(self) -> "RulesReader":
        from .reader import RulesReader  # noqa: PLC0415  (questions need no extraction)

        return RulesReader(self._parser)

    @property
    def fingerprint(self) -> str:
        """The version of the rules; it changes when they would extract something else."""
        return "rules-13"

    def extract_together(self, requests: Sequence[ExtractionRequest], schema: GraphSchema) -> list[Extraction]:
        """Extract entities and facts of chunks; see `RulesReader.extract`."""
        return self._extractor.extract(requests, schema)

    async def extract(self, requests: Sequence[ExtractionRequest], schema: GraphSchema) -> list[Extraction]:
        """See `extract_together`."""
        return await in_thread(self.extract_together, requests, schema)

    def with_instructions(self, instructions: str) -> "RulesReasoner":
        """Return this reasoner: quotes are not worded."""
        del instructions
        return self

    @property
    def resolves(self) -> bool:
        """Always False: names and facts are resolved without it."""
        return False

    @property
    def reasons(self) -> bool:
        """Return False: it finds and quotes."""
        return False

    async def resolve(self, pairs: Sequence[EntityPair]) -> list[PairVerdict | None]:
        """Never merge: a wrong merge is worse than a missed one."""
        return [None] * len(pairs)

    async def summarise(self, communities: Sequence[CommunityDigest]) -> list[CommunitySummary]:
        """Summarise communities; see `summaries.summarise`."""
        return await in_thread(summaries.summarise, communities)

    async def judge(self, inquiry: Inquiry) -> Judgement:
        """Answer from the evidence in all modes alike; see `Answers.answer`. It never looks further."""
        return Judgement(draft=await in_thread(self._answers.answer, inquiry.question, list(inquiry.items())))

    async def condense(self, question: str, messages: Sequence[tuple[str, str]]) -> str:
        """Make a follow-up question self-contained; see `follow_ups.condense`."""
        return await in_thread(follow_ups.condense, question, messages)
