"""The tests' LLM server with OpenAI's Batch interface: files of requests, answered at once, later, in part or never."""

import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse


class Batches:
    """The batches of a server; `answer` answers the body of a request, as the server answers ordinary calls.

    Set `status` to what batches report from now on ("in_progress" keeps their answers back), `unanswered` to how many
    requests of each new batch fail, `spoilt` to how many answers are no JSON, and `loses_reply` to start a batch and
    answer with an error. `submitted` has each batch's keys.
    """

    def __init__(self, answer: Callable[[dict[str, Any]], Awaitable[Response]]) -> None:
        self._answer = answer
        self.status = "completed"
        self.unanswered = self.spoilt = 0
        self.loses_reply = False
        self.submitted: dict[str, list[str]] = {}
        self.cancelled: list[str] = []
        self.asked = threading.Event()
        """Set when the state of a batch is asked for."""
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
        async with request.form() as form:
            assert form["purpose"] == "batch"
            name = f"file-{len(self._files)}"
            self._files[name] = await form["file"].read()
        return JSONResponse({"id": name, "object": "file"})

    async def _start(self, request: Request) -> Response:
        body = await request.json()
        name, requests = f"batch-{len(self._batches)}", self._files[body["input_file_id"]].splitlines()
        self.submitted[name] = [json.loads(line)["custom_id"] for line in requests]
        self._files[f"{name}-out"], self._files[f"{name}-err"] = await self._results([*map(json.loads, requests)])
        self._batches[name] = {"id": name, "object": "batch", "input_file_id": body["input_file_id"]}
        return JSONResponse(self._batches[name], 500 if self.loses_reply else 200)

    async def _results(self, requests: list[dict[str, Any]]) -> tuple[bytes, bytes]:
        lines: list[list[bytes]] = [[], []]
        for number, one in enumerate(requests):
            assert (one["method"], one["url"]) == ("POST", "/v1/chat/completions")
            result = {"custom_id": one["custom_id"], "response": None, "error": {"code": "server_error"}}
            fails = number < self.unanswered
            if not fails:
                response = await self._answer(one["body"])
                body = json.loads(bytes(response.body))
                if number < self.unanswered + self.spoilt:
                    body["choices"][0]["message"]["content"] = "no JSON"
                result |= {"response": {"status_code": response.status_code, "body": body}, "error": None}
            lines[fails].insert(0, json.dumps(result).encode() + b"\n")
        return b"".join(lines[0]), b"".join(lines[1])

    async def _state(self, batch: str) -> Response:
        self.asked.set()
        if batch not in self._batches:
            return JSONResponse({"error": {"message": "No batch found"}}, 404)
        status = "cancelled" if batch in self.cancelled else self.status
        files = {"output_file_id": f"{batch}-out", "error_file_id": f"{batch}-err" if self.unanswered else None}
        return JSONResponse({**self._batches[batch], "status": status, **({} if status == "in_progress" else files)})

    async def _cancel(self, batch: str) -> Response:
        self.cancelled.append(batch)
        return await self._state(batch)

    def forget(self) -> None:
        """Lose all batches, as an endpoint does that is asked with another key."""
        self._batches.clear()
