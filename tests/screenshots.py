"""The pictures in docs, taken of the real page: `make screenshots` writes them."""

import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page

from . import browsing, serving

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
MOST_BYTES = 300_000
VIEWPORT = {"width": 1280, "height": 800}
QUESTIONS = {
    "en": ("english", "Your question", "On which river does the birthplace of the discoverer of polonium lie?"),
    "zh": ("chinese", "您的问题", "屠呦呦出生在哪个城市？"),
}

ENGLISH = {"locale": "en-GB", "viewport": VIEWPORT}
PHONE = {"locale": "zh-CN", "viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}
VIEWS = {
    "welcome-en": ("#/ask?kb=english", ".suggestion", ENGLISH),
    "pdf-en": ("#/documents?kb=printed&doc=harbours.pdf&start=23&end=50", "dialog canvas", ENGLISH),
    "documents-en": ("#/documents?kb=english", ".document-table", ENGLISH),
    "schema-en": ("#/schema?kb=english", ".schema-table", {**ENGLISH, "color_scheme": "dark"}),
    "phone-ask-zh": ("#/ask?kb=chinese&q=屠呦呦出生在哪个城市？", ".suggestion", PHONE),
    "phone-schema-zh": ("#/schema?kb=chinese", ".schema-table", PHONE),
    "phone-documents-zh": ("#/documents?kb=chinese", ".document-table", PHONE),
}


def take(server: str, browser: Browser, folder: Path) -> None:
    """Take all pictures.

    Args:
        server: a server's address, with the knowledge bases "english" and "chinese" of the examples, and "printed".
        browser: the browser.
        folder: where they are written, as PNG.
    """
    for language, (kb, label, question) in QUESTIONS.items():
        options = {"locale": {"en": "en-GB", "zh": "zh-CN"}[language], "viewport": VIEWPORT}
        with browsing.opened(browser, server, f"#/ask?kb={kb}", **options) as page:
            page.get_by_label(label).fill(question)
            page.keyboard.press("Enter")
            page.wait_for_selector(".turn[aria-busy=false] .answer")
            _shoot(page, folder / f"ask-{language}.png")
        with browsing.opened(browser, server, f"#/graph?kb={kb}", **options) as page:
            page.wait_for_selector(".map canvas")
            page.wait_for_timeout(3000)  # until the layout has settled
            _shoot(page, folder / f"graph-{language}.png")
    for name, (path, wait, options) in VIEWS.items():
        with browsing.opened(browser, server, path, **options) as page:
            page.wait_for_selector(wait)
            page.wait_for_timeout(500)
            _shoot(page, folder / f"{name}.png")


def _shoot(page: Page, file: Path) -> None:
    page.screenshot(path=file, animations="disabled")
    with Image.open(file) as picture:
        small = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(file, optimize=True)
    if (size := file.stat().st_size) > MOST_BYTES:
        raise SystemExit(f"{file} has {size:,} bytes, more than the {MOST_BYTES:,} that a picture may have")


def main() -> None:
    """Build the examples, serve them, and take the pictures."""
    folder = Path(tempfile.mkdtemp(prefix="banyan-screenshots-"))
    try:
        serving.build_demo(folder, "english", language="en")
        serving.build_demo(folder, "chinese", language="zh")
        serving.print_work(folder / "harbours.pdf", "A report on harbours.", "Zora Lind was born in Turku.")
        serving.command_line.CommandLine(folder)("build", folder / "harbours.pdf", "--kb", "printed", "--json")
        PICTURES.mkdir(exist_ok=True)
        with serving.served(folder) as server, browsing.browsing() as browser:
            take(server.url, browser, PICTURES)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
