"""Learn which form of structured output an endpoint and model take, from the calls that are made anyway.

Forms are tried from the strictest down. A refusal costs nothing, so a form is tried with the next due call; the result
lasts as long as the process.
"""

import logging
import re
from typing import Literal, get_args

from .endpoint_errors import cause_of, status_of, words_of

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


def may_mean_the_form(error: BaseException) -> bool:
    """Return True if an error may be a refusal of the form of request."""
    if cause_of(error):
        return False
    status = status_of(error)
    return status in _MAY_MEAN_THE_FORM or (status in {404, 500} and bool(_NAMES_THE_FORM.search(words_of(error))))


class Capability:
    """The forms of request that one endpoint and model take. Used only on the process's event loop."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._open: list[Form] = list(FORMS)
        self._current = 0
        self._is_proven = False
        self._misses = 0
        self.answered: Form | None = None
        """The form in which the last usable answer came; None until there is one."""

    def forms(self) -> tuple[Form, ...]:
        """Return the forms to try in order: the one in use, then those below it."""
        return tuple(self._open[self._current:])

    def record(self, sent: Form, answered: Form, *, usable: bool) -> None:
        """Record how a call went.

        A form that is refused several times in a row, while one below it is answered, is never tried again. A form
        that never gave a usable answer is left for the next one, as the endpoint accepts but ignores it. If no form
        gives any, the first that is not refused is tried again.

        Args:
            sent: the form it was first sent in.
            answered: the form it was answered in.
            usable: whether the answer could be used.
        """
        if usable:
            self.answered = answered
        if self._open[self._current] != sent:
            return
        if answered == sent and (usable or self._is_proven):
            self._is_proven = True
            self._misses = 0
            return
        self._misses += 1
        if self._misses < MISSES_IN_A_ROW or len(self._open) == 1:
            return
        if answered == sent:
            self._current = (self._current + 1) % len(self._open)
        else:
            del self._open[self._current:self._open.index(answered)]
        self._is_proven, self._misses = False, 0
        _LOG.info("%s is asked in the form %s from now on, as the form before failed", self._name,
                  self._open[self._current])
