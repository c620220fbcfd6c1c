"""The rules reasoner: no model, no network. The embedded default, honest about being limited."""

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema
from ...schemas.resolution import EntityPair, PairVerdict
from ...schemas.retrieval import (
    CommunityDigest,
    CommunitySummary,
    DraftAnswer,
    Mode,
    Passage,
    Reflection,
    SubAnswer,
    SubQuery,
)
from ..embedding.embedder import Embedder, RememberingEmbedder
from ..parsing.parser import Parser
from . import summaries
from .answering import answers as answering
from .answering.evidence import Pools
from .questions import decomposition as questions
from .questions import follow_ups

if TYPE_CHECKING:
    from .reader import RulesReader

# The sentences of some twenty contexts of 3,000 tokens; 6 MB.
_VECTORS_KEPT = 4096


class RulesReasoner:
    """Implements `Reasoner` by general grammar, word lists and sentence vectors.

    It quotes; it does not rephrase, infer or know anything of its own, so mode "open" only shows
    the nearest sentence where its confidence does not suffice. Its only state are sentences
    read lately, and their vectors: `reflect` and `answer` read much the same passages. Safe for threads.
    """

    def __init__(self, embedder: Embedder, parser: Parser | None = None) -> None:
        self._embedder = RememberingEmbedder(embedder, _VECTORS_KEPT)
        self._parser = parser or Parser()
        self._pools = Pools(self._embedder, self._parser)

    @cached_property
    def _extractor(self) -> "RulesReader":
        from .reader import RulesReader  # noqa: PLC0415  (questions need no extraction)

        return RulesReader(self._parser)

    @property
    def fingerprint(self) -> str:
        """Names the rules; changes when they would extract something else."""
        return "rules-6"

    def extract(self, request: ExtractionRequest, schema: GraphSchema) -> Extraction:
        """See `RulesReader.extract`."""
        return self._extractor.extract(request, schema)

    async def aextract(self, request: ExtractionRequest, schema: GraphSchema) -> Extraction:
        """As `extract`, in a thread."""
        return await asyncio.to_thread(self.extract, request, schema)

    @property
    def resolves(self) -> bool:
        """No: what names and facts tell is told without it."""
        return False

    def resolve(self, pairs: Sequence[EntityPair]) -> list[PairVerdict | None]:
        """Nothing of any pair: a wrong merge is worse than a missed one."""
        return [None] * len(pairs)

    def summarise(self, communities: Sequence[CommunityDigest]) -> list[CommunitySummary]:
        """See `summaries.summarise`."""
        return summaries.summarise(communities)

    def decompose(self, question: str, schema: GraphSchema, limit: int) -> list[SubQuery]:
        """See `questions.decompose`."""
        return questions.decompose(question, schema, limit, self._parser)

    def reflect(self, question: str, history: Sequence[SubAnswer], passages: Sequence[Passage],
                schema: GraphSchema) -> Reflection:
        """See `answering.reflect`."""
        return answering.reflect(question, history, passages, schema, self._pools)

    def answer(self, question: str, history: Sequence[SubAnswer], passages: Sequence[Passage],
               mode: Mode) -> DraftAnswer:
        """See `answering.answer`; both modes get the same, as the rules know nothing of their own."""
        del mode
        return answering.answer(question, history, passages, self._pools)

    def condense(self, question: str, messages: Sequence[tuple[str, str]]) -> str:
        """See `follow_ups.condense`."""
        return follow_ups.condense(question, messages, self._parser)
