"""The keys of servers that share a PostgreSQL database: all servers see keys that any of them creates or revokes."""

import json
import logging
import time
import weakref
from pathlib import Path

from pydantic import ValidationError
from sqlalchemy import text

from ...config import Settings
from ...graph_store.store_errors import DatabaseError
from ..server_database import ServerDatabase
from .keys import KEYS_FILE, Key, Keys, KeysError

_LOG = logging.getLogger("banyan.server")
EVERY = 1.0
"""Seconds between two reads: a revoked key stops working within this time."""
OLDEST = 30.0
"""Seconds for which keys stay valid while PostgreSQL does not answer; after that, no request is accepted."""


class SharedKeys(Keys):
    """The keys in the table. A revoked key's name remains there, so the server still requires a key."""

    def __init__(self, database: ServerDatabase, home: Path) -> None:
        """Read nothing yet; `home` contains the audit log."""
        super().__init__(home / KEYS_FILE)
        self._database = database
        self._known: tuple[Key, ...] | None = None
        self._ever_made = False
        """Whether there has ever been a key."""
        self._read_at = self._looked_at = float("-inf")
        self._failure: Exception | None = None

    @property
    def stale(self) -> bool:
        """See `Keys.stale`."""
        return time.monotonic() >= self._looked_at + EVERY

    def refresh(self) -> None:
        """See `Keys.refresh`. If that fails, the keys stay valid for a limited time."""
        self._looked_at = time.monotonic()  # set first, so no other thread reads meanwhile
        try:
            with self._database.reading() as connection:
                records = connection.execute(text("SELECT record FROM banyan_keys ORDER BY name")).scalars().all()
            self._known = tuple(Key.model_validate_json(record) for record in records if record is not None)
        except (DatabaseError, ValidationError) as error:
            self._failure = error
            _LOG.warning("the keys cannot be read: %s", getattr(error, "here", error))
        else:
            self._ever_made, self._read_at = bool(records), self._looked_at

    def all(self) -> tuple[Key, ...]:
        """See `Keys.all`.

        Raises:
            KeysError: the keys cannot be read, or could not be read for too long.
        """
        if self._known is None:
            self.refresh()
        if self._known is None or time.monotonic() > self._read_at + OLDEST:
            raise KeysError("the keys in PostgreSQL cannot be read: check the database that BANYAN_DATABASE_URL "
                            "names, or try again") from self._failure
        return self._known

    def needs_key(self) -> bool:
        """See `Keys.needs_key`."""
        self._needed = self._needed or bool(self.all()) or self._ever_made
        return self._needed

    def _change(self, name: str, key: Key | None) -> None:
        record = None if key is None else json.dumps(key.model_dump(mode="json", exclude_none=True))
        with self._database.transaction() as connection:
            connection.execute(text("INSERT INTO banyan_keys (name, record) VALUES (:name, :record) "
                                    "ON CONFLICT (name) DO UPDATE SET record = excluded.record"),
                               {"name": name, "record": record})
        self.refresh()


def shared_keys(settings: Settings, database: ServerDatabase | None) -> SharedKeys:
    """Return the keys in the server's database, which is opened for them if it is not open yet.

    Raises:
        DatabaseError: PostgreSQL cannot be reached.
    """
    if database is not None:
        return SharedKeys(database, settings.home)
    own = ServerDatabase.of(settings)
    keys = SharedKeys(own, settings.home)
    weakref.finalize(keys, own.close)
    return keys
