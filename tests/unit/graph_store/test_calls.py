"""The ledger's transactions, and the accounts of calls."""

from contextlib import nullcontext
from sqlite3 import OperationalError

import pytest
from banyan.graph_store.ledger.database import Database
from banyan.graph_store.ledger.token_accounts import Calls, TokenCounts
from banyan.runtime.budgets import Budget, BudgetExceeded, charge_calls


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "ledger.sqlite")
    yield database
    database.close()


def record(calls, key, *, step="extract", response="r", prompt=10, completion=5):
    calls.spend("", prompt, completion, 0)
    calls.record(key=key, step=step, response=response, prompt_tokens=prompt, completion_tokens=completion)


def test_calls_are_found_again_and_counted_by_step(database, tmp_path):
    calls = Calls(database)
    assert calls.lookup("a") is None
    assert calls.total() == TokenCounts()
    record(calls, "a", response="答")
    record(calls, "b", prompt=1, completion=2)
    record(calls, "c", step="answer", response="")
    assert (calls.lookup("a"), calls.lookup("c"), calls.lookup("d")) == ("答", "", None)
    assert [(one.name, one.calls, one.prompt, one.completion) for one in calls.spent("step")] == [
        ("answer", 1, 10, 5), ("extract", 2, 11, 7)]
    assert calls.total() == TokenCounts(calls=3, prompt=21, completion=12)
    again = Database(tmp_path / "ledger.sqlite")
    assert Calls(again).lookup("a") == "答"
    assert Calls(again).total() == calls.total()
    again.close()


@pytest.mark.parametrize("build", ["", "run"])
def test_a_question_keeps_the_answer_that_cannot_be_stored_and_a_build_fails(database, build):
    """On a full disk: the answer is paid for, and a build would pay for everything again."""
    database.execute("PRAGMA max_page_count = 1")
    calls, lots = Calls(database), "x" * 1_000_000
    with charge_calls(build=build), pytest.raises(OperationalError, match="full") if build else nullcontext():
        record(calls, "a", response=lots)
    assert calls.lookup("a") is None
    assert calls.total().calls == 0


def test_no_call_is_paid_once_the_limit_is_reached(database):
    calls, limited = Calls(database), Calls(database, Budget(30))
    limited.check_budget()
    record(limited, "a", prompt=10, completion=5)
    record(calls, "elsewhere", prompt=100)
    limited.check_budget()
    record(limited, "b", prompt=10, completion=4)
    limited.check_budget()
    record(limited, "c", prompt=1, completion=0)
    with pytest.raises(BudgetExceeded, match="30 tokens spent of 30"):
        limited.check_budget()
    # What is known is still free, and the accounts are the same ones.
    assert limited.lookup("b") == "r"
    assert calls.total() == limited.total()
    calls.check_budget()


def test_a_transaction_that_fails_leaves_nothing_behind_even_within_another(database):
    with pytest.raises(ZeroDivisionError), database.transaction():
        database.set_meta("color", "red")
        with database.transaction():
            database.set_meta("size", "large")
        _ = 1 / 0
    assert (database.get_meta("color"), database.get_meta("size")) == (None, None)
