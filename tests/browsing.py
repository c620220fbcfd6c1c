"""A headless Chromium that looks at the web page, and reports whatever a person would call a fault of it."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync")
WAIT = 120_000
"""Milliseconds until something has to be there: the machine may be busy, and on a quiet one it takes a second."""
SHOTS = os.environ.get("BANYAN_SHOTS")
"""The folder where screenshots are kept, if any are to be."""


_contexts: dict[str, list[BrowserContext]] = {}
"""Those of the browser that nobody uses, by server and options: there is one browser at a time in a process."""


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser, closed at the end of the block."""
    expect.set_options(timeout=WAIT)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=ARGUMENTS)
        try:
            yield browser
        finally:
            _contexts.clear()
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
            self.faults.append(f"console {message.type}: {message.text} ({message.location.get('url')})")

    def _asked(self, request: Request) -> None:
        if urlsplit(request.url).netloc != self.host:
            self.faults.append(f"request to {request.url}")


@contextmanager
def visitor(browser: Browser, server: str, **options: Any) -> Iterator[BrowserContext]:
    """A context that holds nothing of earlier visits but the page's files, which the browser asks for changes of.

    It is used again by the next visitor with the same options. A page stays open in it: with its last page a process
    would end, and starting another one takes as long as a short test.
    """
    free = _contexts.setdefault(json.dumps([server, options]), [])
    if not free:
        free.append(browser.new_context(**options))
        free[0].new_page().goto(f"{server}/api/health")
    context = free.pop()
    context.clear_cookies()
    session = context.new_cdp_session(context.pages[0])
    session.send("Storage.clearDataForOrigin", {"origin": server, "storageTypes": "all"})
    session.detach()
    try:
        yield context
    finally:
        for page in context.pages[1:]:
            page.close()
        free.append(context)


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
    with visitor(browser, server, **{"locale": "en-GB", "viewport": {"width": 1280, "height": 860},
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
    """Keep a screenshot, if any are to be kept."""
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png", animations="disabled")


def violations(page: Page) -> list[str]:
    """What axe finds serious or critical, in a few words each."""
    if not page.evaluate("'axe' in window"):  # it stays while the page is not loaded anew
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate("axe.run({resultTypes: ['violations']}).then((all) => all.violations)")
    return [f"{one['id']} ({one['impact']}): {one['nodes'][0]['html'][:200]}: {one['nodes'][0]['failureSummary'][:300]}"
            for one in found if one["impact"] in {"serious", "critical"}]
