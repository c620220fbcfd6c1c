"""The vectors of a knowledge base, in step with its graph.

Embedded are entities, triples, relations (attributes among them) and chunks, each as a text by id.
"""

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from ...models.embedding.embedder import Embedder, Vectors
from ...schemas.naming import relation_id, triple_id
from ..graph.knowledge_graph import KnowledgeGraph, relation_text
from ..graph.ledger_graph import LedgerGraph
from ..graph.resolved_graph import ResolvedGraph
from ..layout import Layout
from ..ledger.database import Database
from ..ledger.document_rows import Documents
from ..ledger.extractions import Extractions
from ..ledger.version import begin_epoch, epoch
from ..store_errors import EmbeddingMismatchError, VectorServerError
from .ledger_embedder import RECORD, LedgerEmbedder, record_model
from .vector_store import Kind, VectorStore, collections_of, pages_of

_EMBEDDED = 2
"""The number of what is embedded; with another one, what is stored is compared with the graph."""


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
    """Embeds what is new in the graph and drops what is gone, by comparing ids.

    Beside the vectors stands which state of the ledger they reflect.
    """

    def __init__(self, layout: Layout, database: Database, documents: Documents, graph: LedgerGraph,
                 extractions: Extractions, embedder: Embedder) -> None:
        """Prepare to use the vectors of the model in use; nothing is opened yet."""
        self._layout = layout
        self._db = database
        self._documents = documents
        self._graph = graph
        self._extractions = extractions
        self._embedder = embedder
        self._epoch = epoch(database)
        self.store = VectorStore(collections_of(layout, database, embedder.fingerprint), embedder)
        self._suspect = self._is_unchecked = False

    def check_embedding(self) -> None:
        """Check that the vectors come from the model in use, or that there are none.

        Raises:
            EmbeddingMismatchError: they come from another.
        """
        stored = self._db.get_meta(RECORD)
        if stored is None:
            return
        name, _, fingerprint = stored.partition("\n")
        if fingerprint != self._embedder.fingerprint:
            raise EmbeddingMismatchError(
                f"{self._layout.name!r} was built with the embedding model {name!r} and {self._embedder.name!r} is "
                "in use: set BANYAN_EMBEDDING_MODEL to the former, or run `banyan reindex` to embed it again")

    def prepare(self) -> None:
        """Create the vector collections of a new knowledge base.

        Raises:
            StoreError: the vector server cannot be used.
        """
        # Until the first extraction is recorded, no collection can exist.
        if not self._extractions.position():
            self.store.collections.prepare()

    # What is known of the difference to the graph.

    @property
    def is_local(self) -> bool:
        """Whether the vectors are in this home folder, whichever others share its ledger."""
        return self._layout.server is None

    def prepare_as_writer(self) -> None:
        """Go on where another writer ended: there may be more vectors than it noted, or none that can be read.

        Until then this process may have missed what others wrote.
        """
        self.store.close()
        self._suspect = self._is_unchecked = True
        with suppress(VectorServerError):  # looked at again before the first are written: documents are stored by then
            self._clear_if_damaged()

    def _clear_if_damaged(self) -> None:
        """Remove vectors that cannot be read.

        Raises:
            Exception: what cannot be read cannot be removed either.
        """
        if self._is_unchecked and self._extractions.position() and not self.store.collections.is_sound():
            self.store.clear()
        self._is_unchecked = False

    def moved(self) -> bool:
        """Return True once after another process reindexed or restored the knowledge base."""
        if self._epoch == epoch(self._db):
            return False
        self._epoch = epoch(self._db)
        self._suspect = True
        if isinstance(self._embedder, LedgerEmbedder):
            self._embedder.reread()
        self.follow_model()
        return True

    def follow_model(self) -> None:
        """Move to the collections of the model in use, which may have been chosen after these were opened."""
        self.store.close()
        self.store.collections = collections_of(self._layout, self._db, self._embedder.fingerprint)

    def is_behind(self) -> bool:
        """Return True if the vectors do not reflect the graph, or are lost."""
        collections = self.store.collections
        return bool(self._graph.state.position) and not (collections.is_sound() and collections.marked(self._state()))

    def _state(self) -> str:
        """Return the state of the ledger that the graph is of, as it is noted with the vectors."""
        return f"{_EMBEDDED} {self._epoch} {self._graph.state.position} {self._graph.state.resolution}"

    def unwritten(self) -> UnwrittenVectors:
        """Return the vectors of the graph as they would be if the disk had room for them."""
        return UnwrittenVectors(self.store, self._embedder,
                                embedded(self._graph.graph, self._documents, self._documents.done()))

    # Bringing them up.

    def embed(self, chunk_ids: Sequence[str]) -> None:
        """Embed what some chunks state, before it is resolved: `sync` finds most of its vectors there.

        Raises:
            Exception: it could not be done, say because the disk is full; `sync` does it.
        """
        self._clear_if_damaged()
        self._note_embedding()
        stated = KnowledgeGraph.of_rows(self._extractions.rows(chunk_ids))
        for kind, ids, texts in embedded(stated, self._documents, chunk_ids):
            self._put(kind, ids, texts)

    def sync(self) -> None:
        """Embed what is new in the graph, and drop what is gone; to a ledger that is frozen nothing is written.

        Merging names drops nothing, and splitting them embeds nothing again. The memory of the indexes is given back.

        Raises:
            Exception: it could not be done, say because the disk is full; the next call does it.
        """
        self._clear_if_damaged()
        self._note_embedding()
        if self._suspect or not self.store.collections.marked(self._state()):
            self._compare()
        self._mark()

    def rebuild(self) -> None:
        """Make all vectors anew, with the model in use.

        What retrieval reads stays until the index is written. Killed in between, the next opening goes on.
        """
        self.store.clear()
        self._compare()
        with self._db.transaction():
            self._note_embedding()
            begin_epoch(self._db)
        self._epoch = epoch(self._db)
        self._mark()

    def _mark(self) -> None:
        self.store.collections.mark(self._state())
        self.store.release()

    def close(self) -> None:
        """Let go of what is open."""
        self.store.close()

    def _note_embedding(self) -> None:
        if not self._db.is_frozen:
            record_model(self._db, self._embedder)

    def _compare(self) -> None:
        """Embed what the store lacks of the graph, as mentioned and as resolved, and drop what is in neither."""
        for kind, ids, texts in embedded(self._graph.graph, self._documents, self._documents.done()):
            self.store.drop(kind, self.store.ids(kind).difference(ids))
            self._put(kind, ids, texts)
        self.store.collections.drop_other_models()
        if not self.is_local and self._layout.vectors.exists():
            shutil.rmtree(self._layout.vectors, ignore_errors=True)
        self._suspect = False

    def _put(self, kind: Kind, ids: Collection[str], texts: Callable[[Collection[str]], dict[str, str]]) -> None:
        for page in pages_of(self.store.missing(kind, list(ids))):
            some = texts(page)
            self.store.put(kind, list(some), list(some.values()))
