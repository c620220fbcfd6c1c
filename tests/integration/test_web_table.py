"""The web page in a real browser: tables are sorted, filtered, counted, drawn, queried, saved, and lead to sources."""

import csv

import pytest

from .. import browsing, command_line, web
from ..browsing import expect

pytestmark = [pytest.mark.integration, web.needs_chromium]

GROWTH = """study,espèce,growth,year
Ana,Porites,0.82,2019
Ana,Acropora,1.51,2019
Ben,Porites,0.91,2020
Ben,Porites,0.86,2020
Cho,Acropora,,2021
"""


@pytest.fixture(scope="module")
def reef(web_folder, web_server):
    """A knowledge base of a CSV file on the server."""
    file = web_folder / "growth.csv"
    file.write_text(GROWTH, "utf-8")
    report = command_line.CommandLine(web_folder)("build", file, "--kb", "reef", "--json")
    assert report.code == 0, report.err
    return "#/table?kb=reef"


def rows(page):
    return [[cell.strip() for cell in row.locator("th, td").all_text_contents()][:4]
            for row in page.locator(".sql-table tbody tr").all()]


def test_a_table_is_sorted_filtered_and_counted_by_clicking(web_browser, web_server, reef):
    with browsing.opened(web_browser, web_server, reef) as page:
        browsing.shoot(page, "tables")
        page.get_by_role("link", name="growth", exact=True).click()
        box = page.get_by_role("textbox", name="SQL")
        expect(page.locator(".sql-table tbody tr")).to_have_count(5)
        expect(box).to_have_value("SELECT * FROM growth")
        head = page.get_by_role("columnheader", name="growth")
        head.get_by_role("button", name="growth", exact=True).press("Enter")
        expect(head).to_have_attribute("aria-sort", "ascending")
        expect(box).to_have_value("SELECT * FROM growth ORDER BY growth")
        assert [row[2] for row in rows(page)] == ["0.82", "0.86", "0.91", "1.51", ""], "by size, the empty one last"
        page.get_by_text("Columns", exact=True).click()
        expect(page.get_by_role("listitem").filter(has_text="year")).to_contain_text("3 different values · 2019 – 2021")
        page.get_by_label("Filter by").select_option("growth")
        page.get_by_label("Condition").select_option("at least")
        page.get_by_label("Value", exact=True).fill("0.85")
        page.get_by_role("button", name="Add filter").click()
        expect(page.locator(".sql-table tbody tr")).to_have_count(3)
        page.get_by_role("button", name="Count the values of espèce").click()
        expect(page.locator(".chart rect")).to_have_count(2)
        assert rows(page) == [["Porites", "2"], ["Acropora", "1"]]
        expect(page.locator(".figure").first).to_have_text("2 rows · from 3 records")
        page.get_by_label("Calculate").select_option("mean: growth")
        expect(page.locator(".chart text").filter(has_text="0.885")).to_be_visible()
        browsing.shoot(page, "table")
        address = page.url
        page.get_by_role("rowheader", name="Porites").get_by_role("link").click()
        expect(page.locator(".sql-table tbody tr")).to_have_count(2)
        expect(box).to_have_value("SELECT * FROM growth WHERE growth >= 0.85 AND espèce = 'Porites'")
        page.get_by_role("button", name="Remove the filter “growth at least 0.85”").click()
        expect(page.locator(".sql-table tbody tr")).to_have_count(3)
        page.go_back()
        page.go_back()
        expect(page.locator(".chart")).to_be_visible()
        page.goto("about:blank")
        page.goto(address)
        expect(page.get_by_label("Calculate")).to_have_value("mean growth")


def test_a_query_shows_what_it_rests_on_and_its_records_open_at_their_words(web_browser, web_server, reef):
    with browsing.opened(web_browser, web_server, f"{reef}&table=growth", expected=("422",)) as page:
        box = page.get_by_role("textbox", name="SQL")
        box.fill("SELECT year, avg(growth) AS mean FROM ")
        page.get_by_text("Tables and columns").click()
        page.locator(".sql-box").get_by_role("button", name="growth", exact=True).first.click()
        box.press("End")
        box.press_sequentially(" GROUP BY year ORDER BY year")
        box.press("Control+Enter")
        expect(page.locator(".figure").first).to_have_text("3 rows · from 4 of 5 records")
        expect(page.get_by_text("Left out for growth: 1 empty.")).to_be_visible()
        assert rows(page) == [["2019", "1.165"], ["2020", "0.885"], ["2021", ""]]
        page.locator("a.quote").first.click()
        expect(page.locator("dialog mark").filter(has_text="Ana")).to_be_visible()
        page.keyboard.press("Escape")
        box.fill("SELECT size FROM growth")
        page.get_by_role("button", name="Run").click()
        expect(page.get_by_role("alert")).to_contain_text("no column 'size' in growth")


@pytest.mark.slow
def test_rows_lead_to_their_sources_and_are_saved_as_csv(web_browser, web_server, reef):
    with browsing.opened(web_browser, web_server, f"{reef}&table=growth&sort=-growth") as page:
        page.locator(".sql-table td a").first.click()
        expect(page.locator("dialog mark").filter(has_text="1.51")).to_be_visible()
        page.keyboard.press("Escape")
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save as CSV").click()
        assert saved.value.suggested_filename == "reef-growth.csv"
        with saved.value.path().open(encoding="utf-8-sig", newline="") as file:
            found = list(csv.DictReader(file))
        assert [row["growth"] for row in found] == ["1.51", "0.91", "0.86", "0.82", ""]
        assert found[0]["document"] == "growth.csv"
