"""A circuit breaker, which spares an endpoint that is down further calls.

It opens after several failures in a row of the endpoint itself: every call then fails at once, without being sent.
After some seconds a single call is let through as a trial; when that is answered, all calls may pass again.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..reasoner import ReasonerError

FAILURES_IN_A_ROW = 5
"""Failures in a row, each after all retries, that show that the endpoint is down."""
SECONDS_CLOSED_TO_CALLS = 10.0
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
    """Counts the outcomes of calls to one endpoint. Used only on the process's event loop."""

    def __init__(self, name: str, clock: Callable[[], float]) -> None:
        self._name = name
        self._clock = clock
        self._failures = 0
        self._reason = ""
        self._opened: float | None = None
        self._trying = False

    def check(self) -> None:
        """Raise EndpointDown if the endpoint is down and it is too early to try it, or another call tries it."""
        if self._opened is not None and (self._trying or self._clock() - self._opened < SECONDS_CLOSED_TO_CALLS):
            raise self._down()

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Admit the call that the block sends, and record its outcome.

        Raises:
            EndpointDown: the endpoint is down, or this call failed as one too many in a row.
        """
        self.check()
        self._trying = self._opened is not None
        try:
            yield
        except EndpointFailed as failure:
            raise self.failed(failure) from None
        except ReasonerError:
            self._answered()
            raise
        except BaseException:  # it was cancelled, which does not count for or against the endpoint
            self._trying = False
            raise
        self._answered()

    def _answered(self) -> None:
        """Record that the endpoint answered, even if it refused this one request."""
        if self._opened is not None:
            _LOG.warning("%s answers again", self._name)
        self._failures, self._opened, self._trying = 0, None, False

    def failed(self, failure: EndpointFailed) -> EndpointFailed | EndpointDown:
        """Record a failure, and return the error to raise: the failure, or EndpointDown after too many in a row."""
        self._failures += 1
        self._trying = False
        self._reason = str(failure)
        if not failure.certain and self._failures < FAILURES_IN_A_ROW and self._opened is None:
            return failure
        if self._opened is None:
            _LOG.warning("%s is down: no call is sent to it for %g s", self._name, SECONDS_CLOSED_TO_CALLS)
        self._opened = self._clock()
        return self._down()

    def _down(self) -> EndpointDown:
        return EndpointDown(f"the endpoint is down: {self._reason}. What was done stands; run the command again when "
                            "it answers, to go on from here")
