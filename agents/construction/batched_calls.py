"""Extraction calls that the endpoint answers in batches, within a day and for half the price.

The answers are recorded as if the calls had been made one by one. The step `extract` then takes the recorded answers,
and makes only the calls that have none. The ledger lists the batches that are under way, so a build that follows a
killed one does not submit them again.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.ledger.notes import OpenBatch, read_open_batches, write_open_batches
from ...models.llm.batch_endpoint import BatchEndpoint, BatchState, NotAtEndpoint
from ...models.llm.batched_extraction import BatchedCall, BatchedExtraction
from ...models.llm.failures import EndpointDown, EndpointFailed
from ...models.reasoner import ReasonerError
from ...runtime.budgets import Budget, charge, charge_calls
from ..estimate import estimate_extraction
from .build_report import show_progress

_T = TypeVar("_T")
_MOST_REQUESTS, _MOST_BYTES = 50_000, 100_000_000
"""The limits of one file of requests. OpenAI takes files of twice the bytes."""
FIRST_WAIT, _LONGEST_WAIT, _WAIT_GROWTH = 30.0, 300.0, 1.2
"""Seconds between two requests for a batch's state: at first, at most, and the factor from one wait to the next."""
_SHOWN_REASONS = 3
_MOST_FAILED_REQUESTS = 10
"""How many requests for states may fail in a row: batches take a day, and a network may be down for a while."""

_LOG = logging.getLogger("banyan.llm")


class InStep(Protocol):
    """Runs a function on the knowledge base as a step of the run, in a thread."""

    def __call__(self, do: Callable[[KnowledgeBase], _T]) -> Awaitable[_T]:
        """Return what the function returns."""


class BatchedCalls:
    """The calls of one build that are answered in batches.

    Args:
        extraction: makes requests, and records results.
        endpoint: the batch interface of the model's endpoint.
        in_step: see `InStep`.
        run: the id of the build, to which the calls are charged.
        budget: the budget of the build; None means no limit.
    """

    def __init__(self, extraction: BatchedExtraction, endpoint: BatchEndpoint, in_step: InStep, run: str,
                 budget: Budget | None) -> None:
        """Start without calls; `answer` is given them."""
        self._extraction, self._endpoint, self._in_step = extraction, endpoint, in_step
        self._run, self._budget = run, budget
        self._calls: dict[str, BatchedCall] = {}  # by key
        self._open: dict[str, OpenBatch] = {}  # the batches under way, by the file that has their requests
        self._failures_left = 0  # until a first request for a state has succeeded
        self._problems: list[str] = []

    async def answer(self, calls: Sequence[BatchedCall], *, submits: bool) -> None:
        """Wait until the endpoint has answered calls in batches, and record the answers.

        Args:
            calls: all calls that the build is about to make.
            submits: submit the calls that are neither answered nor in a batch that is under way. If False, nothing is
                submitted: the batches under way are cancelled, and the answers that they already have are recorded.

        Raises:
            BudgetExceeded: the calls would take more than the budget leaves.
            ReasonerError: the endpoint refused a batch, did not answer all of it, does not know it, or cannot be
                reached. The answers that did arrive are recorded.
        """
        looked_up = await asyncio.to_thread(lambda: [*map(self._extraction.look_up, calls)])
        self._calls = {known.key: call for known, call in zip(looked_up, calls, strict=True)}
        open_batches = await self._in_step(lambda kb: read_open_batches(kb.database))
        self._open = {batch.file: batch for batch in open_batches}
        submitted = {key for batch in open_batches for key in batch.keys}
        unsubmitted_tokens = {known.key: known.prompt_tokens for known in looked_up
                              if not known.is_answered and known.key not in submitted}
        if submits and unsubmitted_tokens:
            await self._submit(unsubmitted_tokens)
        await self._settle_starts(restarts=submits)
        if self._open and not submits:
            await self._cancel()
        await self._collect(submits=submits)
        if self._problems:
            raise ReasonerError(f"{'; '.join(self._problems)}. What was answered is saved: run the command again to "
                                "submit the rest, or without --batch to have it answered at once for the usual price")

    async def _submit(self, prompt_tokens: Mapping[str, int]) -> None:
        """Upload calls as files of requests and start a batch for each file."""
        with charge_calls(budget=self._budget):
            charge().check()
        if self._budget is not None:
            requests = (self._calls[key].requests for key in prompt_tokens)
            self._budget.check_ahead(self._extraction.account,
                                     *estimate_extraction(sum(prompt_tokens.values()), requests))
        first, *others = prompt_tokens
        first_is_answered = not self._extraction.knows_form and await self._make_first_call(first)
        files = self._request_files(others if first_is_answered else [*prompt_tokens])
        while (file := await asyncio.to_thread(next, files, None)) is not None:
            lines, keys = file
            batch = OpenBatch(await self._endpoint.upload(lines), "", keys)
            # Saved before the batch starts: if the build is killed meanwhile, the next one finds the batch by its file.
            await self._save(batch)
            await self._start(batch)

    async def _make_first_call(self, key: str) -> bool:
        """Make one call without a batch, to learn which parameters the endpoint refuses."""
        call = self._calls[key]
        try:
            with charge_calls(build=self._run, documents=call.sizes, budget=self._budget):
                await self._extraction.ask_now(call)
        except (EndpointFailed, EndpointDown):
            raise
        except ReasonerError:
            return False
        return True

    def _request_files(self, keys: Sequence[str]) -> Iterator[tuple[bytes, list[str]]]:
        """Yield files of requests within the endpoint's limits, each with the keys of the calls in it."""
        lines, file_keys, size = list[bytes](), list[str](), 0
        for key in keys:
            line = self._extraction.request_line(key, self._calls[key])
            if file_keys and (len(file_keys) == _MOST_REQUESTS or size + len(line) > _MOST_BYTES):
                yield b"".join(lines), file_keys
                lines, file_keys, size = [], [], 0
            lines.append(line)
            file_keys.append(key)
            size += len(line)
        if file_keys:
            yield b"".join(lines), file_keys

    async def _start(self, batch: OpenBatch) -> None:
        """Start a batch whose file is uploaded, and save the id that the endpoint gives it."""
        try:
            batch_id = await self._endpoint.start(batch.file)
        except ReasonerError as error:
            was_refused = not isinstance(error, EndpointFailed) or error.certain
            if was_refused:  # else the batch may have started, and stays saved so that it can be found
                await self._forget(batch)
            raise
        await self._save(batch._replace(id=batch_id))
        _LOG.info("%d calls were submitted as batch %s", len(batch.keys), batch_id)

    async def _settle_starts(self, *, restarts: bool) -> None:
        """Find out which batches without a saved id have started, and save their ids."""
        for batch in [batch for batch in self._open.values() if not batch.id]:
            if batch_id := await self._find_id(batch):
                await self._save(batch._replace(id=batch_id))
            elif restarts:
                await self._start(batch)
            else:
                await self._forget(batch)

    async def _find_id(self, batch: OpenBatch) -> str:
        """Return the id of the batch that was started with a file, or "" if there is none at this endpoint."""
        try:
            return await self._endpoint.find(batch.file)
        except NotAtEndpoint:  # the settings name another endpoint than when the file was uploaded
            return ""

    async def _cancel(self) -> None:
        """Cancel all batches that are under way."""
        for batch in self._open.values():
            try:
                await self._endpoint.cancel(batch.id)
            except ReasonerError as error:
                if isinstance(error, EndpointFailed):
                    raise
                # Any other error means that the batch is over already.
        _LOG.warning("the batches of an earlier build are cancelled, and what they answered is used")

    async def _collect(self, *, submits: bool) -> None:
        """Wait until all open batches are over, and record the answers of each as soon as it is over."""
        total, done, wait = sum(len(batch.keys) for batch in self._open.values()), Counter[str](), FIRST_WAIT
        while self._open:
            for batch in [*self._open.values()]:
                try:
                    state = await self._request_state(batch)
                    if state is not None:
                        done[batch.file] = len(batch.keys) if state.is_over else state.done
                    if state is not None and state.is_over:
                        await self._record_results(batch, state, submits=submits)
                except NotAtEndpoint as error:
                    await self._give_up(batch, error, submits=submits)
            show_progress("batch", done.total(), total)
            if self._open:
                await asyncio.sleep(wait)
                wait = min(wait * _WAIT_GROWTH, _LONGEST_WAIT)

    async def _request_state(self, batch: OpenBatch) -> BatchState | None:
        """Return the state of a batch; None if the request failed and may be repeated later."""
        try:
            state = await self._endpoint.state(batch.id)
        except EndpointFailed as error:
            if not self._failures_left:
                raise
            self._failures_left -= 1
            _LOG.warning("batch %s: %s", batch.id, error)
            return None
        self._failures_left = _MOST_FAILED_REQUESTS
        return state

    async def _give_up(self, batch: OpenBatch, error: NotAtEndpoint, *, submits: bool) -> None:
        """Forget a batch that the endpoint does not know, if the build uses no batches."""
        if submits:
            raise ReasonerError(f"batch {batch.id} is not at this endpoint ({error}): set the address and key that it "
                                "was submitted with, or run without --batch, which gives it up") from None
        await self._forget(batch)
        _LOG.warning("batch %s is given up, and its calls are asked one by one: %s", batch.id, error)

    async def _record_results(self, batch: OpenBatch, state: BatchState, *, submits: bool) -> None:
        """Record the results of a batch that is over, and forget the batch."""
        unanswered, failures = set(batch.keys), Counter[str]()
        for file in state.files:
            async for result in self._endpoint.results(file):
                if result.get("custom_id") in unanswered:
                    if reason := await self._record(result):
                        failures[reason] += 1
                    else:
                        unanswered.remove(result["custom_id"])
        await self._forget(batch)
        if not unanswered:
            return
        reasons = state.problem or "; ".join(reason for reason, _ in failures.most_common(_SHOWN_REASONS))
        problem = (f"batch {batch.id} ended as {state.status!r}, and {len(unanswered)} of its {len(batch.keys)} calls "
                   "have no usable answer" + (f" ({reasons})" if reasons else ""))
        # The unanswered calls of such a batch may be many, and the user has not agreed to pay the usual price.
        if submits and state.status != "completed":
            self._problems.append(problem)
        else:
            _LOG.warning("%s: they are asked one by one", problem)

    async def _record(self, result: Mapping[str, Any]) -> str:
        """Record the result of one call and charge it; return why it cannot be used, or ""."""
        call = self._calls.get(str(result.get("custom_id")))
        with charge_calls(build=self._run, documents=call.sizes if call else None, budget=self._budget):
            return await self._extraction.record(result, call)

    async def _save(self, batch: OpenBatch) -> None:
        self._open[batch.file] = batch
        await self._store_open()

    async def _forget(self, batch: OpenBatch) -> None:
        del self._open[batch.file]
        await self._store_open()

    async def _store_open(self) -> None:
        await self._in_step(lambda kb: write_open_batches(kb.database, self._open.values()))
