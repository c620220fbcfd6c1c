"""Published methods that rank passages, over a knowledge base's embedder, passages and triples.

They read the store and share only the lexical index with `tools/`, so they do not change when retrieval does.
All their parameters are the published ones.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..graph_store.index.lexical import LexicalIndex
from ..graph_store.knowledge_base import KnowledgeBase
from ..models.embedding.embedder import Vectors, as_queries
from ..schemas.documents import Chunk
from ..schemas.naming import triple_id

Scores = NDArray[np.float64]
Baseline = Callable[[str], list[str]]
"""A function that ranks the ids of all chunks for a question, best first."""

# HippoRAG 2's own defaults (OSU-NLP-Group/HippoRAG, utils/config_utils.py and HippoRAG.py).
_FACTS = 5
_PASSAGE_WEIGHT = 0.05
_DAMPING = 0.5
_SYNONYM = 0.8
_SYNONYMS = 100
# The error of the walk is at most damping^n: 2^-40 is far below any relevant difference of weights.
_STEPS = 40
_BLOCK = 1000


def searchable_chunks(knowledge_base: KnowledgeBase) -> list[Chunk]:
    """Return the chunks that have a vector, by document and position."""
    chunks = knowledge_base.documents.chunks()
    absent = set(knowledge_base.vectors.missing("chunks", [chunk.id for chunk in chunks]))
    return [chunk for chunk in chunks if chunk.id not in absent]


def baselines(knowledge_base: KnowledgeBase) -> dict[str, Baseline]:
    """Return BM25, dense passages, and HippoRAG 2's personalised PageRank, by their names in a table.

    BM25 ranks whole documents (title and text), which works better than chunks if documents are long. A document then
    represents its chunks in order.
    """
    chunks = searchable_chunks(knowledge_base)
    ids = [chunk.id for chunk in chunks]
    vectors = knowledge_base.vectors.get("chunks", ids)
    chunks_of: dict[str, list[str]] = {}
    for chunk in chunks:
        chunks_of.setdefault(chunk.document_id, []).append(chunk.id)
    documents = [knowledge_base.documents.get(one) for one in chunks_of]
    lexical = LexicalIndex.of([f"{document.title}\n{document.text}" for document in documents])
    walk = FactWalk(knowledge_base, ids, vectors)

    def encode_question(question: str) -> Vectors:
        return np.asarray(as_queries(knowledge_base.embedder).encode([question])[0])

    def by_words(question: str) -> list[str]:
        order = np.argsort(-lexical.scores(question), kind="stable")
        return [one for row in order for one in chunks_of[documents[row].id]]

    def best_first(scores: NDArray[np.floating]) -> list[str]:
        return [ids[row] for row in np.argsort(-scores, kind="stable")]

    return {"BM25": by_words,
            "dense passages": lambda question: best_first(vectors @ encode_question(question)),
            "HippoRAG 2": lambda question: best_first(walk.scores(encode_question(question)))}


class FactWalk:
    """HippoRAG 2's walk (Gutiérrez et al. 2025) without its LLM filter of facts.

    Nodes are the passages, and the names of the triples' ends regardless of type. There are two edges for each passage
    that states a triple, one edge between a passage and each name in its triples, and one edge in each direction
    between names with a cosine of at least 0.8; the latter replace those of triples. Names of fewer than three ASCII
    letters and digits start no such edges, as in the original.
    """

    def __init__(self, knowledge_base: KnowledgeBase, chunk_ids: list[str], chunk_vectors: Vectors) -> None:
        """Read the triples and prepare the walk.

        Args:
            knowledge_base: the source of the triples and vectors.
            chunk_ids: the passages.
            chunk_vectors: the passages' unit vectors, shape (chunks, d).
        """
        graph = knowledge_base.graph
        edges = graph.edges()
        entity_of = {graph.entity_text(one): one for head, _, tail in edges for one in (head, tail)}
        names = sorted(entity_of)
        node = {name: row for row, name in enumerate(names)}
        chunk_row = {one: row for row, one in enumerate(chunk_ids)}
        self._chunk_vectors = chunk_vectors
        self._fact_vectors = knowledge_base.vectors.get("triples", [triple_id(*edge) for edge in edges])
        self._ends = [(node[graph.entity_text(head)], node[graph.entity_text(tail)]) for head, _, tail in edges]
        self._passages: list[set[int]] = [set() for _ in names]
        weights: dict[tuple[int, int], float] = {}
        for edge, (head, tail) in zip(edges, self._ends, strict=True):
            stated = [chunk_row[chunk] for chunk in graph.support(edge) if chunk in chunk_row]
            for one, other in ((head, tail), (tail, head)):
                self._passages[one].update(stated)
                if one != other:
                    weights[one, other] = weights.get((one, other), 0.0) + len(stated)
        vectors = knowledge_base.vectors.get("entities", [entity_of[name] for name in names])
        weights.update(_likenesses(names, vectors))
        weights.update({(len(names) + chunk, name): 1.0
                        for name, chunks in enumerate(self._passages) for chunk in sorted(chunks)})
        self._names = len(names)
        self._step = _column_stochastic(weights, len(names) + len(chunk_ids))

    def scores(self, question: Vectors) -> Scores:
        """Return the weight of each passage.

        Args:
            question: the question's unit vector, shape (d,).

        Returns:
            Shape (chunks,). Without any triple these are the passages' cosines, as in the original.
        """
        dense = _scale(self._chunk_vectors @ question)
        if not self._ends:
            return dense
        restart = np.concatenate([self._name_weights(_scale(self._fact_vectors @ question)), _PASSAGE_WEIGHT * dense])
        restart /= restart.sum()
        weights = restart
        for _ in range(_STEPS):
            weights = _DAMPING * (self._step @ weights) + (1 - _DAMPING) * restart
        return np.asarray(weights[self._names:])

    def _name_weights(self, facts: Scores) -> Scores:
        """Return weights of the five best ends of the best facts: the mean of fact score / number of passages."""
        scores_of: dict[int, list[float]] = {}
        for row in np.argsort(-facts, kind="stable")[:_FACTS]:
            for name in self._ends[row]:
                scores_of.setdefault(name, []).append(float(facts[row]) / max(1, len(self._passages[name])))
        means = {name: sum(scores) / len(scores) for name, scores in scores_of.items()}
        weights = np.zeros(self._names)
        for name in sorted(means, key=lambda one: (-means[one], one))[:_FACTS]:
            weights[name] = means[name]
        return weights


def _likenesses(names: list[str], vectors: Vectors) -> dict[tuple[int, int], float]:
    """Return the cosine of each name with up to 100 others of at least 0.8, nearest first."""
    asks = [row for row, name in enumerate(names) if sum(c.isascii() and c.isalnum() for c in name) > 2]  # noqa: PLR2004
    likenesses: dict[tuple[int, int], float] = {}
    for start in range(0, len(asks), _BLOCK):
        block = asks[start : start + _BLOCK]
        cosines = vectors[block] @ vectors.T
        cosines[np.arange(len(block)), block] = -1
        for position, row in enumerate(block):
            near = np.flatnonzero(cosines[position] >= _SYNONYM)
            for other in near[np.argsort(-cosines[position, near], kind="stable")][:_SYNONYMS]:
                likenesses[row, int(other)] = float(cosines[position, other])
    return likenesses


def _column_stochastic(weights: dict[tuple[int, int], float], nodes: int) -> sparse.csr_array:
    """Return the step matrix of a walk over undirected edges; parallel edges add up."""
    rows, columns = np.array(sorted(weights), np.intp).reshape(-1, 2).T
    values = np.array([weights[key] for key in sorted(weights)], np.float64)
    directed = sparse.coo_array((values, (rows, columns)), shape=(nodes, nodes)).tocsr()
    both = directed + directed.T
    strength = np.asarray(both.sum(axis=0)).ravel()
    inverse = np.divide(1.0, strength, out=np.zeros_like(strength), where=strength > 0)
    return sparse.csr_array(both @ sparse.diags_array(inverse))


def _scale(scores: NDArray[np.floating]) -> Scores:
    """Scale scores to 0..1; return ones if all are equal, as in the original."""
    low, high = float(scores.min()), float(scores.max())
    return ((scores - low) / (high - low)).astype(np.float64) if high > low else np.ones(len(scores))
