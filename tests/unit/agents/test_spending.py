"""What was spent for what: accounts by step, document and build, prices, budgets, and how they are shown."""

import json

import httpx2
import pytest
from banyan.agents.construction.graph import build_graph
from banyan.agents.construction.state import BuildContext
from banyan.agents.estimate import estimate_build
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.graph_store.integrity.status import DEAREST, status_of
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.ledger.database import Database
from banyan.graph_store.ledger.token_accounts import Calls, Spent, TokenCounts, total
from banyan.models.embedding.embedding_models import load_embedder
from banyan.runtime.budgets import Budget, BudgetExceeded, charge, charge_calls
from banyan.schemas.documents import Document
from banyan.schemas.errors import BanyanError
from banyan.schemas.graph_schema import open_schema
from banyan.schemas.prices import Price, Prices, PricesError
from banyan.schemas.retrieval import SubQuery

from ... import scripted, small_base

shop = scripted.shop

DEAR, CHEAP = Price(prompt=10, cached=1, completion=30), Price(prompt=2, completion=4)
PRICES = Prices({"dear": DEAR, "cheap": CHEAP})


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "ledger.sqlite")
    yield database
    database.close()


@pytest.fixture
def kb(tmp_path, hashed_embedder):
    with KnowledgeBase.create(tmp_path, "kb", hashed_embedder) as opened:
        opened.schemas.append(open_schema(), (), "seed")
        yield opened


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


def test_cached_tokens_are_no_more_than_the_prompt(database):
    calls = Calls(database)
    pay(calls, "1", cached_tokens=10**6)
    pay(calls, "2", cached_tokens=-5)
    assert calls.total().cached == 100


@pytest.mark.parametrize("weights", [[1, 1, 1], [1, 997], [5, 0, 3], [7, 11, 13, 17, 19, 23], [1] * 16])
def test_the_documents_of_a_call_share_what_it_cost(database, weights):
    calls, names = Calls(database), [f"d{number:02}" for number in range(len(weights))]
    with charge_calls(build="b", documents=dict(zip(names, weights, strict=True))):
        for key, prompt, completion, cached, wasted in (("1", 1009, 307, 1008, True), ("2", 3, 2, 2, False),
                                                        ("3", 5, 1, 0, True)):
            pay(calls, key, prompt=prompt, completion=completion, cached_tokens=cached, wasted=wasted)
    found = calls.spent("document", PRICES)
    assert total(found).model_copy(update={"cost": None}) == Spent(
        name="all", calls=3, prompt=1017, completion=310, cached=1010, wasted_calls=2, wasted=1322, cost=None)
    shares = {one.name: one for one in found}
    for name, weight in zip(names, weights, strict=True):
        one = shares.get(name, TokenCounts())
        assert one.prompt == pytest.approx(1017 * weight / sum(weights), abs=4)
        assert 0 <= one.cached <= one.prompt
        assert 0 <= one.wasted <= one.prompt + one.completion
        assert 0 <= one.wasted_calls <= one.calls


def test_embeddings_of_an_endpoint_stand_beside_calls(tmp_path, hashed_embedder, monkeypatch):
    async def answer(_, request):
        vectors = hashed_embedder.encode(json.loads(request.content)["input"])
        rows = [{"index": row, "embedding": vector.tolist()} for row, vector in enumerate(vectors)]
        return httpx2.Response(200, json={"data": rows, "usage": {"prompt_tokens": 10 * len(rows)}}, request=request)

    monkeypatch.setattr("httpx2.AsyncHTTPTransport.handle_async_request", answer)
    embedder = load_embedder(Settings(embedding_model="m", embedding_base_url="http://127.0.0.1:9", _env_file=None))
    shop = scripted.Workshop(tmp_path, embedder)
    built = shop.build(shop.write(scripted.TEXTS))
    with shop.resources() as resources:
        resources.retriever("kb").queries([SubQuery(question="Where is Acme?")])
        calls = Calls(resources.readers.ledger("kb"))
        (embedded,) = calls.spent("step", PRICES)
        question, build = calls.spent("build", PRICES)
        assert verify(resources.knowledge_base("kb")) == []
    assert (embedded.name, embedded.cost, question.prompt, question.name) == ("embeddings", None, 10, "")
    assert embedded.prompt - 10 == build.prompt == built["tokens"]["prompt"] > 100


def test_what_a_deleted_document_cost_stays_spent_without_its_name(shop):
    shop.copy_built()
    with shop.resources() as resources:
        with resources.runs.step("kb", "r") as kb, charge_calls(build="r", documents={"a.txt": 1}):
            pay(kb.calls, "1")
        resources.runs.finish("kb", "r")
        resources.delete_documents("kb", ["a.txt"])
        status = status_of(resources.knowledge_base("kb"))
        assert (status.spent.calls, [one.name for one in status.dearest_documents]) == (1, [])
        assert verify(resources.knowledge_base("kb")) == []


def test_a_cost_budget_ends_when_it_is_reached():
    budget = Budget(max_cost=0.001, prices=PRICES)
    budget.check()
    budget.add("dear", 90, 0)
    budget.check()
    budget.add("dear", 0, 4)
    with pytest.raises(BudgetExceeded, match=r"0\.00102 spent of 0\.001.*--max-cost"):
        budget.check()


def test_a_cost_budget_ends_where_a_price_is_not_known():
    budget = Budget(max_cost=1, prices=PRICES)
    budget.add("other", 1, 1)
    with pytest.raises(BudgetExceeded, match="no known price"):
        budget.check()


def test_the_budget_of_the_block_is_taken_before_that_of_the_accounts(database):
    calls = Calls(database, Budget(0))
    with charge_calls(budget=Budget(50)):
        calls.check_budget()
        pay(calls, "1")
        with pytest.raises(BudgetExceeded, match="110 tokens spent of 50"):
            calls.check_budget()


def test_a_budget_knows_what_its_build_paid_in_another_process(database):
    calls = Calls(database)
    with charge_calls(build="b"):
        pay(calls, "1", model="dear")
    with charge_calls(build="other"):
        pay(calls, "2", model="dear")
    budget = Budget(110)
    calls.charge_to(budget, "b")
    with pytest.raises(BudgetExceeded, match="110 tokens spent of 110"):
        budget.check()


def test_a_cost_limit_without_prices_is_refused_before_anything_is_made(tmp_path, hashed_embedder):
    (tmp_path / "a.txt").write_text("Ada works at Acme.")
    prices = tmp_path / "prices.json"
    prices.write_text('{"other": {"prompt": 1, "completion": 1}}')
    for file, said in ((None, "no price file is set"), (prices, "prices.json")):
        settings = Settings(_env_file=None, home=tmp_path / "home", llm_base_url="http://127.0.0.1:9/v1", llm_model="m",
                            prices=file)
        with Resources(settings, hashed_embedder) as resources, pytest.raises(PricesError) as raised:
            build_graph(resources).invoke({"knowledge_base": "kb", "paths": [str(tmp_path / "a.txt")]},
                                          context=BuildContext(max_cost=1))
        assert "'m'" in str(raised.value)
        assert said in str(raised.value)
        assert isinstance(raised.value, BanyanError)
        assert not (tmp_path / "home").exists()


def test_a_broken_price_file_is_found_before_anything_is_paid(shop):
    shop.settings.prices = shop.folder / "gone.json"
    with pytest.raises(PricesError):
        shop.build(shop.write(scripted.TEXTS))
    assert not shop.scripted.extracted


def test_a_build_without_an_llm_costs_nothing(shop):
    report = shop.build(shop.write(scripted.TEXTS), max_cost=0)
    assert (report["cost"], report["cached_tokens"], report["wasted_tokens"], report["stopped"]) == (0, 0, 0, "")


def test_each_extraction_is_put_down_to_its_document_and_build(shop):
    seen = {}
    shop.scripted.before = lambda text: seen.update({text: charge()})
    shop.build(shop.write(scripted.TEXTS), max_tokens=7)
    assert {text: list(seen[text].documents) for text in seen} == {
        text: [name] for name, text in scripted.TEXTS.items()}
    (build,) = {one.build for one in seen.values()}
    assert build[:2] == "20"
    (budget,) = {one.budget for one in seen.values()}
    budget.add("m", 7, 0)
    with pytest.raises(BudgetExceeded):
        budget.check()
    shop.scripted.before = lambda text: seen.update({text: charge()})
    shop.write({"new.txt": "Eva:Person --employer--> Acme:Organization."})
    shop.build([str(shop.documents)])
    assert len({one.build for one in seen.values()}) == 2


def spend(kb):
    for number in range(DEAREST + 3):
        with charge_calls(build="b1", documents={f"d{number:02}": 1}):
            pay(kb.calls, f"k{number}", prompt=100 + number, model="cheap", cached_tokens=number)
    with charge_calls(build="b2", documents={"d00": 1}):
        pay(kb.calls, "last", prompt=1, completion=200, model="dear", wasted=True)


def test_status_has_what_was_spent_by_step_build_and_document(kb):
    spend(kb)
    found = status_of(kb, PRICES)
    assert found.spent.calls == DEAREST + 4
    assert [one.name for one in found.spent_by_build] == ["b1", "b2"]
    assert [one.name for one in found.dearest_documents[:2]] == ["d00", "d12"]
    assert len(found.dearest_documents) == DEAREST
    assert found.spent.cost == pytest.approx(sum(one.cost for one in found.spent_by_build))
    assert (found.tokens[0].step, found.tokens[0].wasted) == ("extract", 201)
    without = status_of(kb)
    assert (without.spent.cost, without.dearest_documents[0].name) == (None, "d00"), "by tokens then"
    assert TokenCounts().plus(without.spent).calls == without.spent.calls


def test_the_command_shows_it(tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = scripted.Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    shell.copy_built()
    assert "Spent" not in shell("status", "--kb", "kb").out
    with shell.resources() as resources, resources.runs.step("kb", "r") as kb:
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
    assert {"tokens", "spent", "spent_by_step", "spent_by_build", "dearest_documents"} <= set(found)
    assert found["spent"]["cost"] > 0
    assert {"step", "calls", "prompt", "completion"} <= set(found["tokens"][0])
    prices.write_text("{}}")
    refused = shell("status", "--kb", "kb")
    assert refused.code == 1
    assert "prices.json" in refused.err


def estimated(folder, embedder, prices, **models):
    (folder / "a.txt").write_text("Ada works at Acme. " * 30)
    settings = Settings(_env_file=None, home=folder / "home", llm_base_url="http://127.0.0.1:9/v1", llm_model="cheap",
                        prices=prices, **models)
    with Resources(settings, embedder) as resources:
        return estimate_build(resources, "kb", [folder / "a.txt"], "")


def test_an_estimate_is_the_sum_of_its_parts_each_at_its_models_price(tmp_path, hashed_embedder):
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"dear": DEAR.model_dump(), "cheap": CHEAP.model_dump()}))
    found = estimated(tmp_path, hashed_embedder, prices, llm_model_summarise="dear")
    for count in ("calls", "prompt_tokens", "completion_tokens"):
        assert getattr(found, count) == sum(getattr(part, count) for part in (
            found.extraction, found.fitting, found.later))
    assert found.extraction.calls + found.later.calls == found.chunks == 1
    assert found.later_at_most.prompt_tokens > found.later.prompt_tokens > 0
    extraction, fitting, later = found.extraction, found.fitting, found.later
    assert found.cost == pytest.approx(((extraction.prompt_tokens + fitting.prompt_tokens) * 2
                                        + (extraction.completion_tokens + fitting.completion_tokens) * 4
                                        + later.prompt_tokens * 10 + later.completion_tokens * 30) / 1e6)
    for step in ("extract", "resolve", "summarise"):
        assert estimated(tmp_path, hashed_embedder, prices, **{f"llm_model_{step}": "unpriced"}).cost is None


def test_only_documents_that_were_paid_for_as_they_are_teach(kb):
    def stored(document, parts, calls, **more):
        text = "\n\n".join(f"Part {number} of {document} is about Ada." for number in range(parts))
        small_base.store(kb, Document(id=document, title="", text=text, source=""), 8, 0)
        kb.database.execute("UPDATE chunks SET status = 'done' WHERE document = :id", id=document)
        count = kb.database.count("SELECT count(*) FROM chunks WHERE document = :id", id=document)
        with charge_calls(build="b", documents={document: 1}):
            for number in range(count if calls is None else calls):
                pay(kb.calls, f"{document}{number}", model="cheap", **more)
        return count

    whole = stored("whole", 3, None)
    stored("part", 3, 1)
    stored("other step", 1, None, step="resolve")
    repaired = stored("repaired", 2, None)
    with charge_calls(build="b", documents={"repaired": 1}):
        pay(kb.calls, "again", model="cheap", wasted=True)
    def is_whole(calls, chunks):
        return calls == len(chunks)

    paid, chunks = kb.calls.extractions("cheap", 100, is_whole)
    assert len(chunks) == len(set(chunks)) == whole + repaired
    assert (paid.calls, paid.prompt) == (whole + repaired + 1, 100 * (whole + repaired + 1))
    assert len(kb.calls.extractions("cheap", 1, is_whole)[1]) == repaired, "enough is enough, by name"
    assert kb.calls.extractions("dear", 100, is_whole) == (TokenCounts(), [])
