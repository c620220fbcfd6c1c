"""Identification of clients by a key, or by a token of the issuer in the settings."""

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import anyio.to_thread
import httpx
from joserfc.errors import ExpiredTokenError, InvalidClaimError, InvalidKeyIdError, JoseError, MissingClaimError
from joserfc.jwk import JWKRegistry, Key, KeySet
from joserfc.jws import JWSRegistry
from joserfc.jwt import Claims, JWTClaimsRegistry, decode

from ...config import Settings
from ...schemas.services import is_trustworthy
from ...text.cleaning import clean_text
from ..error_responses import UnauthorizedError, UnavailableError
from ..server_database import ServerDatabase
from .keys import NONE, SCOPES, Bases, Client, Keys

_LOG = logging.getLogger("banyan.server")
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519")
"""Asymmetric algorithms only: with a symmetric one, everyone who can verify a token could also create one."""
LEEWAY = 30
"""Seconds by which the clocks of issuer and server may differ."""
KEPT = 3_600.0
"""Seconds after which the issuer's keys are read again, so a withdrawn key expires."""
BETWEEN = 10.0
"""Seconds between two reads of the issuer's keys, however many tokens name an unknown key."""
_WITHIN = 5.0
"""Seconds that the issuer has for one response."""
_MOST_BYTES = 1_000_000
_MOST_SUBJECT = 255
SUBJECT = "oidc|"
"""The prefix of the names of clients with tokens; no key has such a name."""
_ALL = "*"


class TokenError(UnauthorizedError):
    """The token is not accepted."""

    headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}  # noqa: RUF012


class IssuerError(UnavailableError):
    """The issuer's keys cannot be read."""


class Tokens:
    """Verifies tokens on one event loop; the issuer's keys are read in a thread, once at a time."""

    def __init__(self, settings: Settings) -> None:
        """Take issuer and audience from the settings; nothing is read yet."""
        self._settings = settings
        self._claims = JWTClaimsRegistry(
            leeway=LEEWAY, iss={"essential": True, "value": settings.oidc_issuer},
            aud={"essential": True, "value": settings.oidc_audience}, exp={"essential": True}, sub={"essential": True})
        self._registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        self._keys: KeySet | None = None
        self._read_at = self._looked_at = float("-inf")
        self._failure = ""
        self._lock = asyncio.Lock()

    async def check(self, token: str) -> Client:
        """Verify a token, and return what it grants.

        Raises:
            TokenError: it is expired, for another audience, from another issuer, or not signed with a known key.
            IssuerError: the issuer's keys cannot be read.
        """
        try:
            claims = await self._verify(token)
            self._claims.validate(claims)
        except ExpiredTokenError:
            raise TokenError("the token has expired: get another one") from None
        except (InvalidClaimError, MissingClaimError) as error:
            raise TokenError(f"the token is not for this server, or not valid now: check {error.description}"
                             ) from None
        except (JoseError, ValueError):  # joserfc raises either for a malformed token
            raise TokenError("the token cannot be checked: it is malformed, or signed by none of the issuer's keys "
                             f"with one of {', '.join(ALGORITHMS)}") from None
        return self._grant(claims)

    async def _verify(self, token: str) -> Claims:
        """Return the claims of a token with a signature of the issuer."""
        fresh = await self._current()
        try:
            return decode(token, fresh, registry=self._registry).claims
        except InvalidKeyIdError:  # the issuer may have a new key
            newer = await self._newer_than(fresh)
            return decode(token, newer, registry=self._registry).claims

    async def _current(self) -> KeySet:
        if self._keys is not None and time.monotonic() < self._read_at + KEPT:
            return self._keys
        return await self._newer_than(self._keys)

    async def _newer_than(self, known: KeySet | None) -> KeySet:
        """Read the issuer's keys again, unless another task did so meanwhile, or a moment ago."""
        async with self._lock:
            if self._keys is known and time.monotonic() >= self._looked_at + BETWEEN:
                await self._look()
            if self._keys is None or time.monotonic() >= self._read_at + KEPT:
                raise IssuerError("tokens cannot be checked now, because their issuer's keys cannot be read "
                                  f"({self._failure}): try again, or use a key")
            return self._keys

    async def _look(self) -> None:
        try:
            self._keys = await asyncio.to_thread(_keys_of, self._settings.oidc_issuer)
            self._read_at, self._failure = time.monotonic(), ""
        except (httpx.HTTPError, JoseError, ValueError) as error:
            self._failure = type(error).__name__
            _LOG.warning("the keys of the issuer %s cannot be read: %s: %s", self._settings.oidc_issuer,
                         self._failure, error)
        finally:
            self._looked_at = time.monotonic()

    def _grant(self, claims: Claims) -> Client:
        settings, subject = self._settings, claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= _MOST_SUBJECT or clean_text(subject) != subject:
            raise TokenError(f"the token's subject has not 1 to {_MOST_SUBJECT} letters, all of valid Unicode")
        prefix = settings.oidc_scope_prefix
        scopes = {value.removeprefix(prefix) for value in _values(claims, settings.oidc_scopes_claim)
                  if value.startswith(prefix)}
        bases = Bases()
        if settings.oidc_bases_claim:
            names = _values(claims, settings.oidc_bases_claim)
            bases = Bases() if _ALL in names else Bases(frozenset(names)) if names else NONE
        # Names appear in log lines, and before a colon (langgraph_auth.py).
        return Client(SUBJECT + quote(subject, safe="@|"), frozenset(SCOPES) & scopes, bases)


def _values(claims: Mapping[str, Any], name: str) -> frozenset[str]:
    """Return the values of a claim: a list of texts, or one text with spaces between values; empty if missing.

    Args:
        claims: the claims of a token.
        name: the claim's name, or a path of nested claims with dots between: `realm_access.roles`.
    """
    found: Any = claims
    for part in [name] if name in claims else name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    values = found.split() if isinstance(found, str) else found if isinstance(found, list) else []
    return frozenset(value for value in values if isinstance(value, str))


def _keys_of(issuer: str) -> KeySet:
    """Read the published keys of an issuer.

    Raises:
        httpx.HTTPError, ValueError, JoseError: they cannot be read.
    """
    # The address must be the issuer's, without an extra slash (OpenID Connect Discovery 1.0, section 4).
    about = read_json(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if about.get("issuer") != issuer:
        raise ValueError(f"the discovery document is that of the issuer {str(about.get('issuer'))[:200]!r}")
    address = str(about.get("jwks_uri"))
    if not is_trustworthy(address):
        raise ValueError(f"the address of the keys, {address[:200]!r}, is neither https nor on this machine")
    given = read_json(address).get("keys")
    keys = [key for data in (given if isinstance(given, list) else ()) if (key := _usable(data)) is not None]
    if not keys:
        raise ValueError(f"there is no key at {address[:200]!r} that a signature can be checked with")
    return KeySet(keys)


def _usable(data: Any) -> Key | None:
    """Import a published key, or return None for unknown kinds, which are to be ignored (RFC 7517, section 5)."""
    try:
        return JWKRegistry.import_key(data)
    except (JoseError, ValueError, TypeError, KeyError):
        return None


def read_json(url: str) -> dict[str, Any]:
    """Read a JSON object from an address, within a limit of size and time.

    Raises:
        httpx.HTTPError: it cannot be read.
        ValueError: it is not a JSON object, is too large, or arrives too slowly.
    """
    deadline, data = time.monotonic() + _WITHIN, b""
    with httpx.Client(timeout=_WITHIN) as client, client.stream("GET", url) as response:
        if response.status_code != httpx.codes.OK:  # a redirect may lead anywhere
            raise ValueError(f"{url} answers with the status {response.status_code}")
        for part in response.iter_bytes():
            data += part
            if len(data) > _MOST_BYTES or time.monotonic() > deadline:
                raise ValueError(f"the response of {url} is too large, or arrives too slowly")
    found = json.loads(data)
    if not isinstance(found, dict):
        raise ValueError(f"the response of {url} is not a JSON object")  # noqa: TRY004  (of data, not of a caller)
    return found


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
