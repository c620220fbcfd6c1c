"""The LangServe chat of `banyan serve`, by LangServe's own client and, for the playground, as a browser gets it."""

from contextlib import closing
from urllib.parse import urlsplit

import httpx
import pytest
from langserve import RemoteRunnable

from .. import browsing

pytestmark = pytest.mark.integration

QUESTION = "When was Marie Curie born?"
ASKED = {"messages": [("user", QUESTION)]}


@pytest.fixture(scope="module")
def chat(web_server):
    return RemoteRunnable(f"{web_server}/chat/kb/english")


def test_an_answer_comes_with_what_it_rests_on(chat):
    answer = chat.invoke(ASKED)
    assert "7 November 1867" in answer.content
    assert answer.content.endswith("[1]")
    rests_on = answer.additional_kwargs
    assert (rests_on["abstained"], rests_on["grade"]) == (False, "stated")
    (citation,) = rests_on["citations"]
    assert (citation["id"], citation["document"]) == (1, "marie-curie.md")
    assert citation["quote"] in answer.content


class TestPlayground:
    def test_a_browser_chats_and_asks_nobody_else(self, web_server, web_browser):
        with closing(web_browser.new_page()) as page:
            watch = browsing.Watch(urlsplit(web_server).netloc, ())
            watch.follow(page)
            # LangServe's page sends a message without its name while the schemas of input and output are on their way.
            page.goto(f"{web_server}/chat/kb/english/playground/", wait_until="networkidle")
            page.locator("textarea").fill(QUESTION)
            page.locator("textarea").press("Enter")
            page.get_by_text("She was born in Warsaw on 7 November 1867").first.wait_for(timeout=browsing.WAIT)
        assert watch.faults == []

    def test_files_of_elsewhere_are_not_served(self, web_server):
        for path in ("..%2f..%2fplayground.py", "%2e%2e/%2e%2e/playground.py", "assets/../../../server.py"):
            assert httpx.get(f"{web_server}/chat/kb/english/playground/{path}").status_code == 404
