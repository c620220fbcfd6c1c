"""The writers of this process: one run at a time writes to a knowledge base, and holds its lock from first to last."""

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

_BEGUN: ContextVar[list[tuple[str, str]]] = ContextVar("begun")
"""The runs that a caller began, as (knowledge base, run); see `Writers.abandoned_on_error`."""


@dataclass
class Writer:
    """A knowledge base that this process writes to; while a run or a step goes on, it holds the lock."""

    kb: KnowledgeBase
    run: str = ""
    """The run that holds the lock, or "" if none does."""
    failed: str = ""
    """The last run that failed."""
    steps: Counter[str] = field(default_factory=Counter)
    """The number of active steps of each run."""

    @property
    def is_idle(self) -> bool:
        """True if it does not hold the lock."""
        return not self.run and not self.steps

    def begin(self, run: str) -> None:
        """Take the lock for a step of a run, and for the run itself unless it has failed.

        Raises:
            WriterBusyError: another run or process is writing.
        """
        if (self.run or run) != run or self.steps.keys() - {run}:
            raise WriterBusyError(f"another run is writing to {self.kb.layout.name!r}; wait until it has ended")
        if self.is_idle:
            self.kb.acquire()
        if not self.run and self.failed != run:
            self.run = run
            _BEGUN.get([]).append((self.kb.layout.name, run))
        self.steps[run] += 1

    def end(self, *, step: str = "", run: str = "") -> None:
        """End a step or a run; the last one to end releases the lock."""
        was_idle = self.is_idle
        if step:
            self.steps -= Counter([step])
        if run and self.run == run:
            self.run = ""
        if self.is_idle and not was_idle:
            self.kb.release()


class Writers:
    """At most one run at a time for each knowledge base. Safe to use from several threads."""

    def __init__(self, open_writer: Callable[..., KnowledgeBase], ended: Callable[[str], None], most_open: int,
                 forgotten: Callable[[str], None]) -> None:
        """Start without open knowledge bases.

        Args:
            open_writer: opens a knowledge base of a name, with `create` and `any_embedding`.
            ended: called with the id of each run that ends.
            most_open: how many knowledge bases stay open without a run; those of the oldest runs are closed.
            forgotten: called with the name of each knowledge base that is closed.
        """
        self._most_open = most_open
        self._forgotten = forgotten
        self._open = open_writer
        self._ended = ended
        self._writers: dict[str, Writer] = {}
        self._lock = threading.RLock()

    def knowledge_base(self, name: str) -> KnowledgeBase | None:
        """Return the knowledge base as this process writes to it, or None if it never did or the ledger is gone."""
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

        The run is the only writer from its first step to `finish`, or to a step that raises or is cancelled: an
        interrupt for a person's decision may last for days and must not block other writers. Steps that are active
        when another one fails end first. A step that begins only then writes by itself, because nobody would end the
        run again.

        Args:
            name: the knowledge base.
            run: the run's id.
            create: make it, if there is none of that name.
            any_embedding: its vectors may be of another model.

        Raises:
            UnknownKnowledgeBaseError: there is none of that name, and it is not to be made.
            WriterBusyError: another run or process is writing to it.
            asyncio.CancelledError: the run was cancelled before this step.
        """
        writer = self._begin_step(name, run, create, any_embedding)
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
                self._close_oldest()

    @contextmanager
    def single_step(self, name: str, *, create: bool = False, any_embedding: bool = False) -> Iterator[KnowledgeBase]:
        """Open the knowledge base for a writing run of one step.

        Args:
            name: the knowledge base.
            create: make it, if there is none of that name.
            any_embedding: its vectors may be of another model, to reindex it; if that fails it is closed.

        Raises:
            UnknownKnowledgeBaseError: there is none of that name, and it is not to be made.
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
        """End a completed run, if it is still the writer, and publish what it wrote to readers."""
        with self._lock:
            writer = self._writers.get(name)
            if writer is not None and writer.run == run:
                writer.kb.publish()
                self._end(name, run)

    @contextmanager
    def abandoned_on_error(self) -> Iterator[None]:
        """Abandon the runs that begin within this block if it raises, to let others write.

        A caller that is interrupted between two steps, as by Ctrl-C in a notebook, ends no step.
        """
        begun: list[tuple[str, str]] = []
        token = _BEGUN.set(begun)
        try:
            yield
        except BaseException:
            for name, run in begun:
                self.abandon(name, run)
            raise
        finally:
            _BEGUN.reset(token)

    def abandon(self, name: str, run: str) -> None:
        """End an incomplete run. Its steps that are still active block other writers until they end."""
        self._end(name, run, failed=True)

    def close(self) -> None:
        """Close every knowledge base."""
        with self._lock:
            for writer in self._writers.values():
                writer.kb.close()
            self._writers.clear()

    def _begin_step(self, name: str, run: str, create: bool, any_embedding: bool) -> Writer:
        with self._lock:
            if name in self._writers and self._writers[name].kb.database.gone:
                self.forget(name)  # another process dropped or renamed it, or the way to it was lost
            if name not in self._writers:
                self._writers[name] = Writer(self._open(name, create=create, any_embedding=any_embedding))
            self._writers[name].begin(run)
            return self._writers[name]

    def _end(self, name: str, run: str, *, failed: bool = False) -> None:
        with self._lock:
            self._ended(run)
            writer = self._writers.get(name)
            if writer is not None:
                writer.failed = run if failed else writer.failed
                writer.end(run=run)

    def _close_oldest(self) -> None:
        idle = [name for name, writer in self._writers.items() if writer.is_idle]
        for name in idle[:max(0, len(self._writers) - self._most_open)]:
            self.forget(name)

    def forget(self, name: str) -> None:
        """Close a knowledge base unless a run is writing to it."""
        self._close_idle(name)
        self._forgotten(name)

    def _close_idle(self, name: str) -> None:
        with self._lock:
            if name in self._writers and self._writers[name].is_idle:
                self._writers.pop(name).kb.close()
