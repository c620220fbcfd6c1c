"""Snapshots: frozen states of knowledge bases, which readers lease, of one or of several for a question."""

import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cached_property
from typing import Self, cast

from ..config import Settings
from ..graph_store.derive import thresholds_in
from ..graph_store.graph_index import GraphIndex
from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.layout import SCOPE, Layout, check_name, split_names
from ..graph_store.ledger.database import Database
from ..graph_store.ledger.document_rows import JoinedDocuments, SourceDocuments
from ..graph_store.ledger.notes import published_state
from ..graph_store.ledger.token_accounts import Calls
from ..graph_store.scopes import ScopeError, documents_in, make_scope
from ..graph_store.store_errors import UnknownKnowledgeBaseError
from ..models.embedding.embedder import Embedder
from ..models.embedding.embedding_models import EmbeddingModels
from ..runtime.budgets import charge_calls
from ..runtime.safe_files import own_folder
from ..schemas.documents import EVERYTHING, Scope
from ..schemas.errors import BanyanError
from ..tools.retriever import RankingModels, Retriever
from ..tools.several_bases import Retrievers

_QUESTION_SECONDS = 3600.0  # after which the lease of a question ends by itself, if the question was abandoned


class Leased:
    """An object that several readers lease with `with`; it closes once it is retired and its last lease has ended."""

    def __init__(self, close: Callable[[], None]) -> None:
        self._close = close
        self._leases = 0
        self.is_retired = self._is_closed = False
        self._lease_lock = threading.Lock()

    def __enter__(self) -> Self:
        with self._lease_lock:
            self._leases += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._lease_lock:
            self._leases -= 1
        if self.is_retired:
            self.retire()  # which closes it if this was its last lease

    def retire(self, *, now: bool = False) -> None:
        """Close the object as soon as it has no lease; with `now`, close it even if it is leased."""
        with self._lease_lock:
            self.is_retired = True
            if self._is_closed or (self._leases and not now):
                return
            self._is_closed = True
        self._close()


class StateGoneError(BanyanError):
    """A question goes on in another process, or after an hour, and its knowledge base has changed meanwhile."""


class Ledger(Leased):
    """A connection to the current state of a ledger, which the snapshots of a knowledge base share."""

    def __init__(self, database: Database) -> None:
        super().__init__(database.close)
        self.database, self.calls = database, Calls(database)


class Snapshot(Leased):
    """One state of a knowledge base, or of some of its documents. It never changes; threads may share it."""

    def __init__(self, kb: KnowledgeBase, ledger: Ledger, models: RankingModels, base: "Snapshot | None",
                 files: ExitStack) -> None:
        """Make a snapshot of a frozen knowledge base, whose calls the ledger records; `files` are closed with it.

        A snapshot of some documents has that of all as its `base`.
        """
        super().__init__(files.close)
        self.kb, self.base, self.calls, self._models = kb, base, ledger.calls, models
        files.callback(setattr, self, "_retriever", None)  # first, as it reads the knowledge base's files
        self._retriever: Retriever | None = None
        self._retriever_lock = threading.Lock()
        self.scopes: dict[Scope, Snapshot] = {}  # the snapshots of some of its documents, the one used last at the end
        self.scopes_lock = threading.Lock()

    def retire(self, *, now: bool = False) -> None:
        """Retire it, and the snapshots of some of its documents with it; see `Leased.retire`."""
        super().retire(now=now)
        for snapshot in list(self.scopes.values()):
            snapshot.retire(now=now)

    @property
    def retriever(self) -> Retriever:
        """The retriever, made when it is first needed."""
        with self._retriever_lock:
            self._retriever = self._retriever or Retriever(self.kb, self.calls.record_usage, self._models)
            return self._retriever

    @property
    def index(self) -> GraphIndex:
        """What retrieval reads."""
        return self.retriever.index

    @property
    def state(self) -> str:
        """A name for the published state of the whole knowledge base."""
        runs, epoch = cast("tuple[int, int]", (self.base or self).kb.frozen_at)  # it is frozen
        return f"{runs}.{epoch}"


class JoinedSnapshots:
    """Leased snapshots by the names of their knowledge bases, in the order in which a question names them."""

    def __init__(self, snapshots: Mapping[str, Snapshot]) -> None:
        self.by_name = snapshots
        self.payer = next(iter(snapshots))
        """The first base, in whose accounts, `calls`, is recorded what a question costs."""
        self.calls = snapshots[self.payer].calls

    @cached_property
    def retrievers(self) -> Retrievers:
        """The retriever of each base; of one alone, under the name ""."""
        return {name if len(self.by_name) > 1 else "": snapshot.retriever for name, snapshot in self.by_name.items()}

    @property
    def documents(self) -> SourceDocuments:
        """The documents that an answer cites."""
        documents = {name: snapshot.kb.documents for name, snapshot in self.by_name.items()}
        return JoinedDocuments(documents) if len(documents) > 1 else documents[self.payer]


class Snapshots:
    """The newest snapshots of knowledge bases and scopes, for all threads; the least recently used are retired."""

    def __init__(self, settings: Settings, embedder: Callable[[], Embedder | EmbeddingModels],
                 on_close: Callable[[str], None], models: RankingModels) -> None:
        """Prepare, without opening anything; `on_close` gets the name of each knowledge base that is closed."""
        self._settings, self._embedder, self._on_close, self._models = settings, embedder, on_close, models
        # Both are ordered by use: the last item was used last.
        self._open: dict[str, Snapshot] = {}
        self._ledgers: dict[str, Ledger] = {}
        self._questions: dict[str, tuple[Snapshot, float]] = {}
        """The snapshots of questions under way by ticket, with the time (`time.monotonic`) at which the lease ends."""
        # Opening takes long, and must not delay other bases.
        self._opening_locks = defaultdict[str, threading.RLock](threading.RLock)
        self._lock = threading.RLock()  # for the dictionaries

    @contextmanager
    def lease(self, name: str, scope: Scope = EVERYTHING) -> Iterator[Snapshot]:
        """Yield the newest snapshot of a knowledge base, or of some of its documents; it does not change in the block.

        Raises UnknownKnowledgeBaseError, and ScopeError if the scope names no documents, or too many to wait for.
        """
        with ExitStack() as leases:
            base = self._lease_newest(leases, check_name(name))
            yield base if scope.is_everything else self._lease_scope(leases, base, scope)

    @contextmanager
    def lease_together(self, names: str, scope: Scope) -> Iterator[JoinedSnapshots]:
        """Yield the scope's newest snapshots of those bases ("a,b") that have documents of it; ScopeError: none has."""
        leased, failures, all_names = dict[str, Snapshot](), list[ScopeError](), split_names(names)
        may_leave_out = len(all_names) > 1 and not scope.is_everything
        with ExitStack() as leases:
            for name in all_names:
                try:
                    if may_leave_out:  # the lease below also fails for a scope that is too large, which is an error
                        with self.lease(name) as whole:
                            documents_in(whole.kb.documents, scope)  # raises ScopeError if there are none
                except ScopeError as error:
                    failures.append(error)
                else:
                    leased[name] = leases.enter_context(self.lease(name, scope))
            if not leased:
                raise failures[0]
            yield JoinedSnapshots(leased)

    # Questions, which have several steps.

    def begin_question(self, leased: JoinedSnapshots) -> str:
        """Lease snapshots until `end_question`, or for an hour; return tickets for them, with commas between."""
        now, tickets = time.monotonic(), list[str]()
        with self._lock:
            expired = [ticket for ticket, (_, end) in self._questions.items() if end < now]
            self.end_question(",".join(expired))
            for snapshot in leased.by_name.values():
                # The state is in the ticket, so that another process can tell whether it still has the same one.
                tickets.append(f"{uuid.uuid4().hex} {snapshot.state}")
                self._questions[tickets[-1]] = snapshot.__enter__(), now + _QUESTION_SECONDS
        return ",".join(tickets)

    @contextmanager
    def resume_question(self, tickets: str, names: str, scope: Scope) -> Iterator[JoinedSnapshots]:
        """Yield a question's snapshots, elsewhere or after an hour the newest; StateGoneError: the base has changed."""
        resumed = dict[str, Snapshot]()
        with ExitStack() as leases:
            for name, ticket in zip(split_names(names), tickets.split(","), strict=True):
                with self._lock:
                    snapshot, _ = self._questions.get(ticket, (None, 0.0))
                    if snapshot:
                        leases.enter_context(snapshot)
                resumed[name] = snapshot or leases.enter_context(self.lease(name, scope))
                if resumed[name].state != ticket.partition(" ")[2]:
                    raise StateGoneError(f"{name!r} has changed since the question was asked, and its state of then is "
                                         "gone: ask the question again")
            yield JoinedSnapshots(resumed)

    def end_question(self, tickets: str) -> None:
        """End the leases of a question; tickets of another process, or of ended leases, change nothing."""
        for ticket in tickets.split(","):
            with self._lock:
                snapshot, _ = self._questions.pop(ticket, (None, 0.0))
            if snapshot is not None:
                snapshot.__exit__()

    def _lease_newest(self, leases: ExitStack, name: str) -> Snapshot:
        """Lease, until `leases` closes, the snapshot of the state that was published last; open it if it is not."""
        with self._opening_locks[name]:
            self._forget_if_gone(name)
            with self._lock:
                newest = self._open.pop(name, None)
                if newest is not None:
                    self._open[name] = leases.enter_context(newest)  # as the one used last
            if newest is not None and newest.kb.frozen_at == published_state(self.ledger(name).database):
                return newest
            leases.close()  # ends the lease of the outdated snapshot
            settings = self._settings
            snapshot = leases.enter_context(self._freeze(name, lambda: KnowledgeBase.open(
                settings.home, name, self._embedder(), server=settings.chroma_server, database=settings.database)))
            with self._lock:
                self._retire_snapshot(name)
                self._open[name] = snapshot
                for oldest in list(self._open)[:-settings.open_bases]:
                    self.forget(oldest)
            return snapshot

    def _lease_scope(self, leases: ExitStack, base: Snapshot, scope: Scope) -> Snapshot:
        """Lease, until `leases` closes, the snapshot of some documents of a snapshot; make it if there is none yet."""
        def make() -> KnowledgeBase:
            with charge_calls(account=base.calls.record_usage):  # labels are embedded
                return make_scope(base.kb, documents, Layout(folder / "scope"),
                                  lambda made: thresholds_in(made, self._settings))

        with base.scopes_lock:
            snapshot = base.scopes.pop(scope, None)
            if snapshot is None:
                documents = documents_in(base.kb.documents, scope)
                if len(documents) == base.kb.documents.count_documents():
                    return base
                chunks, most = base.kb.documents.count(documents), self._settings.max_scope_chunks
                if chunks > most:
                    raise ScopeError(f"this scope has {len(documents):,} documents with {chunks:,} chunks, at most "
                                     f"{most:,} are made ready for a question: name fewer, raise "
                                     "BANYAN_MAX_SCOPE_CHUNKS, or build a knowledge base of them")
                files = ExitStack()
                folder = files.enter_context(own_folder(self._settings.home, ".", SCOPE))
                snapshot = self._freeze(base.kb.layout.name, make, files, base)
            base.scopes[scope] = leases.enter_context(snapshot)  # as the one used last
            for oldest in list(base.scopes)[:-self._settings.open_bases]:
                base.scopes.pop(oldest).retire()
            if base.is_retired:  # since it was leased here, so nobody else will retire this one
                snapshot.retire()
            return snapshot

    def _freeze(self, name: str, open_base: Callable[[], KnowledgeBase], files: ExitStack | None = None,
                base: Snapshot | None = None) -> Snapshot:
        """Open a knowledge base and return its snapshot, which closes it, then `files`; on an error they close now."""
        with files or ExitStack() as closing_stack:
            ledger = closing_stack.enter_context(self.ledger(name))  # its lease ends after the knowledge base is closed
            kb = closing_stack.enter_context(closing(open_base()))
            kb.freeze()
            return Snapshot(kb, ledger, self._models, base, closing_stack.pop_all())

    # Changes, also by other processes.

    def open_newest_states(self) -> None:
        """Open the newest states of all open knowledge bases now, so the next question need not wait for that."""
        with self._lock:
            opened = dict(self._open)
        for name, before in opened.items():
            with suppress(UnknownKnowledgeBaseError):  # another process may have dropped it
                with self.lease(name) as newest:  # opens the newest state, and retires the snapshot of an earlier one
                    was_replaced = newest is not before
                # The files could not be rid of deleted content while the earlier snapshot still read it.
                if was_replaced:
                    self.ledger(name).database.checkpoint()

    def settle(self, name: str) -> None:
        """Have deleted content removed from the ledger's files, once no question reads an earlier snapshot any more."""
        self._retire_snapshot(name)
        self.ledger(name).database.checkpoint()

    def ledger(self, name: str) -> Ledger:
        """Return the ledger of an existing knowledge base, opened if it is not open; lease it to use it for long."""
        with self._lock:
            self._forget_if_gone(name)
            ledger = self._ledgers.pop(name, None)
            if ledger is None:
                ledger = Ledger(Database(Layout.by(self._settings, name).require().ledger, create=False))
                while len(self._ledgers) >= self._settings.open_bases:  # the one used longest ago is closed first
                    self.forget(next(iter(self._ledgers)))
            self._ledgers[name] = ledger
            return ledger

    def _forget_if_gone(self, name: str) -> None:
        """Close a knowledge base if its files are gone: another process may have dropped, renamed or replaced it."""
        with self._lock:
            ledger, snapshot = self._ledgers.get(name), self._open.get(name)
            if (ledger and ledger.database.gone) or (snapshot and snapshot.kb.database.gone):
                self.forget(name)

    def _retire_snapshot(self, name: str) -> None:
        with self._lock:
            if name in self._open:
                self._open.pop(name).retire()

    def forget(self, name: str) -> None:
        """Retire the snapshots and the ledger of a knowledge base."""
        with self._lock:
            self._retire_snapshot(name)
            if name in self._ledgers:
                self._ledgers.pop(name).retire()
            self._on_close(name)

    def close(self) -> None:
        """Close everything at once, even if it is still read."""
        with self._lock:
            for leased in (*self._open.values(), *self._ledgers.values()):
                leased.retire(now=True)
            for opened in (self._questions, self._open, self._ledgers):
                opened.clear()
