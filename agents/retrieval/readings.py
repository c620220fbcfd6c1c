"""Which state of a knowledge base each question under way is answered from."""

import threading
import uuid

from cachetools import TTLCache

from ...tools.retriever import Retriever

_QUESTIONS, _SECONDS = 10_000, 3600.0
"""A question that failed or was cancelled never ends: it is forgotten after an hour, which no question takes."""


class Readings:
    """The retrievers that questions began with. Safe to use from several threads.

    A retriever holds one state of its knowledge base. The nodes of a question all use the same, so that a build that
    publishes meanwhile changes nothing for it. The state of the graph names it, as it cannot be checkpointed itself; a
    question that goes on in another process finds none, and is answered from the newest state.
    """

    def __init__(self) -> None:
        self._retrievers: TTLCache[str, Retriever] = TTLCache(_QUESTIONS, _SECONDS)
        self._lock = threading.Lock()

    def begin(self, retriever: Retriever) -> str:
        """Keep the retriever of a new question; returns what names it."""
        reading = uuid.uuid4().hex
        with self._lock:
            self._retrievers[reading] = retriever
        return reading

    def get(self, reading: str) -> Retriever | None:
        """The retriever of a question, if it is kept here."""
        with self._lock:
            return self._retrievers.get(reading)

    def end(self, reading: str) -> None:
        """Let go of the retriever of a question that is answered."""
        with self._lock:
            self._retrievers.pop(reading, None)
