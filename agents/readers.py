"""The knowledge bases that this process reads."""

import gc
import threading
from collections.abc import Callable

from ..config import Settings
from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.layout import Layout, check_name
from ..graph_store.ledger.accounts import Calls
from ..graph_store.ledger.database import Database
from ..graph_store.ledger.version import published
from ..models.embedding.embedder import Embedder
from ..tools.retriever import Retriever


class Readers:
    """One frozen reader for each knowledge base, replaced when a run has ended. Safe to use from several threads.

    Those used longest ago are let go of, so that descriptors, threads and memory do not grow with their number.
    """

    def __init__(self, settings: Settings, embedder: Callable[[], Embedder], forgotten: Callable[[str], None]) -> None:
        """Nothing is opened yet.

        Args:
            settings: where knowledge bases are.
            embedder: gives the embedding model when it is first needed.
            forgotten: told the name of each knowledge base that is let go of.
        """
        self._forgotten = forgotten
        self._settings = settings
        self._embedder = embedder
        self._opened: dict[str, KnowledgeBase] = {}
        self._ledgers: dict[str, Database] = {}
        self._retrievers: dict[str, Retriever] = {}
        self._lock = threading.RLock()

    def knowledge_base(self, name: str) -> KnowledgeBase:
        """A knowledge base for reading, as its ledger has it now.

        What a caller has never changes under its hands, and all of it is of one moment: when a run that wrote has
        ended, the next caller gets another reader, and this one closes when its last user lets go of it.

        Raises:
            UnknownKnowledgeBaseError: there is none of that name.
        """
        with self._lock:
            self._forget_if_gone(check_name(name))
            opened = self._opened.pop(name, None)
            if opened is not None:
                self._opened[name] = opened  # the last one is the one used last
            if (opened is None or opened.vectors.generation.lost
                    or published(opened.database) != published(self.ledger(name))):
                settings = self._settings
                self._opened[name] = opened = KnowledgeBase.open(settings.home, name, self._embedder(),
                                                                 server=settings.chroma_server,
                                                                 database=settings.database)
                opened.freeze()
                self._let_go()
            return opened

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
            self._forgotten(name)

    def ledger(self, name: str) -> Database:
        """The ledger of an existing knowledge base as it is at any moment: readers are frozen."""
        with self._lock:
            self._forget_if_gone(name)
            ledger = self._ledgers.pop(name, None)
            if ledger is None:
                ledger = Database(Layout.by(self._settings, name).require().ledger)
                while len(self._ledgers) >= self._settings.open_bases:
                    self.forget(next(iter(self._ledgers)))
            self._ledgers[name] = ledger  # the last one is the one used last
            return ledger

    def retriever(self, name: str) -> Retriever:
        """The retriever of a knowledge base, made again only when the knowledge base has changed."""
        with self._lock:
            kb = self.knowledge_base(name)
            retriever = self._retrievers.get(name)
            if retriever is None or retriever.version != kb.version():
                # Readers are frozen: what a question's embedding costs goes through the other connection.
                retriever = self._retrievers[name] = Retriever(
                    kb, lambda *paid: Calls(self.ledger(name)).put_down(*paid))
            return retriever

    def close(self) -> None:
        """Close every knowledge base and ledger."""
        with self._lock:
            for kb in self._opened.values():
                kb.close()
            for ledger in self._ledgers.values():
                ledger.close()
            self._opened.clear()
            self._ledgers.clear()
            self._retrievers.clear()
