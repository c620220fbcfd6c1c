"""A budget is exceeded by calls in flight alone."""

import asyncio
import time
from typing import Any

import pytest
from banyan.config import Settings
from banyan.models.llm.endpoint import Reply
from banyan.models.llm.limits import LimitedEndpoint, process_endpoints
from banyan.models.llm.structured import StructuredChat
from banyan.models.llm.wire import Shape
from banyan.prompts import Prompt
from banyan.runtime.budgets import BudgetExceeded
from banyan.runtime.event_loop import run

from ...in_memory_calls import InMemoryCalls

SHAPE = Shape({"title": "t", "type": "object"}, lambda answer: answer)


class SlowCalls(InMemoryCalls):
    """A ledger whose disk is slow: what was paid is recorded long after the call."""

    def record(self, **values: Any) -> None:
        time.sleep(0.1)
        super().record(**values)


@pytest.mark.parametrize("at_once", [1, 2])
def test_a_call_counts_before_the_next_one_takes_its_slot_however_slow_the_disk_is(at_once):
    async def reply(*_: Any) -> Reply:
        return Reply("{}", 10, 0)

    settings = Settings(_env_file=None, llm_base_url="http://127.0.0.1:1/v1", llm_concurrency=at_once)
    process_endpoints.cache_clear()
    calls = SlowCalls(max_tokens=1)
    chat = StructuredChat("m", LimitedEndpoint(lambda: reply, settings), calls)

    async def ask_all() -> list[Any]:
        return await asyncio.gather(*(chat.ask("extract", Prompt("system", f"text {number}"), SHAPE)
                                      for number in range(6)), return_exceptions=True)

    results = run(ask_all)
    refused = [result for result in results if result != {}]
    assert all(isinstance(result, BudgetExceeded) for result in refused), refused
    assert 1 <= calls.calls["extract"] == 6 - len(refused) <= at_once
