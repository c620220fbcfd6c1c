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
from .keys import SCOPES, Bases, Client, Keys

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
LOCAL = "local"
"""The client if no keys are set: anybody on this machine."""
SUBJECT = "oidc|"
"""The prefix of the names of clients with tokens; no key has such a name."""
_ALL_BASES = "*"


class TokenError(UnauthorizedError):
    """The token is not accepted."""

    headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}  # noqa: RUF012


class IssuerError(UnavailableError):
    """The issuer's keys cannot be read."""


class Tokens:
    """Verifies tokens on one event loop; the issuer's keys are read in a thread, once at a time."""

    def __init__(self, settings: Settings) -> None:
        """Prepare to verify tokens of the issuer in the settings for the audience there; no keys are read yet."""
        self._settings = settings
        self._claims = JWTClaimsRegistry(
            leeway=LEEWAY, iss={"essential": True, "value": settings.oidc_issuer},
            aud={"essential": True, "value": settings.oidc_audience}, exp={"essential": True}, sub={"essential": True})
        self._registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        self._keys: KeySet | None = None
        # When the issuer's keys were last read, and when reading them was last tried, by the monotonic clock.
        self._read_at = self._tried_at = float("-inf")
        self._failure = ""  # the type of the error, if the last try failed
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
        """Return a token's claims after checking that one of the issuer's keys has signed it."""
        keys = await self._current_keys()
        try:
            return decode(token, keys, registry=self._registry).claims
        except InvalidKeyIdError:
            newer_keys = await self._read_newer_keys(keys)
            return decode(token, newer_keys, registry=self._registry).claims

    async def _current_keys(self) -> KeySet:
        """Return the issuer's keys, read again if they are older than `KEPT` seconds."""
        if self._keys is not None and time.monotonic() < self._read_at + KEPT:
            return self._keys
        return await self._read_newer_keys(self._keys)

    async def _read_newer_keys(self, known: KeySet | None) -> KeySet:
        """Read the issuer's keys again, and return them; `known` are the keys that were not good enough."""
        async with self._lock:
            if self._keys is known and time.monotonic() >= self._tried_at + BETWEEN:
                await self._read_keys()
            if self._keys is None or time.monotonic() >= self._read_at + KEPT:
                raise IssuerError("tokens cannot be checked now, because their issuer's keys cannot be read "
                                  f"({self._failure}): try again, or use a key")
            return self._keys

    async def _read_keys(self) -> None:
        """Read the issuer's keys; if that fails, keep the previous ones, and log why."""
        try:
            self._keys = await asyncio.to_thread(_keys_of, self._settings.oidc_issuer)
            self._read_at, self._failure = time.monotonic(), ""
        except (httpx.HTTPError, JoseError, ValueError) as error:
            self._failure = type(error).__name__
            _LOG.warning("the keys of the issuer %s cannot be read: %s: %s", self._settings.oidc_issuer,
                         self._failure, error)
        finally:
            self._tried_at = time.monotonic()

    def _grant(self, claims: Claims) -> Client:
        """Return the client that a token's claims describe: its name, scopes and knowledge bases."""
        settings, subject = self._settings, claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= _MOST_SUBJECT or clean_text(subject) != subject:
            raise TokenError(f"the token's subject has not 1 to {_MOST_SUBJECT} letters, all of valid Unicode")
        prefix = settings.oidc_scope_prefix
        scopes = {value.removeprefix(prefix) for value in _values(claims, settings.oidc_scopes_claim)
                  if value.startswith(prefix)}
        bases = Bases()  # all knowledge bases
        if settings.oidc_bases_claim:
            names = _values(claims, settings.oidc_bases_claim)
            if _ALL_BASES not in names:
                bases = Bases(names)
        # The subject is quoted because a client's name must not break a log line, nor contain a colon, which separates
        # it from knowledge bases in langgraph_auth.py.
        return Client(SUBJECT + quote(subject, safe="@|"), frozenset(SCOPES) & scopes, bases)


def _values(claims: Mapping[str, Any], name: str) -> frozenset[str]:
    """Return the values of a token's claim; empty if the token does not have the claim."""
    claim: Any = claims
    for part in [name] if name in claims else name.split("."):
        claim = claim.get(part) if isinstance(claim, dict) else None
    values = claim.split() if isinstance(claim, str) else claim
    return frozenset(value for value in values if isinstance(value, str)) if isinstance(values, list) else frozenset()


def _keys_of(issuer: str) -> KeySet:
    """Read the published keys of an issuer, whose address is in its discovery document."""
    # The path is appended to the issuer's address without a second slash (OpenID Connect Discovery 1.0, section 4).
    document = read_json(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if document.get("issuer") != issuer:
        raise ValueError(f"the discovery document is that of the issuer {str(document.get('issuer'))[:200]!r}")
    address = str(document.get("jwks_uri"))
    if not is_trustworthy(address):
        raise ValueError(f"the address of the keys, {address[:200]!r}, is neither https nor on this machine")
    published = read_json(address).get("keys")
    imported = map(_import_key, published if isinstance(published, list) else ())
    keys = [key for key in imported if key is not None]
    if not keys:
        raise ValueError(f"there is no key at {address[:200]!r} that a signature can be checked with")
    return KeySet(keys)


def _import_key(data: Any) -> Key | None:
    """Return a published key; None for one of an unknown kind, which is to be ignored (RFC 7517, section 5)."""
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
        if response.status_code != httpx.codes.OK:  # redirects are not followed, because they may lead anywhere
            raise ValueError(f"{url} answers with the status {response.status_code}")
        for part in response.iter_bytes():
            data += part
            if len(data) > _MOST_BYTES or time.monotonic() > deadline:
                raise ValueError(f"the response of {url} is too large, or arrives too slowly")
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError(f"the response of {url} is not a JSON object")  # noqa: TRY004  (data is wrong, not a caller)
    return value


class Clients:
    """The clients that may use the server: those with a key, and those with a token if the settings name an issuer."""

    def __init__(self, settings: Settings, database: ServerDatabase | None = None) -> None:
        """Take keys and issuer from the settings; without an open `database`, open it if the keys are in it."""
        self.keys = Keys.of(settings, database)
        self._tokens = Tokens(settings) if settings.oidc_issuer else None

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

    async def find(self, secret: str) -> Client | None:
        """Return the client that a key or token belongs to.

        Return None if no key is equal to the secret and it cannot be a token, or no issuer is set.

        Raises:
            TokenError: the token is not accepted; the message says why.
            IssuerError: the token cannot be checked now.
            KeysError: the file of keys cannot be read.
        """
        key = self.keys.find(secret)
        if key is not None:
            return Client(key.name, frozenset(key.scopes), key.bases, key.requests_per_minute)
        # A token has three parts, separated by dots. A client that sends anything else means a key, and would not
        # understand an error about tokens.
        if self._tokens is None or secret.count(".") != 2:  # noqa: PLR2004
            return None
        return await self._tokens.check(secret)
