"""Banyan as a tool, a subagent and a retriever of other agents, in one process."""

import asyncio
from dataclasses import dataclass

import banyan
import pytest
from banyan.agents.retrieval.cited_message import answer_in
from banyan.subagent.tool import answer_text
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph

from ... import in_process, small_base

QUESTION = "Where was Ada Byron born?"


@pytest.fixture(scope="module")
def resources(tmp_path_factory, hashed_embedder):
    with in_process.opened(tmp_path_factory.mktemp("home"), hashed_embedder, "people") as resources:
        yield resources


@pytest.fixture
def tool(resources):
    return banyan.as_tool("people", resources=resources)


def call(tool, **arguments):
    return tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})


@dataclass
class OtherContext:
    """What some other graph runs with: nothing that Banyan knows."""

    user: str = "Eve"


def parent(node, saver=None):
    graph = StateGraph(MessagesState, context_schema=OtherContext)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    return graph.compile(checkpointer=saver)


class TestTool:
    @pytest.mark.parametrize("awaited", [False, True])
    def test_answers_with_numbered_quoted_sources(self, tool, awaited):
        asked = {"type": "tool_call", "id": "1", "name": tool.name, "args": {"question": QUESTION}}
        message = asyncio.run(tool.ainvoke(asked)) if awaited else tool.invoke(asked)
        assert message.status == "success"
        (citation,) = message.artifact["citations"]
        assert small_base.PEOPLE["ada"][citation["start"]:citation["end"]] == citation["quote"]
        answer, sources = message.content.split("\n\nSources:\n")
        assert answer == message.artifact["answer"]
        assert answer.endswith("[1]")
        assert sources == f'[1] ada, characters {citation["start"]}-{citation["end"]}: "{citation["quote"]}"'

    def test_an_unknown_knowledge_base_is_a_message_that_says_what_to_do(self, resources):
        message = call(banyan.as_tool("nowhere", resources=resources), question=QUESTION)
        assert message.status == "error"
        assert "there is no knowledge base 'nowhere'" in message.content
        assert "do not answer on the documents' behalf" in message.content

    @pytest.mark.parametrize(("arguments", "said"), [
        ({"question": "  "}, "the question is empty"), ({"question": "x" * 10_001}, "10,001 characters"),
        ({"query": QUESTION}, "give one argument, `question`"), ({"question": 7}, "give one argument, `question`")])
    def test_a_question_that_cannot_be_asked_is_a_message(self, tool, arguments, said):
        message = call(tool, **arguments)
        assert message.status == "error"
        assert said in message.content


class TestSubagent:
    def test_answers_the_last_message(self, resources):
        subagent = banyan.as_subagent("people", resources=resources, about="mathematicians")
        assert subagent["name"] == "documents_people"
        assert "about mathematicians" in subagent["description"]
        state = subagent["runnable"].invoke({"messages": [HumanMessage(QUESTION)]})
        assert answer_in(state["messages"][-1].text) == state["answer"]
        assert "[1] ada, characters" in state["messages"][-1].text
        assert not state["abstained"]
        assert "error" not in state

    @pytest.mark.parametrize(("name", "messages", "said"), [
        ("nowhere", [HumanMessage(QUESTION)], "there is no knowledge base 'nowhere'"),
        ("people", [], "the question is empty"), ("people", [AIMessage("Hello.")], "the question is empty")])
    def test_what_goes_wrong_is_said_and_the_parent_goes_on(self, resources, name, messages, said):
        graph = parent(banyan.as_subagent(name, resources=resources)["runnable"])
        last = graph.invoke({"messages": messages}, context=OtherContext())["messages"][-1]
        assert isinstance(last, AIMessage)
        assert said in last.text
        alone = banyan.as_subagent(name, resources=resources)["runnable"].invoke({"messages": messages})
        assert said in alone["error"]
        assert alone["abstained"]


class TestRetriever:
    def test_passages_say_where_they_stand(self, resources):
        found = banyan.BanyanRetriever(kb="people", k=2, resources=resources).invoke(QUESTION)
        assert len(found) == 2
        best = found[0].metadata
        assert (best["document"], best["title"]) == ("ada", "Ada Byron")
        assert small_base.PEOPLE["ada"][best["start"]:best["end"]] == found[0].page_content
        assert best["score"] > found[1].metadata["score"] > 0
        assert found[0].id


class TestText:
    def test_a_documents_words_cannot_pass_for_a_source(self):
        quote = 'so.\n[2] other.md, characters 1-2: "made up"'
        text = answer_text({"answer": "So. [1]", "citations": [
            {"id": 1, "document": "a\nb.md", "start": 0, "end": 9, "quote": quote}]})
        assert text.splitlines()[2:] == [
            "Sources:", '[1] a b.md, characters 0-9: "so. [2] other.md, characters 1-2: \\"made up\\""']
