"""A run's context and its choice of models are checked before anything is done or paid: clients send whatever."""

import pytest
from banyan.agents.construction import graph as construction
from banyan.agents.construction.state import BuildContext
from banyan.agents.retrieval import graph as retrieval
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.agents.run_checks import ContextError, ModelChoiceError, check_context, check_models
from banyan.config import Settings

from ... import asking, small_base


@pytest.mark.parametrize("context", [
    AskContext(), AskContext(mode="strict"),
    AskContext(mode="open", routes=["passage"], beta=1, max_rounds=2, models={"answer": "x"}),
    BuildContext(), BuildContext(review=True, max_tokens=7, max_cost=0.5)])
def test_what_is_declared_is_taken(context):
    check_context(context)


@pytest.mark.parametrize(("context", "why"), [
    (AskContext(mode="mad"), "mode is 'mad': Input should be 'reject', 'strict' or 'open'"),
    (AskContext(agent="false"), "agent is 'false': Input should be a valid boolean"),
    (AskContext(routes=["dfs", "bus"]), "routes.1 is 'bus'"), (AskContext(max_rounds="9"), "max_rounds is '9'"),
    (AskContext(models={"extract": "x"}), "models.extract"), (AskContext(beta=object()), "beta"),
    (BuildContext(review=1), "review is '1'"), (BuildContext(max_cost="free"), "max_cost is 'free'")])
def test_what_is_not_is_told(context, why):
    with pytest.raises(ContextError, match=f"the context's {why}"):
        check_context(context)


def test_both_graphs_check_it_first(tmp_path, hashed_embedder):
    with asking.FakeResources(tmp_path, hashed_embedder) as resources:
        with pytest.raises(ContextError):
            construction.build_graph(resources).invoke({"knowledge_base": "kb"}, context=BuildContext(review="yes"))
        assert not (tmp_path / "kb").exists()
        with pytest.raises(ContextError):
            retrieval.build_graph(resources).invoke({"knowledge_base": "kb", "question": "?"},
                                                    context=AskContext(trace="yes"))


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
    ({"answer": ""}, "`models` names a model for each step")])
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
