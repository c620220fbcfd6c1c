"""Accepted host names, so a page cannot reach the server through its own domain (DNS rebinding)."""

import ipaddress
import socket
from collections.abc import Collection
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.types import Scope

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach a server that listens on the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def names_in(listed: str) -> frozenset[str]:
    """Return the host names in a comma-separated list."""
    return frozenset(name.strip().casefold() for name in listed.split(",") if name.strip())


def is_for_others(listed: str) -> bool:
    """Return True if a list of host names contains one that is not a loopback name, as behind a proxy."""
    return not all(map(is_loopback, names_in(listed)))


def is_local(scope: Scope) -> bool:
    """Return True if a request comes from this machine."""
    client = scope.get("client")
    return client is not None and is_loopback(str(client[0]))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Hosts(NamedTuple):
    """The host names that a server accepts."""

    names: frozenset[str]
    addresses: bool = False
    """Whether it accepts any IP address as well: a page's name cannot be one."""

    @classmethod
    def bound(cls, host: str, further: str = "") -> "Hosts":
        """Return the host names of a server that listens on an address.

        Args:
            host: the address or name; for all addresses of the machine, its own name and any address are accepted.
            further: other names, separated by commas.
        """
        everywhere = _is_address(host) and ipaddress.ip_address(host).is_unspecified
        own = {socket.gethostname().casefold()} if everywhere else {host.strip("[]").casefold()}
        return cls(LOOPBACK_NAMES | own | names_in(further), everywhere)

    def allow(self, header: str) -> bool:
        """Return True if a request's `Host` header is accepted."""
        name = host_of(header)
        return name is not None and (name in self.names or (self.addresses and _is_address(name)))


def host_of(header: str) -> str | None:
    """Return the name in a `Host` header, without the port; None if the header is invalid."""
    try:
        parts = urlsplit(f"//{header}")
        parts.port  # noqa: B018  (raises if it is not a number)
    except ValueError:
        return None
    if parts.path or parts.query or parts.fragment or parts.username is not None or not parts.hostname:
        return None
    return parts.hostname


def same_origin(headers: "Collection[tuple[bytes, bytes]]", host: str) -> bool:
    """Return True if a request comes from a page of this server, or not from a page.

    Args:
        headers: the request's headers, in ASGI's form.
        host: the request's `Host` header.
    """
    sites = [value for name, value in headers if name == b"sec-fetch-site"]
    origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
    return (all(site in {b"same-origin", b"none"} for site in sites)
            and all(_place(origin) == host.casefold() for origin in origins))


def _place(origin: str) -> str | None:
    """Return host and port of an origin; None if it has none, like the "null" of a sandboxed page."""
    try:
        return urlsplit(origin).netloc.casefold() or None
    except ValueError:
        return None
