"""The exported page in a real browser, opened as a file: nothing is asked of anybody, and its parts work."""

from contextlib import contextmanager

import networkx as nx
import pytest
from banyan.cli.console import write_file
from banyan.export.tree_page import page as html
from banyan.schemas.naming import UNSEEN
from playwright.sync_api import expect

from .. import browsing
from .. import export_graphs as graphs
from ..newest import newest

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def exported(tmp_path_factory, resources):
    """A small knowledge base as a page, and what it holds."""
    file, graph = tmp_path_factory.mktemp("exported") / "people.html", newest(resources, "people").kb.tree_graph()
    write_file(file, html(graph))
    return file, graph


@contextmanager
def opened(browser, file, **options):
    """The file in a new window; fails at the end if it said anything on the console, or asked for more than itself."""
    with browser.new_context(**{"locale": "en-GB", **options}) as context:
        page, asked, faults = context.new_page(), [], []
        page.set_default_timeout(browsing.WAIT)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: faults.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.goto(file.as_uri())
        yield page
        page.wait_for_timeout(100)
        assert faults == []
        assert asked == [file.as_uri()]


def test_filter_unfold_and_language(web_browser, exported):
    file, graph = exported
    communities = [data for _, data in graph.nodes(data=True) if data["kind"] == "community"]
    with opened(web_browser, file) as page:
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
        browsing.shoot(page, "export-filtered")
        page.get_by_label("Filter").fill("nothing of that kind")
        expect(page.get_by_role("status")).to_have_text("0 communities")
        expect(page.locator("details.c:visible")).to_have_count(0)
        page.get_by_label("Filter").fill("")
        expect(page.get_by_role("status")).to_have_text("")
        page.get_by_role("button", name="中文").click()
        expect(page.locator("h1")).to_contain_text("知识树")
        assert browsing.violations(page) == []


def test_what_documents_say_runs_nowhere_and_is_shown(web_browser, tmp_path):
    """Each hostile text in each place, at once; a script of theirs would open a dialog or ask for a picture."""
    every = nx.compose_all([nx.relabel_nodes(graphs.text_graph([text] * 7), lambda one, n=n: f"{one}-{n}")
                            for n, text in enumerate(graphs.HOSTILE)])
    file = tmp_path / "hostile.html"
    write_file(file, html(every))
    with opened(web_browser, file) as page:
        expect(page.locator("details.c")).to_have_count(2 * len(graphs.HOSTILE))
        assert page.locator("script").count() == page.locator("style").count() == 1
        assert page.locator("img, iframe, a, form").count() == 0
        assert not UNSEEN.search(page.locator("main").inner_text())
        for text in ("</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "屠呦呦", "👩‍🔬"):
            page.get_by_label("Filter").fill(text)
            expect(page.locator("details.c:visible bdi").first).to_have_text(text)
            expect(page.get_by_role("status")).to_have_text("1 community")
