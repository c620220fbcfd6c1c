"""Middleware for every request: id and log, host name (against DNS rebinding) and origin, client, rate and size."""

import ipaddress
import logging
import re
import socket
import uuid
from dataclasses import KW_ONLY, dataclass, field
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from aiolimiter import AsyncLimiter
from cachetools import LRUCache
from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...config import Settings
from ...runtime.audit import LOCAL, acting
from ...schemas.services import is_loopback
from .. import responses
from ..metrics import observe_request
from ..responses import detail_of, error_response, status_of
from .clients import Clients
from .keys import SCOPES, Bases, KeysError

_LOG = logging.getLogger("banyan.server")
_ACCESS = logging.getLogger("banyan.access")
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HOST = re.compile(r"(?P<name>[\w.-]+|\[[\w.:%-]+\])(?::\d*)?")  # with IPv6 in brackets, and a port
_SAFE = {"GET", "HEAD", "OPTIONS"}  # methods that change nothing
_MOST_CLIENTS = 10_000  # clients whose rates are cached; dropped ones count as new
_MINUTE = 60.0
_LONGEST_END = 1_000  # bytes at the end of an upload in which its last boundary, of at most 70 bytes, is looked for
_HEADERS = {
    "content-security-policy": "default-src 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; "
                               "form-action 'self'",
    "x-content-type-options": "nosniff", "x-frame-options": "DENY", "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin", "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store"}


def names_in(listed: str) -> frozenset[str]:
    """Return the host names in a comma-separated list."""
    return frozenset(name.strip().casefold() for name in listed.split(",") if name.strip())


def is_for_others(listed: str) -> bool:
    """Return True if a comma-separated list of host names has one under which other machines reach this one."""
    return not all(map(is_loopback, names_in(listed)))


def _address_of(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return a host's name as an IP address; None if it is a domain's name."""
    try:
        return ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return None


class Hosts(NamedTuple):
    """The host names that a server accepts."""

    names: frozenset[str]
    addresses: bool = False
    """Whether it accepts any IP address as well. That is safe: an attacker's page has a domain name (DNS rebinding)."""

    @classmethod
    def bound(cls, host: str, further: str = "") -> "Hosts":
        """Return the host names of a server that listens on an address, and further ones, separated by commas.

        If the address means all of the machine, as 0.0.0.0 does, its own name and any IP address are accepted.
        """
        address = _address_of(host)
        is_everywhere = address is not None and address.is_unspecified
        name = socket.gethostname() if is_everywhere else host.strip("[]")
        return cls(names_in(further) | {"localhost", "127.0.0.1", "::1", name.casefold()}, is_everywhere)

    def allow(self, header: str) -> bool:
        """Return True if a request's `Host` header is accepted."""
        found = _HOST.fullmatch(header)
        if found is None:
            return False
        name = found["name"].strip("[]").casefold()
        return name in self.names or (self.addresses and _address_of(name) is not None)


def same_origin(headers: Headers) -> bool:
    """Return True if a request comes from a page of this server, or from a program, which sends neither header."""
    try:
        # None, which equals no host, for an origin such as "null", which browsers send for local files and sandboxes.
        page_hosts = {urlsplit(origin).netloc.casefold() or None for origin in headers.getlist("origin")}
    except ValueError:
        return False
    sites = set(headers.getlist("sec-fetch-site"))
    return sites <= {"same-origin", "none"} and page_hosts <= {headers["host"].casefold()}


class Envelope:
    """Middleware that adds request ids, spans and headers, and logs requests without their content."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Give a request an id and a span, pass it on, and count and log it when its response has ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent_id = Headers(scope=scope).get("x-request-id", "")
        request_id = sent_id if _ID.fullmatch(sent_id) else uuid.uuid4().hex
        state: dict[str, Any] = scope.setdefault("state", {})
        state["request_id"] = request_id
        status = HTTPStatus.INTERNAL_SERVER_ERROR.value

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = request_id
                if scope["path"].startswith("/assets/"):  # browsers ask whether their copy is current
                    headers.setdefault("cache-control", "no-cache")
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        with observe_request(scope) as finish:
            try:
                await self._app(scope, receive, send_on)
            finally:
                fields = {"method": scope["method"], "path": scope["path"][:200], "status": status,
                          "request": request_id, "milliseconds": round(finish(status) * 1000),
                          "client": state.get("client", "")}
                _ACCESS.info("%(method)s %(path)s %(status)s in %(milliseconds)s ms, %(client)s, request %(request)s",
                             fields, extra={"fields": fields})


Rate = tuple[str, float]  # whose requests are counted, and how many are accepted in a minute


@dataclass
class Gate:
    """Middleware that accepts or refuses requests, and passes the client's permissions to the routes in the state."""

    app: ASGIApp
    _: KW_ONLY
    settings: Settings  # the limits, which are already divided by the number of workers
    clients: Clients  # those with a key or token
    hosts: Hosts | None  # the host names that the server accepts; None accepts any
    needs_keys: bool  # whether even clients of this machine need a key while none exists: others can reach the server
    origins: frozenset[str] = frozenset()  # other origins whose pages may send changes
    for_anybody: frozenset[str] = frozenset({"/", "/docs", "/favicon.ico", "/api/health", "/api/ready"})
    """Paths without a key, besides assets: the page, which asks for one, what leads to it, and health checks."""
    uploads: str = r"/api/knowledge-bases/[^/]*/builds"  # a pattern of the paths whose bodies may be large
    workers: int = 1  # the number of processes that share a client's requests
    limiters: LRUCache[Rate, AsyncLimiter] = field(default_factory=lambda: LRUCache(_MOST_CLIENTS))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on with its client's name, scopes and knowledge bases in the state."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # the app has no WebSocket routes
            await send({"type": "websocket.close", "code": 1003})
            return
        state = scope.setdefault("state", {})
        state |= {"client": "", "scopes": frozenset(), "bases": Bases(frozenset())}
        try:
            headers = Headers(scope=scope)
            self.check_head(scope, headers)
            await self._check_rate(await self.identify_client(scope, headers))
            receive = self._limit_body(scope, headers, receive)
        except (responses.RefusedError, KeysError) as error:
            request = state.get("request_id", "")
            if isinstance(error, KeysError):  # the keys cannot be read, so no client can be identified
                _LOG.exception("request %s was refused", request)
            # The connection is closed, because the rest of the body is not read.
            response = error_response(status_of(error), detail_of(error, self.settings, request),
                                      {**getattr(error, "headers", {}), "Connection": "close"})
            await response(scope, receive, send)
        else:
            with acting(state["client"]):
                await self.app(scope, receive, send)

    def check_head(self, scope: Scope, headers: Headers) -> None:
        """Refuse a request with a wrong address or host name, or a change that another origin's page sends."""
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:  # neither databases nor file systems take it
            raise responses.RefusedError("there is a NUL character in the path or the query: remove it")
        hosts = headers.getlist("host")
        if len(hosts) != 1 or (self.hosts is not None and not self.hosts.allow(hosts[0])):
            raise responses.RefusedError("the server does not accept this host name: use its own name or address, or "
                                         "add it to BANYAN_SERVER_HOSTS")
        if scope["method"] in _SAFE:
            return
        if "content-length" in headers and "transfer-encoding" in headers:
            # A proxy that goes by the other one would take a part of the body for another request.
            raise responses.RefusedError("the request has a Content-Length and is chunked: send one of both")
        if headers.get("origin") not in self.origins and not same_origin(headers):
            raise responses.ForbiddenError("pages of another origin may not make changes here: open the server's own "
                                           "page")

    async def identify_client(self, scope: Scope, headers: Headers) -> Rate:
        """Write a request's client and rights to its state, and return its rate; raise what refuses it."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        secret = token.strip() if scheme.casefold() == "bearer" else headers.get("x-api-key", "")
        state = scope["state"]
        address = str(scope["client"][0]) if scope.get("client") else ""
        most: float = self.settings.requests_per_minute
        address_rate = (f"address {address}", most)
        if scope["method"] == "OPTIONS" and headers.get("origin") in self.origins:
            return address_rate  # a browser asks whether a page of that origin may send a request
        if scope["path"] in self.for_anybody or scope["path"].startswith("/assets/"):
            return address_rate  # before keys are read: health checks must not depend on a database
        await self.clients.refresh()
        if is_loopback(address) and not self.needs_keys and not self.clients.needs_key():
            state |= {"client": LOCAL, "scopes": frozenset(SCOPES), "bases": Bases()}
            return address_rate
        try:
            client = await self.clients.find(secret)
        except responses.RefusedError:
            await self._check_rate(address_rate)  # limits how fast somebody can try keys
            raise
        state |= {"client": client.name, "scopes": client.scopes, "bases": client.bases}
        if client.requests_per_minute is not None:
            most = min(most, max(1, client.requests_per_minute / self.workers))
        return f"client {client.name}", most

    async def _check_rate(self, rate: Rate) -> None:
        """Count a request; refuse it if its sender has sent too many within a minute."""
        _, per_minute = rate
        limiter = self.limiters.setdefault(rate, AsyncLimiter(per_minute, _MINUTE))
        if not limiter.has_capacity():
            raise responses.TooManyRequestsError(f"more than {per_minute:g} requests a minute: wait",
                                                 int(_MINUTE / per_minute) + 1)
        await limiter.acquire()

    def _limit_body(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """Refuse a request that declares too long a body; return a function to receive one up to the limit."""
        # That function also refuses an upload that is cut off, of which parsers would read the parts that have arrived.
        setting, most = "BANYAN_MAX_REQUEST_KB", self.settings.max_request_kb * 1024
        if re.fullmatch(self.uploads, scope["path"]):
            setting, most = "BANYAN_MAX_UPLOAD_MB", self.settings.max_upload_mb * 1024 * 1024
        message = f"the request is larger than {most:,.0f} bytes ({setting}): send less at once"
        declared_length = headers.get("content-length", "0")
        if declared_length.isdecimal() and float(declared_length) > most:  # `int` refuses thousands of digits
            raise responses.TooLargeError(message)
        boundary = parse_options_header(headers.get("content-type"))[1].get(b"boundary", b"")
        received_bytes, last_bytes = 0, b""

        async def receive_on() -> Message:
            nonlocal received_bytes, last_bytes
            part = await receive()
            body = part.get("body", b"")
            received_bytes += len(body)
            if received_bytes > most:
                # Starlette's parsers of bodies pass on only this type of exception.
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
            last_bytes = (last_bytes + body)[-_LONGEST_END:]
            is_last = part["type"] == "http.request" and not part.get("more_body")
            if boundary and is_last and b"--%s--" % boundary not in last_bytes:
                raise HTTPException(HTTPStatus.BAD_REQUEST, "the upload ends before its last boundary: send it again")
            return part

        return receive_on
