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
        all_of_them = example_questions(view, most=40)
        answered = [question for question in all_of_them if tried.is_answered("english", question)]
        assert 0 < len(answered) < len(all_of_them)
        offered = example_questions(view, lambda question: tried.is_answered("english", question))
        assert len(offered) == 3
        assert set(offered) <= set(answered)
