"""The writers of this process: one run at a time writes to a knowledge base, and holds its lock until it ends."""

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.store_errors import WriterBusyError
from ..runtime.budgets import charge_calls
from ..runtime.threads import check_cancelled

_STARTED_RUNS: ContextVar[list[tuple[str, str]]] = ContextVar("started_runs")
"""The runs that a caller has started, as (knowledge base, run); see `Writers.abandoned_on_error`."""


@dataclass
class Writer:
    """A knowledge base that this process writes to. It holds the lock while a run or a step is active."""

    kb: KnowledgeBase
    run: str = ""
    """The run that holds the lock, or "" if none does."""
    failed: str = ""
    """The last run that failed."""
    steps: Counter[str] = field(default_factory=Counter)
    """The number of active steps of each run."""

    @property
    def is_idle(self) -> bool:
        """True if no run and no step is active, so the lock is free."""
        return not self.run and not self.steps

    def begin(self, run: str) -> None:
        """Begin a step of a run. Its first step takes the lock and begins the run, unless the run has failed."""
        other_run_is_active = self.run not in {"", run} or self.steps.keys() - {run}
        if other_run_is_active:
            raise WriterBusyError(f"another run is writing to {self.kb.layout.name!r}; wait until it has ended")
        if self.is_idle:
            self.kb.acquire()
        if not self.run and self.failed != run:
            self.run = run
            _STARTED_RUNS.get([]).append((self.kb.layout.name, run))
        self.steps[run] += 1

    def end(self, *, step: str = "", run: str = "") -> None:
        """End a step of the run `step`, or end the run `run`; release the lock if nothing is active any more."""
        was_idle = self.is_idle
        if step:
            self.steps -= Counter([step])
        if run and self.run == run:
            self.run = ""
        if self.is_idle and not was_idle:
            self.kb.release()


class Writers:
    """The knowledge bases that this process writes to, with at most one run at a time for each.

    Safe to use from several threads.
    """

    def __init__(self, open_writer: Callable[..., KnowledgeBase], on_end: Callable[[str], None], most_open: int,
                 on_close: Callable[[str], None]) -> None:
        """Start without open knowledge bases.

        `open_writer` opens one by its name, `on_end` gets the id of each run that ends, and `on_close` the name of each
        knowledge base that is closed. At most `most_open` stay open without a run.
        """
        self._most_open = most_open
        self._on_close = on_close
        self._open = open_writer
        self._on_end = on_end
        self._writers: dict[str, Writer] = {}
        self._lock = threading.RLock()

    def knowledge_base(self, name: str) -> KnowledgeBase | None:
        """Return a knowledge base that this process has open for writing; None if it has not, or its files are gone."""
        with self._lock:
            if name in self._writers and self._writers[name].kb.database.gone:
                self.forget(name)
                return None
            writer = self._writers.pop(name, None)
            if writer is not None:
                self._writers[name] = writer  # dictionary order is order of use
            return writer.kb if writer else None

    @contextmanager
    def step(self, name: str, run: str, *, create: bool = True, any_embedding: bool = False) -> Iterator[KnowledgeBase]:
        """Open the knowledge base for a step of a writing run.

        The run keeps other writers out until `finish`, until a step interrupts it for a person's decision, or until a
        step raises or is cancelled. Then its other active steps keep the lock until they end, and later ones lock for
        themselves. `any_embedding` accepts vectors of another embedding model than the settings name.

        Raises:
            WriterBusyError: another run or process is writing to it.
        """
        with self._lock:
            self.knowledge_base(name)  # closed if another process dropped or renamed it, or its database was lost
            if name not in self._writers:
                self._writers[name] = Writer(self._open(name, create=create, any_embedding=any_embedding))
            writer = self._writers[name]
            writer.begin(run)
        try:
            check_cancelled()  # the run may have been cancelled between two steps
            with charge_calls(account=writer.kb.calls.record_usage):
                yield writer.kb
        except BaseException as error:
            from langgraph.errors import GraphBubbleUp  # noqa: PLC0415  (slow to import, and commands run no graph)

            self._end(name, run, failed=not isinstance(error, GraphBubbleUp))
            raise
        finally:
            with self._lock:
                writer.end(step=run)
                idle = [other for other, one in self._writers.items() if one.is_idle]  # used longest ago first
                for other in idle[:max(0, len(self._writers) - self._most_open)]:
                    self.forget(other)

    @contextmanager
    def single_step(self, name: str, *, create: bool = False, any_embedding: bool = False) -> Iterator[KnowledgeBase]:
        """Open the knowledge base for a writing run of one step; the arguments and errors are those of `step`.

        If a step with `any_embedding` fails, the knowledge base is closed.
        """
        run = uuid.uuid4().hex
        try:
            with self.step(name, run, create=create, any_embedding=any_embedding) as kb:
                yield kb
            self.finish(name, run)
        except BaseException:
            if any_embedding:
                self._close_idle(name)
            raise

    def finish(self, name: str, run: str) -> None:
        """Publish to readers what a run wrote, and end it; do nothing if the run does not hold the lock any more."""
        with self._lock:
            writer = self._writers.get(name)
            if writer is not None and writer.run == run:
                writer.kb.publish()
                self._end(name, run)

    @contextmanager
    def abandoned_on_error(self) -> Iterator[None]:
        """If the block raises between two steps, as by Ctrl-C in a notebook, abandon the runs that began in it."""
        started_runs: list[tuple[str, str]] = []
        token = _STARTED_RUNS.set(started_runs)
        try:
            yield
        except BaseException:
            for name, run in started_runs:
                self.abandon(name, run)
            raise
        finally:
            _STARTED_RUNS.reset(token)

    def abandon(self, name: str, run: str) -> None:
        """End an incomplete run. Its steps that are still active block other writers until they end."""
        self._end(name, run, failed=True)

    def close(self) -> None:
        """Close every knowledge base."""
        with self._lock:
            for writer in self._writers.values():
                writer.kb.close()
            self._writers.clear()

    def _end(self, name: str, run: str, *, failed: bool = False) -> None:
        """End a run, and release the lock unless steps of it are still active."""
        with self._lock:
            self._on_end(run)
            writer = self._writers.get(name)
            if writer is not None:
                writer.failed = run if failed else writer.failed
                writer.end(run=run)

    def forget(self, name: str) -> None:
        """Close a knowledge base unless a run is writing to it."""
        self._close_idle(name)
        self._on_close(name)

    def _close_idle(self, name: str) -> None:
        with self._lock:
            if name in self._writers and self._writers[name].is_idle:
                self._writers.pop(name).kb.close()
