"""Vectors written by a process of its own.

Chroma holds the interpreter's lock for as long as it writes, some 0.15 ms a vector: beside a process that extracts,
bounds and embeds, another one does that, on another core. `VectorsApart` is its one end, `main` the other.
"""

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from ...models.embedding.embedder import Vectors
from ...runtime.cores import stay_on_core
from ..errors import StoreError
from .backend import Kind
from .chroma_folder import ChromaFolder
from .kept_process import KeptProcess, keep, kept
from .vector_writer import CollectionWriter

AVAILABLE = os.name == "posix"
"""Whether the system hands open pipes on to a process that is started."""
_LOCK = "vectors.lock"
_ENDING_SECONDS = 60.0
"""How long what it was last told to write may take it when nobody is there any more."""
_KEPT_SECONDS, _KEPT_FOLDERS = 300.0, 10
"""How long a process that has nothing to do waits for another folder, in memory of 100 MB, and how many it opens: of
each, some memory is not given back (10 MB for 6,000 vectors)."""


class VectorsApart:
    """Implements `VectorWriter`: hands everything to another process.

    Vectors are handed over and not waited for, so that the next ones are embedded meanwhile; what fails is told at the
    next call. The process ends with this one, however this one ends; else it waits for the next folder.

    Args:
        folder: Chroma's.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._due = 0
        self._lock = Lock()
        # The other process may have been started in another folder than this one is in now.
        opening = json.dumps(["open", str(folder.absolute())]).encode()
        process = _reopened(opening)
        if process is None:
            process = KeptProcess(__name__)
            process.send(opening)
            self._due = 1
        self._process = process

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
        """Let go of the folder, when what was told is done."""
        with self._lock:
            # With an answer due it may still be at work, or have been told half of something.
            if self._due == 0 and _answered(self._process, json.dumps(["close"]).encode()):
                keep(self._process)
            else:
                self._process.end()

    def _order(self, what: str, kind: Kind, ids: Sequence[str], *data: bytes) -> None:
        self._due += 1
        try:
            for part in (json.dumps([what, kind, list(ids)]).encode(), *data):
                self._process.send(part)
        except OSError as error:
            raise self._gone() from error

    def _settle(self, but: int = 0) -> None:
        """Wait for what is due, but for so many."""
        while self._due > but:
            self._answer()

    def _answer(self) -> Any:
        try:
            answer = json.loads(self._process.receive())
        except (EOFError, OSError) as error:
            raise self._gone() from error
        self._due -= 1
        if "error" in answer:
            raise StoreError(answer["error"])
        return answer["found"]

    def _gone(self) -> StoreError:
        return StoreError(f"the process that writes the vectors in {self._folder} ended (exit code "
                          f"{self._process.end()}); run the command again to go on from here")


def _reopened(opening: bytes) -> KeptProcess | None:
    """A process that was kept and has opened a folder; None: there is none, or not any more."""
    process = kept()
    if process is None or _answered(process, opening):
        return process
    process.end()
    return None


def _answered(process: KeptProcess, order: bytes) -> bool:
    """Whether a process that has nothing else to do carried out an order; else it has ended."""
    try:
        process.send(order)
        process.receive()
    except (EOFError, OSError):
        return False
    return True


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


def _answer(answers: Connection, **said: Any) -> None:
    answers.send_bytes(json.dumps(said).encode())


def _write(folder: Path, orders: Connection, answers: Connection) -> None:
    """Carry out orders for one folder until it is to be closed, or nobody is there to give any."""
    with FileLock(folder.with_name(_LOCK)):
        generation = ChromaFolder(folder)
        try:
            _answer(answers, found=None)
            while (order := json.loads(orders.recv_bytes())) != ["close"]:
                try:
                    found = _carry_out(CollectionWriter(generation), order, orders)
                except StoreError as error:
                    _answer(answers, error=str(error))
                else:
                    _answer(answers, found=found)
        finally:
            generation.close()
    _answer(answers, found=None)


def main() -> None:
    """Write in the folders that are named, one after the other, until nobody is there who could name any."""
    theirs, answers = map(int, sys.argv[1:])
    # Chroma's threads hand each row on to one another: between two cores that takes a sixth more. Not on the core where
    # the other process's calls are.
    stay_on_core(os.getppid() + 1)
    import chromadb  # noqa: F401, PLC0415  (takes half a second, while nothing is to be written yet)

    with Connection(theirs, writable=False) as orders, Connection(answers, readable=False) as back, \
            suppress(EOFError, BrokenPipeError):
        for _ in range(_KEPT_FOLDERS):
            if not orders.poll(_KEPT_SECONDS):
                break
            _, folder = json.loads(orders.recv_bytes())
            _write(Path(folder), orders, back)


if __name__ == "__main__":
    main()
