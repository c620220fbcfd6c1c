"""The rules reasoner, the default: no language model, no network."""

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

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
        return "rules-11"

    def extract(self, request: ExtractionRequest, schema: GraphSchema) -> Extraction:
        """Extract entities and facts; see `RulesReader.extract`."""
        return self._extractor.extract(request, schema)

    async def aextract(self, request: ExtractionRequest, schema: GraphSchema) -> Extraction:
        """Extract in a thread; see `extract`."""
        return await asyncio.to_thread(self.extract, request, schema)

    async def aextract_together(self, requests: Sequence[ExtractionRequest], schema: GraphSchema) -> list[Extraction]:
        """Extract one after the other; see `extract`."""
        return [await self.aextract(request, schema) for request in requests]

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

    def resolve(self, pairs: Sequence[EntityPair]) -> list[PairVerdict | None]:
        """Never merge: a wrong merge is worse than a missed one."""
        return [None] * len(pairs)

    def summarise(self, communities: Sequence[CommunityDigest]) -> list[CommunitySummary]:
        """Summarise communities; see `summaries.summarise`."""
        return summaries.summarise(communities)

    def judge(self, inquiry: Inquiry) -> Judgement:
        """Answer from the evidence in all modes alike; see `Answers.answer`. It never looks further."""
        return Judgement(draft=self._answers.answer(inquiry.question, list(inquiry.items())))

    def condense(self, question: str, messages: Sequence[tuple[str, str]]) -> str:
        """Make a follow-up question self-contained; see `follow_ups.condense`."""
        return follow_ups.condense(question, messages)

    async def ajudge(self, inquiry: Inquiry) -> Judgement:
        """Judge in a thread."""
        return await asyncio.to_thread(self.judge, inquiry)

    async def acondense(self, question: str, messages: Sequence[tuple[str, str]]) -> str:
        """Condense in a thread."""
        return await asyncio.to_thread(self.condense, question, messages)
