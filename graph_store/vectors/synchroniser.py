"""The vectors of a knowledge base, kept up with its graph."""

from collections.abc import Sequence

from ...models.embedding.embedder import Embedder
from ...schemas.naming import relation_id, triple_id
from ..errors import EmbeddingMismatchError
from ..graph.knowledge_graph import KnowledgeGraph, Touched, relation_text
from ..graph.state import GraphState
from ..graph.synchroniser import GraphSynchroniser
from ..layout import Layout
from ..ledger.database import Database
from ..ledger.documents import Documents
from .generations import VectorGenerations
from .ledger_embedder import RECORD, LedgerEmbedder, record_model
from .store import Kind, Put, VectorStore


class VectorSynchroniser:
    """Embeds what is new in the graph and drops what is gone.

    Only what changed is looked at, as long as it is known what changed.
    """

    def __init__(self, layout: Layout, database: Database, documents: Documents, graph: GraphSynchroniser,
                 embedder: Embedder) -> None:
        """Open the vectors in service."""
        self._layout = layout
        self._db = database
        self._documents = documents
        self._graph = graph
        self._embedder = embedder
        self._generations = VectorGenerations(layout, database)
        self._generation = self._generations.current()
        self.store = VectorStore(self._generations.open(self._generation), embedder)
        self._reconcile = False

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
        """Look for the place of the first vectors, if there are none yet.

        Raises:
            StoreError: it is a server that cannot be used.
        """
        if not self.position():
            self.store.generation.prepare()

    # What is known of the difference to the graph.

    def position(self) -> int:
        """The ledger position that the vectors reflect."""
        return self._number("vectors_position")

    def begin(self, loaded: int) -> None:
        """The graph was opened: whatever changes from here on is known.

        Vectors that reflect another position than the snapshot or the present graph may contain what came and went in
        between, which nothing else knows of any more.
        """
        state = self._graph.state
        self._reconcile = (self._reconcile or self.position() not in (loaded, state.position) or self._lost()
                           or self._number("vectors_resolution") != state.resolution)

    def take_over(self, before: int) -> None:
        """Go on where another writer ended."""
        self._reconcile = (self._reconcile or self.store.generation.lost
                           or self.position() not in (before, self._graph.state.position))

    def moved(self) -> bool:
        """Whether another process has rebuilt the vectors or restored another ledger; if so, open the new ones.

        What changed is not known then.
        """
        if self._generation == self._generations.current():
            return False
        self._generation = self._generations.current()
        self.store.move(self._generations.open(self._generation))
        if isinstance(self._embedder, LedgerEmbedder):
            self._embedder.reread()
        self._reconcile = True
        return True

    def is_behind(self) -> bool:
        """Whether the vectors do not reflect the graph, or are lost."""
        state = self._graph.state
        if self._generations.own:
            generation = self.store.generation
            return not (generation.marked(_mark(*state)) and generation.is_sound())
        return (self._reconcile or self.position() != state.position
                or self._number("vectors_resolution") != state.resolution or self._lost())

    def _lost(self) -> bool:
        if not self.position():
            return False
        generation = self.store.generation
        return (self._generations.moved_backend() or not generation.is_sound()
                or not generation.marked(_mark(self.position(), self._number("vectors_resolution"))))

    def _number(self, key: str) -> int:
        return int(self._db.get_meta(key) or 0)

    # Bringing them up.

    def sync(self) -> None:
        """Embed what is new in the graph, and drop what is gone.

        Raises:
            Exception: it could not be done, say because the disk is full; the next call does it.
        """
        if self._reconcile and not self.store.generation.is_sound():
            if not self._generations.own:
                self.rebuild()
                return
            self._empty()
        self._generations.drop_others()
        record_model(self._db, self._embedder)
        if self._reconcile:
            self._compare()
        else:
            self._follow()
        state = self._graph.state
        self.store.generation.mark(_mark(*state))
        with self._db.transaction():
            self._note(state)
        self._graph.touched = Touched()

    @property
    def own(self) -> bool:
        """Whether this home folder has vectors of its own, of a ledger that it shares with others."""
        return self._generations.own

    def sync_own(self) -> None:
        """Bring the vectors of this home folder up to the ledger as it is read; nothing is written there.

        Raises:
            Exception: it could not be done; the next call does it.
        """
        if not self.store.generation.is_sound():
            self._empty()
        self._generations.drop_others()
        self._compare()
        self.store.generation.mark(_mark(*self._graph.state))
        self._graph.touched = Touched()

    def _empty(self) -> None:
        """Begin this home folder's generation anew, under its number: others have theirs, and are not concerned."""
        self.store.move(self._generations.emptied(self._generation))

    def _follow(self) -> None:
        """Embed and drop what the graph says was touched."""
        put, drop = self._changes(self._graph.touched)
        for new in put:
            self.store.put(*new)
        for kind, ids in drop:
            self.store.drop(kind, ids)

    def close(self) -> None:
        """Let go of what is open."""
        self.store.close()

    def _note(self, state: GraphState) -> None:
        self._db.set_meta("vectors_position", str(state.position))
        self._db.set_meta("vectors_resolution", str(state.resolution))
        self._generations.use_backend()

    def rebuild(self) -> None:
        """Make all vectors in a new generation, and put it in service when they are all there.

        The old ones stay until then, and for their readers until something is written again.
        """
        self._generations.drop_others()
        number, state = self._generations.begin(), self._graph.state
        self.store.move(self._generations.open(number))
        try:
            self.store.generation.prepare()
            self._compare()
            self.store.generation.mark(_mark(*state))
        except BaseException:
            self.store.move(self._generations.open(self._generation))
            self._reconcile = True
            raise
        with self._db.transaction():
            record_model(self._db, self._embedder)
            self._note(state)
            self._generations.put_in_service(number)
        self._generation = number
        self._graph.touched = Touched()

    def _changes(self, touched: Touched) -> tuple[list[Put], list[tuple[Kind, list[str]]]]:
        """The vectors to store and those to drop, because a part of the graph changed."""
        graph, network = self._graph.graph, self._graph.graph.network
        entities, edges, chunks = sorted(touched.entities), sorted(touched.edges), sorted(touched.chunks)
        here = [edge for edge in edges if network.has_edge(edge[0], edge[2], edge[1])]
        gone = sorted(set(edges) - set(here))
        put = [_entities(graph, [entity for entity in entities if entity in network]), *_edges(graph, here),
               self._chunks(chunks)]
        known = set(put[-1][1])
        return put, [
            ("entities", [entity for entity in entities if entity not in network]),
            ("triples", [triple_id(*edge) for edge in gone]),
            ("relations", sorted(relation_id(relation) for relation in _unused(graph, {edge[1] for edge in gone}))),
            ("chunks", [chunk for chunk in chunks if chunk not in known])]

    def _compare(self) -> None:
        """Embed and drop by comparing all ids, for when it is not known what changed."""
        graph = self._graph.graph
        wanted = [_entities(graph, graph.entity_ids()), *_edges(graph, graph.edges()),
                  self._chunks(self._documents.done())]
        for kind, ids, texts in wanted:
            self.store.put(kind, ids, texts)
            self.store.drop(kind, self.store.ids(kind) - set(ids))
        self._reconcile = False

    def _chunks(self, ids: Sequence[str]) -> Put:
        chunks = self._documents.chunks(ids)
        return "chunks", [chunk.id for chunk in chunks], [chunk.titled_text() for chunk in chunks]


def _entities(graph: KnowledgeGraph, ids: Sequence[str]) -> Put:
    return "entities", list(ids), [graph.entity_text(entity) for entity in ids]


def _edges(graph: KnowledgeGraph, edges: Sequence[tuple[str, str, str]]) -> tuple[Put, Put]:
    relations = sorted({relation for _, relation, _ in edges})
    return (("triples", [triple_id(*edge) for edge in edges], [graph.triple_text(edge) for edge in edges]),
            ("relations", [relation_id(relation) for relation in relations],
             [relation_text(relation) for relation in relations]))


def _mark(position: int, resolution: int) -> str:
    """A state of the ledger as it is noted with the vectors."""
    return f"{position} {resolution}"


def _unused(graph: KnowledgeGraph, relations: set[str]) -> set[str]:
    """Which of some relations no triple has. The search ends once all are seen, as most are frequent."""
    left = set(relations)
    for _, _, relation in graph.network.edges(keys=True) if left else ():
        left.discard(relation)
        if not left:
            break
    return left
