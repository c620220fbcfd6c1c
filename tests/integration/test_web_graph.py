"""The web page in a real browser: the graph, its communities, and the evidence of an answer in it."""

import re

import pytest

from .. import browsing, web
from ..browsing import expect

pytestmark = [pytest.mark.integration, web.needs_chromium]


def test_the_evidence_of_an_answer_is_shown_in_the_graph(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        web.ask(page, "Where was Marie Curie born?")
        page.get_by_role("link", name="Show evidence in the graph").click()
        expect(page.locator(".evidence-note")).to_contain_text("The evidence for the answer is highlighted")
        page.wait_for_selector(".map canvas")
        browsing.shoot(page, "evidence")
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
        browsing.shoot(page, "graph")
        page.get_by_role("combobox", name="Find an entity").fill("marie")
        page.get_by_role("option", name="Marie Curie").click()
        panel = page.locator(".panel")
        expect(panel.get_by_role("heading", name="Marie Curie", exact=True)).to_be_visible()
        expect(panel).to_contain_text("7 November 1867")
        expect(page).to_have_url(re.compile("id="))
        browsing.shoot(page, "entity")
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
        browsing.shoot(page, "community")
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
        for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"):
            page.keyboard.press(key)
            expect(page.locator(".entity h2")).to_be_visible()
            page.wait_for_timeout(200)
            chosen.add(page.locator(".entity h2").text_content())
        assert len(chosen) >= 2, chosen


CY = "document.querySelector('.map')._cyreg.cy"
"""The map's own model: what is drawn on its canvas."""


@pytest.mark.slow
def test_the_legend_filters_the_limit_and_the_layout_change_what_is_shown(web_browser, web_server):
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
        browsing.shoot(page, "circle")
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
        browsing.shoot(page, "links")
        assert not browsing.violations(page)


@pytest.mark.slow
def test_the_map_is_saved_as_a_picture(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["graph"]) as page:
        page.wait_for_selector(".map canvas")
        page.get_by_text("Filters, layout and pictures").click()
        with page.expect_download() as png:
            page.get_by_role("button", name="Save as PNG").click()
        assert png.value.suggested_filename == "english.png"
        assert png.value.path().read_bytes().startswith(b"\x89PNG")
        with page.expect_download() as svg:
            page.get_by_role("button", name="Save as SVG").click()
        drawn = svg.value.path().read_text("utf-8")
        assert drawn.startswith("<svg")
        assert ">Marie Curie</text>" in drawn


@pytest.mark.slow
def test_a_community_is_picked_out_an_entity_hidden_and_a_path_found(web_browser, web_server, linked):
    with browsing.opened(web_browser, web_server, f"#/graph?kb={linked}") as page:
        page.wait_for_selector(".map canvas")
        page.locator(".communities button").first.click()
        web.until(page, f"{CY}.nodes('.member').length > 0")
        assert page.evaluate(f"{CY}.nodes('.far').length") > 0
        browsing.shoot(page, "community-on-the-map")
        page.get_by_role("combobox", name="Find an entity").fill("firm0")
        page.get_by_role("option", name="Firm0 Ltd").first.click()
        panel = page.locator(".panel")
        panel.get_by_role("button", name="Path to…").click()
        page.get_by_role("dialog").get_by_role("combobox", name="Find an entity").fill("town1")
        page.get_by_role("option", name="Town1").first.click()
        expect(page.locator(".path-note")).to_have_text(re.compile("^Firm0 Ltd → .* → Town1$"))
        browsing.shoot(page, "path")
        panel.get_by_role("button", name="Hide").click()
        toast = page.locator(".toast")
        expect(toast).to_contain_text("Firm0 Ltd is hidden")
        named = f"{CY}.nodes().map((node) => node.data('name')).includes('Firm0 Ltd')"
        assert not page.evaluate(named)
        assert not browsing.violations(page)
        toast.get_by_role("button", name="Undo").click()
        expect(toast).to_be_hidden()
        assert page.evaluate(named)
