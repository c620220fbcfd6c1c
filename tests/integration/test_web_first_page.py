"""What a visitor meets first, in a real browser: no knowledge base yet, the sample, examples, and setting a model."""


import pytest

from .. import browsing, llm_server, serving
from ..browsing import expect

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not browsing.CHROMIUM.exists(), reason=f"there is no Chromium at {browsing.CHROMIUM}"),
]


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
        browsing.shoot(page, "first-page")
        page.get_by_role("button", name="Try the sample").click()
        examples = page.locator(".suggestion")
        expect(examples.first).to_be_visible()
        browsing.shoot(page, "examples")
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
        return '{"ready": true}' if '"ready": true' in body["messages"][-1]["content"] else answers(body)

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
        browsing.shoot(page, "model")
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
