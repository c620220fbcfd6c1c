"""The plain agent over text alone: what it finds, how it reads on, how it ends, and that it never reads the graph."""

import pytest
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.evaluation.baselines import baselines
from banyan.evaluation.bench.arm_answers import Asker
from banyan.evaluation.bench.arms import ARMS
from banyan.evaluation.bench.dataset_records import BenchQuestion
from banyan.evaluation.bench.text_agent import STEPS, TOOLS, TextAgent
from banyan.evaluation.datasets import GoldPassage
from banyan.schemas.documents import Document
from banyan.schemas.inquiry import Judgement
from banyan.schemas.lookups import PassageLookup
from banyan.schemas.retrieval import Claim, DraftAnswer, Quote

from ... import small_base as base

QUESTION = "Where was the builder of the Northern Lamp born?"
CHAPTERS = [f"Chapter {number}. {words}" for number, words in enumerate((
    "The keeper polished brass.", "A storm broke the Northern Lamp.", "Nobody slept.", "Then glass was ordered."))]


@pytest.fixture(scope="module")
def resources(tmp_path_factory, hashed_embedder):
    home = tmp_path_factory.mktemp("home")
    with base.create(home, "kb", hashed_embedder) as kb, kb.writing():
        base.put(kb, "lamp", "The Northern Lamp was built by Ada Brandt.", title="Northern Lamp",
                 entities={"Northern Lamp": "Place", "Ada Brandt": "Person"},
                 triples=[("Northern Lamp", "built_by", "Ada Brandt")])
        base.put(kb, "ada", "Ada Brandt was an engineer. She was born in Kalmar.", title="Ada Brandt")
        base.store(kb, Document(id="diary", title="Diary", text="\n\n".join(CHAPTERS), source="test"), max_tokens=8)
        for chunk in kb.documents.chunks():
            if chunk.document_id == "diary":
                kb.extractions.save(chunk.id, "test", base.said())
                kb.schema_control.write([chunk.id])
        kb.refresh()
        base.finish(kb)
    with Resources(Settings(home=home, llm_base_url=None, _env_file=None), hashed_embedder) as resources:
        yield resources


class Scripted:
    """A reasoner that gives its judgements in turn, the last one again and again; it records what it is asked."""

    def __init__(self, *judgements):
        self.judgements = list(judgements)
        self.inquiries = []

    def judge(self, inquiry):
        self.inquiries.append(inquiry)
        found = self.judgements.pop(0) if len(self.judgements) > 1 else self.judgements[0]
        return found(inquiry) if callable(found) else found


@pytest.fixture
def agent(resources):
    return TextAgent(resources.retriever("kb"), baselines(resources.knowledge_base("kb"))["dense passages"])


def born(inquiry):
    number = next(n for n, item in enumerate(inquiry.items(), 1) if "Kalmar" in item.text)
    return Judgement(draft=DraftAnswer(answerable=True, short="Kalmar", confidence=0.9, claims=[
        Claim(text="She was born in Kalmar.", quotes=[Quote(item=number, words="born in Kalmar")])]))


def searching(query, *documents):
    return Judgement(thought=query, lookups=[PassageLookup(query=query, documents=documents)])


def test_it_searches_the_question_first_and_its_prompts_have_neither_graph_nor_terms(agent):
    reasoner = Scripted(searching("Ada Brandt"), born)
    draft, items = agent.answer(QUESTION, reasoner, "reject", 200)
    assert draft.short == "Kalmar"
    first, second = reasoner.inquiries
    assert (first.tools, first.terms, first.is_last) == (TOOLS, "", False)
    assert second.rounds[:1] == first.rounds
    assert [lookup.query for lookup in second.rounds[1].lookups] == ["Ada Brandt"]
    assert items == list(second.items())
    assert {item.kind for item in items} == {"passage"}
    assert len({item.chunk_id for item in items}) == len(items), "nothing is shown twice"


def test_in_a_named_document_it_reads_on(agent):
    reasoner = Scripted(searching("Chapter 1 storm", "Diary"), Judgement(draft=DraftAnswer(answerable=False)))
    agent.answer("Who polished?", reasoner, "reject", 60)
    (block,) = reasoner.inquiries[-1].rounds[1].blocks
    assert {item.document for item in block.items} == {"diary"}
    shown = [item.start for item in reasoner.inquiries[-1].items() if item.document == "diary"]
    assert len(shown) == len(set(shown))
    block = agent._search(PassageLookup(query="a storm broke the lamp", documents=("diary",)), 1000, set())
    best, *rest = (item.start for item in block.items)
    following = [start for start in rest if start > best]
    assert "storm" in block.items[0].text
    assert rest[:len(following)] == sorted(following)
    assert 0 in rest[len(following):], "what stands before the best passage comes last"
    unknown = agent._search(PassageLookup(query="storm", documents=("nowhere",)), 1000, set())
    assert (unknown.items, unknown.note) == ((), "nothing that was not shown before")


def test_it_ends_after_the_last_step_whatever_the_model_says(agent):
    reasoner = Scripted(lambda inquiry: searching(f"query {len(inquiry.rounds)}"))
    draft, _ = agent.answer(QUESTION, reasoner, "reject", 200)
    assert not draft.answerable
    assert [inquiry.is_last for inquiry in reasoner.inquiries] == [False] * STEPS + [True]


def test_the_arm_checks_quotes_and_measures_what_was_shown(resources, monkeypatch):
    arm = next(arm for arm in ARMS if arm.name == "agentic-text")
    question = BenchQuestion(id="q", question=QUESTION, answers=("Kalmar",), gold=(GoldPassage(id="ada"),))
    reasoner = Scripted(searching("Ada Brandt"), born)
    monkeypatch.setattr(resources, "reasoner", lambda _: reasoner)
    asker = Asker(resources, "kb", "reject")
    asker.prepare(arm)
    outcome = asker.ask(arm, question)
    assert (outcome.short, outcome.answer, outcome.declined) == ("Kalmar", "She was born in Kalmar.", False)
    assert outcome.passages == len({item.chunk_id for item in reasoner.inquiries[-1].items()})
    assert outcome.ranks[0] is not None
    ranked = Asker(resources, "kb", "reject", answers=False).ask(arm, question)
    assert (ranked.passages, ranked.declined) == (len(resources.retriever("kb").index.chunks), True)
