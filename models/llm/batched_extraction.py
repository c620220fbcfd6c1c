"""Extraction calls as requests of a batch, and the recording of their answers as those of ordinary calls."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...config import Settings
from ...prompts import Prompt
from ...runtime.budgets import CallLedger
from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema
from ...schemas.prices import batched
from ..reasoner import ReasonerError
from .batch_endpoint import PATH, as_object
from .limits import process_endpoints
from .llm_reasoner import extraction_prompt, extraction_shape
from .model_calls import ModelCalls
from .structured import messages_of
from .wire import Shape

if TYPE_CHECKING:
    from .chat_model import ChatClient

_STEP: Final = "extract"
_OK = 200


class BatchedCall(NamedTuple):
    """A call: what it reads, the schema that it shows, and how much of each document it reads."""

    requests: Sequence[ExtractionRequest]
    schema: GraphSchema
    sizes: Mapping[str, int]


class KeyedCall(NamedTuple):
    """What is known of a call before it is made."""

    key: str
    """Under which the ledger has its answer."""
    prompt_tokens: int
    """Estimated."""
    is_answered: bool


class BatchedExtraction(ModelCalls):
    """Makes the requests of a batch, and records its results.

    Arguments are as in `ModelCalls`. Methods that are no coroutines render prompts or read the ledger, so they should
    be called in a thread.
    """

    def __init__(self, settings: Settings, ledger: CallLedger) -> None:
        """Store the settings of the extraction step and the ledger."""
        super().__init__(settings, ledger)
        self._ledger = ledger
        self._own = settings.for_step(_STEP)
        self._limits = process_endpoints().limits(self._own)

    @property
    def account(self) -> str:
        """The model, by the name that accounts and prices have for batches."""
        return batched(self._own.llm_model)

    @property
    def knows_form(self) -> bool:
        """True if a call was answered, which shows the form of request that the endpoint takes."""
        return self._limits.capability.answered is not None

    @cached_property
    def _client(self) -> "ChatClient":
        from .chat_model import ChatClient  # noqa: PLC0415  (two seconds of imports)

        return ChatClient(self._own)

    def _make(self, call: BatchedCall) -> tuple[Prompt, Shape[list[Extraction]]]:
        return (extraction_prompt(call.requests, call.schema, self._settings),
                extraction_shape(call.requests, call.schema))

    def look_up(self, call: BatchedCall) -> KeyedCall:
        """Return what is known of a call."""
        prompt, shape = self._make(call)
        key = self._chat_of(_STEP).key_of(prompt, shape)
        return KeyedCall(key, prompt.tokens, self._ledger.lookup(key) is not None)

    async def ask_now(self, call: BatchedCall) -> None:
        """Make an ordinary call, whose answer is recorded.

        Raises:
            ReasonerError: the call failed for good.
            BudgetExceeded: the call would exceed the budget.
        """
        await self._ask(_STEP, lambda: self._make(call))

    def request_line(self, key: str, call: BatchedCall) -> bytes:
        """Return a call as a line of a batch's file, in the form last answered, or else in the first one to try."""
        prompt, shape = self._make(call)
        form = self._limits.capability.answered or self._limits.capability.forms()[0]
        body = self._client.request_body(messages_of(prompt), shape.json_schema, form,
                                         refused_parameters=self._limits.refusals.names)
        return json.dumps({"custom_id": key, "method": "POST", "url": PATH, "body": body}).encode() + b"\n"

    async def record(self, result: Mapping[str, Any], call: BatchedCall | None) -> str:
        """Record a result of a batch under its call's key, if there is an answer in it.

        Args:
            result: a line of the batch's results.
            call: the call; None if the build no longer needs it.

        Returns:
            Why its answer cannot be used, or "".
        """
        response, error = as_object(result.get("response")), as_object(result.get("error"))
        body = as_object(response.get("body"))
        if error or response.get("status_code") != _OK:
            reason = error or as_object(body.get("error"))
            return str(reason.get("code") or reason.get("message") or f"status {response.get('status_code')}")
        try:
            reply = self._client.read_body(body)
        except ReasonerError as failed:
            return str(failed)
        shape = None if call is None else extraction_shape(call.requests, call.schema)
        usable = await self._chat_of(_STEP).record_batched(str(result["custom_id"]), _STEP, reply, shape)
        return "" if usable else "the answer cannot be used"
