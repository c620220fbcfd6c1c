"""A headless Chromium that looks at the web page, and reports whatever a person would call a fault of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync")
WAIT = 120_000
"""Milliseconds until something has to be there: the machine may be busy, and on a quiet one it takes a second."""


@contextmanager
def browsing() -> Iterator[Browser]:
    expect.set_options(timeout=WAIT)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def _watched(page: Page, host: str, expected: tuple[str, ...]) -> list[str]:
    """What a page does that it must not do, as it goes on."""
    faults: list[str] = []

    def said(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not any(one in message.text for one in expected):
            faults.append(f"console {message.type}: {message.text} ({message.location.get('url')})")

    def asked(request: Request) -> None:
        if urlsplit(request.url).netloc != host:
            faults.append(f"request to {request.url}")

    page.on("console", said)
    page.on("pageerror", lambda error: faults.append(f"error in the page: {error}"))
    page.on("request", asked)
    return faults


@contextmanager
def opened(browser: Browser, server: str, path: str = "", *, expected: tuple[str, ...] = (),
           ready: bool = True, **options: Any) -> Iterator[Page]:
    """A page of its own, as a new visitor has it; fails at the end of the block if it did what it must not do.

    `expected` are parts of console messages that are no fault; a page that asks for a key first is not `ready`.
    """
    with browser.new_context(**{"locale": "en-GB", "viewport": {"width": 1280, "height": 860},
                                "reduced_motion": "reduce", **options}) as context:
        page = context.new_page()
        page.set_default_timeout(WAIT)
        faults = _watched(page, urlsplit(server).netloc, expected)
        visit(page, server, path, ready=ready)
        yield page
        assert not faults, faults


def visit(page: Page, server: str, path: str, *, ready: bool = True) -> None:
    page.goto(f"{server}/{path}")
    if ready:
        page.wait_for_selector("html[data-ready]")


def violations(page: Page) -> list[str]:
    if not page.evaluate("'axe' in window"):  # it stays while the page is not loaded anew
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate("axe.run({resultTypes: ['violations']}).then((all) => all.violations)")
    return [f"{one['id']} ({one['impact']}): {one['nodes'][0]['html'][:200]}: {one['nodes'][0]['failureSummary'][:300]}"
            for one in found if one["impact"] in {"serious", "critical"}]
