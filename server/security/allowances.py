"""Daily allowances of clients: limits on the model tokens of each, counted across all processes of the server.

A day is a UTC day. The counts are in the server's database, so they survive a restart and apply to all servers that
share it. Calls in progress when the last token is spent are still paid.
"""

import math
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, time, timedelta
from threading import Lock

from cachetools import LRUCache
from sqlalchemy import text

from ...config import Settings
from ...runtime.audit import acting
from ...runtime.budgets import AllowanceSpent, charge_calls
from ..server_database import ServerDatabase
from .clients import Clients

_MOST_CLIENTS = 10_000
"""Clients whose spending this process caches; for others it reads the database."""
_KEPT_DAYS = timedelta(days=92)


def _now() -> datetime:
    return datetime.now(UTC)


class DailyAllowance:
    """A client's `Allowance`, of which each UTC day has a new one."""

    def __init__(self, database: ServerDatabase, client: str, most: int) -> None:
        """Set a client's limit, `most` model tokens per day (0 if its key was revoked); spending is not read yet."""
        self.most = most
        self._database = database
        self._client = client
        self._saved = "", 0
        """A day, and the tokens that the database had for it when this process last read or wrote them."""
        self._unsaved = 0
        """Tokens that this process has spent but not saved yet."""
        self._lock = Lock()

    def check(self) -> None:
        """Check that the client has tokens left for today.

        Raises:
            AllowanceSpent: it has none; the message says until when, or that its key was revoked.
        """
        now, tokens = _now(), self.spent
        if tokens < self.most:
            return
        midnight = datetime.combine(now.date() + timedelta(days=1), time(), UTC)
        seconds = math.ceil((midnight - now).total_seconds())
        if not self.most:
            raise AllowanceSpent(f"the key {self._client!r} was revoked: continue with another key", seconds)
        hours, minutes = divmod(math.ceil(seconds / 60), 60)
        raise AllowanceSpent(f"{self._client!r} has used {tokens:,} tokens today; the limit is {self.most:,} a day: "
                             f"try again after 00:00 UTC, in {hours} h {minutes} min", seconds)

    @property
    def spent(self) -> int:
        """The tokens that the client has spent today, as far as this process knows."""
        with self._lock:
            day, tokens = self._saved
            saved_today = tokens if day == _day(_now()) else 0
            return self._unsaved + saved_today

    def read_spending(self) -> None:
        """Read from the database what all processes have saved of today's spending; see `Allowance.read_spending`."""
        day = _day(_now())
        with self._database.reading() as connection:
            tokens = connection.execute(text("SELECT tokens FROM banyan_usage WHERE client = :client AND day = :day"),
                                        {"client": self._client, "day": day}).scalar()
        with self._lock:
            self._saved = day, int(tokens or 0)

    def spend(self, tokens: int) -> None:
        """See `Allowance.spend`."""
        with self._lock:
            self._unsaved += tokens

    def keep(self, tokens: int) -> None:
        """Add tokens that `spend` counted to today's row in the database; see `Allowance.keep`.

        With the first row of a client's day, rows older than `_KEPT_DAYS` are deleted.
        """
        now = _now()
        with self._database.transaction() as connection:
            spent = connection.execute(text(
                "INSERT INTO banyan_usage (client, day, tokens) VALUES (:client, :day, :tokens) "
                "ON CONFLICT (client, day) DO UPDATE SET tokens = banyan_usage.tokens + excluded.tokens "
                "RETURNING tokens"), {"client": self._client, "day": _day(now), "tokens": tokens}).scalar_one()
            if spent == tokens:  # the first entry of the day, so clean up once
                connection.execute(text("DELETE FROM banyan_usage WHERE day < :day"), {"day": _day(now - _KEPT_DAYS)})
        with self._lock:
            self._saved, self._unsaved = (_day(now), int(spent)), self._unsaved - tokens


class Allowances:
    """The allowances of all clients."""

    def __init__(self, database: ServerDatabase, clients: Clients) -> None:
        """Load no client yet."""
        self._database = database
        self._clients = clients
        self._known: LRUCache[str, DailyAllowance] = LRUCache(_MOST_CLIENTS)
        self._lock = Lock()

    async def refresh(self) -> None:
        """Read changed limits. It is called before builds: they run outside of requests, which read the limits anew."""
        await self._clients.refresh()

    def of(self, client: str) -> DailyAllowance | None:
        """Return a client's allowance by its name; None means no limit.

        Raises:
            KeysError: the keys cannot be read.
        """
        most = self._clients.tokens_per_day(client) if client else None
        if most is None:
            return None
        with self._lock:
            allowance = self._known.setdefault(client, DailyAllowance(self._database, client, most))
        allowance.most = most  # the limit may have changed since the allowance was created
        return allowance

    @contextmanager
    def spending(self, client: str) -> Iterator[None]:
        """Record a client as the author of changes in the block, and charge model calls there to its allowance.

        An empty name leaves the current author and allowance as they are.
        """
        with acting(client), charge_calls(allowance=self.of(client)):
            yield


def spent_today(settings: Settings) -> dict[str, int]:
    """Return how many tokens each client has spent today, by its name, as saved in the database.

    Raises:
        DatabaseError: PostgreSQL cannot be reached.
    """
    with closing(ServerDatabase.of(settings)) as database, database.reading() as connection:
        rows = connection.execute(text("SELECT client, tokens FROM banyan_usage WHERE day = :day"),
                                  {"day": _day(_now())}).all()
    return {str(client): int(tokens) for client, tokens in rows}


def _day(moment: datetime) -> str:
    return moment.date().isoformat()
