"""Turn a client's error into one for the user: the model, the cause and the fix, and never the key."""

from collections.abc import Iterator
from socket import gaierror
from typing import NamedTuple

from pydantic import SecretStr

from ..reasoner import ReasonerError
from .breaker import EndpointFailed

NO_KEY = "none"
"""The placeholder if no key is set: clients require one."""
_SHOWN = 300


class Fix(NamedTuple):
    """The cause and the fix of a kind of error, for the user."""

    problem: str
    fix: str
    of_endpoint: bool = True
    """True if the endpoint failed, not the one request."""
    certain: bool = False
    """True if no other call could succeed."""


NOT_OPENAI = Fix("what it sent is not an answer of OpenAI's protocol",
                 "check BANYAN_LLM_BASE_URL, which usually ends in /v1")
NOT_SET_UP = Fix("it is not set up", "set it up as docs/llm.md says", certain=True)
_REFUSED = Fix("it refused the request", "lower BANYAN_CHUNK_TOKENS or BANYAN_CONTEXT_TOKENS if it was too long",
               of_endpoint=False)
_BY_STATUS = {
    400: _REFUSED, 413: _REFUSED, 422: _REFUSED,
    401: Fix("it refused the key", "check BANYAN_LLM_API_KEY", certain=True),
    403: Fix("it denied access", "check what the key of BANYAN_LLM_API_KEY may use"),
    404: Fix("it does not know the model or the path", "check BANYAN_LLM_MODEL and BANYAN_LLM_BASE_URL", certain=True),
    429: Fix("it kept refusing for its rate limit or quota",
             "lower BANYAN_LLM_REQUESTS_PER_SECOND or raise BANYAN_LLM_RETRIES")}
# By a part of the name of the error's class or a base class: clients have different classes with similar names.
_BY_NAME = {
    "ResponseRefused": Fix("its response is not read", "check BANYAN_LLM_BASE_URL"),
    "Timeout": Fix("it did not answer in time", "raise BANYAN_LLM_TIMEOUT"),
    "Connect": Fix("it cannot be reached", "check BANYAN_LLM_BASE_URL and that it is running")}
_OTHER = Fix("it failed", "see to the endpoint, then try again")
_OWN = ("BASE_URL", "API_KEY", "MODEL")


class ResponseRefused(Exception):
    """A response was not read to its end; says why."""


def failure(error: Exception, asked: str, key: SecretStr, *, fix: Fix | None = None,
            variables: str = "BANYAN_LLM") -> ReasonerError:
    """Return the error to raise for a client's error.

    Args:
        error: the client's error.
        asked: the model and its host.
        key: the endpoint's key, which the client's message may repeat.
        fix: the cause and the fix; None means by the error's status or name.
        variables: the prefix of the endpoint's own settings.

    Returns:
        `EndpointFailed` if it was not the request's fault.
    """
    cause: BaseException = error
    if fix is None:
        fix, cause = _find_fix(error)
    detail = " ".join(str(cause).split())
    secret = key.get_secret_value()
    if secret and secret != NO_KEY:
        detail = detail.replace(secret, "***")
    advice = fix.fix
    for name in _OWN:
        advice = advice.replace(f"BANYAN_LLM_{name}", f"{variables}_{name}")
    message = f"{asked}: {fix.problem} ({detail[:_SHOWN]}); {advice}"
    if not fix.of_endpoint:
        return ReasonerError(message)
    nobody_listens = any(isinstance(one, ConnectionRefusedError | gaierror) for one in _causes(error))
    return EndpointFailed(message, certain=fix.certain or nobody_listens)


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status of a client's error or of one that it was raised from, or None."""
    found = (getattr(one, name, None) for one in _causes(error) for name in ("status_code", "code"))
    return next((status for status in found if isinstance(status, int)), None)


def _find_fix(error: BaseException) -> tuple[Fix, BaseException]:
    """Return the fix for an error, and the one of its causes that it was found by."""
    status = status_of(error)
    if status is not None:
        return _BY_STATUS.get(status, _OTHER), error
    for part, fix in _BY_NAME.items():
        for cause in _causes(error):
            if any(part in kind.__name__ for kind in type(cause).__mro__):
                return fix, cause
    return _OTHER, error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, and the errors that it was raised from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
