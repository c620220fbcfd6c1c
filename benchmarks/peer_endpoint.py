"""The endpoint for peers: the settings' model and this process's embeddings, with usage counted and replies cached.

It listens on loopback only. A peer needs no key, because the settings' key is added to forwarded requests. Replies are
stored in the ledger of calls outside knowledge bases, by the whole request.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import httpx
from banyan.benchmarks.usage import Usage
from banyan.config import Settings
from banyan.graph_store.ledger.token_accounts import Calls
from banyan.models.embedding.embedder import Embedder
from banyan.runtime.budgets import Budget, BudgetExceeded
from banyan.schemas.naming import content_id

_MOST = 20_000_000
"""The largest request in bytes: a batch of texts to embed."""
_IGNORED_FIELDS = frozenset({"stream", "stream_options", "user", "n"})
"""Fields that do not affect the answer."""


class PeerEndpoint:
    """An OpenAI-compatible endpoint for peers that counts their usage.

    Args:
        settings: the endpoint that answers, its model and key.
        embedder: the embedder of Banyan's arms.
        calls: the ledger of replies.
        budget: the budget; None means no limit.
    """

    def __init__(self, settings: Settings, embedder: Embedder, calls: Calls, budget: Budget | None = None) -> None:
        self.usage = Usage()
        self._settings = settings
        self._embedder = embedder
        self._calls = calls
        self._budget = budget
        self._client = httpx.Client(timeout=settings.llm_timeout, headers={
            "authorization": f"Bearer {settings.llm_api_key.get_secret_value()}"})

    def embed(self, request: dict[str, Any]) -> dict[str, Any]:
        """Embed texts, and return the vectors in the form of OpenAI's API."""
        given = request["input"]
        vectors = self._embedder.encode([given] if isinstance(given, str) else given)
        return {"object": "list", "model": request.get("model", ""), "usage": {"prompt_tokens": 0, "total_tokens": 0},
                "data": [{"object": "embedding", "index": number, "embedding": vector.tolist()}
                         for number, vector in enumerate(vectors)]}

    def complete(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the model's reply to a request, from the ledger if it was paid before.

        Raises:
            BudgetExceeded: the call would exceed the budget.
            httpx.HTTPError: the endpoint failed.
        """
        asked = {name: value for name, value in request.items() if name not in _IGNORED_FIELDS}
        asked["model"] = self._settings.llm_model
        key = content_id("peer", json.dumps(asked, sort_keys=True))
        cached = self._calls.lookup(key)
        reply: dict[str, Any] = json.loads(cached) if cached is not None else self._call_model(key, asked)
        usage = reply.get("usage") or {}
        self.usage.add(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0))
        return reply

    def _call_model(self, key: str, asked: dict[str, Any]) -> dict[str, Any]:
        if self._budget:
            self._budget.check()
        response = self._client.post(f"{self._settings.llm_base_url}/chat/completions", json=asked)
        response.raise_for_status()
        reply: dict[str, Any] = response.json()
        usage = reply.get("usage") or {}
        prompt, completion = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
        self._calls.record(key=key, step="peer", response=json.dumps(reply), prompt_tokens=prompt,
                           completion_tokens=completion, model=self._settings.llm_model)
        if self._budget:
            self._budget.add(self._settings.llm_model, prompt, completion)
        return reply

    @contextmanager
    def serve(self) -> Iterator[str]:
        """Serve on a free port of this machine and yield the base URL."""
        with ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"endpoint": self})) as server:
            thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_address[1]}/v1"
            finally:
                server.shutdown()
                thread.join()
                self._client.close()


class _Handler(BaseHTTPRequestHandler):
    """The two paths of OpenAI's API; any other path is taken for a completion."""

    endpoint: PeerEndpoint

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        if not 0 < size <= _MOST:
            self._send(413, {"error": {"message": f"a request has 1 to {_MOST:,} bytes"}})
            return
        request = json.loads(self.rfile.read(size))
        try:
            if self.path.endswith("/embeddings"):
                self._send(200, self.endpoint.embed(request))
            else:
                self._answer(request, self.endpoint.complete(request))
        except BudgetExceeded as error:
            self._send(403, {"error": {"message": str(error)}})
        except httpx.HTTPError as error:
            self._send(502, {"error": {"message": f"the endpoint failed: {error}"}})

    def _answer(self, request: dict[str, Any], reply: dict[str, Any]) -> None:
        if not request.get("stream"):
            self._send(200, reply)
            return
        choice = reply["choices"][0]
        parts = [{"index": 0, "delta": {"role": "assistant", "content": choice["message"].get("content") or ""},
                  "finish_reason": None}, {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]
        events = [f"data: {json.dumps(reply | {'object': 'chat.completion.chunk', 'choices': [part]})}\n\n"
                  for part in parts]
        self._write(200, "text/event-stream", "".join([*events, "data: [DONE]\n\n"]))

    def _send(self, status: int, value: dict[str, Any]) -> None:
        self._write(status, "application/json", json.dumps(value))

    def _write(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (its name in http.server)
        """Log nothing, because usage is counted instead."""
