"""A run's context and models are checked before anything is done; what a server's clients may read, choose and cost."""

import os

import pytest
from banyan.agents.construction import graph as construction
from banyan.agents.construction.graph import build_graph as build_construction
from banyan.agents.construction.state import BuildContext
from banyan.agents.nodes import ContextError, ModelChoiceError, check_context, check_models
from banyan.agents.retrieval import graph as retrieval
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings
from banyan.ingest.reading import IngestError
from banyan.runtime.audit import entries

from ... import asking, scripted, small_base

SERVED = {"configurable": {"langgraph_request_id": None}}
TEXT = "Ada:Person --employer--> Acme:Organization."


def build(shop, config=SERVED, **given):
    with shop.resources() as resources:
        return build_construction(resources).invoke({"knowledge_base": "kb", "schema": "general", **given}, config)


def test_no_file_is_read_where_no_folder_is_named(tmp_path, hashed_embedder):
    shop = scripted.Workshop(tmp_path, hashed_embedder)
    paths = shop.write({"a.txt": TEXT})
    for given in ({"paths": paths}, {"schema": str(shop.schema)}):
        with pytest.raises(IngestError, match=r"give documents as text, .* BANYAN_SERVER_DOCUMENTS \(now ''\)"):
            build(shop, **given)
    assert not shop.settings.home.exists()
    assert build(shop, documents=[{"id": "a", "text": TEXT}], schema="auto")["report"]["documents"] == 1, "no file"
    assert build(shop, documents=[{"id": "a", "text": TEXT}])["report"]["documents"] == 1
    assert build(shop, config={}, paths=paths)["report"]["documents"] == 2, "whoever runs the process reads what it may"


def test_the_folders_named_are_read(tmp_path, hashed_embedder):
    shop = scripted.Workshop(tmp_path, hashed_embedder,
                             server_documents=os.pathsep.join([str(tmp_path / "other"), str(tmp_path / "documents")]))
    assert build(shop, paths=shop.write({"a.txt": TEXT}))["report"]["documents"] == 1
    assert build(shop, paths=[str(shop.documents)])["report"]["documents"] == 1
    (shop.documents / "link.txt").symlink_to(shop.schema)
    for outside in (shop.schema, tmp_path, shop.documents / ".." / "schema.json", shop.documents / "link.txt",
                    tmp_path / "documents2", "/etc/passwd"):
        with pytest.raises(IngestError, match="may not be read by a run that comes through a server"):
            build(shop, paths=[str(outside)])


@pytest.mark.parametrize(("config", "most"), [(SERVED, 2), ({}, 4)])
def test_a_client_may_lower_the_caps_but_not_raise_them(tmp_path, hashed_embedder, config, most):
    small_base.people(tmp_path, "kb", hashed_embedder)

    def ask(rounds):
        with asking.FakeResources(tmp_path, hashed_embedder) as resources:
            resources.settings.max_rounds = 2
            resources.fake.replies = [asking.look(f"What of {number}?") for number in range(9)]
            return build_graph(resources).invoke({"knowledge_base": "kb", "question": "Where?"}, config,
                                                 context=AskContext(max_rounds=rounds))["iterations"] - 1

    assert (ask(1), ask(4)) == (1, most)


def test_a_client_may_not_choose_any_model(tmp_path, hashed_embedder):
    small_base.people(tmp_path, "kb", hashed_embedder)
    with asking.FakeResources(tmp_path, hashed_embedder) as resources:
        resources.settings.llm_base_url = "http://127.0.0.1:9"
        graph, given = build_graph(resources), {"knowledge_base": "kb", "question": "Where?"}
        with pytest.raises(ModelChoiceError, match="the server does not offer 'dear'"):
            graph.invoke(given, SERVED, context=AskContext(models={"answer": "dear"}))
        assert resources.fake.inquiries == []
        assert graph.invoke(given, context=AskContext(models={"answer": "dear"}))["answer"]


def test_a_run_goes_on_with_the_accounts_of_another_unless_a_client_asks_for_it(tmp_path, hashed_embedder):
    shop = scripted.Workshop(tmp_path, hashed_embedder)
    for config in ({}, SERVED["configurable"]):
        build(shop, {"configurable": config | {"resumes": "first"}}, documents=[{"id": "a", "text": TEXT}])
    assert [entry.what == "run first" for entry in entries(shop.settings.home)] == [True, False]


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


@pytest.mark.parametrize(("models", "served"), [
    ({"answer": "any"}, False), ({"condense": "a", "decompose": "b", "reflect": "c"}, False), ({}, True),
    ({"answer": "small"}, True), ({"answer": "large"}, True), ({"reflect": "tiny", "answer": "big"}, True)])
def test_clients_may_choose_what_is_set_or_offered_and_who_runs_the_process_any_model(models, served):
    check_models(models, settings(llm_model_extract="large", server_models="big, tiny"), served=served)


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
