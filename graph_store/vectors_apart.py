"""Vectors written by a process of its own.

Chroma holds the interpreter's lock for as long as it writes, some 0.15 ms a vector: beside a process that extracts,
bounds and embeds, another one does that, on another core. `VectorsApart` is its one end, `main` the other.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from ..models.embedding import Vectors
from .chroma_folder import ChromaFolder
from .errors import StoreError
from .vector_place import Kind
from .vector_writer import CollectionWriter

AVAILABLE = os.name == "posix"
"""Whether the system hands open pipes on to a process that is started."""
_LOCK = "vectors.lock"
_ENDING_SECONDS = 60.0
"""How long what it was last told to write may take it when nobody is there any more."""


class VectorsApart:
    """Implements `VectorWriter`: hands everything to a process that it starts.

    Vectors are handed over and not waited for, so that the next ones are embedded meanwhile; what fails is told at the
    next call. The process ends with this one, however this one ends.

    Args:
        folder: Chroma's.
    """

    def __init__(self, folder: Path) -> None:
        theirs, self._orders = Pipe(duplex=False)
        self._answers, answers = Pipe(duplex=False)
        self._folder = folder
        self._due = 0
        self._lock = threading.Lock()
        with theirs, answers:
            ends = (theirs.fileno(), answers.fileno())
            command = [sys.executable, "-P", "-m", __name__, str(folder), *map(str, ends)]
            # A session of its own: Ctrl-C is for this process, which then ends the other.
            self._process = subprocess.Popen(  # noqa: S603  (this module, by the interpreter that runs)
                command, pass_fds=ends, start_new_session=True, stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})

    def present(self, kind: Kind, ids: Sequence[str]) -> list[str]:
        """See `VectorWriter`."""
        with self._lock:
            self._settle()
            self._order("present", kind, ids)
            found: list[str] = self._answer()
            return found

    def upsert(self, kind: Kind, ids: Sequence[str], vectors: Vectors) -> None:
        """See `VectorWriter`."""
        with self._lock:
            self._settle(but=1)
            self._order("upsert", kind, ids, np.ascontiguousarray(vectors, np.float32).tobytes())

    def remove(self, kind: Kind, ids: Sequence[str]) -> None:
        """See `VectorWriter`."""
        with self._lock:
            self._settle(but=1)
            self._order("remove", kind, ids)

    def flush(self) -> None:
        """See `VectorWriter`."""
        with self._lock:
            self._settle()

    def close(self) -> None:
        """End the process, when it has done what it was told."""
        with self._lock:
            self._orders.close()
            self._process.wait()
            self._answers.close()

    def _order(self, what: str, kind: Kind, ids: Sequence[str], *data: bytes) -> None:
        try:
            for part in (json.dumps([what, kind, list(ids)]).encode(), *data):
                self._orders.send_bytes(part)
        except OSError as error:
            raise self._gone() from error
        self._due += 1

    def _settle(self, but: int = 0) -> None:
        """Wait for what is due, but for so many."""
        while self._due > but:
            self._answer()

    def _answer(self) -> Any:
        try:
            answer = json.loads(self._answers.recv_bytes())
        except (EOFError, OSError) as error:
            raise self._gone() from error
        self._due -= 1
        if "error" in answer:
            raise StoreError(answer["error"])
        return answer["found"]

    def _gone(self) -> StoreError:
        return StoreError(f"the process that writes the vectors in {self._folder} ended (exit code "
                          f"{self._process.wait()}); run the command again to go on from here")


def wait_until_written(folder: Path) -> None:
    """Wait for a process that still writes for one that was killed.

    Raises:
        StoreError: it does not come to an end.
    """
    path = folder.with_name(_LOCK)
    if path.exists():
        try:
            with FileLock(path, timeout=_ENDING_SECONDS):
                pass
        except Timeout as error:
            raise StoreError(f"the process that writes the vectors in {folder} does not come to an end, though the one "
                             "it writes for has: end it, and try again") from error


def _carry_out(writer: CollectionWriter, order: list[Any], orders: Connection) -> Any:
    what, kind, ids = order
    match what:
        case "present":
            return writer.present(kind, ids)
        case "upsert":
            writer.upsert(kind, ids, np.frombuffer(orders.recv_bytes(), np.float32).reshape(len(ids), -1))
        case "remove":
            writer.remove(kind, ids)
    return None


def main() -> None:
    """Carry out orders until nobody is there to give any."""
    folder, (theirs, answers) = Path(sys.argv[1]), map(int, sys.argv[2:])
    with Connection(theirs, writable=False) as orders, Connection(answers, readable=False) as back, \
            FileLock(folder.with_name(_LOCK)):
        generation = ChromaFolder(folder)
        with suppress(EOFError, BrokenPipeError):
            while True:
                order = json.loads(orders.recv_bytes())
                try:
                    answer = {"found": _carry_out(CollectionWriter(generation), order, orders)}
                except StoreError as error:
                    answer = {"error": str(error)}
                back.send_bytes(json.dumps(answer).encode())
        generation.close()


if __name__ == "__main__":
    main()
