"""Snapshots: frozen states of knowledge bases, which readers lease."""

import logging
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Self

from ..config import Settings
from ..graph_store.graph_index import GraphIndex
from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.layout import Layout, check_name
from ..graph_store.ledger.database import Database
from ..graph_store.ledger.token_accounts import Calls
from ..graph_store.ledger.version import published_state
from ..graph_store.scopes import ScopeError, ScopeFolder, documents_in, make_scope, state_of
from ..graph_store.store_errors import UnknownKnowledgeBaseError, WriterBusyError
from ..models.embedding.embedder import Embedder
from ..models.embedding.embedding_models import EmbeddingModels
from ..runtime.budgets import charge_calls
from ..schemas.documents import EVERYTHING, Scope
from ..schemas.errors import BanyanError
from ..tools.retriever import RankingModels, Retriever
from .thresholds import thresholds_in

_LOG = logging.getLogger("banyan")
_DERIVE_SECONDS = 3.0
"""Seconds that a question waits for changes of a writer on another machine; then the earlier state answers it."""
_QUESTION_SECONDS = 3600.0
"""Seconds after which the lease of a question ends by itself, if the question was abandoned."""


class Leased(ABC):
    """An object that several readers lease with `with`; it closes once it is retired and its last lease has ended."""

    def __init__(self) -> None:
        self._leases = 0
        self._is_retired = self._is_closed = False
        self._lease_lock = threading.Lock()

    def __enter__(self) -> Self:
        with self._lease_lock:
            self._leases += 1
        return self

    def __exit__(self, *_: object) -> None:
        """End a lease; close the object if it is retired and this was the last lease."""
        with self._lease_lock:
            self._leases -= 1
        if self._is_retired:
            self.retire()

    def retire(self, *, now: bool = False) -> None:
        """Close the object as soon as it has no lease; with `now`, close it even if it is leased."""
        with self._lease_lock:
            self._is_retired = True
            if self._is_closed or (self._leases and not now):
                return
            self._is_closed = True
        self._close()

    @abstractmethod
    def _close(self) -> None: ...


class Ledger(Leased):
    """A connection to the current state of a ledger, which the snapshots of a knowledge base share."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self.database, self.calls = database, Calls(database)

    def _close(self) -> None:
        self.database.close()


class Snapshot(Leased):
    """One state of a knowledge base, or of some of its documents. It never changes; threads may share it."""

    def __init__(self, kb: KnowledgeBase, ledger: Ledger, models: RankingModels, state: str = "") -> None:
        """Make a snapshot of a frozen knowledge base, and lease the ledger for it.

        Args:
            kb: the frozen knowledge base.
            ledger: records calls, because a frozen knowledge base cannot write.
            models: the models that rank passages.
            state: for a snapshot of some documents: the state of the whole knowledge base that it was made from.
        """
        super().__init__()
        self.kb = kb
        self.state = state
        self.calls = ledger.calls
        self._ledger = ledger.__enter__()
        self._models = models
        self._retriever: Retriever | None = None
        self._retriever_lock = threading.Lock()

    @property
    def retriever(self) -> Retriever:
        """The retriever, made when it is first needed."""
        with self._retriever_lock:
            if self._retriever is None:
                self._retriever = Retriever(self.kb, self.calls.record_usage, self._models)
            return self._retriever

    @property
    def index(self) -> GraphIndex:
        """What retrieval reads."""
        return self.retriever.index

    def _close(self) -> None:
        self._retriever = None
        self.kb.close()
        self._ledger.__exit__()


class Snapshots:
    """The newest snapshots of knowledge bases and of scopes (some documents of one). Safe to use from several threads.

    The least recently used ones are retired, so open files, threads and memory do not grow with their number.
    """

    def __init__(self, settings: Settings, embedder: Callable[[], Embedder | EmbeddingModels],
                 on_close: Callable[[str], None], models: RankingModels) -> None:
        """Prepare, without opening anything yet.

        Args:
            settings: say where knowledge bases are, and how many stay open.
            embedder: returns the embedding model, or the available ones if each knowledge base has its own.
            on_close: called with the name of each knowledge base that is closed.
            models: the models that rank passages.
        """
        self._settings = settings
        self._embedder = embedder
        self._on_close = on_close
        self._models = models
        # Both are ordered by use: the last item was used last.
        self._open: dict[tuple[str, Scope], Snapshot] = {}
        self._ledgers: dict[str, Ledger] = {}
        self._questions: dict[str, tuple[Snapshot, float]] = {}
        """The snapshots of questions under way by ticket, with the time (`time.monotonic`) at which the lease ends."""
        self._opening_locks: dict[str, threading.RLock] = {}
        self._being_derived: set[str] = set()
        """The knowledge bases whose derived files are being made in the background."""
        self._lock = threading.RLock()

    @contextmanager
    def lease(self, name: str, scope: Scope = EVERYTHING) -> Iterator[Snapshot]:
        """Yield the newest snapshot of a knowledge base, or of some of its documents; it does not change in the block.

        The first question about some documents waits until their snapshot is made.

        Raises:
            UnknownKnowledgeBaseError: there is no knowledge base of that name.
            ScopeError: the scope names no documents, or too many for a question to wait for.
        """
        with self._lease_newest(check_name(name)) as base:
            if scope.is_everything:
                yield base
            else:
                with self._lease_scope(base, scope) as snapshot:
                    yield snapshot

    # Questions, which have several steps.

    def begin_question(self, snapshot: Snapshot) -> str:
        """Lease a snapshot until `end_question`, or for an hour, and return a ticket that identifies the lease."""
        ticket, now = uuid.uuid4().hex, time.monotonic()
        with self._lock:
            for expired in [other for other, (_, lease_end) in self._questions.items() if lease_end < now]:
                self.end_question(expired)
            self._questions[ticket] = snapshot.__enter__(), now + _QUESTION_SECONDS
        return ticket

    @contextmanager
    def resume_question(self, ticket: str, name: str, scope: Scope) -> Iterator[Snapshot]:
        """Yield the snapshot that a question began with, or the newest one if the ticket is unknown.

        A ticket is unknown in another process than the one that issued it, and after an hour.
        """
        with ExitStack() as leases:
            with self._lock:
                question = self._questions.get(ticket)
                snapshot = leases.enter_context(question[0]) if question else None
            yield snapshot or leases.enter_context(self.lease(name, scope))

    def end_question(self, ticket: str) -> None:
        """End the lease of a question."""
        with self._lock:
            snapshot, _ = self._questions.pop(ticket, (None, 0.0))
        if snapshot is not None:
            snapshot.__exit__()

    # The newest snapshot.

    @contextmanager
    def _lease_newest(self, name: str, *, mapped: bool = False) -> Iterator[Snapshot]:
        """Yield the snapshot of the state that was published last."""
        with ExitStack() as leases:
            # One lock for each knowledge base: opening one may take long, and must not delay the others.
            with self._lock:
                opening_lock = self._opening_locks.setdefault(name, threading.RLock())
            with opening_lock, ExitStack() as temporary_leases:
                self._forget_if_gone(name)
                opened = self._lease_open(temporary_leases, (name, EVERYTHING))
                # `unwritten` says why index files cannot be written (a full disk); then there are none to map.
                reopens = mapped and opened is not None and not (opened.kb.is_mapped() or opened.kb.unwritten)
                if opened is None or self._is_outdated(opened.kb) or reopens:
                    newest = self._renew(leases, name, opened)
                else:
                    newest = leases.enter_context(opened)
            yield newest

    def _lease_open(self, leases: ExitStack, key: tuple[str, Scope]) -> Snapshot | None:
        """Return the open snapshot of a knowledge base and scope, leased until `leases` closes, or None."""
        with self._lock:
            snapshot = self._open.pop(key, None)
            if snapshot is not None:
                self._open[key] = leases.enter_context(snapshot)
            return snapshot

    def _is_outdated(self, opened: KnowledgeBase) -> bool:
        return opened.frozen_at != published_state(self.ledger(opened.layout.name).database)

    def _renew(self, leases: ExitStack, name: str, before: Snapshot | None) -> Snapshot:
        """Open the newest state of a knowledge base and lease its snapshot until `leases` closes."""
        settings, key = self._settings, (name, EVERYTHING)
        layout = Layout.by(settings, name).require()
        if before is None or layout.database is None:
            return self._put(leases, key, KnowledgeBase.open(
                settings.home, name, self._embedder(), server=settings.chroma_server, database=settings.database))
        if name not in self._being_derived:
            newest = KnowledgeBase(layout, self._embedder())
            newest.freeze()
            if newest.is_mapped():
                return self._put(leases, key, newest)
            newest.close()
            self._being_derived.add(name)
            thread = threading.Thread(target=self._derive_in_background, args=(layout,), daemon=True)
            thread.start()
            thread.join(_DERIVE_SECONDS)
        return self._lease_open(leases, key) or leases.enter_context(before)

    def _put(self, leases: ExitStack, key: tuple[str, Scope], opened: KnowledgeBase, state: str = "") -> Snapshot:
        """Freeze a knowledge base and lease its snapshot, which replaces the earlier one of the same scope."""
        name, scope = key
        try:
            opened.freeze()
            with self._lock:
                snapshot = leases.enter_context(Snapshot(opened, self.ledger(name), self._models, state))
        except BaseException:
            opened.close()
            raise
        with self._lock:
            self._retire(name, None if scope.is_everything else scope)
            self._open[key] = snapshot
            # The limit holds for whole knowledge bases and for scopes separately.
            same_kind = [key for key in self._open if key[1].is_everything == scope.is_everything]
            for old_name, old_scope in same_kind[:-self._settings.open_bases]:
                if old_scope.is_everything:
                    self.forget(old_name)
                else:
                    self._retire(old_name, old_scope)
        return snapshot

    def _derive_in_background(self, layout: Layout) -> None:
        """Derive the files of the present state, and replace the open snapshot by one of that state."""
        try:
            newest = KnowledgeBase(layout, self._embedder())
            try:
                newest.derive_vectors()
                # Frozen first: a writer at work would change the state again while the files are made.
                newest.database.freeze()
                newest.derive_missing_files()
            except BaseException:
                newest.close()
                raise
            with ExitStack() as leases:
                self._put(leases, (layout.name, EVERYTHING), newest)
        except WriterBusyError:
            _LOG.info("another process derives the files of %s; until then it is answered from as it was", layout.name)
        except (BanyanError, OSError) as error:
            _LOG.warning("%s is answered from as it was: what has changed cannot be read now (%s)", layout.name, error)
        finally:
            self._being_derived.discard(layout.name)

    @contextmanager
    def _lease_scope(self, base: Snapshot, scope: Scope) -> Iterator[Snapshot]:
        """Yield the snapshot of some documents of a snapshot; make it if there is none of the same state."""
        kb, settings = base.kb, self._settings
        state = state_of(kb, settings.schema_support, settings.schema_confidence, settings.schema_growth)
        with ExitStack() as leases:
            snapshot = self._lease_open(leases, (kb.layout.name, scope))
            if snapshot is None or snapshot.state != state:
                leases.close()
                documents = documents_in(kb.documents, scope)
                if len(documents) == kb.documents.count_documents():
                    snapshot = base  # the scope names all documents
                else:
                    snapshot = self._put(leases, (kb.layout.name, scope), self._open_scope(base, documents, state),
                                         state)
            yield snapshot

    def _open_scope(self, base: Snapshot, documents: Sequence[str], state: str) -> KnowledgeBase:
        """Open a knowledge base of some documents of a snapshot, in a folder that is made if needed."""
        kb = base.kb
        most, chunks = self._settings.max_scope_chunks, kb.documents.count_chunks_of(documents)
        if chunks > most:
            raise ScopeError(
                f"this scope has {len(documents):,} documents with {chunks:,} chunks, at most {most:,} are made ready "
                "for a question: name fewer, raise BANYAN_MAX_SCOPE_CHUNKS, or build a knowledge base of them")
        with charge_calls(account=base.calls.record_usage):  # labels are embedded
            layout = ScopeFolder(kb.layout).find_or_make(state, documents, lambda folder: make_scope(
                kb, documents, folder, lambda scope_kb: thresholds_in(scope_kb, self._settings)))
        return KnowledgeBase(layout, self._embedder())

    # Changes by other processes.

    def follow(self) -> None:
        """Open the newest states of all open knowledge bases now, so the next question need not wait for that.

        A snapshot whose index is only in memory, because another process was deriving its files, is opened again from
        these files.
        """
        with self._lock:
            opened = {name: snapshot for (name, scope), snapshot in self._open.items() if scope.is_everything}
        for name, before in opened.items():
            with suppress(UnknownKnowledgeBaseError):
                with self._lease_newest(name, mapped=True) as newest:
                    was_replaced = newest is not before
                if was_replaced:  # the earlier snapshot may have kept deleted content in the ledger's files
                    self.ledger(name).database.checkpoint()

    def settle(self, name: str) -> None:
        """Remove deleted content from the ledger's files as soon as no question reads an earlier snapshot any more."""
        self._retire(name)
        ScopeFolder(Layout.by(self._settings, name)).clear()
        self.ledger(name).database.checkpoint()

    def ledger(self, name: str) -> Ledger:
        """Return the ledger of an existing knowledge base, opened if it is not open; lease it to use it for long."""
        with self._lock:
            self._forget_if_gone(name)
            ledger = self._ledgers.pop(name, None)
            if ledger is None:
                ledger = Ledger(Database(Layout.by(self._settings, name).require().ledger, create=False))
                while len(self._ledgers) >= self._settings.open_bases:
                    self.forget(next(iter(self._ledgers)))
            self._ledgers[name] = ledger
            return ledger

    def _forget_if_gone(self, name: str) -> None:
        """Close a knowledge base if its files are gone: another process may have dropped, renamed or replaced it."""
        with self._lock:
            databases = [self._ledgers[name].database] if name in self._ledgers else []
            if (name, EVERYTHING) in self._open:
                databases.append(self._open[name, EVERYTHING].kb.database)
            if any(database.gone for database in databases):
                self.forget(name)

    def _retire(self, name: str, scope: Scope | None = None) -> None:
        """Retire the snapshot of one scope of a knowledge base; None means all snapshots of the knowledge base."""
        with self._lock:
            for key in [key for key in self._open if key[0] == name and scope in {None, key[1]}]:
                self._open.pop(key).retire()

    def forget(self, name: str) -> None:
        """Retire the snapshots and the ledger of a knowledge base."""
        with self._lock:
            self._retire(name)
            if name in self._ledgers:
                self._ledgers.pop(name).retire()
            self._on_close(name)

    def close(self) -> None:
        """Close everything at once, even if it is still read."""
        with self._lock:
            self._questions.clear()
            for leased in (*self._open.values(), *self._ledgers.values()):
                leased.retire(now=True)
            self._open.clear()
            self._ledgers.clear()
