"""Fetch documents from web addresses, if the user allows it: one request each, with limits on target and size.

An address may lead to a service of this machine or of its network, for example by a redirect, or by a name that
resolves differently the second time. Therefore the connection goes to the very IP address that was checked.
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

from ..runtime.threads import check_cancelled
from .formats import PARSED, PLAIN
from .reading import IngestError, Limits, UnreadableError
from .records import RECORD_READERS

_REDIRECTS = 5
_WAIT = 20.0  # seconds to wait for the next byte
_STEPS = ("connect", "read", "write", "pool")
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
"""The file ending of each media type."""
_TEXTS = frozenset({".html", ".xhtml", ".txt", ".md", ".csv", ".tsv"})


class Address(NamedTuple):
    """An http or https address."""

    url: str

    @property
    def id(self) -> str:
        """The document's id: the address without its fragment."""
        return self.url.partition("#")[0]


class Fetched(NamedTuple):
    """A fetched file: its bytes, and a file name with the ending of its format."""

    data: bytes
    name: str


def is_address(text: str) -> bool:
    """Return True if a text looks like a web address rather than a path."""
    return text.lower().startswith(("http://", "https://")) and not any(map(str.isspace, text))


def check_allowed(addresses: Iterable[Address], limits: Limits) -> None:
    """Raise IngestError if there is an address, and fetching is off; the message names the setting that allows it."""
    first = next(iter(addresses), None)
    if first is not None and limits.fetch == "off":
        raise IngestError(f"{first.url[:200]} is an address, and Banyan fetches nothing unless you allow it: set "
                          "BANYAN_FETCH=public (or `any`, for addresses of your own network too), or download it and "
                          "add the file")


def fetch(address: Address, limits: Limits) -> Fetched:
    """Fetch an address within the limits, or raise UnreadableError; up to five redirects are followed."""
    deadline, url = time.monotonic() + limits.seconds, address.url
    try:
        with httpcore.ConnectionPool(ssl_context=ssl.create_default_context(), network_backend=_Network(limits),
                                     max_connections=1) as pool:
            for _ in range(_REDIRECTS + 1):
                _check_url(url)
                wait = min(_WAIT, max(deadline - time.monotonic(), 0.1))
                with pool.stream("GET", url.partition("#")[0], headers=_HEADERS,
                                 extensions={"timeout": dict.fromkeys(_STEPS, wait)}) as response:
                    if response.status not in _REDIRECTING:
                        return Fetched(_body(response, limits, deadline), _name(response, url))
                    url = urljoin(url, _headers(response).get("location", ""))
    except UnreadableError:
        raise
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, httpcore.UnsupportedProtocol,
            OSError, ValueError) as error:
        raise UnreadableError(f"cannot be fetched ({error or type(error).__name__}): check the address and your "
                              "connection") from error
    raise UnreadableError(f"it redirects more than {_REDIRECTS} times: give the address that it ends at")


def _check_url(url: str) -> None:
    """Raise UnreadableError unless a URL is an http or https address without user and password."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UnreadableError(f"it leads to {url[:200]}, which is no http or https address: download it, and add "
                              "the file")
    if parts.username is not None or parts.password is not None:
        raise UnreadableError("the address contains a user or a password: download it, and add the file")


def _body(response: httpcore.Response, limits: Limits, deadline: float) -> bytes:
    """Read the body of a response; text for which the server names a character set is returned as UTF-8."""
    if response.status != 200:  # noqa: PLR2004  (HTTP's own number)
        raise UnreadableError(f"the server answers with the status {response.status}: check the address, or download "
                              "it and add the file")
    headers = _headers(response)
    if headers.get("content-encoding", "identity").lower() not in {"", "identity"}:
        raise UnreadableError("the server sends it compressed, which is not supported: download it, and add the file")
    parts, size = list[bytes](), 0
    for part in response.iter_stream():
        check_cancelled()
        size += len(part)
        if size > limits.file_bytes:
            raise UnreadableError(f"it is larger than {limits.size()}: download it, and split it into smaller files")
        if time.monotonic() > deadline:
            raise UnreadableError(f"not fetched within {limits.seconds:g} s (BANYAN_MAX_FILE_SECONDS): raise it, or "
                                  "download it and add the file")
        parts.append(part)
    data = b"".join(parts)
    charset = headers.get_content_charset()
    if charset and _ENDINGS.get(headers.get_content_type()) in _TEXTS:
        try:
            return data.decode(charset).encode("utf-8-sig")
        except (LookupError, UnicodeDecodeError) as error:
            raise UnreadableError(f"it is not in the character set {charset!r} that the server names: download it, and "
                                  "save it as UTF-8") from error
    return data


def _name(response: httpcore.Response, url: str) -> str:
    """Return a file name for a response, with the ending that decides how it is read."""
    path = PurePosixPath(unquote(urlsplit(url).path))
    headers = _headers(response)
    kind = headers.get_content_type() if "content-type" in headers else ""
    ending = _ENDINGS.get(kind, "")
    if ending in {"", ".txt"} and path.suffix.lower() in {*PLAIN, *PARSED, *RECORD_READERS}:
        ending = path.suffix.lower()
    if not ending:
        raise UnreadableError(f"it is of the type {kind!r}, which is not read: download it, and convert it")
    return f"{path.stem or urlsplit(url).hostname}{ending}"


def _headers(response: httpcore.Response) -> Message:
    message = Message()
    for name, value in response.headers:
        message[name.decode("latin-1")] = value.decode("latin-1")
    return message


# IPv6 ranges that embed IPv4 addresses, private ones too, where a machine or its router translates: mapped, compatible
# and translated addresses, NAT64 with either prefix, Teredo, and 6to4.
_TRANSLATED = tuple(map(ipaddress.IPv6Network, (
    "::ffff:0:0/96", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16")))


def is_public(address: str) -> bool:
    """Return True if an IP address, perhaps with a zone ("fe80::1%eth0"), belongs to a machine in the public network.

    An IPv6 address that embeds an IPv4 address is not public, because it may lead to a private one.
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address) and (ip.is_site_local or any(ip in net for net in _TRANSLATED)):
        return False
    return ip.is_global and not ip.is_multicast


class _Network(httpcore.SyncBackend):
    """A network backend that connects only to allowed addresses."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, local_address: str | None = None,
                    socket_options: Any = None) -> httpcore.NetworkStream:
        """Connect to a host's first IP address if the settings allow it; otherwise raise UnreadableError."""
        # Look the name up only once, so that the checked address is the one to connect to.
        address = str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0])
        if self._limits.fetch != "any" and not is_public(address):
            raise UnreadableError(f"{host} is an address of this machine or of its network ({address}), which "
                                  "BANYAN_FETCH=public does not allow: set BANYAN_FETCH=any to reach it")
        return super().connect_tcp(address, port, timeout, local_address, socket_options)
