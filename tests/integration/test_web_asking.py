"""The web page in a real browser: a visitor's first steps, questions, answers, conversations, keyboard and key."""

import re
import shutil

import pytest
from banyan.server.security.keys import KEYS_FILE, Keys

from .. import browsing, llm_server, serving, web
from ..browsing import expect

pytestmark = [pytest.mark.integration, web.needs_chromium]


def test_an_answer_streams_in_with_citations_that_open_the_source_and_a_trace(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        web.ask(page)
        expect(page.locator(".answer .short")).to_have_text("Vistula")
        expect(page.locator("#status")).to_contain_text("Vistula")
        expect(page.locator(".answer .quotes mark")).to_have_text("Vistula")
        quotes = page.locator(".answer .quotes a")
        expect(quotes).to_have_count(1)
        for one in quotes.all():
            quote = one.locator("q").text_content()
            one.click()
            words = page.locator("dialog mark")
            expect(words).to_have_text(quote)
            expect(words).to_be_in_viewport()
            page.keyboard.press("Escape")
            expect(page.get_by_role("dialog")).to_have_count(0)
            expect(page).to_have_url(re.compile("kb=english$"))
        page.get_by_text("How this was found").click()
        trace = page.locator(".trace")
        trace.locator("summary", has_text="found").last.click()
        expect(trace.locator(".search[open]")).to_contain_text("Warsaw is the capital of Poland")
        expect(trace.locator(".search[open]").get_by_role("link", name="warsaw.md")).to_be_visible()


def test_a_conversation_goes_on_and_outlives_views_languages_and_a_reload(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        web.ask(page, "When was Marie Curie born?")
        web.ask(page, "What was Niels Bohr's favourite food?")
        answer = page.locator(".turn .answer").last
        expect(answer).to_contain_text("Passages that may answer")
        # The passages that come closest, each leading to its place.
        closest = answer.locator(".quotes a")
        expect(closest).to_have_count(3)
        quote = closest.first.locator("q").text_content()
        closest.first.click()
        expect(page.locator("dialog mark").first).to_be_visible()
        # A quote may run over paragraphs, each of which is marked.
        assert " ".join(page.locator("dialog mark").all_text_contents()) == quote
        page.keyboard.press("Escape")
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


def test_a_question_can_be_stopped(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        # A server that takes its time.
        held = []

        def hold(route):
            held.append(route)

        page.route("**/ask/stream", hold)
        page.get_by_label("Your question").fill(web.QUESTION)
        page.get_by_role("button", name="Ask", exact=True).click()
        page.get_by_role("button", name="Stop").click()
        expect(page.locator(".turn")).to_contain_text("Stopped before the answer was ready.")
        held[0].abort()
        page.unroute("**/ask/stream")
        web.ask(page)
        expect(page.locator(".answer")).to_contain_text("Vistula")


def test_an_answer_comes_back_whole_after_a_reload_and_is_copied_and_rated(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"],
                             permissions=["clipboard-read", "clipboard-write"]) as page:
        web.ask(page, "Where was Marie Curie born?")
        page.get_by_role("button", name="Helpful", exact=True).click()
        expect(page.locator("#status")).to_have_text("Your rating has been saved.")
        page.get_by_role("button", name="Copy").click()
        expect(page.locator("#status")).to_have_text("Copied.")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("**Where was Marie Curie born?**")
        assert "[^1]: marie-curie.md: \u201cShe was born in Warsaw" in copied
        evidence = page.get_by_text("Show evidence in the graph")
        expect(evidence).to_be_visible()
        before = page.locator(".turn .answer").inner_text()
        page.reload()
        expect(page.locator(".turn .answer .quotes a")).to_have_count(1)
        expect(evidence).to_be_visible()
        assert page.locator(".turn .answer").inner_text() == before
        expect(page.get_by_role("button", name="Helpful", exact=True)).to_have_attribute("aria-pressed", "true")
        page.get_by_text("How this was found").click()
        expect(page.locator(".trace")).to_contain_text("First look")
        page.get_by_text("Graph facts behind it").click()
        expect(page.locator(".facts-fold")).to_contain_text("Marie Curie born in Warsaw")


def test_conversations_are_listed_renamed_shared_and_deleted(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"], expected=("404",)) as page:
        web.ask(page, "When did Otto Hahn die?")
        page.get_by_role("button", name="New conversation").click()
        expect(page.locator(".turn")).to_have_count(0)
        web.ask(page, "Where did Ernest Rutherford die?")
        page.get_by_role("button", name="Rename").click()
        page.get_by_role("dialog").get_by_label("Title").fill("Rutherford's death")
        page.keyboard.press("Enter")
        listed = page.locator(".talks-list a")
        expect(listed.first).to_contain_text("Rutherford's death")
        page.get_by_role("button", name="Share").click()
        link = page.get_by_role("dialog").get_by_label("Link").input_value()
        page.get_by_role("button", name="Close").click()
        with browsing.opened(web_browser, web_server, link.removeprefix(f"{web_server}/")) as other:
            expect(other.get_by_role("heading", name="Rutherford's death")).to_be_visible()
            expect(other.locator(".answer")).to_contain_text("Cambridge")
            expect(other.get_by_label("Your question")).to_have_count(0)
        page.locator(".talks-list a", has_text="When did Otto Hahn die?").first.click()
        expect(page.locator(".answer")).to_contain_text("1968")
        expect(page.locator(".talks-list a[aria-current]")).to_contain_text("Otto Hahn")  # the last that is shown
        page.get_by_role("button", name="Delete").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.locator("#status")).to_have_text("The conversation has been deleted.")
        expect(page.locator(".turn")).to_have_count(0)


@pytest.mark.slow
def test_a_question_is_limited_to_some_documents(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        expect(page.locator(".scope")).to_have_text("Searches all documents")
        page.get_by_role("button", name="Options").click()
        page.get_by_label("Only in").fill("marie-*")
        expect(page.locator(".scope")).to_have_text("Only in: marie-*")
        web.ask(page, "Where was Marie Curie born?")
        expect(page.locator(".turn")).to_contain_text("Only in: marie-*")
        places = page.locator(".answer .quotes a")
        expect(places.first).to_be_visible()
        assert {"marie-curie.md" in place for place in places.all_text_contents()} == {True}


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
        page.locator(".entity-table tbody button", has_text="Marie Curie").first.click()
        page.wait_for_selector(".entity .fact button")
        page.evaluate(UNFOLD)
        found["entity"] = browsing.violations(page)
        page.locator(".entity .fact:has(.relation) > button.quiet").last.click()
        page.locator("dialog input[value=correct]").check()
        found["correction"] = browsing.violations(page)
    assert not any(found.values()), {name: lines for name, lines in found.items() if lines}


def test_a_narrow_screen_shows_all_of_it_without_scrolling_sideways(web_browser, web_server):
    with browsing.opened(web_browser, web_server, viewport={"width": 390, "height": 800}) as page:
        for name, path in web.VIEWS.items():
            browsing.visit(page, web_server, path)
            page.wait_for_selector("h1")
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 390, (name, wide)
            if name in ("documents", "schema"):
                page.locator(".table").first.wait_for()
                assert all(table.evaluate("(one) => one.scrollWidth <= one.clientWidth")
                           for table in page.locator(".table").all()), name
                boxes = [one.bounding_box() for one in page.locator("tbody tr").first.get_by_role("button").all()]
                assert all(box["x"] + box["width"] <= 390 for box in boxes), name


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving.served(tmp_path_factory.mktemp("first")) as server:
        yield server


def test_the_sample_leads_from_an_empty_page_to_an_answered_example(web_browser, server):
    with browsing.opened(web_browser, server.url) as page:
        expect(page.get_by_role("heading", name="Ask your documents")).to_be_visible()
        expect(page.locator(".dropzone")).to_be_visible()
        expect(page.get_by_text("No language model: answers come from rules.")).to_be_visible()
        assert not browsing.violations(page)
        page.get_by_role("button", name="Try the sample").click()
        examples = page.locator(".suggestion")
        expect(examples.first).to_be_visible()
        asked = examples.first.text_content()
        examples.first.click()
        page.wait_for_selector(".turn[aria-busy=false] .answer")
        expect(page.locator(".turn .question")).to_have_text(asked)
        expect(page.locator(".answer.abstained")).to_have_count(0)
        expect(page.locator(".answer").get_by_role("link", name="Source 1").first).to_be_visible()


def test_a_model_is_set_tried_and_taken_back_from_the_page(web_browser, server):
    key = "sk-of-the-page"
    answers = llm_server.scripted_brain()

    def script(body):
        return body["messages"][-1]["content"].partition("this JSON object and nothing else: ")[2] or answers(body)

    with (llm_server.LlmServer(script, key=key) as llm,
          browsing.opened(web_browser, server.url, expected=("422",)) as page):
        page.get_by_role("button", name="Set a model").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Endpoint").fill(llm.base_url)
        dialog.get_by_label("Model", exact=True).fill("scripted")
        dialog.get_by_label("Key").fill("wrong")
        dialog.get_by_role("button", name="Test").click()
        expect(dialog.get_by_role("alert")).to_contain_text("refused the key")
        dialog.get_by_role("button", name="Use this model").click()
        expect(dialog).to_contain_text("The model did not answer the test.")
        expect(dialog.get_by_role("button", name="Use it anyway")).to_be_visible()
        dialog.get_by_label("Key").fill(key)
        dialog.get_by_role("button", name="Test").click()
        expect(dialog.locator(".good")).to_contain_text("The model answered")
        assert not browsing.violations(page)
        dialog.get_by_role("button", name="Use this model").click()
        expect(page.locator(".model")).to_contain_text("scripted at 127.0.0.1")
        expect(page.locator(".model")).to_contain_text("with a key")
        if page.locator(".suggestion").count():  # after the sample was built, the model is what answers
            before = len(llm.requests)
            page.locator(".suggestion").first.click()
            page.wait_for_selector(".turn[aria-busy=false]")
            assert len(llm.requests) > before
            page.get_by_role("button", name="New conversation").click()
        # The key is in the server's memory and nowhere else.
        assert key not in page.content()
        kept = [path for path in server.home.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
        assert not kept
        assert key not in server.said
        page.get_by_role("button", name="Change the model").click()
        page.get_by_role("button", name="Answer with rules").click()
        expect(page.locator(".model")).to_contain_text("answers come from rules")
