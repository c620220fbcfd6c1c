"""A headless Chromium that looks at the web page, and reports whatever a person would call a fault of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync")
WAIT = 30_000
"""Milliseconds until something has to be there: the machine may be busy, and on a quiet one it takes a second."""
SHOTS = Path(os.environ.get("BANYAN_SHOTS") or Path(__file__).parent.parent / "build" / "shots")
"""Where screenshots are kept."""


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser, closed at the end of the block."""
    expect.set_options(timeout=WAIT)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watch:
    """What a page did that it must not do."""

    host: str
    expected: tuple[str, ...]
    faults: list[str] = field(default_factory=list)

    def follow(self, page: Page) -> None:
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(f"error in the page: {error}"))
        page.on("request", self._asked)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not any(one in message.text for one in self.expected):
            self.faults.append(f"console {message.type}: {message.text}")

    def _asked(self, request: Request) -> None:
        if urlsplit(request.url).netloc != self.host:
            self.faults.append(f"request to {request.url}")


@contextmanager
def opened(browser: Browser, server: str, path: str = "", *, expected: tuple[str, ...] = (),
           ready: bool = True, **options: Any) -> Iterator[Page]:
    """A page of its own, as a new visitor has it; fails at the end of the block if it did what it must not do.

    Args:
        browser: the browser.
        server: the server's address.
        path: what is opened there, such as `#/graph?kb=demo`.
        expected: parts of console messages that are no fault, such as the status of a request that is refused.
        ready: wait until it is there; a page that asks for a key first is not.
        options: of the browser's context: locale, color_scheme, viewport.
    """
    with browser.new_context(**{"locale": "en-GB", "viewport": {"width": 1280, "height": 860},
                                "reduced_motion": "reduce", **options}) as context:
        page = context.new_page()
        page.set_default_timeout(WAIT)
        watch = Watch(urlsplit(server).netloc, expected)
        watch.follow(page)
        visit(page, server, path, ready=ready)
        yield page
        assert not watch.faults, watch.faults


def visit(page: Page, server: str, path: str, *, ready: bool = True) -> None:
    """Open an address of the page and wait until it is there."""
    page.goto(f"{server}/{path}")
    if ready:
        page.wait_for_selector("html[data-ready]")


def shoot(page: Page, name: str) -> None:
    """Keep a screenshot."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png", animations="disabled")


def violations(page: Page) -> list[str]:
    """What axe finds serious or critical, in a few words each."""
    found = Axe().run(page).response["violations"]
    return [f"{one['id']} ({one['impact']}): {one['nodes'][0]['html'][:200]}: {one['nodes'][0]['failureSummary'][:300]}"
            for one in found if one["impact"] in {"serious", "critical"}]
