"""The web page in a real browser: what people do with it, by mouse and by keyboard, in English and Chinese.

Every test fails if the page logs an error or warning, throws, or asks any host but its server. Screenshots are kept
(see tests/browsing.py).
"""

import re

import pytest
from banyan.server.security.keys import KEYS_FILE, Keys

from ..conftest import load_test_module

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
browsing = load_test_module("browsing")
serving = load_test_module("serving")
expect = playwright.expect

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not browsing.CHROMIUM.exists(), reason=f"there is no Chromium at {browsing.CHROMIUM}"),
]

EXAMPLES = serving.command_line.EXAMPLES
QUESTION = "On which river does the birthplace of the discoverer of polonium lie?"
HOSTILE = """# <img src=x onerror="document.title='owned'">

<script>document.title='owned'</script> Zofia Nowak is a chemist. Zofia Nowak was born in Radom, a city in Poland.

<img src=x onerror="document.title='owned'"> Zofia Nowak discovered 𝒳-silicate 🧪 in Radom in 1950.
"""
VIEWS = {"ask": "#/ask?kb=english", "graph": "#/graph?kb=english", "documents": "#/documents?kb=english",
         "schema": "#/schema?kb=english", "candidates": "#/schema?kb=english&tab=candidates",
         "history": "#/schema?kb=english&tab=history",
         "source": "#/documents?kb=english&doc=warsaw.md&start=64&end=115"}


@pytest.fixture(scope="module")
def running(english_folder):
    with serving.served(english_folder) as server:
        yield server


@pytest.fixture(scope="module")
def server(running):
    return running.url


@pytest.fixture(scope="module")
def browser():
    with browsing.browsing() as browser:
        yield browser


@pytest.fixture(scope="module")
def uploaded(browser, server, tmp_path_factory):
    """The name of a knowledge base that was made by way of the page: an English, a Chinese and a hostile document."""
    hostile = tmp_path_factory.mktemp("documents") / "hostile.md"
    hostile.write_text(HOSTILE, "utf-8")
    with browsing.opened(browser, server) as page:
        page.get_by_label("Knowledge base").select_option("New knowledge base…")
        page.get_by_role("dialog").get_by_label("Name").fill("uploaded")
        page.keyboard.press("Enter")
        drop(page, hostile)
        upload(page, [EXAMPLES / "en" / "marie-curie.md", EXAMPLES / "zh" / "tu-youyou.md"], dropped=1)
        expect(page.locator(".build .state")).to_have_text("done")
        expect(page.locator(".build .figures")).to_contain_text("documents3")
        browsing.shoot(page, "upload")
    return "uploaded"


def upload(page, files, dropped=0):
    page.locator("#upload-files").set_input_files(files)
    page.get_by_role("button", name=re.compile(f"Add {len(files) + dropped} files? and build")).click()


def drop(page, file):
    data = page.evaluate_handle("""([name, text]) => {
        const data = new DataTransfer();
        data.items.add(new File([text], name));
        return data;
    }""", [file.name, file.read_text("utf-8")])
    page.dispatch_event(".dropzone", "drop", {"dataTransfer": data})
    expect(page.locator(".files")).to_contain_text(file.name)


def ask(page, question=QUESTION):
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn[aria-busy=false] .answer")


def test_an_answer_streams_in_with_citations_that_open_the_source_at_the_quoted_words(browser, server):
    with browsing.opened(browser, server, VIEWS["ask"]) as page:
        ask(page)
        expect(page.locator(".answer .short")).to_have_text("Vistula")
        expect(page.locator("#status")).to_contain_text("Vistula")
        browsing.shoot(page, "ask")
        quotes = page.locator(".citations q").all_text_contents()
        marks = page.locator(".answer a.mark")
        assert marks.count() == len(quotes) >= 3
        for mark, quote in zip(marks.all(), quotes, strict=True):
            mark.click()
            words = page.locator("dialog mark")
            expect(words).to_have_text(quote)
            expect(words).to_be_in_viewport()
            browsing.shoot(page, "source")
            page.keyboard.press("Escape")
            expect(page.get_by_role("dialog")).to_have_count(0)
            expect(page).to_have_url(re.compile("kb=english$"))


def test_the_trace_tells_sub_queries_routes_and_what_each_found(browser, server):
    with browsing.opened(browser, server, VIEWS["ask"]) as page:
        ask(page)
        page.get_by_text("How this was found").click()
        trace = page.locator(".trace")
        expect(trace).to_contain_text("Who is the discoverer of polonium?")
        expect(trace).to_contain_text("builds on 1")
        expect(trace).to_contain_text("Warsaw")
        for route in ("Entities", "Facts", "Communities", "Paths"):
            expect(trace.get_by_text(route, exact=True).first).to_be_visible()
        trace.locator("summary", has_text="Facts").first.click()
        expect(trace.locator(".search[open]")).to_contain_text("Polonium discovered by Marie Curie")
        browsing.shoot(page, "trace")


def test_the_evidence_of_an_answer_is_shown_in_the_graph(browser, server):
    with browsing.opened(browser, server, VIEWS["ask"]) as page:
        ask(page)
        page.get_by_role("link", name="Show evidence in the graph").click()
        expect(page.locator(".evidence-note")).to_contain_text("The evidence for the answer is highlighted")
        page.wait_for_selector(".map canvas")
        browsing.shoot(page, "evidence")
        page.get_by_role("button", name="List", exact=True).click()
        path = page.locator(".node-list .evidence .node-head > button:first-child").all_text_contents()
        assert {"Polonium", "Marie Curie", "Warsaw", "Vistula"} <= set(path)
        page.get_by_role("button", name="Back to the whole graph").click()
        expect(page.locator(".node-list > li")).not_to_have_count(len(path))
        expect(page.locator(".node-list .evidence")).to_have_count(0)


def test_a_conversation_goes_on_and_outlives_views_languages_and_a_reload(browser, server):
    with browsing.opened(browser, server, VIEWS["ask"]) as page:
        ask(page, "When was Marie Curie born?")
        ask(page, "What was Niels Bohr's favourite food?")
        expect(page.locator(".abstained")).to_contain_text("No answer found")
        browsing.shoot(page, "abstained")
        page.get_by_role("link", name="Documents", exact=True).click()
        expect(page.locator(".listing")).to_be_visible()
        page.get_by_role("link", name="Ask", exact=True).click()
        expect(page.locator(".turn")).to_have_count(2)
        page.get_by_label("Language").select_option("中文")
        expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
        expect(page.locator(".turn")).to_have_count(2)
        page.reload()
        expect(page.get_by_label("您的问题")).to_be_visible()
        expect(page.locator(".turn h2").first).to_have_text("When was Marie Curie born?")
        expect(page.locator(".turn .answer").first).to_contain_text("1867")
        page.get_by_role("button", name="新对话").click()
        expect(page.locator(".turn")).to_have_count(0)


def test_a_question_can_be_stopped(browser, server):
    with browsing.opened(browser, server, VIEWS["ask"]) as page:
        # A server that takes its time.
        held = []

        def hold(route):
            held.append(route)

        page.route("**/ask/stream", hold)
        page.get_by_label("Your question").fill(QUESTION)
        page.get_by_role("button", name="Ask", exact=True).click()
        page.get_by_role("button", name="Stop").click()
        expect(page.locator(".turn")).to_contain_text("Stopped before there was an answer.")
        held[0].abort()
        page.unroute("**/ask/stream")
        ask(page)
        expect(page.locator(".answer")).to_contain_text("Vistula")


def test_the_graph_is_explored_by_search_neighbours_types_and_communities(browser, server):
    asked = []
    with browsing.opened(browser, server, VIEWS["graph"]) as page:
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
        members = panel.locator(".members li")
        expect(page.locator(".node-list > li")).to_have_count(members.count())
        browsing.shoot(page, "community")
        panel.get_by_role("button", name="All communities").click()
        expect(panel.locator(".communities > li").first).to_be_visible()
        awards = page.locator("option[value=Award]")
        page.get_by_label("Entity type").select_option("Award")
        expect(page.locator(".node-list > li")).to_have_count(int(re.sub(r"\D", "", awards.text_content())))
        page.get_by_role("button", name="Expand Nobel Prize in Physics").press("Enter")
        expect(page.locator(".node-list")).to_contain_text("Niels Bohr")
        # However large a store is, the page asks for a page of it.
        paged = [url for url in asked if re.search(r"/api/.*(/graph/(overview|types|search|neighbourhood)|/tree)", url)]
        assert len(paged) > 7
        assert all("limit=" in url for url in paged), paged
        # Drawn anew, the list keeps the focus where it was.
        assert focused(page) == "Expand Nobel Prize in Physics"


def test_the_map_is_walked_with_arrow_keys(browser, server):
    with browsing.opened(browser, server, VIEWS["graph"]) as page:
        page.wait_for_selector(".map canvas")
        page.get_by_role("application").focus()
        chosen = set()
        for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"):
            page.keyboard.press(key)
            expect(page.locator(".entity h2")).to_be_visible()
            page.wait_for_timeout(200)
            chosen.add(page.locator(".entity h2").text_content())
        assert len(chosen) >= 2, chosen


def test_only_a_few_hundred_nodes_are_ever_shown(browser, server):
    with browsing.opened(browser, server, VIEWS["graph"]) as page:
        size, kept, edges = page.evaluate("""async () => {
            const { Shown } = await import("/assets/shown.js");
            const shown = new Shown();
            const node = (id) => ({ id, name: id, type: "T", degree: 1 });
            shown.add([node("kept")], [], ["kept"]);
            for (let page = 0; page < 100; page += 1) {
              const nodes = Array.from({ length: 50 }, (_, place) => node(`${page}-${place}`));
              shown.add(nodes, nodes.map((one) => ({ id: `e${one.id}`, source: "kept", target: one.id })), ["kept"]);
            }
            return [shown.nodes.size, shown.nodes.has("kept"), shown.edges.size];
        }""")
        assert (size, kept, edges) == (300, True, 299)


def test_uploaded_documents_are_listed_found_opened_and_deleted(browser, server, uploaded):
    with browsing.opened(browser, server, f"#/documents?kb={uploaded}") as page:
        rows = page.locator("tbody tr")
        expect(rows).to_have_count(3)
        browsing.shoot(page, "documents")
        page.get_by_label("Filter").fill("marie")
        expect(rows).to_have_count(1)
        page.locator("tbody a").click()
        expect(page.locator("dialog .text")).to_contain_text("She was born in Warsaw")
        page.keyboard.press("Escape")
        page.get_by_role("button", name=re.compile("^Delete ")).click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.locator("#status")).to_contain_text("is deleted")
        page.get_by_label("Filter").fill("")
        expect(rows).to_have_count(2)


def test_markup_in_documents_is_shown_as_text(browser, server, uploaded):
    with browsing.opened(browser, server, f"#/documents?kb={uploaded}") as page:
        expect(page.get_by_role("link", name="<img src=x onerror=")).to_be_visible()
        browsing.shoot(page, "hostile-documents")
        page.get_by_role("link", name="<img src=x onerror=").click()
        expect(page.locator("dialog .text")).to_contain_text("<script>document.title='owned'</script>")
        page.keyboard.press("Escape")
        page.get_by_role("link", name="Ask", exact=True).click()
        ask(page, "What did Zofia Nowak discover in Radom?")
        expect(page.locator(".citations")).to_contain_text("Zofia Nowak")
        page.locator(".answer a.mark").first.click()
        # Offsets count characters: a letter beyond the 16-bit plane before the words must not move the mark.
        expect(page.locator("dialog mark")).to_have_text(page.locator(".citations q").first.text_content())
        browsing.shoot(page, "hostile-source")
        page.keyboard.press("Escape")
        page.get_by_role("link", name="Graph", exact=True).click()
        page.get_by_role("combobox", name="Find an entity").fill("Zofia")
        page.get_by_role("option", name="Zofia Nowak").first.click()
        expect(page.locator(".entity h2")).to_contain_text("Zofia")
        assert page.locator("img").count() == page.locator(".brand img").count()
        assert page.locator("script").count() == 1
        assert "owned" not in page.title()


def test_a_build_waits_for_a_person_who_decides_on_the_schema(browser, server):
    with browsing.opened(browser, server, "#/documents?kb=reviewed") as page:
        page.get_by_label("Ask me before the schema grows").check()
        upload(page, [EXAMPLES / "en" / f"{name}.md" for name in ("polonium", "otto-hahn", "lise-meitner", "warsaw")])
        expect(page.locator(".build .state")).to_have_text("waits for you")
        browsing.shoot(page, "build-waits")
        page.get_by_role("link", name="Decide on them").click()
        taught = page.locator(".candidate", has=page.get_by_role("heading", name="taught", exact=True))
        expect(taught).to_contain_text("She was taught by Ludwig Boltzmann")
        taught.get_by_text("Accept", exact=True).click()
        returned = page.locator(".candidate", has=page.get_by_role("heading", name="returned to", exact=True))
        returned.get_by_text("Rename", exact=True).click()
        returned.get_by_label("New name").fill("went_to")
        atomic = page.locator(".candidate", has=page.get_by_role("heading", name="atomic number", exact=True))
        atomic.get_by_text("Reject", exact=True).click()
        page.get_by_label("Decided by").fill("Mira")
        browsing.shoot(page, "review")
        page.get_by_role("button", name="Apply 3 decisions").click()
        expect(page.locator(".build .state")).to_have_text("done")
        page.get_by_role("link", name="Schema", exact=True).click()
        expect(page.get_by_text("general, version 2")).to_be_visible()
        expect(page.get_by_role("rowheader", name="taught")).to_be_visible()
        expect(page.get_by_role("rowheader", name="went to")).to_be_visible()
        page.get_by_role("link", name="History").click()
        expect(page.locator(".history")).to_contain_text("Mira")
        expect(page.locator(".history")).to_contain_text("atomic number")
        browsing.shoot(page, "history")


def test_a_build_is_cancelled(browser, server):
    with browsing.opened(browser, server, "#/documents?kb=given-up") as page:
        page.get_by_label("Ask me before the schema grows").check()
        upload(page, [EXAMPLES / "en" / "polonium.md"])
        expect(page.locator(".build .state")).to_have_text("waits for you")
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator(".build .state")).to_have_text("cancelled")


def test_what_stands_in_the_schema_is_changed(browser, server):
    with browsing.opened(browser, server, VIEWS["candidates"]) as page:
        page.locator(".candidate", has_text="settled in").get_by_text("Merge", exact=True).click()
        page.get_by_label("Merge into").select_option("located_in")
        page.get_by_role("button", name="Apply 1 decision").click()
        expect(page.get_by_text("general, version 2")).to_be_visible()
        page.get_by_role("link", name="In force").click()
        page.get_by_role("button", name="Change spouse").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_text("Rename", exact=True).click()
        dialog.get_by_label("New name").fill("married_to")
        dialog.get_by_role("button", name="Change", exact=True).click()
        expect(page.get_by_role("rowheader", name="married to")).to_be_visible()


def test_the_interface_speaks_chinese(browser, server, uploaded):
    with browsing.opened(browser, server, f"#/ask?kb={uploaded}", locale="zh-CN", color_scheme="dark") as page:
        expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
        page.get_by_label("您的问题").fill("屠呦呦出生在哪个城市？")
        page.get_by_role("button", name="提问", exact=True).click()
        expect(page.locator(".answer")).to_contain_text("宁波")
        page.get_by_text("检索过程").click()
        browsing.shoot(page, "chinese-ask")
        page.get_by_role("link", name="图谱", exact=True).click()
        expect(page.locator(".legend")).to_contain_text("人物")
        browsing.shoot(page, "chinese-graph")
        page.get_by_role("link", name="模式", exact=True).click()
        expect(page.get_by_role("rowheader", name="出生于")).to_be_visible()
        browsing.shoot(page, "chinese-schema")
        latin = page.locator("header nav").inner_text()
        assert not re.search("[A-Za-z]", latin), latin


def test_a_question_is_asked_and_a_citation_opened_with_the_keyboard_alone(browser, server):
    with browsing.opened(browser, server) as page:
        page.evaluate("document.activeElement.blur()")
        reach(page, "Your question")
        page.keyboard.type(QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector(".turn[aria-busy=false] .answer")
        # Back from the question to the first citation of the answer above it.
        reach(page, "Source 1: warsaw.md", key="Shift+Tab")
        page.keyboard.press("Enter")
        expect(page.locator("dialog mark")).to_have_text("It lies on the Vistula, in the lowlands of Mazovia.")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        assert focused(page) == "Source 1: warsaw.md"


def reach(page, name, key="Tab", most=40):
    for _ in range(most):
        if focused(page) == name:
            return
        page.keyboard.press(key)
    raise AssertionError(f"{name!r} is not reached with {most} times {key}")


def focused(page):
    return page.evaluate("""() => {
        const one = document.activeElement;
        return one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? one.textContent;
    }""")


def test_a_key_is_asked_for_where_the_server_has_keys(browser, running):
    server, keys = running.url, Keys(running.home / KEYS_FILE)
    key = keys.make("reader", ["read", "ask"])
    try:
        with browsing.opened(browser, server, expected=("401", "403"), ready=False) as page:
            # The page is ready once the key is given.
            for said in ("wrong", key):
                page.get_by_role("dialog").get_by_label("Key").fill(said)
                page.get_by_role("button", name="Use this key").click()
                if said == "wrong":
                    expect(page.get_by_role("alert")).to_contain_text("does not accept")
            ask(page)
            page.reload()
            expect(page.locator(".turn")).to_have_count(1)
            browsing.visit(page, server, VIEWS["documents"])
            upload(page, [EXAMPLES / "en" / "polonium.md"])
            expect(page.get_by_role("alert")).to_contain_text("write")
            assert key not in page.evaluate("JSON.stringify(localStorage) + location.href")
    finally:
        (running.home / KEYS_FILE).unlink()


def test_the_server_being_away_is_said(browser, server):
    with browsing.opened(browser, server, VIEWS["documents"], expected=("ERR_FAILED",)) as page:
        page.route("**/api/**", lambda route: route.abort())
        page.get_by_role("link", name="Graph", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("cannot be reached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser, server, scheme):
    found = {}
    with browsing.opened(browser, server, color_scheme=scheme) as page:
        ask(page)
        page.get_by_text("How this was found").click()
        found["answer"] = browsing.violations(page)
        for name, path in VIEWS.items():
            browsing.visit(page, server, path)
            page.wait_for_selector({"graph": ".communities", "source": "dialog mark"}.get(name, "h1"))
            found[name] = browsing.violations(page)
        browsing.visit(page, server, VIEWS["schema"])
        page.get_by_role("button", name="Change Person").click()
        page.get_by_role("dialog").get_by_text("Merge", exact=True).click()
        found["dialog"] = browsing.violations(page)
        browsing.visit(page, server, VIEWS["graph"])
        page.get_by_role("button", name="List", exact=True).click()
        page.locator(".node-list button").first.click()
        page.wait_for_selector(".entity h2")
        found["entity"] = browsing.violations(page)
        browsing.shoot(page, f"list-{scheme}")
    assert not any(found.values()), {name: lines for name, lines in found.items() if lines}


def test_a_narrow_screen_shows_all_of_it(browser, server):
    with browsing.opened(browser, server, viewport={"width": 390, "height": 800}) as page:
        for name, path in VIEWS.items():
            browsing.visit(page, server, path)
            page.wait_for_selector("h1")
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 390, (name, wide)
            browsing.shoot(page, f"narrow-{name}")
