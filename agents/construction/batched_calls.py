"""Extraction calls that the endpoint answers in batches, within a day and for half the price.

The answers are recorded as if the calls had been made one by one. The step `extract` then takes the recorded answers,
and makes only the calls that have none. The ledger lists the batches that are under way, so a build that follows a
killed one does not submit them again.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.ledger.notes import OpenBatch, read_open_batches, write_open_batches
from ...models.llm.batches import BatchedCall, BatchedExtraction, UnknownBatch
from ...models.llm.failures import EndpointFailed
from ...models.reasoner import ReasonerError
from ...runtime.budgets import Budget, charge, charge_calls
from ..estimate import estimate_extraction
from .inputs import show_progress

_MOST_REQUESTS = 5000
"""Requests in a file: OpenAI takes ten times as many, and 200 MB, of which the longest prompts need half."""
FIRST_WAIT, _LONGEST_WAIT, _WAIT_GROWTH = 30.0, 300.0, 1.2
"""Seconds between two requests for a batch's state: at first, at most, and the factor from one wait to the next."""
_FINAL_STATES = frozenset({"completed", "failed", "expired", "cancelled"})
_SHOWN_REASONS = 3

_LOG = logging.getLogger("banyan.llm")


class BatchedCalls:
    """The calls of one build that are answered in batches; `in_step` runs a function on the knowledge base."""

    def __init__(self, extraction: BatchedExtraction, in_step: Callable[[Callable[[KnowledgeBase], Any]],
                 Awaitable[Any]], run: str, budget: Budget | None) -> None:
        """Start without calls; `answer` is given them."""
        self._extraction, self._client, self._in_step = extraction, extraction.client, in_step
        self._run, self._budget = run, budget
        self._calls: dict[str, BatchedCall] = {}  # by key
        self._open: dict[str, OpenBatch] = {}  # the batches under way, by the file that has their requests

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
        # The key of each call in the cache of answers, and the tokens of its prompt; None if it is answered already.
        looked_up = await asyncio.to_thread(lambda: [self._extraction.look_up(call) for call in calls])
        self._calls = {key: call for (key, _), call in zip(looked_up, calls, strict=True)}
        self._open = {batch.file: batch for batch in await self._in_step(lambda kb: read_open_batches(kb.database))}
        submitted = {key for batch in self._open.values() for key in batch.keys}
        prompt_tokens = {key: tokens for key, tokens in looked_up if tokens is not None and key not in submitted}
        if submits and prompt_tokens:
            await self._submit(prompt_tokens)
        problems = list[str]()
        total = sum(len(batch.keys) for batch in self._open.values())
        for batch in [*self._open.values()]:
            done = total - sum(len(other.keys) for other in self._open.values())
            try:
                problems += await self._wait_and_record(batch, done, total, submits=submits)
            except UnknownBatch as error:
                if submits:
                    raise ReasonerError(f"batch {batch.id} is not at this endpoint ({error}): set the address and key "
                                        "that it was submitted with, or run without --batch, which gives it up"
                                        ) from None
                _LOG.warning("batch %s is given up, and its calls are asked one by one: %s", batch.id, error)
            await self._save(batch, is_open=False)
        if problems:
            raise ReasonerError(f"{'; '.join(problems)}. What was answered is saved: run the command again to "
                                "submit the rest, or without --batch to have it answered at once for the usual price")

    async def _submit(self, prompt_tokens: Mapping[str, int]) -> None:
        """Upload calls as files of requests and start a batch for each file."""
        with charge_calls(budget=self._budget):
            charge().check()
        if self._budget is not None:
            requests = (self._calls[key].requests for key in prompt_tokens)
            self._budget.check_ahead(self._extraction.account,
                                     *estimate_extraction(sum(prompt_tokens.values()), requests))
        keys = [*prompt_tokens]
        for start in range(0, len(keys), _MOST_REQUESTS):
            keys_of_file = keys[start:start + _MOST_REQUESTS]
            lines = (self._extraction.request_line(key, self._calls[key]) for key in keys_of_file)
            file = await self._client.upload(await asyncio.to_thread(b"".join, lines))
            # Saved before the batch starts: if the build is killed meanwhile, the next one finds the batch by its file.
            batch = await self._save(OpenBatch(file, "", keys_of_file))
            await self._start(batch)

    async def _start(self, batch: OpenBatch) -> OpenBatch:
        """Start a batch whose file is uploaded, and save and return it with the id that the endpoint gives it."""
        try:
            batch = batch._replace(id=await self._client.start(batch.file))
        except ReasonerError as error:
            was_refused = not isinstance(error, EndpointFailed) or error.certain
            if was_refused:  # else the batch may have started, and stays saved so that it can be found
                await self._save(batch, is_open=False)
            raise
        _LOG.info("%d calls were submitted as batch %s", len(batch.keys), batch.id)
        return await self._save(batch)

    async def _wait_and_record(self, batch: OpenBatch, done: int, total: int, *, submits: bool) -> list[str]:
        """Wait until a batch is over and record its answers; return why it failed as a whole, if it did.

        `done` and `total` are the numbers of calls in earlier batches and in all, for the progress that is shown.
        """
        if not batch.id:  # it is not known whether it was started
            batch = batch._replace(id=await self._client.find(batch.file))
            if not batch.id and not submits:
                return []
            batch = batch if batch.id else await self._start(batch)
        if not submits:
            await self._cancel(batch)
        wait = FIRST_WAIT
        while (state := await self._client.state(batch.id)).status not in _FINAL_STATES:
            counts = state.request_counts
            show_progress("batch", done + (counts.completed + counts.failed if counts else 0), total)
            await asyncio.sleep(wait)
            wait = min(wait * _WAIT_GROWTH, _LONGEST_WAIT)
        unanswered, reasons = await self._record_answers(batch, state)
        show_progress("batch", done + len(batch.keys), total)
        if not unanswered:
            return []
        # An error of the whole batch, if the endpoint names one, says more than those of single calls.
        batch_errors = [str(error.message) for error in (state.errors and state.errors.data) or []]
        shown = f" ({'; '.join((batch_errors or reasons)[:_SHOWN_REASONS])})" if batch_errors or reasons else ""
        problem = (f"batch {batch.id} ended as {state.status!r}, and {unanswered} of its {len(batch.keys)} calls "
                   f"have no usable answer{shown}")
        # The unanswered calls of such a batch may be many, and the user has not agreed to pay the usual price.
        if submits and (state.status != "completed" or unanswered == len(batch.keys)):
            return [problem]
        _LOG.warning("%s: they are asked one by one", problem)
        return []

    async def _record_answers(self, batch: OpenBatch, state: Any) -> tuple[int, list[str]]:
        """Record a batch's answers; return how many calls have no usable one, and why, the most frequent first."""
        unanswered, reasons = set(batch.keys), Counter[str]()
        async for result in self._client.results(state):
            key = str(result.get("custom_id"))
            if key not in unanswered:  # the endpoint repeats an answer, or answers what was not asked
                continue
            call = self._calls.get(key)  # None if the build that submitted it had other chunks
            with charge_calls(build=self._run, documents=call.sizes if call else None, budget=self._budget):
                reason = await self._extraction.record(result, call)
            if reason:
                reasons[reason] += 1
            else:
                unanswered.remove(key)
        return len(unanswered), [reason for reason, _ in reasons.most_common()]

    async def _cancel(self, batch: OpenBatch) -> None:
        try:
            await self._client.cancel(batch.id)
        except (UnknownBatch, EndpointFailed):
            raise
        except ReasonerError:
            pass  # the batch is over already
        _LOG.warning("batch %s of an earlier build is cancelled, and what it answered is used", batch.id)

    async def _save(self, batch: OpenBatch, *, is_open: bool = True) -> OpenBatch:
        """Store that a batch is under way, or that it is over, and return it."""
        self._open.pop(batch.file, None)
        if is_open:
            self._open[batch.file] = batch
        await self._in_step(lambda kb: write_open_batches(kb.database, self._open.values()))
        return batch
