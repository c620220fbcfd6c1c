"""How much is asked of an endpoint at once and in a minute, by all of a process together.

Whatever knowledge base or thread a call is for: calls to the same endpoint share its slots, its rates and its circuit
breaker. Timeouts and backoff of a single request are the openai client's; here is the bound on a call in all.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import BoundedSemaphore, Lock
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import SecretStr

from ...config import Settings
from ...runtime.cancellation import CallCancelled, answered, current, pause
from ...text.tokens import estimate_tokens
from ..reasoner import ReasonerError
from .breaker import Breaker, EndpointFailed
from .endpoint import Messages, Reply
from .observing import observed_call

LONGEST_BACKOFF = 120.0
"""Seconds between two requests of a call: the openai client honours a Retry-After up to two minutes, and gives a call
up that is told to wait longer."""
SLACK = 30.0
"""Seconds on top of all that a call may take: the first one imports its client, on a machine that may be busy."""
FIRST_RATIO = 1.5
"""Tokens of a call by those of its prompt, until replies tell: an answer half as long as what was asked."""
_LOOKED_AFTER = 0.1
"""Seconds between two looks at whether a call that waits for its turn still has to be sent."""


class Rate:
    """Lets so much pass in a second, in the order of asking (the generic cell rate algorithm, ITU-T I.371).

    Args:
        per_second: how much.
        burst: seconds' worth that may be saved up for a moment when nothing was asked.
        clock: seconds that only grow.
    """

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._free_at = -float("inf")
        self._lock = Lock()

    def take(self, amount: float) -> float:
        """Take one's share; returns the seconds to wait until it may be used.

        A share larger than the burst passes too: those after it wait the longer.
        """
        with self._lock:
            now = self._clock()
            start = max(self._free_at, now - self._burst)
            self._free_at = start + amount / self._per_second
            return max(0.0, start - now)

    def correct(self, amount: float) -> None:
        """It turned out that so much more was used than was taken, or, below zero, so much less."""
        with self._lock:
            self._free_at += amount / self._per_second


class _Place(NamedTuple):
    """What has to be the same for calls to share limits. The key counts: accounts have limits of their own."""

    base_url: str
    api_key: SecretStr
    model: str
    concurrency: int
    requests_per_second: float | None
    tokens_per_minute: int | None


class Limits:
    """What the calls to one endpoint and model share. Safe to use from several threads.

    Args:
        place: the endpoint, the model and the limits.
        slots: of the endpoint, whichever model is asked.
        clock: seconds that only grow.
    """

    def __init__(self, place: _Place, slots: BoundedSemaphore, clock: Callable[[], float] = time.monotonic) -> None:
        self.host = urlsplit(place.base_url).netloc.rpartition("@")[2]
        self.breaker = Breaker(f"model {place.model!r} at {self.host}", clock)
        self._slots = slots
        self._clock = clock
        requests, tokens = place.requests_per_second, place.tokens_per_minute
        # Bursts of a second: what is saved up must not count much beside a minute's limit.
        self._requests = None if requests is None else Rate(requests, max(0.0, 1 - 1 / requests), clock)
        self._tokens = None if tokens is None else Rate(tokens / 60, 1.0, clock)
        self._prompted = self._used = 0
        self._lock = Lock()

    @property
    def tokens_are_limited(self) -> bool:
        """Whether the tokens of a prompt matter: there is a rate for them."""
        return self._tokens is not None

    @contextmanager
    def turn(self, prompt: int) -> Iterator[Callable[[int], None]]:
        """Wait for a slot and for the rates, and hold the slot for the block.

        Args:
            prompt: estimated tokens of the call's prompt; 0 where they are not limited.

        Yields:
            What to call with the tokens that the call used in all, as its reply reports them.

        Raises:
            CallCancelled: the run was cancelled while it waited.
            EndpointDown: the endpoint was found down while it waited.
        """
        while not self._slots.acquire(timeout=_LOOKED_AFTER):
            self._look()
        try:
            if self._requests is not None:
                self._wait(self._requests, 1)
            expected = self._expected(prompt)
            if self._tokens is not None:
                self._wait(self._tokens, expected)
            yield lambda tokens: self._used_up(prompt, expected, tokens)
        finally:
            self._slots.release()

    def _wait(self, rate: Rate, amount: float) -> None:
        until = self._clock() + rate.take(amount)
        try:
            while (left := until - self._clock()) > 0:
                pause(min(left, _LOOKED_AFTER))
                self._look()
        except BaseException:
            rate.correct(-amount)
            raise

    def _look(self) -> None:
        if current().cancelled:
            raise CallCancelled
        self.breaker.check()

    def _used_up(self, prompt: int, expected: float, tokens: int) -> None:
        if self._tokens is not None:
            self._tokens.correct(tokens - expected)
        with self._lock:
            self._prompted += prompt
            self._used += tokens

    def _expected(self, prompt: int) -> float:
        with self._lock:
            return prompt * (self._used / self._prompted if self._prompted else FIRST_RATIO)


@cache
def _slots(base_url: str, api_key: SecretStr, concurrency: int) -> BoundedSemaphore:  # noqa: ARG001  (the cache's key)
    return BoundedSemaphore(concurrency)


@cache
def _limits(place: _Place) -> Limits:
    return Limits(place, _slots(place.base_url, place.api_key, place.concurrency))


def limits_of(settings: Settings) -> Limits:
    """The limits of the settings' endpoint and model, one and the same for the whole process."""
    return _limits(_Place(settings.llm_base_url or "", settings.llm_api_key, settings.llm_model,
                          settings.llm_concurrency, settings.llm_requests_per_second, settings.llm_tokens_per_minute))


class LimitedEndpoint:
    """Implements `Endpoint` around another one: limits, circuit breaker, cancellation, log and spans.

    Args:
        send: sends a call, as an `Endpoint` does.
        settings: the limits, and what names the endpoint.
        limits: those of the process, if none are given.
    """

    def __init__(self, send: Callable[[Messages, dict[str, Any]], Reply], settings: Settings,
                 limits: Limits | None = None) -> None:
        self._send = send
        self._model = settings.llm_model
        self._limits = limits or limits_of(settings)
        tries = settings.llm_retries + 1
        self._longest = tries * settings.llm_timeout + settings.llm_retries * LONGEST_BACKOFF + SLACK

    def send(self, messages: Messages, json_schema: dict[str, Any]) -> Reply:
        """One paid call, when its turn has come.

        Raises:
            ReasonerError: it failed for good; `EndpointFailed` where that was not the request's fault.
            EndpointDown: the endpoint is down, and was not asked.
            CallCancelled: the run was cancelled: the call was not sent, or its answer not waited for.
        """
        # To count them takes longer than all else here.
        prompt = sum(estimate_tokens(content) for _, content in messages) if self._limits.tokens_are_limited else 0
        self._limits.breaker.check()
        with observed_call(self._model, self._limits.host) as call, self._limits.turn(prompt) as used:
            call.sent()
            reply = self._answer(messages, json_schema)
            call.answered(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
            used(reply.prompt_tokens + reply.completion_tokens)
            return reply

    def _answer(self, messages: Messages, json_schema: dict[str, Any]) -> Reply:
        breaker = self._limits.breaker
        breaker.admit()
        try:
            reply = answered(lambda: self._send(messages, json_schema), self._longest)
        except EndpointFailed as failure:
            raise breaker.failed(failure) from None
        except TimeoutError:
            raise breaker.failed(self._endless()) from None
        except ReasonerError:
            breaker.answered()
            raise
        except BaseException:
            breaker.given_up()
            raise
        breaker.answered()
        return reply

    def _endless(self) -> EndpointFailed:
        return EndpointFailed(f"model {self._model!r} at {self._limits.host}: it did not come to an end within "
                              f"{self._longest:g} s, all retries together; see to the endpoint, then try again")
