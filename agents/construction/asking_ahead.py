"""What is asked of a reasoner side by side, some of it before its turn: an endpoint stays busy while batches change."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Generic, TypeVar

from ...runtime.cancellation import cancellable, current
from ...runtime.cores import stay_on_core

_T = TypeVar("_T")

_LOOKED_AFTER = 0.1
"""Seconds between two looks at whether anybody still waits."""


class AskedAhead(Generic[_T]):
    """The asks of one run, in the order in which they are begun. Who waits for some leaves the others under way.

    They run in the context in which this was made: a cancellation of that is heard at once.

    Args:
        workers: how many at once.
    """

    def __init__(self, workers: int) -> None:
        # On the core of the threads that make the calls: these do little but wait for those.
        self._pool = ThreadPoolExecutor(workers, "banyan-ahead", stay_on_core, (os.getpid(),))
        self._begun: dict[str, Future[_T]] = {}
        with cancellable() as self._cancellation:
            self._context = copy_context()

    def begin(self, key: str, ask: Callable[[], _T]) -> None:
        """Ask when it is its turn, unless it was begun before."""
        if key not in self._begun:
            self._begun[key] = self._pool.submit(self._context.copy().run, ask)

    def answers(self, keys: Sequence[str]) -> list[tuple[str, _T]]:
        """What was answered to those of some asks that were begun, in order; they are forgotten.

        Raises:
            CallCancelled: the caller's run was cancelled.
            Exception: of the first that failed, as soon as one did.
        """
        futures = {key: self._begun.pop(key) for key in keys if key in self._begun}
        waiting = set(futures.values())
        while waiting:
            current().check()
            done, waiting = wait(waiting, _LOOKED_AFTER, FIRST_EXCEPTION)
            for future in done:
                future.result()
        return [(key, future.result()) for key, future in futures.items()]

    def end(self) -> list[tuple[str, _T]]:
        """Begin no further one, and wait for those under way, which are paid for."""
        self._pool.shutdown(cancel_futures=True)
        return self.answers([key for key, future in self._begun.items() if not future.cancelled()])

    def break_off(self) -> None:
        """Begin no further one, and give up those under way; none is at work any more then."""
        self._cancellation.cancel()
        self._pool.shutdown(cancel_futures=True)
