"""What chat pages show of a run in LangGraph's server while its model still writes: lookups, claims, sources."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk
from langgraph_sdk import get_sync_client
from playwright.sync_api import expect

from .. import langgraph_server, llm_server, web

pytestmark = [pytest.mark.integration, pytest.mark.slow]

FIRST, SECOND = "Marie Curie was born in Warsaw.", "Warsaw lies in Poland."
CLAIMS = [{"text": text, "quotes": [{"item": 1, "words": text}], "unstated": ""} for text in (FIRST, SECOND)]
ANSWER = f"{FIRST} [1]  \n{SECOND} [2]"
PAGE = Path(__file__).parent.parent / "use_stream"
QUESTION = {"messages": [{"role": "user", "content": "Where was Marie Curie born?"}]}
LOOKED_UP = {"tool": "entity_search", "entity": "Warsaw"}


@pytest.fixture(scope="module")
def endpoint():
    """A model that looks something up and then answers with two claims; the end of that reply waits for `may_end`."""
    def script(body: dict[str, Any]) -> str:
        step = llm_server.brain.step(body)
        if step not in {"decompose", "reflect"}:
            return llm_server.brain.reply(body)
        if answers := step == "reflect":
            endpoint.may_end.clear()
        return json.dumps({"thought": "", "lookups": [] if answers else [LOOKED_UP], "answerable": answers,
                           "claims": CLAIMS if answers else [], "short": "", "confidence": 0.9 * answers})

    with llm_server.LlmServer(script) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def url(tmp_path_factory, endpoint):
    folder = tmp_path_factory.mktemp("server")
    with langgraph_server.scripted_server(folder, endpoint.base_url, f"{FIRST} {SECOND}") as url:
        yield url


@pytest.fixture
def may_end(endpoint):
    yield endpoint.may_end
    endpoint.may_end.set()


def streamed(client: Any, given: dict[str, Any]) -> Iterator[Any]:
    """What `useStream` asks for."""
    thread = client.threads.create()["thread_id"]
    return client.runs.stream(thread, "retrieval", input=given, stream_subgraphs=True,
                              stream_mode=["values", "messages-tuple"])


def joined(messages: list[dict[str, Any]]) -> AIMessageChunk:
    return reduce(add, (AIMessageChunk(content=message["content"], id=message["id"]) for message in messages))


def test_by_the_sdk_lookups_are_tool_calls_and_the_answer_grows_in_one_message(url, may_end):
    parts, seen = [], {}
    with get_sync_client(url=url) as client:
        for part in streamed(client, QUESTION):
            if part.event.startswith("messages"):
                message = part.data[0]
                parts.append(message["type"])
                seen.setdefault(message["id"], []).append(message)
                if parts.count("AIMessageChunk") == len(CLAIMS):
                    may_end.set()
            elif part.event.startswith("values"):
                state = part.data["messages"]
    assert parts == ["ai", "tool", *["AIMessageChunk"] * 3]
    calls, result, answer = seen.values()
    (call,) = calls[0]["tool_calls"]
    assert (call["name"], call["args"]) == ("entity_search", {"entity": "Warsaw"})
    assert call["id"] == result[0]["tool_call_id"]
    assert result[0]["content"] == "<- born in: Marie Curie (curie.md)"
    assert [message["id"] for message in state[1:]] == [*seen]
    assert joined(answer).text == "".join(block["text"] for block in state[-1]["content"])
    assert joined(answer).text.startswith(f"{ANSWER}\n\nSources:  \n[1] curie.md, ")


@pytest.fixture(scope="module")
def chat_page(tmp_path_factory):
    """The script of a page around the real `useStream`, of npm."""
    folder = tmp_path_factory.mktemp("npm") / "page"
    shutil.copytree(PAGE, folder)
    commands = (["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"],
                ["node_modules/.bin/esbuild", "page.jsx", "--bundle", "--jsx=automatic", "--outfile=page.js"])
    for command in commands:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode and command[0] == "npm":
            pytest.skip(f"npm cannot install what the page is made of: {done.stderr[-300:]}")
        assert done.returncode == 0, done.stderr
    return (folder / "page.js").read_text("utf-8")


@pytest.mark.skipif(not shutil.which("npm"), reason="there is no npm")
@web.needs_chromium
def test_on_a_page_of_use_stream_the_same_is_shown(url, chat_page, web_browser, may_end):
    page = web_browser.new_page()
    html = "<!doctype html><body><script src='/chat/page.js'></script>"
    page.route(f"{url}/chat/", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.route(f"{url}/chat/page.js", lambda route: route.fulfill(body=chat_page, content_type="text/javascript"))
    page.goto(f"{url}/chat/")
    page.get_by_label("Question").fill("In which town was Marie Curie born?")  # another one, as replies are cached
    page.keyboard.press("Enter")
    answer = page.locator("article.ai").nth(1)
    expect(answer).to_contain_text("Warsaw lies in Poland. [2]")
    expect(page.locator("main")).to_have_attribute("aria-busy", "true")
    expect(page.locator("article.ai code")).to_have_text('entity_search {"entity":"Warsaw"}')
    expect(page.locator("article.tool")).to_have_text("<- born in: Marie Curie (curie.md)")
    may_end.set()
    expect(page.locator("main")).to_have_attribute("aria-busy", "false")
    expect(answer).to_contain_text("Sources: [1] curie.md, characters 0-31")
    expect(page.locator("article")).to_have_count(4)
    page.close()
