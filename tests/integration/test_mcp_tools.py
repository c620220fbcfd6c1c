"""The MCP server's tools, called by the SDK's client within the process."""

import asyncio

import banyan
import pytest
from banyan.schemas.lookups import TOOLS
from banyan.subagent.mcp_tools import mcp_server
from mcp import Client

from .. import rest


@pytest.fixture
def empty(tmp_path, hashed_embedder):
    settings = banyan.Settings(home=tmp_path, llm_base_url=None, _env_file=None)
    with banyan.Resources(settings, hashed_embedder) as resources:
        yield resources


def called(server, *calls):
    async def talk():
        async with Client(server) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]
    return asyncio.run(talk())


def tools(server):
    async def talk():
        async with Client(server) as client:
            return {tool.name: tool for tool in (await client.list_tools()).tools}
    return asyncio.run(talk())


def test_what_is_offered_depends_on_what_is_allowed(resources):
    reading = set(tools(mcp_server(resources, writes=False)))
    assert reading == {"search", "ask", "list_knowledge_bases", "list_documents", "read_document", "tables", "schema",
                       "schema_candidates", *TOOLS}
    assert set(tools(mcp_server(resources))) - reading == {"add_document"}
    assert set(tools(mcp_server(resources, decides=True))) - reading == {"add_document", "decide_schema"}


def test_tools_say_what_they_take_give_and_change(resources):
    offered = tools(mcp_server(resources, decides=True))
    assert all(tool.description and tool.output_schema["type"] == "object" for tool in offered.values())
    hints = {name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
             for name, tool in offered.items()}
    changing = {"add_document", "decide_schema"}
    assert hints == {name: (name not in changing, name in changing) for name in offered}
    assert set(offered["ask"].input_schema["properties"]) == {
        "question", "knowledge_base", "mode", "documents", "where"}
    assert offered["ask"].input_schema["required"] == ["question"]
    assert set(offered["schema"].output_schema["properties"]) == {"version", "schema"}


def test_without_one_the_only_one_is_meant_and_an_unknown_one_is_told_which_there_are(resources):
    (answer, wrong) = called(mcp_server(resources), ("search", {"query": "Ada"}),
                             ("search", {"query": "Ada", "knowledge_base": "peopel"}))
    assert not answer.is_error
    assert "there is no knowledge base 'peopel'; there are: people" in wrong.content[0].text


@pytest.mark.parametrize(("lookup", "arguments", "said"), [
    ("entity_search", {"entity": "Ada Byron"}, "Ulm"), ("triple_search", {"relation": "born_in"}, "Ulm"),
    ("dfs_search", {"start": "Ada Byron", "end": "Ulm"}, "Ada Byron -born in-> Ulm"),
    ("community_search", {}, "Ada Byron"),
    ("passage_search", {"query": "Where was Ada Byron born?", "documents": ["ada"]}, "Ulm")])
def test_a_lookup_finds_what_the_tool_of_the_python_api_finds(resources, lookup, arguments, said):
    (found, unknown) = called(mcp_server(resources, knowledge_base="people"), (lookup, arguments),
                              (lookup, {**arguments, "knowledge_base": "nowhere"}))
    (tool,) = (one for one in banyan.KnowledgeBase("people", resources).as_tools() if one.name == lookup)
    assert found.content[0].text == tool.invoke(arguments)
    assert said in found.content[0].text
    assert unknown.is_error
    assert "there is no knowledge base 'nowhere'" in unknown.content[0].text


@pytest.mark.parametrize(("tool", "arguments", "said"), [
    ("ask", {"question": " "}, "the question is empty"),
    ("ask", {"question": "Who?", "knowledge_base": "../x"}, "cannot name a knowledge base"),
    ("ask", {"question": "Who?", "mode": "free"}, "'reject', 'strict' or 'open'"),
    ("read_document", {"document": "../../etc/passwd"}, "there is no document"),
    ("add_document", {"document": "", "text": "Text."}, "at least 1 character"),
    ("decide_schema", {"who": "Eve", "decisions": [{"kind": "relation", "name": "x", "verdict": "accept"}]},
     "there is no relation 'x'")])
def test_what_goes_wrong_is_told_in_a_sentence(resources, tool, arguments, said):
    (answer,) = called(mcp_server(resources, knowledge_base="people", decides=True), (tool, arguments))
    assert answer.is_error
    assert said in answer.content[0].text


def test_a_defect_says_nothing_of_itself(resources, monkeypatch):
    def broken(name):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(resources, "snapshot", broken)
    (answer,) = called(mcp_server(resources, knowledge_base="people"), ("schema", {}))
    assert answer.is_error
    assert "secret" not in answer.content[0].text


class TestAdding:
    def test_a_document_is_read_replaced_and_cited(self, empty):
        server = mcp_server(empty, knowledge_base="new")
        first, second, answer = called(
            server, ("add_document", {"document": "falk", "title": "Ines Falk", "text": "Ines Falk was born in Graz."}),
            ("add_document", {"document": "falk", "title": "Ines Falk", "text": "Ines Falk was born in Linz."}),
            ("ask", {"question": "Where was Ines Falk born?"}))
        assert first.structured_content["documents"] == second.structured_content["documents"] == 1
        assert first.structured_content["stopped"] == ""
        assert [one["quote"] for one in answer.structured_content["citations"]] == ["Ines Falk was born in Linz."]

    def test_what_persons_decide_on_waits_for_a_decision(self, empty):
        """A document that an agent adds does not let a schema grow that persons keep to themselves."""
        server = mcp_server(empty, knowledge_base="chess", decides=True)
        called(server, ("add_document", {"document": "ines.md", "text": "Ines Falk was born in Graz."}))
        with empty.writers.step("chess", "test") as kb:
            kb.schema_control.set_policy("off")
        empty.writers.finish("chess", "test")
        _, waiting, decided, schema = called(
            server, ("add_document", {"document": "ada.md", "text": rest.DEFEATS["ada-blum.md"]}),
            ("schema_candidates", {}),
            ("decide_schema", {"who": "Eve", "decisions": [
                {"kind": "attribute", "name": "defeat", "verdict": "accept"}]}), ("schema", {}))
        assert [one["name"] for one in waiting.structured_content["candidates"]] == ["defeat"]
        assert decided.structured_content == {"version": 2, "changed": True}
        names = {one["name"] for one in schema.structured_content["schema"]["attribute_types"]}
        assert "defeat" in names
