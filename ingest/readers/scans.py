"""Recognise the text of image files, and of PDF pages without text, with RapidOCR, which brings its models."""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from io import BytesIO
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import pypdfium2
from PIL import Image, ImageOps, UnidentifiedImageError
from rapidocr import RapidOCR

from ..reading import ON_PAGE, Content, Limits, UnreadableError, note_doubt
from .pdf_pages import Box, PageWord, TextLine, line_text, rows_of

_MOST_PIXELS = 3_000_000  # an A4 page at 170 dots an inch; more did not make more words right
_LONGEST_SIDE = 1_600  # of the picture in which lines are looked for: letters need more than lines do
_DOTS_AN_INCH, _POINTS_AN_INCH = 300, 72
_MOST_THREADS = 4  # each takes address space, of which the process that reads has little
_UNKNOWN_LETTERS = "  "  # what the model gives for letters that it was not trained on; real spaces are single
_MOST_PAGES = 1_000  # of a file, because each has a deadline of its own
UNKNOWN_SCRIPT = "a script that text recognition does not know (it reads Latin letters, Chinese and Japanese)"
_PARAGRAPH = 1.4  # the distance of two lines, as a multiple of the usual one, from which another paragraph begins
_WHOLE_LINE = 0.8  # the part of a column's width that most lines of prose fill; cells of tables do not
_FEWEST_LINES = 3  # of a column; fewer do not show whether they fill it


def read_image(data: bytes, limits: Limits) -> Content:
    """Return the text in an image file; if the file has several pictures, each one is a page."""
    if limits.ocr == "off":
        raise UnreadableError("a picture, and BANYAN_OCR is off: remove it")
    texts: list[str] = []
    try:
        with Image.open(BytesIO(data)) as image:
            count = getattr(image, "n_frames", 1)
            for number in range(min(count, _MOST_PAGES)):
                image.seek(number)
                texts.append(_recognise_text(ImageOps.exif_transpose(image)))
                ON_PAGE.get()()
    except UnreadableError:  # a ValueError, too
        raise
    except Image.DecompressionBombError as error:
        raise UnreadableError(f"too many pixels ({error}): save it smaller") from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise UnreadableError(f"a broken picture ({error}): save it again") from error
    unread = f"pictures after the first {_MOST_PAGES:,}: split it" if count > _MOST_PAGES else ""
    return Content("\f".join(texts), paged=len(texts) > 1, unread=unread)


def read_pages(data: bytes, numbers: Sequence[int]) -> Iterator[tuple[int, str | None]]:
    """Yield the number from 0 and the text of given pages of a PDF; None for one in an unknown script, or too far."""
    with pypdfium2.PdfDocument(data) as document:
        yield from ((number, None) for number in numbers[_MOST_PAGES:])
        for number in numbers[:_MOST_PAGES]:
            page = document[number]
            width, height = page.get_size()
            scale = min(_DOTS_AN_INCH / _POINTS_AN_INCH, (_MOST_PIXELS / max(1.0, width * height)) ** 0.5)
            try:
                yield number, _recognise_text(page.render(scale=scale, grayscale=True).to_pil())
            except UnreadableError:
                yield number, None
            ON_PAGE.get()()


@cache  # loading the models takes seconds
def _load_recogniser() -> Callable[[Image.Image], Any]:
    return RapidOCR(params={
        "Global.log_level": "error", "Global.max_side_len": 1_000_000,  # pictures are reduced here, by their area
        "Det.limit_type": "max", "Det.limit_side_len": _LONGEST_SIDE,
        "Global.use_cls": False,  # looks for single lines that are upside down
        "EngineConfig.onnxruntime.intra_op_num_threads": min(_MOST_THREADS, os.cpu_count() or 1)})


def _recognise_text(picture: Image.Image) -> str:
    """Return the text in a picture, with its lines, and with empty lines between paragraphs."""
    scale = (_MOST_PIXELS / (picture.width * picture.height)) ** 0.5
    picture = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
    if scale < 1:
        picture = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
    found = _load_recogniser()(picture)
    pieces = list(zip(found.txts, found.boxes, strict=True)) if found.txts else []
    known = [(text, corners) for text, corners in pieces if _UNKNOWN_LETTERS not in text]
    unknown = len(pieces) - len(known)
    if unknown > len(known):  # most of it would be missing
        raise UnreadableError(f"a picture of text in {UNKNOWN_SCRIPT}: recognise its text with another program")
    if unknown:
        note_doubt(f"{unknown} {'line' if unknown == 1 else 'lines'} of a picture in {UNKNOWN_SCRIPT}")
    if not known:
        return ""
    rows = _order_rows(rows_of(_upright_words(known)))
    distances = [row.box.center[1] - above.box.center[1] for above, row in pairwise(rows)]
    usual = median([distance for distance in distances if distance > 0] or [0])
    text = "".join(line_text(row) + ("\n\n" if below > _PARAGRAPH * usual else "\n")
                   for row, below in zip(rows, [*distances, 0], strict=True))
    return text.rstrip()


def _upright_words(pieces: Sequence[tuple[str, np.ndarray]]) -> list[PageWord]:
    """Return pieces of lines as words where they stand once a tilted page is turned upright."""
    upper_edges = [corners[1] - corners[0] for _, corners in pieces]
    tilt = median(math.atan2(y, x) for x, y in upper_edges)
    turn_back = np.array([[math.cos(tilt), -math.sin(tilt)], [math.sin(tilt), math.cos(tilt)]])
    words: list[PageWord] = []
    for text, corners in pieces:
        upright = corners @ turn_back
        (left, top), (right, bottom) = upright.min(axis=0).tolist(), upright.max(axis=0).tolist()
        words.append(PageWord(len(words), text, Box(left, top, right, bottom), bottom - top, "", upright=True))
    return words


def _order_rows(rows: Iterable[TextLine]) -> list[TextLine]:
    """Return rows in reading order: columns of prose one after the other, all else from top to bottom."""
    ordered: list[TextLine] = []
    group: list[TextLine] = []
    gutter: tuple[float, float] | None = None  # the space between two columns that all rows of the group leave free
    for row in rows:
        free: tuple[float, float] | None = None  # the part of the gutter that the row leaves free
        if gutter:
            left, right = _split_row(row, gutter)
            free = (max([gutter[0], *(word.box.x1 for word in left)]),
                    min([gutter[1], *(word.box.x0 for word in right)]))
        if free is None or free[0] >= free[1]:  # the row crosses the gutter, so it begins another group
            ordered += _read_columns(group, gutter)
            group = []
            free = (row[0].box.x1, row[1].box.x0) if len(row) > 1 else None
        group.append(row)
        gutter = free
    return [*ordered, *_read_columns(group, gutter)]


def _split_row(row: TextLine, gutter: tuple[float, float]) -> tuple[TextLine, TextLine]:
    middle = sum(gutter) / 2
    left = TextLine(word for word in row if word.box.center[0] < middle)
    return left, TextLine(word for word in row if word.box.center[0] >= middle)


def _read_columns(rows: list[TextLine], gutter: tuple[float, float] | None) -> list[TextLine]:
    """Return rows as two columns, the left one first, if both are prose; as they are, if they are rows of a table."""
    if gutter is None:
        return rows
    halves = [_split_row(row, gutter) for row in rows]
    left, right = [left for left, _ in halves if left], [right for _, right in halves if right]
    return [*_order_rows(left), *_order_rows(right)] if _is_prose(left) and _is_prose(right) else rows


def _is_prose(rows: Sequence[TextLine]) -> bool:
    """Return True if most lines of a column fill its width."""
    width = max(row.box.x1 for row in rows) - min(row.box.x0 for row in rows)
    whole = sum(row.box.x1 - row.box.x0 >= _WHOLE_LINE * width for row in rows)
    return len(rows) >= _FEWEST_LINES and whole > len(rows) / 2
