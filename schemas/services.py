"""Services in the settings: the addresses of Chroma, PostgreSQL, endpoints and issuers, and what requests may add."""

import ipaddress
import json
import re
from typing import Annotated, Any
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from .documents import Frozen

_TOKEN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
# Strict: clients misread an unencoded sign in a password as the host or the database, and show it in errors.
_ADDRESS = re.compile(r"postgresql(?:\+psycopg)?://(?:[^\s@/?#\[\]]*@)?[^\s@/?#]*/[^\s@/?#]+/?(?:\?[^\s@#]*)?")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_SET_BY_BANYAN = ("model", "messages", "stream", "stream_options", "response_format", "tools", "tool_choice", "n")
"""Fields that Banyan sets: with another value, it could not read the reply."""


def _split_url(url: str) -> SplitResult | None:
    """Return the parts of a URL, or None if it is malformed, or has white space or a port that does not exist."""
    try:
        parts = urlsplit(url)
        has_possible_port = parts.port != 0  # reading a port above 65535 raises ValueError
    except ValueError:
        return None
    return parts if has_possible_port and not re.search(r"\s", url) else None


def _check_http(url: str, kind: str, secret: str) -> str:
    """Return an http(s) address without blanks around it, or "" for none; raise ValueError if it is no such address."""
    # The message never repeats it, as there may be a password in it. `kind` and `secret` say what to give, and where.
    parts = _split_url(url.strip())
    if url and (parts is None or not parts.hostname or parts.scheme not in ("http", "https")):
        raise ValueError(f"it should be {kind}")
    if parts and "@" in parts.netloc:
        raise ValueError(f"it has a name or password in it: set {secret}, which is never shown")
    return url.strip()


def check_url(url: str) -> str:
    """Return a Chroma server's URL without a trailing slash; raise ValueError if it is none, or contains more."""
    url = _check_http(url, "the URL of a Chroma server, such as http://127.0.0.1:8000", "BANYAN_CHROMA_TOKEN instead")
    if "?" in url or "#" in url:
        raise ValueError("it ends with ? or #: give the server's URL alone, such as http://127.0.0.1:8000")
    return url.rstrip("/")


def _check_token(token: SecretStr) -> SecretStr:
    """Return a token; raise ValueError if it is one that no HTTP header could hold."""
    if token.get_secret_value() and not _TOKEN.fullmatch(token.get_secret_value()):
        raise ValueError("it has characters that an HTTP header cannot hold")
    return token


ChromaUrl = Annotated[str, AfterValidator(check_url)]
HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]
HeaderToken = Annotated[SecretStr, AfterValidator(_check_token)]


class ChromaServer(Frozen):
    """The URL of a Chroma server, and the token that it requires."""

    url: ChromaUrl = Field(min_length=1)
    token: HeaderToken = SecretStr("")
    token_header: HeaderName = Field(default="Authorization")

    def headers(self) -> dict[str, str]:
        """Return the headers of each request, with the token as it is, or in `Authorization` as a bearer token."""
        token = self.token.get_secret_value()
        if not token:
            return {}
        is_standard_header = self.token_header.lower() == "authorization"
        return {self.token_header: f"Bearer {token}" if is_standard_header else token}


def _check_database_url(url: SecretStr) -> SecretStr:
    """Return the address of a PostgreSQL database, or an empty one for none; raise ValueError for anything else."""
    text = url.get_secret_value()  # not repeated in the message, because there may be a password in it
    if text and not (_ADDRESS.fullmatch(text) and _split_url(text)):
        raise ValueError("it should be the address of a PostgreSQL database, such as "
                         "postgresql+psycopg://banyan:PASSWORD@127.0.0.1/banyan, with user and password "
                         "percent-encoded (%40 for @, %2F for /, %3A for :, %3F for ?, %23 for #, %25 for %)")
    return url


DatabaseUrl = Annotated[SecretStr, AfterValidator(_check_database_url)]
EndpointUrl = Annotated[str, AfterValidator(lambda url: _check_http(
    url, "an endpoint's address, such as http://127.0.0.1:11434/v1", "the key in its own setting, BANYAN_LLM_API_KEY"))]


class NamedEndpoint(Frozen):
    """An OpenAI-compatible endpoint with the model that is asked there."""

    base_url: EndpointUrl = Field(min_length=1)
    model: str = Field(min_length=1)
    api_key: SecretStr = Field(default=SecretStr("none"))


def _read_object(given: Any, example: str) -> Any:
    """Return the object in a setting: of a text, which is JSON, the decoded value, {} if empty; else as it is."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given) if given.strip() else {}
    except ValueError as error:
        # The message does not repeat the text, which may contain keys.
        raise ValueError(f"it is not JSON ({error}): write an object such as {example}") from None


NamedEndpoints = Annotated[dict[str, NamedEndpoint], BeforeValidator(lambda given: _read_object(
    given, '{"local": {"base_url": "http://127.0.0.1:11434/v1", "model": "qwen3:8b"}}'))]


def is_loopback(host: str) -> bool:
    """Return True if an address or name is that of this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_trustworthy(url: str) -> bool:
    """Return True if nobody can change what comes from an address on its way: it uses https, or is on this machine."""
    parts = _split_url(url)
    if parts is None or not parts.hostname or "@" in parts.netloc:  # "https://known.org@other.org" is other.org
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))


def _check_issuer(url: str) -> str:
    """Return an issuer's URL, or "" for none; raise ValueError if its keys could be changed on their way to us."""
    parts = urlsplit(url) if is_trustworthy(url) else None
    # The paths of its keys are added to the URL, so it must not end with a query or fragment.
    if url and (parts is None or parts.query or parts.fragment):
        raise ValueError("it should be the issuer's URL as its tokens have it, by https (or http on this machine), "
                         "such as https://login.example.org/realms/main")
    return url


IssuerUrl = Annotated[str, AfterValidator(_check_issuer)]
"""An issuer's URL as in its tokens, or empty; a trailing slash is significant."""


def _read_extra_body(given: Any) -> dict[str, Any]:
    """Return the fields in a setting that are added to requests; raise ValueError if Banyan sets one of them itself."""
    body = _read_object(given, '{"top_k": 20}')
    if not isinstance(body, dict):
        raise ValueError('it is no JSON object: write one such as {"top_k": 20}')  # noqa: TRY004  (for pydantic)
    if own := [name for name in _SET_BY_BANYAN if name in body]:
        raise ValueError(f"Banyan sets {', '.join(own)} itself: leave that out, and name the model in BANYAN_LLM_MODEL")
    return body


ExtraBody = Annotated[dict[str, Any], BeforeValidator(_read_extra_body)]


def effort_of(efforts: str, step: str) -> str:
    """Return a step's effort from a setting such as "extract=low,answer=medium": its own, that of all steps, or ""."""
    effort_by_step = dict(_read_efforts(efforts))
    return effort_by_step.get(step) or effort_by_step.get("", "")


def check_efforts(efforts: str, steps: tuple[str, ...]) -> None:
    """Raise ValueError if an effort in a setting is unknown, or a step does not exist."""
    for step, effort in _read_efforts(efforts):
        if step and step not in steps:
            raise ValueError(f"there is no step {step!r}: the steps are {', '.join(steps)}")
        if effort not in EFFORTS:
            raise ValueError(f"{effort!r} is no effort: use {', '.join(EFFORTS)}, for all steps or by step, as in "
                             "extract=low,answer=medium; other values can be set in BANYAN_LLM_EXTRA_BODY")


def _read_efforts(efforts: str) -> list[tuple[str, str]]:
    """Return the parts of a setting as (step, effort); the step is "" for an effort that is for all steps."""
    # Of a part without "=", all is behind the separator, so its step is "".
    parts = [part.strip().rpartition("=") for part in efforts.lower().split(",") if part.strip()]
    return [(step.strip(), effort.strip()) for step, _, effort in parts]
