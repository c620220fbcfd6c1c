"""`banyan serve` with a model whose replies wait before their end: claims reach every client before that."""

import json

import httpx
import pytest
from playwright.sync_api import expect

from .. import browsing, llm_server, rest, serving, sse, web
from ..waiting import wait_for

pytestmark = pytest.mark.integration

FIRST, SECOND = "Marie Curie was born in Warsaw.", "Warsaw lies in Poland."
CLAIMS = [{"text": text, "quotes": [{"item": 1, "words": text}], "unstated": ""} for text in (FIRST, SECOND)]
ANSWER = f"{FIRST} [1]\n{SECOND} [2]"


def script(body):
    """The brain's answers; those of the agent have two claims."""
    if llm_server.brain.step(body) != "decompose":
        return llm_server.brain.reply(body)
    return json.dumps({"thought": "", "lookups": [], "answerable": True, "claims": CLAIMS,
                       "short": "Warsaw", "confidence": 0.9})


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


@pytest.fixture(scope="module")
def client(server):
    with httpx.Client(base_url=server.url, timeout=60) as client:
        yield client


@pytest.fixture
def may_end(endpoint):
    """The model's replies wait for it before their end."""
    endpoint.may_end.clear()
    yield endpoint.may_end
    endpoint.may_end.set()


def events(client, question):
    with client.stream("POST", f"{rest.KB}/kb/ask/stream", json={"question": question}) as stream:
        yield from sse.events(stream.iter_lines())


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


def below_question(page, element):
    """How far an element is below the question."""
    return element.bounding_box()["y"] - page.locator(".turn .question").bounding_box()["y"]


@web.needs_chromium
def test_the_page_shows_each_claim_where_the_answer_will_stand(web_browser, server, may_end):
    with browsing.opened(web_browser, server.url, "#/ask?kb=kb") as page:
        page.get_by_label("Your question").fill("At which place was Marie Curie born?")
        page.keyboard.press("Enter")
        claims = page.locator(".turn[aria-busy=true] .answer .prose > p")
        expect(claims).to_have_count(2)
        expect(claims.first.locator("a.mark")).to_have_text("1")
        expect(page.locator(".answer .progress")).to_contain_text("Writing the answer")
        browsing.shoot(page, "claims")
        before = below_question(page, claims.first)
        may_end.set()
        page.wait_for_selector(".turn[aria-busy=false] .answer .short")
        final = page.locator(".answer .prose > p")
        expect(final).to_have_count(2)
        assert below_question(page, final.first) == pytest.approx(before, abs=0.5)
        browsing.shoot(page, "answered")
