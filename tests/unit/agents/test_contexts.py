"""A run's context is checked before anything is done: a server hands on whatever a client sent."""

import pytest
from banyan.agents.construction import graph as construction
from banyan.agents.construction.state import BuildContext
from banyan.agents.contexts import ContextError, check_context
from banyan.agents.retrieval import graph as retrieval
from banyan.agents.retrieval.state import AskContext

from ... import asking


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
