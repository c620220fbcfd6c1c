"""The web page in a real browser: the graph, the schema, and tables."""

import csv
import json
import re

import pytest

from .. import browsing, command_line, web
from ..browsing import expect

pytestmark = [pytest.mark.integration, web.needs_chromium]


def test_the_evidence_of_an_answer_is_shown_in_the_graph(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        web.ask(page, "Where was Marie Curie born?")
        page.get_by_role("link", name="Show evidence in the graph").click()
        expect(page.locator(".evidence-note")).to_contain_text("The evidence for the answer is highlighted")
        page.wait_for_selector(".map canvas")
        page.get_by_role("button", name="List", exact=True).click()
        path = page.locator(".node-list .evidence .node-head > button:first-child").all_text_contents()
        assert {"Marie Curie", "Warsaw"} <= set(path)
        page.get_by_role("button", name="Back to the whole graph").click()
        expect(page.locator(".node-list")).to_have_count(0)
        expect(page.locator(".entity-table")).to_be_visible()


def test_the_graph_is_explored_by_search_neighbours_types_and_communities(web_browser, web_server):
    asked = []
    with browsing.opened(web_browser, web_server, web.VIEWS["graph"]) as page:
        page.on("request", lambda request: asked.append(request.url))
        page.reload()
        page.wait_for_selector(".map canvas")
        page.get_by_role("combobox", name="Find an entity").fill("marie")
        page.get_by_role("option", name="Marie Curie").click()
        panel = page.locator(".panel")
        expect(panel.get_by_role("heading", name="Marie Curie", exact=True)).to_be_visible()
        expect(panel).to_contain_text("7 November 1867")
        expect(page).to_have_url(re.compile("id="))
        panel.locator(".quote", has_text="She was born in Warsaw").first.click()
        expect(page.locator("dialog mark")).to_contain_text("She was born in Warsaw")
        page.get_by_role("button", name="Close").click()
        panel.get_by_role("button", name="Its community").click()
        expect(panel.get_by_role("heading", name=re.compile("Members"))).to_be_visible()
        panel.get_by_role("button", name="Show on the map").click()
        page.get_by_role("button", name="List", exact=True).click()
        members = int(re.sub(r"\D", "", panel.get_by_role("heading", name=re.compile("Members")).text_content()))
        expect(page.locator(".node-list > li")).to_have_count(members)
        expand = page.locator(".node-list").get_by_role("button", name=re.compile("^Expand ")).first
        name = expand.get_attribute("aria-label")
        expand.press("Enter")
        # Drawn anew, the list keeps the focus where it was.
        expect(page.get_by_role("button", name=name, exact=True)).to_be_focused()
        panel.get_by_role("button", name="All communities").click()
        expect(panel.locator(".communities > li").first).to_be_visible()
        awards = page.locator("option[value=Award]")
        page.get_by_label("Entity type").select_option("Award")
        rows = page.locator(".entity-table tbody tr")
        expect(rows).to_have_count(int(re.sub(r"\D", "", awards.text_content())))
        # However large a store is, the page asks for a page of it.
        paged = [url for url in asked if re.search(r"/api/.*(/graph/(overview|types|search|neighbourhood)|/tree)", url)]
        assert len(paged) > 7
        assert all("limit=" in url for url in paged), paged


def test_the_map_is_walked_with_arrow_keys(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["graph"]) as page:
        page.wait_for_selector(".map canvas")
        page.get_by_role("application").focus()
        chosen = set()
        for key in ("ArrowRight", "ArrowDown", "ArrowLeft"):
            page.keyboard.press(key)
            expect(page.locator(".entity h2")).to_be_visible()
            page.wait_for_timeout(200)
            chosen.add(page.locator(".entity h2").text_content())
        assert len(chosen) >= 2, chosen


CY = "document.querySelector('.map')._cyreg.cy"
"""The map's own model: what is drawn on its canvas."""


@pytest.mark.slow
def test_the_legend_filters_limit_and_layout_change_what_is_shown_and_saved_as_a_picture(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["graph"]) as page:
        page.wait_for_selector(".map canvas")
        note = page.locator(".graph-note")
        expect(note).to_contain_text("These are the entities that most documents mention, of those with links.")
        expect(note).to_contain_text("60 of ")
        page.locator(".legend").get_by_role("button", name="Person").click()
        assert page.evaluate(f"{CY}.nodes('.off').every((node) => node.data('type') === 'Person')")
        assert page.evaluate(f"{CY}.nodes('.off').length") > 0
        page.locator(".legend").get_by_role("button", name="Person").click()
        assert page.evaluate(f"{CY}.nodes('.off').length") == 0
        page.get_by_role("button", name="Show more entities").click()
        expect(note).not_to_contain_text("60 of ")
        page.get_by_text("Filters, layout and pictures").click()
        places = f"JSON.stringify({CY}.nodes().map((node) => node.position()))"
        laid_out = page.evaluate(places)
        page.get_by_label("Layout").select_option("in a circle")
        assert page.evaluate(places) != laid_out
        for name, suffix, content in (("Save as PNG", "png", b"\x89PNG"), ("Save as SVG", "svg", b"<svg")):
            with page.expect_download() as saved:
                page.get_by_role("button", name=name).click()
            assert saved.value.suggested_filename == f"english.{suffix}"
            assert saved.value.path().read_bytes().startswith(content)
        assert ">Marie Curie</text>" in saved.value.path().read_text("utf-8")
        page.get_by_label("Relation").select_option("capital_of")
        expect(note).to_contain_text("The filters hide the others")
        assert set(page.evaluate(f"{CY}.edges().map((edge) => edge.data('relation'))")) == {"capital_of"}
        page.get_by_label("Relation").select_option("All relations")
        page.get_by_role("combobox", name="Document").fill("polonium")
        page.get_by_role("option", name="polonium").click()
        expect(page.locator(".chosen-document")).to_contain_text("polonium.md")
        expect(page).to_have_url(re.compile("of=polonium.md"))
        web.until(page, f"{CY}.nodes().length < 25")
        assert "Polonium" in page.evaluate(f"{CY}.nodes().map((node) => node.data('name'))")
        page.get_by_role("button", name="Full screen").click()
        web.until(page, "document.fullscreenElement !== null")


@pytest.mark.slow
def test_the_map_tells_facts_from_sentences_and_fades_what_does_not_hold(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["graph"]) as page:
        page.wait_for_selector(".map canvas")
        sizes = page.evaluate(f"{CY}.nodes().map((node) => [node.data('name'), node.data('size')])")
        assert max(sizes, key=lambda one: one[1])[0] == "Marie Curie", "most documents mention her"
        kinds = page.evaluate(f"{CY}.edges().map((edge) => [edge.data('kind'), edge.style('line-style')])")
        assert {tuple(kind) for kind in kinds} == {("fact", "solid"), ("sentence", "dashed")}
        expect(page.locator(".legend")).to_contain_text("in one sentence")
        page.evaluate(f"void {CY}.edges().filter((edge) => edge.data('kind') === 'sentence')[0].emit('tap')")
        panel = page.locator(".panel")
        expect(panel).to_contain_text("That is a link, not a fact.")
        names = panel.locator("h2 button").all_text_contents()
        assert len(names) == 2
        assert all(name in panel.locator(".quote").first.text_content() for name in names)
        slider = page.get_by_label("Year")
        first = int(slider.get_attribute("min"))
        slider.fill(str(first + 1))
        web.until(page, f"{CY}.edges('.gone').length > 0")
        gone = page.evaluate(f"{CY}.edges('.gone').map((edge) => edge.data())")
        assert all(not edge["start"] or int(edge["start"][:4]) > first + 1 or int(edge["end"][:4]) < first + 1
                   for edge in gone)
        slider.fill(str(first))
        web.until(page, f"{CY}.edges('.gone').length === 0")
        assert not browsing.violations(page)


@pytest.mark.slow
def test_a_community_is_picked_out_an_entity_hidden_and_a_path_found(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["graph"]) as page:
        page.wait_for_selector(".map canvas")
        page.locator(".communities button").first.click()
        web.until(page, f"{CY}.nodes('.member').length > 0")
        assert page.evaluate(f"{CY}.nodes('.far').length") > 0
        page.get_by_role("combobox", name="Find an entity").fill("marie")
        page.get_by_role("option", name="Marie Curie").first.click()
        panel = page.locator(".panel")
        panel.get_by_role("button", name="Path to…").click()
        page.get_by_role("dialog").get_by_role("combobox", name="Find an entity").fill("poland")
        page.get_by_role("option", name="Poland").first.click()
        expect(page.locator(".path-note")).to_have_text(re.compile("^Marie Curie → .* → Poland$"))
        panel.get_by_role("button", name="Hide").click()
        toast = page.locator(".toast")
        expect(toast).to_contain_text("Marie Curie is hidden")
        named = f"{CY}.nodes().map((node) => node.data('name')).includes('Marie Curie')"
        assert not page.evaluate(named)
        assert not browsing.violations(page)
        toast.get_by_role("button", name="Undo").click()
        expect(toast).to_be_hidden()
        assert page.evaluate(named)


def test_a_build_waits_for_a_person_who_decides_on_the_schema(web_browser, web_server):
    with browsing.opened(web_browser, web_server, "#/documents?kb=reviewed") as page:
        page.get_by_label("Ask me before the schema grows").check()
        web.upload(page, web.TABLES)
        expect(page.locator(".build .state")).to_have_text("waiting for your decisions")
        page.get_by_role("link", name="Decide now").click()
        taught = page.locator(".candidate", has=page.get_by_role("heading", name="teacher", exact=True))
        expect(taught).to_contain_text("T-Zoe Alder")
        taught.get_by_text("Accept", exact=True).click()
        returned = page.locator(".candidate", has=page.get_by_role("heading", name="hobby", exact=True))
        returned.get_by_text("Rename", exact=True).click()
        returned.get_by_label("New name").fill("called")
        half_life = page.locator(".candidate", has=page.get_by_role("heading", name="half life", exact=True))
        half_life.get_by_text("Reject", exact=True).click()
        page.get_by_label("Decided by").fill("Mira")
        page.get_by_role("button", name="Apply 3 decisions").click()
        expect(page.locator(".build .state")).to_have_text("done")
        page.get_by_role("link", name="Schema", exact=True).click()
        expect(page.get_by_text("general, version 2")).to_be_visible()
        expect(page.get_by_role("rowheader", name="teacher")).to_be_visible()
        expect(page.get_by_role("rowheader", name="called")).to_be_visible()
        page.get_by_role("link", name="History").click()
        expect(page.locator(".history")).to_contain_text("Mira")
        expect(page.locator(".history")).to_contain_text("half life")


@pytest.mark.slow
def test_a_knowledge_base_begins_with_a_schema_of_ones_own_and_its_settings_are_changed(web_browser, web_server):
    own = {"name": "cities", "entity_types": [{"name": "City"}, {"name": "River"}],
           "relation_types": [{"name": "lies_on", "domain": ["City"], "range": ["River"]}]}
    with browsing.opened(web_browser, web_server, "#/documents?kb=cities") as page:
        page.get_by_label("Initial schema").select_option("your own file…")
        page.get_by_label("Schema file (JSON)").set_input_files(
            {"name": "cities.json", "mimeType": "application/json", "buffer": json.dumps(own).encode()})
        web.upload(page, [{"name": "ulm.md", "mimeType": "text/markdown", "buffer": b"Ulm lies on the Danube."}])
        expect(page.locator(".build .state")).to_have_text("done")
        page.get_by_text("Settings", exact=True).click()
        page.get_by_label("Schema growth", exact=True).select_option("none")
        page.get_by_role("button", name="Save settings").click()
        expect(page.locator("form.settings")).to_contain_text("Settings saved")
        page.reload()
        page.get_by_text("More options").click()
        expect(page.get_by_label("Let the schema grow with the documents")).not_to_be_checked()
        page.get_by_role("link", name="Schema", exact=True).click()
        expect(page.get_by_text("cities, version 1")).to_be_visible()


GROWTH = """study,espèce,growth,year
Ana,Porites,0.82,2019
Ana,Acropora,1.51,2019
Ben,Porites,0.91,2020
Ben,Porites,0.86,2020
Cho,Acropora,,2021
"""


@pytest.fixture(scope="module")
def reef(web_folder, web_server):
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
