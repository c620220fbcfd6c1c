"""The runs of this process that write and pay: their budgets, and the locks of knowledge bases, one run at a time."""

import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from ..config import LlmStep, Settings
from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.ledger.token_accounts import Calls
from ..graph_store.store_errors import WriterBusyError
from ..runtime.budgets import Budget, Prices, PricesError, charge_calls, load_prices
from ..runtime.threads import check_cancelled

_PAUSE = 0.05  # seconds between two tries of whoever waits for a build to let others write
_MOST_WAITING_SECONDS = 120.0  # for that: a batch takes seconds with the rules, and minutes with a slow model
_BUILDING_STEPS: tuple[LlmStep, ...] = ("extract", "resolve", "summarise")


@dataclass
class Writer:
    """A knowledge base that this process writes to, locked while a run (a build or a change) or a step is active."""

    kb: KnowledgeBase
    run: str = ""
    """The run that holds the lock, or "" if none does."""
    failed: str = ""
    """The last run that failed: its steps that still begin lock for themselves, and do not begin the run again."""
    steps: Counter[str] = field(default_factory=Counter)
    """The number of active steps of each run."""

    @property
    def is_idle(self) -> bool:
        """True if no run and no step is active, so the lock is free."""
        return not self.run and not self.steps

    def begin_step(self, run: str) -> None:
        """Begin a step of a run; the first one begins the run and takes the lock, or raises WriterBusyError."""
        is_other_active = self.run not in {"", run} or self.steps.keys() - {run}
        if is_other_active:
            raise WriterBusyError(f"another run is writing to {self.kb.layout.name!r}; wait until it has ended")
        if self.is_idle:
            self.kb.acquire()
        if not self.run and self.failed != run:
            self.run = run
        self.steps[run] += 1

    def end_step(self, run: str) -> None:
        """End a step of a run; release the lock if nothing is active any more."""
        self.steps[run] -= 1
        if not self.steps[run]:
            del self.steps[run]
        if self.is_idle:
            self.kb.release()

    def end_run(self, run: str) -> None:
        """End a run if it holds the lock, and release the lock unless steps are still active."""
        if run and self.run == run:
            self.run = ""
            if self.is_idle:
                self.kb.release()


class Writers:
    """The knowledge bases that this process writes to, with at most one run at a time for each; used by all threads."""

    def __init__(self, open_writer: Callable[..., KnowledgeBase], on_end: Callable[[str], None], most_open: int,
                 on_close: Callable[[str], None]) -> None:
        """Start without open knowledge bases, of which at most `most_open` stay open without a run.

        `open_writer` opens one by name; `on_end` gets the id of a run that ends, and `on_close` the name of a base.
        """
        self._open, self._on_end, self._most_open, self._on_close = open_writer, on_end, most_open, on_close
        self._writers: dict[str, Writer] = {}  # the one used last comes last
        self._build_locks: dict[str, FileLock] = {}  # by run
        self._lock = threading.RLock()

    def knowledge_base(self, name: str) -> KnowledgeBase | None:
        """Return a knowledge base that this process has open for writing; None if it has not, or its files are gone."""
        with self._lock:
            if name in self._writers and self._writers[name].kb.database.gone:
                self.forget(name)
            if name not in self._writers:
                return None
            self._writers[name] = writer = self._writers.pop(name)  # as the one used last
            return writer.kb

    @contextmanager
    def step(self, name: str, run: str, *, create: bool = False, any_embedding: bool = False, waits: bool = False,
             ) -> Iterator[KnowledgeBase]:
        """Open the knowledge base for a step of a writing run; WriterBusyError: another run or process writes to it.

        The run keeps other writers out until `finish`, an interrupt for a person's decision, or an error; its other
        active steps then keep the lock until they end. `any_embedding` accepts vectors of another embedding model than
        the settings name. With `waits`, the step waits for its turn beside a build.
        """
        begin = self._begin_step_in_turn if waits else self._begin_step
        writer = begin(name, run, create=create, any_embedding=any_embedding)
        try:
            check_cancelled()  # the run may have been cancelled between two steps
            with charge_calls(account=writer.kb.calls.record_usage):
                yield writer.kb
        except BaseException as error:
            from langgraph.errors import GraphBubbleUp  # noqa: PLC0415  (slow to import, and commands run no graph)

            is_interrupt = isinstance(error, GraphBubbleUp)  # for a person's decision, which resumes the run
            self.end(name, run, failed=not is_interrupt)
            raise
        finally:
            with self._lock:
                writer.end_step(run)
                idle = [name for name, writer in self._writers.items() if writer.is_idle]
                surplus = max(0, len(self._writers) - self._most_open)
                for oldest in idle[:surplus]:
                    self.forget(oldest)

    def _begin_step(self, name: str, run: str, *, create: bool, any_embedding: bool) -> Writer:
        """Open the knowledge base if it is not open, and begin a step, or raise WriterBusyError at once."""
        with self._lock:
            self.knowledge_base(name)  # closed if another process dropped or renamed it, or its database was lost
            if name not in self._writers:
                self._writers[name] = Writer(self._open(name, create=create, any_embedding=any_embedding))
            self._writers[name].begin_step(run)
            return self._writers[name]

    def _begin_step_in_turn(self, name: str, run: str, *, create: bool, any_embedding: bool) -> Writer:
        """Begin a step; beside a build, hold the file `turn_lock`, which asks for a turn, and try until given one."""
        deadline = time.monotonic() + _MOST_WAITING_SECONDS
        with ExitStack() as waiting:
            turn_lock: FileLock | None = None
            while True:
                try:
                    return self._begin_step(name, run, create=create, any_embedding=any_embedding)
                except WriterBusyError:
                    writer = self._writers.get(name)  # another step may have closed it
                    # Only a build gives a turn: beside any other writer the caller decides whether to try again.
                    if writer is None or time.monotonic() > deadline or not _is_held(writer.kb.layout.build_lock):
                        raise
                turn_lock = turn_lock or FileLock(writer.kb.layout.turn_lock, timeout=0)
                if not turn_lock.is_locked:
                    with suppress(Timeout):  # another one that waits holds it
                        waiting.enter_context(turn_lock)
                check_cancelled()
                time.sleep(_PAUSE)

    @contextmanager
    def single_step(self, name: str, *, create: bool = False, any_embedding: bool = False) -> Iterator[KnowledgeBase]:
        """Open the base for a run of one step, as `step` in its turn; with `any_embedding` it excludes builds."""
        run = uuid.uuid4().hex
        with self.step(name, run, create=create, any_embedding=any_embedding, waits=not any_embedding) as kb:
            if any_embedding:
                self.exclude_builds(kb, run)
            yield kb
        self.finish(name, run)

    def exclude_builds(self, kb: KnowledgeBase, run: str) -> None:
        """Keep builds out until a run ends, also while it lets others write; raise WriterBusyError beside a build."""
        lock = FileLock(kb.layout.build_lock, timeout=1, thread_local=False)  # `_is_held` may have it for a moment
        try:
            lock.acquire()
        except Timeout as error:
            raise WriterBusyError.of(kb.layout.name) from error
        self._build_locks[run] = lock

    def give_turn(self, name: str, run: str) -> None:
        """Between two steps of a build, let those write who wait, whatever they change, and take the lock again."""
        with self._lock:
            writer = self._writers.get(name)
            if writer is None or writer.run != run or not _is_held(writer.kb.layout.turn_lock):
                return  # the run has ended, or nobody waits
            writer.end_run(run)  # which releases the lock
        while True:
            time.sleep(10 * _PAUSE)  # so whoever waits comes first
            check_cancelled()
            with suppress(WriterBusyError), self.step(name, run):  # an empty step takes the lock for the run
                return

    def finish(self, name: str, run: str) -> None:
        """Publish to readers what a run wrote, and end it; do nothing if the run does not hold the lock any more."""
        with self._lock:
            writer = self._writers.get(name)
            if writer is not None and writer.run == run:
                writer.kb.publish()
                self.end(name, run, failed=False)

    def end(self, name: str, run: str, *, failed: bool = True) -> None:
        """End a run, incomplete if it failed. Its steps that are still active block other writers until they end."""
        with self._lock:
            self._on_end(run)  # also if the knowledge base is closed already: the run's budget is dropped
            if run in self._build_locks:
                self._build_locks.pop(run).release()
            if writer := self._writers.get(name):
                if failed:
                    writer.failed = run
                writer.end_run(run)

    def forget(self, name: str) -> None:
        """Close a knowledge base unless a run is writing to it."""
        with self._lock:
            if name in self._writers and self._writers[name].is_idle:
                self._writers.pop(name).kb.close()
        self._on_close(name)

    def close(self) -> None:
        """Close every knowledge base."""
        with self._lock:
            for writer in self._writers.values():
                writer.kb.close()
            for lock in self._build_locks.values():
                lock.release()
            self._writers.clear()
            self._build_locks.clear()


def _is_held(lock: Path) -> bool:
    try:
        with FileLock(lock, timeout=0):
            return False
    except Timeout:
        return True


class Spending:
    """The models' prices and the budgets of runs, read when they are first needed. Safe to use from several threads."""

    def __init__(self, settings: Callable[[], Settings]) -> None:
        """Start without budgets; `settings` returns the current ones."""
        self._settings = settings
        self._prices: Prices | None = None
        self._budgets: dict[str, Budget] = {}
        self._lock = threading.RLock()

    @property
    def prices(self) -> Prices:
        """The models' prices, from the price file."""
        with self._lock:
            if self._prices is None:
                self._prices = load_prices(self._settings().prices)
            return self._prices

    def check_prices(self, max_cost: float | None) -> None:
        """Check, before anything is paid, that the price file can be read and has what a cost limit needs."""
        prices, settings = self.prices, self._settings()
        if max_cost is None or not settings.uses_llm:  # no price is needed, but the file was read
            return
        for model in sorted({settings.model_of(step) for step in _BUILDING_STEPS}):
            if model not in prices:
                cause = f"{settings.prices} has no price" if settings.prices else "no price file is set"
                raise PricesError(f"--max-cost cannot be enforced, as the price of the model {model!r} is unknown "
                                  f"({cause}): set BANYAN_PRICES to a JSON file with it, or give --max-tokens instead")

    def budget(self, run: str, max_tokens: int | None, max_cost: float | None, calls: Callable[[], Calls],
               ) -> Budget | None:
        """Return a run's budget, less what it has spent, perhaps in another process; None if it has no limit."""
        if max_tokens is None and max_cost is None:
            return None
        with self._lock:
            if run not in self._budgets:
                budget = Budget(max_tokens, max_cost, self.prices)
                calls().charge_to(budget, run)  # what it has spent
                self._budgets[run] = budget
            return self._budgets[run]  # the same one in all steps of the run, and for all runs that resume it

    def forget(self, run: str) -> None:
        """Drop the budget of a run that has ended."""
        with self._lock:
            self._budgets.pop(run, None)
