"""The connection to a Chroma server that stores vectors."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from .documents import Frozen

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_TOKEN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


def check_url(url: str) -> str:
    """Check a server's URL and return it without a trailing slash.

    Raises:
        ValueError: the text is not a URL, or contains more than the server's address.
    """
    if not url:
        return url
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not re.search(r"\s", url)
    except ValueError:
        sound = False
    # The message does not repeat the URL, which may contain a password.
    if not sound:
        raise ValueError("it should be the URL of a Chroma server, such as http://127.0.0.1:8000")
    if parts.username is not None or parts.password is not None:
        raise ValueError("it has a name or password in it: set BANYAN_CHROMA_TOKEN instead, which is never shown")
    if parts.query or parts.fragment:
        raise ValueError("it ends with ? or #: give the server's URL alone, such as http://127.0.0.1:8000")
    return url.rstrip("/")


def _check_header(name: str) -> str:
    if not _HEADER.fullmatch(name):
        raise ValueError(f"{name!r} is not a valid name of an HTTP header")
    return name


def _check_token(token: SecretStr) -> SecretStr:
    if token.get_secret_value() and not _TOKEN.fullmatch(token.get_secret_value()):
        raise ValueError("it has characters that an HTTP header cannot hold")
    return token


ChromaUrl = Annotated[str, AfterValidator(check_url)]
HeaderName = Annotated[str, AfterValidator(_check_header)]
HeaderToken = Annotated[SecretStr, AfterValidator(_check_token)]


class ChromaServer(Frozen):
    """The URL of a Chroma server, and the token that it requires."""

    url: ChromaUrl = Field(min_length=1)
    token: HeaderToken = SecretStr("")
    token_header: HeaderName = Field(default="Authorization")

    def headers(self) -> dict[str, str]:
        """Return the headers of each request: the token, as a bearer token in the standard header."""
        token = self.token.get_secret_value()
        if not token:
            return {}
        return {self.token_header: f"Bearer {token}" if self.token_header.lower() == "authorization" else token}
