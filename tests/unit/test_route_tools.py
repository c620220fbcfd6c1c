"""The routes as LangChain tools."""

import pytest
from banyan.agents.construction.graph import build_graph
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.tools.langchain_tools import route_tools


@pytest.fixture(scope="module")
def tools(tmp_path_factory, hashed_embedder):
    folder = tmp_path_factory.mktemp("documents")
    (folder / "curie.md").write_text("# Marie Curie\n\nMarie Curie was born in Warsaw in 1867.")
    (folder / "warsaw.md").write_text("# Warsaw\n\nWarsaw is the capital of Poland.")
    with Resources(Settings(home=tmp_path_factory.mktemp("home"), llm_base_url=None), hashed_embedder) as resources:
        build_graph(resources).invoke({"knowledge_base": "kb", "paths": [str(folder)]})
        yield {tool.name: tool for tool in route_tools(resources.retriever("kb"))}


def test_each_route_is_a_tool_that_takes_a_question_alone(tools):
    assert sorted(tools) == ["community_search", "dfs_search", "entity_search", "triple_search"]
    assert all(list(tool.args) == ["question"] and tool.description for tool in tools.values())


@pytest.mark.parametrize("name", ["entity_search", "triple_search", "dfs_search"])
def test_a_finding_names_its_document(tools, name):
    assert "[curie.md" in tools[name].invoke({"question": "Where was Marie Curie born?"})


def test_a_community_is_found_by_its_theme(tools):
    assert "Warsaw" in tools["community_search"].invoke({"question": "Warsaw"})
