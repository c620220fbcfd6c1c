"""The workers of a build, as tasks on the joined Ray cluster: Ray spreads them over its nodes and repeats lost ones."""

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from typing import Any

import ray
from pydantic import SecretStr
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from ...config import Settings
from ...ingest.reading import Limits
from ...runtime.threads import check_cancelled
from ...schemas.errors import BanyanError
from .joining import ClusterError
from .worker import PACKAGE, run_task

_COMPUTING = 2
"""Tasks for each processor at once: while one is computed, the next is in transit."""
_START_SECONDS = 120.0
"""The most time until a first task is done; the first worker on a machine may have to import everything."""
_LOOK_SECONDS = 10.0
"""Seconds between two looks whether the cluster still has processors, while a task is not done."""
_POLL_SECONDS = 1.0
"""The same in a thread, which also looks whether its run was cancelled."""
_RETRIES = 3
"""How often Ray repeats a task whose worker was lost: the task may be the cause."""
_SECRETS = ("database_url", "chroma_token", "llm_api_key", "embedding_api_key", "reranker_api_key")

_TASK: Any = ray.remote(num_cpus=1, max_retries=_RETRIES, scheduling_strategy="SPREAD")(run_task)


class Workers:
    """The processors of the joined cluster.

    Args:
        settings: the workers' settings; they get no secrets.
        limits: how much of a file they read.

    Raises:
        ClusterError: no task is done in time, or a worker has another version of Banyan.
    """

    def __init__(self, settings: Settings, limits: Limits) -> None:
        without = {name: SecretStr("") for name in _SECRETS}
        self._setup = settings.model_copy(update=without).model_dump_json(), limits.model_dump_json()
        self.at_once = _COMPUTING * max(1, _processors())
        """The number of tasks to have at once."""
        self._check()

    def _check(self) -> None:
        """Check that a worker can start, and that it has this process's version."""
        needed, task = f"'{PACKAGE}[ray]=={version(PACKAGE)}'", self.start("version")
        try:
            there: str = ray.get(task, timeout=_START_SECONDS)
        except GetTimeoutError:
            ray.cancel(task)
            raise ClusterError(f"no processor of the Ray cluster became free within {_START_SECONDS:g} s: wait until "
                               "others have ended, or add a node with `ray start --address=HOST:PORT`") from None
        except RayError as error:
            raise ClusterError(f"a worker of the Ray cluster cannot be started ({_last_line(error)}): install {needed} "
                               "on every node") from error
        if there != version(PACKAGE):
            raise ClusterError(f"a worker of the Ray cluster has {PACKAGE} {there}: install {needed} on every node, "
                               "and start its node again")

    def start(self, method: str, *arguments: Any) -> Any:
        """Let a worker call one of its methods (see `Worker`), and return the task, for `ahead`."""
        return _TASK.remote(self._setup, method, *arguments)

    async def compute(self, method: str, *arguments: Any) -> Any:
        """Let a worker call one of its methods (see `Worker`), and return the result.

        Raises:
            BanyanError: the error that the method raised.
            ClusterError: too many workers were lost at this task, or no processor is left.
        """
        task = self.start(method, *arguments)
        result = asyncio.wrap_future(task.future())
        try:
            while not (await asyncio.wait([result], timeout=_LOOK_SECONDS))[0]:
                _check_processors()
            return _result_of(task)
        finally:
            if not result.done():
                result.cancel()
                ray.cancel(task)

    def ahead(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield the results of tasks in order, while several are computed at once; see `compute` for its errors.

        Args:
            tasks: what `start` returned, consumed as workers have room. Anything else is yielded as it is.
        """
        waiting = deque[Any]()
        try:
            for task in tasks:
                waiting.append(task)
                if len(waiting) >= self.at_once:
                    yield _wait(waiting.popleft())
            while waiting:
                yield _wait(waiting.popleft())
        finally:
            for task in waiting:
                if isinstance(task, ray.ObjectRef):
                    ray.cancel(task)


def _wait(task: Any) -> Any:
    """Return the result of a task; what is none is its own."""
    if not isinstance(task, ray.ObjectRef):
        return task
    while not ray.wait([task], timeout=_POLL_SECONDS)[0]:
        check_cancelled()
        _check_processors()
    return _result_of(task)


def _result_of(task: Any) -> Any:
    """Return the result of a task that is over, or raise its error."""
    try:
        result = ray.get(task)
    except RayTaskError:  # a defect, with its traceback
        raise
    except RayError as error:
        raise ClusterError(f"workers of the Ray cluster were lost at the same work ({_last_line(error)}): see its "
                           "logs. Progress is saved. Run the command again to resume") from error
    if isinstance(result, BanyanError):
        raise result
    return result


def _check_processors() -> None:
    """Raise an error if no processor is left: Ray would wait for another one without an end."""
    if not _processors():
        raise ClusterError("no processor of the Ray cluster is left. Progress is saved: check the cluster, and run the "
                           "command again to resume")


def _processors() -> int:
    """Return the number of processors that the cluster has now."""
    there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return int(there.get("CPU", 0))


def _last_line(error: Exception) -> str:
    """Return the last line of a Ray error, whose text is a traceback followed by the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__
