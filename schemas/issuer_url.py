"""The address of an OpenID Connect issuer, and of its published documents."""

import ipaddress
import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator


def is_trustworthy(url: str) -> bool:
    """Return True if the content of an address cannot be changed in transit: it uses https, or is on this machine."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    plain = parts.username is None and parts.password is None and port != 0 and not re.search(r"\s", url)
    return bool(host) and plain and (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host)))


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check(url: str) -> str:
    parts = urlsplit(url) if is_trustworthy(url) else None
    if url and (parts is None or parts.query or parts.fragment):
        raise ValueError("it should be the issuer's URL as its tokens have it, by https (or http on this machine), "
                         "such as https://login.example.org/realms/main")
    return url


IssuerUrl = Annotated[str, AfterValidator(_check)]
"""An issuer's URL as in its tokens, or empty; a trailing slash is significant."""
