"""Claims are read from a reply while it arrives, checked, shown by every face, withdrawn if it does not keep them."""

import json
from io import StringIO

import openai
import pytest
from banyan.agents.retrieval.cited_message import WITHDRAWN
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.cli.commands import ask as command
from banyan.config import Settings
from banyan.models.llm.llm_reasoner import LlmReasoner
from banyan.models.reasoner import ReasonerError, complete_claims
from banyan.server.app import create_app
from rich.console import Console
from starlette.testclient import TestClient

from ... import asking, sse
from ... import scripted_replies as scripted
from ...in_memory_calls import InMemoryCalls

opened, resources = asking.opened, asking.resources

BORN, WAS, claim, reply = scripted.BORN, scripted.WAS, scripted.claim, scripted.reply
TWO = reply(claim("One."), claim("Two."))


@pytest.mark.parametrize(("text", "count"), [
    (TWO, 2), (TWO[:TWO.index("Two.")], 1), (TWO[:TWO.index('}], "unstated')], 0), ("", 0),
    (reply(claim("One.")).replace('"answerable": true, ', "").replace('"short"', '"answerable": true, "short"'), 0),
    (f"```json\n{TWO}", 2), (f"<think>{TWO}</think>{TWO[:TWO.index('Two.')]}", 1),
    (json.dumps({"thought": '"answerable": true, "claims": [{"text": "x"}]'}), 0),
    ('{"answerable": true, "claims": ' + "[" * 100_000, 0)])
def test_claims_are_read_once_they_are_complete_and_the_evidence_suffices(text, count):
    assert len(complete_claims(text)) == count


def events(resources, *replies, **context):
    """What the graph streams of claims, and the answer."""
    endpoint = scripted.StreamingEndpoint(*replies)
    resources.fake = LlmReasoner(Settings(_env_file=None), InMemoryCalls(), lambda _: endpoint)
    seen, answer = [], {}
    for kind, event in build_graph(resources).stream({"knowledge_base": "kb", "question": asking.QUESTION},
                                                     context=AskContext(documents=("ada", "carl"), **context),
                                                     stream_mode=["custom", "values"]):
        if kind == "values":
            answer = event
        elif event["step"] in {"claim", "withdrawn"}:
            seen.append((event["step"], *event["found"]))
            assert all(one["quote"] for one in event.get("citations", ()))
    return seen, answer


def test_each_sound_claim_is_shown_as_a_line_of_the_answer(resources):
    said = reply(claim("She was born in Ulm.", BORN), claim("Invented.", "words of no document"),
                 claim("She was a mathematician.", WAS), claim("Ulm is her birthplace.", BORN))
    shown, answer = events(resources, said)
    assert [step for step, *_ in shown] == ["claim"] * 3
    assert [line for _, line in shown] == answer["answer"].splitlines()[:-1]
    assert [line[-3:] for _, line in shown] == ["[1]", "[2]", "[1]"]


def test_a_claim_of_its_own_is_shown_in_mode_open(resources):
    shown, answer = events(resources, reply({"text": "Mine.", "quotes": []}), mode="open")
    assert shown == [("claim", answer["answer"])]
    assert answer["answer"].endswith("(Not from the documents.)")


def test_a_repair_with_other_claims_withdraws_the_first(resources):
    first, second = reply(claim("She was born in Ulm.", BORN)), reply(claim("She was a mathematician.", WAS))
    shown, answer = events(resources, first[:-20], second)
    assert [step for step, *_ in shown] == ["claim", "withdrawn", "claim"]
    assert shown[-1][1] == answer["answer"]


def test_a_failure_withdraws_all(resources):
    seen = []
    endpoint = scripted.StreamingEndpoint(reply(claim("She was born in Ulm.", BORN)) + "fails")
    resources.fake = LlmReasoner(Settings(_env_file=None), InMemoryCalls(), lambda _: endpoint)
    stream = build_graph(resources).stream({"knowledge_base": "kb", "question": asking.QUESTION},
                                           context=AskContext(documents=("ada", "carl")), stream_mode="custom")
    with pytest.raises(ReasonerError):
        seen.extend(event["step"] for event in stream)
    assert seen[-2:] == ["claim", "withdrawn"]


KEPT = scripted.reply(scripted.claim("She was born in Ulm.", BORN), scripted.claim("She was a mathematician.", WAS))
OTHER = scripted.reply(scripted.claim("She was a mathematician.", WAS))
BROKEN = scripted.reply(scripted.claim("She was born in Ulm.", BORN))[:-20]
LINES = ["She was born in Ulm. [1]", "She was a mathematician. [2]"]


@pytest.fixture
def says(resources):
    """Sets the replies of the model."""
    def says(*replies):
        endpoint = scripted.StreamingEndpoint(*replies)
        resources.fake = LlmReasoner(Settings(_env_file=None), InMemoryCalls(), lambda _: endpoint)
        return resources

    return says


@pytest.fixture
def client(opened):
    with TestClient(create_app(opened), base_url="http://127.0.0.1", client=("127.0.0.1", 7)) as client:
        yield client


def rest(client):
    body = {"question": asking.QUESTION, "documents": ["ada", "carl"]}
    with client.stream("POST", "/api/knowledge-bases/kb/ask/stream", json=body) as stream:
        return [event for event in sse.events(stream.iter_lines()) if event.name != "step"]


def chat(client, **fields):
    api = openai.OpenAI(base_url="http://127.0.0.1/v1", api_key="none", http_client=client, max_retries=0)
    return api.chat.completions.create(model="kb", messages=[{"role": "user", "content": asking.QUESTION}],
                                       extra_body={"documents": ["ada", "carl"]}, **fields)


def test_the_tokens_of_a_claim_follow_it(client, says):
    says(KEPT)
    seen = rest(client)
    names = [event.name for event in seen]
    second = len(names) - 1 - names[::-1].index("claim")
    before, after = seen[:second], seen[second + 1:]
    assert "".join(event.data["text"] for event in before if event.name == "token") == LINES[0]
    assert "".join(event.data["text"] for event in after if event.name == "token") == f"\n{LINES[1]}"
    assert [event.data["text"] for event in seen if event.name == "claim"] == LINES
    assert seen[-1].data["answer"] == "\n".join(LINES)


def test_a_stream_of_text_says_what_is_withdrawn_and_cites_nothing_for_it(client, says):
    says(BROKEN, OTHER)
    chunks = list(chat(client, stream=True))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text.startswith(f"{LINES[0]}{WITHDRAWN}She was a mathematician. [1]\n\n")
    cited = [note["url_citation"] for note in chunks[-1].choices[0].delta.annotations]
    assert [note["quote"] for note in cited] == [WAS] * 2
    assert min(note["start_index"] for note in cited) > text.index(WITHDRAWN)


@pytest.fixture
def terminal(monkeypatch):
    """What the command prints on a terminal."""
    console = Console(file=StringIO(), force_terminal=True, color_system=None, width=80)
    monkeypatch.setattr(command, "out", console)
    return console.file


def run(resources, *, shows_claims):
    answer, shown = command._ask(resources, "kb", AskContext(documents=("ada", "carl")), [("user", asking.QUESTION)],
                                 shows_claims=shows_claims)
    command._print_answer(answer, shown)
    return shown


def test_a_terminal_shows_claims_once(says, terminal):
    assert run(says(KEPT), shows_claims=True) == LINES
    printed = terminal.getvalue().splitlines()
    assert [line.strip() for line in printed[:2]] == LINES
    assert sum(line.strip() in LINES for line in printed) == 2
    assert "1] " in printed[2]
