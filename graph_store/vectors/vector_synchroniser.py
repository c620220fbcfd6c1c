"""The vectors of a knowledge base, in step with its graph.

Embedded are entities, triples, relations (attributes among them) and chunks, each as a text by id.
"""

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from ...models.embedding.embedder import Embedder, Vectors
from ...schemas.naming import relation_id, triple_id
from ..graph.knowledge_graph import KnowledgeGraph, relation_text
from ..graph.ledger_graph import LedgerGraph
from ..graph.resolved_graph import ResolvedGraph
from ..layout import Layout
from ..ledger.database import Database
from ..ledger.document_rows import Documents
from ..ledger.extractions import Extractions
from ..ledger.version import begin_epoch, ledger_state
from ..store_errors import EmbeddingMismatchError, StoreError, VectorServerError
from .ledger_embedder import LedgerEmbedder, record_model, recorded_model
from .vector_store import KINDS, Kind, VectorStore, collections_of, pages_of


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
    attributes = chain.from_iterable(one.attribute_names() for one in graphs)
    relations = {relation_id(name): name for name in sorted({*attributes, *(name for _, name, _ in triples.values())})}
    return (Embedded("entities", mentions.entity_ids(), lambda ids: {key: mentions.entity_text(key) for key in ids}),
            Embedded("triples", triples, lambda ids: {key: mentions.triple_text(triples[key]) for key in ids}),
            Embedded("relations", relations, lambda ids: {key: relation_text(relations[key]) for key in ids}),
            Embedded("chunks", chunks, lambda ids: {
                chunk.id: chunk.titled_text() for chunk in documents.chunks(ids)}))


Recall = Callable[[Kind, Sequence[str]], Iterable[tuple[str, Vectors]]]
"""Yields those of some ids whose vectors are known without embedding, with them, shape (d,)."""


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


class VectorSynchroniser:
    """Embeds what is new in the graph and drops what is gone, by comparing ids."""

    def __init__(self, layout: Layout, database: Database, documents: Documents, graph: LedgerGraph,
                 extractions: Extractions, embedder: Embedder) -> None:
        """Prepare to use the vectors of the model in use; nothing is opened yet."""
        self._layout = layout
        self._db = database
        self._documents = documents
        self._graph = graph
        self._extractions = extractions
        self._embedder = embedder
        self._epoch = ledger_state(database).epoch
        self.store = VectorStore(collections_of(layout, database, embedder.fingerprint), embedder)
        self.recall: Recall = lambda _kind, _ids: ()
        """What has the vectors of earlier states."""

    def check_embedding(self) -> None:
        """Check that the vectors come from the model in use, or that there are none.

        Raises:
            EmbeddingMismatchError: they come from another.
        """
        name, fingerprint = recorded_model(self._db)
        if name and fingerprint != self._embedder.fingerprint:
            raise EmbeddingMismatchError(
                f"{self._layout.name!r} was built with the embedding model {name!r} and {self._embedder.name!r} is "
                "in use: set BANYAN_EMBEDDING_MODEL to the former, or run `banyan reindex` to embed it again")

    def prepare(self) -> None:
        """Check that a server can store the vectors of a new knowledge base, before anything is paid for.

        Raises:
            StoreError: it cannot be used.
        """
        if not self.is_local and not self._extractions.position():
            self.store.collections.write("entities", lambda _: None)

    @property
    def is_local(self) -> bool:
        """Whether the vectors are in this home folder, whichever others share its ledger."""
        return self._layout.server is None

    def prepare_as_writer(self) -> None:
        """Go on where another writer ended, whose changes this process may have missed.

        If it was killed while it wrote, what is there may be anything: all is removed, and `sync` makes it again.
        """
        self.store.close()
        if self.is_interrupted:
            self.store.clear()

    def moved(self) -> bool:
        """Return True once after another process reindexed or restored the knowledge base."""
        if self._epoch == ledger_state(self._db).epoch:
            return False
        self._epoch = ledger_state(self._db).epoch
        if isinstance(self._embedder, LedgerEmbedder):
            self._embedder.reread()
        self.follow_model()
        return True

    def follow_model(self) -> None:
        """Move to the collections of the model in use, which may have been chosen after these were opened."""
        self.store.close()
        self.store.collections = collections_of(self._layout, self._db, self._embedder.fingerprint)

    @property
    def is_interrupted(self) -> bool:
        """Whether vectors in this home folder were not written to their end."""
        return self.is_local and self.store.collections.was_interrupted()

    def is_behind(self) -> bool:
        """Return True if something that the graph embeds has no vector, or something else has one."""
        return any(self.store.ids(kind) != set(ids) for kind, ids, _ in self._embedded())

    def unwritten(self) -> UnwrittenVectors:
        """Return the vectors of the graph as they would be if the disk had room for them."""
        return UnwrittenVectors(self.store, self._embedder, self._embedded())

    def _embedded(self) -> tuple[Embedded, ...]:
        return embedded(self._graph.graph, self._documents, self._documents.done())

    def embed(self, chunk_ids: Sequence[str]) -> None:
        """Embed what some chunks state, before it is resolved: `sync` finds most of its vectors there."""
        self._note_embedding()
        self.clear_if_unreadable()
        stated = KnowledgeGraph.of_rows(self._extractions.rows(chunk_ids))
        for kind, ids, texts in embedded(stated, self._documents, chunk_ids):
            self.store.put(kind, list(ids), partial(self._encode, texts))
        self.store.collections.settle()

    def sync(self) -> None:
        """Embed what is new in the graph, and drop what is gone; to a ledger that is frozen nothing is written.

        Merging names drops nothing, and splitting them embeds nothing again. The memory of the indexes is given back.
        """
        self._note_embedding()
        self.clear_if_unreadable()
        self._compare(self.recall)

    def rebuild(self) -> None:
        """Make all vectors anew, with the model in use.

        What retrieval reads stays until the index is written. Killed in between, the next opening goes on.
        """
        self.store.clear()
        try:
            self._compare(lambda _kind, _ids: ())
        except BaseException:
            self.store.clear()  # so that it is seen that they are not whole
            raise
        with self._db.transaction():
            self._note_embedding()
            begin_epoch(self._db)
        self._epoch = ledger_state(self._db).epoch

    def close(self) -> None:
        """Let go of what is open."""
        self.store.close()

    def _note_embedding(self) -> None:
        if not self._db.is_frozen:
            record_model(self._db, self._embedder)

    def clear_if_unreadable(self) -> None:
        """Remove vectors that cannot be read; they are made again."""
        try:
            for kind in KINDS:
                self.store.ids(kind)
        except VectorServerError:
            raise
        except StoreError:
            self.store.clear()

    def _compare(self, recall: Recall) -> None:
        """Store what the store lacks of the graph, as mentioned and as resolved, and drop what is in neither."""
        for kind, ids, texts in self._embedded():
            self.store.drop(kind, self.store.ids(kind).difference(ids))
            for page in pages_of(self.store.missing(kind, list(ids))):
                known = dict(recall(kind, page))
                self.store.put(kind, list(known), partial(_stack, known))
                self.store.put(kind, page, partial(self._encode, texts))
        self.store.collections.drop_others()
        self.store.collections.settle()
        if not self.is_local and self._layout.vectors.exists():
            shutil.rmtree(self._layout.vectors, ignore_errors=True)
        self.store.release()

    def _encode(self, texts: Callable[[Collection[str]], dict[str, str]], ids: list[str]) -> Vectors:
        text = texts(ids)
        return self._embedder.encode([text[key] for key in ids])


def _stack(vectors: dict[str, Vectors], ids: list[str]) -> Vectors:
    return np.stack([vectors[key] for key in ids])
