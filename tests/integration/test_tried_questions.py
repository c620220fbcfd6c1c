"""The introduction to a knowledge base: its questions are tried before they are offered, and trying costs nothing."""

from functools import partial

import pytest
from banyan.agents.example_questions import TriedQuestions
from banyan.agents.introduction import introduce
from banyan.agents.resources import Resources
from banyan.config import Settings

pytestmark = pytest.mark.integration


def test_questions_without_an_answer_are_not_offered_whatever_model_is_set(english_store):
    # Nothing answers at this endpoint: whoever asked it would fail.
    settings = Settings(_env_file=None, home=english_store / "home", llm_model="none",
                        llm_base_url="http://127.0.0.1:9/v1")
    with Resources(settings) as resources:
        tried = TriedQuestions(resources)
        assert tried.answer("english", "Which river flows through the capital of Peru?") is None
        found = introduce(resources, "english", partial(tried.answer, "english"))
        assert sorted(one.kind for one in found.examples) == ["across", "list", "lookup"]
        assert all(tried.answer("english", one.text) for one in found.examples)
        assert introduce(resources, "english", lambda _: None).examples == ()
        assert (found.documents, found.kinds, found.unread) == (16, {"Markdown": 16}, ())
        assert found.entities[0].name == "Marie Curie"
        assert found.entities[0].documents > found.entities[-1].documents > 0
        assert found.model
        assert (found.model.model, found.model.chunks) == ("none", 16)
        assert found.model.calls > 0
        lines = dict(found.lines())
        assert lines["about"].startswith("Marie Curie (")
        assert lines["try"].split("\n") == [one.text for one in found.examples]
