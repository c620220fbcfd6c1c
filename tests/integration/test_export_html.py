"""The exported page in a real browser, opened as a file: nothing is asked of anybody, and its parts work."""

import pytest
from banyan.cli.console import write_file
from banyan.export.tree_page import page as html
from playwright.sync_api import expect

from .. import browsing
from ..newest import newest

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def exported(tmp_path_factory, resources):
    file = tmp_path_factory.mktemp("exported") / "people.html"
    graph = newest(resources, "people").kb.make_node_link().graph()
    write_file(file, html(graph))
    return file, graph


def test_filter_unfold_and_language(web_browser, exported):
    file, graph = exported
    communities = [data for _, data in graph.nodes(data=True) if data["kind"] == "community"]
    with browsing.opened(web_browser, file.parent.as_uri(), file.name, ready=False) as page:
        expect(page).to_have_title("people")
        expect(page.locator("details.c")).to_have_count(len(communities))
        triples = page.get_by_role("row", name="triples").get_by_role("cell")
        expect(triples).to_have_text(str(sum(kind == "triple" for *_, kind in graph.edges(data="kind"))))
        page.get_by_label("Filter").fill("danube")
        expect(page.get_by_role("status")).to_have_text("1 community")
        expect(page.locator("details.c:visible")).to_have_count(1)
        expect(page.locator("details.c:visible")).to_contain_text("Danube")
        # From a keyword to a fact to the words that support it and their document.
        keyword = page.locator("ul.k > li:visible", has_text="Danube").first
        keyword.locator("summary").first.click()
        fact = keyword.locator("ul details", has_text="Danube").first
        fact.locator("summary").first.click()
        expect(fact.locator("blockquote bdi").first).to_contain_text("river Danube")
        expect(fact.locator("cite").first).to_have_text("ulm")
        page.get_by_label("Filter").fill("nothing of that kind")
        expect(page.get_by_role("status")).to_have_text("0 communities")
        expect(page.locator("details.c:visible")).to_have_count(0)
        page.get_by_label("Filter").fill("")
        expect(page.get_by_role("status")).to_have_text("")
        page.get_by_role("button", name="中文").click()
        expect(page.locator("h1")).to_contain_text("知识树")
        assert browsing.violations(page) == []
