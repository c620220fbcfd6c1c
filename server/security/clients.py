"""Who sends a request: whoever holds a key, or a token of the issuer that the settings name."""

from typing import NamedTuple

import anyio.to_thread

from ...config import Settings
from ..database import ServerDatabase
from .bases import Bases
from .keys import Keys
from .oidc import SUBJECT, Tokens


class Client(NamedTuple):
    """A client, and what it may do."""

    name: str
    """Of its key, or `oidc|SUBJECT`; no key has a name with a `|`."""
    scopes: frozenset[str]
    bases: Bases
    requests_per_minute: int | None = None
    """None: as many as the settings let any client send."""


class Clients:
    """All who are known."""

    def __init__(self, keys: Keys, tokens: Tokens | None = None, tokens_per_day: int | None = None) -> None:
        """Those of some keys, and of an issuer's tokens, if there is one.

        Args:
            keys: theirs.
            tokens: the issuer's.
            tokens_per_day: what each of the latter may spend; none: any amount.
        """
        self.keys = keys
        self._tokens = tokens
        self._tokens_per_day = tokens_per_day

    @classmethod
    def of(cls, settings: Settings, database: ServerDatabase | None = None) -> "Clients":
        """Those that the settings name; `database` is the server's, where it is open."""
        tokens = Tokens(settings) if settings.oidc_issuer else None
        return cls(Keys.of(settings, database), tokens, settings.oidc_tokens_per_day)

    async def refresh(self) -> None:
        """Be told of new keys, and of those that were revoked; called before each request."""
        if self.keys.stale:
            await anyio.to_thread.run_sync(self.keys.refresh)

    def needed(self) -> bool:
        """Whether nobody is answered without a key or a token.

        Raises:
            KeysError: the file of keys cannot be read.
        """
        return self._tokens is not None or self.keys.needed()

    def tokens_per_day(self, client: str) -> int | None:
        """What a client may spend in a day; None: any amount.

        Args:
            client: its name.

        Raises:
            KeysError: the keys cannot be read.
        """
        if client.startswith(SUBJECT):
            return self._tokens_per_day
        return next((key.tokens_per_day for key in self.keys.all() if key.name == client), None)

    async def find(self, secret: str) -> Client | None:
        """Whose key or token it is; None: it is no key, and no token is accepted.

        Raises:
            TokenError: it is a token that does not count; says why.
            IssuerError: whether it counts cannot be found out now.
            KeysError: the file of keys cannot be read.
        """
        key = self.keys.find(secret)
        if key is not None:
            return Client(key.name, frozenset(key.scopes), key.bases, key.requests_per_minute)
        # A token has three parts; an error of one that was meant as a key would only confuse.
        if self._tokens is None or secret.count(".") != 2:  # noqa: PLR2004
            return None
        granted = await self._tokens.check(secret)
        return Client(granted.name, granted.scopes, granted.bases)
