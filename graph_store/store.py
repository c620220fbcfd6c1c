"""A knowledge base: the ledger, and the graph, vectors and tree derived from it."""

import logging
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from filelock import FileLock, Timeout

from ..ingest.chunking import chunk_document
from ..models.embedding import Embedder
from ..schemas.delta import Decision
from ..schemas.documents import Chunk, Document
from ..schemas.naming import triple_id
from . import snapshot
from .accounts import Calls
from .communities import CommunitySettings
from .community_table import Community, CommunityTable
from .database import Database
from .documents import Documents
from .errors import EmbeddingMismatchError, WriterBusyError
from .evolution import Thresholds
from .extractions import Extractions
from .graph import KnowledgeGraph, Touched, relation_text
from .layout import Layout
from .reliability import Reliability, measure
from .schema_control import SchemaControl
from .schema_history import SchemaHistory
from .tree import relation_id
from .tree_keeper import Summarise, TreeKeeper
from .vectors import KINDS, VectorStore
from .view_spec import ViewSpec

_LOG = logging.getLogger("banyan")

# The snapshot is written again when a quarter of the chunks changed since: each byte of it is then
# written a bounded number of times however small the additions, and replay at opening stays short.
_SNAPSHOT_SHARE = 4
_SNAPSHOT_LEAST = 64


class KnowledgeBase:
    """One knowledge base, open. Reading needs no lock; writing is done inside `writing()`."""

    def __init__(self, layout: Layout, embedder: Embedder, *, any_embedding: bool = False) -> None:
        """Open an existing or a new knowledge base.

        Args:
            layout: where it is.
            embedder: the embedding model.
            any_embedding: open it even if its vectors come from another model, to reindex it.

        Raises:
            FormatError: its ledger is not readable.
            EmbeddingMismatchError: its vectors come from another model.
        """
        layout.root.mkdir(parents=True, exist_ok=True)
        self.layout = layout
        self.embedder = embedder
        self.database = Database(layout.ledger)
        self.documents = Documents(self.database)
        self.extractions = Extractions(self.database)
        self.schemas = SchemaHistory(self.database)
        self.schema_control = SchemaControl(self.database, embedder)
        self.calls = Calls(self.database)
        self.communities = CommunityTable(self.database)
        self.vectors = VectorStore(layout.vectors, embedder)
        self._tree = TreeKeeper(self.database, self.vectors, self.communities)
        self.graph = KnowledgeGraph()
        self._lock = FileLock(layout.lock, timeout=0, thread_local=False)
        self._position = 0
        self._unsynced = Touched()
        # A reader that nobody holds any more closes its files by itself.
        self._close = weakref.finalize(self, _close_all, self._lock, self.vectors, self.database)
        try:
            if not any_embedding:
                self._check_embedding()
            self._load_graph()
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, home: Path, name: str, embedder: Embedder) -> Self:
        """Open the knowledge base of that name, making it if there is none."""
        return cls(Layout.of(home, name), embedder)

    @classmethod
    def open(cls, home: Path, name: str, embedder: Embedder, *, any_embedding: bool = False) -> Self:
        """Open an existing knowledge base, bringing its derived files up to date where that is due.

        Raises:
            UnknownKnowledgeBaseError: there is none of that name.
        """
        opened = cls(Layout.of(home, name).require(), embedder, any_embedding=any_embedding)
        if not any_embedding and opened.vectors_behind():
            try:
                with opened.writing():
                    opened.sync_vectors()
            except WriterBusyError:
                # The writer is bringing them up to date; until then what is there answers.
                _LOG.info("%s is being written to; answering from what is there", opened.layout.name)
        return opened

    def close(self) -> None:
        """Release the lock and the files."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Writing.

    def acquire(self) -> None:
        """Become the one writer; may be nested.

        Raises:
            WriterBusyError: another process is.
        """
        try:
            self._lock.acquire()
        except Timeout as error:
            raise WriterBusyError(f"another process is writing to {self.layout.name!r}; wait until it has "
                                  "ended, or end it, and try again") from error

    def release(self) -> None:
        """Take back one `acquire`."""
        self._lock.release()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the one writer for a while.

        Raises:
            WriterBusyError: another process is.
        """
        self.acquire()
        try:
            yield
        finally:
            self.release()

    def write_chunks(self, chunk_ids: Sequence[str]) -> None:
        """Bound what was said of some chunks by the schema in force and make it their contribution."""
        self.schema_control.write(chunk_ids)
        self.refresh()

    def grow_schema(self, thresholds: Thresholds) -> bool:
        """Let the schema grow by thresholds; returns whether it changed (see `SchemaControl.grow`)."""
        changed = self.schema_control.grow(thresholds)
        self.refresh()
        return changed

    def decide(self, decisions: Sequence[Decision], who: str, support: int) -> bool:
        """Carry out a person's decisions on the schema (see `SchemaControl.decide`).

        Raises:
            DecisionError: one of them cannot be carried out; none was.
        """
        changed = self.schema_control.decide(decisions, who, support)
        self.refresh()
        return changed

    def delete_document(self, document_id: str) -> None:
        """Remove a document with all that only it supports.

        Raises:
            UnknownDocumentError: there is none of that id.
        """
        self.documents.delete(document_id)
        self.refresh()
        self.sync_vectors()

    def searchable_chunks(self) -> list[Chunk]:
        """The chunks that have a vector, by document and position."""
        chunks = self.documents.chunks()
        absent = set(self.vectors.missing("chunks", [chunk.id for chunk in chunks]))
        return [chunk for chunk in chunks if chunk.id not in absent]

    def measure_reliability(self) -> None:
        """Measure how far the embedding model can be trusted with these texts, for retrieval."""
        chunks = self.searchable_chunks()
        vectors = self.vectors.get("chunks", [chunk.id for chunk in chunks])
        self.database.set_meta("reliability", measure(chunks, vectors, self.embedder).dump())

    def reliability(self) -> Reliability:
        """How far vectors can be trusted with these texts, as last measured."""
        return Reliability.parse(self.database.get_meta("reliability"))

    def version(self) -> tuple[int, int]:
        """Changes whenever the ledger's facts or communities do."""
        return self.extractions.position(), int(self.database.get_meta("tree_position") or 0)

    def outdated(self) -> bool:
        """Whether the ledger has moved on since this was opened."""
        return self.version() != self._opened_at

    # The graph: the snapshot, and what the ledger has beyond it.

    def _load_graph(self) -> None:
        try:
            self.graph, self._position = snapshot.load(self.layout.graph)
        except FileNotFoundError:
            pass
        except snapshot.SnapshotDamagedError as error:
            _LOG.warning("%s; it is made again from the ledger", error)
        if self._position > self.extractions.position():
            _LOG.warning("the graph's file is ahead of the ledger; it is made again")
            self.graph, self._position = KnowledgeGraph(), 0
        self._saved_position = self._position
        # Vectors known to be behind the snapshot were touched by changes that are no longer told apart.
        self._reconcile = self._vectors_position() < self._position or self._lost_vectors()
        self._opened_at = self.version()
        self.refresh()
        if not self.tree_behind():
            self._tree.follow()

    def refresh(self) -> None:
        """Bring the graph in memory up to the ledger's position."""
        position = self.extractions.position()
        for chunk_id in self.extractions.changed_since(self._position):
            touched = self.graph.replace(chunk_id, self.extractions.contribution(chunk_id))
            self._unsynced.add(touched)
            self._tree.note(touched.entities)
        self._position = position

    def save_graph(self) -> None:
        """Write the snapshot if enough has changed since the last one.

        Raises:
            OSError: it cannot be written; the old one stands.
        """
        due = max(_SNAPSHOT_LEAST, self.documents.count() // _SNAPSHOT_SHARE)
        if self._position - self._saved_position >= due:
            snapshot.save(self.layout.graph, self.graph, self._position)
            self._saved_position = self._position

    # Vectors.

    def _check_embedding(self) -> None:
        stored = self.database.get_meta("embedding")
        if stored is None:
            return
        name, _, fingerprint = stored.partition("\n")
        if fingerprint != self.embedder.fingerprint:
            raise EmbeddingMismatchError(
                f"{self.layout.name!r} was built with the embedding model {name!r} and {self.embedder.name!r} is "
                "in use: set BANYAN_EMBEDDING_MODEL to the former, or run `banyan reindex` to embed it anew")

    def _lost_vectors(self) -> bool:
        return self._vectors_position() > 0 and not self.vectors.stand()

    def _vectors_position(self) -> int:
        return int(self.database.get_meta("vectors_position") or 0)

    def vectors_behind(self) -> bool:
        """Whether the vectors do not reflect the ledger's position."""
        return self._reconcile or self._vectors_position() < self._position

    def sync_vectors(self) -> None:
        """Embed what is new and drop what is gone; only what changed is looked at where that is known."""
        self.database.set_meta("embedding", f"{self.embedder.name}\n{self.embedder.fingerprint}")
        if self._reconcile:
            self._reconcile_vectors()
        touched, self._unsynced = self._unsynced, Touched()
        try:
            self._sync(touched)
        except BaseException:
            # A full disk, say: this process may live on, and has still to do it.
            self._unsynced.add(touched)
            raise
        self.database.set_meta("vectors_position", str(self._position))

    def _sync(self, touched: Touched) -> None:
        entities = sorted(touched.entities)
        edges = sorted(touched.edges)
        network = self.graph.network
        self._put_entities([one for one in entities if one in network])
        self.vectors.drop("entities", [one for one in entities if one not in network])
        here = [edge for edge in edges if network.has_edge(edge[0], edge[2], edge[1])]
        self._put_edges(here)
        self.vectors.drop("triples", [triple_id(*edge) for edge in sorted(set(edges) - set(here))])
        self._put_chunks(sorted(touched.chunks))
        known = {chunk.id for chunk in self.documents.chunks(sorted(touched.chunks))}
        self.vectors.drop("chunks", touched.chunks - known)

    def _reconcile_vectors(self) -> None:
        """Compare all ids, for when it is not known what changed."""
        if not self.vectors.stand():
            self.vectors.discard()
        edges = self.graph.edges()
        self._put_entities(self.graph.entity_ids())
        self._put_edges(edges)
        self._tree.put_vectors()
        chunks = [chunk.id for chunk in self.documents.chunks() if self.documents.status(chunk.id) == "done"]
        self._put_chunks(chunks)
        wanted = {"entities": set(self.graph.entity_ids()), "triples": {triple_id(*edge) for edge in edges},
                  "relations": {relation_id(relation) for _, relation, _ in edges},
                  "communities": {c.id for c in self.communities.searchable()}, "chunks": set(chunks)}
        for kind in KINDS:
            self.vectors.drop(kind, self.vectors.ids(kind) - wanted[kind])
        self._reconcile = False

    def _put_entities(self, ids: Sequence[str]) -> None:
        self.vectors.put("entities", ids, [self.graph.entity_text(one) for one in ids])

    def _put_edges(self, edges: Sequence[tuple[str, str, str]]) -> None:
        self.vectors.put("triples", [triple_id(*e) for e in edges], [self.graph.triple_text(e) for e in edges])
        relations = sorted({relation for _, relation, _ in edges})
        self.vectors.put("relations", [relation_id(r) for r in relations], [relation_text(r) for r in relations])

    def _put_chunks(self, ids: Sequence[str]) -> None:
        chunks = self.documents.chunks(ids)
        self.vectors.put("chunks", [c.id for c in chunks], [c.titled_text() for c in chunks])

    # The tree.

    def tree_behind(self) -> bool:
        """Whether the communities do not reflect the ledger's position."""
        return self._tree.position() != self._position

    def build_tree(self, summarise: Summarise, settings: CommunitySettings | None = None, *, anew: bool = False) -> int:
        """Find the communities of the graph as it is, then describe those that are new (see `TreeKeeper.build`)."""
        self._tree.build(self.graph, self._position, settings or CommunitySettings(), anew=anew)
        self.describe(summarise)
        return self.communities.count()

    def describe(self, summarise: Summarise) -> None:
        """Name and summarise the communities that are not described yet, and embed what is said of them."""
        self._tree.describe(self.graph, summarise)

    def build_view(self, spec: ViewSpec, settings: CommunitySettings | None = None) -> list[Community]:
        """Build a view beside the default one; it stands until the graph's tree is built anew."""
        return self._tree.view(self.graph, spec, settings or CommunitySettings())

    def reindex(self, summarise: Summarise) -> None:
        """Make all that is derived anew from the ledger: graph, vectors, tree."""
        # Ended from here on, it is taken up when the knowledge base is opened again.
        self.database.set_meta("vectors_position", "0")
        self.vectors.discard()
        self.graph, self._position, self._unsynced = KnowledgeGraph(), 0, Touched()
        self.refresh()
        self._unsynced = Touched()
        self._reconcile = True
        self.sync_vectors()
        self.build_tree(summarise, anew=True)
        self.measure_reliability()
        snapshot.save(self.layout.graph, self.graph, self._position)
        self._saved_position = self._position

    def put_document(self, document: Document, max_tokens: int, overlap_tokens: int) -> bool:
        """Store a document with its chunks; returns whether anything changed."""
        chunks = chunk_document(document, max_tokens=max_tokens, overlap_tokens=overlap_tokens)
        return self.documents.put(document, chunks)


def _close_all(lock: FileLock, vectors: VectorStore, database: Database) -> None:
    lock.release(force=True)
    vectors.close()
    database.close()
