"""The web page in a real browser: in English and Chinese, by keyboard, with a key, on a narrow screen."""

import re
import shutil

import pytest
from banyan.server.security.keys import KEYS_FILE, Keys

from .. import browsing, serving, web
from ..browsing import expect

pytestmark = [pytest.mark.integration, web.needs_chromium]


def test_the_interface_speaks_chinese(web_browser, web_server, uploaded):
    with browsing.opened(web_browser, web_server, f"#/ask?kb={uploaded}", locale="zh-CN", color_scheme="dark") as page:
        expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
        page.get_by_label("您的问题").fill("屠呦呦出生在哪个城市？")
        page.get_by_role("button", name="提问", exact=True).click()
        expect(page.locator(".answer")).to_contain_text("宁波")
        page.get_by_text("检索过程").click()
        expect(page.locator(".trace")).to_contain_text("初步查找")
        browsing.shoot(page, "chinese-ask")
        page.get_by_role("link", name="图谱", exact=True).click()
        expect(page.locator(".legend")).to_contain_text("人物")
        browsing.shoot(page, "chinese-graph")
        page.get_by_role("link", name="模式", exact=True).click()
        expect(page.get_by_role("rowheader", name="出生于")).to_be_visible()
        expect(page.get_by_role("row", name="出生于")).to_contain_text("出生地")
        browsing.shoot(page, "chinese-schema")
        latin = page.locator("header nav").inner_text()
        assert not re.search("[A-Za-z]", latin), latin


def test_a_question_is_asked_and_a_citation_opened_with_the_keyboard_alone(web_browser, web_server):
    with browsing.opened(web_browser, web_server) as page:
        page.evaluate("document.activeElement.blur()")
        web.reach(page, "Your question")
        page.keyboard.type(web.QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector(".turn[aria-busy=false] .answer")
        # Back from the question to the first quote of the answer above it.
        first = "It lies on the Vistula, in the lowlands of Mazovia.Warsaw · warsaw.md"
        web.reach(page, first, key="Shift+Tab")
        page.keyboard.press("Enter")
        expect(page.locator("dialog mark")).to_have_text("It lies on the Vistula, in the lowlands of Mazovia.")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        assert web.focused(page) == first


@pytest.mark.slow
def test_a_key_is_asked_for_where_the_server_has_keys(web_browser, english_store, tmp_path):
    folder = shutil.copytree(english_store, tmp_path / "keyed")
    key = Keys(folder / "home" / KEYS_FILE).make("reader", ["read", "ask"])
    with serving.served(folder) as keyed:
        server = keyed.url
        with browsing.opened(web_browser, server, expected=("401", "403"), ready=False) as page:
            # The page is ready once the key is given.
            for said in ("wrong", key):
                page.get_by_role("dialog").get_by_label("Key").fill(said)
                page.get_by_role("button", name="Use this key").click()
                if said == "wrong":
                    expect(page.get_by_role("alert")).to_contain_text("does not accept")
            web.ask(page)
            page.reload()
            expect(page.locator(".turn")).to_have_count(1)
            browsing.visit(page, server, web.VIEWS["documents"])
            web.upload(page, [web.EXAMPLES / "en" / "polonium.md"])
            expect(page.get_by_role("alert")).to_contain_text("write")
            assert key not in page.evaluate("JSON.stringify(localStorage) + location.href")


def test_the_server_being_away_is_said(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["documents"], expected=("ERR_FAILED",)) as page:
        page.route("**/api/**", lambda route: route.abort())
        page.get_by_role("link", name="Graph", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("cannot be reached")


UNFOLD = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
# Every view in both languages, both colour schemes and both widths.
@pytest.mark.slow
@pytest.mark.parametrize(("locale", "scheme", "width"), [
    ("en-GB", "light", 1400), ("zh-CN", "dark", 390), ("en-GB", "dark", 390), ("zh-CN", "light", 1400)])
def test_axe_finds_nothing_serious(web_browser, web_server, locale, scheme, width):
    found = {}
    with browsing.opened(web_browser, web_server, locale=locale, color_scheme=scheme,
                         viewport={"width": width, "height": 860}) as page:
        def show(view, wait="h1"):
            browsing.visit(page, web_server, web.VIEWS[view])
            page.wait_for_selector(wait)

        page.locator(".composer textarea").fill(web.QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector(".turn[aria-busy=false] .answer")
        page.evaluate(UNFOLD)
        page.locator("[aria-controls=composer-options]").click()
        found["answer"] = browsing.violations(page)
        for view in web.VIEWS:
            show(view, {"graph": ".communities", "source": "dialog mark",
                        "table": ".sql-table", "groups": ".chart"}.get(view, "h1"))
            found[view] = browsing.violations(page)
        show("schema", ".row-actions")
        page.locator(".row-actions button").first.click()
        found["decision"] = browsing.violations(page)
        page.keyboard.press("Escape")
        show("documents", "details")
        page.evaluate(UNFOLD)
        page.wait_for_selector("form.settings")
        found["settings"] = browsing.violations(page)
        show("graph", ".map canvas")
        page.evaluate(UNFOLD)
        page.locator("[data-form=list]").click()
        page.locator(".entity-table tbody button").first.click()
        page.wait_for_selector(".entity .fact button")
        page.evaluate(UNFOLD)
        found["entity"] = browsing.violations(page)
        page.locator(".entity .fact:has(.relation) > button.quiet").last.click()
        page.locator("dialog input[value=correct]").check()
        found["correction"] = browsing.violations(page)
        browsing.shoot(page, f"correction-{locale}-{scheme}-{width}")
    assert not any(found.values()), {name: lines for name, lines in found.items() if lines}


def test_a_narrow_screen_shows_all_of_it_without_scrolling_sideways(web_browser, web_server):
    with browsing.opened(web_browser, web_server, viewport={"width": 390, "height": 800}) as page:
        for name, path in web.VIEWS.items():
            browsing.visit(page, web_server, path)
            page.wait_for_selector("h1")
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 390, (name, wide)
            browsing.shoot(page, f"narrow-{name}")
            if name in ("documents", "schema"):
                page.locator(".table").first.wait_for()
                assert all(table.evaluate("(one) => one.scrollWidth <= one.clientWidth")
                           for table in page.locator(".table").all()), name
                boxes = [one.bounding_box() for one in page.locator("tbody tr").first.get_by_role("button").all()]
                assert all(box["x"] + box["width"] <= 390 for box in boxes), name
