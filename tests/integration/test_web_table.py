"""The web page in a real browser: tables are chosen, filtered, grouped, sorted, saved and opened at their sources."""

import csv
import re

import pytest

from .. import browsing, web
from ..browsing import expect

pytestmark = [pytest.mark.integration, web.needs_chromium]

BORN = "#/table?kb=english&relation=born_in"


def heads(page):
    return page.locator(".fact-table tbody th").all_text_contents()


def test_a_table_is_chosen_filtered_and_shared_by_its_address(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["tables"]) as page:
        browsing.shoot(page, "tables")
        page.get_by_role("link", name="born in (9)").click()
        expect(page.locator(".fact-table tbody tr")).to_have_count(9)
        expect(page.locator("#status")).to_have_text("9 rows")
        expect(page.get_by_text(re.compile(r"^9 of \d\d Person entities have it"))).to_be_visible()
        page.get_by_label("Object or value").fill("Paris|Warsaw")
        page.get_by_label("Conditions").fill("birth date>=1860\ntype=Person")
        page.get_by_role("button", name="Show", exact=True).click()
        expect(page.locator(".fact-table tbody tr")).to_have_count(2)
        assert heads(page) == ["Irène Joliot-Curie", "Marie Curie"]
        page.get_by_label("birth date").check()
        expect(page.get_by_label("birth date")).to_be_focused()
        expect(page.get_by_role("columnheader", name="birth date")).to_be_visible()
        expect(page.get_by_role("row").filter(has_text="Marie")).to_contain_text("7 November 1867")
        page.get_by_label("Calculate").select_option("Number of subjects")
        expect(page.locator(".figure").first).to_have_text("Number of subjects: 2 · 2 rows")
        browsing.shoot(page, "table")
        address = page.url
        page.go_back()
        expect(page.locator(".figure").first).to_have_text("2 rows")
        expect(page.get_by_label("Calculate")).to_have_value("list")
        browsing.visit(page, web_server, "#/ask?kb=english")
        page.goto(address)
        expect(page.locator(".figure").first).to_have_text("Number of subjects: 2 · 2 rows")
        expect(page.get_by_label("Conditions")).to_have_value("birth date>=1860\ntype=Person")
        expect(page.get_by_label("birth date")).to_be_checked()


def test_rows_are_sorted_by_a_columns_head_with_the_keyboard(web_browser, web_server):
    with browsing.opened(web_browser, web_server, "#/table?kb=english&relation=birth_date") as page:
        page.wait_for_selector(".fact-table")
        before = heads(page)
        head = page.get_by_role("columnheader", name="birth date")
        button = head.get_by_role("button")
        button.press("Enter")
        expect(head).to_have_attribute("aria-sort", "ascending")
        expect(button).to_be_focused()
        assert heads(page)[:3] == ["Frédéric Chopin", "Alfred Nobel", "Pierre Curie"], "by date, not by letter"
        button.press("Enter")
        expect(head).to_have_attribute("aria-sort", "descending")
        assert heads(page)[-1] == "Frédéric Chopin"
        page.go_back()
        expect(head).to_have_attribute("aria-sort", "ascending")
        page.go_forward()
        button.press("Enter")
        expect(head).not_to_have_attribute("aria-sort", re.compile("."))
        assert heads(page) == before


def test_a_row_opens_its_document_at_the_words_and_the_table_stays(web_browser, web_server):
    with browsing.opened(web_browser, web_server, f"{BORN}&head=Marie&sort=head") as page:
        page.locator(".fact-table td a").click()
        expect(page.locator("dialog mark")).to_have_text(re.compile("^She was born in Warsaw"))
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        assert heads(page) == ["Marie Curie"]
        assert "sort=head" in page.url


def test_what_is_shown_is_saved_as_csv_in_its_order(web_browser, web_server):
    with browsing.opened(web_browser, web_server, f"{BORN}&show=birth_date&limit=3&sort=-head") as page:
        expect(page.get_by_text("3 of 9 rows are shown.")).to_be_visible()
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save as CSV").click()
        assert saved.value.suggested_filename == "english-born_in.csv"
        with saved.value.path().open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["head"] for row in rows] == heads(page) == ["Frédéric Chopin", "Ernest Rutherford",
                                                                 "Alfred Nobel"]
        assert list(rows[0]) == ["head", "born_in", "birth_date", "document", "quote"]
        assert (rows[0]["birth_date"], rows[0]["document"]) == ("1810", "frederic-chopin.md")
