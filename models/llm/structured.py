"""One typed answer from an endpoint: looked up, paid for, checked, and repaired once."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from pydantic import ValidationError

from ...prompts import Language, Prompt, render
from ...schemas.naming import content_id
from ..reasoner import ReasonerError
from .accounts import CallLedger
from .parsing import json_object
from .wire import Shape

T = TypeVar("T")
Messages = Sequence[tuple[str, str]]
"""(role, text), the role one of "system", "user" and "assistant"."""

_ATTEMPTS = 2
_SHOWN_ERRORS = 3


class Reply(NamedTuple):
    """What came back for one call, and what it cost."""

    text: str
    prompt_tokens: int
    completion_tokens: int


class Endpoint(Protocol):
    """Sends messages to a model. Safe to call from several threads."""

    def send(self, messages: Messages, json_schema: dict[str, Any]) -> Reply:
        """One paid call.

        Args:
            messages: the conversation.
            json_schema: the shape of the answer, a hint that the endpoint may not keep to.

        Raises:
            ReasonerError: it failed for good; names the cause and the mend.
        """


class StructuredChat:
    """Answers of a given shape, each paid once.

    Args:
        model: the model's name, part of what identifies a call.
        endpoint: where calls go.
        ledger: the response cache, the token accounts and the budget.
    """

    def __init__(self, model: str, endpoint: Endpoint, ledger: CallLedger) -> None:
        self._model = model
        self._endpoint = endpoint
        self._ledger = ledger

    def ask(self, step: str, prompt: Prompt, shape: Shape[T], language: Language) -> T:
        """The model's answer to a prompt, from the ledger where it has been paid before.

        An answer that does not fit goes back once with what is wrong with it. Only an answer that
        fits is kept for the prompt, so that asking again after a failure pays anew.

        Args:
            step: the account the tokens go to.
            prompt: the messages.
            shape: the form of the answer.
            language: of the repair message.

        Raises:
            ReasonerError: the endpoint failed, or the repaired answer does not fit either.
            BudgetExceeded: the call would be paid beyond the budget.
        """
        messages = [("system", prompt.system), ("user", prompt.user)]
        key = content_id(self._model, json.dumps(messages), json.dumps(shape.json_schema))
        kept = self._ledger.lookup(key)
        if kept is not None:
            try:
                return shape.read(json_object(kept))
            except ValueError:
                kept = None  # kept under older rules: pay for one that fits the present ones
        return self._pay(key, step, messages, shape, language)

    def _pay(self, key: str, step: str, messages: list[tuple[str, str]], shape: Shape[T],
             language: Language) -> T:
        wrong = ""
        for _ in range(_ATTEMPTS):
            self._ledger.check_budget()
            try:
                reply = self._endpoint.send(messages, shape.json_schema)
            except ReasonerError as error:
                raise ReasonerError(f"{step}: {error}") from error
            try:
                answer = shape.read(json_object(reply.text))
            except ValueError as error:
                wrong = _described(error)
                # Under a key that is never asked for: accounted, there to be looked at, not replayed.
                self._record(content_id("unusable", key, reply.text), step, reply)
                repair = render("repair", language, error=wrong).user
                messages = [*messages, ("assistant", reply.text or "-"), ("user", repair)]
                continue
            self._record(key, step, reply)
            return answer
        raise ReasonerError(f"{step}: model {self._model!r} gave no usable answer in {_ATTEMPTS} attempts: "
                            f"{wrong}. Try again, or set another model (BANYAN_LLM_MODEL)")

    def _record(self, key: str, step: str, reply: Reply) -> None:
        self._ledger.record(key=key, step=step, response=reply.text, prompt_tokens=reply.prompt_tokens,
                            completion_tokens=reply.completion_tokens)


def _described(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(str(part) for part in detail['loc'])}: {detail['msg']}"
                     for detail in details[:_SHOWN_ERRORS])
