"""What of a knowledge base is embedded: entities, triples, relations and chunks, each as a text by id."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from ...models.embedding.embedder import Embedder, Vectors
from ...schemas.naming import relation_id, triple_id
from ..graph.knowledge_graph import KnowledgeGraph, relation_text
from ..graph.resolved_graph import ResolvedGraph
from ..ledger.document_rows import Documents
from .vector_store import Kind, VectorStore, pages_of


class Embedded(NamedTuple):
    """The ids of a kind, and a function that returns the texts of some of them by id."""

    kind: Kind
    ids: Collection[str]
    texts: Callable[[Collection[str]], dict[str, str]]


def embedded(graph: KnowledgeGraph, documents: Documents, chunks: Sequence[str]) -> tuple[Embedded, ...]:
    """Return what is embedded of a graph and of some chunks.

    Of a resolved graph it is what is mentioned, too: merging names embeds only facts that it makes, and drops nothing.
    """
    graphs = [graph.mentions, graph] if isinstance(graph, ResolvedGraph) else [graph]
    mentions = graphs[0]
    triples = {triple_id(*edge): edge for one in graphs for edge in one.iterate_edges()}
    relations = {relation_id(name): name for name in sorted({name for _, name, _ in triples.values()})}
    return (Embedded("entities", mentions.entity_ids(), lambda ids: {key: mentions.entity_text(key) for key in ids}),
            Embedded("triples", triples, lambda ids: {key: mentions.triple_text(triples[key]) for key in ids}),
            Embedded("relations", relations, lambda ids: {key: relation_text(relations[key]) for key in ids}),
            Embedded("chunks", chunks, lambda ids: {
                chunk.id: chunk.titled_text() for chunk in documents.chunks(ids)}))


class UnwrittenVectors(VectorStore):
    """The vectors of a knowledge base whose disk has no room for them: embedded when they are read, and not stored."""

    def __init__(self, store: VectorStore, embedder: Embedder, embedded: Iterable[Embedded]) -> None:
        """Replace the vectors of a knowledge base by those of the given texts; nothing is embedded yet."""
        super().__init__(store.collections, embedder)
        self._texts: dict[Kind, Callable[[Collection[str]], dict[str, str]]] = {
            part.kind: part.texts for part in embedded}

    def pages(self, kind: Kind, ids: Sequence[str]) -> Iterator[tuple[list[str], Vectors]]:
        """See `VectorStore.pages`."""
        for page in pages_of(ids):
            texts = self._texts[kind](page)
            yield list(texts), self._embedder.encode(list(texts.values()))
