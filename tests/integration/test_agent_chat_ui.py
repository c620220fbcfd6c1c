"""agent-chat-ui, as it is, over Banyan behind `langgraph dev`: what a person sees of lookups, answers and sources.

It is a Next.js project without a package: BANYAN_CHAT_UI names a folder that has it built (tests/README.md).
"""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from .. import browsing, langgraph_server, llm_server, web
from ..ports import free_port
from ..waiting import wait_for

CHAT_UI = Path(os.environ.get("BANYAN_CHAT_UI", ""))
pytestmark = [
    pytest.mark.integration, pytest.mark.slow, web.needs_chromium,
    pytest.mark.skipif(not (CHAT_UI / ".next" / "BUILD_ID").exists(),
                       reason="BANYAN_CHAT_UI names no built agent-chat-ui")]

ADDRESS = "http://localhost:3000"
"""Where agent-chat-ui is by default: `cors` in langgraph.json names it."""
BORN, SHE = "Marie Curie was born in Warsaw.", "She moved to Paris."
PRICES = "A gram of radium cost $120,000 in 1912 and $70,000 in 1929."
ANSWERS = {"born": [BORN, SHE], "cost": [PRICES], "eat": []}


@pytest.fixture(scope="module")
def endpoint():
    """A model that looks something up and then answers; the end of its first answers waits for `may_end`."""
    def script(body: dict[str, Any]) -> str:
        step = llm_server.brain.step(body)
        if step not in {"decompose", "reflect"}:
            return llm_server.brain.reply(body)
        question = llm_server.brain.FENCED.findall(body["messages"][1]["content"])[0]
        texts = next(texts for word, texts in ANSWERS.items() if word in question) if step == "reflect" else []
        if BORN in texts:
            endpoint.may_end.clear()
        claims = [{"text": text, "quotes": [{"item": 1, "words": text}], "unstated": ""} for text in texts]
        lookups = [] if step == "reflect" else [{"tool": "entity_search", "entity": "Warsaw"}]
        return json.dumps({"thought": "", "lookups": lookups, "answerable": bool(texts), "claims": claims, "short": "",
                           "confidence": 0.9 * bool(texts)})

    with llm_server.LlmServer(script) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def url(tmp_path_factory, endpoint):
    folder = tmp_path_factory.mktemp("server")
    with langgraph_server.scripted_server(folder, endpoint.base_url, f"{BORN} {SHE} {PRICES}") as url:
        yield url


@pytest.fixture(scope="module")
def chat(web_browser, url):
    """The page in a browser, which finds `next start` at the page's own address whatever port that has."""
    port = free_port()
    process = subprocess.Popen(
        ["node_modules/.bin/next", "start", "--hostname", "127.0.0.1", "--port", str(port)], cwd=CHAT_UI,
        env=os.environ | {"NEXT_TELEMETRY_DISABLED": "1", "LANGGRAPH_API_URL": url}, stdout=subprocess.DEVNULL,
        start_new_session=True)
    browser = web_browser.browser_type.launch(executable_path=browsing.CHROMIUM, args=[
        *browsing.ARGUMENTS, f"--host-resolver-rules=MAP {ADDRESS.partition('//')[2]} 127.0.0.1:{port}"])
    try:
        wait_for(lambda: _answers(port))
        page = browser.new_page()
        yield page
    finally:
        browser.close()
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def _answers(port):
    try:
        return httpx.get(f"http://127.0.0.1:{port}/").is_success
    except httpx.TransportError:
        return False


def ask(page, question):
    page.get_by_placeholder("Type your message...").fill(question)
    page.keyboard.press("Enter")


def ended(page):
    expect(page.get_by_role("button", name="Send")).to_be_visible()


def lines(answer):
    return [line for line in answer.inner_text().splitlines() if line]


@pytest.mark.parametrize("way", ["direct", "proxy"])
def test_lookups_are_shown_and_an_answer_that_grows_with_its_sources_as_lines(chat, url, endpoint, way):
    chat.goto(f"{ADDRESS}/?assistantId=retrieval&apiUrl={url if way == 'direct' else f'{ADDRESS}/api'}")
    ask(chat, f"Where was Marie Curie born, says the {way} way?")  # another question each time, as replies are cached
    answer = chat.locator(".markdown-content")
    expect(answer).to_contain_text(f"{SHE} [2]")
    expect(chat.get_by_role("button", name="Cancel")).to_be_visible()
    assert lines(answer) == [f"{BORN} [1]", f"{SHE} [2]"]
    expect(chat.get_by_role("row", name="entity Warsaw")).to_be_visible()
    expect(chat.get_by_role("heading", name="Tool Result: entity_search")).to_be_visible()
    endpoint.may_end.set()
    ended(chat)
    assert lines(answer)[2:] == ["Sources:", f'[1] curie.md, characters 0-31: "{BORN}"',
                                 f'[2] curie.md, characters 32-51: "{SHE}"']


def test_a_follow_up_a_question_that_is_not_answered_and_amounts_in_dollars(chat, url):
    chat.goto(f"{ADDRESS}/?assistantId=retrieval&apiUrl={url}")
    for question in ("What did the radium of Marie Curie cost?", "And what did she eat?"):
        ask(chat, question)
        ended(chat)
    first, second = chat.locator(".markdown-content").all()
    assert lines(first)[0] == f"{PRICES} [1]"
    assert "Nothing close to the question was found; these passages come nearest." in lines(second)
    browsing.shoot(chat, "agent-chat-ui")
