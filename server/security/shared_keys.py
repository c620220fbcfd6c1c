"""The keys of servers that share a PostgreSQL database: whichever machine makes or revokes one, all know it."""

import json
import logging
import time
import weakref
from pathlib import Path

from pydantic import ValidationError
from sqlalchemy import text

from ...config import Settings
from ...graph_store.errors import DatabaseError
from ..database import ServerDatabase
from .keys import KEYS_FILE, Key, Keys, KeysError

_LOG = logging.getLogger("banyan.server")
EVERY = 1.0
"""Seconds between two looks: a revoked key ends within them."""
OLDEST = 30.0
"""Seconds for which keys count that were read while PostgreSQL answered; then nobody is let in until it does."""


class SharedKeys(Keys):
    """The keys of the table; a revoked one leaves its name there, so that the server stays closed."""

    def __init__(self, database: ServerDatabase, home: Path) -> None:
        """Read nothing yet; `home` has the audit log."""
        super().__init__(home / KEYS_FILE)
        self._database = database
        self._known: tuple[Key, ...] | None = None
        self._named = False
        """Whether there was ever a key."""
        self._read_at = self._looked_at = float("-inf")
        self._failure: Exception | None = None

    @property
    def stale(self) -> bool:
        """See `Keys.stale`."""
        return time.monotonic() >= self._looked_at + EVERY

    def refresh(self) -> None:
        """See `Keys.refresh`. If that fails, keys that are not too old go on to count."""
        self._looked_at = time.monotonic()  # first: nobody else needs to look meanwhile
        try:
            with self._database.reading() as connection:
                records = connection.execute(text("SELECT record FROM banyan_keys ORDER BY name")).scalars().all()
            self._known = tuple(Key.model_validate_json(record) for record in records if record is not None)
        except (DatabaseError, ValidationError) as error:
            self._failure = error
            _LOG.warning("the keys cannot be read: %s", getattr(error, "here", error))
        else:
            self._named, self._read_at = bool(records), self._looked_at

    def all(self) -> tuple[Key, ...]:
        """See `Keys.all`.

        Raises:
            KeysError: they cannot be read, or could not for too long.
        """
        if self._known is None:
            self.refresh()
        if self._known is None or time.monotonic() > self._read_at + OLDEST:
            raise KeysError("the keys in PostgreSQL cannot be read: see to the database that BANYAN_DATABASE_URL "
                            "names, or try again") from self._failure
        return self._known

    def needed(self) -> bool:
        """See `Keys.needed`."""
        self._needed = self._needed or bool(self.all()) or self._named
        return self._needed

    def _change(self, name: str, key: Key | None) -> None:
        record = None if key is None else json.dumps(key.model_dump(mode="json", exclude_none=True))
        with self._database.transaction() as connection:
            connection.execute(text("INSERT INTO banyan_keys (name, record) VALUES (:name, :record) "
                                    "ON CONFLICT (name) DO UPDATE SET record = excluded.record"),
                               {"name": name, "record": record})
        self.refresh()


def shared_keys(settings: Settings, database: ServerDatabase | None) -> SharedKeys:
    """The keys in the server's database, which is opened for them where it is not open.

    Raises:
        DatabaseError: PostgreSQL cannot be reached.
    """
    if database is not None:
        return SharedKeys(database, settings.home)
    own = ServerDatabase.of(settings)
    keys = SharedKeys(own, settings.home)
    weakref.finalize(keys, own.close)
    return keys
