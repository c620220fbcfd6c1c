"""A circuit breaker, which spares an endpoint that is down further calls.

It opens after several failures in a row of the endpoint itself: every call then fails at once, without being sent.
After some seconds calls pass again; the next failure opens it again, and an answer closes it.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..reasoner import ReasonerError

FAILURES_IN_A_ROW = 5
"""Failures in a row, each after all retries, that show that the endpoint is down."""
SECONDS_OPEN = 10.0
"""About the time a server needs to restart. Trying earlier would be a retry, and the calls have made theirs."""

_LOG = logging.getLogger("banyan.llm")


class EndpointFailed(ReasonerError):
    """The endpoint failed, not the request: it could not be reached, refused the key, or had an internal error.

    Args:
        message: the thing, the cause and the fix.
        certain: no other call can fare better: the key or the model is refused, or nothing listens there.
    """

    def __init__(self, message: str, *, certain: bool = False) -> None:
        super().__init__(message)
        self.certain = certain


class EndpointDown(ReasonerError):
    """The endpoint is down: no further call is sent to it for now. Progress is saved.

    The request itself has not failed and can be sent later.
    """


class Breaker:
    """Counts the failures of calls to one endpoint. Used only on the process's event loop."""

    def __init__(self, name: str, clock: Callable[[], float]) -> None:
        self._name = name
        self._clock = clock
        self._failures = 0
        self._reason = ""
        self._down_until = 0.0

    def check(self) -> None:
        """Raise EndpointDown if the endpoint is down and it is too early to try it."""
        if self._clock() < self._down_until:
            raise self._down()

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Record the outcome of the call that the block sends. Cancelling it counts neither way.

        Raises:
            EndpointDown: the endpoint is down, or this call failed as one too many in a row.
        """
        self.check()
        try:
            yield
        except EndpointFailed as failure:
            raise self.record_failure(failure) from None
        except ReasonerError:  # the endpoint answered, even if it refused this one request
            self._failures = 0
            raise
        self._failures = 0

    def record_failure(self, failure: EndpointFailed) -> EndpointFailed | EndpointDown:
        """Record a failure, and return the error to raise: the failure, or EndpointDown after too many in a row."""
        self._failures += 1
        if not failure.certain and self._failures < FAILURES_IN_A_ROW:
            return failure
        self._reason = str(failure)
        self._down_until = self._clock() + SECONDS_OPEN
        _LOG.warning("%s is down: no call is sent to it for %g s", self._name, SECONDS_OPEN)
        return self._down()

    def _down(self) -> EndpointDown:
        return EndpointDown(f"the endpoint is down: {self._reason}. Progress is saved. Run the command again when it "
                            "answers, to go on from here")
