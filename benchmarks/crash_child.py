"""Run a command in a forked child that dies at a given point.

Starting Python and importing everything takes seconds; forking one prepared process, milliseconds. The
parent must have one thread only, so it embeds nothing and opens no store: children do.
"""

import gc
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import banyan.agents.resources
from banyan.cli import main as cli
from banyan.graph_store.graph import graph_file
from banyan.graph_store.vectors.vector_store import VectorStore
from crash_world import ROOT
from sqlalchemy import Engine, event

from tests.hashed_embedding import HashedEmbedder
from tests.warm_start import import_all

__all__ = ["Child", "Fault", "run_command", "start"]

_WRITES = ("INSERT", "UPDATE", "DELETE", "COMMIT", "CREATE", "ALTER")
assert ROOT.is_dir()  # importing it has put the tests on the path
import_all()  # before any fork
gc.collect()
gc.freeze()


@dataclass(frozen=True)
class Fault:
    """The point at which a child kills itself: its `number`th point of writing, or the first that has `word` in it."""

    number: int = 0
    word: str = ""


class _Points:
    """Points of writing: each statement to the ledger that changes it, and both sides of writing derived files."""

    def __init__(self, fault: Fault) -> None:
        self.passed = 0
        self._fault = fault
        self._lock = threading.Lock()

    def __call__(self, what: str) -> None:
        with self._lock:
            self.passed += 1
            if self.passed == self._fault.number or (self._fault.word and self._fault.word in what):
                os.kill(os.getpid(), signal.SIGKILL)

    def around(self, owner: Any, name: str) -> None:
        """Make both sides of a function points."""
        inner = getattr(owner, name)

        def marked(*arguments: Any, **named: Any) -> Any:
            self(f"before {name}")
            result = inner(*arguments, **named)
            self(f"after {name}")
            return result

        setattr(owner, name, marked)


def _watch(points: _Points) -> None:
    def executed(_connection: Any, _cursor: Any, sql: str, values: Any, _context: Any, _many: bool) -> None:
        if sql.lstrip().startswith(_WRITES):
            points(f"{sql} {values}")

    event.listen(Engine, "before_cursor_execute", executed)
    for name in ("put", "drop"):
        points.around(VectorStore, name)
    points.around(graph_file, "save")
    points.around(Path, "replace")


def run_command(arguments: tuple[str, ...], fault: Fault) -> None:
    """Run a command of the command line in this process, which ends with it."""
    points = _Points(fault)
    _watch(points)
    banyan.agents.resources.load_embedder = lambda _: HashedEmbedder()
    sys.argv = ["banyan", *arguments]
    try:
        cli.main()
    finally:
        Path("points.txt").write_text(str(points.passed), "utf-8")


class Child:
    """A forked process that runs a function in a separate folder."""

    def __init__(self, pid: int, folder: Path) -> None:
        self._pid = pid
        self._folder = folder
        self._started = time.monotonic()
        self.seconds = 0.0

    def kill_after(self, seconds: float) -> bool:
        """Kill the child at a time from its start, and return True if it was still running."""
        while time.monotonic() - self._started < seconds:
            pid, _ = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                return False
            time.sleep(0.001)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        return True

    def wait(self) -> int:
        """Wait for the child to end, and return its exit code: negative for a signal."""
        _, status = os.waitpid(self._pid, 0)
        self.seconds = time.monotonic() - self._started
        return os.waitstatus_to_exitcode(status)

    def wait_within(self, seconds: float) -> int | None:
        """Wait for the child to end, and return its exit code, or None after killing one that did not end in time."""
        while time.monotonic() - self._started < seconds:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self.seconds = time.monotonic() - self._started
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        self.kill_after(0)
        return None

    def output(self) -> str:
        """Return what the child wrote, errors included."""
        return (self._folder / "output.txt").read_text("utf-8", "replace")


def start(folder: Path, environment: Mapping[str, str], work: Callable[[], None]) -> Child:
    """Fork a child that does some work in a folder, with `environment`, and ends.

    Raises:
        RuntimeError: this process has several threads, whose locks a child would inherit as they are.
    """
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        raise RuntimeError("a process with several threads must not be forked: use another one for what starts them")
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return Child(pid, folder)
    code = 1
    try:
        os.chdir(folder)
        os.environ.update(environment)
        output = os.open("output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        work()
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:  # noqa: BLE001  (printed, for the parent to read)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    raise AssertionError("a child ends above")
