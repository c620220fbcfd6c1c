"""The workers of a build: work goes to whichever has least to do, and to another one when a worker is lost.

As many as the cluster has processors that are free; a lost one is replaced as soon as there is one again.
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
"""Pieces of work that a worker has at once: while it does one, the next one is on its way."""
_START_SECONDS = 120.0
"""Until a worker is there; the first one on a machine may have to prepare the embedding model."""
MOST_LOST = 3
"""Workers that one piece of work may lose: it may be what they die of."""
_ELSEWHERE = {name: SecretStr("") for name in ("database_url", "chroma_token", "embedding_api_key", "reranker_api_key",
                                               )}
"""Secrets that are no worker's business."""

_LOG = logging.getLogger("banyan.cluster")
_I = TypeVar("_I")
_T = TypeVar("_T")


_ACTOR: Any = ray.remote(Worker)


class WorkerLostError(ClusterError):
    """The worker that was asked is gone, and with it what it was about to say."""


@dataclass(eq=False)
class _Member:
    """A worker, and what it was given and has not given back."""

    actor: Any
    computing: int = 0
    calls: int = 0


class Workers:
    """The workers of one build. Coroutines are for the process's event loop alone, the other methods for any thread.

    Args:
        settings: what they work with.
        limits: how much of a file they read.
        embedding: the fingerprint of the embedding model that they must have; empty: they need none.
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
        """How many there are now."""
        return len(self._members)

    @property
    def at_once(self) -> int:
        """Pieces of work that they take at once."""
        return _COMPUTING * max(1, self.count)

    async def start(self) -> None:
        """Start as many as the cluster has room for.

        Raises:
            ClusterError: none can be started, or one does not fit this process.
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
        """Start a worker, and let it work when it is there."""
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
                f"a worker of the Ray cluster cannot be started ({_last_line(error)}): install {self._wanted} on every "
                "node")
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
    def _wanted(self) -> str:
        return f"'{PACKAGE}[ray]=={version(PACKAGE)}'"

    def _check(self, ready: Ready | BanyanError) -> None:
        if isinstance(ready, BanyanError):
            raise ClusterError(f"a worker of the Ray cluster cannot work: {ready}")
        if ready.version != version(PACKAGE):
            raise ClusterError(f"a worker of the Ray cluster has {PACKAGE} {ready.version}: install {self._wanted} on "
                               "every node, and start its node again")
        if ready.embedding != self._embedding:
            raise ClusterError(f"a worker of the Ray cluster has another embedding model ({ready.embedding}) than this "
                               f"process ({self._embedding}): have the same files of BANYAN_EMBEDDING_MODEL everywhere")

    async def stop(self) -> None:
        """End all of them; what they are doing is lost."""
        for task in self._starting.copy():
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        for member in self._members:
            ray.kill(member.actor)
        self._members.clear()

    async def call(self, method: str, *arguments: Any) -> Any:
        """Have a worker wait for others, such as an endpoint; how many calls there are at once is the caller's affair.

        Raises:
            WorkerLostError: the worker is gone; whether to ask another one is for the caller to say.
            ClusterError: there is none left.
        """
        member = await self._least_busy(lambda _: True, lambda member: member.calls)
        member.calls += 1
        try:
            return await self._ask(member, method, arguments)
        finally:
            member.calls -= 1

    async def compute(self, method: str, *arguments: Any) -> Any:
        """Have a worker compute something, when one has time; a lost one's work is given to another.

        Raises:
            ClusterError: there is none left, or the work has lost too many.
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
        """The worker with least to do, when one is able to do more."""
        async with self._changed:
            while True:
                if free := [member for member in self._members if able(member)]:
                    return min(free, key=busy)
                if not self._members and not self._starting:
                    raise self._failure or ClusterError(
                        "all workers of the Ray cluster were lost. What was done stands: see to the cluster, and run "
                        "the command again to go on from here")
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
        """A worker is gone: another one is started where there is room for it."""
        if member in self._members:
            _LOG.warning("a worker was lost: %s", _last_line(error))
            self._members.remove(member)
            ray.kill(member.actor)
            self._start_one()

    def ahead(self, items: Iterable[_I], work: Callable[[_I], Coroutine[Any, Any, _T]]) -> Iterator[_T]:
        """The results of some items, in order, each begun while those before it are under way; for any thread.

        Args:
            items: they are taken as there is room for them.
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
    """The error of work that has lost `MOST_LOST` workers."""
    return ClusterError(f"{MOST_LOST} workers of the Ray cluster were lost at the same work ({last}): see its logs. "
                        "What was done stands; run the command again to go on from here")


async def _result(reference: Any) -> Any:
    """What a worker gives back; cancelled, it is told to stop."""
    try:
        return await asyncio.wrap_future(reference.future())
    except asyncio.CancelledError:
        ray.cancel(reference)
        raise


def _last_line(error: Exception) -> str:
    """What an error of Ray comes to: its text is a traceback, and then what is known of the worker."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__


@contextmanager
def started(settings: Settings, limits: Limits, embedding: str) -> Iterator[Workers]:
    """Workers that are there, and end with the block; see `Workers`."""
    workers = Workers(settings, limits, embedding)
    try:
        process_loop().run(workers.start())
        yield workers
    finally:
        process_loop().submit(workers.stop()).result()  # also of a run that was cancelled
