"""Recognise the text of image files, and of PDF pages without text, with Tesseract if it is installed."""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from io import BytesIO

import pypdfium2
from PIL import Image, ImageOps, UnidentifiedImageError

from ..reading import Content, Limits, UnreadableError

_PROGRAM = "tesseract"
_DOTS_AN_INCH, _POINTS_AN_INCH = 300, 72
"""The resolution that Tesseract's documentation recommends, and a PDF file's unit of length."""
_MOST_PIXELS = 25_000_000  # the most pixels of a picture: an A3 page at 300 dpi has 17 million
_MIN_CONFIDENCE, _COLUMNS = 50.0, 12
"""The mean confidence in percent below which a line is not text, and the columns of Tesseract's table."""
_NO_SCRIPTS = frozenset({"osd", "equ"})
_HAN = "[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]"
_BETWEEN_HAN = re.compile(f"(?<={_HAN}) (?={_HAN})")
NOT_INSTALLED = "install Tesseract with the languages of your documents (on Debian: apt install tesseract-ocr)"
"""The fix if pictures of text cannot be read."""


def can_recognise(limits: Limits) -> bool:
    """Return True if text recognition is switched on and Tesseract is installed."""
    return limits.ocr == "auto" and shutil.which(_PROGRAM) is not None


def read_image(data: bytes, limits: Limits) -> Content:
    """Return the text in an image file; if the file has several pictures, each one is a page.

    Raises:
        UnreadableError: the file is not a picture or too large, or text recognition is not available.
    """
    if not can_recognise(limits):
        raise UnreadableError(f"a picture, whose text only Tesseract can read: {NOT_INSTALLED}, or remove it"
                              if limits.ocr == "auto" else "a picture, and BANYAN_OCR is off: remove it")
    try:
        with Image.open(BytesIO(data)) as image:
            texts = [_recognise_text(_page_of(image, number)) for number in range(getattr(image, "n_frames", 1))]
    except UnreadableError:
        raise
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise UnreadableError(f"a broken picture ({error}): save it again") from error
    return Content("\f".join(texts), paged=len(texts) > 1)


def read_pages(data: bytes, numbers: Sequence[int]) -> Mapping[int, str]:
    """Return the text in the pictures of the given pages of a PDF file, by the page's number from 0."""
    texts: dict[int, str] = {}
    with pypdfium2.PdfDocument(data) as document:
        for number in numbers:
            page = document[number]
            width, height = page.get_size()
            scale = min(_DOTS_AN_INCH / _POINTS_AN_INCH, (_MOST_PIXELS / max(1.0, width * height)) ** 0.5)
            texts[number] = _recognise_text(page.render(scale=scale, grayscale=True).to_pil())
    return texts


def _recognise_text(picture: Image.Image) -> str:
    """Return the text in a picture, with its lines, and with empty lines between paragraphs."""
    stored = BytesIO()
    picture.save(stored, "PNG")
    try:
        recognised = subprocess.run(  # noqa: S603 - the program's name is fixed, and the picture goes to standard input
            [_PROGRAM, "stdin", "stdout", "-l", _installed_languages(), "--dpi", str(_DOTS_AN_INCH), "tsv"],
            input=stored.getvalue(), capture_output=True, check=True)
    except subprocess.CalledProcessError as error:
        raise UnreadableError(f"Tesseract failed ({error.stderr.decode(errors='replace').strip()[:200]}): check that "
                              "it works by itself") from error
    return _text_of(recognised.stdout.decode("utf-8", errors="replace"))


def _page_of(image: Image.Image, number: int) -> Image.Image:
    """Return one picture of an image file, upright and in grey; raise UnreadableError if it is too large."""
    image.seek(number)
    if image.width * image.height > _MOST_PIXELS:
        raise UnreadableError(f"{image.width:,} by {image.height:,} pixels, at most {_MOST_PIXELS:,} are read: save it "
                              "smaller")
    return ImageOps.exif_transpose(image).convert("L")


@cache
def _installed_languages() -> str:
    """Return all installed languages in Tesseract's notation, English first; it detects which of them a text is in."""
    listed = subprocess.run([_PROGRAM, "--list-langs"], capture_output=True, check=True, text=True)  # noqa: S603
    names = [name for name in listed.stdout.splitlines()[1:] if name.isidentifier() and name not in _NO_SCRIPTS]
    return "+".join(sorted(names, key=lambda name: (name != "eng", name)))


def _text_of(table: str) -> str:
    """Return the text in Tesseract's table of words, without lines whose mean confidence is too low."""
    lines: dict[tuple[int, int, int], list[tuple[float, str]]] = {}
    for row in table.splitlines()[1:]:
        cells = row.split("\t")
        if len(cells) == _COLUMNS and cells[11].strip():
            block, paragraph, line = map(int, cells[2:5])
            lines.setdefault((block, paragraph, line), []).append((float(cells[10]), cells[11]))
    text, before = "", (0, 0)
    for (block, paragraph, _), words in lines.items():
        if sum(confidence for confidence, _ in words) < _MIN_CONFIDENCE * len(words):
            continue
        between = "" if not text else "\n" if before == (block, paragraph) else "\n\n"
        text += between + _BETWEEN_HAN.sub("", " ".join(word for _, word in words))
        before = block, paragraph
    return text
