"""Coroutine methods for tests that are no coroutines."""

import inspect
from functools import partial
from typing import Any

from banyan.runtime.event_loop import run


class Waited:
    """An object whose coroutine methods are waited for; `extract` is that of a single chunk."""

    def __init__(self, awaited: Any) -> None:
        self.awaited = awaited

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.awaited, name)
        if name == "extract":
            return lambda request, schema: run(value, [request], schema)[0]
        if name == "with_instructions":
            return lambda text: Waited(value(text))
        return partial(run, value) if inspect.iscoroutinefunction(value) else value
