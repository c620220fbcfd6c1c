"""API keys and their permissions. Only hashes are stored; a key is shown once, when it is created.

They are in a file, or in the PostgreSQL database that servers share: all see keys that any creates or revokes.
"""

import hashlib
import hmac
import logging
import re
import secrets
import time
import weakref
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import text

from ...config import Settings
from ...graph_store.layout import check_name
from ...graph_store.store_errors import DatabaseError
from ...runtime import audit
from ...runtime.safe_files import whole_file
from ...schemas.errors import BanyanError
from ..server_database import ServerDatabase, message_for_log

Scope = Literal["read", "ask", "write", "review", "metrics"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
WORK: tuple[Scope, ...] = ("read", "ask", "write", "review")  # the scopes for work with knowledge bases
KEYS_FILE = "server-keys.json"
READ_EVERY = 1.0  # seconds between two reads of keys in PostgreSQL: a revoked key stops working within this time
_LOG = logging.getLogger("banyan.server")
_NAME = re.compile(rf"^(?!{audit.LOCAL}\Z)[A-Za-z0-9_-]{{1,64}}\Z")  # not the name of the client that needs no key


class Bases(NamedTuple):
    """A set of knowledge bases by name; None means all, including future ones. For a client, others do not exist."""

    names: frozenset[str] | None = None

    def covers(self, name: object) -> bool:
        """Return True if the set contains a knowledge base, or all that are named with commas between."""
        return self.names is None or self.names.issuperset(str(name).split(","))


class Client(NamedTuple):
    """A client and its permissions."""

    name: str  # the key's name, or `oidc|SUBJECT`; no key has a name with a `|`
    scopes: frozenset[str]
    bases: Bases
    requests_per_minute: int | None = None  # None means the default limit of the settings


class KeysError(BanyanError):
    """The keys cannot be read, or a key cannot be created like this."""


class Key(BaseModel):
    """A stored key."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str = Field(pattern=_NAME)
    # A key has 256 random bits, so a slow hash, as for passwords, would only slow requests down.
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    scopes: tuple[Scope, ...]
    knowledge_bases: tuple[str, ...] | None = None  # those that it covers, whether or not they exist; None means all
    requests_per_minute: int | None = Field(default=None, ge=1)  # None means the default limit of the settings
    created_at: str


class _KeyFile(BaseModel, hide_input_in_errors=True):
    keys: tuple[Key, ...] = ()


class Keys:
    """The keys in a file, which is read at each request, so a revoked key stops working at once."""

    def __init__(self, path: Path) -> None:
        """Read nothing yet; the audit log is in the folder of the file."""
        self._path = path
        self._is_needed = False

    @staticmethod
    def of(settings: Settings, database: ServerDatabase | None = None) -> "Keys":
        """Return the keys in the file that the settings name, or else in the PostgreSQL database that servers share."""
        if settings.database is None or settings.server_keys is not None:
            return Keys(settings.server_keys or settings.home / KEYS_FILE)
        keys = SharedKeys(database or ServerDatabase.of(settings), settings.home)
        if database is None:  # it was opened here, so it is closed when the keys are no longer used
            weakref.finalize(keys, keys.database.close)
        return keys

    def all(self) -> tuple[Key, ...]:
        """Return the keys, none if there are none yet; raise KeysError if they cannot be read, or one is not valid."""
        try:
            return _KeyFile.model_validate_json(self._path.read_bytes()).keys
        except FileNotFoundError:
            return ()
        except (OSError, ValidationError) as error:
            raise KeysError(f"the keys in {self._path} cannot be read: fix the file, or make new keys with "
                            "`banyan key`") from error

    def needs_key(self) -> bool:
        """Return True if every request needs a key: from the first key on, even if all were revoked since."""
        self._is_needed = self._is_needed or bool(self.all()) or self._path.exists()
        return self._is_needed

    def find(self, secret: str) -> Key | None:
        """Return the key with this secret, or None; the time taken reveals nothing about the keys."""
        digest = _digest_secret(secret)
        matches = [key for key in self.all() if hmac.compare_digest(key.sha256, digest)]
        return matches[0] if matches else None

    def make(self, name: str, scopes: Sequence[Scope], knowledge_bases: Sequence[str] = (),
             requests_per_minute: int | None = None) -> str:
        """Create a client's key, replacing one of the same name; return its secret, to be shown once.

        It covers the knowledge bases, whether or not they exist; none given means all. Raise KeysError, or
        KnowledgeBaseNameError, for a name that is not allowed.
        """
        bases = tuple(sorted({check_name(base) for base in knowledge_bases})) or None  # None means all
        secret = f"banyan_{secrets.token_urlsafe(32)}"
        try:
            key = Key(name=name, sha256=_digest_secret(secret),
                      scopes=tuple(known for known in SCOPES if known in scopes),
                      knowledge_bases=bases, requests_per_minute=requests_per_minute,
                      created_at=datetime.now(UTC).isoformat(timespec="seconds"))
        except ValidationError as error:
            raise KeysError(f"{name!r} cannot name a key: use 1 to 64 letters from a to z, digits, '-' and '_', and "
                            f"not {audit.LOCAL!r}") from error
        self._store_key(name, key)
        audit.record(self._path.parent, "make key", what=(
            f"{name}: {', '.join(key.scopes)}" + (f" for {', '.join(bases)}" if bases else "")))
        return secret

    def revoke(self, name: str) -> None:
        """Revoke a key; raise KeysError if there is none with that name."""
        if all(key.name != name for key in self.all()):
            raise KeysError(f"there is no key {name!r}; `banyan key` lists them")
        self._store_key(name, None)
        try:
            audit.record(self._path.parent, "revoke key", what=name)
        except OSError as error:  # not raised, because the key is revoked nevertheless
            _LOG.warning("key %s was revoked, but this could not be written to the audit log: %s", name, error)

    def _store_key(self, name: str, new: Key | None) -> None:
        """Store a client's key in place of its earlier one; with None, remove that."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{self._path}.lock"):
            others = [key for key in self.all() if key.name != name]
            data = _KeyFile(keys=(*others, *([new] if new else []))).model_dump_json(indent=2, exclude_none=True)
            try:
                with whole_file(self._path) as whole:
                    whole.write(data.encode())
            except OSError:
                if new is not None:
                    raise
                # A full disk has no room for a second file, and a key must be revocable there too. So the file itself
                # is overwritten. If this is interrupted, the file is invalid, and no request is accepted.
                with self._path.open("r+", encoding="utf-8") as file:
                    file.write(data)
                    file.truncate()


def _digest_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


class SharedKeys(Keys):
    """The keys in a table of PostgreSQL, where a revoked key's name remains, so the server still requires a key."""

    def __init__(self, database: ServerDatabase, home: Path) -> None:
        """Read nothing yet; changes are recorded in the audit log of the home folder."""
        super().__init__(home / KEYS_FILE)  # only its folder is used
        self.database = database
        self._keys: tuple[Key, ...] | None = None  # of the table, as it was last read; None if that failed
        self._tried_at = float("-inf")  # when reading was last tried, by the monotonic clock

    def refresh(self) -> None:
        """Read the keys from the database, unless that was tried within the last `READ_EVERY` seconds."""
        if time.monotonic() < self._tried_at + READ_EVERY:
            return
        self._tried_at = time.monotonic()  # set first, so no other thread reads meanwhile
        try:
            with self.database.reading() as connection:
                records = connection.execute(text("SELECT record FROM banyan_keys ORDER BY name")).scalars().all()
            self._keys = tuple(Key.model_validate_json(record) for record in records if record is not None)
            self._is_needed = self._is_needed or bool(records)
        except (DatabaseError, ValidationError) as error:
            self._keys = None
            self._tried_at = time.monotonic()  # it may have taken long
            _LOG.warning("the keys cannot be read: %s", message_for_log(error))

    def all(self) -> tuple[Key, ...]:
        """Return the keys; raise KeysError if they cannot be read now, or one is not valid."""
        self.refresh()  # a build may need them when no request has come for long
        if self._keys is None:  # the log has the reason
            raise KeysError("the keys in PostgreSQL cannot be read: check the database that BANYAN_DATABASE_URL "
                            "names, or try again")
        return self._keys

    def needs_key(self) -> bool:
        """Return True if every request needs a key, as it does once there has been any key in the table."""
        return bool(self.all()) or self._is_needed

    def _store_key(self, name: str, new: Key | None) -> None:
        """Store a client's key in the table in place of its earlier one; None leaves the name without a record."""
        record = new.model_dump_json(exclude_none=True) if new else None
        with self.database.transaction() as connection:
            connection.execute(text("INSERT INTO banyan_keys (name, record) VALUES (:name, :record) "
                                    "ON CONFLICT (name) DO UPDATE SET record = excluded.record"),
                               {"name": name, "record": record})
        self._tried_at = float("-inf")
        self.refresh()
