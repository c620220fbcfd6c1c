"""The web page in a real browser: questions, answers, sources and conversations."""

import re

import pytest

from .. import browsing, web
from ..browsing import expect

pytestmark = [pytest.mark.integration, web.needs_chromium]


def test_an_answer_streams_in_with_citations_that_open_the_source_and_a_trace(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        web.ask(page)
        expect(page.locator(".answer .short")).to_have_text("Vistula")
        expect(page.locator("#status")).to_contain_text("Vistula")
        browsing.shoot(page, "ask")
        expect(page.locator(".answer .quotes mark")).to_have_text("Vistula")
        quotes = page.locator(".answer .quotes a")
        expect(quotes).to_have_count(1)
        for one in quotes.all():
            quote = one.locator("q").text_content()
            one.click()
            words = page.locator("dialog mark")
            expect(words).to_have_text(quote)
            expect(words).to_be_in_viewport()
            browsing.shoot(page, "source")
            page.keyboard.press("Escape")
            expect(page.get_by_role("dialog")).to_have_count(0)
            expect(page).to_have_url(re.compile("kb=english$"))
        page.get_by_text("How this was found").click()
        trace = page.locator(".trace")
        trace.locator("summary", has_text="found").last.click()
        expect(trace.locator(".search[open]")).to_contain_text("Warsaw is the capital of Poland")
        expect(trace.locator(".search[open]").get_by_role("link", name="warsaw.md")).to_be_visible()
        browsing.shoot(page, "trace")


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
        browsing.shoot(page, "found")
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
        browsing.shoot(page, "after-reload")


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
        browsing.shoot(page, "share")
        page.get_by_role("button", name="Close").click()
        with browsing.opened(web_browser, web_server, link.removeprefix(f"{web_server}/")) as other:
            expect(other.get_by_role("heading", name="Rutherford's death")).to_be_visible()
            expect(other.locator(".answer")).to_contain_text("Cambridge")
            expect(other.get_by_label("Your question")).to_have_count(0)
        page.locator(".talks-list a", has_text="When did Otto Hahn die?").first.click()
        expect(page.locator(".answer")).to_contain_text("1968")
        expect(page.locator(".talks-list a[aria-current]")).to_contain_text("Otto Hahn")  # the last that is shown
        browsing.shoot(page, "conversations")
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
        browsing.shoot(page, "scope")
