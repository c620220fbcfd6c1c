"""Fetch documents from web addresses, if the user allows it: one request each, with limits on target and size.

An address may lead to a service of this machine or of its network, for example by a redirect, or by a name that
resolves differently the second time. Therefore the connection goes to the very IP address that was checked.
"""

import ipaddress
import socket
import ssl
import time
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import NamedTuple

import httpx

from ..runtime.threads import check_cancelled
from .formats import FORMATS
from .reading import IngestError, Limits, UnreadableError

_REDIRECTS = 5
_WAIT = 20.0  # seconds to wait for the next byte
_HEADERS = {"User-Agent": "banyan"}
_ENDINGS = {  # by the media type that the server names
    "text/html": ".html", "application/xhtml+xml": ".xhtml", "text/plain": ".txt", "text/markdown": ".md",
    "text/csv": ".csv", "text/tab-separated-values": ".tsv", "application/json": ".json", "application/pdf": ".pdf",
    "application/x-ndjson": ".jsonl", "application/rtf": ".rtf", "application/epub+zip": ".epub",
    "message/rfc822": ".eml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx"}


class Address(NamedTuple):
    """An http or https address."""

    url: str

    @property
    def id(self) -> str:
        """The document's id: the address without its fragment."""
        return self.url.partition("#")[0]


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


def fetch(address: Address, limits: Limits) -> tuple[str, bytes]:
    """Return a file name with the ending of an address's format, and its bytes; up to five redirects are followed."""
    try:  # `trust_env=False`: a proxy of the environment would connect to addresses that nobody has checked
        with (httpx.Client(transport=_Transport(limits), follow_redirects=True, max_redirects=_REDIRECTS,
                           timeout=min(_WAIT, limits.seconds), headers=_HEADERS, trust_env=False) as client,
              client.stream("GET", address.id) as response):
            media_type = str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
            data = _read_body(response, limits)
    except httpx.TooManyRedirects as error:
        raise UnreadableError(f"it redirects more than {_REDIRECTS} times: give the address that it ends at") from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
        raise UnreadableError(f"cannot be fetched ({error or type(error).__name__}): check the address and your "
                              "connection") from error
    path, ending = PurePosixPath(response.url.path), _ENDINGS.get(media_type, "")
    # Servers send many formats as plain text or under a type that is not known here; then the address tells more.
    if ending in {"", ".txt"} and path.suffix.lower() in FORMATS:
        ending = path.suffix.lower()
    if not ending:
        raise UnreadableError(f"it is of the type {media_type!r}, which is not read: download it, and convert it")
    return f"{path.stem or response.url.host}{ending}", data


def _read_body(response: httpx.Response, limits: Limits) -> bytes:
    """Read the body of a response; raise UnreadableError for an error's status, or beyond the limits."""
    deadline = time.monotonic() + limits.seconds
    if response.status_code != httpx.codes.OK:
        raise UnreadableError(f"the server answers with the status {response.status_code}: check the address, or "
                              "download it and add the file")
    data = bytearray()
    for part in response.iter_bytes():
        check_cancelled()
        data += part
        if len(data) > limits.file_bytes:
            raise UnreadableError(f"it is larger than {limits.size()}: download it, and split it into smaller files")
        if time.monotonic() > deadline:
            raise UnreadableError(f"not fetched within {limits.seconds:g} s (BANYAN_MAX_FILE_SECONDS): raise it, or "
                                  "download it and add the file")
    return bytes(data)


# IPv6 ranges that embed IPv4 addresses, private ones too, where a machine or its router translates: mapped, compatible
# and translated addresses, NAT64 with either prefix, Teredo, and 6to4.
_TRANSLATED = tuple(map(ipaddress.IPv6Network, (
    "::ffff:0:0/96", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16")))


def is_public(address: str) -> bool:
    """Return True if an IP address, perhaps with a zone ("fe80::1%eth0"), belongs to a machine in the public network.

    An IPv6 address that embeds an IPv4 address is not public, because it may lead to a private one.
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    # Python counts the old addresses of sites (fec0::) and those of groups (multicast) as global.
    if isinstance(ip, ipaddress.IPv6Address) and (ip.is_site_local or any(ip in net for net in _TRANSLATED)):
        return False
    return ip.is_global and not ip.is_multicast


class _Transport(httpx.HTTPTransport):
    """Sends requests to allowed addresses only."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(verify=ssl.create_default_context(), trust_env=False)
        self._limits = limits

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to its host's first IP address if that is allowed; otherwise raise UnreadableError."""
        url = request.url
        if url.scheme not in {"http", "https"} or not url.host:
            raise UnreadableError(f"it leads to {str(url)[:200]}, which is no http or https address: download it, and "
                                  "add the file")
        if url.userinfo:  # the address is the document's id, which anyone who asks may see
            raise UnreadableError("the address contains a user or a password: download it, and add the file")
        # Look the name up only once, so that the checked address is the one to connect to.
        address = str(socket.getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM)[0][4][0])
        if self._limits.fetch != "any" and not is_public(address):
            raise UnreadableError(f"{url.host} is an address of this machine or of its network ({address}), which "
                                  "BANYAN_FETCH=public does not allow: set BANYAN_FETCH=any to reach it")
        # `sni_hostname`: the certificate is checked for the name, although the request goes to the IP address.
        return super().handle_request(httpx.Request(
            request.method, url.copy_with(host=address), headers=request.headers,
            extensions={**request.extensions, "sni_hostname": url.host}))
