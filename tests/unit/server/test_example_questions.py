"""Questions that a knowledge base's own graph can answer."""

import pytest
from banyan.server.example_questions import example_questions
from banyan.server.graph_view import GraphView
from banyan.tools.index import RetrievalIndex

from ...hashed_embedding import HashedEmbedder
from ...small_base import create, finish, put


@pytest.fixture
def kb(tmp_path):
    with create(tmp_path, "kb", HashedEmbedder()) as made, made.writing():
        put(made, "one", "Radium was discovered by Zofia Nowak.",
            triples=[("Radium", "discovered_by", "Zofia Nowak")])
        put(made, "two", "Zofia Nowak was born in Radom. Zofia Nowak taught Carl Berg.",
            triples=[("Zofia Nowak", "born_in", "Radom"), ("Zofia Nowak", "taught", "Carl Berg")])
        put(made, "zh", "林小雨出生于宁波。", triples=[("林小雨", "born_in", "宁波")])
        finish(made)
        yield made


def test_examples_are_of_different_forms_and_one_goes_over_two_facts(kb):
    first, *others = example_questions(GraphView(RetrievalIndex(kb)))
    assert first == "Where was the discoverer of Radium born?"
    assert set(others) < {"How is Zofia Nowak related to Carl Berg?", "Who discovered Radium?",
                          "Where was Zofia Nowak born?", "林小雨出生在哪里？"}


def test_questions_begin_with_the_entities_they_are_to_be_about_in_the_language_of_their_names(kb):
    view = GraphView(RetrievalIndex(kb))
    (entity,) = [node.id for node in view.nodes if node.name == "林小雨"]
    assert example_questions(view, about=[entity]) == ["林小雨出生在哪里？"]


def test_only_questions_that_were_answered_when_tried_are_suggested(kb):
    tried = []

    def is_answered(question):
        tried.append(question)
        return "Radium" not in question

    suggested = example_questions(GraphView(RetrievalIndex(kb)), is_answered)
    assert suggested
    assert set(suggested) < set(tried)
    assert not [question for question in suggested if "Radium" in question]


def test_a_base_whose_questions_are_not_answered_gets_no_suggestions(kb):
    tried = []
    assert example_questions(GraphView(RetrievalIndex(kb)), lambda question: bool(tried.append(question))) == []
    assert 0 < len(tried) <= 15


def test_a_graph_without_facts_has_no_questions(tmp_path):
    with create(tmp_path, "kb", HashedEmbedder()) as empty:
        assert example_questions(GraphView(RetrievalIndex(empty))) == []
