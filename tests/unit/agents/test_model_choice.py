"""Another model for a question's steps: asked for those alone, or refused before anything is paid."""

import pytest
from banyan.agents.model_choice import ModelChoiceError, check_models
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings

from ... import asking, small_base


def settings(**more):
    return Settings(_env_file=None, **{"llm_base_url": "http://x", "llm_model": "small", **more})


@pytest.mark.parametrize("models", [{}, {"answer": "large"}, {"condense": "a", "decompose": "b", "reflect": "c"}])
def test_who_runs_the_process_may_choose_any(models):
    check_models(models, settings(), served=False)


@pytest.mark.parametrize("models", [{}, {"answer": "small"}, {"answer": "large"}, {"reflect": "tiny", "answer": "big"}])
def test_clients_may_choose_what_is_set_or_offered(models):
    check_models(models, settings(llm_model_extract="large", server_models="big, tiny"), served=True)


@pytest.mark.parametrize(("models", "why"), [
    ({"answer": "dear"}, "the server does not offer 'dear': choose among big, small, or .* BANYAN_SERVER_MODELS"),
    ({"extract": "small"}, "no model can be chosen for 'extract': a question has the steps condense"),
    ({"answer": ""}, "`models` names a model for each step"), ({"answer": 7}, "`models` names"),
    (["small"], "`models` names")])
def test_what_cannot_be_chosen_is_told(models, why):
    with pytest.raises(ModelChoiceError, match=why):
        check_models(models, settings(server_models="big"), served=True)


def test_the_rules_have_no_models(tmp_path, hashed_embedder):
    small_base.people(tmp_path, "kb", hashed_embedder)
    with asking.FakeResources(tmp_path, hashed_embedder) as resources, pytest.raises(
            ModelChoiceError, match="while the rules answer: set BANYAN_LLM_BASE_URL"):
        build_graph(resources).invoke({"knowledge_base": "kb", "question": "Where?"},
                                      context=AskContext(models={"answer": "large"}))
    assert resources.fake.inquiries == [], "refused before anything is paid"
