"""Equal calls under way at the same time are made once."""

from collections.abc import Callable
from concurrent.futures import Future
from copy import copy
from threading import Lock
from typing import TypeVar

from ..reasoner import ReasonerError
from .breaker import EndpointDown

T = TypeVar("T")


class InFlight:
    """The calls under way, by what identifies them. Safe to use from several threads."""

    def __init__(self) -> None:
        self._calls: dict[str, Future[None]] = {}
        self._lock = Lock()

    def lead(self, key: str, make: Callable[[], T]) -> T | None:
        """Make a call, or wait until whoever is making an equal one is done.

        Args:
            key: identifies the call.
            make: makes it and returns its answer, which is no None.

        Returns:
            The answer; None if it was another caller's turn, who has kept it, or was broken off by what is no
            failure of the call (a budget of its own, a cancellation, an endpoint that was down): look again.

        Raises:
            ReasonerError: of the call, whoever made it.
        """
        with self._lock:
            other = self._calls.get(key)
            mine: Future[None] = Future()
            if other is None:
                self._calls[key] = mine
        if other is not None:
            failure = other.exception()
            if failure is not None:
                raise copy(failure) from failure
            return None
        failed: ReasonerError | None = None
        try:
            return make()
        except EndpointDown:
            raise
        except ReasonerError as error:
            failed = error
            raise
        finally:
            with self._lock:
                del self._calls[key]
            if failed is None:
                mine.set_result(None)
            else:
                mine.set_exception(failed)
