"""The LLM reasoner over a scripted endpoint: repair of answers, answers that are kept, accounts and budget."""

import json

import pytest
from banyan.models.reasoner import ReasonerError
from banyan.runtime.budgets import BudgetExceeded
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.graph_schema import open_schema

from ...in_memory_calls import InMemoryCalls
from ...scripted_endpoint import FOUND, REQUEST, SCHEMA, ScriptedEndpoint, reasoner


@pytest.mark.parametrize(("bad", "complaint"), [
    ("I found nothing.", "no complete JSON object in it; it begins: I found nothing."),
    ("", "it begins: nothing"),
    (json.dumps(FOUND)[:-20], "JSON"),
    ({"entities": []}, "triples: Field required"),
    ({**FOUND, "triples": [["A", "r"]]}, "triples.0: List should have at least 3 items"),
    ({**FOUND, "new": [{"label": "r", "confidence": 90}]}, "new.0.confidence: Input should be less than"),
    ({**FOUND, "entities": [["A" * 501, "Person"]]}, "name: String should have at most 500"),
])
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


@pytest.mark.parametrize("change", [
    {"model": "another"}, {"text": "Another text."}, {"schema": open_schema()}])
def test_another_model_text_or_schema_is_another_call(change):
    ledger = InMemoryCalls()
    endpoint = ScriptedEndpoint([FOUND, FOUND])
    reasoner(endpoint, ledger).extract(REQUEST, SCHEMA)
    again = reasoner(endpoint, ledger, llm_model=change.get("model", "gpt-4o-mini"))
    again.extract(ExtractionRequest(text=change.get("text", REQUEST.text), title=REQUEST.title),
                  change.get("schema", SCHEMA))
    assert ledger.calls["extract"] == 2


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
