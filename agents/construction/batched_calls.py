"""Extraction calls that the endpoint answers in batches, within a day and for half the price.

The answers are recorded as those of ordinary calls, so the step `extract` finds them paid, and asks for what is
missing. The ledger has the batches that are under way: a build that was killed submits nothing again.
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
"""Of one file. OpenAI takes twice the bytes."""
FIRST_WAIT, _LONGEST_WAIT, _SLOWER = 30.0, 300.0, 1.2
"""Seconds between two looks at a batch."""
_SHOWN_REASONS = 3
_FAILED_LOOKS = 10
"""Looks in a row that may fail: a day is long, and a network may be away for a while."""

_LOG = logging.getLogger("banyan.llm")


class InStep(Protocol):
    """Runs a function on the knowledge base as a step of the run, in a thread."""

    def __call__(self, do: Callable[[KnowledgeBase], _T]) -> Awaitable[_T]:
        """Return what the function returns."""


class BatchedCalls:
    """The calls of one build.

    Args:
        extraction: makes requests, and records results.
        endpoint: has the batches.
        in_step: see `InStep`.
        run: the build that is charged.
        budget: its budget.
    """

    def __init__(self, extraction: BatchedExtraction, endpoint: BatchEndpoint, in_step: InStep, run: str,
                 budget: Budget | None) -> None:
        self._extraction, self._endpoint, self._in_step = extraction, endpoint, in_step
        self._run, self._budget = run, budget
        self._calls: dict[str, BatchedCall] = {}
        self._open: dict[str, OpenBatch] = {}
        self._looks_left = 0
        self._problems: list[str] = []

    async def answer(self, calls: Sequence[BatchedCall], *, submits: bool) -> None:
        """Have calls answered, and record the answers.

        Args:
            calls: all calls that the build is about to make.
            submits: submit those that were not submitted before. False cancels the batches that are under way, and
                takes what was answered.

        Raises:
            BudgetExceeded: the calls would take more than the budget leaves.
            ReasonerError: the endpoint refused a batch, did not answer all of it, does not know it, or cannot be
                reached. What was answered is recorded.
        """
        known = await asyncio.to_thread(lambda: [*map(self._extraction.look_up, calls)])
        self._calls = {one.key: call for one, call in zip(known, calls, strict=True)}
        under_way = await self._in_step(lambda kb: read_open_batches(kb.database))
        self._open = {batch.file: batch for batch in under_way}
        submitted = {key for batch in self._open.values() for key in batch.keys}
        due = {one.key: one.prompt_tokens for one in known if not one.is_answered and one.key not in submitted}
        if submits and due:
            await self._submit(due)
        await self._settle_starts(restarts=submits)
        if self._open and not submits:
            await self._cancel()
        await self._collect(submits=submits)
        if self._problems:
            raise ReasonerError(f"{'; '.join(self._problems)}. What was answered is saved: run the command again to "
                                "submit the rest, or without --batch to have it answered at once for the usual price")

    async def _submit(self, due: Mapping[str, int]) -> None:
        with charge_calls(budget=self._budget):
            charge().check()
        if self._budget is not None:
            self._budget.check_ahead(self._extraction.account, *estimate_extraction(
                sum(due.values()), (self._calls[key].requests for key in due)))
        first, *others = due
        answered = not self._extraction.knows_form and await self._learn_form(first)
        files = self._files(others if answered else [*due])
        while (file := await asyncio.to_thread(next, files, None)) is not None:
            requests, keys = file
            batch = OpenBatch(await self._endpoint.upload(requests), "", keys)
            # Before the batch starts: if the build is killed meanwhile, the next one finds the batch by its file.
            await self._save(batch)
            await self._start(batch)

    async def _learn_form(self, key: str) -> bool:
        """Make a first call as usual, to learn what the endpoint refuses: a whole batch would fail by it.

        Returns:
            Whether it was answered.
        """
        call = self._calls[key]
        try:
            with charge_calls(build=self._run, documents=call.sizes, budget=self._budget):
                await self._extraction.ask_now(call)
        except (EndpointFailed, EndpointDown):
            raise
        except ReasonerError:
            return False
        return True

    def _files(self, keys: Sequence[str]) -> Iterator[tuple[bytes, list[str]]]:
        """Yield the calls as files within the endpoint's limits, each with the keys of its calls."""
        lines, held, size = list[bytes](), list[str](), 0
        for key in keys:
            line = self._extraction.request_line(key, self._calls[key])
            if held and (len(held) == _MOST_REQUESTS or size + len(line) > _MOST_BYTES):
                yield b"".join(lines), held
                lines, held, size = [], [], 0
            lines.append(line)
            held.append(key)
            size += len(line)
        if held:
            yield b"".join(lines), held

    async def _start(self, batch: OpenBatch) -> None:
        try:
            started = await self._endpoint.start(batch.file)
        except ReasonerError as error:
            if not isinstance(error, EndpointFailed) or error.certain:  # refused, so there is none to wait for
                await self._forget(batch)
            raise
        await self._save(batch._replace(id=started))
        _LOG.info("%d calls were submitted as batch %s", len(batch.keys), started)

    async def _settle_starts(self, *, restarts: bool) -> None:
        """Find the batches of which it is not known whether they started; start those that did not, or forget them."""
        for batch in [batch for batch in self._open.values() if not batch.id]:
            if found := await self._find(batch):
                await self._save(batch._replace(id=found))
            elif restarts:
                await self._start(batch)
            else:
                await self._forget(batch)

    async def _find(self, batch: OpenBatch) -> str:
        try:
            return await self._endpoint.find(batch.file)
        except NotAtEndpoint:  # it is another endpoint by now
            return ""

    async def _cancel(self) -> None:
        for batch in self._open.values():
            try:
                await self._endpoint.cancel(batch.id)
            except ReasonerError as error:
                if isinstance(error, EndpointFailed):
                    raise  # else it is over already
        _LOG.warning("the batches of an earlier build are cancelled, and what they answered is used")

    async def _collect(self, *, submits: bool) -> None:
        """Wait for the open batches, and record the answers of each that is over."""
        total, done, wait = sum(len(batch.keys) for batch in self._open.values()), Counter[str](), FIRST_WAIT
        while self._open:
            for batch in [*self._open.values()]:
                try:
                    state = await self._look_at(batch)
                    if state is not None:
                        done[batch.file] = len(batch.keys) if state.is_over else state.done
                    if state is not None and state.is_over:
                        await self._take(batch, state, submits=submits)
                except NotAtEndpoint as error:
                    await self._lose(batch, error, submits=submits)
            show_progress("batch", done.total(), total)
            if self._open:
                await asyncio.sleep(wait)
                wait = min(wait * _SLOWER, _LONGEST_WAIT)

    async def _look_at(self, batch: OpenBatch) -> BatchState | None:
        """Return the state of a batch; None if it is not known now."""
        try:
            state = await self._endpoint.state(batch.id)
        except EndpointFailed as error:
            if not self._looks_left:
                raise
            self._looks_left -= 1
            _LOG.warning("batch %s: %s", batch.id, error)
            return None
        self._looks_left = _FAILED_LOOKS
        return state

    async def _lose(self, batch: OpenBatch, error: NotAtEndpoint, *, submits: bool) -> None:
        """Give up a batch that the endpoint does not know; while batches are wanted, the user decides."""
        if submits:
            raise ReasonerError(f"batch {batch.id} is not at this endpoint ({error}): set the address and key that it "
                                "was submitted with, or run without --batch, which gives it up") from None
        await self._forget(batch)
        _LOG.warning("batch %s is given up, and its calls are asked one by one: %s", batch.id, error)

    async def _take(self, batch: OpenBatch, state: BatchState, *, submits: bool) -> None:
        """Record the results of a batch that is over, and say what it did not answer."""
        unanswered, failures = set(batch.keys), Counter[str]()
        for file in state.files:
            async for result in self._endpoint.results(file):
                if result.get("custom_id") in unanswered:
                    if failure := await self._record(result):
                        failures[failure] += 1
                    else:
                        unanswered.remove(result["custom_id"])
        await self._forget(batch)
        if not unanswered:
            return
        reasons = state.problem or "; ".join(reason for reason, _ in failures.most_common(_SHOWN_REASONS))
        problem = (f"batch {batch.id} ended as {state.status!r}, and {len(unanswered)} of its {len(batch.keys)} calls "
                   "have no usable answer" + (f" ({reasons})" if reasons else ""))
        if submits and state.status != "completed":  # they may be many, and nobody has agreed to the usual price
            self._problems.append(problem)
        else:
            _LOG.warning("%s: they are asked one by one", problem)

    async def _record(self, result: Mapping[str, Any]) -> str:
        call = self._calls.get(str(result.get("custom_id")))
        with charge_calls(build=self._run, documents=call.sizes if call else None, budget=self._budget):
            return await self._extraction.record(result, call)

    async def _save(self, batch: OpenBatch) -> None:
        self._open[batch.file] = batch
        await self._store()

    async def _forget(self, batch: OpenBatch) -> None:
        del self._open[batch.file]
        await self._store()

    async def _store(self) -> None:
        await self._in_step(lambda kb: write_open_batches(kb.database, self._open.values()))
