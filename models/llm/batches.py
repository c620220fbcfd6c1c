"""OpenAI's Batch interface: an endpoint answers extraction calls within a day, for half the price."""

import json
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import openai
from openai.types import Batch

from ...config import Settings
from ...prompts import Prompt
from ...runtime.budgets import CallLedger, batched
from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema
from ..reasoner import ReasonerError
from .chat_model import ChatClient
from .endpoint import make_reply, name_of
from .failures import NOT_OPENAI, NOT_SET_UP, failure, status_of
from .http_client import open_openai
from .limits import process_endpoints
from .llm_reasoner import extraction_prompt, extraction_shape
from .model_calls import ModelCalls
from .wire import Shape

_T = TypeVar("_T")
_STEP: Final = "extract"
_PATH: Final = "/v1/chat/completions"
_OK = 200
_NOT_FOUND_STATUSES = frozenset({404, 405, 501})
_UPLOAD_SECONDS = 600.0
"""An endpoint takes long to store a large file before it answers."""
_POLLING_RETRIES = 10
"""Batches take a day, and a network may be down for a while."""


class UnknownBatch(ReasonerError):
    """The endpoint does not know a batch, a file or the interface."""


class BatchedCall(NamedTuple):
    """A call: what it reads, the schema that it shows, and how much of each document it reads."""

    requests: Sequence[ExtractionRequest]
    schema: GraphSchema
    sizes: Mapping[str, int]


class BatchClient:
    """The batches of the settings' endpoint, for one event loop."""

    def __init__(self, settings: Settings) -> None:
        self._name, self._key = name_of(settings), settings.llm_api_key
        if not settings.speaks_openai:
            raise self._no_batches()
        try:
            self._client = open_openai(settings, files=True)
        except openai.OpenAIError as error:
            raise failure(error, self._name, self._key, fix=NOT_SET_UP) from None

    async def check(self) -> None:
        """Check that the endpoint has batches."""
        try:
            await self.find("")
        except UnknownBatch:
            raise self._no_batches() from None

    async def upload(self, requests: bytes) -> str:
        """Store a file of requests, one line of JSON each, and return its id."""
        files = self._client.with_options(timeout=_UPLOAD_SECONDS).files
        return (await self._wait(files.create(file=("requests.jsonl", requests), purpose="batch"))).id

    async def start(self, file: str) -> str:
        """Start the batch of an uploaded file, and return its id.

        The request is not retried, because a retry could start and pay a second batch. If it fails without being
        refused, the batch may have started all the same; `find` returns its id then.
        """
        batches = self._client.with_options(max_retries=0).batches
        return (await self._wait(batches.create(input_file_id=file, endpoint=_PATH, completion_window="24h"))).id

    async def find(self, file: str) -> str:
        """Return the id of the batch of an uploaded file, or "" if none was started lately."""
        page = await self._wait(self._client.batches.list(limit=100))
        return next((batch.id for batch in page.data if batch.input_file_id == file), "")

    async def state(self, batch: str) -> Batch:
        """Return the state of a batch."""
        return await self._wait(self._client.with_options(max_retries=_POLLING_RETRIES).batches.retrieve(batch))

    async def cancel(self, batch: str) -> None:
        """Ask the endpoint to answer no more of a batch, which may take it some minutes."""
        await self._wait(self._client.batches.cancel(batch))

    async def results(self, batch: Batch) -> AsyncIterator[dict[str, Any]]:
        """Yield the results of a batch, one for each request; lines that are no JSON object are left out."""
        for file in filter(None, (batch.output_file_id, batch.error_file_id)):
            for line in (await self._wait(self._client.files.content(file))).content.splitlines():
                try:
                    result = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(result, dict):
                    yield result

    async def _wait(self, request: Awaitable[_T]) -> _T:
        """Return a request's result; its errors become errors for the user."""
        try:
            return await request
        except openai.OpenAIError as error:
            translated = failure(error, self._name, self._key)
            raise (UnknownBatch(str(translated)) if status_of(error) in _NOT_FOUND_STATUSES else translated) from None
        except (AttributeError, TypeError) as error:
            raise failure(error, self._name, self._key, fix=NOT_OPENAI) from None

    def _no_batches(self) -> ReasonerError:
        return ReasonerError(f"{self._name}: this endpoint has no batches: run without --batch, or check "
                             "BANYAN_LLM_BASE_URL")


class BatchedExtraction(ModelCalls):
    """Makes the requests of a batch, and records its results as the answers of ordinary calls.

    Methods that are no coroutines render prompts or read the ledger, so they should be called in a thread.
    """

    def __init__(self, settings: Settings, ledger: CallLedger) -> None:
        super().__init__(settings, ledger)
        own = settings.for_step(_STEP)
        self.account = batched(own.llm_model)
        """The model, by the name that accounts and prices have for batches."""
        self.client, self._chat = BatchClient(own), ChatClient(own)
        self._capability = process_endpoints().limits(own).capability

    def _make_request(self, call: BatchedCall) -> tuple[Prompt, Shape[list[Extraction]]]:
        return (extraction_prompt(call.requests, call.schema, self._settings),
                extraction_shape(call.requests, call.schema))

    def look_up(self, call: BatchedCall) -> tuple[str, int | None]:
        """Return the ledger's key of a call's answer, and its estimated prompt tokens; None if it has the answer."""
        prompt, shape = self._make_request(call)
        key = self._key(_STEP, prompt, shape)
        return key, None if self._ledger.lookup(key) is not None else prompt.tokens

    def request_line(self, key: str, call: BatchedCall) -> bytes:
        """Return a call as a line of a batch's file."""
        prompt, shape = self._make_request(call)
        body = self._chat.request_body(prompt.messages, shape.json_schema, self._capability)
        return json.dumps({"custom_id": key, "method": "POST", "url": _PATH, "body": body}).encode() + b"\n"

    async def record(self, result: Mapping[str, Any], call: BatchedCall | None) -> str:
        """Record a result under its call's key, if there is an answer in it; return why it cannot be used, or "".

        The call is None if the build no longer needs it.
        """
        try:
            response = result.get("response") or {}
            if result.get("error") or response.get("status_code") != _OK:
                reason = result.get("error") or (response.get("body") or {}).get("error") or {}
                return str(reason.get("code") or reason.get("message") or f"status {response.get('status_code')}")
            choice, usage = response["body"]["choices"][0], response["body"].get("usage") or {}
            message = choice["message"]
            reply = make_reply(message.get("content") or "", message.get("refusal") or "",
                               choice.get("finish_reason") or "stop", (), prompt_tokens=usage.get("prompt_tokens"),
                               completion_tokens=usage.get("completion_tokens"),
                               cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens"))
        except (AttributeError, LookupError, TypeError) as error:
            return f"{NOT_OPENAI.problem} ({error!r})"
        shape = None if call is None else extraction_shape(call.requests, call.schema)
        usable = await self._record_once(str(result["custom_id"]), _STEP, reply, shape, self.account)
        return "" if usable else "the answer cannot be used"
