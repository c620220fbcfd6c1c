"""Compare text recognition by Banyan and by Tesseract, where that is installed, on ten drawn pages, worn as scans are.

    python benchmarks/scans.py

Prints the share of words (of Chinese: characters) that are right, that of characters in the right order, and seconds of
the processor. It needs the fonts Liberation and Noto CJK.
"""

import resource
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
from banyan.ingest.readers.scans import read_image
from banyan.ingest.reading import DEFAULT_LIMITS
from PIL import Image, ImageDraw, ImageFilter, ImageFont
from rapidfuzz.distance import Levenshtein
from rich.console import Console
from rich.table import Table

_TEXTS = Path(__file__).parent / "newcomer"
_ENGLISH = ["dev/warranty.txt", "hut/hut-log-2024.txt", "clinic/history.md", "foundry/visitor-info.txt",
            "heldout/council-minutes.txt"]
_CHINESE = ["dev/上海客户拜访记录.txt", "hut/山屋住宿须知.txt", "clinic/寄养须知.txt", "theatre/巡演报告.txt",
            "foundry/宁波代表团访问纪要.txt"]
_WEARS = ["clean", "turned", "coarse", "columns", "worn"]
_FONTS = {"eng": "LiberationSerif-Regular.ttf", "chi_sim": "NotoSerifCJK-Regular.ttc"}
_WIDTH, _HEIGHT = 2480, 3508  # A4 at 300 dots an inch
_MARGIN, _GUTTER, _PITCH, _LINES = 250, 120, 72, 40


def main() -> None:
    """Draw the pages, recognise them and print the shares."""
    programs: dict[str, Callable[[Image.Image, str], str]] = {"Banyan": _recognise}
    if shutil.which("tesseract"):
        programs["Tesseract"] = _recognise_with_tesseract
    table = Table("page", *(f"{name}: right, in order, s" for name in programs))
    for language, names in (("eng", _ENGLISH), ("chi_sim", _CHINESE)):
        for name, wear in zip(names, _WEARS, strict=True):
            text, page = _draw((_TEXTS / name).read_text("utf-8"), wear, language)
            cells = [f"{language} {wear}"]
            for recognise in programs.values():
                before = _processor_time()
                found = recognise(page, language)
                took = _processor_time() - before
                right, ordered = _score(text, found, language)
                cells.append(f"{100 * right:.1f} {100 * ordered:.1f} {took:.1f}")
            table.add_row(*cells)
    Console().print(table)


def _recognise(page: Image.Image, _: str) -> str:
    return read_image(_png(page), DEFAULT_LIMITS).text


def _recognise_with_tesseract(page: Image.Image, language: str) -> str:
    done = subprocess.run(["tesseract", "-", "-", "-l", f"eng+{language}", "--dpi", "300"], input=_png(page),
                          capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def _png(page: Image.Image) -> bytes:
    stored = BytesIO()
    page.save(stored, "PNG")
    return stored.getvalue()


def _processor_time() -> float:
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _draw(text: str, wear: str, language: str) -> tuple[str, Image.Image]:
    """Return the lines that are drawn, and their page."""
    page = Image.new("L", (_WIDTH, _HEIGHT), 255)
    font = ImageFont.truetype(_FONTS[language], 46)
    columns = 2 if wear == "columns" else 1
    width = (_WIDTH - 2 * _MARGIN - _GUTTER * (columns - 1)) / columns
    lines = _break_lines(text, font, width)[:_LINES * columns]
    in_column = -(-len(lines) // columns)
    for number, line in enumerate(lines):
        left = _MARGIN + number // in_column * (width + _GUTTER)
        ImageDraw.Draw(page).text((left, _MARGIN + number % in_column * _PITCH), line, font=font, fill=20)
    return "\n".join(lines), _wear(page, wear)


def _break_lines(text: str, font: ImageFont.FreeTypeFont, width: float) -> list[str]:
    lines: list[str] = []
    for paragraph in text.splitlines():
        mark = " " if paragraph.isascii() else ""
        line = ""
        for word in paragraph.split(" ") if mark else paragraph:
            longer = f"{line}{mark}{word}" if line else word
            if line and font.getlength(longer) > width:
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    return lines


def _wear(page: Image.Image, wear: str) -> Image.Image:
    """Return a page as a bad scanner or a telephone's camera sees it."""
    random = np.random.default_rng(7)
    if wear == "turned":
        page = page.rotate(1.2, fillcolor=255, resample=Image.Resampling.BICUBIC)
    if wear == "coarse":
        stored = BytesIO()
        page.resize((_WIDTH // 2, _HEIGHT // 2)).save(stored, "JPEG", quality=35)
        page = Image.open(stored)
    if wear in {"turned", "worn"}:
        pixels = np.asarray(page, dtype=float) + random.normal(0, 30, (page.height, page.width))
        pixels[random.random(pixels.shape) < 0.002] = 0
        page = Image.fromarray(np.clip(pixels, 0, 255).astype("uint8"))
    if wear == "worn":
        shade = np.linspace(1, 0.65, page.width)[None, :]
        blurred = np.asarray(page.filter(ImageFilter.GaussianBlur(1.2)))
        page = Image.fromarray((blurred * shade).astype("uint8")).rotate(-0.7, fillcolor=200)
    return page


def _score(text: str, found: str, language: str) -> tuple[float, float]:
    """Return the share of words or characters that were found, and that of characters in the right order."""
    wanted, got = (Counter(part.split() if language == "eng" else "".join(part.split())) for part in (text, found))
    distance = Levenshtein.normalized_distance("".join(text.split()), "".join(found.split()))
    return (wanted & got).total() / wanted.total(), 1 - distance


if __name__ == "__main__":
    main()
