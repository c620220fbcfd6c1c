"""The pictures in docs, taken of the real page: `make screenshots` writes them."""

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page

PROJECT = Path(__file__).resolve().parent.parent
sys.path.append(str(PROJECT))

from tests import browsing, llm_brain, llm_server, serving  # noqa: E402

PICTURES = PROJECT / "docs" / "pictures"
MOST_BYTES = 300_000
VIEWPORT = {"width": 1280, "height": 800}
LISTED = "Who was born in Paris?"
QUESTIONS = {
    "en": ("english", "Your question", "On which river does the birthplace of the discoverer of polonium lie?"),
    "zh": ("chinese", "您的问题", "屠呦呦出生在哪个城市？"),
}

ENGLISH = {"locale": "en-GB", "viewport": VIEWPORT}
PHONE = {"locale": "zh-CN", "viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}
VIEWS = {
    "welcome-en": ("#/ask?kb=english", ".suggestion", ENGLISH),
    "table-en": ("#/table?kb=english&table=entities&by=type", ".chart", ENGLISH),
    "graph-dark-en": ("#/graph?kb=english", ".map canvas", {**ENGLISH, "color_scheme": "dark"}),
    "phone-graph-zh": ("#/graph?kb=chinese", ".map canvas", PHONE),
    "pdf-en": ("#/documents?kb=printed&doc=harbours.pdf&start=23&end=50", "dialog canvas", ENGLISH),
    "documents-en": ("#/documents?kb=english", ".document-table", ENGLISH),
    "schema-en": ("#/schema?kb=english", ".schema-table", {**ENGLISH, "color_scheme": "dark"}),
    "phone-ask-zh": ("#/ask?kb=chinese", ".suggestion", PHONE),
    "phone-schema-zh": ("#/schema?kb=chinese", ".schema-table", PHONE),
    "phone-documents-zh": ("#/documents?kb=chinese", ".document-table", PHONE),
}
CLAIMS = (("Polonium was discovered by Marie Curie.", "Polonium was discovered in July 1898 by Marie Curie"),
          ("Marie Curie was born in Warsaw.", "She was born in Warsaw"),
          ("Warsaw lies on the Vistula.", "It lies on the Vistula"))
"""The English answer with the words that support each claim, in place of a model that would write it."""


def script(request: dict[str, Any]) -> str:
    """Look for what is missing for the claims, then answer with them."""
    items = llm_brain.items(re.findall(r"<data>\n(.*?)\n</data>", request["messages"][1]["content"], re.DOTALL))
    found = [(text, words, next((number for number, item in items.items() if words in item), 0))
             for text, words in CLAIMS]
    missing = [text for text, _, number in found if not number]
    claims = [{"text": text, "quotes": [{"item": number, "words": words}], "unstated": ""}
              for text, words, number in found if not missing]
    return json.dumps({"thought": "Each step is stated." if claims else "A step is missing.",
                       "lookups": [{"tool": "passage_search", "query": text} for text in missing],
                       "answerable": bool(claims), "claims": claims, "short": "Vistula" if claims else "",
                       "confidence": 0.97 if claims else 0})


def take(server: str, with_model: str, browser: Browser, folder: Path) -> None:
    """Take all pictures.

    Args:
        server: a server's address, with the knowledge bases "english" and "chinese" of the examples, and "printed".
        with_model: the address of one whose model answers the English question.
        browser: the browser.
        folder: where they are written, as PNG.
    """
    for language, (kb, label, question) in QUESTIONS.items():
        options = {"locale": {"en": "en-GB", "zh": "zh-CN"}[language], "viewport": VIEWPORT}
        asked = with_model if language == "en" else server
        with browsing.opened(browser, asked, f"#/ask?kb={kb}", **options) as page:
            page.get_by_label(label).fill(question)
            page.keyboard.press("Enter")
            page.wait_for_selector(".turn[aria-busy=false] .answer")
            _shoot(page, folder / f"ask-{language}.png")
        with browsing.opened(browser, server, f"#/graph?kb={kb}", **options) as page:
            page.wait_for_selector(".map canvas")
            page.wait_for_timeout(3000)  # until the layout has settled
            _shoot(page, folder / f"graph-{language}.png")
    with browsing.opened(browser, server, "#/ask?kb=english", **ENGLISH) as page:
        page.get_by_label("Your question").fill(LISTED)
        page.keyboard.press("Enter")
        page.wait_for_selector(".answer-rows")
        page.wait_for_selector(".follow-ups .suggestion")
        _shoot(page, folder / "rows-en.png")
    for name, (path, wait, options) in VIEWS.items():
        with browsing.opened(browser, server, path, **options) as page:
            page.wait_for_selector(wait)
            page.wait_for_timeout(3000 if "graph" in name else 500)
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
        with llm_server.LlmServer(script) as endpoint, serving.served(folder) as server, serving.served(
                folder, BANYAN_LLM_BASE_URL=endpoint.base_url, BANYAN_LLM_MODEL="a model") as with_model, \
                browsing.browsing() as browser:
            take(server.url, with_model.url, browser, PICTURES)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
