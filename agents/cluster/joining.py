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
_FOLDER_PREFIX = "banyan-ray-"
_SHORT_FOLDER = Path("/tmp")  # noqa: S108  (the folder made in it is this user's alone)
_OBJECT_STORE_BYTES = 500_000_000
"""Texts, vectors and files in transit; Ray spills more to disk."""


class ClusterError(BanyanError):
    """The cluster cannot be used: Ray is not installed, nothing answers, or its workers do not fit this process."""


class _Membership:
    """This process's membership of a Ray cluster; a process can be in one cluster at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.open_blocks = 0
        self.leave_steps = ExitStack()


_membership = _Membership()


@contextmanager
def join_cluster(address: str) -> Iterator[None]:
    """Join a Ray cluster for the block, and leave it when the last open block ends.

    A process can be in one cluster only. If it has joined one already, the block shares that one.

    Args:
        address: `local` (start Ray on this machine), `auto` (the cluster that this machine is a node of), or HOST:PORT
            (a cluster that this machine is a node of).

    Raises:
        ClusterError: Ray is not installed, or there is no cluster that can be joined; names the fix.
    """
    _check_address(address)
    ray = _import_ray(address)
    with _membership.lock:
        if not ray.is_initialized():
            _membership.leave_steps.close()  # of a cluster whose connection ended by itself
            with ExitStack() as leave_steps:  # undoes what was done if joining fails
                _join(ray, address, leave_steps)
                _membership.leave_steps = leave_steps.pop_all()
        _membership.open_blocks += 1
    try:
        yield
    finally:
        with _membership.lock:
            _membership.open_blocks -= 1
            if not _membership.open_blocks:
                _membership.leave_steps.close()


def _check_address(address: str) -> None:
    """Raise ClusterError if the address is malformed or nothing listens there; Ray itself would retry for minutes."""
    if address == "auto":
        # Ray resolves `auto` in the same order.
        address = os.environ.get("RAY_ADDRESS") or _read_last_address() or address
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
    """Return the address that the last `ray start` on this machine wrote to Ray's folder, or "" if there is none."""
    folder = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or _SHORT_FOLDER
    address_file = Path(folder, "ray", "ray_current_cluster")
    return address_file.read_text("utf-8").strip() if address_file.is_file() else ""


def _import_ray(address: str) -> ModuleType:
    """Set the environment variables that Ray reads, import Ray and return the module."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no usage reports to Ray's makers
    if address == LOCAL:
        # Binds Ray to this machine's loopback address; the variable is named after systems where that is the default.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    if address == LOCAL and "ray" not in sys.modules:
        # Ray runs code for anyone who can reach its ports, and every user of the machine can reach its loopback
        # address. So a secret token is required. Ray reads these variables only when it is imported.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        import ray  # noqa: PLC0415  (an optional package)
    except ModuleNotFoundError as error:
        raise ClusterError("building with --ray needs Ray: pip install 'banyan-graphrag[ray]', here and on every "
                           "node") from error
    return ray


def _join(ray: ModuleType, address: str, leave_steps: ExitStack) -> None:
    """Connect to the cluster at an address, or start one for `local`; push onto `leave_steps` what undoes it."""
    options: dict[str, Any] = {"address": address, "log_to_driver": False, "logging_level": "ERROR"}
    if address == LOCAL:
        # Ray makes its folder accessible to everybody, so it gets one inside a private folder, which is deleted when
        # Ray has ended. The path must be short, because Ray's sockets are below it.
        parent = _SHORT_FOLDER if _SHORT_FOLDER.is_dir() else Path(tempfile.gettempdir())
        folder = leave_steps.enter_context(own_folder(parent, _FOLDER_PREFIX))
        options |= {"include_dashboard": False, "object_store_memory": _OBJECT_STORE_BYTES,
                    "_temp_dir": str(folder / "r")}
    leave_steps.callback(ray.shutdown)
    try:
        # If interrupted while starting, Ray leaves processes behind or crashes.
        with _defer_ctrl_c():
            ray.init(**options)
    except (ConnectionError, OSError, RuntimeError, TimeoutError, ValueError, ray.exceptions.RayError) as error:
        reason = " ".join(str(error).split())
        # `_check_address` found something listening, so the token may be wrong. Ray says that only in its log.
        fix = "" if address == LOCAL else ("; if it is one, check that RAY_AUTH_TOKEN (or RAY_AUTH_TOKEN_PATH) is the "
                                           "cluster's, and that this machine is a node of it (`ray start`)")
        raise ClusterError(f"no Ray cluster can be joined at {address!r}: {reason[:300]}{fix}") from error


@contextmanager
def _defer_ctrl_c() -> Iterator[None]:
    """Delay the effect of Ctrl-C until the end of the block; Ray crashes if Ctrl-C interrupts its start."""
    usual_handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual_handler):
        yield
        return
    was_pressed = False

    def note_ctrl_c(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  (as handlers are called)
        nonlocal was_pressed
        was_pressed = True

    signal.signal(signal.SIGINT, note_ctrl_c)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual_handler)
        if was_pressed:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def resources_on(resources: Resources, ray: str | bool) -> Iterator[Resources]:
    """Join a Ray cluster for the block, and yield resources whose builds run on it.

    Args:
        resources: the resources of this process. Knowledge bases that they have open stay open, and see what the
            builds write.
        ray: the cluster's address, `auto` or HOST:PORT (see `join_cluster`). True starts Ray on this machine. With ""
            or False no cluster is used, and `resources` is yielded.

    Raises:
        ClusterError: Ray is not installed, no cluster answers, or its workers do not fit this process.
    """
    if not ray:
        yield resources
        return
    with join_cluster(LOCAL if ray is True else ray):
        # Imported only here, because the module imports Ray, an optional package.
        from .ray_resources import ClusterResources  # noqa: PLC0415

        with ClusterResources(resources) as on_cluster:
            yield on_cluster


@asynccontextmanager
async def aresources_on(resources: Resources, ray: str | bool) -> AsyncIterator[Resources]:
    """Do what `resources_on` does, as an async context manager: workers start and end in a thread."""
    stack = ExitStack()
    entering = asyncio.ensure_future(asyncio.to_thread(stack.enter_context, resources_on(resources, ray)))
    try:
        yield await asyncio.shield(entering)
    finally:
        await asyncio.wait([entering])  # if cancelled while workers start, wait for them, so they can be ended
        await asyncio.shield(asyncio.to_thread(stack.close))
