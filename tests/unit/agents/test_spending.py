"""What was spent for what: accounts by step, document and build, what models cost, budgets, and how they are shown."""

import json

import pytest
from banyan.graph_store.integrity.status import DEAREST, status_of
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.ledger.database import Database
from banyan.graph_store.ledger.token_accounts import Calls, Spent, total
from banyan.runtime.budgets import (
    BATCHED,
    Budget,
    BudgetExceeded,
    Price,
    Prices,
    PricesError,
    charge_calls,
    load_prices,
)

from ... import scripted
from ...newest import newest

DEAR, CHEAP = Price(prompt=10, cached=1, completion=30), Price(prompt=2, completion=4)
PRICES = Prices({"dear": DEAR, "cheap": CHEAP})


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "ledger.sqlite")
    yield database
    database.close()


def pay(calls, key, *, step="extract", prompt=100, completion=10, **more):
    calls.spend(more.get("model", ""), prompt, completion, more.get("cached_tokens", 0))
    calls.record(key=key, step=step, response="r", prompt_tokens=prompt, completion_tokens=completion, **more)


def test_what_is_paid_is_put_down_to_build_document_step_and_model(database):
    calls = Calls(database)
    with charge_calls(build="b1", documents={"d1": 1}):
        pay(calls, "1", model="dear", cached_tokens=40)
        pay(calls, "2", model="dear", wasted=True)
    with charge_calls(build="b1"):
        pay(calls, "3", step="summarise", model="cheap")
    with charge_calls(build="b2", documents={"d2": 1}):
        pay(calls, "4", model="cheap")
    pay(calls, "5", step="answer", model="dear")

    by_step = {one.name: one for one in calls.spent("step", PRICES)}
    cost = (160 * 10 + 40 * 1 + 20 * 30 + 100 * 2 + 10 * 4) / 1e6
    assert by_step["extract"].cost == pytest.approx(cost)
    assert by_step["extract"].model_copy(update={"cost": 0}) == Spent(
        name="extract", calls=3, prompt=300, completion=30, cached=40, wasted_calls=1, wasted=110, cost=0)
    assert {one.name: one.calls for one in calls.spent("build", PRICES)} == {"": 1, "b1": 3, "b2": 1}
    assert {one.name: one.calls for one in calls.spent("document", PRICES)} == {"": 2, "d1": 2, "d2": 1}
    assert {one.name: one.calls for one in calls.spent("step", PRICES, "b1")} == {"extract": 2, "summarise": 1}
    assert (calls.total("b1").calls, calls.total("none").calls, calls.total().prompt) == (3, 0, 500)


def test_a_cost_is_unknown_where_one_of_its_models_has_no_price(database):
    calls = Calls(database)
    pay(calls, "1", model="dear")
    pay(calls, "2", model="other")
    pay(calls, "3", step="answer", model="dear")
    costs = {one.name: one.cost for one in calls.spent("step", PRICES)}
    assert costs == {"extract": None, "answer": pytest.approx(1300 / 1e6)}
    assert total(calls.spent("step", PRICES)).cost is None
    assert total([]).cost == 0


def test_what_a_deleted_document_cost_stays_spent_without_its_name(shop):
    shop.copy_built()
    with shop.resources() as resources:
        with resources.writers.step("kb", "r") as kb, charge_calls(build="r", documents={"a.txt": 1}):
            pay(kb.calls, "1")
        resources.writers.finish("kb", "r")
        resources.delete_documents("kb", ["a.txt"])
        status = status_of(newest(resources).kb)
        assert (status.spent.calls, [one.name for one in status.dearest_documents]) == (1, [])
        assert verify(newest(resources).kb) == []


def test_a_cost_budget_ends_when_it_is_reached():
    budget = Budget(max_cost=0.001, prices=PRICES)
    budget.check()
    budget.add("dear", 90, 0)
    budget.check()
    budget.add("dear", 0, 4)
    with pytest.raises(BudgetExceeded, match=r"0\.00102 spent of 0\.001.*--max-cost"):
        budget.check()


def spend(kb):
    for number in range(DEAREST + 3):
        with charge_calls(build="b1", documents={f"d{number:02}": 1}):
            pay(kb.calls, f"k{number}", prompt=100 + number, model="cheap", cached_tokens=number)
    with charge_calls(build="b2", documents={"d00": 1}):
        pay(kb.calls, "last", prompt=1, completion=200, model="dear", wasted=True)


def test_the_command_shows_it(tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = scripted.Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    shell.copy_built()
    assert "Spent" not in shell("status", "--kb", "kb").out
    with shell.resources() as resources, resources.writers.step("kb", "r") as kb:
        spend(kb)
    shown = shell("status", "--kb", "kb").out
    assert "build b2" in shown
    assert "document d00" in shown
    assert "unknown" in shown
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"dear": DEAR.model_dump(), "cheap": CHEAP.model_dump()}))
    monkeypatch.setenv("BANYAN_PRICES", str(prices))
    assert "unknown" not in shell("status", "--kb", "kb").out
    found = json.loads(shell("status", "--kb", "kb", "--json").out)
    assert {"spent", "spent_by_step", "spent_by_build", "dearest_documents"} <= set(found)
    assert found["spent"]["cost"] > 0
    assert {"name", "calls", "prompt", "completion"} <= set(found["spent_by_step"][0])
    prices.write_text("{}}")
    refused = shell("status", "--kb", "kb")
    assert refused.code == 1
    assert "prices.json" in refused.err


def test_a_batch_costs_half_unless_it_has_a_price_of_its_own():
    assert PRICES.cost("dear" + BATCHED, 1_000_000, 1_000_000, 400_000) == pytest.approx((6 + 0.4 + 30) / 2)
    assert PRICES.cost("other" + BATCHED, 1, 0) is None
    own = Prices({"dear": DEAR, "dear" + BATCHED: CHEAP})
    assert own.cost("dear" + BATCHED, 1_000_000, 0) == pytest.approx(2)


def test_a_cost_is_by_the_price_file_with_cached_tokens_at_their_own_price(tmp_path):
    file = tmp_path / "prices.json"
    file.write_text('{"m": {"prompt": 10, "cached": 1, "completion": 30}, "free": {"prompt": 0, "completion": 0}}')
    prices = load_prices(file)
    assert prices.cost("m", 1_000_000, 0, 400_000) == pytest.approx(6 + 0.4)
    assert PRICES.cost("cheap", 1_000_000, 500_000, 400_000) == pytest.approx(2 + 2), "no other price is said"
    assert (prices.cost("free", 5, 5), prices.cost("other", 0, 0), prices.cost("other", 1, 0)) == (0, 0, None)
    assert load_prices(None).cost("m", 1, 1) is None


@pytest.mark.parametrize(("text", "said"), [
    ("{", "Invalid JSON"), ('{"m": {"prompt": 1}}', "m.completion: Field required"),
    ('{"m": {"prompt": 1, "completion": 1, "promt": 3}}', "m.promt"),
    ('{"m": {"prompt": NaN, "completion": 1}}', "m.prompt")])
def test_what_is_wrong_with_a_price_file_is_said(tmp_path, text, said):
    file = tmp_path / "prices.json"
    file.write_text(text)
    with pytest.raises(PricesError) as raised:
        load_prices(file)
    assert said in str(raised.value)
    assert "prices.json" in str(raised.value)
    assert "BANYAN_PRICES" in str(raised.value)
