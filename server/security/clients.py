"""Clients, by a key or by a token of the issuer in the settings, and their permissions, which each route checks."""

import logging
import time
from collections.abc import Mapping
from typing import Annotated, Any, cast
from urllib.parse import quote

import anyio.to_thread
import httpx
import jwt
from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPBearer, SecurityScopes

from ...config import Settings
from ...graph_store.store_errors import UnknownKnowledgeBaseError
from ...runtime.audit import LOCAL
from ...schemas.services import is_trustworthy
from ...text.cleaning import clean_text
from ..responses import ForbiddenError, UnauthorizedError, UnavailableError
from ..server_database import ServerDatabase
from .keys import SCOPES, Bases, Client, Keys, SharedKeys

_LOG = logging.getLogger("banyan.server")
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Asymmetric algorithms only: with a symmetric one, everyone who can verify a token could also create one."""
LEEWAY = 30  # seconds by which the clocks of issuer and server may differ
KEYS_LIFESPAN = 3_600.0  # seconds after which the issuer's keys are read again, so a withdrawn key expires
COOLDOWN = 10.0  # seconds between two reads of the issuer's keys, however many tokens name an unknown key
_WITHIN = 5.0  # seconds that the issuer has for one response
_MOST_SUBJECT = 255  # letters of a token's subject, the most that OpenID Connect Core 1.0 allows
SUBJECT = "oidc|"  # the prefix of the names of clients with tokens; no key has such a name
_ALL_BASES = "*"  # what a token's claim of knowledge bases says to cover all


class TokenError(UnauthorizedError):
    """The token is not accepted."""

    headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}  # noqa: RUF012


class IssuerError(UnavailableError):
    """The issuer's keys cannot be read."""


class _IssuerKeys(jwt.PyJWKClient):
    """The published keys of an issuer, whose address is in its discovery document."""

    def __init__(self, issuer: str) -> None:
        super().__init__(issuer, lifespan=KEYS_LIFESPAN, timeout=_WITHIN, cooldown_duration=COOLDOWN)
        self._issuer = issuer
        self._failed_at = float("-inf")

    def fetch_data(self) -> Any:
        """Read the keys; fails at once if reading them has failed within the last `COOLDOWN` seconds."""
        if time.monotonic() < self._failed_at + COOLDOWN:
            raise IssuerError("tokens cannot be checked now: try again, or use a key")
        try:
            # One slash: OpenID Connect Discovery 1.0, section 4. Redirects are not followed: they may lead anywhere.
            response = httpx.get(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration", timeout=_WITHIN)
            document = response.raise_for_status().json()
            self.uri = str(document["jwks_uri"])
            if document["issuer"] != self._issuer or not is_trustworthy(self.uri):
                raise ValueError(  # noqa: TRY301  (handled as what is no JSON)
                    f"its discovery document is another issuer's, or the keys' address {self.uri[:200]!r} "
                    "is neither https nor on this machine")
            return super().fetch_data()
        except (httpx.HTTPError, jwt.PyJWTError, OSError, ValueError, LookupError, TypeError) as error:
            self._failed_at = time.monotonic()
            _LOG.warning("the keys of the issuer %s cannot be read: %s: %s", self._issuer, type(error).__name__, error)
            raise IssuerError("tokens cannot be checked now, because their issuer's keys cannot be read "
                              f"({type(error).__name__}): try again, or use a key") from None


class Tokens:
    """Verifies tokens of the issuer in the settings; its keys are read in a thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._keys = _IssuerKeys(settings.oidc_issuer)
        # One thread is enough, because the keys are read once at a time. Others stay free if the issuer is slow.
        self._thread = anyio.CapacityLimiter(1)

    async def check(self, token: str) -> Client:
        """Verify a token, and return what it grants; raise TokenError, or IssuerError if its keys cannot be read."""
        claims = await anyio.to_thread.run_sync(self._verify, token, limiter=self._thread)
        settings, subject = self._settings, claims["sub"]
        # Characters that `clean_text` removes cannot be stored.
        if not 0 < len(subject) <= _MOST_SUBJECT or clean_text(subject) != subject:
            raise TokenError(f"the token's subject has not 1 to {_MOST_SUBJECT} letters, all of valid Unicode: have "
                             "the issuer change it")
        prefix = settings.oidc_scope_prefix
        scopes = {value.removeprefix(prefix) for value in _values_of(claims, settings.oidc_scopes_claim)
                  if value.startswith(prefix)}
        names = _values_of(claims, settings.oidc_bases_claim) if settings.oidc_bases_claim else {_ALL_BASES}
        bases = Bases() if _ALL_BASES in names else Bases(frozenset(names))
        # Quoted, so it breaks no log line, and has no colon, which separates the bases in hosted.py.
        return Client(SUBJECT + quote(subject, safe="@|"), frozenset(SCOPES) & scopes, bases)

    def _verify(self, token: str) -> dict[str, Any]:
        """Return the claims of a token; raise TokenError if it is not valid for this server now."""
        settings = self._settings
        try:
            return jwt.decode(token, self._keys.get_signing_key_from_jwt(token), ALGORITHMS, leeway=LEEWAY,
                              issuer=settings.oidc_issuer, audience=settings.oidc_audience,
                              options={"require": ["exp", "iss", "aud", "sub"]})
        except jwt.PyJWTError as error:
            raise TokenError(f"the token is not accepted ({error}): get another one") from None


def _values_of(claims: Mapping[str, Any], name: str) -> frozenset[str]:
    """Return the values of a claim that is a list or a text of words; dots in its name lead into nested claims."""
    claim: Any = claims
    path = [name] if name in claims else name.split(".")  # a claim's own name may have dots, such as an address
    for part in path:
        claim = claim.get(part) if isinstance(claim, dict) else None
    if isinstance(claim, str):
        claim = claim.split()
    return frozenset(value for value in claim if isinstance(value, str)) if isinstance(claim, list) else frozenset()


class Clients:
    """The clients that may use the server: those with a key, and those with a token if the settings name an issuer."""

    def __init__(self, settings: Settings, database: ServerDatabase | None = None) -> None:
        """Take keys and issuer from the settings; without an open `database`, open it if the keys are in it."""
        self.keys = Keys.of(settings, database)
        self._tokens = Tokens(settings) if settings.oidc_issuer else None

    async def refresh(self) -> None:
        """Read new and revoked keys from PostgreSQL; called before each request. Those of a file are always new."""
        if isinstance(self.keys, SharedKeys):
            await anyio.to_thread.run_sync(self.keys.refresh)

    def needs_key(self) -> bool:
        """Return True if every request needs a key or a token; raise KeysError if the keys cannot be read."""
        return self._tokens is not None or self.keys.needs_key()

    async def find(self, secret: str) -> Client:
        """Return the client of a key or token; raise UnauthorizedError, IssuerError or KeysError if it cannot."""
        key = self.keys.find(secret)
        if key is not None:
            bases = Bases(None if key.knowledge_bases is None else frozenset(key.knowledge_bases))
            return Client(key.name, frozenset(key.scopes), bases, key.requests_per_minute)
        is_token = secret.count(".") == 2  # noqa: PLR2004  (dots; anything else means a key, and is answered so)
        if self._tokens is None or not is_token:
            raise UnauthorizedError("an API key is needed: send it as `Authorization: Bearer KEY` or `X-API-Key`")
        return await self._tokens.check(secret)

    async def check_not_revoked(self, client: str) -> None:
        """Raise ForbiddenError if a client's key was revoked since the client queued a build."""
        await self.refresh()
        has_key = client not in {"", LOCAL} and not client.startswith(SUBJECT)  # a client with a token has no key
        if has_key and client not in {key.name for key in self.keys.all()}:
            raise ForbiddenError(f"the key {client!r}, which started this build, was revoked: start the build again "
                                 "with another key")


# The gate reads the key. These two only describe to clients, through the API's description, where to put it.
_bearer = HTTPBearer(auto_error=False, description="an API key")
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="an API key")


def check_permission(request: Request, wanted: SecurityScopes, _bearer: Annotated[Any, Depends(_bearer)],
                     _header: Annotated[Any, Depends(_header)]) -> str:
    """Return the client's name, after checking the key's scopes and the knowledge bases in the request's address.

    Routes themselves check what is not in the address (with `VisibleBases`): knowledge bases that the request's body
    names, those that a list would show, and those that builds or links belong to.
    """
    missing = [scope for scope in wanted.scopes if scope not in request.state.scopes]
    if missing:
        raise ForbiddenError(f"the key lacks the scope {missing[0]!r}: ask for another key")
    for parameter in ("kb", "knowledge_base"):
        for name in (request.path_params.get(parameter), *request.query_params.getlist(parameter)):
            if name:  # an empty parameter names none
                check_base(name, request)
    return str(request.state.client)


def check_base(name: str, request: Request) -> None:
    """Raise UnknownKnowledgeBaseError if a client's key does not cover a knowledge base, whether or not it exists."""
    for one in name.split(","):  # so that the message names the one that the key does not cover
        if not request.state.bases.covers(one):
            raise UnknownKnowledgeBaseError(one, request.app.state.service.resources.settings.home)


def may(*scopes: str) -> Any:
    """Return a route's dependency that requires all of these scopes."""
    return Security(check_permission, scopes=list(scopes))


def _bases_of(request: Request) -> Bases:
    return cast("Bases", request.state.bases)


AskingClient = Annotated[str, may("ask")]  # the name of a client that may ask
VisibleBases = Annotated[Bases, Depends(_bases_of)]  # the knowledge bases that a client may see


def _check_all_bases(bases: VisibleBases) -> None:
    if bases.names is not None:
        raise ForbiddenError("the key covers some knowledge bases only, and this concerns all: ask for another key")


OF_ALL = Depends(_check_all_bases)  # the dependency of routes that concern all knowledge bases
