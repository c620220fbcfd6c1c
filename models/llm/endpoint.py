"""Endpoints: what is sent to a model and comes back, the forms of request that each takes, and how they fail.

Forms of structured output are tried from the strictest down. A refusal costs nothing: the request is sent again at
once, in the next form or without the refused parameter, and the process remembers that. An error names the model, the
cause and the fix, and never the key.
"""

import json
import logging
import math
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import resources
from socket import gaierror
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ...config import Settings
from ...schemas.services import effort_of
from ..reasoner import ReasonerError

Messages = Sequence[tuple[str, str]]  # (role, text), the role one of "system", "user" and "assistant"
SYSTEM_ROLE = "system"  # stands for the role of the instructions among the names of refused parameters
Form = Literal["json_schema", "json_object", "text"]
"""Structured output by the schema, `response_format` for any JSON object, and plain text as the prompt describes it."""
FORMS: tuple[Form, ...] = get_args(Form)  # the strictest first
_OPENAI = "https://api.openai.com"  # where requests go if no address is set
_MOST_TOKENS = 1_000_000_000  # of one call; more is no count
# Endpoints know one name or the other for the most tokens of a reply.
_OTHER_NAMES = {"max_completion_tokens": "max_tokens", "max_tokens": "max_completion_tokens"}
_MAY_BE_REFUSALS = frozenset({400, 404, 422, 500, 501})  # of a parameter: 400 or 422 by the book, others by servers
_WORDS = re.compile(r"\w+")
_NAMES_THE_ROLE = re.compile(r"\broles?\b|\b(?:system|developer)[ _](?:role|message|prompt|instruction)", re.IGNORECASE)
_MAY_MEAN_THE_FORM = frozenset({400, 422, 501})  # statuses; with 404 and 500, only if the words name the form
_NAMES_THE_FORM = re.compile(r"response[_ ]?format|json[_ ]?(?:schema|object|mode)|structured|grammar|guided|"
                             r"\btools?\b|tool[_ ](?:choice|call|use)|function", re.IGNORECASE)
NO_KEY = "none"  # the placeholder if no key is set: clients require one
_LONGEST_DETAIL = 300  # characters of a client's message that an error repeats
_TITLE = re.compile(r"<title>([^<]*)", re.IGNORECASE)
_LOG = logging.getLogger("banyan.llm")


class Reply(NamedTuple):
    """The reply to one call, and its tokens."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    refusal: str = ""  # why the model declined to answer, if the endpoint reports that
    finish: str = "stop"  # why the answer ended, as the endpoint reports it: "stop", "length", "content_filter" ...
    batched: bool = False  # True if it came in a batch, at the price of batches


def chosen_parameters(settings: Settings) -> dict[str, Any]:
    """Return the parameters of requests that the user has set."""
    effort = effort_of(settings.llm_reasoning_effort, "")
    return ({"reasoning_effort": effort} if effort else {}) | settings.llm_extra_body


def host_of(settings: Settings) -> str:
    """Return the endpoint's host, or the provider that the name of the settings' model begins with."""
    return urlsplit(settings.llm_base_url or "").netloc or settings.llm_model.partition(":")[0]


def name_of(settings: Settings) -> str:
    """Return the settings' model, its endpoint's host and the proxy before it, for messages."""
    proxy = proxy_before(settings)
    through = f" (through the proxy {proxy} of HTTP_PROXY, HTTPS_PROXY or ALL_PROXY)" if proxy else ""
    return f"model {settings.llm_model!r} at {host_of(settings)}{through}"


def proxy_before(settings: Settings) -> str:
    """Return the proxy through which requests to the endpoint go, without its password; "" if there is none."""
    address, proxies = urlsplit(settings.llm_base_url or _OPENAI), getproxies()
    if not address.hostname or proxy_bypass(address.hostname):
        return ""
    proxy = urlsplit(proxies.get(address.scheme) or proxies.get("all") or "")
    return f"{proxy.scheme}://{proxy.netloc.rpartition('@')[2]}" if proxy.netloc else ""


def reported_count(count: object) -> int:
    """Return a count of tokens as an endpoint reports it, a fraction rounded up; 0 for what can be no count."""
    if isinstance(count, int | float) and not isinstance(count, bool) and 0 < count <= _MOST_TOKENS:
        return math.ceil(count)
    return 0


class Capability:
    """The forms and parameters that one endpoint and model take. Used only on the process's event loop."""

    def __init__(self, name: str) -> None:
        """Begin with the strictest form and all parameters; `name` is the model's, for the log."""
        self._name = name
        self.forms: Sequence[Form] = FORMS  # those to try, in order
        self.refused: frozenset[str] = frozenset()  # parameters that are not sent any more

    def record_answer(self, form: Form, refused: Collection[str], chosen: Collection[str]) -> None:
        """Record in which form and without which `refused` parameters a request was answered; warn of `chosen` ones."""
        # A parallel call may have dropped this form meanwhile, as refused; then what it has learnt stays.
        if form in self.forms:
            self.forms = self.forms[self.forms.index(form):]
        for name in sorted(set(refused) - self.refused):
            _LOG.log(logging.WARNING if name in chosen else logging.INFO,
                     "%s refuses %s, which is not sent to it any more", self._name, name)
        self.refused |= set(refused)


def leave_out(parameters: Mapping[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """Return the parameters without the refused ones; a refused name is replaced by its other name (`_OTHER_NAMES`)."""
    accepted: dict[str, Any] = {}
    for name, value in parameters.items():
        sent_as = name if name not in refused else _OTHER_NAMES.get(name)
        if sent_as is not None and sent_as not in refused:
            accepted.setdefault(sent_as, value)  # the first wins: the user may have set both names
    return accepted


def merge_system(messages: Messages, refused: Collection[str]) -> list[tuple[str, str]]:
    """Return the messages, the system's at the beginning of the first other one if the endpoint refuses that role."""
    if SYSTEM_ROLE not in refused:
        return list(messages)
    system_texts = [text for role, text in messages if role == SYSTEM_ROLE]
    (role, first_text), *rest = [message for message in messages if message[0] != SYSTEM_ROLE]
    return [(role, "\n\n".join([*system_texts, first_text])), *rest]


def refused_parameter(error: BaseException, parameters: Collection[str]) -> str | None:
    """Return which of the sent parameters an error names as refused, `SYSTEM_ROLE` if it names that role, or None."""
    if status_of(error) not in _MAY_BE_REFUSALS:
        return None
    words = words_of(error)
    # OpenAI has the name in a field; other endpoints have it only in their words.
    names = (getattr(error, "param", None), *_WORDS.findall(words))
    named = next((str(name) for name in names if name in parameters), None)
    return named or (SYSTEM_ROLE if _NAMES_THE_ROLE.search(words) else None)


def may_mean_the_form(error: BaseException) -> bool:
    """Return True if an error may mean that the endpoint does not know the form of request."""
    if find_fix_in_words(error) is not None:  # the words give another cause, such as a request that is too long
        return False
    status = status_of(error)
    return status in _MAY_MEAN_THE_FORM or (status in {404, 500} and bool(_NAMES_THE_FORM.search(words_of(error))))


class TooLong(ReasonerError):
    """A request is longer than the endpoint takes, or the reply longer than it gives."""


class Filtered(ReasonerError):
    """The endpoint's content filter stopped a request, or the reply to it."""


class EndpointFailed(ReasonerError):
    """The endpoint failed, not the request: it could not be reached, refused the key, or had an internal error."""

    def __init__(self, message: str, *, certain: bool = False) -> None:
        super().__init__(message)
        self.certain = certain  # no other call can fare better: key or model is refused, or nothing listens there


class EndpointDown(ReasonerError):
    """The endpoint is down, so no call is sent to it for now. The request has not failed and can be sent later."""


class Fix(NamedTuple):
    """The cause and the fix of a kind of failed call, and how it is recognised; `failures.toml` explains the fields."""

    problem: str
    fix: str
    error: str = ""
    certain: bool = False
    words: str = ""
    statuses: Sequence[int] = ()
    client_class: str = ""


_ERRORS = {kind.__name__: kind for kind in (ReasonerError, TooLong, Filtered)}
_FIXES = {name: Fix(**fields) for name, fields in tomllib.loads(
    (resources.files(__package__) / "failures.toml").read_text("utf-8")).items()}
NOT_OPENAI, NOT_SET_UP, NO_OPTIONS = _FIXES["not_openai"], _FIXES["not_set_up"], _FIXES["no_options"]
_FIX_BY_WORDS = [(re.compile(fix.words, re.IGNORECASE), fix) for fix in _FIXES.values() if fix.words]
_FIX_BY_STATUS = {status: fix for fix in _FIXES.values() for status in fix.statuses}
_STATUSES_WITH_WORDS = frozenset({400, 402, 403, 413, 422, 429, 500})  # whose errors' words may give another cause


def failure(error: Exception, settings: Settings, *, fix: Fix | None = None, variables: str = "BANYAN_LLM",
            ) -> ReasonerError:
    """Return the error to raise for an error of the client of the settings' endpoint, of the class that its fix names.

    Without a `fix`, it is found by the error. `variables` is the prefix of the endpoint's own settings.
    """
    shown_error: BaseException = error
    if fix is None:
        fix, shown_error = _find_fix(error)
    detail, secret = words_of(shown_error), settings.llm_api_key.get_secret_value()
    if secret and secret != NO_KEY:  # the client's message may repeat the key
        detail = detail.replace(secret, "***")
    advice = re.sub(r"BANYAN_LLM(?=_(?:BASE_URL|API_KEY|MODEL)\b)", variables, fix.fix)
    message = f"{name_of(settings)}: {fix.problem} ({detail[:_LONGEST_DETAIL]}); {advice}"
    if fix.error:
        return _ERRORS[fix.error](message)
    nobody_listens = any(isinstance(cause, ConnectionRefusedError | gaierror) for cause in _causes(error))
    return EndpointFailed(message, certain=fix.certain or nobody_listens)


def _find_fix(error: BaseException) -> tuple[Fix, BaseException]:
    """Return the fix for an error, and the error to show: this one, or the one of its causes that led to the fix."""
    status = status_of(error)
    if status is not None:
        return find_fix_in_words(error) or _FIX_BY_STATUS.get(status, _FIXES["other"]), error
    for fix in _FIXES.values():
        for cause in _causes(error) if fix.client_class else ():
            if any(fix.client_class in ancestor.__name__ for ancestor in type(cause).__mro__):
                return fix, cause
    return _FIXES["other"], error


def find_fix_in_words(error: BaseException) -> Fix | None:
    """Return the fix for what a client's error says, or None if its status or words give no cause."""
    if status_of(error) not in _STATUSES_WITH_WORDS:
        return None
    # OpenAI's protocol has names of causes in `code` and `type`, such as "insufficient_quota".
    return fix_for(f"{words_of(error)} {getattr(error, 'code', None)} {getattr(error, 'type', None)}")


def fix_for(words: str) -> Fix | None:
    """Return the fix for an endpoint's words, or None if they give no cause."""
    return next((fix for pattern, fix in _FIX_BY_WORDS if pattern.search(words)), None)


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status of a client's error or of one that it was raised from, or None."""
    for cause in _causes(error):
        # Some providers' clients call the status `code`; OpenAI's `code` is a text, which does not count.
        for status in (getattr(cause, "status_code", None), getattr(cause, "code", None)):
            if isinstance(status, int):
                return status
    return None


def words_of(error: BaseException) -> str:
    """Return the message of a client's error with the body of the response; of an HTML page only the title is shown."""
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
