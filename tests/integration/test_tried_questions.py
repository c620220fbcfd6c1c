"""Example questions are tried before they are offered, and trying costs nothing."""

import pytest
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.server.example_questions import TriedQuestions, example_questions
from banyan.server.graph_view import GraphView

pytestmark = pytest.mark.integration


def test_questions_without_an_answer_are_not_offered_whatever_model_is_set(english_store):
    # Nothing answers at this endpoint: whoever asked it would fail.
    settings = Settings(_env_file=None, home=english_store / "home", llm_model="none",
                        llm_base_url="http://127.0.0.1:9/v1")
    with Resources(settings) as resources:
        tried, view = TriedQuestions(resources), GraphView(resources.retriever("english").index)
        assert not tried.is_answered("english", "Which river flows through the capital of Peru?")
        offered = example_questions(view, lambda question: tried.is_answered("english", question))
        assert len(offered) == 3
        assert all(tried.is_answered("english", question) for question in offered)
        # Nothing is offered that is not answered.
        assert example_questions(view, lambda _: False) == []
