"""Builds on Ray: joining a running cluster, or starting one on this machine. Only `ray_resources` imports Ray."""

import os
import secrets
import socket
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...runtime.safe_files import own_folder
from ...runtime.threads import in_thread
from ...schemas.errors import BanyanError
from ..resources import Resources

LOCAL = "local"  # the address of a Ray cluster on this machine that starts and ends with the build
_PROBE_SECONDS = 5.0  # in which a running cluster has to answer
_SHORT_FOLDER = Path("/tmp")  # noqa: S108  (the folder made in it is this user's alone)
_JOINED = threading.Lock()  # held while a build runs on Ray: a process can be in one cluster at a time
_OBJECT_STORE_BYTES = 500_000_000  # texts, vectors and files in transit; Ray spills more to disk


class ClusterError(BanyanError):
    """The cluster cannot be used: Ray is not installed, nothing answers, or its workers do not fit this process."""


@contextmanager
def join_cluster(address: str) -> Iterator[None]:
    """Join a Ray cluster for the block, unless the program has joined one; another build in this process waits.

    `address` is `local` (start Ray on this machine), `auto` (the cluster that this machine is a node of), or HOST:PORT
    of such a cluster. A ClusterError names the fix if Ray is not installed or no cluster can be joined.
    """
    if address not in {LOCAL, "auto"}:
        try:  # to connect, for the error alone: Ray itself would retry for minutes
            parts = urlsplit(f"//{address}")
            socket.create_connection((parts.hostname or "", parts.port or 0), _PROBE_SECONDS).close()
        except (OSError, ValueError) as error:
            raise ClusterError(f"no Ray cluster answers at {address} ({error}): start one with `ray start --head`, or "
                               "give `auto`, HOST:PORT, or `local` for a Ray of this machine") from error
    ray = _import_ray(address)
    with _JOINED, ExitStack() as leave_steps:
        if not ray.is_initialized():
            _join(ray, address, leave_steps)
        yield


def _import_ray(address: str) -> Any:
    """Import and return Ray, after setting variables that it reads only then; ClusterError: it is not installed."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no usage reports to Ray's makers
    if address == LOCAL:
        # Binds Ray to this machine's loopback address; the variable is named after systems where that is the default.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        if "ray" not in sys.modules:
            # Ray runs code for whoever reaches its ports, as each user of the machine can: a secret token is required.
            os.environ.setdefault("RAY_AUTH_MODE", "token")
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        import ray  # noqa: PLC0415  (an optional package)
    except ModuleNotFoundError as error:
        raise ClusterError("building with --ray needs Ray: pip install 'banyan-graphrag[ray]', here and on every "
                           "node") from error
    return ray


def _join(ray: Any, address: str, leave_steps: ExitStack) -> None:
    """Connect to the cluster at an address, or start one for `local`; push onto `leave_steps` what undoes it."""
    options: dict[str, Any] = {"address": address, "log_to_driver": False, "logging_level": "ERROR"}
    if address == LOCAL:
        # Ray makes its folder accessible to everybody, so it gets one inside a private folder, which is deleted when
        # Ray has ended. The path must be short, because Ray's sockets are below it.
        parent = _SHORT_FOLDER if _SHORT_FOLDER.is_dir() else Path(tempfile.gettempdir())
        folder = leave_steps.enter_context(own_folder(parent, "banyan-ray-"))
        options |= {"include_dashboard": False, "object_store_memory": _OBJECT_STORE_BYTES,
                    "_temp_dir": str(folder / "r")}
    leave_steps.callback(ray.shutdown)
    try:
        ray.init(**options)
    except (ConnectionError, OSError, RuntimeError, TimeoutError, ValueError, ray.exceptions.RayError) as error:
        raise ClusterError(f"no Ray cluster can be joined at {address!r}: {' '.join(str(error).split())[:300]}; check "
                           "that this machine is a node of it (`ray start`), and that RAY_AUTH_TOKEN is the "
                           "cluster's") from error


@contextmanager
def resources_on(resources: Resources, ray: str | bool) -> Iterator[Resources]:
    """Yield resources that build on a Ray cluster (True: of this machine), or `resources` themselves without one."""
    if not ray:
        yield resources
        return
    with join_cluster(LOCAL if ray is True else ray):
        from .ray_resources import ClusterResources  # noqa: PLC0415  (imports Ray, an optional package)

        with ClusterResources(resources) as on_cluster:
            yield on_cluster


@asynccontextmanager
async def aresources_on(resources: Resources, ray: str | bool) -> AsyncIterator[Resources]:
    """Do what `resources_on` does, as an async context manager: workers start and end in a thread."""
    with ExitStack() as unfinished:  # if cancelled while workers start, they are ended here
        on_cluster = await in_thread(unfinished.enter_context, resources_on(resources, ray))
        stack = unfinished.pop_all()
        try:
            yield on_cluster
        finally:
            await in_thread(stack.close)
