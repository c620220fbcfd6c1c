"""The lookups as LangChain tools."""


import banyan
import pytest
from banyan.agents.construction.graph import build_graph
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.schemas.lookups import LOOKUPS, TOOLS

from ...newest import newest


@pytest.fixture(scope="module")
def resources(tmp_path_factory, hashed_embedder):
    folder = tmp_path_factory.mktemp("documents")
    (folder / "curie.md").write_text("# Marie Curie\n\nMarie Curie was born in Warsaw in 1867.")
    (folder / "warsaw.md").write_text("# Warsaw\n\nWarsaw is the capital of Poland.")
    with Resources(Settings(home=tmp_path_factory.mktemp("home"), llm_base_url=None), hashed_embedder) as resources:
        build_graph(resources).invoke({"knowledge_base": "kb", "paths": [str(folder)]})
        yield resources


@pytest.fixture
def tools(resources):
    return {tool.name: tool for tool in banyan.KnowledgeBase("kb", resources).as_tools()}


def test_each_lookup_is_a_tool_with_its_own_arguments_alone(tools):
    assert tuple(tools) == TOOLS
    for name, tool in tools.items():
        assert tool.description
        shown = tool.tool_call_schema.model_json_schema()["properties"]
        assert set(shown) == set(LOOKUPS[name].model_fields) - {"tool"}
        assert all(field["description"] for field in shown.values())


@pytest.mark.parametrize(("name", "arguments"), [
    ("entity_search", {"entity": "Marie Curie"}), ("triple_search", {"relation": "born in"}),
    ("dfs_search", {"start": "Marie Curie"}), ("passage_search", {"query": "Where was Marie Curie born?"})])
def test_the_content_names_documents_and_the_artifact_leads_to_their_words(tools, resources, name, arguments):
    message = tools[name].invoke({"type": "tool_call", "id": "1", "name": name, "args": arguments})
    assert "curie.md" in message.content
    items = [item for block in message.artifact for item in block.items]
    assert items
    documents = newest(resources).kb.documents
    for place in (place for item in items for place in item.places or [item]):
        text = documents.get(place.document).text
        assert text[place.start:place.start + len(place.text)] == place.text


@pytest.mark.parametrize(("name", "arguments", "said"), [
    ("entity_search", {"entity": "Marie Curry"}, "Marie Curie"),
    ("entity_search", {"entity": "Curie", "at": "May"}, "May"),
    ("triple_search", {"relation": "painted"}, "born_in"), ("dfs_search", {"start": "Nobody"}, "'Nobody'"),
    ("passage_search", {"query": "Curie", "documents": ["absent"]}, "absent")])
def test_what_cannot_be_looked_up_is_said(tools, name, arguments, said):
    assert said in tools[name].invoke(arguments)


def test_a_knowledge_base_that_is_not_there_is_told_to_the_agent(resources):
    tool = banyan.KnowledgeBase("absent", resources).as_tools()[0]
    message = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": {"entity": "Curie"}})
    assert message.status == "error"
    assert "absent" in message.content
