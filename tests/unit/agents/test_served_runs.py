"""Runs that come through a LangGraph server: what they may read, and what a question may cost."""

import os

import pytest
from banyan.agents.construction.graph import build_graph as build_construction
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.agents.run_checks import ModelChoiceError
from banyan.ingest.loaders import IngestError
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
