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
    """Return the words that are searched: without what stands for answers that are not known yet."""
    return _SPACE.sub(" ", replace_references(question, lambda _: " ")).strip()


@dataclass(frozen=True, eq=False)
class EmbeddedQuery:
    """A wording, and its relation to the knowledge base.

    Attributes:
        text: the wording.
        vector: its unit vector, shape (d,).
        names: the names in it that the knowledge base knows.
        trust: how far vectors can be trusted for its script, 0 to 1.
        triples: how near it is to the triples, in the order of `RetrievalIndex.edges`.
        chunks: how near it is to the chunks.
    """

    text: str
    vector: Vectors
    names: Sequence[NamedSpan]
    trust: float
    triples: Nearness
    chunks: Nearness


def compare_queries(index: RetrievalIndex, texts: Sequence[str], vectors: Vectors) -> list[EmbeddedQuery]:
    """Return wordings with their unit vectors, shape (n, d), compared with the knowledge base all at once."""
    near = zip(index.nearness("triples", vectors), index.nearness("chunks", vectors), strict=True)
    return [EmbeddedQuery(text, vector, index.names.find(text), index.reliability.of(text), triples, chunks)
            for text, vector, (triples, chunks) in zip(texts, vectors, near, strict=True)]


@dataclass(frozen=True, eq=False)
class Query:
    """An embedded sub-query, and the queries whose walks stand in for the answers that it refers to."""

    embedded: EmbeddedQuery
    follows: tuple["Query", ...] = ()
