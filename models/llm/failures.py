"""Failures of endpoints: the error for the user, and the circuit breaker that sends none to one that is down.

An error names the model, the cause and the fix, and never the key. The breaker opens after several failures in a row of
the endpoint itself: every call then fails at once, without being sent. After some seconds calls pass again; the next
failure opens it again, and an answer closes it.
"""

import json
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from socket import gaierror
from typing import NamedTuple

from pydantic import SecretStr

from ..reasoner import ReasonerError

NO_KEY = "none"  # the placeholder if no key is set: clients require one
FAILURES_IN_A_ROW = 5  # each after all retries; they show that the endpoint is down
SECONDS_OPEN = 10.0  # about the time a server needs to restart; trying earlier would be a retry, as the calls have made
_LONGEST_DETAIL = 300
_TITLE = re.compile(r"<title>([^<]*)", re.IGNORECASE)
_LOG = logging.getLogger("banyan.llm")


class TooLong(ReasonerError):
    """A request is longer than the endpoint takes, or the reply longer than it gives."""


class Filtered(ReasonerError):
    """The endpoint's content filter stopped a request, or the reply to it."""


class EndpointFailed(ReasonerError):
    """The endpoint failed, not the request: it could not be reached, refused the key, or had an internal error.

    `certain` means that no other call can fare better: the key or the model is refused, or nothing listens there.
    """

    def __init__(self, message: str, *, certain: bool = False) -> None:
        super().__init__(message)
        self.certain = certain


class EndpointDown(ReasonerError):
    """The endpoint is down, so no call is sent to it for now. The request has not failed and can be sent later."""


class Fix(NamedTuple):
    """The cause and the fix of a kind of error for the user, and the class of the error."""

    problem: str
    fix: str
    error: type[ReasonerError] = EndpointFailed
    certain: bool = False  # True if no other call could succeed


NOT_OPENAI = Fix("what it sent is not an answer of OpenAI's protocol",
                 "check BANYAN_LLM_BASE_URL, which usually ends in /v1")
NOT_SET_UP = Fix("it is not set up", "set it up as docs/llm.md says", certain=True)
NO_OPTIONS = Fix("its requests take no further parameters", "unset BANYAN_LLM_EXTRA_BODY and "
                 "BANYAN_LLM_REASONING_EFFORT, which are for OpenAI-compatible endpoints", certain=True)
_TOO_LONG = Fix("the request is longer than it takes", "serve the model with a longer context, or lower "
                "BANYAN_CHUNK_TOKENS (for building) or BANYAN_CONTEXT_TOKENS (for questions)", TooLong)
_NO_CREDIT = Fix("its credit is used up", "add credit or raise the quota where the key was issued", certain=True)
_FILTERED = Fix("its content filter stopped the request", "use another model (BANYAN_LLM_MODEL) for this text",
                Filtered)
_REFUSED = Fix("it refused the request", "change what it names; docs/endpoints.md says what is sent", ReasonerError)
_REDIRECTED = Fix("it redirects to another address, to which nothing is sent",
                  "set BANYAN_LLM_BASE_URL to the address that is meant", certain=True)
_OTHER_FAILURE = Fix("it failed", "see to the endpoint, then try again")

# What endpoints say, in the order in which it is looked for.
_FIX_BY_WORDS = [(re.compile(pattern, re.IGNORECASE), fix) for pattern, fix in (
    (r"insufficient[_ ](?:quota|balance|credit|funds)", _NO_CREDIT),
    ((r"content[_ ](?:filter|policy|management|exists risk)|data[_ ]?inspection|moderation|"
      r"inappropriate content|prohibited[_ ]content|responsibleai"), _FILTERED),
    ((r"context[_ ]?(?:length|window|size)|maximum context|too many (?:input )?tokens|"
      r"(?:prompt|input|request|message|content|text)s?\b[^.]{0,40}\btoo (?:long|large)|"
      r"input tokens? (?:count )?\(?\d*\)? ?exceed|must be <= ?\d"), _TOO_LONG))]
_STATUSES_WITH_WORDS = frozenset({400, 402, 403, 413, 422, 429, 500})
_FIX_BY_STATUS = {
    400: _REFUSED, 422: _REFUSED, 413: _TOO_LONG, 402: _NO_CREDIT,
    **dict.fromkeys((301, 302, 303, 307, 308), _REDIRECTED),
    401: Fix("it refused the key", "check BANYAN_LLM_API_KEY", certain=True),
    403: Fix("it denied access", "check what the key of BANYAN_LLM_API_KEY may use"),
    404: Fix("it does not know the model or the path", "check BANYAN_LLM_MODEL and BANYAN_LLM_BASE_URL, which usually "
             "ends in /v1", certain=True),
    429: Fix("it kept refusing for its rate limit or quota",
             "lower BANYAN_LLM_REQUESTS_PER_SECOND or raise BANYAN_LLM_RETRIES")}
# By a part of the name of the error's class or a base class: clients have different classes with similar names.
_FIX_BY_ERROR_NAME = {
    "ResponseRefused": Fix("its response is not read", "check BANYAN_LLM_BASE_URL"),
    "Timeout": Fix("it did not answer in time", "raise BANYAN_LLM_TIMEOUT"),
    "Connect": Fix("it cannot be reached", "check BANYAN_LLM_BASE_URL and that it is running")}


def failure(error: Exception, model_and_host: str, key: SecretStr, *, fix: Fix | None = None,
            variables: str = "BANYAN_LLM") -> ReasonerError:
    """Return the error to raise for a client's error, of the class that its fix names.

    Args:
        error: the client's error.
        model_and_host: as `endpoint.name_of` returns them.
        key: the endpoint's key, which the client's message may repeat.
        fix: the cause and the fix; None means by the error's words, status or name.
        variables: the prefix of the endpoint's own settings.
    """
    fix, shown = (fix, error) if fix else _find_fix(error)
    detail, secret = words_of(shown), key.get_secret_value()
    if secret and secret != NO_KEY:
        detail = detail.replace(secret, "***")
    advice = re.sub(r"BANYAN_LLM(?=_(?:BASE_URL|API_KEY|MODEL)\b)", variables, fix.fix)
    message = f"{model_and_host}: {fix.problem} ({detail[:_LONGEST_DETAIL]}); {advice}"
    if fix.error is not EndpointFailed:
        return fix.error(message)
    nobody_listens = any(isinstance(cause, ConnectionRefusedError | gaierror) for cause in _causes(error))
    return EndpointFailed(message, certain=fix.certain or nobody_listens)


def _find_fix(error: BaseException) -> tuple[Fix, BaseException]:
    """Return the fix for an error, and the error to show: this one, or the one of its causes that led to the fix."""
    status = status_of(error)
    if status is not None:
        return find_fix_in_words(error) or _FIX_BY_STATUS.get(status, _OTHER_FAILURE), error
    for name_part, fix in _FIX_BY_ERROR_NAME.items():
        for cause in _causes(error):
            if any(name_part in base.__name__ for base in type(cause).__mro__):
                return fix, cause
    return _OTHER_FAILURE, error


def find_fix_in_words(error: BaseException) -> Fix | None:
    """Return the fix for what a client's error says, or None if its status or words give no cause."""
    words = " ".join(map(str, (words_of(error), getattr(error, "code", None), getattr(error, "type", None))))
    return fix_for(words) if status_of(error) in _STATUSES_WITH_WORDS else None


def fix_for(words: str) -> Fix | None:
    """Return the fix for an endpoint's words, or None if they give no cause."""
    return next((fix for pattern, fix in _FIX_BY_WORDS if pattern.search(words)), None)


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status of a client's error or of one that it was raised from, or None."""
    for cause in _causes(error):
        for status in (getattr(cause, "status_code", None), getattr(cause, "code", None)):
            if isinstance(status, int):
                return status
    return None


def words_of(error: BaseException) -> str:
    """Return the message of a client's error, with the body of the response; of a page of HTML only its title."""
    message, body = " ".join(str(error).split()), getattr(error, "body", None)
    if not body or " - " in message:  # the openai package's own messages have the body behind " - "
        return message
    if not isinstance(body, str):
        return f"{message} - {json.dumps(body, ensure_ascii=False, default=str)}"
    if body.lstrip().startswith("<"):
        title = _TITLE.search(body)
        body = f"a page of HTML: {title[1].strip()}" if title else "a page of HTML"
    return f"{message} - {body}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, then what it was raised from, and so on."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


class Breaker:
    """Counts the failures of calls to one endpoint. Used only on the process's event loop."""

    def __init__(self, name: str, clock: Callable[[], float]) -> None:
        """Begin with an endpoint that is up; `name` is for the log, and `clock` returns seconds."""
        self._name, self._clock = name, clock
        self._failures, self._reason, self._down_until = 0, "", 0.0

    def check(self) -> None:
        """Raise EndpointDown if the endpoint is down and it is too early to try it."""
        if self._clock() < self._down_until:
            raise EndpointDown(f"the endpoint is down: {self._reason}. Progress is saved. Run the command again when "
                               "it answers, to go on from here")

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Record the outcome of the call that the block sends; a cancelled call does not count.

        Raises:
            EndpointDown: the endpoint is down, or the call failed as the last of too many in a row.
        """
        self.check()
        try:
            yield
        except EndpointFailed as failure:
            self._failures += 1
            if failure.certain or self._failures >= FAILURES_IN_A_ROW:
                self._reason, self._down_until = str(failure), self._clock() + SECONDS_OPEN
                _LOG.warning("%s is down: no call is sent to it for %g s", self._name, SECONDS_OPEN)
                self.check()
            raise
        except ReasonerError:  # the endpoint answered, even if it refused this one request
            self._failures = 0
            raise
        self._failures = 0
