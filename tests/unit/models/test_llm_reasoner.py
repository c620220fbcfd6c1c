"""The LLM reasoner over a scripted endpoint: what it is asked, how answers are read and repaired, what they cost."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from banyan.models.llm import wire as wire_module
from banyan.models.llm.endpoint import Filtered, Messages, Reply
from banyan.models.reasoner import ReasonerError
from banyan.runtime.budgets import BudgetExceeded
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.graph_schema import open_schema
from banyan.schemas.lookups import TOOLS
from banyan.schemas.resolution import EntityCard, EntityPair
from banyan.schemas.retrieval import CommunityDigest

from ...in_memory_calls import InMemoryCalls
from ...scripted_endpoint import FOUND, REQUEST, SCHEMA, ScriptedEndpoint, reasoner


def test_summaries_come_in_the_order_of_the_communities():
    endpoint = ScriptedEndpoint([{"communities": [
        {"id": 2, "name": "B", "summary": "b"}, {"id": 1, "name": "A", "summary": "a", "findings": [
            {"text": "It is so.", "facts": [1, 1, 2]}, {"text": "It rests on nothing.", "facts": [7]}]}]}])
    digests = [CommunityDigest(keywords=("x",), facts=("x y z",)), CommunityDigest(keywords=("u",), facts=())]
    first, second = reasoner(endpoint).summarise(digests)
    assert (first.name, first.summary) == ("A", "a\n- It is so. (x y z)"), "each finding with the facts it rests on"
    assert (second.name, second.summary) == ("B", "b")
    assert "[1] x\n1. x y z\n\n[2] u" in endpoint.sent[0][1][1]


def test_a_forgotten_community_is_asked_for_again():
    endpoint = ScriptedEndpoint([
        {"communities": [{"id": 1, "name": "A", "summary": "a"}]},
        {"communities": [{"id": n, "name": "AB"[n - 1], "summary": "s"} for n in (1, 2)]}])
    digests = [CommunityDigest(keywords=("x",), facts=())] * 2
    assert [s.name for s in reasoner(endpoint).summarise(digests)] == ["A", "B"]
    assert "no item with id 2" in endpoint.sent[1][-1][1]


def test_the_prompts_language_follows_the_text_unless_set():
    endpoint = ScriptedEndpoint([FOUND] * 3)
    chinese = ExtractionRequest(text="居里夫人出生于华沙。")
    reasoner(endpoint).extract(chinese, SCHEMA)
    reasoner(endpoint, language="en").extract(chinese, SCHEMA)
    reasoner(endpoint, language="zh").extract(REQUEST, SCHEMA)
    assert ["抽取知识图谱" in sent[0][1] for sent in endpoint.sent] == [True, False, True]


class Filter(ScriptedEndpoint):
    async def send(self, messages: Messages, json_schema: dict[str, Any], permit: Callable[[], None]) -> Reply:
        self.sent.append(messages)
        user = messages[1][1]
        if "forbidden" in user:
            raise Filtered("its content filter stopped the request")
        ids = range(1, user.count("\n[") + 1)
        return Reply(json.dumps({
            "communities": [{"id": number, "name": "N", "summary": "s"} for number in ids],
            "pairs": [{"id": number, "same": True, "confidence": 0.9} for number in ids]}), 1, 1)


def test_what_a_content_filter_stops_costs_no_other_its_answer():
    digests = [CommunityDigest(keywords=(f"k{n}",), facts=("it is forbidden" if n == 5 else f"fact {n}",))
               for n in range(8)]
    endpoint = Filter([])
    described = reasoner(endpoint).summarise(digests)
    assert [summary.name for summary in described] == ["N"] * 5 + ["k5"] + ["N"] * 2
    assert described[5].summary == "it is forbidden", "its own words, which no model has seen"
    assert len(endpoint.sent) == 7, "halves"
    cards = [EntityCard(name=f"e{n}", type="T", facts=("it is forbidden",) if n == 3 else ()) for n in range(5)]
    verdicts = reasoner(Filter([])).resolve([
        EntityPair(first=card, second=cards[0], documents=frozenset("d")) for card in cards[1:]])
    assert [verdict and verdict.same for verdict in verdicts] == [True, True, None, True]


def test_a_thought_without_an_end_is_paid_once():
    """It is in every later prompt of the question, so a document that makes a model go on would cost five times."""
    shape = wire_module.judgement(TOOLS)
    look = {"thought": "and on " * 100_000, "lookups": [{"tool": "passage_search", "query": "Ada"}]}
    assert len(shape.read(look).thought) == wire_module.LONGEST_THOUGHT


@pytest.mark.parametrize(("bad", "complaint"), [
    ("I found nothing.", "no complete JSON object in it; it begins: I found nothing."), ("", "it begins: nothing"),
    (json.dumps(FOUND)[:-20], "JSON"), ({"entities": []}, "triples: Field required"),
    ({**FOUND, "triples": [["A", "r"]]}, "triples.0: List should have at least 3 items"),
    ({**FOUND, "new": [["r", "90"]]}, "new.0: Value error, the confidence in 'r' must be from 0 to 1"),
    ({**FOUND, "new": [["r", "high"]]}, "new.0: Value error, could not convert string to float: 'high'"),
    ({**FOUND, "entities": [["Person", "A" * 501]]}, "name: String should have at most 500")])
def test_an_answer_that_does_not_fit_goes_back_once_with_the_reason(bad, complaint):
    endpoint = ScriptedEndpoint([bad, FOUND])
    assert reasoner(endpoint).extract(REQUEST, SCHEMA).triples[0].tail == "Warsaw"
    first, second = endpoint.sent
    assert second[:2] == first
    assert [role for role, _ in second] == ["system", "user", "assistant", "user"]
    assert all(content for _, content in second)
    if complaint != "JSON":
        assert complaint in second[3][1]


def test_two_bad_answers_are_an_error_that_names_step_model_and_cause():
    ledger = InMemoryCalls()
    endpoint = ScriptedEndpoint(["no", "still no", FOUND])
    llm = reasoner(endpoint, ledger, llm_model="some-model")
    with pytest.raises(ReasonerError, match=r"extract: model 'some-model' .*it begins: still no"):
        llm.extract(REQUEST, SCHEMA)
    assert ledger.calls["extract"] == 2
    assert llm.extract(REQUEST, SCHEMA).triples, "a retry after a failure must ask anew"
    assert len(endpoint.sent) == 3


def test_a_long_useless_answer_is_neither_kept_nor_sent_back_whole():
    ledger = InMemoryCalls()
    endpoint = ScriptedEndpoint(["no " * 100_000, FOUND])
    reasoner(endpoint, ledger).extract(REQUEST, SCHEMA)
    assert len(endpoint.sent[1][2][1]) < 11_000
    assert max(map(len, ledger._responses.values())) < 11_000


def test_an_equal_call_is_paid_once():
    ledger = InMemoryCalls()
    endpoint = ScriptedEndpoint([FOUND])
    first = reasoner(endpoint, ledger).extract(REQUEST, SCHEMA)
    assert reasoner(endpoint, ledger).extract(REQUEST, SCHEMA) == first
    assert (ledger.calls["extract"], ledger.prompt_tokens["extract"]) == (1, 10)


def test_another_model_text_or_schema_is_another_call():
    ledger = InMemoryCalls()
    endpoint = ScriptedEndpoint([FOUND] * 4)
    reasoner(endpoint, ledger).extract(REQUEST, SCHEMA)
    reasoner(endpoint, ledger, llm_model="another").extract(REQUEST, SCHEMA)
    reasoner(endpoint, ledger).extract(ExtractionRequest(text="Another text.", title=REQUEST.title), SCHEMA)
    reasoner(endpoint, ledger).extract(REQUEST, open_schema())
    assert ledger.calls["extract"] == 4


def test_a_kept_answer_that_no_longer_fits_is_paid_anew():
    ledger = InMemoryCalls()
    reasoner(ScriptedEndpoint([FOUND]), ledger).extract(REQUEST, SCHEMA)
    (key,) = ledger._responses
    ledger._responses[key] = "{}"
    assert reasoner(ScriptedEndpoint([FOUND]), ledger).extract(REQUEST, SCHEMA).triples
    assert json.loads(ledger._responses[key]) == FOUND


def test_the_budget_stops_calls_before_they_are_paid_but_not_kept_answers():
    ledger = InMemoryCalls(max_tokens=15)
    endpoint = ScriptedEndpoint([FOUND, FOUND])
    llm = reasoner(endpoint, ledger)
    llm.extract(REQUEST, SCHEMA)
    with pytest.raises(BudgetExceeded, match="15 tokens spent of 15"):
        llm.condense("Where?", [("user", "Hi")])
    llm.extract(REQUEST, SCHEMA)
    assert len(endpoint.sent) == 1
