"""The arms: what each switches off, what it sends to a reasoner, and what it may cost."""

import pytest
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.evaluation.bench.arm_answers import Asker
from banyan.evaluation.bench.arms import ARMS
from banyan.evaluation.bench.dataset_records import BenchQuestion
from banyan.evaluation.datasets import GoldPassage
from banyan.schemas.inquiry import Judgement
from banyan.schemas.lookups import EntityLookup, TripleLookup
from banyan.schemas.retrieval import Claim, DraftAnswer, Quote

from ...small_base import people

ARM = {arm.name: arm for arm in ARMS}
BORN = BenchQuestion(id="q", question="Where was Ada Byron born?", answers=("Ulm",), gold=(GoldPassage(id="ada"),),
                     facts=("She was born in Ulm",))


class Reader:
    """A reasoner that looks up two things, then quotes the first passage about Ada Byron, or says what it knows."""

    fingerprint, reasons = "reader", True

    def __init__(self):
        self.inquiries = []

    def judge(self, inquiry):
        self.inquiries.append(inquiry)
        if not inquiry.is_last and len(inquiry.rounds) == 1:
            return Judgement(lookups=[EntityLookup(entity="Ada Byron"), TripleLookup(relation="born_in")])
        quotes = [Quote(item=n, words="born in Ulm") for n, item in enumerate(inquiry.items(), 1)
                  if "born in Ulm" in item.text and item.kind == "passage"]
        return Judgement(draft=DraftAnswer(answerable=True, short="Ulm", claims=[Claim(text="In Ulm.", quotes=quotes)]))

    async def ajudge(self, inquiry):
        return self.judge(inquiry)


@pytest.fixture(scope="module")
def opened(tmp_path_factory, hashed_embedder):
    home = tmp_path_factory.mktemp("home")
    people(home, "kb", hashed_embedder)
    settings = Settings(home=home, llm_base_url=None, context_passages=2, _env_file=None)
    with Resources(settings, hashed_embedder) as resources:
        yield resources


@pytest.fixture
def asked(opened, monkeypatch):
    """Asks the question by an arm, and returns the outcome and what the reasoner was asked."""
    def ask(name, **options):
        reader = Reader()
        monkeypatch.setattr(opened, "reasoner", lambda _, models=None: reader)
        return Asker(opened, "kb", "reject", **options).ask(ARM[name], BORN), reader.inquiries

    return ask


@pytest.mark.parametrize(("name", "rounds", "lasts"), [
    ("full", 2, [False, False]), ("no-reflection", 2, [False, True]), ("no-agent", 1, [True]),
    ("no-decompose", 2, [False])])
def test_decomposition_and_reflection_are_switched_off(asked, name, rounds, lasts):
    outcome, inquiries = asked(name)
    assert [inquiry.is_last for inquiry in inquiries] == lasts
    assert len(inquiries[-1].rounds) == rounds
    assert (outcome.short, outcome.declined) == ("Ulm", False)
    assert outcome.ranks == (1,)


@pytest.mark.parametrize(("name", "mode", "shown"), [
    ("naive-dense", "reject", 2), ("naive-bm25", "reject", 2), ("naive-both", "reject", 2), ("pagerank", "reject", 2),
    ("zero-shot", "open", 0)])
def test_naive_arms_ask_once_with_the_first_passages_and_no_lookups(asked, name, mode, shown):
    outcome, inquiries = asked(name)
    (inquiry,) = inquiries
    assert (inquiry.is_last, inquiry.mode, inquiry.tools, inquiry.terms) == (True, mode, (), "")
    assert [len(one.blocks[0].items) for one in inquiry.rounds] == [shown] * bool(shown)
    assert (outcome.short, outcome.passages) == ("Ulm", shown)
    if shown:
        assert outcome.facts[outcome.ranks[0] - 1] == (0,)


def test_without_answers_passages_are_ranked_and_no_reasoner_is_asked(asked):
    for name in ("full", "no-dense", "no-decompose", "naive-both", "agentic-text"):
        outcome, inquiries = asked(name, answers=False)
        assert (inquiries, outcome.declined, outcome.calls) == ([], True, 0)
        assert outcome.ranks[0] is not None
    assert asked("no-passage", answers=False)[0].passages == 0
