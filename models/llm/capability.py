"""Learn which form of structured output an endpoint and model take, from the calls that are made anyway.

Forms are tried from the strictest down. A refusal costs nothing, so a form is tried with the next due call; the result
lasts as long as the process.
"""

import logging
from typing import Literal, get_args

Form = Literal["json_schema", "tools", "json_object", "text"]
"""`response_format` with the schema, a call of a function with the schema as its parameters, `response_format` for any
JSON object, and plain text in the form that the prompt describes."""
FORMS: tuple[Form, ...] = get_args(Form)

REFUSALS_IN_A_ROW = 3
"""A refusal that does not mention the form may have another cause. This many in a row, each answered in the next form,
rule that out."""
UNUSABLE_IN_A_ROW = 4
"""Two prompts, each with its repair. If the form never gave a usable answer, the endpoint accepts but ignores it."""

_LOG = logging.getLogger("banyan.llm")


class Capability:
    """The forms of request that one endpoint and model take. Used only on the process's event loop."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._open: list[Form] = list(FORMS)
        self._current = 0
        self._proven = False
        self._refusals = self._unusable = 0

    def forms(self) -> tuple[Form, ...]:
        """Return the forms to try in order: the one in use, then those below it."""
        return tuple(self._open[self._current:])

    def refused(self, form: Form, answered: Form, *, named: bool) -> None:
        """Record that a call was refused in one form and answered in one below it.

        Args:
            form: the form it was first sent in.
            answered: the form it was answered in.
            named: the refusals mentioned the form. Then one is enough, unless the form has worked before: a
                transient error must never rule out a form for good.
        """
        if self._open[self._current] != form:
            return
        self._refusals += 1
        if (named and not self._proven) or self._refusals >= REFUSALS_IN_A_ROW:
            del self._open[self._current:self._open.index(answered)]
            self._use(self._current, "it refuses the form before")

    def judged(self, form: Form, *, usable: bool) -> None:
        """Record whether an answer in a form could be used.

        A form stays in use once it has given a usable answer: later unusable ones are the model's fault. If no form
        gives any, the first that is not refused is tried again.
        """
        if self._open[self._current] != form:
            return
        if usable:
            self._proven, self._refusals, self._unusable = True, 0, 0
            return
        self._unusable += 1
        if not self._proven and self._unusable >= UNUSABLE_IN_A_ROW and len(self._open) > 1:
            self._use((self._current + 1) % len(self._open), "no answer in the form before could be used")

    def _use(self, number: int, reason: str) -> None:
        self._current, self._proven, self._refusals, self._unusable = number, False, 0, 0
        _LOG.info("%s is asked in the form %s from now on: %s", self._name, self._open[number], reason)
