"""A question with its vector, the names in it, and its cosines."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..graph_store.index.browsing import NamedSpan
from ..models.embedding.embedder import Vectors
from .index import RetrievalIndex
from .nearness import Nearness


@dataclass(frozen=True, eq=False)
class Query:
    """The text of a question, compared with the knowledge base.

    Attributes:
        text: the text.
        vector: its unit vector, shape (d,).
        names: the names in it that the knowledge base has.
        trust: how far vectors can be trusted for its script, 0 to 1.
        triples: its cosines with the triples, in the order of `RetrievalIndex.edges`.
        chunks: its cosines with the chunks.
    """

    text: str
    vector: Vectors
    names: Sequence[NamedSpan]
    trust: float
    triples: Nearness
    chunks: Nearness


def compare(index: RetrievalIndex, text: str, vector: Vectors) -> Query:
    """Compare a text, whose unit vector has shape (d,), with the knowledge base."""
    (triples,), (chunks,) = (index.nearness(kind, vector[None]) for kind in ("triples", "chunks"))
    return Query(text, vector, index.names.find(text), index.reliability.of(text), triples, chunks)
