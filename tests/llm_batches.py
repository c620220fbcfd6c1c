"""The tests' LLM server with OpenAI's Batch interface: files of requests, answered at once, later, in part or never."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

Answer = Callable[[dict[str, Any]], Awaitable[Response]]


class Batches:
    """The batches of a server.

    Args:
        answer: answers the body of a request, as the server answers ordinary calls.

    Set `status` to what batches report from now on ("in_progress" keeps their answers back), `unanswered` to how many
    requests of each batch fail, and `spoilt` to how many answers are no JSON. `submitted` has each batch's requests.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.status = "completed"
        self.unanswered = self.spoilt = 0
        self.submitted: dict[str, list[dict[str, Any]]] = {}
        self.cancelled: list[str] = []
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, dict[str, Any]] = {}

    def routes(self) -> APIRouter:
        router = APIRouter(prefix="/v1")
        router.post("/files")(self._upload)
        router.get("/files/{file}/content")(lambda file: PlainTextResponse(self._files[file]))
        router.post("/batches")(self._start)
        router.get("/batches")(lambda: JSONResponse({"object": "list", "data": [*self._batches.values()]}))
        router.get("/batches/{batch}")(self._state)
        router.post("/batches/{batch}/cancel")(self._cancel)
        return router

    async def _upload(self, request: Request) -> Response:
        name = f"file-{len(self._files)}"
        async with request.form() as form:
            assert form["purpose"] == "batch"
            self._files[name] = await form["file"].read()
        return JSONResponse({"id": name, "object": "file"})

    async def _start(self, request: Request) -> Response:
        body = await request.json()
        assert body["endpoint"] == "/v1/chat/completions"
        name = f"batch-{len(self._batches)}"
        self.submitted[name] = [json.loads(line) for line in self._files[body["input_file_id"]].splitlines()]
        self._batches[name] = {"id": name, "object": "batch", "input_file_id": body["input_file_id"]}
        return JSONResponse(self._batches[name])

    async def _state(self, batch: str) -> Response:
        requests, status = self.submitted[batch], "cancelled" if batch in self.cancelled else self.status
        state = self._batches[batch] | {"status": status, "request_counts": {"total": len(requests), "completed": 0,
                                                                             "failed": 0}}
        if status != "in_progress":
            if f"{batch}-out" not in self._files:
                await self._end(batch, requests)
            state |= {"output_file_id": f"{batch}-out"} | (
                {"error_file_id": f"{batch}-err"} if self.unanswered else {})
        return JSONResponse(state)

    async def _end(self, batch: str, requests: list[dict[str, Any]]) -> None:
        answered = len(requests) - self.unanswered
        self._files[f"{batch}-out"] = await self._lines(requests[:answered])
        self._files[f"{batch}-err"] = b"".join(json.dumps({
            "custom_id": one["custom_id"], "response": None,
            "error": {"code": "batch_expired" if self.status == "expired" else "server_error"}}).encode() + b"\n"
            for one in requests[answered:])

    async def _lines(self, requests: list[dict[str, Any]]) -> bytes:
        lines = []
        for number, one in enumerate(requests):
            response = await self._answer(one["body"])
            body = json.loads(bytes(response.body))
            if number < self.spoilt:
                body["choices"][0]["message"]["content"] = "no JSON"
            lines.append(json.dumps({"id": "r", "custom_id": one["custom_id"], "error": None, "response": {
                "status_code": response.status_code, "request_id": "q", "body": body}}).encode() + b"\n")
        return b"".join(reversed(lines))

    async def _cancel(self, batch: str) -> Response:
        self.cancelled.append(batch)
        return JSONResponse(self._batches[batch])
