"""Published methods that rank passages, for comparison: they use a knowledge base's embedder, passages and triples.

They read the store directly and share only the lexical index with `tools/`, so they do not change when the package's
retrieval changes. All their parameters are the published ones.
"""

from collections.abc import Callable

import numpy as np
from banyan.graph_store.index.lexical import LexicalIndex
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.models.embedding.embedder import Vectors, as_queries
from banyan.schemas.documents import Chunk
from banyan.schemas.naming import triple_id
from numpy.typing import NDArray
from scipy import sparse

Scores = NDArray[np.float64]
Baseline = Callable[[str], list[str]]
"""A function that ranks the ids of all chunks for a question, best first."""

# HippoRAG 2's own defaults (OSU-NLP-Group/HippoRAG, utils/config_utils.py and HippoRAG.py).
_BEST_FACTS = 5
_PASSAGE_WEIGHT = 0.05
_DAMPING = 0.5
_SYNONYM_COSINE = 0.8
_MOST_SYNONYMS = 100
# The error of the walk after n steps is at most damping^n; 2^-40 is far below any relevant difference of weights.
_WALK_STEPS = 40
_BLOCK_ROWS = 1000


def searchable_chunks(knowledge_base: KnowledgeBase) -> list[Chunk]:
    """Return the chunks that have a vector, by document and position."""
    chunks = knowledge_base.documents.chunks()
    without_vector = {chunk.id for chunk in chunks} - knowledge_base.vectors.ids("chunks")
    return [chunk for chunk in chunks if chunk.id not in without_vector]


def baselines(knowledge_base: KnowledgeBase) -> dict[str, Baseline]:
    """Return the baselines by their names: BM25, dense passages, and HippoRAG 2's personalised PageRank.

    Each ranks chunks. BM25 scores whole documents (title and text), which works better than chunks if documents are
    long; a document's place in the ranking is then taken by its chunks, in order.
    """
    chunks = searchable_chunks(knowledge_base)
    ids = [chunk.id for chunk in chunks]
    vectors = knowledge_base.vectors.get("chunks", ids)
    chunks_of: dict[str, list[str]] = {}
    for chunk in chunks:
        chunks_of.setdefault(chunk.document_id, []).append(chunk.id)
    documents = [knowledge_base.documents.get(document_id) for document_id in chunks_of]
    lexical = LexicalIndex.of([f"{document.title}\n{document.text}" for document in documents])
    walk = FactWalk(knowledge_base, ids, vectors)

    def encode_question(question: str) -> Vectors:
        return np.asarray(as_queries(knowledge_base.embedder).encode([question])[0])

    def rank_by_words(question: str) -> list[str]:
        order = np.argsort(-lexical.scores(question), kind="stable")
        return [chunk_id for row in order for chunk_id in chunks_of[documents[row].id]]

    def sort_chunks(scores: NDArray[np.floating]) -> list[str]:
        return [ids[row] for row in np.argsort(-scores, kind="stable")]

    return {"BM25": rank_by_words,
            "dense passages": lambda question: sort_chunks(vectors @ encode_question(question)),
            "HippoRAG 2": lambda question: sort_chunks(walk.scores(encode_question(question)))}


class FactWalk:
    """HippoRAG 2's walk (Gutiérrez et al. 2025) without its LLM filter of facts.

    The nodes are the passages and the names in triples (heads and tails, regardless of type). The edges are:
    - Between head and tail of a triple, in each direction: its weight is the number of passages that state the triple.
    - Between a passage and each name in its triples: weight 1.
    - Between two names with a cosine of at least 0.8, in each direction: its weight is the cosine, which replaces the
      weight from triples. As in the original, names with fewer than three ASCII letters and digits start no such edge.
    """

    def __init__(self, knowledge_base: KnowledgeBase, chunk_ids: list[str], chunk_vectors: Vectors) -> None:
        """Read the triples and prepare the walk; the unit vectors of the passages have shape (chunks, d)."""
        graph = knowledge_base.graph
        edges = graph.edges()
        entity_of = {graph.entity_text(entity): entity for head, _, tail in edges for entity in (head, tail)}
        names = sorted(entity_of)
        name_row = {name: row for row, name in enumerate(names)}
        chunk_row = {chunk_id: row for row, chunk_id in enumerate(chunk_ids)}
        self._chunk_vectors = chunk_vectors
        self._fact_vectors = knowledge_base.vectors.get("triples", [triple_id(*edge) for edge in edges])
        self._ends = [(name_row[graph.entity_text(head)], name_row[graph.entity_text(tail)])
                      for head, _, tail in edges]
        self._passages: list[set[int]] = [set() for _ in names]  # the passages whose triples have the name
        weights: dict[tuple[int, int], float] = {}
        for edge, (head, tail) in zip(edges, self._ends, strict=True):
            passages = [chunk_row[chunk] for chunk in graph.support(edge) if chunk in chunk_row]
            for start, end in ((head, tail), (tail, head)):
                self._passages[start].update(passages)
                if start != end:
                    weights[start, end] = weights.get((start, end), 0.0) + len(passages)
        vectors = knowledge_base.vectors.get("entities", [entity_of[name] for name in names])
        weights.update(_synonym_weights(names, vectors))
        # The nodes of the passages follow those of the names.
        weights.update({(len(names) + passage, name): 1.0
                        for name, passages in enumerate(self._passages) for passage in sorted(passages)})
        self._name_count = len(names)
        self._transition = _column_stochastic(weights, len(names) + len(chunk_ids))

    def scores(self, question: Vectors) -> Scores:
        """Return the weight that the walk from a question gives to each passage.

        Args:
            question: the question's unit vector, shape (d,).

        Returns:
            Shape (chunks,). Without any triple these are the passages' cosines scaled to 0..1, as in the original.
        """
        dense = _scale(self._chunk_vectors @ question)
        if not self._ends:
            return dense
        restart = np.concatenate([self._name_weights(_scale(self._fact_vectors @ question)), _PASSAGE_WEIGHT * dense])
        restart /= restart.sum()
        weights = restart
        for _ in range(_WALK_STEPS):
            weights = _DAMPING * (self._transition @ weights) + (1 - _DAMPING) * restart
        return np.asarray(weights[self._name_count:])

    def _name_weights(self, fact_scores: Scores) -> Scores:
        """Return the weight of each name at the start of the walk, shape (names,); zero for all but five names."""
        scores_of: dict[int, list[float]] = {}
        for row in np.argsort(-fact_scores, kind="stable")[:_BEST_FACTS]:
            for name in self._ends[row]:
                scores_of.setdefault(name, []).append(float(fact_scores[row]) / max(1, len(self._passages[name])))
        means = {name: sum(scores) / len(scores) for name, scores in scores_of.items()}
        weights = np.zeros(self._name_count)
        for name in sorted(means, key=lambda candidate: (-means[candidate], candidate))[:_BEST_FACTS]:
            weights[name] = means[name]
        return weights


def _synonym_weights(names: list[str], vectors: Vectors) -> dict[tuple[int, int], float]:
    """Return the weights of the edges between similar names: their cosine, if it is at least 0.8."""
    # Names with fewer than three ASCII letters and digits start no edge, as in the original.
    rows = [row for row, name in enumerate(names) if sum(c.isascii() and c.isalnum() for c in name) > 2]
    weights: dict[tuple[int, int], float] = {}
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = rows[start : start + _BLOCK_ROWS]
        cosines = vectors[block] @ vectors.T
        cosines[np.arange(len(block)), block] = -1  # a name is no synonym of itself
        for position, row in enumerate(block):
            near = np.flatnonzero(cosines[position] >= _SYNONYM_COSINE)
            for other in near[np.argsort(-cosines[position, near], kind="stable")][:_MOST_SYNONYMS]:
                weights[row, int(other)] = float(cosines[position, other])
    return weights


def _column_stochastic(weights: dict[tuple[int, int], float], nodes: int) -> sparse.csr_array:
    """Return the transition matrix of a walk over undirected weighted edges, shape (nodes, nodes)."""
    rows, columns = np.array(sorted(weights), np.intp).reshape(-1, 2).T
    values = np.array([weights[key] for key in sorted(weights)], np.float64)
    directed = sparse.coo_array((values, (rows, columns)), shape=(nodes, nodes)).tocsr()
    undirected = directed + directed.T
    strength = np.asarray(undirected.sum(axis=0)).ravel()
    inverse = np.divide(1.0, strength, out=np.zeros_like(strength), where=strength > 0)
    return sparse.csr_array(undirected @ sparse.diags_array(inverse))


def _scale(scores: NDArray[np.floating]) -> Scores:
    """Scale scores to 0..1; return ones if all are equal, as in the original."""
    low, high = float(scores.min()), float(scores.max())
    return ((scores - low) / (high - low)).astype(np.float64) if high > low else np.ones(len(scores))
