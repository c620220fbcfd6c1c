"""The routes as LangChain tools."""

from typing import Any

import banyan
import pytest
from banyan.agents.construction.graph import build_graph
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.schemas.retrieval import Evidence
from banyan.tools.langchain_tools import route_tools
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode


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
    return {tool.name: tool for tool in route_tools(lambda: resources.retriever("kb"))}


def test_each_route_is_a_tool_of_which_a_question_is_enough(tools):
    assert sorted(tools) == ["community_search", "dfs_search", "entity_search", "triple_search"]
    assert all("described" not in tool.tool_call_schema.model_json_schema()["properties"]
               for tool in tools.values())
    assert all(tool.args_schema.model_json_schema()["required"] == ["question"] and tool.description
               for tool in tools.values())


@pytest.mark.parametrize("name", ["entity_search", "triple_search", "dfs_search"])
def test_a_finding_names_its_document(tools, name):
    assert "[curie.md" in tools[name].invoke({"question": "Where was Marie Curie born?"})


def test_a_community_is_found_by_its_theme(tools):
    assert "Warsaw" in tools["community_search"].invoke({"question": "Warsaw"})


def test_a_graph_of_ones_own_searches_with_them(resources):
    """A parent graph whose planner calls two routes, one of them along a chain."""
    asked = "Where was Marie Curie born?"
    calls: list[Any] = [
        {"name": "triple_search", "args": {"question": asked, "limit": 2}, "id": "1"},
        {"name": "dfs_search", "args": {"question": "Of which country is it the capital?",
                                        "after": [{"question": asked, "relations": ["born_in"]}]}, "id": "2"}]
    graph = StateGraph(MessagesState)
    graph.add_node("plan", lambda _: {"messages": [AIMessage("", tool_calls=calls)]})
    graph.add_node("search", ToolNode(banyan.KnowledgeBase("kb", resources).as_tools()))
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "search")
    graph.add_edge("search", END)
    _, *found = graph.compile().invoke({"messages": [("user", "Go.")]})["messages"][1:]
    assert all(isinstance(message, ToolMessage) and message.status == "success" for message in found)
    assert [message.name for message in found] == ["triple_search", "dfs_search"]
    assert "Marie Curie born in Warsaw (in 1867) [curie.md]" in found[0].content
    assert all(isinstance(item, Evidence) for message in found for item in message.artifact)
    assert len(found[0].artifact) <= 2


def test_a_knowledge_base_that_is_not_there_is_told_to_the_agent(resources):
    tool = banyan.KnowledgeBase("absent", resources).as_tools()[0]
    message = tool.invoke({"type": "tool_call", "name": tool.name, "args": {"question": "Who?"}, "id": "1"})
    assert message.status == "error"
    assert "no knowledge base 'absent'" in message.content
