"""A sub-query with its vector, the names in it, and its cosines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..graph_store.index.browsing import NamedSpan
from ..models.embedding.embedder import Vectors
from ..schemas.retrieval import replace_references
from .index import RetrievalIndex
from .nearness import Nearness

_SPACE = re.compile(r"\s+")


def strip_placeholders(question: str) -> str:
    """Return a sub-question without its references to the answers of earlier ones, which are not known yet."""
    return _SPACE.sub(" ", replace_references(question, lambda _: " ")).strip()


@dataclass(frozen=True, eq=False)
class EmbeddedQuery:
    """The text of a query, compared with the knowledge base.

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


def compare_queries(index: RetrievalIndex, texts: Sequence[str], vectors: Vectors) -> list[EmbeddedQuery]:
    """Compare the texts of queries, whose unit vectors have shape (n, d), with the knowledge base."""
    triples, chunks = index.nearness("triples", vectors), index.nearness("chunks", vectors)
    return [EmbeddedQuery(text, vector, index.names.find(text), index.reliability.of(text), *near)
            for text, vector, *near in zip(texts, vectors, triples, chunks, strict=True)]


@dataclass(frozen=True, eq=False)
class Query:
    """An embedded sub-query, and the earlier queries to whose answers it refers.

    The answers are not known yet; what the walks of those queries reach is used in their place.
    """

    embedded: EmbeddedQuery
    follows: tuple["Query", ...] = ()
