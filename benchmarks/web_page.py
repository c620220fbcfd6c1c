"""Measure what the web page fetches, and how long a person waits, on a store of any size.

Run `python benchmarks/web_page.py --home FOLDER --kb NAME`: it serves FOLDER with `banyan serve` on a free port of
this machine and does in Chromium what a person does. For each action it prints how many requests it took, the bytes
received (headers and bodies, as the browser counts them), and the milliseconds until the result is on the screen. The
first action after a start includes opening the store. At last the map is dragged about for two seconds, and the frames
that the browser draws meanwhile are counted.
"""

import argparse
import json
import math
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Page, sync_playwright
from rich.console import Console
from rich.table import Table

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync")
FRAMES = """() => { window.drawn = []; const next = (at) => { window.drawn.push(at); requestAnimationFrame(next); };
requestAnimationFrame(next); }"""
PANNED = 2.0
"""Seconds."""
WAIT = 120_000
"""Milliseconds: a large store is opened by the first request for it."""


class Counter:
    """Counts requests and bytes received since the last reading."""

    def __init__(self, session: CDPSession) -> None:
        self.requests = self.received = 0
        session.send("Network.enable")
        session.on("Network.loadingFinished", self._count_response)

    def _count_response(self, event: dict[str, Any]) -> None:
        self.requests += 1
        self.received += int(event["encodedDataLength"])

    def read(self) -> tuple[int, int]:
        """Return requests and bytes since the last reading."""
        found = self.requests, self.received
        self.requests = self.received = 0
        return found


@contextmanager
def served(home: Path) -> Iterator[str]:
    """Run a server of a home folder, and yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("banyan")), "serve", "--port", str(port)]
    with subprocess.Popen(command, env={**os.environ, "BANYAN_HOME": str(home)}, stderr=subprocess.DEVNULL) as process:
        try:
            yield _wait_until_ready(f"http://127.0.0.1:{port}", process)
        finally:
            process.terminate()


def _wait_until_ready(url: str, process: "subprocess.Popen[bytes]") -> str:
    while process.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/api/ready", timeout=5).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return url
    raise SystemExit(f"the server ended with code {process.returncode}: run `banyan serve` yourself to see why")


def actions(page: Page, url: str, kb: str, question: str) -> list[tuple[str, Callable[[], object]]]:
    """Return the actions to measure, in order, each with its name."""
    panel = page.locator(".panel")

    def overview() -> None:
        page.get_by_role("link", name="Graph", exact=True).click()
        page.wait_for_selector(".map canvas")
        page.wait_for_selector(".communities > li")

    def search() -> None:
        page.get_by_role("combobox", name="Find an entity").fill("united states")
        page.wait_for_selector("[role=option]")

    def choose() -> None:
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_selector(".entity h2")

    def neighbours() -> None:
        before = page.locator(".graph-note .soft").text_content()
        panel.get_by_role("button", name="More neighbours").click()
        page.wait_for_function("(before) => document.querySelector('.graph-note .soft').textContent !== before",
                               arg=before)

    def community() -> None:
        panel.get_by_role("button", name="Its community").click()
        page.wait_for_selector(".crumbs")

    def ask() -> None:
        page.get_by_role("link", name="Ask", exact=True).click()
        page.get_by_label("Your question").fill(question)
        page.keyboard.press("Enter")
        page.wait_for_selector(".turn[aria-busy=false] .answer")

    def documents() -> None:
        page.get_by_role("link", name="Documents", exact=True).click()
        page.wait_for_selector(".listing tbody tr")

    def opened() -> None:
        page.goto(f"{url}/#/ask?kb={kb}")
        page.wait_for_selector("html[data-ready]")

    def opened_again() -> None:
        page.goto("about:blank")
        page.context.new_cdp_session(page).send("Network.clearBrowserCache")
        opened()

    return [("open the page", opened), ("open it again, nothing cached", opened_again),
            ("graph overview and communities", overview), ("search suggestions", search),
            ("choose an entity", choose), ("25 more neighbours", neighbours), ("its community", community),
            ("list of documents", documents), ("ask a question", ask), ("graph again", overview)]


def first_paint(page: Page) -> dict[str, Any]:
    """Return the time from opening the page to its first paint."""
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    return {"action": "its first paint", "requests": 0, "bytes": 0, "ms": round(painted)}


def panned(page: Page) -> tuple[float, float]:
    """Drag the map about, and return frames a second and the longest time between two of them in ms."""
    box = page.locator(".map canvas").first.bounding_box()
    if box is None:
        raise SystemExit("the map is not shown: look at the page yourself")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.evaluate(FRAMES)
    page.mouse.move(x, y)
    page.mouse.down()
    began, step = time.perf_counter(), 0
    while time.perf_counter() - began < PANNED:
        step += 1
        page.mouse.move(x + 150 * math.sin(step / 20), y + 100 * math.sin(step / 13))
    page.mouse.up()
    drawn = page.evaluate("() => window.drawn")
    gaps = [after - before for before, after in pairwise(drawn)]
    return 1000 * len(gaps) / sum(gaps), max(gaps)


def measured(url: str, kb: str, question: str, first: int | None = None) -> list[dict[str, Any]]:
    """Do all actions, or only the first ones, and return each one's requests, bytes and milliseconds."""
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=ARGUMENTS)
        page = browser.new_context(locale="en-GB", reduced_motion="reduce").new_page()
        page.set_default_timeout(WAIT)
        counter = Counter(page.context.new_cdp_session(page))
        for name, act in actions(page, url, kb, question)[:first]:
            start = time.perf_counter()
            act()
            milliseconds = (time.perf_counter() - start) * 1000
            page.wait_for_load_state("networkidle")
            requests, received = counter.read()
            found.append({"action": name, "requests": requests, "bytes": received, "ms": round(milliseconds)})
            if name.startswith("open "):
                found.append(first_paint(page))
        frames, longest = panned(page)
        found.append({"action": "panning", "frames a second": round(frames), "longest ms": round(longest)})
        found.append({"action": "nodes on the map", "nodes": page.locator(".graph-note .soft").text_content()})
        browser.close()
    return found


def main() -> None:
    """Serve, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--home", type=Path, required=True, help="folder of the knowledge bases")
    parser.add_argument("--kb", required=True, help="which of them")
    parser.add_argument("--question", default="Where was the director of Casablanca born?")
    parser.add_argument("--first", type=int, metavar="N", help="only the first N actions; 3 where there is no ledger "
                        "beside the index (tiled_index.py)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    with served(arguments.home) as url:
        found = measured(url, arguments.kb, arguments.question, arguments.first)
    if arguments.json:
        print(json.dumps(found))
        return
    table = Table("action", "requests", "KB", "ms", title=f"{arguments.kb}: {found.pop()['nodes']}")
    moved = found.pop()
    for one in found:
        table.add_row(one["action"], str(one["requests"]), f"{one['bytes'] / 1000:.1f}", str(one["ms"]))
    console = Console()
    console.print(table)
    console.print(f"Panning: {moved['frames a second']} frames a second, the longest took {moved['longest ms']} ms.")


if __name__ == "__main__":
    main()
