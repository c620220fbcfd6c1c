"""Which state of a knowledge base each question under way is answered from."""

import threading

from cachetools import TTLCache

from ...tools.retriever import Retriever

_STATES, _SECONDS = 1_000, 3600.0
"""A question that failed or was cancelled never ends: its state is forgotten after an hour."""


class QuestionStates:
    """The states of knowledge bases that questions began with. Safe to use from several threads.

    The nodes of a question all read the same state, so a build that publishes meanwhile changes nothing for it.
    The state of the graph names the revision. A question that goes on in another process, or after its hour, is
    answered from the newest one where that revision is not open.
    """

    def __init__(self) -> None:
        self._open: TTLCache[tuple[str, str], tuple[Retriever, int]] = TTLCache(_STATES, _SECONDS)
        self._lock = threading.Lock()

    def begin(self, name: str, retriever: Retriever) -> str:
        """Keep the state of a knowledge base for a new question; return its revision."""
        revision = "-".join(map(str, (*retriever.version, retriever.index.store.layout.name)))
        with self._lock:
            _, questions = self._open.get((name, revision), (retriever, 0))
            # The newest reader of an equal state: the connection of an earlier one may have been lost.
            self._open[name, revision] = retriever, questions + 1
        return revision

    def get(self, name: str, revision: str) -> Retriever | None:
        """Return the state of a revision, if this process has it."""
        with self._lock:
            kept = self._open.get((name, revision))
        return kept[0] if kept else None

    def end(self, name: str, revision: str) -> None:
        """Let go of the state of an answered question, where no other one reads it."""
        with self._lock:
            kept, questions = self._open.pop((name, revision), (None, 0))
            if kept is not None and questions > 1:
                self._open[name, revision] = kept, questions - 1
