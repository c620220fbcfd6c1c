"""Walk through the page as a newcomer: `python benchmarks/walk.py FOLDER` takes pictures and counts stumbles.

With a second folder, a copy of `server/web` at another commit, the same server shows that page instead.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Route
from playwright.sync_api import TimeoutError as NotThere

PROJECT = Path(__file__).resolve().parent.parent
sys.path.append(str(PROJECT))

from tests import browsing, serving  # noqa: E402

LOOKS = [("en", "light", 1400), ("zh", "dark", 390), ("en", "dark", 390), ("zh", "light", 1400)]
WORDS = {"en": ("english", "en-GB", "When was Marie Curie born?", "What was Niels Bohr's favourite food?",
                "Marie Curie"),
         "zh": ("chinese", "zh-CN", "屠呦呦出生在哪个城市？", "屠呦呦最喜欢吃什么？", "屠呦呦")}
CY = "document.querySelector('.map')._cyreg.cy"
COVERED = f"""() => {{
    const boxes = {CY}.nodes().filter((one) => one.visible() && Number(one.style("text-opacity")) > 0)
        .map((one) => one.boundingBox({{ includeNodes: false, includeOverlays: false, includeEdges: false }}));
    const covers = (a, b) => Math.min(a.x2, b.x2) - Math.max(a.x1, b.x1) > 3
        && Math.min(a.y2, b.y2) - Math.max(a.y1, b.y1) > 3;
    return boxes.reduce((sum, a, at) => sum + boxes.slice(0, at).filter((b) => covers(a, b)).length, 0);
}}"""
WIDER = "() => [...document.querySelectorAll('.table')].filter((one) => one.scrollWidth > one.clientWidth + 1).length"
COLUMNS = """() => new Set([...document.querySelectorAll("main table")].map((table) =>
    [...table.querySelectorAll("thead th")].map((one) => Math.round(one.getBoundingClientRect().x)).join())).size"""
LEFT = """() => Math.round([...document.querySelectorAll("main h1:not(.unseen), main .toolbar, main .turns h2")]
    .filter((one) => one.getClientRects().length)[0].getBoundingClientRect().x)"""


class Walk:
    """The steps of one look at the page, with what is counted on the way."""

    def __init__(self, page: Page, server: str, folder: Path, look: str) -> None:
        self.page, self.server, self.folder, self.look = page, server, folder, look
        self.counted: dict[str, Any] = {}
        self.number = 0

    def step(self, name: str, act: Callable[[], object]) -> None:
        """Do something, and take a picture of what follows; what cannot be done is a stumble."""
        self.number += 1
        try:
            act()
        except NotThere:
            self.counted[f"cannot: {name}"] = True
        self.page.wait_for_timeout(400)
        self.page.screenshot(path=self.folder / f"{self.look}-{self.number:02}-{name}.png")

    def count(self, name: str, expression: str) -> None:
        """Note what an expression of JavaScript gives."""
        self.counted[name] = self.page.evaluate(expression)

    def visit(self, path: str, wait: str = "h1") -> None:
        """Open a view."""
        browsing.visit(self.page, self.server, path)
        self.page.wait_for_selector(wait, state="attached")
        self.page.wait_for_timeout(800)

    def ask(self, question: str) -> None:
        """Ask, and wait for the answer."""
        self.page.locator(".composer textarea").fill(question)
        self.page.keyboard.press("Enter")
        self.page.wait_for_timeout(300)
        self.page.wait_for_selector(".turn:last-of-type[aria-busy=false] .answer")


def _first_visit(walk: Walk, language: str, broken: Path) -> None:
    page, kept = walk.page, f"mine-{walk.look}"
    for view in ("graph", "schema", "documents"):
        walk.step(f"empty-{view}", lambda view=view: walk.visit(f"#/{view}"))
        walk.count(f"next step: {view}", "document.querySelectorAll('main :is(a, form)').length > 0")
    walk.step("home", lambda: walk.visit("#/ask"))
    page.locator(".upload input").first.fill(kept)
    page.locator("#upload-files").set_input_files([serving.command_line.EXAMPLES / language / next(
        one.name for one in sorted((serving.command_line.EXAMPLES / language).iterdir())), broken])
    walk.step("upload", lambda: page.locator(".upload .primary").click())
    walk.step("after-upload", lambda: page.wait_for_selector(".welcome"))
    walk.count("unread file is named", "document.querySelector('main').innerText.includes('broken.pdf')")


def _chat(walk: Walk, language: str) -> None:
    page = walk.page
    kb, _, question, unknown, _ = WORDS[language]
    walk.step("welcome", lambda: walk.visit(f"#/ask?kb={kb}", ".suggestion"))
    walk.count("left: ask", LEFT)
    walk.step("ask", lambda: walk.ask(question))
    walk.count("the question stands", f"""[...document.querySelectorAll(".talk h1:not(.unseen), .talk h2")]
        .filter((one) => one.innerText === {json.dumps(question)}).length""")
    walk.count("composer, pixels high", "Math.round(document.querySelector('.composer').offsetHeight)")
    walk.count("model is visible", "document.querySelectorAll('.model').length > 0")
    walk.count("left: answer", LEFT)
    walk.step("not-found", lambda: walk.ask(unknown))
    walk.step("source", page.locator(".answer .quotes a").first.click)
    page.keyboard.press("Escape")
    walk.step("pdf", lambda: walk.visit("#/ask?kb=printed&doc=harbours.pdf&start=23&end=50", "dialog mark"))
    walk.count("PDF page beside its text", "document.querySelectorAll('dialog canvas').length > 0")


def _graph(walk: Walk, language: str) -> None:
    page, (kb, *_, name) = walk.page, WORDS[language]
    walk.step("graph", lambda: walk.visit(f"#/graph?kb={kb}", ".map canvas"))
    walk.count("left: graph", LEFT)
    walk.count("names that cover each other", COVERED)
    walk.step("entity", lambda: (page.locator(".toolbar input").first.fill(name),
                                 page.locator(".toolbar [role=option]").first.click()))
    page.wait_for_selector(".entity h2")
    page.evaluate("document.querySelectorAll('.editing').forEach((one) => { one.open = true; })")
    walk.step("merge", lambda: page.locator(".editing .actions button").nth(2).click())
    walk.step("merge-itself", lambda: page.locator("dialog input").first.fill(name))
    walk.count("merge offers the entity itself", f"""[...document.querySelectorAll("dialog [role=option] span")]
        .some((one) => one.innerText === {json.dumps(name)})""")
    walk.step("list", lambda: (walk.visit(f"#/graph?kb={kb}"), page.locator("[data-form=list]").click()))
    walk.count("entities in the list", """Number(
        document.querySelector(".list .pages span")?.innerText.split(/\\D+/).filter(Boolean).at(-1)
        ?? document.querySelectorAll(".list .node-head, .list tbody tr").length)""")


def _lists(walk: Walk, language: str) -> None:
    kb = WORDS[language][0]
    for view in ("documents", "schema"):
        walk.step(view, lambda view=view: walk.visit(f"#/{view}?kb={kb}", ".table"))
        walk.count(f"left: {view}", LEFT)
        walk.count(f"tables wider than the screen: {view}", WIDER)
    walk.count("different columns of the schema's tables", COLUMNS)
    walk.count("texts in English", """[...document.querySelectorAll("main td.soft, main .lead")]
        .filter((one) => /[a-z]{3}/.test(one.innerText)).length""")
    walk.step("connect", lambda: walk.visit(f"#/connect?kb={kb}"))


@contextmanager
def _opened(browser: Browser, server: str, web: Path | None, look: tuple[str, str, int]) -> Iterator[Page]:
    language, scheme, width = look
    with browsing.opened(browser, server, expected=("",), locale=WORDS[language][1], color_scheme=scheme,
                         viewport={"width": width, "height": 860}, ready=False) as page:
        page.set_default_timeout(10_000)
        if web:
            def fulfil(route: Route) -> None:
                route.fulfill(path=web / route.request.url.partition("/assets/")[2])

            page.goto(f"{server}/api/health")
            page.route("**/assets/**", fulfil)
        yield page


def walk(servers: tuple[str, str], browser: Browser, folder: Path, web: Path | None, broken: Path) -> dict[str, Any]:
    """Walk in every look.

    Args:
        servers: the addresses of a server with the demo's knowledge bases, and of one without any.
        browser: the browser.
        folder: where pictures are written.
        web: the page's files, if not the server's own.
        broken: a file that cannot be read.

    Returns:
        What was counted, by look.
    """
    counted = {}
    for look in LOOKS:
        name = "-".join(map(str, look))
        with _opened(browser, servers[1], web, look) as page:
            first = Walk(page, servers[1], folder, name)
            if look == LOOKS[0]:
                _first_visit(first, look[0], broken)
        with _opened(browser, servers[0], web, look) as page:
            full = Walk(page, servers[0], folder, name)
            full.number = first.number
            for part in (_chat, _graph, _lists):
                part(full, look[0])
        counted[name] = first.counted | full.counted
    return counted


def main() -> None:
    """Build the examples, serve them, walk, and print what was counted as JSON."""
    pictures, web = Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None
    pictures.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="banyan-walk-"))
    try:
        (folder / "empty").mkdir()
        broken, printed = folder / "broken.pdf", folder / "harbours.pdf"
        broken.write_bytes(b"%PDF-1.7 not really")
        serving.print_work(printed, "A report on harbours.", "Zora Lind was born in Turku.")
        serving.build_demo(folder, "english", language="en")
        serving.build_demo(folder, "chinese", language="zh")
        serving.command_line.CommandLine(folder)("build", printed, "--kb", "printed", "--json")
        with (serving.served(folder) as full, serving.served(folder / "empty") as empty,
              browsing.browsing() as browser):
            counted = walk((full.url, empty.url), browser, pictures, web, broken)
        sys.stdout.write(json.dumps(counted, indent=2, ensure_ascii=False) + "\n")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
