"""Identification of clients by a key, or by a token of the issuer in the settings."""

import anyio.to_thread

from ...config import Settings
from ..server_database import ServerDatabase
from .keys import Client, Keys
from .oidc import SUBJECT, Tokens


class Clients:
    """All known clients."""

    def __init__(self, settings: Settings, database: ServerDatabase | None = None) -> None:
        """Know the clients with a key, and an issuer's, if there is one; `database` is the server's, if it is open."""
        self.keys = Keys.of(settings, database)
        self._tokens = Tokens(settings) if settings.oidc_issuer else None
        self._tokens_per_day = settings.oidc_tokens_per_day

    async def refresh(self) -> None:
        """Read new and revoked keys; called before each request."""
        if self.keys.stale:
            await anyio.to_thread.run_sync(self.keys.refresh)

    def needs_key(self) -> bool:
        """Return True if every request needs a key or a token.

        Raises:
            KeysError: the file of keys cannot be read.
        """
        return self._tokens is not None or self.keys.needs_key()

    def tokens_per_day(self, client: str) -> int | None:
        """Return a client's daily limit of tokens; None means no limit.

        Args:
            client: the client's name.

        Raises:
            KeysError: the keys cannot be read.
        """
        if client.startswith(SUBJECT):
            return self._tokens_per_day
        return next((key.tokens_per_day for key in self.keys.all() if key.name == client), None)

    async def find(self, secret: str) -> Client | None:
        """Return the client of a key or token; None if it is not a key and tokens are not accepted.

        Raises:
            TokenError: the token is not accepted; the message says why.
            IssuerError: the token cannot be checked now.
            KeysError: the file of keys cannot be read.
        """
        key = self.keys.find(secret)
        if key is not None:
            return Client(key.name, frozenset(key.scopes), key.bases, key.requests_per_minute)
        # A token has three parts. Anything else was meant as a key, so an error about tokens would confuse.
        if self._tokens is None or secret.count(".") != 2:  # noqa: PLR2004
            return None
        return await self._tokens.check(secret)
