"""Accepted host names, so a page cannot reach the server through its own domain (DNS rebinding)."""

import ipaddress
import socket
from collections.abc import Collection
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.types import Scope

from ...schemas.services import is_loopback

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def names_in(listed: str) -> frozenset[str]:
    """Return the host names in a comma-separated list."""
    return frozenset(name.strip().casefold() for name in listed.split(",") if name.strip())


def is_for_others(listed: str) -> bool:
    """Return True if a comma-separated list of host names has one under which other machines reach this one."""
    return not all(map(is_loopback, names_in(listed)))


def is_local(scope: Scope) -> bool:
    """Return True if a request comes from this machine."""
    client = scope.get("client")
    return client is not None and is_loopback(str(client[0]))


def _address_of(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
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
        """Return the host names of a server that listens on an address.

        Args:
            host: the address or name to listen on. If it means all addresses of the machine, as 0.0.0.0 does, the
                machine's own name and any IP address are accepted.
            further: other names to accept, separated by commas.
        """
        address = _address_of(host)
        is_everywhere = address is not None and address.is_unspecified
        name = socket.gethostname() if is_everywhere else host.strip("[]")
        return cls(LOOPBACK_NAMES | {name.casefold()} | names_in(further), is_everywhere)

    def allow(self, header: str) -> bool:
        """Return True if a request's `Host` header is accepted."""
        name = host_of(header)
        return name is not None and (name in self.names or (self.addresses and _address_of(name) is not None))


def host_of(header: str) -> str | None:
    """Return the name in a `Host` header, without the port; None if the header is invalid."""
    try:
        parts = urlsplit(f"//{header}")
        parts.port  # noqa: B018  (raises if it is not a number)
    except ValueError:
        return None
    is_more_than_host = parts.path or parts.query or parts.fragment or parts.username is not None
    return None if is_more_than_host else parts.hostname or None


def same_origin(headers: "Collection[tuple[bytes, bytes]]", host: str) -> bool:
    """Return True if a request comes from a page of this server, or from a program that is no browser.

    Browsers say which page a request comes from, in `Sec-Fetch-Site` or `Origin`; other programs send neither header.
    """
    sites = [value for name, value in headers if name == b"sec-fetch-site"]
    origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
    try:
        pages = {urlsplit(origin).netloc.casefold() or None for origin in origins}
    except ValueError:
        return False
    return set(sites) <= {b"same-origin", b"none"} and pages <= {host.casefold()}
