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


def wording(question: str) -> str:
    """The words that are searched: without `#1`, which stands for something that is not known yet."""
    return _SPACE.sub(" ", _PLACE.sub(" ", question)).strip()


class Meaning:
    """A wording with its unit vector of shape (d,), and what it has to do with the knowledge base."""

    def __init__(self, index: RetrievalIndex, text: str, vector: Vectors) -> None:
        self._index = index
        self.text = text
        self.vector = vector

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
        """Its cosine to every triple, shape (triples,), in the order of `RetrievalIndex.edges`.

        Exact, and no dearer than an approximate search: the path route reads the same numbers.
        """
        return self._index.triple_vectors @ self.vector


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
