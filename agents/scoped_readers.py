"""What questions that are limited to some documents read."""

import threading
from collections.abc import Callable, Sequence

from cachetools import LRUCache

from ..config import Settings
from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.scopes.making import make_scope
from ..graph_store.scopes.scope_folder import ScopeFolder, state_of
from ..graph_store.scopes.selection import ScopeError, documents_in
from ..models.embedding.embedder import Embedder
from ..models.embedding.embedding_models import EmbeddingModels
from ..runtime.budgets import charge_calls
from ..schemas.scope import Scope
from ..tools.retriever import Retriever
from .thresholds import thresholds_in

_OPEN = 8


class ScopedReaders:
    """One retriever for each scope that was asked about last. Safe to use from several threads."""

    def __init__(self, settings: Settings, embedder: Callable[[], Embedder | EmbeddingModels]) -> None:
        """Open nothing yet; see `Readers`."""
        self._settings = settings
        self._embedder = embedder
        self._retrievers: LRUCache[tuple[str, str, Scope], Retriever] = LRUCache(_OPEN)
        self._lock = threading.Lock()

    def retriever(self, base: Retriever, scope: Scope) -> Retriever:
        """Return the retriever of the documents of a scope; the first question about them waits until it is made.

        Args:
            base: that of the whole knowledge base.
            scope: which of its documents.

        Raises:
            ScopeError: it names no documents, or too many for a question to wait for.
        """
        kb, settings = base.index.store, self._settings
        state = state_of(kb, settings.schema_support, settings.schema_confidence, settings.schema_consistency,
                         settings.schema_growth)
        key = kb.layout.name, state, scope
        with self._lock:
            if key in self._retrievers:
                return self._retrievers[key]
        documents = documents_in(kb.documents, scope)
        if len(documents) == kb.documents.count_documents():
            return base
        found = self._open(base, documents, state)
        with self._lock:
            for other in [other for other in self._retrievers if other[0] == key[0] and other[1] != state]:
                del self._retrievers[other]
            return self._retrievers.setdefault(key, found)

    def _open(self, base: Retriever, documents: Sequence[str], state: str) -> Retriever:
        kb = base.index.store
        most, chunks = self._settings.max_scope_chunks, kb.documents.count_chunks_of(documents)
        if chunks > most:
            raise ScopeError(
                f"this scope has {len(documents):,} documents with {chunks:,} chunks, at most {most:,} are made ready "
                "for a question: name fewer, raise BANYAN_MAX_SCOPE_CHUNKS, or build a knowledge base of them")
        with charge_calls(account=base.account):  # labels are embedded
            layout = ScopeFolder(kb.layout).find_or_make(state, documents, lambda place: make_scope(
                kb, documents, place, lambda made: thresholds_in(made, self._settings)))
        opened = KnowledgeBase(layout, self._embedder())
        opened.freeze()
        return Retriever(opened, base.account, base.models)

    def forget(self, name: str) -> None:
        """Let go of the scopes of a knowledge base."""
        with self._lock:
            for key in [key for key in self._retrievers if key[0] == name]:
                del self._retrievers[key]

    def close(self) -> None:
        """Close what is open."""
        with self._lock:
            for retriever in self._retrievers.values():
                retriever.index.store.close()
            self._retrievers.clear()
