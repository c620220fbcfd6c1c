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

_CLIENTS = 10_000
"""Clients whose spending this process caches; for others it reads the database."""
_KEPT = timedelta(days=92)


def _now() -> datetime:
    return datetime.now(UTC)


class DailyAllowance:
    """An `Allowance` that starts anew each day."""

    def __init__(self, database: ServerDatabase, client: str, most: int) -> None:
        """Count nothing yet."""
        self.most = most
        self._database = database
        self._client = client
        self._kept = "", 0
        self._counted = 0
        """Tokens that are not saved yet."""
        self._lock = Lock()

    def check(self) -> None:
        """See `Allowance.check`."""
        now, tokens = _now(), self.spent
        if tokens < self.most:
            return
        midnight = datetime.combine(now.date() + timedelta(days=1), time(), UTC)
        seconds = math.ceil((midnight - now).total_seconds())
        hours, minutes = divmod(-(-seconds // 60), 60)
        raise AllowanceSpent(f"{self._client!r} has used {tokens:,} tokens today; the limit is {self.most:,} a day: "
                             f"try again after 00:00 UTC, in {hours} h {minutes} min", seconds)

    @property
    def spent(self) -> int:
        """Today's spending, as far as this process knows."""
        with self._lock:
            day, tokens = self._kept
            return self._counted + (tokens if day == _day(_now()) else 0)

    def read_spending(self) -> None:
        """See `Allowance.read_spending`."""
        day = _day(_now())
        with self._database.reading() as connection:
            tokens = connection.execute(text("SELECT tokens FROM banyan_usage WHERE client = :client AND day = :day"),
                                        {"client": self._client, "day": day}).scalar()
        with self._lock:
            self._kept = day, int(tokens or 0)

    def spend(self, tokens: int) -> None:
        """See `Allowance.spend`."""
        with self._lock:
            self._counted += tokens

    def keep(self, tokens: int) -> None:
        """See `Allowance.keep`."""
        now = _now()
        with self._database.transaction() as connection:
            spent = connection.execute(text(
                "INSERT INTO banyan_usage (client, day, tokens) VALUES (:client, :day, :tokens) "
                "ON CONFLICT (client, day) DO UPDATE SET tokens = banyan_usage.tokens + excluded.tokens "
                "RETURNING tokens"), {"client": self._client, "day": _day(now), "tokens": tokens}).scalar_one()
            if spent == tokens:  # the first entry of the day, so clean up once
                connection.execute(text("DELETE FROM banyan_usage WHERE day < :day"), {"day": _day(now - _KEPT)})
        with self._lock:
            self._kept, self._counted = (_day(now), int(spent)), self._counted - tokens


class Allowances:
    """The allowances of all clients."""

    def __init__(self, database: ServerDatabase, clients: Clients) -> None:
        """Load no client yet."""
        self._database = database
        self._clients = clients
        self._known: LRUCache[str, DailyAllowance] = LRUCache(_CLIENTS)
        self._lock = Lock()

    async def refresh(self) -> None:
        """Read new limits, before work that no request has begun."""
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
            known = self._known.setdefault(client, DailyAllowance(self._database, client, most))
        known.most = most
        return known

    @contextmanager
    def spending(self, client: str) -> Iterator[None]:
        """Attribute the changes in the block to a client, and take its calls from its allowance; "": the current's."""
        with acting(client), charge_calls(allowance=self.of(client)):
            yield


def spent_today(settings: Settings) -> dict[str, int]:
    """Return the tokens that clients have spent today, by their names, as saved in the database.

    Raises:
        DatabaseError: PostgreSQL cannot be reached.
    """
    with closing(ServerDatabase.of(settings)) as database, database.reading() as connection:
        rows = connection.execute(text("SELECT client, tokens FROM banyan_usage WHERE day = :day"),
                                  {"day": _day(_now())}).all()
    return {str(client): int(tokens) for client, tokens in rows}


def _day(moment: datetime) -> str:
    return moment.date().isoformat()
