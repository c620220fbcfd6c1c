"""OpenAI's Batch interface: an endpoint answers a file of requests within a day, for half the price."""

import json
from collections.abc import AsyncIterator, Awaitable
from typing import Any, NamedTuple

import httpx2
import openai

from ...config import Settings
from ..reasoner import ReasonerError
from .endpoint import name_of, reported_count
from .failures import NOT_OPENAI, NOT_SET_UP, failure, status_of
from .http_client import MAX_BODY, open_openai

PATH = "/v1/chat/completions"
"""Where each request of a batch goes, as the protocol wants it named."""
_FINAL_STATES = frozenset({"completed", "failed", "expired", "cancelled"})
_NOT_FOUND_STATUSES = frozenset({404, 405, 501})
_SHOWN_PROBLEMS = 3
_BATCHES_LISTED = 100
_UPLOAD_SECONDS = 600.0
"""An endpoint takes long to store a large file before it answers."""
_CLIENT_ERRORS = (openai.OpenAIError, httpx2.HTTPError)


class NotAtEndpoint(ReasonerError):
    """The endpoint does not know a batch, a file or the interface."""


class BatchState(NamedTuple):
    """The state of a batch, as the endpoint reports it."""

    status: str
    done: int
    """Requests that were answered, or failed."""
    files: list[str]
    """The files with the answers and the failures so far."""
    problem: str
    """Why the batch was refused, or ""."""

    @property
    def is_over(self) -> bool:
        """True if no more answers will come."""
        return self.status in _FINAL_STATES


class BatchEndpoint:
    """The batches of the settings' endpoint, for one event loop.

    Raises:
        ReasonerError: the model is not behind an OpenAI-compatible endpoint, or a key is missing.
    """

    def __init__(self, settings: Settings) -> None:
        """Open a client; nothing is requested yet."""
        self._model_and_host, self._key = name_of(settings), settings.llm_api_key
        if not settings.speaks_openai:
            raise self._no_batches()
        try:
            self._client = open_openai(settings, files=True)
        except openai.OpenAIError as error:
            raise failure(error, self._model_and_host, self._key, fix=NOT_SET_UP) from None

    async def check(self) -> None:
        """Check that the endpoint has batches.

        Raises:
            ReasonerError: it has none, or cannot be asked.
        """
        await self._call_interface(self._client.get("/batches", cast_to=object, options={"params": {"limit": 1}}))

    async def upload(self, requests: bytes) -> str:
        """Store a file of requests, one line of JSON each, and return its id."""
        patient = self._client.with_options(timeout=_UPLOAD_SECONDS)
        return self._id_in(await self._call_interface(
            patient.files.create(file=("requests.jsonl", requests), purpose="batch")))

    async def start(self, file: str) -> str:
        """Start the batch of an uploaded file, and return its id.

        The request is not retried, because a retry could start and pay a second batch. If it fails without being
        refused, the batch may have started all the same; `find` returns its id then.
        """
        answer = await self._call(self._client.with_options(max_retries=0).post("/batches", cast_to=object, body={
            "input_file_id": file, "endpoint": PATH, "completion_window": "24h"}))
        return self._id_in(answer)

    async def find(self, file: str) -> str:
        """Return the id of the batch of an uploaded file, or "" if none was started lately."""
        answer = await self._call(self._client.get("/batches", cast_to=object,
                                                   options={"params": {"limit": _BATCHES_LISTED}}))
        return next((self._id_in(batch) for batch in as_list(answer.get("data"))
                     if as_object(batch).get("input_file_id") == file), "")

    async def state(self, batch: str) -> BatchState:
        """Return the state of a batch."""
        answer = await self._call(self._client.get(f"/batches/{batch}", cast_to=object))
        counts, errors = as_object(answer.get("request_counts")), as_list(as_object(answer.get("errors")).get("data"))
        return BatchState(
            status=str(answer.get("status")),
            done=sum(reported_count(counts.get(name)) or 0 for name in ("completed", "failed")),
            files=[str(answer[name]) for name in ("output_file_id", "error_file_id") if answer.get(name)],
            problem="; ".join(str(as_object(error).get("message")) for error in errors[:_SHOWN_PROBLEMS]))

    async def cancel(self, batch: str) -> None:
        """Ask the endpoint to answer no more of a batch, which may take it some minutes."""
        await self._call(self._client.post(f"/batches/{batch}/cancel", cast_to=object))

    async def results(self, file: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the results in a file, one for each request; lines that are no JSON object are left out."""
        try:
            async with self._client.files.with_streaming_response.content(file) as response:
                rest = b""
                async for part in response.iter_bytes():
                    *lines, rest = (rest + part).split(b"\n")
                    if max(map(len, (*lines, rest))) > MAX_BODY:
                        raise failure(ValueError("a line is too long"), self._model_and_host, self._key, fix=NOT_OPENAI)
                    for result in map(_result_in, lines):
                        if result:
                            yield result
        except _CLIENT_ERRORS as error:
            raise self._failure(error) from None
        if result := _result_in(rest):
            yield result

    async def _call_interface(self, request: Awaitable[Any]) -> dict[str, Any]:
        """Make a call that any endpoint with batches knows; if this one does not, raise that it has no batches."""
        try:
            return await self._call(request)
        except NotAtEndpoint:
            raise self._no_batches() from None

    async def _call(self, request: Awaitable[Any]) -> dict[str, Any]:
        """Make a call, and return the JSON object of its answer."""
        try:
            answer = await request
        except openai.OpenAIError as error:
            raise self._failure(error) from None
        content = answer.to_dict() if isinstance(answer, openai.BaseModel) else answer
        if not isinstance(content, dict):
            raise failure(ValueError(type(content).__name__), self._model_and_host, self._key, fix=NOT_OPENAI)
        return content

    def _id_in(self, answer: dict[str, Any]) -> str:
        """Return the id in the description of a file or batch."""
        batch_id = answer.get("id")
        if not isinstance(batch_id, str) or not batch_id:
            raise failure(ValueError("it has no id"), self._model_and_host, self._key, fix=NOT_OPENAI)
        return batch_id

    def _failure(self, error: Exception) -> ReasonerError:
        reasoner_error = failure(error, self._model_and_host, self._key)
        return NotAtEndpoint(str(reasoner_error)) if status_of(error) in _NOT_FOUND_STATUSES else reasoner_error

    def _no_batches(self) -> ReasonerError:
        return ReasonerError(f"{self._model_and_host}: this endpoint has no batches: run without --batch, or check "
                             "BANYAN_LLM_BASE_URL")


def _result_in(line: bytes) -> dict[str, Any]:
    """Return the result in a line; empty if there is none."""
    try:
        return as_object(json.loads(line))
    except (ValueError, RecursionError):
        return {}


def as_object(value: Any) -> dict[str, Any]:
    """Return a JSON object as it is, and an empty one for anything else that an endpoint may have sent."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return a JSON array as it is, and an empty one for anything else."""
    return value if isinstance(value, list) else []
