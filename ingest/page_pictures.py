"""Draw a page of a PDF file as a picture, in a process that can be killed."""

import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import anyio
import pypdfium2
from PIL import Image, ImageChops

from .reading import MEGABYTE, UnreadableError
from .reading_process import bound_memory

_SECONDS, _MEMORY = 20, 2_048 * MEGABYTE  # the most time and memory for one page
_WIDTH, _MOST = 1_000, 2_000  # the width of a picture and the largest width or height, in pixels
_PART = 40
"""The length of the beginning or the end of words, in letters, that is marked if a page has only a part of them."""
_MARK = "#ffe27a"


async def draw_page(file: Path, page: int, words: str = "") -> bytes:
    """Return a picture (PNG) of a page of a PDF file, whose number counts from 1, with some words marked.

    Raises:
        UnreadableError: there is no such page, or it cannot be drawn within the limits.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        with anyio.fail_after(_SECONDS):  # which ends the process, as a cancellation of the caller does
            done = await anyio.run_process([sys.executable, "-P", "-m", __name__, str(file), str(page)],
                                           input=words.encode(), env=environment)
    except TimeoutError as error:
        raise UnreadableError(f"page {page} takes more than {_SECONDS} s to draw: open the file itself") from error
    except subprocess.CalledProcessError as error:
        raise UnreadableError(f"page {page} cannot be drawn: open the file itself") from error
    return done.stdout


def _draw_page(file: str, page: int, words: str) -> None:
    """Draw a page with some words marked, and write it to the standard output; this runs in the separate process."""
    bound_memory(_MEMORY)
    with pypdfium2.PdfDocument(file) as document:
        drawn = document[page - 1]
        width, height = drawn.get_size()
        scale = min(_WIDTH / width, _MOST / max(width, height))
        picture = drawn.render(scale=scale).to_pil().convert("RGB")
        for left, bottom, right, top in _word_boxes(drawn, words):
            box = (round(scale * (left - 1)), round(scale * (height - top - 1)), round(scale * (right + 1)),
                   round(scale * (height - bottom + 1)))
            part = picture.crop(box)  # its letters show through the colour
            picture.paste(ImageChops.multiply(part, Image.new("RGB", part.size, _MARK)), box[:2])
    picture.save(sys.stdout.buffer, "PNG")


def _word_boxes(page: pypdfium2.PdfPage, words: str) -> list[tuple[float, float, float, float]]:
    """Return the boxes around some words on a page, one for each line: left, bottom, right, top in points."""
    wanted, text = _letters_only(words), page.get_textpage()
    if not wanted:
        return []
    # A place on the page may have two letters, as "ﬁ" has.
    letter_places = [(letter, place) for place in range(text.count_chars())
                     for letter in _letters_only(text.get_text_range(place, 1))]
    letters = "".join(letter for letter, _ in letter_places)
    match = next(((at, part) for part in (wanted, wanted[:_PART], wanted[-_PART:])
                  if (at := letters.find(part)) >= 0), None)
    if match is None:
        return []
    boxes: list[tuple[float, float, float, float]] = []
    for _, place in letter_places[match[0]:match[0] + len(match[1])]:
        left, bottom, right, top = text.get_charbox(place)
        is_on_same_line = bool(boxes) and bottom < boxes[-1][3] and top > boxes[-1][1] and left >= boxes[-1][0]
        if is_on_same_line:
            last = boxes.pop()
            left, bottom = min(last[0], left), min(last[1], bottom)
            right, top = max(last[2], right), max(last[3], top)
        boxes.append((left, bottom, right, top))
    return boxes


def _letters_only(text: str) -> str:
    """Return only letters and digits, to compare texts: the page may have hyphens at line ends and other spaces."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text))).casefold()


if __name__ == "__main__":
    _draw_page(sys.argv[1], int(sys.argv[2]), sys.stdin.buffer.read().decode())
