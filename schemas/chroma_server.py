"""A Chroma server that holds vectors."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from .documents import Frozen

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_TOKEN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


def check_url(url: str) -> str:
    """A server's URL without a slash at its end, if it is one.

    Raises:
        ValueError: it is none, or says more than where the server is.
    """
    if not url:
        return url
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not re.search(r"\s", url)
    except ValueError:
        sound = False
    # What is wrong is not repeated: there may be a password in it.
    if not sound:
        raise ValueError("it should be the URL of a Chroma server, such as http://127.0.0.1:8000")
    if parts.username is not None or parts.password is not None:
        raise ValueError("it has a name or password in it: set BANYAN_CHROMA_TOKEN instead, which is never shown")
    if parts.query or parts.fragment:
        raise ValueError("it ends with ? or #: give the server's URL alone, such as http://127.0.0.1:8000")
    return url.rstrip("/")


def _check_header(name: str) -> str:
    if not _HEADER.fullmatch(name):
        raise ValueError(f"{name!r} is no name of an HTTP header")
    return name


def _check_token(token: SecretStr) -> SecretStr:
    if token.get_secret_value() and not _TOKEN.fullmatch(token.get_secret_value()):
        raise ValueError("it has characters that an HTTP header cannot hold")
    return token


ChromaUrl = Annotated[str, AfterValidator(check_url)]
HeaderName = Annotated[str, AfterValidator(_check_header)]
HeaderToken = Annotated[SecretStr, AfterValidator(_check_token)]


class ChromaServer(Frozen):
    """Where a Chroma server is, and what it asks for."""

    url: ChromaUrl = Field(min_length=1)
    token: HeaderToken = SecretStr("")
    token_header: HeaderName = Field(default="Authorization")

    def headers(self) -> dict[str, str]:
        """What is sent with each request: the token, as a bearer's where it goes by the usual header."""
        token = self.token.get_secret_value()
        if not token:
            return {}
        return {self.token_header: f"Bearer {token}" if self.token_header.lower() == "authorization" else token}
