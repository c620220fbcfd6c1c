"""OpenAI's Batch interface: an endpoint answers the calls of an extraction within a day, for half the price."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, TypeVar

import openai

from ...config import Settings
from ...prompts.rendering import Prompt
from ...runtime.budgets import BATCHED, CallLedger
from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema
from ..reasoner import ReasonerError
from .chat_model import ChatClient
from .endpoint import Messages, Reply, failure, name_of, status_of
from .http_client import open_openai
from .limits import process_endpoints
from .llm_reasoner import LlmReasoner
from .model_calls import Target
from .wire import Shape

_PATH: Final = "/v1/chat/completions"
_MOST_REQUESTS = 500  # in a file, so that the file with the answers fits what is read of a response (`MAX_BODY`)
_PATIENT_RETRIES = 10  # a batch takes a day, and a network may be down for a while
POLL_SECONDS = 60.0
_FINAL_STATES = frozenset({"completed", "failed", "expired", "cancelled"})
_NOT_FOUND_STATUSES = frozenset({404, 405, 501})  # with which an endpoint without batches answers
_T = TypeVar("_T")
_LOG = logging.getLogger("banyan.llm")

Call = tuple[Sequence[ExtractionRequest], GraphSchema]  # the arguments of an extraction
OpenBatch = tuple[str, str]
"""The endpoint's ids of a batch's requests and of the batch; "" while it is not known whether it has started."""
Save = Callable[[Sequence[OpenBatch]], Awaitable[None]]  # notes all batches under way, in place of those noted before


class _UnpaidCall(NamedTuple):
    """An extraction that the ledger has no answer for, with its prompt and the shape of its answer."""

    arguments: Call
    prompt: Prompt
    shape: Shape[list[Extraction]]


class BatchedReasoner(LlmReasoner):
    """Extracts with the replies that `fetch` got from an OpenAI-compatible endpoint's batches, else asks as usual."""

    def __init__(self, settings: Settings, ledger: CallLedger) -> None:
        super().__init__(settings, ledger)
        self._own = settings.for_step("extract")
        self._chat = ChatClient(self._own)
        self._client = open_openai(self._own).with_options(max_retries=_PATIENT_RETRIES)
        self._calls: dict[str, _UnpaidCall] = {}  # by their key in the ledger, which is the request's id in a batch
        self._replies: dict[str, Reply] = {}  # by the same key

    async def fetch(self, calls: Sequence[Call], open_batches: Sequence[OpenBatch], save: Save,
                    permit: Callable[[Sequence[Call], int], None] | None) -> None:
        """Have the endpoint answer the calls in batches, wait for that, and fetch the replies for `extract` to use.

        `open_batches` are those that this build, or one that ended early, last passed to `save`. `permit` is called
        with the calls and the tokens of their prompts before they are submitted, and may raise; without it nothing is
        submitted, and batches under way are cancelled. Raises ReasonerError if that fails.
        """
        await asyncio.to_thread(self._note_unpaid, calls)
        try:
            for file, noted_batch in open_batches:
                batch = noted_batch or await self._find_batch(file)
                if batch:
                    await self._take_replies(batch, [], cancels=permit is None)
            keys = [key for key in self._calls if key not in self._replies]
            if permit and keys:
                unpaid = [self._calls[key] for key in keys]
                permit([call.arguments for call in unpaid], sum(call.prompt.tokens for call in unpaid))
                keys_by_batch = await self._submit(keys, open_batches, save)
                for batch, batch_keys in keys_by_batch.items():
                    await self._take_replies(batch, batch_keys)
        except (AttributeError, openai.OpenAIError) as error:  # an attribute that the endpoint's answer lacks
            if status_of(error) in _NOT_FOUND_STATUSES:
                raise ReasonerError(f"{name_of(self._own)}: this endpoint has no batches: run without --batch, or "
                                    "check BANYAN_LLM_BASE_URL") from None
            raise failure(error, self._own) from None

    def _note_unpaid(self, calls: Sequence[Call]) -> None:
        """Note in `_calls` the calls that have requests and no answer in the ledger yet."""
        for requests, schema in calls:
            prompt, shape = self._extraction_call(requests, schema)
            key = self._targets["extract"].key(prompt.messages, shape)
            if requests and self._ledger.lookup(key) is None:
                self._calls[key] = _UnpaidCall((requests, schema), prompt, shape)

    async def _find_batch(self, file: str) -> str:
        """Return the id of the batch of an uploaded file, or "" if it is not among the newest hundred batches."""
        page = await self._client.batches.list(limit=100)
        return next((batch.id for batch in page.data if batch.input_file_id == file), "")

    async def _submit(self, keys: Sequence[str], open_batches: Sequence[OpenBatch], save: Save,
                      ) -> dict[str, Sequence[str]]:
        """Start batches for the calls with these keys, and return the keys of each batch's calls by its id."""
        keys_by_batch, capability = dict[str, Sequence[str]](), process_endpoints().limits(self._own).capability
        for start in range(0, len(keys), _MOST_REQUESTS):
            batch_keys, lines = keys[start:start + _MOST_REQUESTS], list[str]()
            for key in batch_keys:
                _, prompt, shape = self._calls[key]
                body = self._chat.request_body(prompt.messages, shape.json_schema, capability)
                lines.append(json.dumps({"custom_id": key, "method": "POST", "url": _PATH, "body": body}))
            file = await self._client.files.create(file=("requests.jsonl", "\n".join(lines).encode()), purpose="batch")
            await save([*open_batches, (file.id, "")])  # a build that follows a killed one finds the batch by its file
            # Not retried, as that could start and pay a second one.
            batch = await self._client.with_options(max_retries=0).batches.create(
                input_file_id=file.id, endpoint=_PATH, completion_window="24h")
            keys_by_batch[batch.id] = batch_keys
            open_batches = [*open_batches, (file.id, batch.id)]
            await save(open_batches)
        return keys_by_batch

    async def _take_replies(self, batch: str, keys: Sequence[str], *, cancels: bool = False) -> None:
        """Wait for a batch and keep its replies; ReasonerError: it failed, or has none for the calls in `keys`."""
        try:
            if cancels:
                with suppress(openai.APIStatusError):  # it is over already, or unknown
                    await self._client.batches.cancel(batch)
            while (state := await self._client.batches.retrieve(batch)).status not in _FINAL_STATES:
                await asyncio.sleep(POLL_SECONDS)
            files = [file for file in (state.output_file_id, state.error_file_id) if file]
            contents = [(await self._client.files.content(file)).content for file in files]
        except openai.NotFoundError:
            if not cancels:
                raise ReasonerError(f"batch {batch} is not at this endpoint: set the address and key that it was "
                                    "submitted with, or run without --batch, which gives it up") from None
            _LOG.warning("batch %s is not at this endpoint, and its calls are made as usual", batch)
            return
        batch_errors = (state.errors and state.errors.data) or []
        reasons = {str(error.message) for error in batch_errors}
        for line in b"\n".join(contents).splitlines():
            reasons |= self._take_reply(line)
        # Without `keys` nothing is missed: what an earlier build's batch did not answer is submitted again.
        missing = [key for key in keys if key not in self._replies]
        if not missing:
            return
        problem = (f"batch {batch} ended as {state.status!r}, and {len(missing)} of its {len(keys)} calls have no "
                   f"answer ({'; '.join(sorted(reasons)[:3])})")
        # The calls of a batch that failed may be many, and the user has not agreed to pay the usual price.
        if state.status != "completed" or len(missing) == len(keys):
            raise ReasonerError(f"{problem}. What was answered is not lost: run the command again to submit the rest, "
                                "or without --batch to have it answered at once for the usual price")
        _LOG.warning("%s: they are made as usual", problem)

    def _take_reply(self, line: bytes) -> set[str]:
        """Keep the reply in a line of a file of results in `_replies`; return the reasons why it has none, if so."""
        try:
            result = json.loads(line)
            key = result["custom_id"]
            if key in self._calls:  # the batch of an earlier build may have other calls
                self._replies[key] = self._chat.read_result(self._calls[key].prompt.messages, result)
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            return {str(error)}
        return set()

    async def _send_once(self, step: str, target: Target, messages: Messages, shape: Shape[_T]) -> Reply:
        """Return the reply that a batch has for a call, and charge it at the price of batches; else make the call."""
        # Taken out: should the reply be unusable, a later attempt has to make the call.
        reply = self._replies.pop(target.key(messages, shape), None)
        if reply is None:
            return await super()._send_once(step, target, messages, shape)
        self._ledger.spend(target.model + BATCHED, reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
        return reply
