"""A knowledge base: the ledger, and the graph, vectors and tree derived from it."""

import logging
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self, cast

from filelock import FileLock, Timeout
from pydantic import SecretStr

from ..models.embedding.embedder import Embedder
from ..models.embedding.embedding_models import EmbeddingModels
from ..runtime import audit
from ..schemas.services import ChromaServer
from .evolution.control import SchemaControl
from .graph import graph_file
from .graph.graph_file import NodeLink, make_node_link
from .graph.knowledge_graph import KnowledgeGraph
from .graph.resolved_graph import LedgerGraph, ResolvedGraph
from .graph_edits import GraphEditor
from .index.contents import build_index, read_graph
from .index.index_file import Arrays, IndexStore, read_vectors
from .layout import DROPPED, Layout, PrintedWorks
from .ledger import notes
from .ledger.database import Database
from .ledger.document_rows import Documents
from .ledger.entity_rows import AliasTable, CommunityTable, EditTable
from .ledger.extractions import Extractions
from .ledger.notes import Instructions, Overview, Version
from .ledger.postgresql import AdvisoryLock
from .ledger.schema_rows import SchemaHistory
from .ledger.token_accounts import Calls
from .resolution.resolver import Resolver
from .sql.table_store import TableStore
from .store_errors import FormatError, KnowledgeBaseNameError, LedgerDamagedError, StoreError, WriterBusyError
from .vectors.vector_store import VectorStore
from .vectors.vector_synchroniser import LedgerEmbedder, VectorSynchroniser, model_for

if TYPE_CHECKING:
    from .sql.engine import SqlEngine
    from .sql.table_file import TableSource
    from .tree.tree_levels import TreeSynchroniser

_LOG = logging.getLogger("banyan")
_READER_SECONDS = 600.0  # seconds that a writer waits for a reader, who may have to embed what others wrote


class Counts(NamedTuple):
    """The sizes of a knowledge base's graph."""

    entities: int
    triples: int
    attributes: int


class KnowledgeBase:
    """An open knowledge base. Reading needs no lock; writing is done inside `writing()`."""

    def __init__(self, layout: Layout, embedder: Embedder | EmbeddingModels, *, create: bool = False,
                 any_embedding: bool = False) -> None:
        """Open an existing or, with `create`, a new knowledge base.

        `embedder` is a model, or several from which each knowledge base chooses its own. `any_embedding` opens it even
        if its vectors come from another model, to reindex it; of several models, the one is chosen that the settings
        name, or else that fits its current documents.
        """
        layout.check_ledger()
        if create:
            layout.root.mkdir(parents=True, exist_ok=True)
        self.layout = layout
        self.database = Database(layout.ledger, create=create)
        layout.root.mkdir(parents=True, exist_ok=True)  # with a ledger in PostgreSQL, this machine may lack the folder
        self.documents = Documents(self.database)
        # The PDF files that the page shows; machines that share a database would not see the same.
        self.printed = PrintedWorks(layout.printed_works, active=layout.database is None)
        if isinstance(embedder, EmbeddingModels):
            name = (embedder.chosen or model_for(self.documents)) if any_embedding else ""
            embedder = cast("Embedder", LedgerEmbedder(embedder, self.database, name))
        self.embedder: Embedder = embedder
        self.extractions = Extractions(self.database)
        self.schemas = SchemaHistory(self.database)
        self.instructions = Instructions(self.database, "answers")
        self.extraction_instructions = Instructions(self.database, "extraction")
        self.entities = AliasTable(self.database)
        self.communities = CommunityTable(self.database)
        self.calls = Calls(self.database)
        self.ledger_graph = LedgerGraph(self.documents, self.extractions, self.entities, EditTable(self.database),
                                        self.schemas)
        self.vector_synchroniser = VectorSynchroniser(layout, self.database, self.documents, self.ledger_graph,
                                                      self.extractions, embedder)
        self.vectors = self.vector_synchroniser.store
        self.schema_control = SchemaControl(self.database, self.documents, self.extractions)
        self.edits = GraphEditor(self.database, self.ledger_graph, self.schema_control)
        self.resolution = Resolver(self.database, self.documents, self.ledger_graph)
        self.index_store = IndexStore(layout.index, embedder)
        self.table_store = TableStore(layout.root)
        # The index file of an earlier state has most vectors. The function does not refer to this object: a cycle would
        # keep files open until the garbage collector runs.
        store, database = self.index_store, self.database
        self.vector_synchroniser.recall = lambda kind, ids: read_vectors(
            store.load_earlier(notes.version_of(database)), kind, ids)
        self._index: tuple[Version, Arrays] | None = None  # the last one that was read from its file, and what it shows
        self.unwritten = ""  # why derived files are made in memory, as they cannot be written; otherwise empty
        self._files_lock = FileLock(layout.lock, timeout=0, thread_local=False)  # of the derived files in this home
        self._writer_lock = (self._files_lock if isinstance(layout.ledger, Path)
                             else AdvisoryLock(layout.ledger, self.database.scalar))
        """The lock of whoever writes to the ledger; machines that share one in PostgreSQL have own derived files."""
        self._changes_published = 0  # `Database.changes` when this was last published, or when writing began
        self.frozen_at: tuple[int, int] | None = None
        """The published state that this reader keeps reading (see `freeze`), or None if it is not frozen."""
        try:
            self.vector_synchroniser.check(any_embedding=any_embedding)
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, home: Path, name: str, embedder: Embedder | EmbeddingModels, *, server: ChromaServer | None = None,
             database: SecretStr | None = None) -> Self:
        """Open an existing knowledge base, and bring its derived files up to date (arguments: `Layout.of`)."""
        opened = cls(Layout.of(home, name, server, database).require(), embedder)
        version = opened.version()
        is_current = not version.position or (  # nothing is in the ledger from which files could be derived
            opened.written_index() is not None and opened.table_store.file(version) is not None
            and not opened.vectors.was_interrupted() and graph_file.shows_state(opened.layout.graph, version))
        # A writer brings the files up to date itself; until then this reads what it can.
        with suppress(WriterBusyError):
            if not is_current:
                opened._derive_missing_files()
        return opened

    def _derive_missing_files(self) -> None:
        """Bring the derived files of this home folder up to date, or raise WriterBusyError or VectorServerError."""
        vectors = self.vector_synchroniser
        # Vectors on a server are shared by all home folders, so only a writer may change them.
        if not (vectors.is_local or self.database.is_frozen) and vectors.is_behind():
            with suppress(WriterBusyError), self.writing():  # a busy writer brings them up to date itself
                vectors.sync()
        try:
            with self._files_lock, self.database.frozen():
                self.refresh()
                # The index is written after the vectors: if it is of the present state, so are they.
                if self.vectors.was_interrupted() or (vectors.is_local and self.written_index() is None):
                    vectors.prepare_as_writer()
                    vectors.sync()
                self.save_graph()
                self.save_index()
                self.ledger_graph.unload()  # readers need it no more, and it takes much memory
                self.vectors.close()
        except Timeout as error:
            raise WriterBusyError.of(self.layout.name) from error
        except (OSError, StoreError) as error:
            if not vectors.is_local:
                raise  # the vector server does not answer, and vectors cannot be made in memory instead
            _LOG.warning("what is derived of %s cannot be written (%s); it is made in memory for this process",
                         self.layout.name, error)
            self.vectors.close()
            self.unwritten = str(error)

    def close(self) -> None:
        """Release the lock and the files."""
        try:
            self.vectors.close()
        finally:
            for lock in (self._files_lock, self._writer_lock):
                lock.release(force=True)
            self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def acquire(self) -> None:
        """Take the writer's lock; calls may be nested. Raise WriterBusyError if another process has it."""
        with ExitStack() as undo:
            try:
                self._writer_lock.acquire()
                undo.callback(self._writer_lock.release)
                if self._files_lock is not self._writer_lock:  # a reader of this home folder may be deriving its files
                    self._files_lock.acquire(timeout=_READER_SECONDS)
                    undo.callback(self._files_lock.release)
            except Timeout as error:
                raise WriterBusyError.of(self.layout.name) from error
            if self._writer_lock.lock_counter == 1:  # not nested: others may have written since this was opened
                version = self.version()
                # If a person put back an older ledger alone, its counters would reach those of the derived files again,
                # which show other content. With another epoch, these files are outdated whatever the counters say.
                if not version.epoch or self.index_store.is_ahead(version):
                    notes.begin_epoch(self.database)
                self._changes_published = self.database.changes  # an epoch without content is nothing to publish
                self.refresh()
                self.vector_synchroniser.prepare_as_writer()
            undo.pop_all()  # keep the locks

    def release(self) -> None:
        """Undo one `acquire`; the last one releases the lock."""
        if self._writer_lock.lock_counter == 1:  # the last release of nested ones
            self.vectors.close()  # frees memory; what it has cached would miss what others write from now on
        if self._files_lock is not self._writer_lock:
            self._files_lock.release()
        self._writer_lock.release()

    def publish(self) -> None:
        """Let readers see what was written, if anything was; until then they keep reading the previous state."""
        if self.database.changes != self._changes_published:
            notes.publish(self.database, self.overview())
            self._changes_published = self.database.changes

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write within the block, as the only writer; readers move to the new state if it succeeds."""
        self.acquire()
        try:
            yield
            self.publish()
        finally:
            self.release()

    @property
    def graph(self) -> ResolvedGraph:
        """The graph in memory, loaded when it is first asked for."""
        return self.ledger_graph.graph

    def index(self) -> Arrays:
        """Return the arrays that retrieval reads: mapped from the index file, or made in memory if that is outdated."""
        written = self.written_index()
        return self.index_contents() if written is None else written

    def written_index(self) -> Arrays | None:
        """Return the index from its file, or None if that is of another state of the ledger, missing or damaged."""
        version = self.version()
        if self._index is None or self._index[0] != version:
            found = self.index_store.load(version)
            self._index = None if found is None else (version, found)
        return self._index[1] if self._index else None

    def save_index(self) -> None:
        """Write the tables and then the index, unless they are current; an OSError leaves old files unchanged."""
        version = self.version()
        if self.table_store.file(version) is None:
            self.table_store.save(version, self.table_source(self.graph))
        if self.written_index() is None:
            self.index_store.save(version, self.index_contents())
        self.table_store.remove_others(version)

    def open_tables(self, graph: KnowledgeGraph) -> "SqlEngine":
        """Return the tables for SQL, in memory if their file is missing or damaged; `graph` is the current one."""
        from .sql.engine import SqlEngine  # noqa: PLC0415  (sqlglot takes some time, and searching needs no SQL)

        connection = self.table_store.open(self.version(), partial(self.table_source, graph))
        return SqlEngine(connection, self.documents, partial(notes.count_unread_files, self.database))

    def table_file(self, graph: KnowledgeGraph) -> "tuple[Path | None, Callable[[], TableSource]]":
        """Return the file of the tables for SQL, None if there is none, and what makes them; see `open_tables`."""
        return self.table_store.file(self.version()), partial(self.table_source, graph)

    def table_source(self, graph: KnowledgeGraph) -> "TableSource":
        """Return what the tables for SQL are made from."""
        from .sql.table_file import TableSource  # noqa: PLC0415  (DuckDB takes some time, and opening needs no tables)

        return TableSource(self.documents.about(), self.documents.tables(), graph, self.documents.chunks())

    def counts(self) -> Counts:
        """Return the counts: from the index if it is of the current state, otherwise from the graph."""
        if (index := self.written_index()) is not None:
            return Counts(*index["counts"].tolist())
        graph = self.graph
        return Counts(graph.count_entities(), graph.count_triples(), graph.count_attributes())

    def overview(self) -> Overview:
        """Return what a list of knowledge bases shows of this one."""
        counts = self.counts()
        return Overview(documents=self.documents.count_documents(), chunks=self.documents.count(),
                        entities=counts.entities, triples=counts.triples, communities=self.communities.count(),
                        schema_version=self.schemas.version())

    def index_contents(self) -> Arrays:
        """Return the arrays of the index of the current state."""
        return build_index(self.graph, self.documents.chunks(), self.communities.searchable(), self.communities.all(),
                           self.vector_synchroniser.vectors)

    @cached_property
    def tree(self) -> "TreeSynchroniser":
        """The synchroniser, which detects and describes communities."""
        from .tree.tree_levels import TreeSynchroniser  # noqa: PLC0415  (a tenth of a second; readers do not need it)

        return TreeSynchroniser(self.database, self.ledger_graph, self.vectors, self.communities)

    def make_node_link(self) -> NodeLink:
        """Return the content of `graph.json`; if the index is up to date, its graph is used, which is not loaded."""
        index, version = self.written_index(), self.schemas.version()  # version 0: there is no schema yet
        graph = self.graph if index is None else KnowledgeGraph(*read_graph(index))
        about = {"name": self.layout.name, "schema": self.schemas.current().name if version else "",
                 "schema_version": version, "documents": self.documents.count_documents(),
                 "current": not self.tree.is_behind()}
        return make_node_link(graph, self.documents.chunks(), self.communities.all(level=None), about)

    def save_graph(self) -> None:
        """Write the graph's file, unless it is of the current state; an OSError leaves the old file unchanged."""
        state = self.version()
        if not graph_file.shows_state(self.layout.graph, state):
            graph_file.save(self.layout.graph, state, self.make_node_link())

    def refresh(self) -> None:
        """Release the graph in memory if the ledger has changed since it was made."""
        if self.vector_synchroniser.has_moved():
            self.ledger_graph.unload()
        self.ledger_graph.refresh()

    def choose_embedding(self) -> None:
        """Choose the embedding model by the documents, if each knowledge base has its own and none is chosen yet."""
        if isinstance(self.embedder, LedgerEmbedder):
            self.embedder.choose(self.documents)
            self.vectors.use_model(self.embedder.fingerprint)

    def version(self) -> Version:
        """Return the version of the current state; see `Version`."""
        return notes.version_of(self.database)

    def freeze(self) -> None:
        """Keep reading the current state from now on, even if others write; writing is no longer possible."""
        self.database.freeze()
        self.frozen_at = notes.published_state(self.database)
        self.refresh()


def drop_base(layout: Layout) -> None:
    """Delete a knowledge base, even a damaged one: its folder is first renamed, so that it disappears in one step."""
    with suppress(LedgerDamagedError):  # a damaged knowledge base can be dropped, too
        layout.require()
    with layout.alone():
        if layout.server is not None:
            # Do this first: only the ledger tells which of the server's vectors belong to it.
            with suppress(LedgerDamagedError, FormatError), closing(Database(layout.ledger, create=False)) as database:
                VectorStore.of(layout, database, "").clear()
        if not isinstance(layout.ledger, Path):
            layout.ledger.drop()
        # Move the folder below one that is no knowledge base: if this is killed, the rest is not taken for one.
        grave = layout.root.parent / f"{DROPPED}{uuid.uuid4().hex}"
        grave.mkdir(parents=True)
        if layout.root.is_dir():
            layout.root.rename(grave / layout.name)
        audit.record(layout.root.parent, "drop", layout.name)
    for dropped in layout.root.parent.glob(f"{DROPPED}*"):
        shutil.rmtree(dropped, ignore_errors=True)  # a reader that has it open may add files
    if grave.exists():
        shutil.rmtree(grave)  # which says what cannot be deleted


def rename_base(layout: Layout, new: str) -> Layout:
    """Give a knowledge base another name, and return its new layout; KnowledgeBaseNameError if it cannot have it."""
    renamed = Layout.of(layout.root.parent, new, layout.server, layout.database)
    with suppress(LedgerDamagedError):  # a damaged knowledge base can be renamed, too
        layout.require()
    if renamed.is_taken():
        raise KnowledgeBaseNameError(f"there is a knowledge base {new!r} already: choose another name, or drop "
                                     "it first")
    shutil.rmtree(renamed.root, ignore_errors=True)  # it has nothing but locks, or what was derived from a lost ledger
    with layout.alone():
        layout.graph.unlink(missing_ok=True)  # it contains the old name; the next opening rebuilds it
        _rename_ledger(layout, new)
        try:
            if layout.root.is_dir():
                layout.root.rename(renamed.root)
        except OSError:
            _rename_ledger(renamed, layout.name)  # the knowledge base keeps its name
            raise
        audit.record(renamed.root.parent, "rename", layout.name, f"to {renamed.name}")
    return renamed


def _rename_ledger(layout: Layout, new: str) -> None:
    """Rename a ledger in PostgreSQL; one in SQLite is named by its folder."""
    if not isinstance(layout.ledger, Path):
        layout.ledger.rename(new)
