"""The tokens that a program under test uses, for benchmarks that count also what comes from a cache."""

from threading import Lock


class Usage:
    """A count of calls and of their tokens. Safe to use from several threads."""

    def __init__(self) -> None:
        self.calls = self.prompt = self.completion = 0
        self._lock = Lock()

    def add(self, prompt: int, completion: int) -> None:
        """Count one call."""
        with self._lock:
            self.calls += 1
            self.prompt += prompt
            self.completion += completion
