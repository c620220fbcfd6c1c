"""A page of a PDF file as a picture, drawn in a process that can be killed."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pypdfium2

from .reading_errors import UnreadableError
from .reading_limits import MEGABYTE
from .reading_process import bound_memory

_SECONDS, _MEMORY = 20, 2_048 * MEGABYTE
"""The most time and memory for one page."""
_AT_ONCE = threading.BoundedSemaphore(2)
"""Pages that are drawn at once, each by a core."""
_WIDTH, _MOST = 1_000, 2_000
"""The width of a picture and the largest width or height, in pixels."""


def draw_page(file: Path, page: int) -> bytes:
    """Draw a page of a PDF file.

    Args:
        file: the file.
        page: the number of the page, from 1.

    Returns:
        The picture, as PNG.

    Raises:
        UnreadableError: there is no such page, or it cannot be drawn within the limits.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        with _AT_ONCE:
            done = subprocess.run([sys.executable, "-P", "-m", __name__, str(file), str(page)],  # noqa: S603 - this module
                                  capture_output=True, timeout=_SECONDS, check=True, env=environment)
    except subprocess.TimeoutExpired as error:
        raise UnreadableError(f"page {page} takes more than {_SECONDS} s to draw") from error
    except subprocess.CalledProcessError as error:
        raise UnreadableError(f"page {page} cannot be drawn") from error
    return done.stdout


def _draw(file: str, page: int) -> None:
    bound_memory(_MEMORY)
    with pypdfium2.PdfDocument(file) as document:
        drawn = document[page - 1]
        width, height = drawn.get_size()
        picture = drawn.render(scale=min(_WIDTH / width, _MOST / max(width, height))).to_pil()
    picture.save(sys.stdout.buffer, "PNG")


if __name__ == "__main__":
    _draw(sys.argv[1], int(sys.argv[2]))
