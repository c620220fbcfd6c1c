"""What chat pages draw of a run, by its messages alone: lookups as tool calls, and one answer that grows."""

from functools import reduce
from operator import add

import pytest
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings
from banyan.models.llm.llm_reasoner import LlmReasoner
from banyan.schemas.lookups import EntityLookup
from banyan.subagent.tool import as_subagent
from langchain_core.messages import AIMessageChunk
from langgraph.graph import START, MessagesState, StateGraph

from ... import asking
from ... import scripted_replies as scripted
from ...in_memory_calls import InMemoryCalls

opened, resources = asking.opened, asking.resources

KEPT = scripted.reply(scripted.claim("She was born in Ulm.", scripted.BORN),
                      scripted.claim("She was a mathematician.", scripted.WAS))
TEXT = "She was born in Ulm. [1]  \nShe was a mathematician. [2]"
ASKED = {"messages": [("user", asking.QUESTION)]}


@pytest.fixture
def says(resources):
    """Sets the replies of the model."""
    def says(*replies):
        endpoint = scripted.StreamingEndpoint(*replies)
        resources.fake = LlmReasoner(Settings(_env_file=None), InMemoryCalls(), lambda _: endpoint)
        return resources

    return says


def streamed(graph, **more):
    """The messages of a run as they come, but the question, and those that its state has in the end."""
    messages, state = [], {}
    for *_, kind, event in graph.stream(ASKED, stream_mode=["messages", "values"], **more):
        if kind == "messages":
            messages.append(event[0])
        else:
            state = event
    return messages, state["messages"][1:]


def answered(resources):
    return streamed(build_graph(resources), context=AskContext(knowledge_base="kb", documents=("ada", "carl")))


def test_claims_are_chunks_that_join_to_the_answers_message(says):
    chunks, (answer,) = answered(says(KEPT))
    assert [chunk.content[0]["text"] for chunk in chunks] == ["She was born in Ulm. [1]",
                                                              "  \nShe was a mathematician. [2]", ""]
    assert all(isinstance(chunk, AIMessageChunk) for chunk in chunks)
    assert {chunk.id for chunk in chunks} == {answer.id}
    joined = reduce(add, chunks)
    assert [{key: value for key, value in block.items() if key != "index"} for block in joined.content] == (
        answer.content)
    assert answer.content[0]["text"] == TEXT
    assert [note["cited_text"] for note in joined.content[0]["annotations"]] == [scripted.BORN, scripted.WAS]


def test_lookups_are_tool_calls_and_their_results_come_before_the_answer(resources):
    resources.fake.replies = [asking.look(EntityLookup(entity="Ulm"), "mathematician", thought="Unchecked.")]
    resources.fake.reply = asking.quoting(("ada", "born in Ulm"))
    messages, state = answered(resources)
    assert [message.id for message in messages] == [message.id for message in state], "each comes once"
    calls, *results, answer = messages
    assert [(call["name"], call["args"]) for call in calls.tool_calls] == [
        ("entity_search", {"entity": "Ulm"}), ("passage_search", {"query": "mathematician"})]
    assert calls.text == "", "a thought is not checked"
    assert sorted((result.name, result.tool_call_id) for result in results) == sorted(
        (call["name"], call["id"]) for call in calls.tool_calls)
    assert all(result.text and result.text != "nothing was found" for result in results)
    assert answer.text.startswith("Claim on ada")


@pytest.mark.parametrize("subgraphs", [False, True])
@pytest.mark.parametrize("streams", [False, True])
def test_in_another_graph_the_answer_has_one_id(says, resources, subgraphs, streams):
    if streams:
        says(KEPT)
    else:
        resources.fake.reply = asking.quoting(("ada", "born in Ulm"))
    parent = StateGraph(MessagesState)
    parent.add_node("documents", as_subagent("kb", resources=resources)["runnable"])
    parent.add_edge(START, "documents")
    messages, (answer,) = streamed(parent.compile(), subgraphs=subgraphs)
    assert {message.id for message in messages} == {answer.id}
    assert "".join(message.text for message in messages) == answer.text
    assert answer.name == "documents_kb"
