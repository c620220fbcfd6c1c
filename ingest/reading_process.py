"""Separate processes that read a file or draw a page of it, and are killed when that takes too much time or memory.

A build must survive any failure of a parser: after one, the next file gets a new process.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
import unicodedata
from contextlib import AbstractContextManager, ExitStack, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import anyio

from ..runtime.threads import check_cancelled
from ..schemas.documents import SourceTable
from ..text.cleaning import clean_text
from .formats import load_reader
from .metadata import clean_metadata
from .reading import MEGABYTE, ON_PAGE, Content, Limits, UnreadableError, read_bytes, read_content

_PAGE_READ = b""  # the answer after each page of a scan, whose pages have a deadline each
_LOOK = 0.2  # seconds between two checks whether the run was cancelled
_LATE = 10  # seconds after the deadline of a file, when the process ends itself because its parent did not end it
_DRAWING_SECONDS, _DRAWING_MEMORY = 20, 2_048 * MEGABYTE  # the most time and memory for drawing one page
_WIDTH, _LONGEST_SIDE = 1_000, 2_000  # the width of a picture of a page, and its largest width or height, in pixels
_PART = 40  # letters of the beginning or the end of words that are marked if a page has only a part


class ReadingProcess(AbstractContextManager["ReadingProcess"]):
    """A process that reads one file at a time. Use it as a context manager, which ends the process."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._running: tuple[subprocess.Popen[bytes], Connection] | None = None

    def __exit__(self, *_: object) -> None:
        self._end_process()

    def read(self, path: Path) -> Content:
        """Return the content of a file; raise UnreadableError, or asyncio.CancelledError if the run was cancelled."""
        if self._running is None:
            own_end, its_end = Pipe()
            with its_end:  # only the process keeps it open, so that reading from the pipe fails when the process ends
                command = [sys.executable, "-m", __name__, "read", self._limits.model_dump_json(),
                           str(its_end.fileno())]
                process = subprocess.Popen(  # noqa: S603 - this module
                    command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    pass_fds=[its_end.fileno()], env=_environment())
            self._running = process, own_end
        _, pipe = self._running
        with ExitStack() as unless_answered:
            unless_answered.callback(self._end_process)
            try:
                pipe.send_bytes(os.fsencode(path))
                reply: dict[str, Any] = json.loads(self._receive(pipe))
            except (EOFError, OSError) as error:
                raise UnreadableError("the process that read it ended, perhaps because it needed more than "
                                      f"{self._limits.memory_mb:,} MB of memory: split it, or convert it to text"
                                      ) from error
            unless_answered.pop_all()
        if "error" in reply:
            raise UnreadableError(reply["error"])
        return Content(**reply | {"tables": [SourceTable.model_validate(table) for table in reply["tables"]]})

    def _receive(self, pipe: Connection) -> bytes:
        """Wait for the reply; raise UnreadableError at the deadline, which begins anew with each page of a scan."""
        answer = _PAGE_READ
        while answer == _PAGE_READ:
            deadline = time.monotonic() + self._limits.seconds
            while not pipe.poll(_LOOK):
                check_cancelled()
                if time.monotonic() > deadline:
                    raise UnreadableError(f"not read within {self._limits.seconds:g} s (BANYAN_MAX_FILE_SECONDS): "
                                          "split it, or convert it to text")
            answer = pipe.recv_bytes()
        return answer

    def _end_process(self) -> None:
        """Kill the process if there is one; the next file gets another."""
        running, self._running = self._running, None
        if running is not None:
            process, pipe = running
            pipe.close()
            process.kill()
            process.wait()


def _environment() -> dict[str, str]:
    """Return the environment of a process that finds the same modules."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _serve_requests(limits_json: str, descriptor: str) -> None:
    """Read the files whose paths come through a pipe, and send back their contents as JSON, until it is closed."""
    limits, pipe = Limits.model_validate_json(limits_json), Connection(int(descriptor))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C the run ends this process
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_mb * MEGABYTE,) * 2)
    sys.setrecursionlimit(10_000)  # parsers recurse into nested structures, and only this process fails on an overflow

    def note_progress() -> None:
        signal.alarm(int(limits.seconds) + _LATE)  # ends this process if the run was killed
        pipe.send_bytes(_PAGE_READ)

    ON_PAGE.set(note_progress)
    with suppress(EOFError):
        while True:
            path = Path(os.fsdecode(pipe.recv_bytes()))
            signal.alarm(int(limits.seconds) + _LATE)
            pipe.send_bytes(json.dumps(_read_for_reply(path, limits)).encode())
            signal.alarm(0)


def _read_for_reply(path: Path, limits: Limits) -> dict[str, Any]:
    """Read a file and return the fields of its `Content`, or only "error" with the reason why it cannot be read."""
    try:
        content = read_content(load_reader(path), read_bytes(path, limits), limits)
    except UnreadableError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": f"more than {limits.memory_mb:,} MB of memory to read it: split it"}
    except Exception as error:  # noqa: BLE001 - a parser can raise anything on a broken structure
        return {"error": f"a broken {path.suffix[1:].lower()} file ({type(error).__name__}: {str(error)[:200]}): save "
                         "it again with its program, or convert it to text"}
    # Cleaning would turn the form feeds between pages into line breaks.
    pages = content.text.split("\f") if content.paged else [content.text]
    content = content._replace(text="\f".join(map(clean_text, pages)), metadata=clean_metadata(content.metadata))
    return {**content._asdict(), "tables": [table.model_dump() for table in content.tables]}


async def draw_page(file: Path, page: int, words: str = "") -> bytes:
    """Return a picture (PNG) of a page of a PDF file, whose number counts from 1, with some words marked.

    It is an UnreadableError if there is no such page, or it cannot be drawn within the limits.
    """
    try:
        with anyio.fail_after(_DRAWING_SECONDS):  # which ends the process, as a cancellation of the caller does
            done = await anyio.run_process([sys.executable, "-P", "-m", __name__, "draw", str(file), str(page)],
                                           input=words.encode(), env=_environment())
    except TimeoutError as error:
        raise UnreadableError(f"page {page} takes more than {_DRAWING_SECONDS} s to draw: open the file itself"
                              ) from error
    except subprocess.CalledProcessError as error:
        raise UnreadableError(f"page {page} cannot be drawn: open the file itself") from error
    return done.stdout


def _draw_page(file: str, page: str) -> None:
    """Write a page, with the words from the standard input marked, to the output; this runs in the separate process."""
    import pypdfium2  # noqa: PLC0415 - only the process that draws needs these
    from PIL import Image, ImageChops  # noqa: PLC0415

    resource.setrlimit(resource.RLIMIT_AS, (_DRAWING_MEMORY, _DRAWING_MEMORY))
    with pypdfium2.PdfDocument(file) as document:
        drawn = document[int(page) - 1]
        width, height = drawn.get_size()
        scale = min(_WIDTH / width, _LONGEST_SIDE / max(width, height))
        picture = drawn.render(scale=scale).to_pil().convert("RGB")
        text = drawn.get_textpage()
        # A place of a letter on the page may have two letters, as "ﬁ" has.
        places = [(letter, place) for place in range(text.count_chars())
                  for letter in _letters_only(text.get_text_range(place, 1))]
        first, last = _find_words(places, _letters_only(sys.stdin.buffer.read().decode()))
        for number in range(text.count_rects(first, last - first + 1)):  # one for each line
            left, bottom, right, top = text.get_rect(number)
            edges = left - 1, height - top - 1, right + 1, height - bottom + 1
            box = tuple(round(scale * edge) for edge in edges)
            part = picture.crop(box)  # its letters show through the colour
            picture.paste(ImageChops.multiply(part, Image.new("RGB", part.size, "#ffe27a")), box[:2])
    picture.save(sys.stdout.buffer, "PNG")


def _find_words(places: list[tuple[str, int]], wanted: str) -> tuple[int, int]:
    """Return the first and the last place of some words, or of their beginning or end; (0, -1) if not on the page."""
    letters = "".join(letter for letter, _ in places)
    for part in filter(None, (wanted, wanted[:_PART], wanted[-_PART:])):
        begin = letters.find(part)
        if begin >= 0:
            return places[begin][1], places[begin + len(part) - 1][1]
    return 0, -1


def _letters_only(text: str) -> str:
    """Return only letters and digits, to compare texts: the page may have hyphens at line ends and other spaces."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text))).casefold()


if __name__ == "__main__":
    {"read": _serve_requests, "draw": _draw_page}[sys.argv[1]](*sys.argv[2:])
