"""A model behind an endpoint's other paths than the chat: embeddings, rerankers."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from ...config import Settings
from ...runtime.budgets import charge
from ...runtime.event_loop import in_parallel, run
from ...text.scripts import estimate_tokens
from .endpoint import name_of, reported_count
from .failures import NOT_OPENAI, NOT_SET_UP, Fix, failure
from .limits import LimitedCalls

Request = tuple[dict[str, Any], Sequence[str]]
"""The body of a request, and the texts in it that the model reads."""


class _Answer(NamedTuple):
    body: dict[str, Any]
    prompt_tokens: int
    completion_tokens: int = 0
    cached_tokens: int = 0


class ServedModel:
    """Posts requests within the limits of the process, with the chat's timeouts and retries."""

    def __init__(self, settings: Settings, variables: str, operation: str) -> None:
        self._settings = settings
        self._variables = variables
        self._calls = LimitedCalls(self._connect, settings, operation)

    def post(self, path: str, requests: Sequence[Request]) -> list[dict[str, Any]]:
        """Send requests and return their answers in order. Their tokens are charged as `charge_calls` says."""
        charged, paid_tokens = charge(), list[int]()

        async def ask(request: Request) -> dict[str, Any]:
            """Send one request, charge its tokens, and return its answer."""
            _, texts = request
            answer = await self._calls.ask(texts, lambda: None, lambda send: send(path, request))
            paid_tokens.append(answer.prompt_tokens)
            if charged.budget is not None:
                charged.budget.add(self._settings.llm_model, answer.prompt_tokens, 0)
            return answer.body

        try:
            return run(in_parallel, ask, requests, self._settings.llm_concurrency)
        finally:  # calls before an error are paid, too
            if charged.account and paid_tokens:
                charged.account(path.strip("/"), self._settings.llm_model, len(paid_tokens), sum(paid_tokens))

    def _connect(self) -> Callable[[str, Request], Awaitable[_Answer]]:
        """Open a client, and return its function to post a request to a path."""
        import openai  # noqa: PLC0415  (a second of imports, only for what makes a call)

        from .http_client import open_openai  # noqa: PLC0415

        def failed(error: Exception, fix: Fix | None = None) -> Exception:
            return failure(error, name_of(self._settings), self._settings.llm_api_key, fix=fix,
                           variables=self._variables)

        try:
            client = open_openai(self._settings)
        except openai.OpenAIError as error:
            raise failed(error, fix=NOT_SET_UP) from None

        async def post(path: str, request: Request) -> _Answer:
            """Return the answer with its tokens, which are estimated if the endpoint does not report them."""
            body, texts = request
            try:
                answer = await client.post(path, body=body, cast_to=object)
            except openai.OpenAIError as error:
                raise failed(error) from None
            if not isinstance(answer, dict):
                raise failed(ValueError(type(answer).__name__), fix=NOT_OPENAI)
            return _Answer(answer, reported_count(answer.get("usage"), "prompt_tokens", "total_tokens")
                           or sum(map(estimate_tokens, texts)))

        return post
