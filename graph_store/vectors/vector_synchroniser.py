"""Choose and record a base's embedding model, and keep the vectors of its graph and chunks up to date."""

import logging
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...models.embedding.embedder import Embedder, Vectors
from ...models.embedding.embedding_models import EmbeddingModels, fitting_model
from ...models.local_models import ModelError
from ...runtime.threads import check_cancelled
from ...schemas.documents import Chunk
from ...schemas.naming import relation_id, triple_id
from ...text.table_rows import numbered_columns
from ..graph.knowledge_graph import KnowledgeGraph, relation_text
from ..graph.resolved_graph import LedgerGraph, ResolvedGraph
from ..layout import Layout
from ..ledger.database import Database
from ..ledger.document_rows import Documents
from ..ledger.extractions import Extractions
from ..ledger.notes import begin_epoch, ledger_state
from ..store_errors import EmbeddingMismatchError, StoreError, VectorServerError
from .vector_store import KINDS, Kind, VectorStore, pages_of

_SAMPLE = 512  # the number of chunks by which the model is chosen. A share of 10% is then measured to within 3%.


def model_for(documents: Documents) -> str:
    """Return the name of the model that fits the languages of documents, judged by a sample of their chunks."""
    return fitting_model(chunk.text for chunk in documents.sample(_SAMPLE))


def recorded_model(database: Database) -> tuple[str, str]:
    """Return the name and fingerprint of the model recorded in a ledger; both "" if none is recorded yet."""
    name, _, fingerprint = str(database.notes("settings").get("embedding", "")).partition("\n")
    return name, fingerprint


def record_model(database: Database, embedder: Embedder) -> None:
    """Record in the ledger which model its vectors come from."""
    database.note("settings", embedding=f"{embedder.name}\n{embedder.fingerprint}")


class LedgerEmbedder:
    """The `Embedder` of one knowledge base, loaded at first use; before one is chosen, the default model."""

    def __init__(self, models: EmbeddingModels, database: Database, name: str = "") -> None:
        """Prepare to load the model; `name` is given if it is not the recorded one, as during a reindex."""
        self._models, self._db, self._name = models, database, name

    def choose(self, documents: Documents) -> None:
        """Choose the model that fits the documents and record it, unless one is recorded."""
        if not recorded_model(self._db)[0]:
            record_model(self._db, self._models.load(self._models.chosen or model_for(documents)))
        self.reread()

    def reread(self) -> None:
        """Read the model's name from the ledger at the next use, because another process may have reindexed."""
        self._name = ""

    def __getattr__(self, attribute: str) -> Any:
        """Return an attribute of the loaded model: the one given by name, else the one for what is recorded."""
        self._name = self._name or recorded_model(self._db)[0]
        try:
            return getattr(self._models.load(self._models.name_for(self._name)), attribute)
        except ModelError as error:
            advice = "Or run `banyan reindex` to embed the knowledge base with another model."
            raise ModelError(f"{error} {advice}") from error


Recall = Callable[[Kind, Collection[str]], Mapping[str, Vectors]]
"""Returns the vectors of those ids that an earlier state of the graph had, so that they need not be computed."""


class Embedded(NamedTuple):
    """The ids of one kind that need a vector, and a function that returns the texts of some of them, by id."""

    kind: Kind
    ids: Collection[str]
    texts: Callable[[Collection[str]], dict[str, str]]


def list_embedded(graph: KnowledgeGraph, documents: Documents, chunks: Sequence[str]) -> tuple[Embedded, ...]:
    """Return the ids and texts of everything in a graph, and of some chunks, that needs a vector."""
    # Of a resolved graph the entities as mentioned, and the triples as mentioned and as resolved: so merging entities,
    # or undoing it, embeds little and removes nothing.
    mentions = graph.mentions if isinstance(graph, ResolvedGraph) else graph
    edges = dict.fromkeys([*mentions.edges(), *graph.edges()])  # most are in both
    triples = {triple_id(*edge): edge for edge in edges}
    names = {*mentions.attribute_names(), *graph.attribute_names(), *(name for _, name, _ in triples.values())}
    relations = {relation_id(name): name for name in sorted(names)}
    return (Embedded("entities", mentions.entity_ids(), lambda ids: {key: mentions.entity_text(key) for key in ids}),
            Embedded("triples", triples, lambda ids: {key: mentions.triple_text(triples[key]) for key in ids}),
            Embedded("relations", relations, lambda ids: {key: relation_text(relations[key]) for key in ids}),
            Embedded("chunks", chunks, lambda ids: {chunk.id: _chunk_text(chunk) for chunk in documents.chunks(ids)}))


def _chunk_text(chunk: Chunk) -> str:
    """Return the text that is embedded for a chunk: with what stands above it, or of rows of a table the columns."""
    # A vector of a few rows out of many is near no question: what is asked of them is found by words and by SQL.
    columns = ", ".join(numbered_columns(chunk.text))
    return chunk.model_copy(update={"text": columns or chunk.text}).titled_text()


class VectorSynchroniser:
    """Stores vectors for what is new in the graph and drops those of what was removed, by comparing ids."""

    def __init__(self, layout: Layout, database: Database, documents: Documents, graph: LedgerGraph,
                 extractions: Extractions, embedder: Embedder) -> None:
        self._layout, self._db, self._documents, self._graph = layout, database, documents, graph
        self._extractions, self._embedder = extractions, embedder
        self._epoch = ledger_state(database).epoch
        self.store = VectorStore.of(layout, database, embedder.fingerprint)
        self.recall: Recall = lambda _kind, _ids: {}  # vectors computed before; its opener may give some

    def check(self, *, any_embedding: bool) -> None:
        """Check, before a model is paid for, that vectors can be stored; `any_embedding` allows those of another model.

        Raises EmbeddingMismatchError if those stored are of another model, StoreError if the server refuses.
        """
        name, fingerprint = recorded_model(self._db)
        if name and fingerprint != self._embedder.fingerprint and not any_embedding:
            raise EmbeddingMismatchError(
                f"{self._layout.name!r} was built with the embedding model {name!r} and {self._embedder.name!r} is "
                "in use: set BANYAN_EMBEDDING_MODEL to the former, or run `banyan reindex` to embed it again")
        if not self.is_local and not self._extractions.state().position:  # the base is new: nobody has used the server
            self.store.check_readable("entities")  # creates the collection, which raises if the server refuses

    @property
    def is_local(self) -> bool:
        """True if the vectors are in this home folder, not on a server."""
        return self._layout.server is None

    def prepare_as_writer(self) -> None:
        """Forget what was read before another process wrote; remove all vectors if it was killed while it wrote."""
        self.store.close()
        if self.store.was_interrupted():
            self.store.clear()

    def has_moved(self) -> bool:
        """Return True once after another process reindexed or restored the knowledge base, whose model is then used."""
        before, self._epoch = self._epoch, ledger_state(self._db).epoch
        if self._epoch == before:
            return False
        if isinstance(self._embedder, LedgerEmbedder):
            self._embedder.reread()
        self.store.use_model(self._embedder.fingerprint)
        return True

    def is_behind(self) -> bool:
        """Return True if something in the graph lacks a vector, or there is a vector of something that is not in it."""
        return any(self.store.ids(kind) != set(ids) for kind, ids, _ in self._list_embedded())

    def _list_embedded(self) -> tuple[Embedded, ...]:
        return list_embedded(self._graph.graph, self._documents, self._documents.done())

    def embed(self, chunk_ids: Sequence[str]) -> None:
        """Store the vectors of some chunks and of the facts they state, so that `sync` has little to compute."""
        self._prepare_to_write()
        unresolved = KnowledgeGraph.of_rows(self._extractions.rows(chunk_ids))
        for part in list_embedded(unresolved, self._documents, chunk_ids):
            self._store_missing(part, self.store.find(part.kind, part.ids), self.recall)
        self.store.mark_complete()

    def sync(self) -> None:
        """Store vectors for what is new in the graph, and drop those of what was removed."""
        self._prepare_to_write()
        self._sync_with_graph(self.recall)

    def rebuild(self) -> None:
        """Compute all vectors anew, with the model in use; retrieval reads its index file meanwhile."""
        self.store.clear()
        try:
            self._sync_with_graph(recall=lambda _kind, _ids: {})
        except BaseException:
            self.store.clear()  # so incomplete vectors are not taken for complete ones
            raise
        with self._db.transaction():
            record_model(self._db, self._embedder)
            begin_epoch(self._db)
        self._epoch = ledger_state(self._db).epoch

    def vectors(self, kind: Kind, ids: Sequence[str]) -> Vectors:
        """Return the vectors of ids of the graph, shape (len(ids), d): recalled, from the store, or else computed."""
        known = dict(self.recall(kind, ids))
        try:
            known |= self.store.find(kind, [key for key in ids if key not in known])
        except (OSError, StoreError) as error:
            logging.getLogger("banyan").warning("%s; embedding again", error)
        texts = next(part.texts for part in self._list_embedded() if part.kind == kind)
        return self._encode_unknown(known, texts, ids)

    def _prepare_to_write(self) -> None:
        """Record which model the vectors come from; remove all vectors if they are damaged, to make them again."""
        if not self._db.is_frozen:  # else it cannot be written to
            record_model(self._db, self._embedder)
        try:
            for kind in KINDS:
                self.store.check_readable(kind)
        except VectorServerError:  # it does not answer, which says nothing of the vectors
            raise
        except StoreError:
            self.store.clear()

    def _sync_with_graph(self, recall: Recall) -> None:
        """Store the vectors that are missing, and drop those that the graph lacks."""
        for part in self._list_embedded():
            stored = self.store.ids(part.kind)
            self.store.drop(part.kind, stored.difference(part.ids))
            self._store_missing(part, stored, recall)
        self.store.mark_complete()
        if not self.is_local and self._layout.vectors.exists():  # vectors from before a server was used
            shutil.rmtree(self._layout.vectors, ignore_errors=True)

    def _store_missing(self, part: Embedded, stored: Collection[str], recall: Recall) -> None:
        """Store the vectors of ids that are not among the stored ones; if the run is cancelled, of some."""
        for page in pages_of([key for key in part.ids if key not in stored]):
            check_cancelled()  # raises; the pages before are stored
            self.store.put(part.kind, page, self._encode_unknown(recall(part.kind, page), part.texts, page))

    def _encode_unknown(self, known: Mapping[str, Vectors], texts: Callable[[Collection[str]], dict[str, str]],
                        ids: Sequence[str]) -> Vectors:
        """Return the vectors of ids, shape (len(ids), d): the known ones, and those that it computes from `texts`."""
        if new := [key for key in ids if key not in known]:
            text_of = texts(new)
            known = {**known, **dict(zip(new, self._embedder.encode([text_of[key] for key in new]), strict=True))}
        return np.stack([known[key] for key in ids]) if ids else np.zeros((0, self._embedder.dimension), np.float32)
