"""A sub-query with its vector, the names in it, and its cosines, each computed once."""

import re
import threading
from dataclasses import dataclass
from functools import cached_property

from ..graph_store.index.name_trie import NamedSpan
from ..graph_store.vectors.vector_store import KINDS, Kind
from ..models.embedding.embedder import Vectors
from ..schemas.references import replace_references
from .index import RetrievalIndex
from .nearness import Nearness

_SPACE = re.compile(r"\s+")


def strip_placeholders(question: str) -> str:
    """Return the words that are searched: without what stands for answers that are not known yet."""
    return _SPACE.sub(" ", replace_references(question, lambda _: " ")).strip()


class Batch:
    """The vectors of several wordings: similarities are computed for all of them at once."""

    def __init__(self, index: RetrievalIndex, vectors: Vectors) -> None:
        """Take unit vectors of shape (n, d)."""
        self._index = index
        self._vectors = vectors
        self._nearness: dict[Kind, list[Nearness]] = {}
        self._locks = {kind: threading.Lock() for kind in KINDS}

    def nearness(self, kind: Kind, row: int) -> Nearness:
        """Return how near one of them is to the elements of a kind."""
        with self._locks[kind]:  # threads that rank the same question wait for what one of them computes
            if kind not in self._nearness:
                self._nearness[kind] = self._index.nearness(kind, self._vectors)
        return self._nearness[kind][row]


class EmbeddedQuery:
    """A wording with its unit vector of shape (d,), and its relation to the knowledge base."""

    def __init__(self, index: RetrievalIndex, text: str, vector: Vectors,
                 together: tuple[Batch, int] | None = None) -> None:
        """Take a wording; `together`: the batch that the vector belongs to, and its row there."""
        self._index = index
        self.text = text
        self.vector = vector
        self._batch, self._row = together or (Batch(index, vector[None, :]), 0)

    @cached_property
    def names(self) -> list[NamedSpan]:
        """The names in it that the knowledge base knows."""
        return self._index.names.find(self.text)

    @cached_property
    def trust(self) -> float:
        """How far vectors can be trusted for its script, 0 to 1."""
        return self._index.reliability.of(self.text)

    @property
    def triples(self) -> Nearness:
        """How near it is to the triples, in the order of `RetrievalIndex.edges`."""
        return self._batch.nearness("triples", self._row)

    @property
    def chunks(self) -> Nearness:
        """How near it is to the chunks."""
        return self._batch.nearness("chunks", self._row)


@dataclass(frozen=True, eq=False)
class Query:
    """An embedded sub-query, and the queries whose walks stand in for the answers that it refers to."""

    embedded: EmbeddedQuery
    follows: tuple["Query", ...] = ()
