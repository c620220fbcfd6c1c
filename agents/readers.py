"""The knowledge bases that this process reads."""

import threading
from collections.abc import Callable

from ..config import Settings
from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.layout import Layout, check_name
from ..graph_store.ledger.database import Database
from ..graph_store.ledger.version import published
from ..models.embedding.embedder import Embedder
from ..tools.retriever import Retriever


class Readers:
    """One frozen reader for each knowledge base, replaced when a run has ended. Safe to use from several threads."""

    def __init__(self, settings: Settings, embedder: Callable[[], Embedder]) -> None:
        """Nothing is opened yet.

        Args:
            settings: where knowledge bases are.
            embedder: gives the embedding model when it is first needed.
        """
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
            opened = self._opened.get(check_name(name))
            if (opened is None or opened.vectors.generation.lost
                    or published(opened.database) != published(self.ledger(name))):
                settings = self._settings
                self._opened[name] = opened = KnowledgeBase.open(settings.home, name, self._embedder(),
                                                                 server=settings.chroma_server)
                opened.freeze()
            return opened

    def ledger(self, name: str) -> Database:
        """The ledger of an existing knowledge base as it is at any moment: readers are frozen.

        Raises:
            UnknownKnowledgeBaseError: there is none of that name.
        """
        with self._lock:
            if name not in self._ledgers:
                self._ledgers[name] = Database(Layout.of(self._settings.home, name).require().ledger)
            return self._ledgers[name]

    def retriever(self, name: str) -> Retriever:
        """The retriever of a knowledge base, made again only when the knowledge base has changed."""
        with self._lock:
            kb = self.knowledge_base(name)
            retriever = self._retrievers.get(name)
            if retriever is None or retriever.version != kb.version():
                retriever = self._retrievers[name] = Retriever(kb)
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
