"""Snapshots: states of knowledge bases that never change, leased by those who read them."""

import logging
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Self

from ..config import Settings
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
from ..tools.index import RetrievalIndex
from ..tools.retriever import RankingModels, Retriever
from .thresholds import thresholds_in

_LOG = logging.getLogger("banyan")
_SOON = 3.0
"""Seconds that a question waits for what another home's writer has changed; then it is answered from the state before.
"""
_ABANDONED = 3600.0
"""Seconds after which the snapshot of a question that neither ended nor failed is let go of."""


class Leased(ABC):
    """Something that is leased with `with`; it closes once it is retired and its last lease has ended."""

    def __init__(self) -> None:
        self._leases = 0
        self._is_retired = self._is_closed = False
        self._count = threading.Lock()

    def __enter__(self) -> Self:
        with self._count:
            self._leases += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._count:
            self._leases -= 1
        if self._is_retired:
            self.retire()

    def retire(self, *, now: bool = False) -> None:
        """Close it when its last lease ends, which may be now; with `now`, whoever still has it."""
        with self._count:
            self._is_retired = True
            if self._is_closed or (self._leases and not now):
                return
            self._is_closed = True
        self._close()

    @abstractmethod
    def _close(self) -> None: ...


class Ledger(Leased):
    """A connection to a ledger as it is at any moment, for what the snapshots of a knowledge base share."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self.database, self.calls = database, Calls(database)

    def _close(self) -> None:
        self.database.close()


class Snapshot(Leased):
    """One state of a knowledge base, or of some of its documents. It never changes; threads may share it."""

    def __init__(self, kb: KnowledgeBase, ledger: Ledger, models: RankingModels, state: str = "") -> None:
        """Hold a frozen knowledge base.

        Args:
            kb: what is read.
            ledger: has the accounts of calls, as a frozen knowledge base cannot write.
            models: the models that rank passages.
            state: the state of the whole knowledge base that some documents are of.
        """
        super().__init__()
        self.kb = kb
        self.state = state
        self.calls = ledger.calls
        self._ledger = ledger.__enter__()
        self._models = models
        self._retriever: Retriever | None = None
        self._making = threading.Lock()

    @property
    def retriever(self) -> Retriever:
        """The retriever, made when it is first needed."""
        with self._making:
            if self._retriever is None:
                self._retriever = Retriever(self.kb, self.calls.record_usage, self._models)
            return self._retriever

    @property
    def index(self) -> RetrievalIndex:
        """What retrieval reads."""
        return self.retriever.index

    def _close(self) -> None:
        self._retriever = None
        self.kb.close()
        self._ledger.__exit__()


class Snapshots:
    """The newest snapshot of each knowledge base, and of the documents asked about. Safe to use from several threads.

    Those used longest ago are retired, so descriptors, threads and memory do not grow with their number.
    """

    def __init__(self, settings: Settings, embedder: Callable[[], Embedder | EmbeddingModels],
                 forgotten: Callable[[str], None], models: RankingModels) -> None:
        """Open nothing yet.

        Args:
            settings: where knowledge bases are.
            embedder: gives the embedding model when it is first needed, or those of which each has its own.
            forgotten: called with the name of each knowledge base that is closed.
            models: the models that rank passages.
        """
        self._settings = settings
        self._embedder = embedder
        self._forgotten = forgotten
        self._models = models
        # In both, the last one is the one used last.
        self._open: dict[tuple[str, Scope], Snapshot] = {}
        self._ledgers: dict[str, Ledger] = {}
        self._questions: dict[str, tuple[Snapshot, float]] = {}
        """The snapshots of questions under way, and when they are let go of, by ticket."""
        self._turns: dict[str, threading.RLock] = {}
        self._being_derived: set[str] = set()
        """Those whose derived files are being brought up in the background."""
        self._lock = threading.RLock()

    @contextmanager
    def lease(self, name: str, scope: Scope = EVERYTHING) -> Iterator[Snapshot]:
        """Yield the newest snapshot of a knowledge base or of some of its documents; it stays as it is in the block.

        The first question about some documents waits until they are made ready.

        Raises:
            UnknownKnowledgeBaseError: there is none of that name.
            ScopeError: the scope names no documents, or too many for a question to wait for.
        """
        with self._newest(check_name(name)) as base:
            if scope.is_everything:
                yield base
            else:
                with self._of_documents(base, scope) as snapshot:
                    yield snapshot

    # Questions, which have several steps.

    def begin_question(self, snapshot: Snapshot) -> str:
        """Lease a snapshot until `end_question`, or for an hour; returns the ticket for it."""
        ticket, now = uuid.uuid4().hex, time.monotonic()
        with self._lock:
            for other in [other for other, (_, until) in self._questions.items() if until < now]:
                self.end_question(other)
            self._questions[ticket] = snapshot.__enter__(), now + _ABANDONED
        return ticket

    @contextmanager
    def resume_question(self, ticket: str, name: str, scope: Scope) -> Iterator[Snapshot]:
        """Yield the snapshot that a question began with; the newest one in another process, or after an hour."""
        with ExitStack() as leases:
            with self._lock:
                begun = self._questions.get(ticket)
                snapshot = leases.enter_context(begun[0]) if begun else None
            yield snapshot or leases.enter_context(self.lease(name, scope))

    def end_question(self, ticket: str) -> None:
        """End the lease of a question."""
        with self._lock:
            snapshot, _ = self._questions.pop(ticket, (None, 0.0))
        if snapshot is not None:
            snapshot.__exit__()

    # The newest snapshot.

    @contextmanager
    def _newest(self, name: str, *, mapped: bool = False) -> Iterator[Snapshot]:
        """Yield the snapshot of what was published last; with `mapped`, not one whose index is in memory alone."""
        key = name, EVERYTHING
        with ExitStack() as leases:
            # Opening may take long, and must not delay other knowledge bases.
            with self._lock:
                turn = self._turns.setdefault(name, threading.RLock())
            with turn, ExitStack() as earlier:
                self._forget_if_gone(name)
                before = self._lease_open(earlier, key)
                in_memory = mapped and before is not None and not (before.kb.is_mapped() or before.kb.unwritten)
                if before is None or self._is_behind(before.kb) or in_memory:
                    newest = self._renew(leases, name, before)
                else:
                    newest = leases.enter_context(before)
            yield newest

    def _lease_open(self, leases: ExitStack, key: tuple[str, Scope]) -> Snapshot | None:
        """Lease the open snapshot of a key, if there is one, until the stack of leases ends."""
        with self._lock:
            snapshot = self._open.pop(key, None)
            if snapshot is not None:
                self._open[key] = leases.enter_context(snapshot)
            return snapshot

    def _is_behind(self, opened: KnowledgeBase) -> bool:
        return opened.frozen_at != published_state(self.ledger(opened.layout.name).database)

    def _renew(self, leases: ExitStack, name: str, before: Snapshot | None) -> Snapshot:
        """Lease a snapshot of the newest state, or the one before while this home derives its files."""
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
            making = threading.Thread(target=self._derive_in_background, args=(layout,), daemon=True)
            making.start()
            making.join(_SOON)
        return self._lease_open(leases, key) or leases.enter_context(before)

    def _put(self, leases: ExitStack, key: tuple[str, Scope], opened: KnowledgeBase, state: str = "") -> Snapshot:
        """Freeze a knowledge base and lease its snapshot, which takes the place of the one before."""
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
            alike = [other for other in self._open if other[1].is_everything == scope.is_everything]
            for other, its_scope in alike[:-self._settings.open_bases]:
                if its_scope.is_everything:
                    self.forget(other)
                else:
                    self._retire(other, its_scope)
        return snapshot

    def _derive_in_background(self, layout: Layout) -> None:
        """Derive the files of one moment in the background, and move to the snapshot of that moment."""
        try:
            newest = KnowledgeBase(layout, self._embedder())
            try:
                newest.derive_vectors()
                # A writer that is at work would be ahead of any files by the time that they are there.
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
    def _of_documents(self, base: Snapshot, scope: Scope) -> Iterator[Snapshot]:
        """Yield the snapshot of some documents of a snapshot, made if there is none of its state."""
        kb, settings = base.kb, self._settings
        state = state_of(kb, settings.schema_support, settings.schema_confidence, settings.schema_growth)
        with ExitStack() as leases:
            snapshot = self._lease_open(leases, (kb.layout.name, scope))
            if snapshot is None or snapshot.state != state:
                leases.close()
                documents = documents_in(kb.documents, scope)
                snapshot = base if len(documents) == kb.documents.count_documents() else self._put(
                    leases, (kb.layout.name, scope), self._open_scope(base, documents, state), state)
            yield snapshot

    def _open_scope(self, base: Snapshot, documents: Sequence[str], state: str) -> KnowledgeBase:
        kb = base.kb
        most, chunks = self._settings.max_scope_chunks, kb.documents.count_chunks_of(documents)
        if chunks > most:
            raise ScopeError(
                f"this scope has {len(documents):,} documents with {chunks:,} chunks, at most {most:,} are made ready "
                "for a question: name fewer, raise BANYAN_MAX_SCOPE_CHUNKS, or build a knowledge base of them")
        with charge_calls(account=base.calls.record_usage):  # labels are embedded
            layout = ScopeFolder(kb.layout).find_or_make(state, documents, lambda place: make_scope(
                kb, documents, place, lambda made: thresholds_in(made, self._settings)))
        return KnowledgeBase(layout, self._embedder())

    # What others wrote, and what is gone.

    def follow(self) -> None:
        """Open what others published, before a question asks for it, where there is a snapshot of the state before.

        One that was opened while another process derived the files of this home goes on to these.
        """
        with self._lock:
            opened = {name: snapshot for (name, scope), snapshot in self._open.items() if scope.is_everything}
        for name, before in opened.items():
            with suppress(UnknownKnowledgeBaseError):
                with self._newest(name, mapped=True) as newest:
                    moved = newest is not before
                if moved:
                    self.ledger(name).database.checkpoint()

    def settle(self, name: str) -> None:
        """Have what was deleted leave the ledger's files; where a question still reads them, when it has ended."""
        self._retire(name)
        ScopeFolder(Layout.by(self._settings, name)).clear()
        self.ledger(name).database.checkpoint()

    def ledger(self, name: str) -> Ledger:
        """Return the ledger of an existing knowledge base, for a moment or to be leased."""
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
        """Another process may have dropped or renamed it, and made one of that name."""
        with self._lock:
            kept = [self._ledgers[name].database] if name in self._ledgers else []
            kept += [self._open[name, EVERYTHING].kb.database] if (name, EVERYTHING) in self._open else []
            if any(database.gone for database in kept):
                self.forget(name)

    def _retire(self, name: str, scope: Scope | None = None) -> None:
        """Retire the snapshots of a knowledge base and of its documents, or of those of one scope alone."""
        with self._lock:
            for key in [key for key in self._open if key[0] == name and scope in {None, key[1]}]:
                self._open.pop(key).retire()

    def forget(self, name: str) -> None:
        """Retire all that is open of a knowledge base."""
        with self._lock:
            self._retire(name)
            if name in self._ledgers:
                self._ledgers.pop(name).retire()
            self._forgotten(name)

    def close(self) -> None:
        """Close all, whoever still reads it."""
        with self._lock:
            self._questions.clear()
            for leased in (*self._open.values(), *self._ledgers.values()):
                leased.retire(now=True)
            self._open.clear()
            self._ledgers.clear()
