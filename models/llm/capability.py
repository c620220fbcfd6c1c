"""Learn which form of structured output and which parameters an endpoint and model take, from the calls that are made.

Forms are tried from the strictest down. A refusal costs nothing: a form is tried with the next due call, and a request
is sent again at once without the parameter that the refusal names. The results last as long as the process.
"""

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, get_args

from .failures import cause_of, status_of, words_of

SYSTEM_ROLE = "system"
"""Stands for the role of the instructions among the names of parameters."""
# Endpoints know one name or the other for the most tokens of a reply.
_OTHER_NAMES = {"max_completion_tokens": "max_tokens", "max_tokens": "max_completion_tokens"}
_MAY_BE_REFUSALS = frozenset({400, 404, 422, 500, 501})
_WORDS = re.compile(r"\w+")
_NAMES_THE_ROLE = re.compile(r"\broles?\b|\b(?:system|developer)[ _](?:role|message|prompt|instruction)", re.IGNORECASE)
Form = Literal["json_schema", "tools", "json_object", "text", "bare"]
"""`response_format` with the schema, a call of a function with the schema as its parameters, `response_format` for any
JSON object, plain text in the form that the prompt describes, and the same without any parameter or system role: for
endpoints that refuse one without naming it."""
FORMS: tuple[Form, ...] = get_args(Form)
MISSES_IN_A_ROW = 3
"""Calls in a row that a form failed. One may have another cause: a refusal that passes, an answer that is the model's
own fault."""
# Statuses that may concern the form, and words that always do: some servers answer 404 or 500 (llama.cpp's
# "tools param requires --jinja flag", OpenRouter's "No endpoints found that support tool use").
_MAY_MEAN_THE_FORM = frozenset({400, 422, 501})
_NAMES_THE_FORM = re.compile(r"response[_ ]?format|json[_ ]?(?:schema|object|mode)|structured|grammar|guided|"
                             r"\btools?\b|tool[_ ](?:choice|call|use)|function", re.IGNORECASE)
_LOG = logging.getLogger("banyan.llm")


class Refusals:
    """The parameters that one endpoint and model refuse."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.names: frozenset[str] = frozenset()
        """The names of the parameters."""

    def remember(self, names: Collection[str], chosen: Collection[str]) -> None:
        """Remember parameters without which a request was answered.

        Args:
            names: the parameters.
            chosen: those that the user set; leaving one out is worth a warning.
        """
        for name in sorted(set(names) - self.names):
            _LOG.log(logging.WARNING if name in chosen else logging.INFO,
                     "%s refuses %s, which is not sent to it any more", self._name, name)
        self.names |= set(names)


def leave_out(parameters: Mapping[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """Return the parameters without the refused ones; one that has another name is sent under that (`_OTHER_NAMES`)."""
    parameters_left: dict[str, Any] = {}
    for name, value in parameters.items():
        sent_as = name if name not in refused else _OTHER_NAMES.get(name)
        if sent_as is not None and sent_as not in refused:
            parameters_left.setdefault(sent_as, value)
    return parameters_left


def merge_system(messages: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the messages with the text of the system's ones at the beginning of the first other message."""
    system = [text for role, text in messages if role == SYSTEM_ROLE]
    (role, first), *rest = [message for message in messages if message[0] != SYSTEM_ROLE]
    return [(role, "\n\n".join([*system, first])), *rest]


def refused_parameter(error: BaseException, parameters: Collection[str],
                      messages: Sequence[tuple[str, str]] = ()) -> str | None:
    """Return the parameter that an error names as refused, or `SYSTEM_ROLE` if it names that role; None if neither.

    The names in `parameters` and the messages are those that were sent.
    """
    if status_of(error) not in _MAY_BE_REFUSALS:
        return None
    named = getattr(error, "param", None)  # OpenAI's field; other endpoints have the name only in their words
    words = words_of(error)
    name = named if named in parameters else next((word for word in _WORDS.findall(words) if word in parameters), None)
    if name is None and _NAMES_THE_ROLE.search(words) and any(role == SYSTEM_ROLE for role, _ in messages):
        return SYSTEM_ROLE
    return name


def may_mean_the_form(error: BaseException) -> bool:
    """Return True if an error may be a refusal of the form of request."""
    if cause_of(error):  # such as a request that is too long
        return False
    status = status_of(error)
    return status in _MAY_MEAN_THE_FORM or (status in {404, 500} and bool(_NAMES_THE_FORM.search(words_of(error))))


class Capability:
    """The forms of request that one endpoint and model take. Used only on the process's event loop."""

    def __init__(self, name: str) -> None:
        """Begin with the strictest form; `name` is the model's, for the log."""
        self._name = name
        self._forms_left: list[Form] = list(FORMS)
        self._current = 0
        self._is_proven = False
        self._misses = 0
        self.answered: Form | None = None
        """The form in which the last usable answer came; None until there is one."""

    def forms(self) -> tuple[Form, ...]:
        """Return the forms to try in order: the one in use, then those below it."""
        return tuple(self._forms_left[self._current:])

    def record(self, sent: Form, answered: Form, *, usable: bool) -> None:
        """Record how a call went.

        A form that is refused several times in a row, while a lower one is answered, is never tried again. A form
        that is accepted several times without a usable answer is skipped, as the endpoint ignores it; after the last
        form the first one starts again.

        Args:
            sent: the form it was first sent in.
            answered: the form it was answered in.
            usable: whether the answer could be used.
        """
        if usable:
            self.answered = answered
        if self._forms_left[self._current] != sent:  # sent before the form changed
            return
        # A form in which a usable answer came once is not to blame for an unusable one.
        if answered == sent and (usable or self._is_proven):
            self._is_proven = True
            self._misses = 0
            return
        self._misses += 1
        if self._misses < MISSES_IN_A_ROW or len(self._forms_left) == 1:
            return
        if answered == sent:
            self._current = (self._current + 1) % len(self._forms_left)
        else:
            del self._forms_left[self._current:self._forms_left.index(answered)]
        self._is_proven, self._misses = False, 0
        _LOG.info("%s is asked in the form %s from now on, as the form before failed", self._name,
                  self._forms_left[self._current])
