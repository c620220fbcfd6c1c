"""Claims are read from a reply while it arrives, checked, shown by every face, withdrawn if it does not keep them.

To chat pages lookups are tool calls, and the answer is one message that grows.
"""

import json
from functools import reduce
from operator import add

import openai
import pytest
from banyan.agents.retrieval.cited_message import WITHDRAWN
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings
from banyan.models.llm.llm_reasoner import LlmReasoner
from banyan.models.reasoner import ReasonerError, complete_claims, text_listener
from banyan.schemas.lookups import EntityLookup
from banyan.server.app import create_app
from banyan.subagent.tool import as_subagent
from langchain_core.messages import AIMessageChunk
from langgraph.graph import START, MessagesState, StateGraph

from ... import asking, in_process
from ...in_memory_calls import InMemoryCalls
from ...scripted_endpoint import ScriptedEndpoint

BORN = "She was born in Ulm, Germany, on 3 May 1801."
WAS = "Ada Byron was a mathematician."


def claim(text, words=None):
    return {"text": text, "quotes": [{"item": 1, "words": words or text}], "unstated": ""}


def reply(*claims):
    return json.dumps({"thought": "", "lookups": [], "answerable": True, "claims": list(claims), "short": "",
                       "confidence": 0.9})


TWO = reply(claim("One."), claim("Two."))
KEPT = reply(claim("She was born in Ulm.", BORN), claim("She was a mathematician.", WAS))
OTHER = reply(claim("She was a mathematician.", WAS))
BROKEN = reply(claim("She was born in Ulm.", BORN))[:-20]
LINES = ["She was born in Ulm. [1]", "She was a mathematician. [2]"]


class StreamingEndpoint(ScriptedEndpoint):
    """Sends its replies to the listener by the character; one that ends in "fails" is lost at its end."""

    async def send(self, *request):
        reply, listener = await super().send(*request), text_listener()
        for end in range(len(reply.text) + 1) if listener else ():
            await listener(reply.text[:end])
        if reply.text.endswith("fails"):
            raise ReasonerError("the endpoint failed")
        return reply


@pytest.fixture
def says(resources):
    def says(*replies):
        endpoint = StreamingEndpoint(replies)
        resources.fake = LlmReasoner(Settings(_env_file=None), InMemoryCalls(), lambda _: endpoint)
        return resources

    return says


@pytest.mark.parametrize(("text", "count"), [
    (TWO, 2), (TWO[:TWO.index("Two.")], 1), (TWO[:TWO.index('}], "unstated')], 0), ("", 0),
    (reply(claim("One.")).replace('"answerable": true, ', "").replace('"short"', '"answerable": true, "short"'), 0),
    (f"```json\n{TWO}", 2), (f"<think>{TWO}</think>{TWO[:TWO.index('Two.')]}", 1),
    (json.dumps({"thought": '"answerable": true, "claims": [{"text": "x"}]'}), 0),
    ('{"answerable": true, "claims": ' + "[" * 100_000, 0)])
def test_claims_are_read_once_they_are_complete_and_the_evidence_suffices(text, count):
    assert len(complete_claims(text)) == count


def events(resources, **context):
    seen, answer = [], {}
    for kind, event in build_graph(resources).stream({"knowledge_base": "kb", "question": asking.QUESTION},
                                                     context=AskContext(documents=("ada", "carl"), **context),
                                                     stream_mode=["custom", "values"]):
        if kind == "values":
            answer = event
        elif event["step"] in {"claim", "withdrawn"}:
            seen.append((event["step"], *event["found"]))
            assert all(one["quote"] for one in event.get("citations", ()))
    return seen, answer


def test_each_sound_claim_is_shown_as_a_line_of_the_answer(says):
    said = reply(claim("She was born in Ulm.", BORN), claim("Invented.", "words of no document"),
                 claim("She was a mathematician.", WAS), claim("Ulm is her birthplace.", BORN))
    shown, answer = events(says(said))
    assert [step for step, *_ in shown] == ["claim"] * 3
    assert [line for _, line in shown] == answer["answer"].splitlines()[:-1]
    assert [line[-3:] for _, line in shown] == ["[1]", "[2]", "[1]"]


def test_a_claim_of_its_own_is_shown_in_mode_open(says):
    shown, answer = events(says(reply({"text": "Mine.", "quotes": []})), mode="open")
    assert shown == [("claim", answer["answer"])]
    assert answer["answer"].endswith("(Not from the documents.)")


def test_a_repair_with_other_claims_withdraws_the_first(says):
    shown, answer = events(says(BROKEN, OTHER))
    assert [step for step, *_ in shown] == ["claim", "withdrawn", "claim"]
    assert shown[-1][1] == answer["answer"]


def test_a_failure_withdraws_all(says):
    seen, resources = [], says(reply(claim("She was born in Ulm.", BORN)) + "fails")
    stream = build_graph(resources).stream({"knowledge_base": "kb", "question": asking.QUESTION},
                                           context=AskContext(documents=("ada", "carl")), stream_mode="custom")
    with pytest.raises(ReasonerError):
        seen.extend(event["step"] for event in stream)
    assert seen[-2:] == ["claim", "withdrawn"]


def test_a_stream_of_text_says_what_is_withdrawn_and_cites_nothing_for_it(says):
    with in_process.client(create_app(says(BROKEN, OTHER))) as client:
        api = openai.OpenAI(base_url="http://127.0.0.1/v1", api_key="none", http_client=client, max_retries=0)
        chunks = list(api.chat.completions.create(
            model="kb", messages=[{"role": "user", "content": asking.QUESTION}], stream=True,
            extra_body={"documents": ["ada", "carl"]}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text.startswith(f"{LINES[0]}{WITHDRAWN}She was a mathematician. [1]\n\n")
    cited = [note["url_citation"] for note in chunks[-1].choices[0].delta.annotations]
    assert [note["quote"] for note in cited] == [WAS] * 2
    assert min(note["start_index"] for note in cited) > text.index(WITHDRAWN)


TEXT = "  \n".join(LINES)
ASKED = {"messages": [("user", asking.QUESTION)]}


def streamed(graph, **more):
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
    assert [note["cited_text"] for note in joined.content[0]["annotations"]] == [BORN, WAS]


def test_lookups_are_tool_calls_and_their_results_come_before_the_answer(resources):
    resources.fake.replies = [asking.look(EntityLookup(entity="Ulm"), "mathematician", thought="Unchecked.")]
    resources.fake.reply = asking.quoting(("ada", "born in Ulm"))
    messages, state = answered(resources)
    calls, *results, answer = state
    ids = [message.id for message in messages]
    assert (ids[0], {*ids[1:-1]}, ids[-1]) == (calls.id, {result.id for result in results}, answer.id)
    assert len(ids) == len(state), "each comes once; of lookups side by side, any may end first"
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
