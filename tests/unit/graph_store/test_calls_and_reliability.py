"""The ledger's transactions, the accounts of calls, and the measured reliability of vectors."""

from contextlib import nullcontext
from sqlite3 import OperationalError

import numpy as np
import pytest
from banyan.graph_store.ledger.database import Database
from banyan.graph_store.ledger.token_accounts import Calls, TokenCounts
from banyan.graph_store.vectors.reliability import Reliability, measure_by_script
from banyan.runtime.budgets import Budget, BudgetExceeded, charge_calls
from banyan.schemas.documents import Chunk


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


class EnglishOnly:
    """Blind to anything but Latin letters."""

    name, dimension, fingerprint = "english", 129, "english"

    def __init__(self, embedder) -> None:
        self._embedder = embedder

    def encode(self, texts):
        seen = ["".join(letter for letter in text if letter.isascii()).strip(" .") for text in texts]
        vectors = np.zeros((len(texts), 129), np.float32)
        for row, text in enumerate(seen):
            if text:
                vectors[row, :128] = self._embedder.encode([text])[0]
            else:
                vectors[row, 128] = 1
        return vectors


WORDS = ["harbour", "violin", "glacier", "ledger", "orchard", "furnace", "parade", "lantern", "saddle", "compass"]
HAN = "港湾小提琴冰川账簿果园熔炉游行灯笼马鞍罗盘山河湖海桥路城镇"


def text_of(number: int) -> str:
    a, b, c = WORDS[number % 10], WORDS[(number // 10 + 3) % 10], WORDS[(number * 7 + 1) % 10]
    return (f"Report {number} is about the {a}. The {b} number {number} and the {c} were seen in year {1700 + number}. "
            f"It ends with {a} and {c}.")


def chinese_of(number: int) -> str:
    a, b, c = HAN[number % 28], HAN[(number * 5 + 3) % 28], HAN[(number * 11 + 7) % 28]
    return f"报告说到{a}{b}。其中{b}{c}与{c}{a}{b}在第{number}号。结尾是{a}{c}。"


def chunks(texts) -> list[Chunk]:
    return [Chunk(id=f"{number:04}", document_id="d", ordinal=number, start=0, end=len(text), text=text, title="")
            for number, text in enumerate(texts)]


def measured(texts, embedder) -> Reliability:
    return measure_by_script(chunks(texts), embedder.encode(texts), embedder.encode)


def test_trust_is_measured_by_script(hashed_embedder):
    found = measured([text_of(n) for n in range(40)] + [chinese_of(n) for n in range(28)], hashed_embedder)
    assert min(found.by_script["latin"], found.by_script["cjk"]) > 0.9
    texts = [text_of(n) for n in range(40)] + ["".join(c for c in chinese_of(n) if not c.isdigit()) for n in range(28)]
    found = measured(texts, EnglishOnly(hashed_embedder))
    assert found.of("Which report?") > 0.9
    assert found.of("哪份报告？") < 0.1
    assert found.of("Какой отчёт?") == 1.0


def test_a_transaction_that_fails_leaves_nothing_behind_even_within_another(database):
    with pytest.raises(ZeroDivisionError), database.transaction():
        database.set_meta("color", "red")
        with database.transaction():
            database.set_meta("size", "large")
        _ = 1 / 0
    assert (database.get_meta("color"), database.get_meta("size")) == (None, None)
