"""The vectors of a knowledge base, kept up with its graph."""

import logging
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import NamedTuple

from ...models.embedding.embedder import Embedder
from ...runtime.cancellation import CallCancelled
from ...schemas.naming import relation_id, triple_id
from ..errors import EmbeddingMismatchError
from ..graph.knowledge_graph import KnowledgeGraph, Touched, relation_text
from ..graph.state import GraphState
from ..layout import Layout
from ..ledger.database import Database
from ..ledger.documents import Documents
from .generations import VectorGenerations
from .store import Kind, Put, VectorStore

_LOG = logging.getLogger(__name__)

_WAITING = 1
"""Changes that may wait for the thread that embeds, while the graph changes on; the next one is set down as well, but
waited with. More would only take longer to come to an end when a build is stopped."""


class Changes(NamedTuple):
    """What is to be done for the vectors to reflect a state of the ledger, if they reflect the one before."""

    touched: Touched
    """What changed, for when that cannot be done."""
    put: list[Put]
    drop: list[tuple[Kind, list[str]]]
    state: GraphState


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
        self._gathered: list[Changes] = []
        self._at_work: list[Changes] = []
        self._noting = threading.Condition()
        self._carrying_out = threading.Lock()
        self._apart = False
        self._thread: ThreadPoolExecutor | None = None
        self._beside: deque[Future[None]] = deque()
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
        with self._noting:
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
        self._take_back()
        self._reconcile = self._reconcile or self.store.generation.lost or self.position() not in positions

    def moved(self) -> bool:
        """Whether another process has made the vectors anew, or restored another ledger; from here on they are those.

        Nothing is known of what changed then.
        """
        if self._generation == self._generations.current():
            return False
        self._generation = self._generations.current()
        self.store.move(self._generations.open(self._generation))
        self._gathered.clear()
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

    def gather(self, graph: KnowledgeGraph, state: GraphState) -> None:
        """Set down what has to be done for the vectors to reflect a graph.

        It is for `carry_out` and `carry_out_beside` to do, beside which the graph may change again.
        """
        if self._reconcile:
            with self._carrying_out:
                self._catch_up(graph, state)
        with self._noting:
            touched, self._unsynced = self._unsynced, Touched()
            self._gathered.append(self._changes(graph, touched, state))

    def _catch_up(self, graph: KnowledgeGraph, state: GraphState) -> None:
        """Bring the vectors up to a graph, where it is not known what changed."""
        if self.store.generation.stand():
            self._note_embedding()
            self._compare(graph)
        else:
            self.make_anew(graph, state)

    def carry_out(self) -> None:
        """Embed and drop what was gathered until now, and wait for what a thread does of it.

        Raises:
            Exception: it could not be done, and is to be gathered again.
        """
        while self._beside:
            self._beside.popleft().result()
        self._carry_out()

    def carry_out_beside(self) -> None:
        """Let a thread embed and drop what was gathered, and wait only while much waits for it.

        Raises:
            Exception: what it met since the last call; what it had to do is to be gathered again.
        """
        self._begin(partial(self._carry_out, apart=self._apart))
        with self._noting:
            self._noting.wait_for(lambda: len(self._gathered) <= _WAITING)
        while self._beside and self._beside[0].done():
            self._beside.popleft().result()

    def embed_ahead(self, chunks: Sequence[str]) -> None:
        """Let the thread embed passages before anything is extracted of them, while it has nothing else to do."""
        self._begin(partial(self._embed_ahead, self._chunks(chunks)))

    def _embed_ahead(self, chunks: Put) -> None:
        with self._carrying_out:
            self.store.embed_ahead(chunks)

    def _begin(self, job: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "banyan-vectors")
        self._beside.append(self._thread.submit(copy_context().run, job))

    def write_apart(self) -> None:
        """Much is to come: what a thread embeds is written by a process of its own, which starts now."""
        self._apart = True
        if not self._reconcile:  # else the vectors are read first, which would end it
            self.store.write_apart()

    def settle(self) -> None:
        """No thread is at work any more: it has ended what it had begun; the rest is to be gathered again."""
        self._apart = False
        if self._thread is None:
            return
        self._thread.shutdown(cancel_futures=True)
        self._thread = None
        for error in [future.exception() for future in self._beside if not future.cancelled()]:
            if error is not None and not isinstance(error, CallCancelled):
                _LOG.warning("vectors were not made: %s; they will be when something is written next", error)
        self._beside.clear()
        self.store.forget_ahead()
        self._take_back()

    def close(self) -> None:
        """Let go of what is open."""
        self.settle()
        self.store.close()

    def _carry_out(self, *, apart: bool = False) -> None:
        with self._carrying_out:
            try:
                if apart:
                    self.store.write_apart()
                self._take()
                if self._at_work:
                    self._generations.drop_others()
                    self._note_embedding()
                    self._apply(_together(self._at_work))
                    self._at_work = []
            except BaseException:
                # A full disk, say: this process may live on, and has still to do it.
                self._take_back()
                raise

    def _take(self) -> None:
        """What waited is at work."""
        with self._noting:
            self._at_work, self._gathered = self._gathered, []
            self._noting.notify_all()

    def _apply(self, changes: Changes) -> None:
        self.store.put_all(changes.put)
        for kind, gone in changes.drop:
            self.store.drop(kind, gone)
        self.store.flush()
        self._done(changes.state)

    def _take_back(self) -> None:
        """What was gathered is to be gathered again."""
        with self._noting:
            for changes in [*self._at_work, *self._gathered]:
                self._unsynced.add(changes.touched)
            self._at_work, self._gathered = [], []
            self._noting.notify_all()

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

    def _changes(self, graph: KnowledgeGraph, touched: Touched, state: GraphState) -> Changes:
        """What is to be done because some of a graph changed."""
        network = graph.network
        entities, edges, chunks = sorted(touched.entities), sorted(touched.edges), sorted(touched.chunks)
        here = [edge for edge in edges if network.has_edge(edge[0], edge[2], edge[1])]
        gone = sorted(set(edges) - set(here))
        put = [_entities(graph, [one for one in entities if one in network]), *_edges(graph, here),
               self._chunks(chunks)]
        known = set(put[-1][1])
        return Changes(touched, put, [
            ("entities", [one for one in entities if one not in network]),
            ("triples", [triple_id(*edge) for edge in gone]),
            ("relations", sorted(relation_id(one) for one in _unused(graph, {edge[1] for edge in gone}))),
            ("chunks", [one for one in chunks if one not in known])], state)

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


def _together(successive: Sequence[Changes]) -> Changes:
    """Successive changes as one: each call of Chroma's costs as much as some hundred vectors do."""
    touched = Touched()
    put: defaultdict[Kind, dict[str, str]] = defaultdict(dict)
    drop: defaultdict[Kind, dict[str, None]] = defaultdict(dict)
    for changes in successive:
        touched.add(changes.touched)
        for kind, ids, texts in changes.put:
            put[kind].update(zip(ids, texts, strict=True))
            drop[kind] = {one: None for one in drop[kind] if one not in put[kind]}
        for kind, gone in changes.drop:
            drop[kind].update(dict.fromkeys(gone))
            put[kind] = {one: text for one, text in put[kind].items() if one not in drop[kind]}
    return Changes(touched, [(kind, list(texts), list(texts.values())) for kind, texts in put.items()],
                   [(kind, list(gone)) for kind, gone in drop.items()], successive[-1].state)


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
