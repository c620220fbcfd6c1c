"""How often a client may come."""

import time
from collections import OrderedDict

_CLIENTS = 10_000
"""Clients that are remembered; those that came longest ago are forgotten first, and may come as if new."""


class Rates:
    """A bucket of tokens for each client: a request takes one, and they come back with time."""

    def __init__(self, per_minute: int) -> None:
        """Allow so many requests a minute, as many of them at once."""
        self._most = float(per_minute)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, now: float | None = None) -> float:
        """Count a request.

        Args:
            client: who sends it.
            now: seconds of a clock that never goes back; none: that of this moment.

        Returns:
            0.0, or the seconds after which the request would be allowed; it is then not counted.
        """
        now = time.monotonic() if now is None else now
        left, then = self._buckets.pop(client, (self._most, now))
        left = min(self._most, left + (now - then) * self._most / 60)
        allowed = left >= 1
        self._buckets[client] = (left - allowed, now)
        if len(self._buckets) > _CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - left) * 60 / self._most
