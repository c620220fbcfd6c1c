"""The web page in a real browser: a person decides on the schema.

Every test fails if the page logs an error or warning, throws, or asks any host but its server. Screenshots are kept
(see tests/browsing.py).
"""

import pytest

from ..conftest import load_test_module

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
browsing = load_test_module("browsing")
web = load_test_module("web")
expect = playwright.expect

pytestmark = [pytest.mark.integration, web.needs_chromium]


def test_a_build_waits_for_a_person_who_decides_on_the_schema(web_browser, web_server):
    with browsing.opened(web_browser, web_server, "#/documents?kb=reviewed") as page:
        page.get_by_label("Ask me before the schema grows").check()
        names = ("polonium", "otto-hahn", "lise-meitner", "warsaw")
        web.upload(page, [web.EXAMPLES / "en" / f"{name}.md" for name in names])
        expect(page.locator(".build .state")).to_have_text("waits for you")
        browsing.shoot(page, "build-waits")
        page.get_by_role("link", name="Decide on them").click()
        taught = page.locator(".candidate", has=page.get_by_role("heading", name="teach", exact=True))
        expect(taught).to_contain_text("She was taught by Ludwig Boltzmann")
        taught.get_by_text("Accept", exact=True).click()
        returned = page.locator(".candidate", has=page.get_by_role("heading", name="return to", exact=True))
        returned.get_by_text("Rename", exact=True).click()
        returned.get_by_label("New name").fill("went_to")
        half_life = page.locator(".candidate", has=page.get_by_role("heading", name="half life", exact=True))
        half_life.get_by_text("Reject", exact=True).click()
        page.get_by_label("Decided by").fill("Mira")
        browsing.shoot(page, "review")
        page.get_by_role("button", name="Apply 3 decisions").click()
        expect(page.locator(".build .state")).to_have_text("done")
        page.get_by_role("link", name="Schema", exact=True).click()
        expect(page.get_by_text("general, version 2")).to_be_visible()
        expect(page.get_by_role("rowheader", name="teach")).to_be_visible()
        expect(page.get_by_role("rowheader", name="went to")).to_be_visible()
        page.get_by_role("link", name="History").click()
        expect(page.locator(".history")).to_contain_text("Mira")
        expect(page.locator(".history")).to_contain_text("half life")
        browsing.shoot(page, "history")


def test_what_stands_in_the_schema_is_changed(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["candidates"]) as page:
        studied = page.locator(".candidate", has=page.get_by_role("heading", name="study chemistry in"))
        studied.get_by_text("Merge", exact=True).click()
        page.get_by_label("Merge into").select_option("educated_at")
        page.get_by_role("button", name="Apply 1 decision").click()
        expect(page.get_by_text("general, version 3")).to_be_visible()
        page.get_by_role("link", name="In force").click()
        page.get_by_role("button", name="Change spouse").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_text("Rename", exact=True).click()
        dialog.get_by_label("New name").fill("married_to")
        dialog.get_by_role("button", name="Change", exact=True).click()
        expect(page.get_by_role("rowheader", name="married to")).to_be_visible()
