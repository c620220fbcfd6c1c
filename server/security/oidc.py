"""Bearer tokens of an OpenID Connect issuer, checked with the keys that it publishes (RFC 7519; RFC 8725).

Only what the settings name is asked, whatever a token says: the issuer's discovery document, and the address of keys
in it. Both are read by https, or from this machine.
"""

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
from joserfc.errors import ExpiredTokenError, InvalidClaimError, InvalidKeyIdError, JoseError, MissingClaimError
from joserfc.jwk import JWKRegistry, Key, KeySet
from joserfc.jws import JWSRegistry
from joserfc.jwt import Claims, JWTClaimsRegistry, decode

from ...config import Settings
from ...schemas.issuer_url import is_trustworthy
from ...text.cleaning import clean_text
from ..errors import UnauthorizedError, UnavailableError
from .bases import NONE, Bases
from .keys import SCOPES

_LOG = logging.getLogger("banyan.server")
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519")
"""Asymmetric ones alone: with any other, whoever may check a token could make one."""
LEEWAY = 30
"""Seconds that the clocks of issuer and server may differ by."""
KEPT = 3_600.0
"""Seconds after which the issuer's keys are read again, so that one that it took back ends."""
BETWEEN = 10.0
"""Seconds between two looks at the issuer's keys, however many tokens name a key that is not known."""
_WITHIN = 5.0
"""Seconds that the issuer has for one answer."""
_MOST_BYTES = 1_000_000
_MOST_SUBJECT = 255
SUBJECT = "oidc|"
"""What the names of tokens' holders begin with; no key has such a name."""
_ALL = "*"


class TokenError(UnauthorizedError):
    """A token that does not count."""

    headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}  # noqa: RUF012


class IssuerError(UnavailableError):
    """The issuer's keys cannot be read."""


class Granted(NamedTuple):
    """What a token says of its holder."""

    name: str
    scopes: frozenset[str]
    bases: Bases


class Tokens:
    """Checks tokens. Used on one event loop; keys are read in a thread, one look at a time."""

    def __init__(self, settings: Settings) -> None:
        """Nothing is read yet; the settings name an issuer and an audience."""
        self._settings = settings
        self._claims = JWTClaimsRegistry(
            leeway=LEEWAY, iss={"essential": True, "value": settings.oidc_issuer},
            aud={"essential": True, "value": settings.oidc_audience}, exp={"essential": True}, sub={"essential": True})
        self._registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        self._keys: KeySet | None = None
        self._read_at = self._looked_at = float("-inf")
        self._failure = ""
        self._lock = asyncio.Lock()

    async def check(self, token: str) -> Granted:
        """What a token grants.

        Raises:
            TokenError: it does not count: it is expired, for others, of somebody else, or signed by nobody known.
            IssuerError: the issuer's keys cannot be read.
        """
        try:
            claims = await self._verified(token)
            self._claims.validate(claims)
        except ExpiredTokenError:
            raise TokenError("the token has expired: get another one") from None
        except (InvalidClaimError, MissingClaimError) as error:
            raise TokenError(f"the token is not for this server, or not valid now: look at {error.description}"
                             ) from None
        except (JoseError, ValueError):  # of joserfc's parts, what is wrong with a token may be either
            raise TokenError("the token cannot be checked: it is malformed, or signed by none of the issuer's keys "
                             f"with one of {', '.join(ALGORITHMS)}") from None
        return self._granted(claims)

    async def _verified(self, token: str) -> Claims:
        """The claims of a token whose signature is the issuer's."""
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
        """The issuer's keys, read again unless somebody did meanwhile, or a moment ago."""
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

    def _granted(self, claims: Claims) -> Granted:
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
        # Names stand in lines of logs, and before a colon (langgraph_auth.py).
        return Granted(SUBJECT + quote(subject, safe="@|"), frozenset(SCOPES) & scopes, bases)


def _values(claims: Mapping[str, Any], name: str) -> frozenset[str]:
    """The values of a claim: a list of texts, or one text with spaces between them. None: there is no such claim.

    Args:
        claims: of a token.
        name: the claim's, or of one in others, with dots between: `realm_access.roles`.
    """
    found: Any = claims
    for part in [name] if name in claims else name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    values = found.split() if isinstance(found, str) else found if isinstance(found, list) else []
    return frozenset(value for value in values if isinstance(value, str))


def _keys_of(issuer: str) -> KeySet:
    """The keys that an issuer publishes.

    Raises:
        httpx.HTTPError, ValueError, JoseError: they cannot be read.
    """
    # The address is the issuer's own, without another slash (OpenID Connect Discovery 1.0, section 4).
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
    """A published key, if it is of a known kind: others are left to whom they are for (RFC 7517, section 5)."""
    try:
        return JWKRegistry.import_key(data)
    except (JoseError, ValueError, TypeError, KeyError):
        return None


def read_json(url: str) -> dict[str, Any]:
    """A JSON object at an address: as it is there, within some size and time.

    Raises:
        httpx.HTTPError: it cannot be read.
        ValueError: it is none, too large, or came too slowly.
    """
    deadline, data = time.monotonic() + _WITHIN, b""
    with httpx.Client(timeout=_WITHIN) as client, client.stream("GET", url) as response:
        if response.status_code != httpx.codes.OK:  # a redirect may lead anywhere
            raise ValueError(f"{url} answers with the status {response.status_code}")
        for part in response.iter_bytes():
            data += part
            if len(data) > _MOST_BYTES or time.monotonic() > deadline:
                raise ValueError(f"what {url} answers is too large, or comes too slowly")
    found = json.loads(data)
    if not isinstance(found, dict):
        raise ValueError(f"what {url} answers is no JSON object")  # noqa: TRY004  (of data, not of a caller)
    return found
