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
        expect(page.locator(".abstained")).to_contain_text("No short answer was found")
        # The passages that come closest, each leading to its place.
        closest = page.locator(".abstained .quotes a")
        expect(closest).to_have_count(3)
        quote = closest.first.locator("q").text_content()
        closest.first.click()
        expect(page.locator("dialog mark").first).to_be_visible()
        # A quote may run over paragraphs, each of which is marked.
        assert " ".join(page.locator("dialog mark").all_text_contents()) == quote
        page.keyboard.press("Escape")
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


def test_a_question_that_failed_is_tried_again_in_its_place_and_the_model_checked(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"], expected=("ERR_FAILED",)) as page:
        page.route("**/ask/stream", lambda route: route.abort())
        page.get_by_label("Your question").fill(web.QUESTION)
        page.get_by_role("button", name="Ask", exact=True).click()
        turn = page.locator(".turn")
        expect(turn.get_by_role("alert")).to_be_visible()
        browsing.shoot(page, "failed")
        assert not browsing.violations(page)
        turn.get_by_role("button", name="Check the model").click()
        expect(page.get_by_role("dialog", name="Language model")).to_be_visible()
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        page.unroute("**/ask/stream")
        turn.get_by_role("button", name="Try again").click()
        expect(turn.locator(".answer")).to_contain_text("Vistula")
        expect(turn).to_have_count(1)


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


def test_the_composer_covers_no_answer(web_browser, web_server):
    for width in (1280, 390):
        with browsing.opened(web_browser, web_server, web.VIEWS["ask"],
                             viewport={"width": width, "height": 700}) as page:
            web.ask(page)
            page.locator(".turns").evaluate("(one) => { one.scrollTop = one.scrollHeight; }")
            turns, composer = page.locator(".turns").bounding_box(), page.locator(".composer").bounding_box()
            assert turns["y"] + turns["height"] <= composer["y"]
            assert composer["y"] + composer["height"] <= 700
            assert turns["height"] > 250


def test_what_to_ask_next_is_about_the_answer(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        web.ask(page, "When was Marie Curie born?")
        follow_up = page.locator(".follow-ups .suggestion").first
        asked = follow_up.text_content()
        assert "Marie Curie" in asked or "Warsaw" in asked, asked
        follow_up.click()
        expect(page.locator(".turn .question").nth(1)).to_have_text(asked)
        expect(page.locator(".turn[aria-busy=false] .answer")).to_have_count(2)


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
        link = page.get_by_label("Link").input_value()
        browsing.shoot(page, "share")
        page.get_by_role("button", name="Close").click()
        with browsing.opened(web_browser, web_server, link.removeprefix(f"{web_server}/")) as other:
            expect(other.get_by_role("heading", name="Rutherford's death")).to_be_visible()
            expect(other.locator(".answer")).to_contain_text("Cambridge")
            expect(other.get_by_label("Your question")).to_have_count(0)
        page.locator(".talks-list a", has_text="When did Otto Hahn die?").first.click()
        expect(page.locator(".answer")).to_contain_text("1968")
        browsing.shoot(page, "conversations")
        page.get_by_role("button", name="Delete").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.locator("#status")).to_have_text("The conversation has been deleted.")
        expect(page.locator(".turn")).to_have_count(0)


def test_a_source_is_rendered_and_its_quoted_words_are_marked(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        shown = page.evaluate("""async () => {
            const { rendered } = await import("/assets/markdown.js");
            const text = `# A *b* title

Some **bold and more** words [here](x).

- one
- \\`two\\`

| P | Q |
|---|---|
| X200 | 499 USD |

| Product: X | Price: 5 |

<b>no</b>`;
            const place = (words) => ({ from: text.indexOf(words), to: text.indexOf(words) + words.length });
            const [whole] = rendered(text, place("and more** words"));
            const [cell] = rendered(text, place("499"));
            const [plain] = rendered(text, { ...place("**bold"), marked: false });
            const marks = (one) => [...one.querySelectorAll("mark")].map((mark) => mark.textContent);
            const count = (tag) => whole.querySelectorAll(tag).length;
            return { marks: [whole, cell, plain].map(marks), heading: whole.querySelector("h3").textContent,
              counts: ["strong", "em", "li", "code", "th", "td", "b"].map(count), last: whole.lastChild.textContent };
        }""")
        assert shown == {"marks": [["and more", " words"], ["499"], ["**bold"]], "heading": "A b title",
                         "counts": [1, 1, 2, 1, 4, 4, 0], "last": "<b>no</b>"}


def test_a_question_is_limited_to_some_documents(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        expect(page.locator(".scope")).to_have_text("Searches all documents")
        page.get_by_role("button", name="Options").click()
        page.get_by_label("Only in").fill("marie-*")
        expect(page.locator(".scope")).to_have_text("Only in: marie-*")
        web.ask(page, "Where was she born?")
        expect(page.locator(".turn")).to_contain_text("Only in: marie-*")
        places = page.locator(".answer .quotes a")
        expect(places.first).to_be_visible()
        assert {"marie-curie.md" in place for place in places.all_text_contents()} == {True}
        browsing.shoot(page, "scope")


ANSWER = """Polonium decays within months. [1]
She was born in Warsaw. [2]
| Element | Symbol |
|---|---|
| Polonium | Po | [1]
- **first** [2]"""
CITATIONS = [{"id": 1, "quote": "| Element: Polonium | Half life: 138 days |", "document": "elements.md"},
             {"id": 2, "quote": "She was born in Warsaw.", "document": "marie-curie.md"}]
QUOTES = """Found: “order [1]”
“By order [1] No. 3 [see](x)” [1]
Order of 1903: decree [1] [2]"""
SHOW = """async ([text, citations, short = "", grade = "stated"]) => {
    const { answerView } = await import("/assets/ask/answer.js");
    for (const one of citations) Object.assign(one, { start: 0, end: 10 });
    const answer = { answer: text, citations, short, grade, confidence: 0.8, iterations: 1 };
    document.querySelector(".turns").append(answerView("english", { text, answer }));
}"""


def test_a_models_answer_shows_tables_and_a_card_for_each_citation(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        page.evaluate(SHOW, [ANSWER, CITATIONS])
        answer = page.locator(".answer")
        expect(answer.locator("th")).to_have_text(["Element", "Symbol"])
        expect(answer.locator("td a.mark")).to_have_text("1")
        expect(answer.locator("li strong")).to_have_text("first")
        assert "|" not in answer.inner_text()
        card = page.get_by_role("tooltip")
        expect(card).to_have_count(0)
        answer.locator("a.mark").first.hover()
        expect(card).to_contain_text("Element: Polonium · Half life: 138 days")
        expect(card).to_contain_text("elements.md")
        browsing.shoot(page, "card")
        assert not browsing.violations(page)
        page.mouse.move(0, 0)
        expect(card).to_have_count(0)
        answer.locator("a.mark").nth(1).focus()
        expect(card).to_contain_text("She was born in Warsaw.")
        page.keyboard.press("Escape")
        expect(card).to_have_count(0)


STEPS = [
    {"step": "question", "round": 1, "text": "On which river was she born?"},
    {"step": "first_look", "round": 1, "total": 5, "found": [{"text": "Curie: Born.", "documents": ["curie.md"]}]},
    {"step": "decompose", "round": 1, "text": "Her birthplace is missing.", "lookups": ["entity_search: Marie Curie"],
     "notes": ["cap of lookups: left out dfs_search: Marie Curie"]},
    {"step": "search", "round": 2, "tool": "entity_search", "text": "entity_search: Marie Curie, relations born_in",
     "total": 1, "found": [{"text": "Marie Curie -> born_in: Warsaw", "documents": ["curie.md", "warsaw.md"]}]},
    {"step": "search", "round": 2, "tool": "triple_search", "text": "triple_search: lies_on", "notes": ["no such row"]},
    {"step": "reflect", "round": 2, "sufficient": True, "text": "Warsaw lies on the Vistula."},
    {"step": "answer", "round": 2, "grade": "inferred"}]
TRACE = """async (steps) => {
    const { traceView } = await import("/assets/ask/trace.js");
    document.querySelector(".turns").append(traceView({ question: "Where?", steps }, true));
}"""


def test_a_trace_shows_each_rounds_thought_and_lookups(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        page.evaluate(TRACE, STEPS)
        trace = page.locator(".trace")
        expect(trace.locator("summary").first).to_have_text("How this was found 2 lookups")
        expect(trace).to_contain_text("Understood as: On which river was she born?")
        expect(trace.locator("h3")).to_have_text(["First look", "Round 2"])
        first, second = trace.locator(".round").all()
        expect(first).to_contain_text("5 found")
        expect(second).to_contain_text("cap of lookups: left out dfs_search")
        expect(second.locator("summary")).to_have_text(
            ["Entity Marie Curie, relations born_in 1 found", "Table lies_on 0 found"])
        shown = second.inner_text()
        assert shown.index("Her birthplace is missing.") < shown.index("Entity")
        assert shown.index("Table") < shown.index("Warsaw lies on the Vistula.")
        second.locator("summary").first.click()
        expect(second.locator(".search[open] a")).to_have_text(["curie.md", "warsaw.md"])
        browsing.shoot(page, "rounds")
        assert not browsing.violations(page)


def test_an_answer_has_a_badge_for_its_grade(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        said = "The river is the Vistula. (Inferred; not stated: her birthplace) [1]"
        for grade, badge, why in (("stated", "Stated", "state every link"),
                                  ("inferred", "Inferred", "do not state every link"),
                                  ("none", "Not from the documents", "no document supports")):
            page.evaluate(SHOW, [said, CITATIONS, "Vistula", grade])
            chip = page.locator(".answer .chip").last
            expect(chip).to_have_text(badge)
            assert why in chip.get_attribute("title")
            browsing.shoot(page, grade)
        assert not browsing.violations(page)


def test_the_mode_is_chosen_and_shown(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        page.get_by_role("button", name="Options").click()
        for mode, shown in (("strict", "nothing inferred"), ("open", "allow own knowledge")):
            page.get_by_label("Answer", exact=True).select_option(mode)
            expect(page.locator(".composer .scope")).to_contain_text(shown)


def test_a_documents_own_brackets_are_no_citations(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        page.evaluate(SHOW, [QUOTES, CITATIONS, "order [1]"])
        answer = page.locator(".answer")
        expect(answer.locator(".short")).to_have_text("order [1]")
        expect(answer.locator(".quotes a")).to_have_count(2)
        expect(answer.locator(".quotes q")).to_have_text(["By order [1] No. 3 [see](x)"])
        expect(answer.locator(".quotes span")).to_have_text(["Order of 1903: decree [1]"])
        expect(answer.locator("a.mark")).to_have_count(0)
        assert "Found: " not in answer.inner_text()


def test_the_question_stands_once_and_the_model_and_the_scope_always(web_browser, web_server):
    with browsing.opened(web_browser, web_server, web.VIEWS["ask"]) as page:
        for shown in (False, True):
            expect(page.locator(".composer .model")).to_contain_text("answers come from rules")
            expect(page.locator(".composer .scope")).to_be_visible()
            expect(page.get_by_label("Only in")).to_be_hidden()
            if not shown:
                web.ask(page)
        # Screen readers still hear the title of the conversation as the heading of the page.
        expect(page.locator(".talk h1")).to_have_class("unseen")
        expect(page.locator(".turn .question")).to_have_text(web.QUESTION)
