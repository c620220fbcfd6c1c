"""Join the Ray cluster for a build: a running one, or one started on this machine while needed.

Ray is imported only within.
"""

import asyncio
import os
import secrets
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any
from urllib.parse import urlsplit

from ...runtime.safe_files import own_folder
from ...schemas.errors import BanyanError
from ..resources import Resources

LOCAL = "local"
"""The address of a Ray cluster on this machine that starts and ends with the build."""
_PROBE_SECONDS = 5.0
_FOLDER = "banyan-ray-"
_SHORT = Path("/tmp")  # noqa: S108  (the folder made in it is this user's alone)
_OBJECT_STORE_BYTES = 500_000_000
"""Texts, vectors and files in transit; Ray spills more to disk."""


class ClusterError(BanyanError):
    """The cluster cannot be used: Ray is not installed, nothing answers, or its workers do not fit this process."""


class _Joined:
    """The users in this process of the one cluster that a process can have joined."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.leaving = ExitStack()


_joined = _Joined()


@contextmanager
def join_cluster(address: str) -> Iterator[None]:
    """Join a Ray cluster for the block; nested blocks share the cluster that the process joined first.

    Args:
        address: `local`, `auto` (the cluster of this machine's node), or HOST:PORT, of which this machine is a node.

    Raises:
        ClusterError: Ray is not installed, or there is no cluster that can be joined; names the fix.
    """
    _check_address(address)
    ray = _import_ray(address)
    with _joined.lock:
        if not ray.is_initialized():
            _joined.leaving.close()
            with ExitStack() as leaving:
                _join(ray, address, leaving)
                _joined.leaving = leaving.pop_all()
        _joined.users += 1
    try:
        yield
    finally:
        with _joined.lock:
            _joined.users -= 1
            if not _joined.users:
                _joined.leaving.close()


def _check_address(address: str) -> None:
    """Raise ClusterError if nothing listens at an address: Ray itself would retry for minutes."""
    if address == "auto":
        address = os.environ.get("RAY_ADDRESS") or _read_last_address() or address  # as Ray does
    if address in {LOCAL, "auto"}:
        return
    try:
        host, port = urlsplit(f"//{address}").hostname, urlsplit(f"//{address}").port
    except ValueError:
        host = port = None
    if not host or not port or "/" in address or "@" in address:
        raise ClusterError(f"{address!r} is no address of a Ray cluster: give `auto`, HOST:PORT, or none for a Ray of "
                           "this machine (paths come before --ray, or after --ray=ADDRESS)")
    try:
        socket.create_connection((host, port), _PROBE_SECONDS).close()
    except OSError as error:
        raise ClusterError(f"no Ray cluster answers at {address} ({error.strerror or error}): start one with "
                           "`ray start --head`, or correct the address") from error


def _read_last_address() -> str:
    """Return the address of the last cluster that `ray start` started here, or "" if none; it may have ended."""
    folder = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or _SHORT
    note = Path(folder, "ray", "ray_current_cluster")
    return note.read_text("utf-8").strip() if note.is_file() else ""


def _import_ray(address: str) -> ModuleType:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no usage reports to Ray's makers
    if address == LOCAL:
        # Binds Ray to this machine's loopback address; the variable is named after systems where that is the default.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    if address == LOCAL and "ray" not in sys.modules:
        # Ray runs code for anyone who can reach its ports, and every user of the machine can reach its loopback. It
        # reads these variables only when it is imported.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        import ray  # noqa: PLC0415  (an optional package)
    except ModuleNotFoundError as error:
        raise ClusterError("building with --ray needs Ray: pip install 'banyan-graphrag[ray]', here and on every "
                           "node") from error
    return ray


def _join(ray: ModuleType, address: str, leaving: ExitStack) -> None:
    options: dict[str, Any] = {"address": address, "log_to_driver": False, "logging_level": "ERROR"}
    if address == LOCAL:
        # In a private folder that is deleted when Ray has ended: Ray makes the folder that it is given accessible to
        # everybody. Socket paths must be short, and some systems' temporary folders have long paths.
        place = str(_SHORT) if _SHORT.is_dir() else None
        folder = leaving.enter_context(own_folder(Path(place or tempfile.gettempdir()), _FOLDER))
        options |= {"include_dashboard": False, "object_store_memory": _OBJECT_STORE_BYTES,
                    "_temp_dir": str(folder / "r")}
    leaving.callback(ray.shutdown)
    try:
        # If interrupted while starting, Ray leaves processes behind or crashes.
        with _ctrl_c_deferred():
            ray.init(**options)
    except (ConnectionError, OSError, RuntimeError, TimeoutError, ValueError, ray.exceptions.RayError) as error:
        reason = " ".join(str(error).split())
        # `_check_address` found something listening. Ray reports a wrong token only in its log.
        fix = "" if address == LOCAL else ("; if it is one, check that RAY_AUTH_TOKEN (or RAY_AUTH_TOKEN_PATH) is the "
                                           "cluster's, and that this machine is a node of it (`ray start`)")
        raise ClusterError(f"no Ray cluster can be joined at {address!r}: {reason[:300]}{fix}") from error


@contextmanager
def _ctrl_c_deferred() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block, because Ray crashes when it interrupts it.

    Does nothing outside the main thread, the only one that receives signals.
    """
    outer = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(outer):
        yield
        return
    heard = False

    def hear(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  (as handlers are called)
        nonlocal heard
        heard = True

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, outer)
        if heard:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def resources_on(resources: Resources, ray: str | bool) -> Iterator[Resources]:
    """Yield resources for builds on a Ray cluster, which this process leaves at the end of the block.

    Args:
        resources: those of this process; what is open of them stays as it is, and sees what is written.
        ray: the cluster's address, `auto` or HOST:PORT (see `join_cluster`); True starts a Ray of this machine; with
            "" or False the same resources are yielded.

    Raises:
        ClusterError: Ray is not installed, no cluster answers, or its workers do not fit this process.
    """
    if not ray:
        yield resources
        return
    with join_cluster(LOCAL if ray is True else ray):
        # It imports Ray, an optional package.
        from .ray_resources import ClusterResources  # noqa: PLC0415

        with ClusterResources(resources) as on_cluster:
            yield on_cluster


@asynccontextmanager
async def aresources_on(resources: Resources, ray: str | bool) -> AsyncIterator[Resources]:
    """Open as `resources_on` does, for an event loop: workers start and end in a thread."""
    stack = ExitStack()
    entering = asyncio.ensure_future(asyncio.to_thread(stack.enter_context, resources_on(resources, ray)))
    try:
        yield await asyncio.shield(entering)
    finally:
        await asyncio.wait([entering])  # a cancellation may come while workers start
        await asyncio.shield(asyncio.to_thread(stack.close))
