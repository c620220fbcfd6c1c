"""Documents from addresses of the web, where the user allows it: one request for each, and what it may reach and cost.

An address may lead anywhere, also by a redirect or by a name whose meaning changes between two look-ups: to a service
of this machine or of the network that it is in. So the connection is made to the very IP address that was checked.
"""

import ipaddress
import socket
import ssl
import time
from collections.abc import Iterable
from email.message import Message
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

import httpcore

from ..runtime.cancellation import current
from .failures import IngestError, UnreadableError
from .formats import PARSED, PLAIN
from .limits import Limits

_REDIRECTS = 5
_WAIT = 20.0
"""Seconds without a byte."""
_SCHEMES = ("http", "https")
_REDIRECTING = frozenset({301, 302, 303, 307, 308})
_HEADERS = [("User-Agent", "banyan"), ("Accept", "*/*"), ("Accept-Encoding", "identity")]
_ENDINGS = {
    "text/html": ".html", "application/xhtml+xml": ".xhtml", "text/plain": ".txt", "text/markdown": ".md",
    "text/csv": ".csv", "text/tab-separated-values": ".tsv", "application/json": ".json", "application/pdf": ".pdf",
    "application/x-ndjson": ".jsonl", "application/rtf": ".rtf", "application/epub+zip": ".epub",
    "message/rfc822": ".eml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx"}
"""How files of a media type end; others go by the ending of the address."""
_TEXTS = frozenset({".html", ".xhtml", ".txt", ".md", ".csv", ".tsv"})


class Address(NamedTuple):
    """An http or https address."""

    url: str

    @property
    def id(self) -> str:
        """What the document is called: the address without what only a browser reads of it."""
        return self.url.partition("#")[0]


class Fetched(NamedTuple):
    """What an address gave: the bytes of a file, and how a file of its kind is called."""

    data: bytes
    name: str


def is_address(text: str) -> bool:
    """Whether a text is meant as an address of the web rather than as a path."""
    return text.lower().startswith(("http://", "https://")) and not any(map(str.isspace, text))


def check_allowed(addresses: Iterable[Address], limits: Limits) -> None:
    """Check that addresses may be fetched.

    Raises:
        IngestError: there is one, and the user allows none; names the setting.
    """
    first = next(iter(addresses), None)
    if first is not None and limits.fetch == "off":
        raise IngestError(f"{first.url[:200]} is an address, and Banyan fetches nothing unless you allow it: set "
                          "BANYAN_FETCH=public (or `any`, for addresses of your own network too), or download it and "
                          "add the file")


def fetch(address: Address, limits: Limits) -> Fetched:
    """Fetch an address.

    Args:
        address: what to fetch; up to five redirects are followed, to http and https alone.
        limits: how large it may be, how long it may take, and which networks may be reached.

    Raises:
        UnreadableError: it cannot be had, or must not; says why.
    """
    deadline, url = time.monotonic() + limits.seconds, address.url
    try:
        with httpcore.ConnectionPool(ssl_context=ssl.create_default_context(), network_backend=_Network(limits),
                                     max_connections=1) as pool:
            for _ in range(_REDIRECTS + 1):
                _check_url(url)
                with pool.stream("GET", url.partition("#")[0], headers=_HEADERS,
                                 extensions=_timeouts(deadline)) as said:
                    if said.status not in _REDIRECTING:
                        return Fetched(_body(said, limits, deadline), _name(said, url))
                    url = urljoin(url, _header(said, "location"))
    except UnreadableError:
        raise
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, httpcore.UnsupportedProtocol,
            OSError, ValueError) as error:
        raise UnreadableError(f"cannot be fetched ({error or type(error).__name__}): check the address and your "
                              "connection") from error
    raise UnreadableError(f"it redirects more than {_REDIRECTS} times: give the address that it ends at")


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise UnreadableError(f"it leads to {url[:200]}, which is no http or https address")
    if parts.username is not None or parts.password is not None:
        raise UnreadableError("a user or password stands in the address: download it, and add the file")


def _timeouts(deadline: float) -> dict[str, Any]:
    left = max(deadline - time.monotonic(), 0.1)
    wait = min(_WAIT, left)
    return {"timeout": {"connect": wait, "read": wait, "write": wait, "pool": wait}}


def _body(said: httpcore.Response, limits: Limits, deadline: float) -> bytes:
    if said.status != 200:  # noqa: PLR2004  (HTTP's own number)
        raise UnreadableError(f"the server answers with the status {said.status}")
    if _header(said, "content-encoding").lower() not in {"", "identity"}:
        raise UnreadableError("the server sends it compressed, unasked: download it, and add the file")
    parts, size = list[bytes](), 0
    for part in said.iter_stream():
        current().check()
        size += len(part)
        if size > limits.file_bytes:
            raise UnreadableError(f"it is larger than {limits.size()}")
        if time.monotonic() > deadline:
            raise UnreadableError(f"not fetched within {limits.seconds:g} s (BANYAN_MAX_FILE_SECONDS)")
        parts.append(part)
    data = b"".join(parts)
    kind = _kind(said)
    charset = kind.get_content_charset()
    if charset and _ENDINGS.get(kind.get_content_type()) in _TEXTS:
        try:
            return data.decode(charset).encode("utf-8-sig")
        except (LookupError, UnicodeDecodeError) as error:
            raise UnreadableError(f"it is not in the character set {charset!r} that the server names") from error
    return data


def _name(said: httpcore.Response, url: str) -> str:
    """The name of a file of that kind, by what the server says and else by the address."""
    path = PurePosixPath(unquote(urlsplit(url).path))
    kind, suffix = _kind(said).get_content_type(), path.suffix.lower()
    known = {*PLAIN, *PARSED, ".csv", ".tsv", ".json", ".jsonl"}
    # "text/plain" is said of Markdown, of code, of tables: there the ending knows more.
    ending = suffix if suffix in known and _ENDINGS.get(kind, ".txt") == ".txt" else _ENDINGS.get(kind, "")
    if not ending:
        raise UnreadableError(f"it is of the type {kind!r}, which is not read: download it, and convert it")
    return f"{path.stem or urlsplit(url).hostname}{ending}"


def _kind(said: httpcore.Response) -> Message:
    message = Message()
    message["Content-Type"] = _header(said, "content-type") or "application/octet-stream"
    return message


def _header(said: httpcore.Response, name: str) -> str:
    return next((value.decode("latin-1") for key, value in said.headers if key.lower() == name.encode()), "")


# What stands for IPv4 addresses, of this network too, where a machine or its router translates: mapped, compatible and
# translated ones, NAT64 by either prefix, Teredo, 6to4.
_TRANSLATED = tuple(map(ipaddress.IPv6Network, (
    "::ffff:0:0/96", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16")))


def is_public(address: str) -> bool:
    """Return True if an IP address is one machine's in the public network, and stands for no other address.

    Args:
        address: as the system gives it, perhaps with a zone.
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address) and (ip.is_site_local or any(ip in net for net in _TRANSLATED)):
        return False
    return ip.is_global and not ip.is_multicast


class _Network(httpcore.SyncBackend):
    """Connects only to addresses that may be reached."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, local_address: str | None = None,
                    socket_options: Any = None) -> httpcore.NetworkStream:
        """A connection to a host's first address, if that may be reached."""
        # One look-up, whose answer is checked and connected to.
        address = str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0])
        if self._limits.fetch != "any" and not is_public(address):
            raise UnreadableError(f"{host} is an address of this machine or of its network ({address}), which "
                                  "BANYAN_FETCH=public leaves alone: set BANYAN_FETCH=any to reach it")
        return super().connect_tcp(address, port, timeout, local_address, socket_options)
