"""One sub-query as the routes see it, with what was computed once for all of them."""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..models.embedding import Vectors
from ..schemas.retrieval import SubQuery
from .index import RetrievalIndex
from .names import Named

_PLACE = re.compile(r"#\d+")
_SPACE = re.compile(r"\s+")
# Triples of 0.4 MB of vectors.
_BLOCK = 256


def wording(question: str) -> str:
    """The words that are searched: without `#1`, which stands for something that is not known yet."""
    return _SPACE.sub(" ", _PLACE.sub(" ", question)).strip()


class TripleCosines:
    """The cosines of several vectors to every triple, computed when the first of them is asked for."""

    def __init__(self, index: RetrievalIndex, vectors: Vectors) -> None:
        self._index = index
        self._vectors = vectors

    @cached_property
    def all(self) -> NDArray[np.float32]:
        """Shape (vectors, triples), in the order of `RetrievalIndex.edges`.

        Exact, and no dearer than an approximate search: the path route reads the same numbers.
        """
        triples = self._index.triple_vectors
        cosines = np.empty((len(self._vectors), len(triples)), np.float32)
        # Block by block, each against all vectors while it is in the processor's cache. As a product of
        # matrices this takes twice as long as one vector after the other.
        for start in range(0, len(triples), _BLOCK):
            for row, vector in enumerate(self._vectors):
                cosines[row, start:start + _BLOCK] = triples[start:start + _BLOCK] @ vector
        return cosines


class Meaning:
    """A wording with its unit vector of shape (d,), and what it has to do with the knowledge base."""

    def __init__(self, index: RetrievalIndex, text: str, vector: Vectors,
                 together: tuple[TripleCosines, int] | None = None) -> None:
        """Remember them; `together` with others: what computes the cosines of all, and this one's place there."""
        self._index = index
        self.text = text
        self.vector = vector
        self._together = together

    @cached_property
    def names(self) -> list[Named]:
        """The names in it that the knowledge base knows."""
        return self._index.names.find(self.text)

    @cached_property
    def trust(self) -> float:
        """How far vectors can be trusted for its script, 0 to 1."""
        return self._index.reliability.of(self.text)

    @cached_property
    def triples(self) -> NDArray[np.float32]:
        """Its cosine to every triple, shape (triples,), in the order of `RetrievalIndex.edges`."""
        cosines, place = self._together or (TripleCosines(self._index, self.vector[None, :]), 0)
        found: NDArray[np.float32] = cosines.all[place]
        return found


@dataclass(frozen=True, eq=False)
class Query:
    """A sub-query, its meaning, and the queries whose findings stand in for the answers it waits for."""

    sub_query: SubQuery
    meaning: Meaning
    follows: tuple["Query", ...] = ()

    @property
    def text(self) -> str:
        """The words that are searched."""
        return self.meaning.text

    @property
    def vector(self) -> Vectors:
        """Their unit vector, shape (d,)."""
        return self.meaning.vector

    @property
    def trust(self) -> float:
        """How far vectors can be trusted for it, 0 to 1."""
        return self.meaning.trust

    @cached_property
    def chain(self) -> tuple["Query", ...]:
        """The queries that lead to this one, first to last, this one included."""
        return (*self.follows[-1].chain, self) if self.follows else (self,)
