"""A question is answered from one state of its knowledge base, whatever is published meanwhile."""

import pytest
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.question_states import QuestionStates
from banyan.models.reasoner import ReasonerError
from banyan.schemas.lookups import EntityLookup

from ... import asking, scripted, small_base


@pytest.fixture
def shop(tmp_path, hashed_embedder):
    made = scripted.Workshop(tmp_path, hashed_embedder)
    made.copy_built()
    return made


QUESTION = "Who is Ada's employer?"


def test_what_is_published_between_two_steps_changes_nothing(tmp_path, hashed_embedder):
    small_base.people(tmp_path, "kb", hashed_embedder)
    with asking.FakeResources(tmp_path, hashed_embedder) as resources:

        def delete_and_look(inquiry):
            if len(inquiry.rounds) > 1:
                return asking.quoting(("ada", "born in Ulm"), ("carl", "born in Turku"))(inquiry)
            resources.delete_documents("kb", ["ada", "carl"])
            return asking.look("Carl Berg born in Turku", EntityLookup(entity="Carl Berg"))

        resources.fake.reply = delete_and_look
        graph = build_graph(resources)
        result = graph.invoke({"knowledge_base": "kb", "question": asking.QUESTION})
        before, after = resources.fake.inquiries
        assert after.rounds[0] == before.rounds[0]
        assert after.terms == before.terms
        assert "carl" in asking.passages(after)
        assert len(result["citations"]) == 2, "they are checked against the documents of that state"
        resources.fake = asking.Fake()
        graph.invoke({"knowledge_base": "kb", "question": asking.QUESTION})
        assert not {"ada", "carl"} & set(asking.passages(resources.fake.inquiries[-1])), "the next sees the new one"


def test_an_answered_question_lets_its_state_go(shop, monkeypatch):
    kept = []
    begin = QuestionStates.begin
    monkeypatch.setattr(QuestionStates, "begin", lambda self, name, retriever: kept.append(
        (self, begin(self, name, retriever))) or kept[-1][1])
    with shop.resources() as resources:
        graph, asked = build_graph(resources), {"knowledge_base": "kb", "question": QUESTION}
        graph.invoke(asked)
        (readings, revision), = kept
        assert readings.get("kb", revision) is None


def test_a_step_that_fails_keeps_others_from_nothing(shop):
    with shop.resources() as resources:
        judge = resources.scripted.judge

        def fail(*_):
            raise ReasonerError("the endpoint refused")

        resources.scripted.judge = fail
        graph, asked = build_graph(resources), {"knowledge_base": "kb", "question": QUESTION}
        with pytest.raises(ReasonerError):
            graph.invoke(asked)
        resources.scripted.judge = judge
        assert graph.invoke(asked)["messages"]
