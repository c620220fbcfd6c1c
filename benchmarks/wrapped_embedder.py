"""An embedder around another one, for benchmarks to count or keep what it is given."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence

from banyan.models.embedding.embedder import Embedder, Vectors


class WrappedEmbedder(ABC):
    """An `Embedder` that another one works for."""

    def __init__(self, embedder: Embedder) -> None:
        """Wrap an embedder."""
        self._embedder = embedder
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Its vectors' length."""
        return self._embedder.dimension

    @property
    def fingerprint(self) -> str:
        """Its fingerprint."""
        return self._embedder.fingerprint

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Vectors:
        """Its vectors."""
