"""A question is answered from one state of its knowledge base, whatever is published meanwhile."""

import pytest
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.question_states import QuestionStates
from banyan.agents.retrieval.state import AskContext
from banyan.models.reasoner import ReasonerError

from ... import scripted


@pytest.fixture
def shop(tmp_path, hashed_embedder):
    made = scripted.Workshop(tmp_path, hashed_embedder)
    made.copy_built()
    return made


def test_what_is_published_between_two_steps_changes_nothing(shop):
    with shop.resources() as resources:
        seen, reasoner = [], resources.scripted
        reflect, answer = reasoner.reflect, reasoner.answer

        def reflected(question, history, passages, schema):
            seen.append(passages)
            resources.delete_documents("kb", ["a.txt"])
            return reflect(question, history, passages, schema)

        def answered(question, history, passages, mode):
            seen.append(passages)
            return answer(question, history, passages, mode)

        reasoner.reflect, reasoner.answer = reflected, answered
        graph, asked = build_graph(resources), {"knowledge_base": "kb", "question": "Who is Ada's employer?"}
        result = graph.invoke(asked, context=AskContext(mode="open", abstain_below=0))
        before, after = seen
        assert before == after
        assert "a.txt" in {passage.document for passage in after}
        assert result["citations"], "they are checked against the documents of that state"
        reasoner.reflect = reflect
        graph.invoke(asked)
        assert "a.txt" not in {passage.document for passage in seen[-1]}, "the next question sees the new one"


def test_an_answered_question_lets_its_state_go(shop, monkeypatch):
    kept = []
    begin = QuestionStates.begin
    monkeypatch.setattr(QuestionStates, "begin", lambda self, name, retriever: kept.append(
        (self, begin(self, name, retriever))) or kept[-1][1])
    with shop.resources() as resources:
        graph, asked = build_graph(resources), {"knowledge_base": "kb", "question": "Who is Ada's employer?"}
        graph.invoke(asked)
        (readings, revision), = kept
        assert readings.get("kb", revision) is None


def test_a_state_is_let_go_when_its_last_question_is_answered(shop):
    readings = QuestionStates()
    with shop.resources() as resources:
        retriever = resources.retriever("kb")
        revision = readings.begin("kb", retriever)
        assert readings.begin("kb", retriever) == revision
        readings.end("kb", revision)
        assert readings.get("kb", revision) is retriever
        assert readings.get("other", revision) is None
        readings.end("kb", revision)
        assert readings.get("kb", revision) is None
        readings.end("kb", revision)


def test_a_state_that_is_not_kept_is_the_newest(shop, monkeypatch):
    """As when a question goes on in another process."""
    monkeypatch.setattr(QuestionStates, "get", lambda *_: None)
    with shop.resources() as resources:
        assert build_graph(resources).invoke({"knowledge_base": "kb", "question": "Who is Ada's employer?"})["messages"]


def test_a_step_that_fails_keeps_others_from_nothing(shop):
    with shop.resources() as resources:
        answer = resources.scripted.answer

        def fail(*_):
            raise ReasonerError("the endpoint refused")

        resources.scripted.answer = fail
        graph, asked = build_graph(resources), {"knowledge_base": "kb", "question": "Who is Ada's employer?"}
        with pytest.raises(ReasonerError):
            graph.invoke(asked)
        resources.scripted.answer = answer
        assert graph.invoke(asked)["messages"]


def test_a_question_reads_by_the_newest_reader_of_its_state(shop):
    """The connection of an earlier one may have been lost, and a question that failed by it never ends."""
    with shop.resources() as resources:
        earlier = resources.retriever("kb")
        resources.readers.forget("kb")
        later = resources.retriever("kb")
        assert later is not earlier
        readings = QuestionStates()
        revision = readings.begin("kb", earlier)
        assert readings.begin("kb", later) == revision
        assert readings.get("kb", revision) is later
