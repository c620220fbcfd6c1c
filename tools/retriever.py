"""The retriever embeds questions and ranks passages; long-lived and read-only."""

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial

import numpy as np

from ..graph_store.graph_index import GraphIndex
from ..graph_store.knowledge_base import KnowledgeBase
from ..models.embedding.embedder import Vectors, as_queries
from ..models.embedding.unbundled import Reranker
from ..models.parsing.parser import Parser
from ..runtime.budgets import Account, charge_calls
from ..schemas.graph_schema import GraphSchema
from ..schemas.retrieval import EVERYTHING, Passage, Switches
from ..text.section_lines import metadata_line
from .graph_names import LabelledTerms, terms_of
from .ranking.fusion import Query, Scores, best_rows, compare, rank_chunks
from .ranking.nested_english import split_question

_CACHED_QUESTIONS = 16  # with their cosines: 8 MB each for a million facts and as many chunks
_CACHED_TEXTS = 1 << 10  # documents whose metadata, and questions whose steps are cached
_ABOUT_TOKENS = 40  # tokens of a document's metadata: author, date, source and a few more
# A cross-encoder's scores have a scale of their own, so ranks are fused: 1 / (60 + rank) in the ranking, plus the same
# by the cross-encoder (Cormack, Clarke and Büttcher 2009).
_RANK_OFFSET = 60


@dataclass(frozen=True)
class RankingModels:
    """The parser of questions, and the cross-encoder, if there is one, with how many passages it reorders."""

    parser: Parser = field(default_factory=Parser)
    reranker: Callable[[], Reranker | None] = lambda: None
    reordered: int = 30


class Retriever:
    """Embedded questions and ranked passages, over one state of a knowledge base."""

    def __init__(self, knowledge_base: KnowledgeBase, account: Account | None = None,
                 models: RankingModels | None = None) -> None:
        """Read the knowledge base into memory; what embedding questions costs goes to the account."""
        self.account, self.models = account, models or RankingModels()
        self.index = GraphIndex(knowledge_base)
        # The cached functions do not refer to this object: a cycle would delay its release, and the index stays mapped.
        # Compares a question with everything in the index.
        self.compare = lru_cache(_CACHED_QUESTIONS)(partial(_compare, self.index, account))
        self._metadata_line = lru_cache(_CACHED_TEXTS)(lambda document: metadata_line(
            knowledge_base.documents.metadata(document), _ABOUT_TOKENS))
        split = lru_cache(_CACHED_TEXTS)(partial(split_question, parser=self.models.parser,
                                                 names_in=self.index.name_trie.find))
        index, compare_one = self.index, self.compare

        def steps(question: str) -> list[tuple[Query, Sequence[int]]]:
            return [(compare_one(step.text), step.waits_for) for step in split(question)]

        # A question and the steps that it is nested of, compared; each has the numbers of those that it waits for.
        self.steps = steps
        self._weigh_chunks = lru_cache(_CACHED_QUESTIONS)(
            lambda question, switches: rank_chunks(index, steps(question), switches))
        self._lock = threading.RLock()
        self._last_terms: LabelledTerms | None = None

    def rank_passages(self, question: str, limit: int, *, switches: Switches = EVERYTHING,
                      documents: Collection[str] | None = None, reranks: bool = True) -> list[tuple[str, float]]:
        """Return the best passages for a question, of some documents if given: (chunk id, weight), best first.

        Without `reranks`, they are in the order before the reranker, which takes longer than the ranking.
        """
        scores = self._weigh_chunks(question, switches)
        scores = self.index.versions.rank(scores, question)  # older versions of documents behind newer ones
        if documents is not None:
            scores = np.where(self.index.chunks_of(documents), scores, np.float32(0))
        reranker = self.models.reranker() if reranks else None
        if reranker is None:
            return self._best_chunks(scores, limit)
        ranking = self._best_chunks(scores, max(limit, self.models.reordered))
        passages = [self.passage(*ranked) for ranked in ranking[:self.models.reordered]]
        texts = [f"{passage.title}\n{passage.text}".strip() for passage in passages]
        with charge_calls(account=self.account):
            return _rerank(reranker, question, texts, ranking)[:limit]

    def labelled_terms(self, schema: GraphSchema) -> LabelledTerms:
        """Return the graph's relations and attributes by what a schema calls them; the last schema's are cached."""
        with self._lock:
            if self._last_terms is None or self._last_terms.schema is not schema:
                self._last_terms = LabelledTerms(self.index, schema)
            return self._last_terms

    def term_cosines(self, question: Vectors) -> dict[str, float]:
        """Return the cosine of a question's unit vector, shape (d,), to the name of each relation and attribute."""
        names, vectors = self._term_vectors
        return dict(zip(names, np.vecdot(vectors, question).round(6).tolist(), strict=True)) if names else {}

    @cached_property
    def _term_vectors(self) -> tuple[list[str], Vectors]:
        """The names of all terms, and their unit vectors, shape (terms, d)."""
        names = [term.name for term in terms_of(self.index)]
        stored = {name: vector for name in names if (vector := self.index.label_vector(name)) is not None}
        missing = [name for name in names if name not in stored]
        with charge_calls(account=self.account):
            new = self.index.embedder.encode([name.replace("_", " ") for name in missing]) if missing else ()
        stored |= zip(missing, new, strict=True)
        return names, np.array([stored[name] for name in names], np.float32)

    def _best_chunks(self, scores: Scores, limit: int) -> list[tuple[str, float]]:
        """Return the best chunks as (id, weight), best first; chunks without weight are left out."""
        order = best_rows(scores, min(limit, int(np.count_nonzero(scores > 0))))
        return [(self.index.chunk_row.at(row), float(scores[row])) for row in order.tolist()]

    def passage(self, chunk_id: str, score: float) -> Passage:
        """Return a ranked chunk with its text."""
        chunk = self.index.chunks[self.index.chunk_row[chunk_id]]
        return Passage(chunk_id=chunk.id, document=chunk.document_id, title=chunk.title, text=chunk.text,
                       heading=chunk.heading, start=chunk.start, score=score, said_on=chunk.said_on)

    def with_metadata(self, passage: Passage) -> Passage:
        """Return a passage with its document's metadata, cut if that is long."""
        about = self._metadata_line(passage.document)
        return passage.model_copy(update={"about": about}) if about else passage


def _compare(index: GraphIndex, account: Account | None, question: str) -> Query:
    """Embed a question, at the cost of the account, and compare it with everything in the index."""
    with charge_calls(account=account):
        (vector,) = as_queries(index.embedder).encode([question])
    return compare(index, question, vector)


def _rerank(reranker: Reranker, question: str, texts: Sequence[str],
            ranking: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Reorder the first passages of a ranking, whose texts are given, by both orders; ties keep that of the ranking."""
    if not (count := len(texts)):
        return list(ranking)
    ranks = np.arange(1, count + 1)
    costs = -np.asarray(reranker.scores(question, texts))  # the lowest first
    reranks = np.searchsorted(np.sort(costs), costs) + 1  # equal scores share the best rank
    fused = 1 / (_RANK_OFFSET + ranks) + 1 / (_RANK_OFFSET + reranks)
    order = np.argsort(-np.round(fused, 12), kind="stable")  # rounded, so that equal sums are ties
    # Weights belong to ranks, so the remaining passages never rank above.
    weights = [weight for _, weight in ranking]
    ids = [ranking[int(row)][0] for row in order] + [chunk for chunk, _ in ranking[count:]]
    return list(zip(ids, weights, strict=True))
