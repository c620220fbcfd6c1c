"""The vectors of a knowledge base, kept up with its graph."""

from collections.abc import Sequence

from ...models.embedding.embedder import Embedder
from ...schemas.naming import relation_id, triple_id
from ..errors import EmbeddingMismatchError
from ..graph.knowledge_graph import KnowledgeGraph, Touched, relation_text
from ..graph.state import GraphState
from ..layout import Layout
from ..ledger.database import Database
from ..ledger.documents import Documents
from .generations import VectorGenerations
from .store import Kind, Put, VectorStore


class VectorSynchroniser:
    """Embeds what is new in the graph and drops what is gone.

    Only what changed is looked at, as long as it is known what changed.
    """

    def __init__(self, layout: Layout, database: Database, documents: Documents, embedder: Embedder) -> None:
        """Open the vectors in service."""
        self._layout = layout
        self._db = database
        self._documents = documents
        self._embedder = embedder
        self._generations = VectorGenerations(layout, database)
        self._generation = self._generations.current()
        self.store = VectorStore(self._generations.open(self._generation), embedder)
        self._unsynced = Touched()
        self._reconcile = False

    def check_embedding(self) -> None:
        """Nothing, if the vectors come from the model in use, or there are none.

        Raises:
            EmbeddingMismatchError: they come from another.
        """
        stored = self._db.get_meta("embedding")
        if stored is None:
            return
        name, _, fingerprint = stored.partition("\n")
        if fingerprint != self._embedder.fingerprint:
            raise EmbeddingMismatchError(
                f"{self._layout.name!r} was built with the embedding model {name!r} and {self._embedder.name!r} is "
                "in use: set BANYAN_EMBEDDING_MODEL to the former, or run `banyan reindex` to embed it anew")

    # What is known of the difference to the graph.

    def position(self) -> int:
        """The ledger position that the vectors reflect."""
        return self._number("vectors_position")

    def note(self, touched: Touched) -> None:
        """Some of the graph changed."""
        self._unsynced.add(touched)

    def begin(self, positions: tuple[int, int], resolution: int) -> None:
        """From here on all changes of the graph are noted.

        Vectors that reflect neither of two positions may have some of things that came and went in
        between, which nothing else knows of any more.

        Args:
            positions: from where on changes were noted so far, and the present one.
            resolution: the present one.
        """
        if not self.position():
            self.store.generation.prepare()
        self._reconcile = (self.position() not in positions or self._lost()
                           or self._number("vectors_resolution") != resolution)

    def take_over(self, positions: tuple[int, int]) -> None:
        """Go on where another writer ended: changes between two positions were noted."""
        self._reconcile = self._reconcile or self.store.generation.lost or self.position() not in positions

    def moved(self) -> bool:
        """Whether another process has made the vectors anew, or restored another ledger; from here on they are those.

        Nothing is known of what changed then.
        """
        if self._generation == self._generations.current():
            return False
        self._generation = self._generations.current()
        self.store.move(self._generations.open(self._generation))
        self._unsynced, self._reconcile = Touched(), True
        return True

    def behind(self, state: GraphState) -> bool:
        """Whether the vectors do not reflect a state of the ledger."""
        return (self._reconcile or self.position() < state.position
                or self._number("vectors_resolution") != state.resolution)

    def _lost(self) -> bool:
        if not self.position():
            return False
        generation = self.store.generation
        return (self._generations.stands_elsewhere() or not generation.stand()
                or not generation.marked(_mark(self.position(), self._number("vectors_resolution"))))

    def _number(self, key: str) -> int:
        return int(self._db.get_meta(key) or 0)

    # Bringing them up.

    def sync(self, graph: KnowledgeGraph, state: GraphState) -> None:
        """Embed what is new in a graph, and drop what is gone.

        Args:
            graph: the graph.
            state: the state of the ledger that it reflects.

        Raises:
            Exception: it could not be done, say because the disk is full; the next call does it.
        """
        if self._reconcile:
            self._catch_up(graph, state)
        self._generations.drop_others()
        self._note_embedding()
        put, drop = self._changes(graph, self._unsynced)
        self.store.put_all(put)
        for kind, gone in drop:
            self.store.drop(kind, gone)
        self._done(state)
        self._unsynced = Touched()

    def _catch_up(self, graph: KnowledgeGraph, state: GraphState) -> None:
        """Bring the vectors up to a graph, where it is not known what changed."""
        if self.store.generation.stand():
            self._note_embedding()
            self._compare(graph)
        else:
            self.make_anew(graph, state)

    def close(self) -> None:
        """Let go of what is open."""
        self.store.close()

    def _done(self, state: GraphState) -> None:
        """The vectors reflect a state of the ledger."""
        self.store.generation.mark(_mark(*state))
        with self._db.transaction():
            self._note(state)

    def _note(self, state: GraphState) -> None:
        self._db.set_meta("vectors_position", str(state.position))
        self._db.set_meta("vectors_resolution", str(state.resolution))
        self._generations.stand_here()

    def make_anew(self, graph: KnowledgeGraph, state: GraphState) -> None:
        """Make all vectors in a new generation, and put it in service when they are all there.

        The old ones stand until then, and for their readers until something is written again.
        """
        self._generations.drop_others()
        number = self._generations.begin()
        self.store.move(self._generations.open(number))
        try:
            self.store.generation.prepare()
            self._compare(graph)
            self.store.generation.mark(_mark(*state))
        except BaseException:
            self.store.move(self._generations.open(self._generation))
            self._reconcile = True
            raise
        with self._db.transaction():
            self._note_embedding()
            self._note(state)
            self._generations.put_in_service(number)
        self._generation = number
        self._unsynced = Touched()

    def _note_embedding(self) -> None:
        self._db.set_meta("embedding", f"{self._embedder.name}\n{self._embedder.fingerprint}")

    def _changes(self, graph: KnowledgeGraph, touched: Touched) -> tuple[list[Put], list[tuple[Kind, list[str]]]]:
        """What is to be stored, and what is to be dropped, because some of a graph changed."""
        network = graph.network
        entities, edges, chunks = sorted(touched.entities), sorted(touched.edges), sorted(touched.chunks)
        here = [edge for edge in edges if network.has_edge(edge[0], edge[2], edge[1])]
        gone = sorted(set(edges) - set(here))
        put = [_entities(graph, [one for one in entities if one in network]), *_edges(graph, here),
               self._chunks(chunks)]
        known = set(put[-1][1])
        return put, [
            ("entities", [one for one in entities if one not in network]),
            ("triples", [triple_id(*edge) for edge in gone]),
            ("relations", sorted(relation_id(one) for one in _unused(graph, {edge[1] for edge in gone}))),
            ("chunks", [one for one in chunks if one not in known])]

    def _compare(self, graph: KnowledgeGraph) -> None:
        """All ids, for when it is not known what changed."""
        wanted = [_entities(graph, graph.entity_ids()), *_edges(graph, graph.edges()),
                  self._chunks(self._documents.done())]
        self.store.put_all(wanted)
        for kind, ids, _ in wanted:
            self.store.drop(kind, self.store.ids(kind) - set(ids))
        self._reconcile = False

    def _chunks(self, ids: Sequence[str]) -> Put:
        chunks = self._documents.chunks(ids)
        return "chunks", [chunk.id for chunk in chunks], [chunk.titled_text() for chunk in chunks]


def _entities(graph: KnowledgeGraph, ids: Sequence[str]) -> Put:
    return "entities", list(ids), [graph.entity_text(one) for one in ids]


def _edges(graph: KnowledgeGraph, edges: Sequence[tuple[str, str, str]]) -> tuple[Put, Put]:
    relations = sorted({relation for _, relation, _ in edges})
    return (("triples", [triple_id(*edge) for edge in edges], [graph.triple_text(edge) for edge in edges]),
            ("relations", [relation_id(one) for one in relations], [relation_text(one) for one in relations]))


def _mark(position: int, resolution: int) -> str:
    """How a state of the ledger is noted beside the vectors."""
    return f"{position} {resolution}"


def _unused(graph: KnowledgeGraph, relations: set[str]) -> set[str]:
    """Which of some relations no triple has; looked for until all are found, for most are frequent."""
    left = set(relations)
    for _, _, relation in graph.network.edges(keys=True) if left else ():
        left.discard(relation)
        if not left:
            break
    return left
