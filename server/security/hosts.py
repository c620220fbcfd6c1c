"""By which names a server may be called, so that a page cannot reach it through a name of its own (DNS rebinding)."""

import ipaddress
import socket
from collections.abc import Collection
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.types import Scope

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens on an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def names_in(listed: str) -> frozenset[str]:
    """Return the host names in a list with commas between."""
    return frozenset(name.strip().casefold() for name in listed.split(",") if name.strip())


def is_for_others(listed: str) -> bool:
    """Return True if a list of host names has one by which others than this machine may be served, through a proxy."""
    return not all(map(is_loopback, names_in(listed)))


def is_local(scope: Scope) -> bool:
    """Whether a request comes from this machine."""
    client = scope.get("client")
    return client is not None and is_loopback(str(client[0]))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Hosts(NamedTuple):
    """The names that a server answers to."""

    names: frozenset[str]
    addresses: bool = False
    """Whether it answers to any address, too: no page's name can be one."""

    @classmethod
    def bound(cls, host: str, further: str = "") -> "Hosts":
        """Those of a server that listens on an address.

        Args:
            host: the address or name; for all addresses of the machine, its own name and any address count.
            further: other names, with commas between.
        """
        everywhere = _is_address(host) and ipaddress.ip_address(host).is_unspecified
        own = {socket.gethostname().casefold()} if everywhere else {host.strip("[]").casefold()}
        return cls(LOOPBACK_NAMES | own | names_in(further), everywhere)

    def allow(self, header: str) -> bool:
        """Whether a request's `Host` is one of them."""
        name = host_of(header)
        return name is not None and (name in self.names or (self.addresses and _is_address(name)))


def host_of(header: str) -> str | None:
    """The name in a `Host` header, without the port; None where it is none."""
    try:
        parts = urlsplit(f"//{header}")
        parts.port  # noqa: B018  (raises where it is no number)
    except ValueError:
        return None
    if parts.path or parts.query or parts.fragment or parts.username is not None or not parts.hostname:
        return None
    return parts.hostname


def same_origin(headers: "Collection[tuple[bytes, bytes]]", host: str) -> bool:
    """Whether a request comes from a page of this server, or from no page at all.

    Args:
        headers: the request's, as ASGI has them.
        host: its `Host`.
    """
    sites = [value for name, value in headers if name == b"sec-fetch-site"]
    origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
    return (all(site in {b"same-origin", b"none"} for site in sites)
            and all(_place(origin) == host.casefold() for origin in origins))


def _place(origin: str) -> str | None:
    """Host and port of an origin; None where it has none, as a sandboxed page's "null"."""
    try:
        return urlsplit(origin).netloc.casefold() or None
    except ValueError:
        return None
