"""Claims are read from a reply while it arrives, checked, shown, and withdrawn if the reply does not keep them."""

import json

import pytest
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings
from banyan.models.claim_stream import complete_claims
from banyan.models.llm.llm_reasoner import LlmReasoner
from banyan.models.reasoner import ReasonerError

from ... import asking
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
    shown, answer = events(resources, first[:-30], second)
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
