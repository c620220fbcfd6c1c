"""A knowledge base: the ledger, and the graph, vectors and tree derived from it."""

import logging
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Self, TypeVar

from filelock import FileLock, Timeout

from ..ingest.chunking import chunk_document
from ..models.embedding.embedder import Embedder, RememberingEmbedder
from ..schemas.chroma_server import ChromaServer
from ..schemas.delta import Decision
from ..schemas.documents import Chunk, Document
from ..schemas.resolution import AliasRow, EntityDecision
from .errors import WriterBusyError
from .evolution.control import SchemaControl
from .evolution.growth import Thresholds
from .graph.resolved_graph import ResolvedGraph
from .graph.state import GraphState
from .graph.synchroniser import GraphSynchroniser
from .layout import Layout
from .ledger.accounts import Calls
from .ledger.aliases import AliasTable
from .ledger.communities import Community, CommunityTable
from .ledger.database import Database
from .ledger.documents import ChunkText, Documents
from .ledger.extractions import Extractions
from .ledger.schema_history import SchemaHistory
from .ledger.vector_cache import VectorCache
from .ledger.version import Version, publish, version_of
from .resolution.decisions import check_carried_out, match_pair
from .resolution.resolver import Ask, Resolver
from .tree.detection import CommunitySettings
from .tree.synchroniser import Summarise, TreeSynchroniser
from .tree.view_spec import ViewSpec
from .vectors.reliability import SAMPLE, Reliability, measure
from .vectors.synchroniser import VectorSynchroniser

_LOG = logging.getLogger("banyan")
_Chunk = TypeVar("_Chunk", Chunk, ChunkText)

_BOUNDED_AT_ONCE = 256


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
        layout.check_ledger()
        layout.root.mkdir(parents=True, exist_ok=True)
        self.layout = layout
        self.embedder = embedder
        self.database = Database(layout.ledger)
        self.documents = Documents(self.database)
        self.extractions = Extractions(self.database)
        self.schemas = SchemaHistory(self.database)
        self.schema_control = SchemaControl(self.database, self.documents, embedder)
        self.calls = Calls(self.database)
        self.communities = CommunityTable(self.database)
        self._vectors = VectorSynchroniser(layout, self.database, self.documents, embedder)
        self.vectors = self._vectors.store
        # Of earlier samples as many are kept as of this one, and more until there is something to write.
        self._sampled = VectorCache(self.database, "reliability", RememberingEmbedder(embedder, 3 * SAMPLE))
        self._tree = TreeSynchroniser(self.database, self.vectors, self.communities)
        self.entities = AliasTable(self.database)
        self._resolver = Resolver(self.entities, self.documents, self.vectors, embedder)
        self._graph = GraphSynchroniser(layout.graph, self.extractions, self.entities)
        self._lock = FileLock(layout.lock, timeout=0, thread_local=False)
        self._published = 0
        # A reader that nobody holds any more closes its files by itself.
        self._close = weakref.finalize(self, _close_all, self._lock, self._vectors, self.database)
        try:
            if not any_embedding:
                self._vectors.check_embedding()
            self._graph.load()
            read = self._graph.state
            self.refresh()
            # Changes are told apart from the snapshot on.
            self._vectors.begin((read.position, self._state.position), self._state.resolution)
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, home: Path, name: str, embedder: Embedder, *, server: ChromaServer | None = None) -> Self:
        """Open the knowledge base of that name, making it if there is none; `server` holds its vectors, if any does."""
        return cls(Layout.of(home, name, server), embedder)

    @classmethod
    def open(cls, home: Path, name: str, embedder: Embedder, *, any_embedding: bool = False,
             server: ChromaServer | None = None) -> Self:
        """Open an existing knowledge base, bringing its derived files up to date where that is due.

        Raises:
            UnknownKnowledgeBaseError: there is none of that name.
        """
        opened = cls(Layout.of(home, name, server).require(), embedder, any_embedding=any_embedding)
        if not any_embedding and (opened.vectors_behind() or opened._graph.lost):
            try:
                with opened.writing():
                    opened.sync_vectors()
                    opened.save_graph(anew=opened._graph.lost)
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
        if self._lock.lock_counter == 1:
            try:
                self._take_over()
            except BaseException:
                self.release()
                raise

    def release(self) -> None:
        """Take back one `acquire`."""
        self._lock.release()

    def publish(self) -> None:
        """Tell readers that have this open of what was written; until then they stay with what they have."""
        if self.database.changes() != self._published:
            publish(self.database)
            self._published = self.database.changes()

    def _take_over(self) -> None:
        """Begin where other writers ended: they may have written since this was opened, or been killed."""
        self._published = self.database.changes()
        read = self._state
        self.vectors.close()  # it may have missed what other processes wrote
        self.refresh()
        self._vectors.take_over((read.position, self._state.position))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the one writer for a while; readers are told of what was written if all goes well.

        Raises:
            WriterBusyError: another process is.
        """
        self.acquire()
        try:
            yield
            self.publish()
        finally:
            self.release()

    def write_chunks(self, chunk_ids: Sequence[str]) -> None:
        """Bound what was said of some chunks by the schema in force and make it their contribution."""
        self.schema_control.write(self.documents.in_service(chunk_ids))
        self.refresh()

    def put_revisions_in_service(self) -> None:
        """Put new content of documents in the place of the old where all of it is extracted.

        The old facts go and the new ones come in one transaction for each document.
        """
        for document_id in self.documents.revisions.ready():
            with self.database.transaction():
                self.schema_control.write(self.documents.put_in_service(document_id))
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
        with self.database.transaction():
            # Killed before all was done, it is taken up by the same command, to which the document is unknown.
            if self.database.get_meta("deleting") != document_id or self.documents.known(document_id):
                self.documents.delete(document_id)
            self.database.set_meta("deleting", document_id)
        self.refresh()
        self.sync_vectors()

    def settle(self) -> None:
        """All that follows from what was stored and deleted is done."""
        if self.database.get_meta("deleting"):
            self.database.set_meta("deleting", "")

    def searchable_chunks(self) -> list[Chunk]:
        """The chunks that have a vector, by document and position."""
        return self._searchable(self.documents.chunks())

    def _searchable(self, chunks: Sequence[_Chunk]) -> list[_Chunk]:
        absent = set(self.vectors.missing("chunks", [chunk.id for chunk in chunks]))
        return [chunk for chunk in chunks if chunk.id not in absent]

    def measure_reliability(self) -> None:
        """Measure how far the embedding model can be trusted with these texts, for retrieval."""
        chunks = self._searchable(self.documents.texts())
        vectors = self.vectors.get("chunks", [chunk.id for chunk in chunks])
        with self._sampled.embedder() as embedder:
            measured = measure(chunks, vectors, embedder.encode)
        self.database.set_meta("reliability", measured.dump())

    def reliability(self) -> Reliability:
        """How far vectors can be trusted with these texts, as last measured."""
        return Reliability.parse(self.database.get_meta("reliability"))

    def version(self) -> Version:
        """Changes whenever facts, vectors, communities or schema do, or all was made anew or restored."""
        return version_of(self.database)

    def freeze(self) -> None:
        """Stay as it is from here on, for reading alone: graph and all that is read of the ledger are of one moment."""
        self.database.freeze()
        self.refresh()
        self.vectors.freeze()

    # The graph.

    @property
    def graph(self) -> ResolvedGraph:
        """The graph in memory."""
        return self._graph.graph

    @property
    def _state(self) -> GraphState:
        return self._graph.state

    def refresh(self) -> None:
        """Bring the graph in memory up to the ledger's position."""
        if self._vectors.moved():
            self._graph.begin_anew()
        for touched in self._graph.follow():
            self._vectors.note(touched)

    def save_graph(self, *, anew: bool = False) -> None:
        """Write the snapshot if it is due (see `GraphSynchroniser.save`)."""
        self._graph.save(self.documents.count(), anew=anew)

    # Entities.

    def resolution_behind(self, reasoner: str = "") -> bool:
        """Whether the aliases were found for another state of the ledger, or by another reasoner."""
        return self.entities.resolved() != self.entities.state(self._state.position, reasoner)

    def resolve_entities(self, ask: Ask | None = None, reasoner: str = "") -> bool:
        """Find out which entities are the same thing, and make them one node each.

        Args:
            ask: whom doubtful pairs are put to; None: nobody.
            reasoner: its fingerprint.

        Returns:
            Whether anything changed. What is certain is written even if asking ends with an exception.
        """
        before = self._state.resolution
        try:
            aliases = self.find_aliases(ask, reasoner)
        except BaseException:
            self.entities.replace(self.find_aliases(), "")
            self._vectors.note(self._graph.follow_aliases())
            raise
        self.entities.replace(aliases, self.entities.state(self._state.position, reasoner))
        self._vectors.note(self._graph.follow_aliases())
        return self._state.resolution != before

    def find_aliases(self, ask: Ask | None = None, reasoner: str = "") -> dict[str, AliasRow]:
        """The entities that are another one, as the ledger has it now (see `Resolver.find`)."""
        return self._resolver.find(self.graph.mentions, self.schemas.current(), self.reliability(), ask, reasoner)

    def decide_entities(self, verdict: Literal["merge", "split"], names: tuple[str, str], who: str, why: str) -> None:
        """Record a person's decision on two entities and carry it out, or neither.

        Args:
            verdict: what is to become of them.
            names: theirs, or their ids; "name (type)" where a name has several types.
            who: the person.
            why: the reason, for others.

        Raises:
            EntityDecisionError: it cannot be carried out.
        """
        reasoner = self.entities.resolved_by()
        first, second = match_pair(self.graph, self.schemas.current(), verdict, names)
        with self.database.transaction():
            self.entities.decide(EntityDecision(verdict=verdict, first=first, second=second, who=who, why=why))
            aliases = self.find_aliases()
            check_carried_out(self.graph, aliases, verdict, (first, second))
            self.entities.replace(aliases, self.entities.state(self._state.position, reasoner))
        self._vectors.note(self._graph.follow_aliases())

    # Vectors.

    def vectors_behind(self) -> bool:
        """Whether the vectors do not reflect the ledger as it was read."""
        return self._vectors.behind(self._state)

    def sync_vectors(self) -> None:
        """Embed what is new and drop what is gone."""
        self._vectors.sync(self.graph, self._state)

    # The tree.

    def tree_behind(self) -> bool:
        """Whether the communities do not reflect the ledger's position."""
        return self._tree.state() != self._state

    def tree_described(self) -> bool:
        """Whether all communities were described since they were found."""
        return self._tree.described()

    def build_tree(self, summarise: Summarise, settings: CommunitySettings | None = None, *, anew: bool = False) -> int:
        """Find the communities of the graph as it is, then describe the new ones (see `TreeSynchroniser.build`)."""
        self._tree.build(self.graph, self._state, settings or CommunitySettings(), anew=anew)
        self.describe(summarise)
        return self.communities.count()

    def update_tree(self, summarise: Summarise) -> None:
        """Bring the tree up to the facts, or describe what an earlier run left undescribed."""
        if self.tree_behind():
            self.build_tree(summarise)
        elif self.communities.undescribed():
            self.describe(summarise)

    def describe(self, summarise: Summarise) -> None:
        """Name and summarise the communities that are not described yet."""
        self._tree.describe(self.graph, summarise)

    def build_view(self, spec: ViewSpec, settings: CommunitySettings | None = None) -> list[Community]:
        """Build a view beside the default one; it stands until the graph's tree is built anew."""
        return self._tree.view(self.graph, spec, settings or CommunitySettings())

    def reindex(self, summarise: Summarise) -> None:
        """Make all that is derived anew from what was said: facts, graph, vectors, tree.

        The old vectors stand until the new ones are whole, and for their readers until something is
        written again.
        """
        done = self.documents.done()
        for start in range(0, len(done), _BOUNDED_AT_ONCE):
            self.schema_control.write(done[start:start + _BOUNDED_AT_ONCE])
        self._graph.begin_anew()
        self.refresh()
        self.resolve_entities()
        self._vectors.make_anew(self.graph, self._state)
        self.build_tree(summarise, anew=True)
        self.measure_reliability()
        self.save_graph(anew=True)

    def put_document(self, document: Document, max_tokens: int, overlap_tokens: int) -> bool:
        """Store a document with its chunks; returns whether anything changed."""
        chunks = chunk_document(document, max_tokens=max_tokens, overlap_tokens=overlap_tokens)
        return self.documents.put(document, chunks)


def _close_all(lock: FileLock, vectors: VectorSynchroniser, database: Database) -> None:
    try:
        vectors.close()
    finally:
        lock.release(force=True)
        database.close()
