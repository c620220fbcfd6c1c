"""Agents of LangChain's `create_agent` whose answers quote what their tools showed."""

import asyncio
from typing import Any

import pytest
from banyan import CitationMiddleware
from banyan.tools.langchain_tools import lookup_tools
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from pydantic import Field

ASKED = HumanMessage("Where was Ada Byron born?")
SEARCH = AIMessage("", tool_calls=[ToolCall(name="passage_search", id="1", args={"query": "Ada Byron born"})])
HOLDS = "Ada Byron was born in Ulm. [[She was born in Ulm]]"
INVENTED = "She died in Rome. [[died in Rome in 1852]]"


class Scripted(BaseChatModel):
    replies: list[AIMessage]
    asked: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> "Scripted":
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_: Any) -> ChatResult:
        self.asked.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.replies.pop(0))])


def agent(resources, *replies: str | AIMessage, tools: list[Any] | None = None):
    model = Scripted(replies=[SEARCH, *(AIMessage(one) if isinstance(one, str) else one for one in replies)])
    tools = lookup_tools(lambda: resources.retrievers("kb")) if tools is None else tools
    return create_agent(model, tools, system_prompt="Be brief.", middleware=[CitationMiddleware()]), model


def test_quotes_that_hold_become_marks_and_sources(resources):
    graph, model = agent(resources, HOLDS)
    said = graph.invoke({"messages": [ASKED]})["messages"]
    block, sources = said[-1].content_blocks
    assert block["text"] == "Ada Byron was born in Ulm. [1]"
    assert [(note["title"], note["cited_text"]) for note in block["annotations"]] == [
        ("Ada Byron", "She was born in Ulm")]
    note = block["annotations"][0]["extras"]
    text = asking_text(resources, note["document"])
    assert text[note["start"]:note["end"]] == "She was born in Ulm"
    assert "[1] ada, characters" in sources["text"]
    assert model.asked[0][0].text.startswith("Be brief.\n\nAnswer from what the tools show")


def asking_text(resources, document):
    with resources.snapshot("kb") as snapshot:
        return snapshot.kb.documents.text(document)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_invented_quote_is_sent_back_once_and_never_shown(resources, asynchronous):
    graph, model = agent(resources, f"{HOLDS}\n{INVENTED}", f"{HOLDS}\n{INVENTED}")
    state = {"messages": [ASKED]}
    said = (asyncio.run(graph.ainvoke(state)) if asynchronous else graph.invoke(state))["messages"]
    assert [message.type for message in said] == ["human", "ai", "tool", "ai"], "nobody sees the draft"
    assert "No result contains these words:\n- died in Rome in 1852\n" in model.asked[-1][-1].text
    assert said[-1].content_blocks[0]["text"].splitlines() == [
        "Ada Byron was born in Ulm. [1]  ", "(Claims left out, as no document states them: 1.)"]
    assert "Rome" not in said[-1].text


def test_an_invented_quote_is_not_streamed(resources):
    graph, _ = agent(resources, f"{HOLDS}\n{INVENTED}", HOLDS)
    streamed = [part.text for part, _ in graph.stream({"messages": [ASKED]}, stream_mode="messages")
                if isinstance(part, AIMessage)]
    assert "Rome" not in "".join(streamed)
    assert streamed[-1].startswith("Ada Byron was born in Ulm. [1]")


def test_an_answer_without_quotes_is_sent_back_and_an_answer_that_none_supports_is_none(resources):
    graph, model = agent(resources, "She was born in Ulm.", "She was born in Ulm.")
    said = graph.invoke({"messages": [ASKED]})["messages"]
    assert model.asked[-1][-1].text.startswith("Your answer quotes nothing")
    assert said[-1].text == "I could not find the answer."


def test_other_retrievers_documents_are_quoted_by_their_source(resources):
    @tool(response_format="content_and_artifact")
    def passage_search(query: str) -> tuple[str, list[Document]]:
        """Search."""
        return "It rained.", [Document("On Monday it rained.", metadata={"source": "diary.txt", "start_index": 40})]

    graph, _ = agent(resources, "It rained on Monday. [[on monday it rained]]", tools=[passage_search])
    note = graph.invoke({"messages": [ASKED]})["messages"][-1].content_blocks[0]["annotations"][0]
    assert (note["cited_text"], note["extras"]) == (
        "On Monday it rained", {"document": "diary.txt", "start": 40, "end": 59})
