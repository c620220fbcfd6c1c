"""A model whose replies wait before their end: claims reach clients of `banyan serve` and of LangGraph before that."""

import json
import shutil
import subprocess
import time
from functools import reduce
from operator import add
from pathlib import Path

import httpx
import pytest
from langchain_core.messages import AIMessageChunk
from langgraph_sdk import get_sync_client
from playwright.sync_api import expect

from .. import browsing, langgraph_server, llm_server, rest, serving, web
from ..waiting import wait_for

pytestmark = pytest.mark.integration

FIRST, SECOND = "Marie Curie was born in Warsaw.", "Warsaw lies in Poland."
CLAIMS = [{"text": text, "quotes": [{"item": 1, "words": text}], "unstated": ""} for text in (FIRST, SECOND)]
ANSWER = f"{FIRST} [1]\n{SECOND} [2]"


REPLY = json.dumps({"thought": "", "lookups": [], "answerable": True, "claims": CLAIMS, "short": "Warsaw",
                    "confidence": 0.9})


def script(body):
    """The brain's answers; those of the agent have two claims."""
    return REPLY if llm_server.brain.step(body) == "decompose" else llm_server.brain.reply(body)


@pytest.fixture(scope="module")
def endpoint():
    with llm_server.LlmServer(script) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def server(tmp_path_factory, endpoint):
    with serving.served(tmp_path_factory.mktemp("streaming"), BANYAN_LLM_BASE_URL=endpoint.base_url,
                        BANYAN_LLM_MODEL="scripted") as server:
        with httpx.Client(base_url=server.url, timeout=60) as client:
            assert rest.built(client, "kb", {"curie.md": f"{FIRST} {SECOND}"})["state"] == "done"
        yield server


@pytest.fixture
def may_end(endpoint):
    """The model's replies wait for it before their end."""
    endpoint.may_end.clear()
    yield endpoint.may_end
    endpoint.may_end.set()


def events(client, question):
    with client.stream("POST", f"{rest.KB}/kb/ask/stream", json={"question": question}) as stream:
        yield from rest.events(stream.iter_lines())


def test_rests_events_have_each_claim_before_the_reply_ends(client, may_end):
    seen, claims = [], []
    for event in events(client, "Where was Marie Curie born?"):
        seen.append(event)
        if event.name == "claim":
            claims.append(event.data)
            if len(claims) == len(CLAIMS):
                may_end.set()
    assert "\n".join(claim["text"] for claim in claims) == ANSWER
    assert [one["quote"] for claim in claims for one in claim["citations"]] == [FIRST, SECOND]
    assert "".join(event.data["text"] for event in seen if event.name == "token") == ANSWER
    assert (seen[-1].name, seen[-1].data["answer"]) == ("answer", ANSWER)
    assert "withdrawn" not in {event.name for event in seen}


@pytest.mark.usefixtures("may_end")
def test_a_client_that_goes_ends_the_models_reply(client, endpoint):
    asked = events(client, "In which town was Marie Curie born?")
    assert any(event.name == "claim" for event in asked)
    asked.close()
    wait_for(lambda: endpoint.stats.hung_up == 1)


def below_question(element):
    """How far an element is below the question, asked at once: the page draws the answer anew meanwhile."""
    return element.evaluate("""(one) => one.getBoundingClientRect().y
        - document.querySelector(".turn .question").getBoundingClientRect().y""")


@web.needs_chromium
def test_the_page_shows_each_claim_where_the_answer_will_stand(web_browser, server, may_end):
    with browsing.opened(web_browser, server.url, "#/ask?kb=kb") as page:
        page.get_by_label("Your question").fill("At which place was Marie Curie born?")
        page.keyboard.press("Enter")
        claims = page.locator(".turn[aria-busy=true] .answer .prose > p")
        expect(claims).to_have_count(2)
        expect(claims.first.locator("a.mark")).to_have_text("1")
        expect(page.locator(".answer .progress")).to_contain_text("Writing the answer")
        before = below_question(claims.first)
        may_end.set()
        page.wait_for_selector(".turn[aria-busy=false] .answer .short")
        final = page.locator(".answer .prose > p")
        expect(final).to_have_count(2)
        assert below_question(final.first) == pytest.approx(before, abs=0.5)


PAGE = Path(__file__).parent.parent / "use_stream"
QUESTION = {"messages": [{"role": "user", "content": "Where was Marie Curie born?"}]}
LOOK = json.dumps({"thought": "", "lookups": [{"tool": "entity_search", "entity": "Warsaw"}], "answerable": False,
                   "claims": [], "short": "", "confidence": 0.0})
SILENT = 60.0
"""Seconds that a request of a build waits, were it not cancelled."""


@pytest.fixture(scope="module")
def looking():
    """A model that looks something up and then answers with two claims; the end of that reply waits for `may_end`."""
    def look_first(body):
        step = llm_server.brain.step(body)
        if step == "reflect":
            endpoint.may_end.clear()
        return {"decompose": LOOK, "reflect": REPLY}.get(step) or llm_server.brain.reply(body)

    with llm_server.LlmServer(look_first) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def url(tmp_path_factory, looking):
    """A server whose knowledge base `kb` has one document; no call in it may block its event loop."""
    folder, log = tmp_path_factory.mktemp("server"), tmp_path_factory.mktemp("log") / "log"
    with langgraph_server.langgraph_dev(
            langgraph_server.project_in(folder), log, BANYAN_LLM_BASE_URL=looking.base_url,
            BANYAN_LLM_MODEL="scripted", BANYAN_LLM_RETRIES="0") as url:
        with get_sync_client(url=url) as client:
            report = construct(client, documents=[{"id": "curie.md", "text": f"{FIRST} {SECOND}"}])
        assert (report["chunks"], report["chunks_failed"], report["stopped"]) == (1, 0, "")
        assert report["tokens"]["calls"] > 0
        yield url
    assert "BlockingError" not in log.read_text("utf-8")


def construct(client, **given):
    return client.runs.wait(None, "construction", input={"knowledge_base": "kb"} | given)["report"]


@pytest.fixture
def reply_may_end(looking):
    yield looking.may_end
    looking.may_end.set()


def streamed(client, given):
    """What `useStream` asks for."""
    thread = client.threads.create()["thread_id"]
    return client.runs.stream(thread, "retrieval", input=given, stream_subgraphs=True,
                              stream_mode=["values", "messages-tuple"])


def joined(messages):
    return reduce(add, (AIMessageChunk(content=message["content"], id=message["id"]) for message in messages))


@pytest.mark.slow
def test_by_the_sdk_lookups_are_tool_calls_and_the_answer_grows_in_one_message(url, reply_may_end):
    parts, seen = [], {}
    with get_sync_client(url=url) as client:
        for part in streamed(client, QUESTION):
            if part.event.startswith("messages"):
                message = part.data[0]
                parts.append(message["type"])
                seen.setdefault(message["id"], []).append(message)
                if parts.count("AIMessageChunk") == len(CLAIMS):
                    reply_may_end.set()
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
    assert joined(answer).text.startswith(ANSWER.replace("\n", "  \n") + "\n\nSources:  \n[1] curie.md, ")


@pytest.mark.slow
def test_a_cancelled_build_neither_waits_for_the_model_nor_keeps_the_lock(url, looking):
    niels = {"id": "niels.md", "text": "Niels Bohr was born in Copenhagen."}
    asked = len(looking.requests)
    with get_sync_client(url=url) as client:
        looking.odds.append(llm_server.Odds(llm_server.Fault("stall", seconds=SILENT), 1.0))
        thread = client.threads.create()["thread_id"]
        begun = client.runs.create(thread, "construction", input={"knowledge_base": "kb", "documents": [niels]})
        wait_for(lambda: len(looking.requests) > asked)
        started = time.monotonic()
        client.runs.cancel(thread, begun["run_id"], wait=True)
        looking.odds.clear()
        report = construct(client)
    assert time.monotonic() - started < SILENT / 2
    assert (report["documents"], report["chunks_failed"], report["stopped"]) == (2, 0, "")


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


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("npm"), reason="there is no npm")
@web.needs_chromium
def test_on_a_page_of_use_stream_the_same_is_shown(url, chat_page, web_browser, reply_may_end):
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
    reply_may_end.set()
    expect(page.locator("main")).to_have_attribute("aria-busy", "false")
    expect(answer).to_contain_text("Sources: [1] curie.md, characters 0-31")
    expect(page.locator("article")).to_have_count(4)
    page.close()
