"""The workers of a build: work goes to the least busy worker, and to another one if a worker is lost.

There is one worker for each free processor; a lost worker is replaced as soon as a processor is free.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, TypeVar

import ray
from pydantic import SecretStr
from ray.exceptions import ObjectLostError, RayActorError, RayError

from ...config import Settings
from ...ingest.limits import Limits
from ...runtime.event_loop import process_loop
from ...schemas.errors import BanyanError
from .joining import ClusterError
from .worker import PACKAGE, Ready, Worker

_COMPUTING = 2
"""Work items a worker has at once: while it computes one, the next is in transit."""
_START_SECONDS = 120.0
"""The most time for a worker to start; the first one on a machine may have to prepare the embedding model."""
MOST_LOST = 3
"""How many workers one work item may lose: it may be the cause."""
_ELSEWHERE = {name: SecretStr("") for name in ("database_url", "chroma_token", "embedding_api_key", "reranker_api_key",
                                               )}
"""Secrets that workers do not need."""

_LOG = logging.getLogger("banyan.cluster")
_I = TypeVar("_I")
_T = TypeVar("_T")


_ACTOR: Any = ray.remote(Worker)


class WorkerLostError(ClusterError):
    """The worker was lost before it returned a result."""


@dataclass(eq=False)
class _Member:
    """A worker, and the numbers of its unfinished work items and calls."""

    actor: Any
    computing: int = 0
    calls: int = 0


class Workers:
    """The workers of one build. Call coroutines only on the process's event loop, the other methods in any thread.

    Args:
        settings: the workers' settings.
        limits: how much of a file they read.
        embedding: the fingerprint of the embedding model that they must have, or "" if they need none.
    """

    def __init__(self, settings: Settings, limits: Limits, embedding: str) -> None:
        self._arguments = (settings.model_copy(update=_ELSEWHERE), limits)
        self._embedding = embedding
        self._members: list[_Member] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Condition()
        self._failure: BanyanError | None = None

    @property
    def count(self) -> int:
        """The number of workers now."""
        return len(self._members)

    @property
    def at_once(self) -> int:
        """The number of work items that all workers take at once."""
        return _COMPUTING * max(1, self.count)

    async def start(self) -> None:
        """Start as many workers as the cluster has room for.

        Raises:
            ClusterError: no worker can be started, or one does not fit this process.
        """
        free: dict[str, float] = ray.available_resources()  # type: ignore[no-untyped-call]
        wanted = max(1, int(free.get("CPU", 0)))
        for _ in range(wanted):
            self._start_one()
        await asyncio.wait(self._starting)
        if self._failure is not None or not self._members:
            raise self._failure or ClusterError(
                f"no processor of the Ray cluster became free within {_START_SECONDS:g} s: wait until others have "
                "ended, or add a node with `ray start --address=HOST:PORT`")
        _LOG.info("%d workers", self.count)

    def _start_one(self) -> None:
        self._starting.add(asyncio.create_task(self._join()))

    async def _join(self) -> None:
        """Start a worker, and add it once it is ready."""
        actor: Any = _ACTOR.options(num_cpus=1, scheduling_strategy="SPREAD").remote(
            *self._arguments, embeds=bool(self._embedding))
        try:
            async with asyncio.timeout(_START_SECONDS):
                ready: Ready | BanyanError = await _result(actor.ready.remote())
            self._check(ready)
        except TimeoutError:  # no processor is free
            ray.kill(actor)
        except (ClusterError, RayError) as error:
            ray.kill(actor)
            self._failure = error if isinstance(error, ClusterError) else ClusterError(
                f"a worker of the Ray cluster cannot be started ({_last_line(error)}): install "
                f"{self._requirement} on every node")
        except asyncio.CancelledError:
            ray.kill(actor)
            raise
        else:
            self._members.append(_Member(actor))
        finally:
            self._starting = {task for task in self._starting if task is not asyncio.current_task()}
        async with self._changed:
            self._changed.notify_all()

    @property
    def _requirement(self) -> str:
        return f"'{PACKAGE}[ray]=={version(PACKAGE)}'"

    def _check(self, ready: Ready | BanyanError) -> None:
        if isinstance(ready, BanyanError):
            raise ClusterError(f"a worker of the Ray cluster cannot work: {ready}")
        if ready.version != version(PACKAGE):
            raise ClusterError(f"a worker of the Ray cluster has {PACKAGE} {ready.version}: install "
                               f"{self._requirement} on every node, and start its node again")
        if ready.embedding != self._embedding:
            raise ClusterError(f"a worker of the Ray cluster has another embedding model ({ready.embedding}) than this "
                               f"process ({self._embedding}): have the same files of BANYAN_EMBEDDING_MODEL everywhere")

    async def stop(self) -> None:
        """Stop all workers; their unfinished work is lost."""
        for task in self._starting.copy():
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        for member in self._members:
            ray.kill(member.actor)
        self._members.clear()

    async def call(self, method: str, *arguments: Any) -> Any:
        """Call a worker's method that waits for others, such as an endpoint; the caller limits the calls at once.

        Raises:
            WorkerLostError: the worker was lost; the caller decides whether to ask another one.
            ClusterError: no worker is left.
        """
        member = await self._least_busy(lambda _: True, lambda member: member.calls)
        member.calls += 1
        try:
            return await self._ask(member, method, arguments)
        finally:
            member.calls -= 1

    async def compute(self, method: str, *arguments: Any) -> Any:
        """Call a worker's method that computes, when one has time. If the worker is lost, another one does the work.

        Raises:
            ClusterError: no worker is left, or too many were lost at this work.
        """
        for _ in range(MOST_LOST):
            member = await self._least_busy(lambda member: member.computing < _COMPUTING,
                                            lambda member: member.computing)
            member.computing += 1
            try:
                return await self._ask(member, method, arguments)
            except WorkerLostError as error:
                lost = error
            finally:
                member.computing -= 1
                async with self._changed:
                    self._changed.notify_all()
        raise lost_too_many(lost)

    async def _least_busy(self, able: Callable[[_Member], bool], busy: Callable[[_Member], int]) -> _Member:
        """Wait until a worker is able to take more work, and return the least busy one.

        Raises:
            ClusterError: all workers were lost.
        """
        async with self._changed:
            while True:
                if free := [member for member in self._members if able(member)]:
                    return min(free, key=busy)
                if not self._members and not self._starting:
                    raise self._failure or ClusterError(
                        "all workers of the Ray cluster were lost. Progress is saved: check the cluster, and run the "
                        "command again to resume")
                await self._changed.wait()

    async def _ask(self, member: _Member, method: str, arguments: Sequence[Any]) -> Any:
        try:
            result = await _result(getattr(member.actor, method).remote(*arguments))
        except (RayActorError, ObjectLostError) as error:
            self._lose(member, error)
            raise WorkerLostError(_last_line(error)) from error
        if isinstance(result, BanyanError):
            raise result
        return result

    def _lose(self, member: _Member, error: Exception) -> None:
        """Remove a lost worker and start another one if there is room."""
        if member in self._members:
            _LOG.warning("a worker was lost: %s", _last_line(error))
            self._members.remove(member)
            ray.kill(member.actor)
            self._start_one()

    def ahead(self, items: Iterable[_I], work: Callable[[_I], Coroutine[Any, Any, _T]]) -> Iterator[_T]:
        """Yield the results of items in order, computing several items at once. Callable from any thread.

        Args:
            items: consumed as workers have room.
            work: a coroutine function, such as one that asks `compute`.
        """
        waiting: list[Any] = []
        items = iter(items)
        try:
            for item in items:
                waiting.append(process_loop().submit(work(item)))
                if len(waiting) >= self.at_once:
                    yield process_loop().result(waiting.pop(0))
            while waiting:
                yield process_loop().result(waiting.pop(0))
        finally:
            for future in waiting:
                future.cancel()


def lost_too_many(last: WorkerLostError) -> ClusterError:
    """Return the error for work that lost `MOST_LOST` workers."""
    return ClusterError(f"{MOST_LOST} workers of the Ray cluster were lost at the same work ({last}): see its logs. "
                        "Progress is saved. Run the command again to resume")


async def _result(reference: Any) -> Any:
    """Wait for a worker's result; if cancelled, cancel the worker's task too."""
    try:
        return await asyncio.wrap_future(reference.future())
    except asyncio.CancelledError:
        ray.cancel(reference)
        raise


def _last_line(error: Exception) -> str:
    """Return the last line of a Ray error, whose text is a traceback followed by the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__


@contextmanager
def started(settings: Settings, limits: Limits, embedding: str) -> Iterator[Workers]:
    """Start the workers of a build and stop them when the block ends; see `Workers`."""
    workers = Workers(settings, limits, embedding)
    try:
        process_loop().run(workers.start())
        yield workers
    finally:
        process_loop().submit(workers.stop()).result()  # also of a run that was cancelled
