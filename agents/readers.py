"""The knowledge bases that this process reads."""

import gc
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakValueDictionary

from ..config import Settings
from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.layout import Layout, check_name
from ..graph_store.ledger.database import Database
from ..graph_store.ledger.token_accounts import Calls
from ..graph_store.ledger.version import published_state
from ..graph_store.scopes.scope_folder import ScopeFolder
from ..graph_store.store_errors import UnknownKnowledgeBaseError, WriterBusyError
from ..models.embedding.embedder import Embedder
from ..models.embedding.embedding_models import EmbeddingModels
from ..schemas.errors import BanyanError
from ..schemas.scope import Scope
from ..tools.retriever import RankingModels, Retriever
from .scoped_readers import ScopedReaders

_LOG = logging.getLogger("banyan")
_SOON = 3.0
"""Seconds that a question waits for what another home's writer has changed; then it is answered from the state before.
"""


class Readers:
    """One frozen reader for each knowledge base, replaced when a run has ended. Safe to use from several threads.

    Those used longest ago are let go of, so descriptors, threads and memory do not grow with their number.
    """

    def __init__(self, settings: Settings, embedder: Callable[[], Embedder | EmbeddingModels],
                 forgotten: Callable[[str], None], ranking: RankingModels) -> None:
        """Open nothing yet.

        Args:
            settings: where knowledge bases are.
            embedder: gives the embedding model when it is first needed, or those of which each has its own.
            forgotten: called with the name of each knowledge base that is closed.
            ranking: the models that rank passages.
        """
        self._forgotten = forgotten
        self._settings = settings
        self._embedder = embedder
        self._ranking = ranking
        self._opened: dict[str, KnowledgeBase] = {}
        self._ledgers: dict[str, Database] = {}
        self._retrievers: dict[str, Retriever] = {}
        self._scoped = ScopedReaders(settings, embedder)
        self._turns: WeakValueDictionary[str, threading.RLock] = WeakValueDictionary()
        self._being_derived: set[str] = set()
        """Those whose derived files are being brought up in the background."""
        self._lock = threading.RLock()

    def knowledge_base(self, name: str) -> KnowledgeBase:
        """Return a knowledge base for reading, as its ledger has it now.

        What a caller has never changes under its hands, and all of it is of one moment: when a run that wrote has
        ended, the next caller gets another reader, and this one closes when its last user lets go of it.

        Raises:
            UnknownKnowledgeBaseError: there is none of that name.
        """
        return self._current(check_name(name))

    def _current(self, name: str, *, mapped: bool = False) -> KnowledgeBase:
        """Return the reader of a knowledge base; with `mapped` also another one, where its index is in memory alone."""
        with self._turn(name):
            with self._lock:
                self._forget_if_gone(name)
                opened = self._opened.pop(name, None)
                if opened is not None:
                    self._opened[name] = opened  # the last one is the one used last
            if opened is None or self._is_behind(opened) or (mapped and not opened.is_mapped()):
                newest = self._newest(name, opened)
                if newest is not opened:
                    with self._lock:
                        self._opened[name] = opened = newest
                        self._let_go()
            return opened

    def _turn(self, name: str) -> threading.RLock:
        """Return the lock for opening a knowledge base; opening may take long, and must not delay other bases."""
        with self._lock:
            return self._turns.setdefault(name, threading.RLock())

    def _is_behind(self, opened: KnowledgeBase) -> bool:
        return (opened.vectors.collections.lost
                or opened.frozen_at != published_state(self.ledger(opened.layout.name)))

    def _newest(self, name: str, before: KnowledgeBase | None) -> KnowledgeBase:
        """Return a reader of the newest state, or the previous reader while this home derives its files."""
        settings = self._settings
        layout = Layout.by(settings, name).require()
        if before is None or before.vectors.collections.lost or layout.database is None:
            opened = KnowledgeBase.open(settings.home, name, self._embedder(), server=settings.chroma_server,
                                        database=settings.database)
            opened.freeze()
            return opened
        if name in self._being_derived:
            return before
        newest = KnowledgeBase(layout, self._embedder())
        newest.freeze()
        if newest.is_mapped():
            return newest
        newest.close()
        self._being_derived.add(name)
        making = threading.Thread(target=self._derive_in_background, args=(layout,), daemon=True)
        making.start()
        making.join(_SOON)
        with self._lock:
            return self._opened.get(name, before)

    def _derive_in_background(self, layout: Layout) -> None:
        """Derive the files of one moment in the background, and move to the reader of that moment."""
        try:
            newest = KnowledgeBase(layout, self._embedder())
            try:
                newest.derive_vectors()
                # A writer that is at work would be ahead of any files by the time that they are there.
                newest.database.freeze()
                newest.derive_missing_files()
                newest.freeze()
            except BaseException:
                newest.close()
                raise
            with self._lock:
                self._opened[layout.name] = newest
        except WriterBusyError:
            _LOG.info("another process derives the files of %s; until then it is answered from as it was", layout.name)
        except (BanyanError, OSError) as error:
            _LOG.warning("%s is answered from as it was: what has changed cannot be read now (%s)", layout.name, error)
        finally:
            self._being_derived.discard(layout.name)

    def follow(self) -> None:
        """Have the readers that are open go on to what others wrote, before a question asks for it.

        One that was opened while another process derived the files of this home goes on to these.
        """
        for name, before in list(self._opened.items()):
            with suppress(UnknownKnowledgeBaseError):
                moved = self._current(name, mapped=True) is not before
                del before  # a frozen reader keeps the ledger's log from being emptied
                if moved:
                    self.ledger(name).checkpoint()

    def settle(self, name: str) -> None:
        """Have what was deleted leave the ledger's files; where a question still reads them, when it has ended."""
        was_read = name in self._opened
        self.forget(name)
        ScopeFolder(Layout.by(self._settings, name)).clear()
        if was_read:
            gc.collect()  # see `_let_go`
        self.ledger(name).checkpoint()

    def _let_go(self) -> None:
        while len(self._opened) > self._settings.open_bases:
            self.forget(next(iter(self._opened)))
            # A graph, its index and their users refer to each other, and their files wait for all of them.
            gc.collect()

    def _forget_if_gone(self, name: str) -> None:
        """Another process may have dropped or renamed it, and made one of that name."""
        kept = [self._ledgers[name]] if name in self._ledgers else []
        kept += [self._opened[name].database] if name in self._opened else []
        if any(database.gone for database in kept):
            self.forget(name)

    def forget(self, name: str) -> None:
        """Let go of a knowledge base; what is open of it closes when its last user lets go of it."""
        with self._lock:
            for kept in (self._opened, self._ledgers, self._retrievers):
                kept.pop(name, None)
            self._scoped.forget(name)
            self._forgotten(name)

    def ledger(self, name: str) -> Database:
        """Return the ledger of an existing knowledge base as it is at any moment: readers are frozen."""
        with self._lock:
            self._forget_if_gone(name)
            ledger = self._ledgers.pop(name, None)
            if ledger is None:
                ledger = Database(Layout.by(self._settings, name).require().ledger, create=False)
                while len(self._ledgers) >= self._settings.open_bases:
                    self.forget(next(iter(self._ledgers)))
            self._ledgers[name] = ledger  # the last one is the one used last
            return ledger

    def retriever(self, name: str) -> Retriever:
        """Return the retriever of a knowledge base, made again only when a run that wrote something has ended."""
        kb = self.knowledge_base(name)
        with self._lock:
            retriever = self._retrievers.get(name)
            if retriever is None or retriever.index.store is not kb:
                # Readers are frozen: what a question's embedding costs goes through the other connection.
                retriever = self._retrievers[name] = Retriever(
                    kb, lambda *paid: Calls(self.ledger(name)).record_usage(*paid), self._ranking)
            return retriever

    def scoped_retriever(self, name: str, scope: Scope) -> Retriever:
        """Return the retriever of some documents of a knowledge base (see `ScopedReaders.retriever`)."""
        base = self.retriever(name)
        return base if scope.is_everything else self._scoped.retriever(base, scope)

    def close(self) -> None:
        """Close every knowledge base and ledger."""
        with self._lock:
            self._scoped.close()
            for kb in self._opened.values():
                kb.close()
            for ledger in self._ledgers.values():
                ledger.close()
            self._opened.clear()
            self._ledgers.clear()
            self._retrievers.clear()
