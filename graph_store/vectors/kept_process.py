"""A process that carries out orders for this one, and is kept for the next who has any.

Starting one takes most of a second for what it imports. At most one is kept.
"""

import atexit
import os
import subprocess
import sys
import threading
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection

_PIPE_BYTES = 1 << 20
"""As many as Linux lets any user have: some 680 vectors."""


class KeptProcess:
    """Runs a module that reads orders from one pipe and answers in another.

    It ends with this process, however this one ends: nobody holds the other ends of its pipes then.

    Args:
        module: its name; as arguments it is given the file descriptors of the two pipes.
    """

    def __init__(self, module: str) -> None:
        theirs, self._orders = Pipe(duplex=False)
        _widen(self._orders)
        self._answers, answers = Pipe(duplex=False)
        with theirs, answers:
            ends = (theirs.fileno(), answers.fileno())
            command = [sys.executable, "-P", "-m", module, *map(str, ends)]
            # A session of its own: Ctrl-C is for this process, which then ends the other.
            self._process = subprocess.Popen(  # noqa: S603  (a module of ours, by the interpreter that runs)
                command, pass_fds=ends, start_new_session=True, stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})

    def send(self, order: bytes) -> None:
        """Give an order, or a part of one.

        Raises:
            OSError: the process has ended.
        """
        self._orders.send_bytes(order)

    def receive(self) -> bytes:
        """Wait for an answer.

        Raises:
            EOFError, OSError: the process has ended.
        """
        return self._answers.recv_bytes()

    def end(self) -> int:
        """Let it come to its end, which is when it has done what it was told; returns its exit code."""
        self._orders.close()
        code = self._process.wait()
        self._answers.close()
        return code


def _widen(pipe: Connection) -> None:
    """Let a pipe hold an order that waits for the one at work, so that nobody waits until it is taken out."""
    if sys.platform == "linux":
        import fcntl  # noqa: PLC0415  (there is none on other systems)

        with suppress(OSError):  # refused, to a user with many such pipes for one: a narrow one is only waited for
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


_kept: dict[int, KeptProcess] = {}
"""By the number of the process that started it: one that was forked has nothing of its parent's."""
_lock = threading.Lock()


def kept() -> KeptProcess | None:
    """The process that is kept, which the caller has from now on; None: there is none. It may have ended meanwhile."""
    with _lock:
        return _kept.pop(os.getpid(), None)


def keep(process: KeptProcess) -> None:
    """Keep a process that has nothing to do any more; where one is kept, it ends."""
    with _lock:
        if os.getpid() not in _kept:
            _kept[os.getpid()] = process
            return
    process.end()


@atexit.register
def _end() -> None:
    process = kept()
    if process is not None:
        process.end()
