"""`banyan serve` with a model that writes slowly: claims reach every client before the model's reply ends."""

import json
import time

import httpx
import openai
import pytest
from playwright.sync_api import expect

from .. import browsing, llm_server, rest, serving, sse, web
from ..waiting import wait_for

pytestmark = pytest.mark.integration

RATE = 200
SECONDS = 2
FIRST, SECOND = "Marie Curie was born in Warsaw.", "Warsaw lies in Poland."
CLAIMS = [{"text": text, "quotes": [{"item": 1, "words": text}], "unstated": ""} for text in (FIRST, SECOND)]
ANSWER = f"{FIRST} [1]\n{SECOND} [2]"


def script(body):
    """The brain's answers; those of the agent have two claims, and go on for two seconds behind them."""
    if llm_server.brain.step(body) != "decompose":
        return llm_server.brain.reply(body)
    rest_of_it = "so " * (RATE * SECONDS * llm_server.wire.TOKEN // 3)
    return json.dumps({"thought": "", "lookups": [], "keep": [], "answerable": True, "claims": CLAIMS,
                       "short": "Warsaw", "confidence": 0.9, "rest": rest_of_it})


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
        endpoint.rate = RATE
        yield server


@pytest.fixture(scope="module")
def client(server):
    with httpx.Client(base_url=server.url, timeout=60) as client:
        yield client


def events(client, question):
    """(when, name, data) of each event."""
    with client.stream("POST", f"{rest.KB}/kb/ask/stream", json={"question": question}) as stream:
        yield from ((time.monotonic(), event.name, event.data) for event in sse.events(stream.iter_lines()))


def test_rests_events_have_each_claim_before_the_reply_ends(client):
    seen = list(events(client, "Where was Marie Curie born?"))
    claims = [(when, data) for when, name, data in seen if name == "claim"]
    assert "\n".join(data["text"] for _, data in claims) == ANSWER
    assert [one["quote"] for _, data in claims for one in data["citations"]] == [FIRST, SECOND]
    assert "".join(data["text"] for _, name, data in seen if name == "token") == ANSWER
    ended, name, answer = seen[-1]
    assert (name, answer["answer"]) == ("answer", ANSWER)
    assert ended - claims[-1][0] > SECONDS / 2
    assert "withdrawn" not in {name for _, name, _ in seen}


def test_chunks_of_openais_protocol_have_them_too(server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none") as client:
        chunks = [(time.monotonic(), chunk.choices[0].delta.content or "") for chunk in client.chat.completions.create(
            model="kb", messages=[{"role": "user", "content": "Where was Curie born?"}], stream=True)]
    text = "".join(content for _, content in chunks)
    assert text.startswith(f"{ANSWER}\n\n[1] ")
    early = [content for when, content in chunks if chunks[-1][0] - when > SECONDS / 2]
    assert "".join(early) == ANSWER


def test_a_client_that_goes_ends_the_models_reply(client, endpoint):
    asked = events(client, "In which town was Marie Curie born?")
    assert any(name == "claim" for _, name, _ in asked)
    asked.close()
    wait_for(lambda: endpoint.stats.hung_up == 1)


def below_question(page, element):
    """How far an element is below the question."""
    return element.bounding_box()["y"] - page.locator(".turn .question").bounding_box()["y"]


@web.needs_chromium
def test_the_page_shows_each_claim_where_the_answer_will_stand(web_browser, server):
    with browsing.opened(web_browser, server.url, "#/ask?kb=kb") as page:
        page.get_by_label("Your question").fill("At which place was Marie Curie born?")
        page.keyboard.press("Enter")
        claims = page.locator(".turn[aria-busy=true] .answer .prose > p")
        expect(claims).to_have_count(2)
        expect(claims.first.locator("a.mark")).to_have_text("1")
        expect(page.locator(".answer .progress")).to_contain_text("Writing the answer")
        browsing.shoot(page, "claims")
        before = below_question(page, claims.first)
        page.wait_for_selector(".turn[aria-busy=false] .answer .short")
        final = page.locator(".answer .prose > p")
        expect(final).to_have_count(2)
        assert below_question(page, final.first) == pytest.approx(before, abs=0.5)
        browsing.shoot(page, "answered")
