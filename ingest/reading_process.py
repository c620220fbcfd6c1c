"""A separate process that reads files and is killed when one of them takes too much time or memory.

A build must survive any failure of a parser. The process has a memory limit, and it is killed at the file's
deadline or when the build is cancelled; the next file gets a new one. It starts when the first file needs it (in about
a second, mostly imports) and lives for one run. Plain texts never wait for it.
"""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any, cast

from ..runtime.threads import check_cancelled
from ..schemas.documents import SourceTable
from ..text.cleaning import clean_text
from .decoding import read_bytes
from .formats import load_reader
from .metadata import clean_metadata
from .reading import MEGABYTE, Content, Limits, UnreadableError, read_content, set_page_listener

try:
    import resource
except ImportError:  # on Windows, where the deadline alone bounds a file
    resource = None  # type: ignore[assignment]

_PAGE_READ = b"\n"  # the answer after each page of a scan, whose pages have a deadline each
_LOOK = 0.2  # seconds between two checks whether the run was cancelled

_DEEPEST = 10_000
"""The recursion limit: parsers recurse into nested structures, and only this process fails on a stack overflow."""


class ReadingProcess:
    """A process that reads one file at a time. Use it as a context manager, which ends the process."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting = ThreadPoolExecutor(1, "banyan-file")

    def __enter__(self) -> "ReadingProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self._end_process()
        self._waiting.shutdown()

    def read(self, path: Path) -> Content:
        """Read a file and return its content.

        Raises:
            UnreadableError: the file cannot be read.
            asyncio.CancelledError: the run was cancelled.
        """
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - this module
                [sys.executable, "-m", __name__, self._limits.model_dump_json()], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
        process = self._process
        # A thread waits, because a pipe cannot be waited for with a deadline on every system.
        answer = self._waiting.submit(_ask_process, process, json.dumps(str(path)).encode())
        with ExitStack() as unless_answered:
            unless_answered.callback(self._end_process)
            while (line := self._wait_for(answer)) == _PAGE_READ:
                answer = self._waiting.submit(cast("IO[bytes]", process.stdout).readline)
            if not line:
                raise UnreadableError("the process that read it ended, perhaps because it needed more than "
                                      f"{self._limits.memory_mb:,} MB of memory: split it, "
                                      "or convert it to text")
            unless_answered.pop_all()
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise UnreadableError(reply["error"])
        return Content(**reply | {"tables": [SourceTable.model_validate(table) for table in reply["tables"]]})

    def _wait_for(self, answer: Future[bytes]) -> bytes:
        deadline = time.monotonic() + self._limits.seconds
        while not wait([answer], _LOOK).done:
            check_cancelled()
            if time.monotonic() > deadline:
                raise UnreadableError(f"not read within {self._limits.seconds:g} s (BANYAN_MAX_FILE_SECONDS): "
                                      "split it, or convert it to text")
        return answer.result()

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with suppress(BrokenPipeError):  # closing sends what is buffered, which nobody reads any more
                    cast("IO[bytes]", stream).close()


def _ask_process(process: "subprocess.Popen[bytes]", request: bytes) -> bytes:
    """Return the process's answer, or empty bytes if it has ended."""
    requests, answers = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
    with suppress(BrokenPipeError, ValueError):
        requests.write(request + b"\n")
        requests.flush()
        return answers.readline()
    return b""


def _serve_requests(limits: Limits) -> None:
    """Read the files whose paths come on the standard input, and write their contents to the output as JSON."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C the run ends this process
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    bound_memory(limits.memory_mb * MEGABYTE)
    sys.setrecursionlimit(_DEEPEST)

    def set_alarm() -> None:
        if hasattr(signal, "alarm"):
            signal.alarm(int(limits.seconds) + 10)  # ends this process if the run was killed

    def tell_of_page() -> None:
        set_alarm()
        answers.write(_PAGE_READ)
        answers.flush()

    set_page_listener(tell_of_page)
    for line in sys.stdin.buffer:
        set_alarm()
        answers.write(json.dumps(_read_for_reply(Path(json.loads(line)), limits)).encode() + b"\n")
        answers.flush()


def _read_for_reply(path: Path, limits: Limits) -> dict[str, Any]:
    """Read a file and return the fields of its `Content`, or only "error" with the reason why it cannot be read."""
    try:
        content = read_content(load_reader(path), read_bytes(path, limits), limits)
    except UnreadableError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": f"more than {limits.memory_mb:,} MB of memory to read it: split "
                         "it"}
    except Exception as error:  # noqa: BLE001 - a parser can raise anything on a broken structure
        return {"error": f"a broken {path.suffix[1:].lower()} file ({type(error).__name__}: {str(error)[:200]}): save "
                         "it again with its program, or convert it to text"}
    # Cleaning would turn the form feeds between pages into line breaks.
    pages = content.text.split("\f") if content.paged else [content.text]
    return {"text": "\f".join(map(clean_text, pages)), "title": content.title, "paged": content.paged,
            "metadata": clean_metadata(content.metadata), "unread": content.unread, "omitted": content.omitted,
            "records": content.records, "tables": [table.model_dump() for table in content.tables]}


def bound_memory(most: int) -> None:
    """Limit the memory of this process, in bytes."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    _serve_requests(Limits.model_validate_json(sys.argv[1]))
