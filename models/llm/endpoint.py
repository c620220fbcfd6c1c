"""Endpoints: what is sent to a model and comes back, with its tokens, and the forms of request that each takes.

Which form of structured output and which parameters an endpoint and model take is learnt from the calls that are made.
Forms are tried from the strictest down. A refusal costs nothing: the request is sent again at once, in the next form or
without the parameter that the refusal names. The results last as long as the process.
"""

import logging
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, get_args
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ...config import Settings
from ...schemas.services import effort_of
from .failures import find_fix_in_words, status_of, words_of

Messages = Sequence[tuple[str, str]]
"""(role, text), the role one of "system", "user" and "assistant"."""
Form = Literal["json_schema", "json_object", "text"]
"""Structured output by the schema, `response_format` for any JSON object, and plain text in the form that the prompt
describes."""
FORMS: tuple[Form, ...] = get_args(Form)
SYSTEM_ROLE = "system"  # stands for the role of the instructions among the names of refused parameters
_OPENAI = "https://api.openai.com"
_MOST_TOKENS = 1_000_000_000  # of one call; more is no count
# Endpoints know one name or the other for the most tokens of a reply.
_OTHER_NAMES = {"max_completion_tokens": "max_tokens", "max_tokens": "max_completion_tokens"}
_MAY_BE_REFUSALS = frozenset({400, 404, 422, 500, 501})
_WORDS = re.compile(r"\w+")
_NAMES_THE_ROLE = re.compile(r"\broles?\b|\b(?:system|developer)[ _](?:role|message|prompt|instruction)", re.IGNORECASE)
# Statuses that may concern the form, and words that always do: some servers answer 404 or 500.
_MAY_MEAN_THE_FORM = frozenset({400, 422, 501})
_NAMES_THE_FORM = re.compile(r"response[_ ]?format|json[_ ]?(?:schema|object|mode)|structured|grammar|guided|"
                             r"\btools?\b|tool[_ ](?:choice|call|use)|function", re.IGNORECASE)
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


class Endpoint(Protocol):
    """Sends messages to a model."""

    async def send(self, messages: Messages, json_schema: dict[str, Any], permit: Callable[[], None]) -> Reply:
        """Make one paid call, or raise ReasonerError, which names the cause and the fix.

        `json_schema` is the shape of the answer, a hint that the endpoint may ignore. `permit` is called just before
        the call is sent; if it raises, the call is not sent.
        """


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
    """The forms and parameters that one endpoint and model take. Used only on the process's event loop.

    `forms` are those to try, in order; `refused` are the names of parameters that are not sent any more.
    """

    def __init__(self, name: str) -> None:
        """Begin with the strictest form and all parameters; `name` is the model's, for the log."""
        self._name = name
        self.forms: Sequence[Form] = FORMS
        self.refused: frozenset[str] = frozenset()

    def record_answer(self, form: Form, refused: Collection[str], chosen: Collection[str]) -> None:
        """Record in which form and without which parameters a request was answered; warn of those the user chose."""
        if form in self.forms:  # else another call has learnt more meanwhile
            self.forms = self.forms[self.forms.index(form):]
        for name in sorted(set(refused) - self.refused):
            _LOG.log(logging.WARNING if name in chosen else logging.INFO,
                     "%s refuses %s, which is not sent to it any more", self._name, name)
        self.refused |= set(refused)


def leave_out(parameters: Mapping[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """Return the parameters without the refused ones; one that has another name is sent under that (`_OTHER_NAMES`)."""
    accepted: dict[str, Any] = {}
    for name, value in parameters.items():
        sent_as = name if name not in refused else _OTHER_NAMES.get(name)
        if sent_as is not None and sent_as not in refused:
            accepted.setdefault(sent_as, value)
    return accepted


def merge_system(messages: Messages) -> list[tuple[str, str]]:
    """Return the messages with the text of the system's ones at the beginning of the first other message."""
    system = [text for role, text in messages if role == SYSTEM_ROLE]
    (role, first), *rest = [message for message in messages if message[0] != SYSTEM_ROLE]
    return [(role, "\n\n".join([*system, first])), *rest]


def refused_parameter(error: BaseException, parameters: Collection[str], messages: Messages) -> str | None:
    """Return which of the sent parameters an error names as refused; `SYSTEM_ROLE` if it names that role; or None."""
    if status_of(error) not in _MAY_BE_REFUSALS:
        return None
    words = words_of(error)
    # OpenAI has the name in a field; other endpoints have it only in their words.
    for name in (getattr(error, "param", None), *_WORDS.findall(words)):
        if name in parameters:
            return str(name)
    was_sent = any(role == SYSTEM_ROLE for role, _ in messages)
    return SYSTEM_ROLE if was_sent and _NAMES_THE_ROLE.search(words) else None


def may_mean_the_form(error: BaseException) -> bool:
    """Return True if an error may be a refusal of the form of request, not of one that is too long, for example."""
    if find_fix_in_words(error) is not None:
        return False
    status = status_of(error)
    return status in _MAY_MEAN_THE_FORM or (status in {404, 500} and bool(_NAMES_THE_FORM.search(words_of(error))))
