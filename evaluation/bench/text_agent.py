"""A plain agent over text alone: keyword and dense search over passages, reading on in a document, no graph.

It has the prompt, the budget and the form of evidence of Banyan's own agent, so what differs is the graph.
"""

from collections.abc import Collection, Sequence

import numpy as np

from ...agents.retrieval.evidence import (
    ROUND_SHARE,
    completed_round,
    dropped_numbers,
    items_of,
    seen_chunks,
)
from ...graph_store.index.lexical import LexicalIndex
from ...models.reasoner import Reasoner
from ...runtime.threads import in_thread
from ...schemas.inquiry import Block, Inquiry, Judgement, Round
from ...schemas.lookups import PassageLookup, Tool
from ...schemas.retrieval import DraftAnswer, Mode, Passage
from ...tools.passages import passage_items
from ...tools.retriever import Retriever
from ..baselines import Baseline
from .arms import fuse_rankings

STEPS = 15
"""Rounds of searches after the first one."""
TOOLS: tuple[Tool, ...] = ("passage_search",)
_LONGEST_QUERY = 1000


class TextAgent:
    """The agent of one knowledge base, of which it reads only the passages; safe to use from several threads.

    Args:
        retriever: the knowledge base.
        dense: ranks all passages by their vectors.
    """

    def __init__(self, retriever: Retriever, dense: Baseline) -> None:
        self._retriever = retriever
        self._dense = dense
        self._ids = [chunk.id for chunk in retriever.index.chunks]
        self._words = LexicalIndex.of([chunk.titled_text() for chunk in retriever.index.chunks])

    def rank(self, query: str) -> list[str]:
        """Return the ids of all passages by BM25 and vectors, fused by reciprocal rank, best first."""
        scores = self._words.scores(query)
        by_words = [self._ids[row] for row in np.argsort(-scores, kind="stable") if scores[row] > 0]
        return fuse_rankings([by_words, self._dense(query)])

    async def answer(self, question: str, reasoner: Reasoner, mode: Mode,
                     tokens: int) -> tuple[DraftAnswer, list[Passage]]:
        """Search until the reasoner answers or no step is left.

        Args:
            question: the question, which is searched first.
            reasoner: a model, which answers or says what to search.
            mode: what the answer may rest on.
            tokens: the budget of the evidence in one prompt, estimated tokens.

        Returns:
            The answer before its quotes are checked, and the passages that they number.
        """
        share, kept, dropped = int(tokens * ROUND_SHARE), set[int](), list[int]()
        first = await in_thread(self._search, PassageLookup(query=question[:_LONGEST_QUERY]), share, set())
        rounds = [Round(blocks=(first,))]
        for step in range(STEPS + 1):
            judgement = await reasoner.judge(Inquiry(question=question, mode=mode, tools=TOOLS, rounds=tuple(rounds),
                                                     dropped=frozenset(dropped), is_last=step == STEPS))
            if judgement.draft is not None:
                return judgement.draft, list(items_of(rounds))
            kept.update(judgement.keep)
            rounds.append(await in_thread(self._next_round, rounds, judgement, share))
            dropped = dropped_numbers(rounds, kept, dropped, tokens)
        return DraftAnswer(answerable=False, confidence=0.0), list(items_of(rounds))

    def _next_round(self, rounds: Sequence[Round], judgement: Judgement, tokens: int) -> Round:
        """Return a round with what the searches that a reply asks for found."""
        searches = [lookup for lookup in judgement.lookups if isinstance(lookup, PassageLookup)]
        blocks = [[self._search(lookup, tokens, set(seen_chunks(rounds)))] for lookup in searches]
        asked = Round(thought=judgement.thought, lookups=tuple(searches))
        return completed_round(rounds, asked, blocks, tokens)

    def _search(self, lookup: PassageLookup, tokens: int, seen: set[str]) -> Block:
        """Return the best passages that were not shown; in named documents it reads on from the best one."""
        ranking = [key for key in self.rank(lookup.query) if key not in seen]
        if any(lookup.documents):
            ranking = self._read_on(ranking, self._retriever.index.documents_with(lookup.documents))
        items = passage_items(self._retriever, ((key, 1 / rank) for rank, key in enumerate(ranking, 1)), tokens, seen)
        note = "" if items else "nothing that was not shown before"
        return Block(title=f"passages: {lookup.query}", items=tuple(items), note=note)

    def _read_on(self, ranking: Sequence[str], documents: Collection[str]) -> list[str]:
        """Return the ranked passages of some documents: the best one with what follows it, then the others."""
        chunks, rows = self._retriever.index.chunks, self._retriever.index.chunk_row
        inside = dict.fromkeys(key for key in ranking if chunks[rows[key]].document_id in documents)
        if not inside:
            return []
        best = rows[next(iter(inside))]
        following = [chunks[row].id for row in range(best, len(chunks))
                     if chunks[row].document_id == chunks[best].document_id]
        return [key for key in dict.fromkeys([*following, *inside]) if key in inside]
