"""The retrieval graph's answers and citations, conversations and streams, and questions that it refuses."""

from typing import Any

import pytest
from banyan.agents.retrieval.cited_message import answer_in, answer_message
from banyan.agents.retrieval.citing import OWN_KNOWLEDGE
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import MAX_EARLIER, MAX_QUESTION, QuestionError
from banyan.schemas.lookups import EntityLookup, PassageLookup
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from ... import asking
from ...newest import newest

ask, quoting = asking.ask, asking.quoting


def test_citations_are_numbered_and_stand_in_the_stored_text(resources):
    resources.fake.replies = [asking.look(PassageLookup(query="林小雨"))]
    resources.fake.reply = quoting(("ada", "She was born in Ulm"), ("ulm", "Ulm lies on the\nriver Danube."),
                                   ("zh", "林小雨出生于宁波"), ("ada", "She was born in Ulm"))
    said = ask(resources)
    assert said["answer"].splitlines() == [
        "Claim on ada: She was born in Ulm [1]", "Claim on ulm: Ulm lies on the river Danube. [2]",
        "Claim on zh: 林小雨出生于宁波 [3]", "Claim on ada: She was born in Ulm [1]"]
    assert not said["abstained"]
    assert [citation["id"] for citation in said["citations"]] == [1, 2, 3]
    documents = newest(resources).kb.documents
    for citation in said["citations"]:
        assert set(citation) == {"id", "document", "start", "end", "quote", "metadata", "page", "meant", "status"}
        assert documents.get(citation["document"]).text[citation["start"]:citation["end"]] == citation["quote"]
    assert said["citations"][2]["quote"] == "林小雨出生于宁波"


@pytest.mark.parametrize(("words", "answerable"), [
    ("She was born in Rome", False), ("She was born in Rome", True), ("", True), ("  ", True), ("BORN IN UL", True),
    ("born in Ul", True), ("Germany on 3 May 1801 in Rome", True)])
def test_reject_abstains_when_the_reasoner_finds_no_answer_or_no_quote_stands_in_the_source(
        resources, words, answerable):
    resources.fake.reply = quoting(("ada", words), answerable=answerable)
    said = ask(resources)
    assert said["abstained"]
    assert "Nothing close to the question was found" in said["answer"]
    assert 0 < len(said["citations"]) <= 3
    documents = newest(resources).kb.documents
    assert all(documents.get(c["document"]).text[c["start"]:c["end"]] == c["quote"] for c in said["citations"])


def test_open_marks_what_is_not_from_the_documents(resources):
    resources.fake.reply = quoting(("ada", "She was born in Rome"), ("ulm", "Ulm is a city in Germany."))
    said = ask(resources, mode="open")
    assert said["answer"].splitlines() == [
        f"Claim on ada: She was born in Rome {OWN_KNOWLEDGE}", "Claim on ulm: Ulm is a city in Germany. [1]"]
    assert not said["abstained"]
    assert resources.fake.inquiries[0].mode == "open"


def test_a_follow_up_is_condensed_and_the_answer_joins_the_messages(resources):
    resources.fake.reply = quoting(("ada", "She was born in Ulm"))
    messages = [HumanMessage("Who was Ada Byron?"), AIMessage("A mathematician."), HumanMessage("Where was she born?")]
    said = build_graph(resources).invoke({"knowledge_base": "kb", "messages": messages})
    assert resources.fake.condensed == [
        ("Where was she born?", [("user", "Who was Ada Byron?"), ("assistant", "A mathematician.")])]
    assert said["sub_queries"] == ["Where was she born? (of Ada Byron)"]
    assert [message.type for message in said["messages"]] == ["human", "ai", "human", "ai"]
    assert said["answer"] == "Claim on ada: She was born in Ulm [1]"
    answered = said["messages"][-1]
    assert answered.text == f'{said["answer"]}\n\nSources:  \n[1] ada, characters 31-50: "She was born in Ulm"'


def test_the_message_carries_its_sources_as_annotations_and_follow_ups_are_read_without_them(resources):
    resources.fake.reply = quoting(("ada", "She was born in Ulm"), ("ulm", "Ulm lies on the\nriver Danube."))
    asked = HumanMessage("Where was Ada Byron born?")
    answered = build_graph(resources).invoke({"knowledge_base": "kb", "messages": [asked]})["messages"][-1]
    block, sources = answered.content_blocks
    marks = [block["text"][note["start_index"]:note["end_index"]] for note in block["annotations"]]
    assert marks == ["[1]", "[2]"]
    assert [(note["type"], note["title"], note["cited_text"]) for note in block["annotations"]] == [
        ("citation", "ada", "She was born in Ulm"), ("citation", "ulm", "Ulm lies on the\nriver Danube.")]
    assert sources["text"].startswith("\n\nSources:  \n[1] ada, ")
    build_graph(resources).invoke({"knowledge_base": "kb", "messages": [asked, answered, HumanMessage("And where?")]})
    assert resources.fake.condensed[-1][1][1] == ("assistant", block["text"].replace("  \n", "\n"))


def test_chat_pages_show_lines_of_the_message_as_lines_and_dollars_as_dollars():
    answer = "It cost $20. [1]\nLater it cost $35. [2]"
    cited = {"document": "a.md", "start": 0, "end": 4, "quote": "$20"}
    message = answer_message(answer, [cited | {"id": 1}, cited | {"id": 2}])
    block, sources = message.content
    assert block["text"] == "It cost \\$20. [1]  \nLater it cost \\$35. [2]"
    assert [block["text"][note["start_index"]:note["end_index"]] for note in block["annotations"]] == ["[1]", "[2]"]
    assert sources["text"].splitlines()[2:4] == ["Sources:  ", '[1] a.md, characters 0-4: "\\$20"  ']
    assert answer_in(message.text) == answer


def test_a_thread_whose_last_message_is_the_answer_does_not_answer_it_again(resources):
    graph, config = build_graph(resources, InMemorySaver()), {"configurable": {"thread_id": "one"}}
    graph.invoke({"knowledge_base": "kb", "messages": [HumanMessage("Where was Ada Byron born?")]}, config)
    with pytest.raises(QuestionError, match="the last message is an answer: end the conversation with a question"):
        graph.invoke({"knowledge_base": "kb"}, config)


def test_a_rewritten_question_without_an_end_is_not_asked(resources, monkeypatch):
    """Some earlier answer may have talked the model into it."""
    async def ramble(*_):
        return "and on " * 2000

    monkeypatch.setattr(resources.fake, "condense", ramble)
    messages = [HumanMessage("Who was Ada Byron?"), AIMessage("Go on and on."), HumanMessage("Where was Ada born?")]
    said = build_graph(resources).invoke({"knowledge_base": "kb", "messages": messages})
    assert said["sub_queries"][0] == "Where was Ada born?"
    assert all(len(inquiry.question) < 100 for inquiry in resources.fake.inquiries)


def test_a_conversation_is_kept_by_its_thread_and_each_question_begins_anew(resources):
    graph = build_graph(resources, InMemorySaver())
    config: Any = {"configurable": {"thread_id": "one"}}
    resources.fake.replies = [asking.look("Is Ulm a city?", keep=[1, 2])]
    resources.fake.reply = quoting(("ada", "She was born in Ulm"))
    first = graph.invoke({"knowledge_base": "kb", "messages": [("user", "Where was Ada born?")]}, config)
    assert first["iterations"] == 2
    resources.fake.reply = lambda _: asking.NO_ANSWER
    second = graph.invoke({"messages": [("user", "And Carl?")]}, config)
    assert second["iterations"] == 1
    assert second["sub_queries"] == ["And Carl? (of Ada Byron)"]
    assert len(resources.fake.inquiries[-1].rounds) == 1
    assert second["abstained"]
    assert "Nothing close to the question was found" in second["answer"]
    assert [message.type for message in second["messages"]] == ["human", "ai", "tool", "ai", "human", "ai"]
    earlier = resources.fake.condensed[0][1]
    assert [role for role, _ in earlier] == ["user", "assistant"]


def test_progress_is_streamed(resources):
    resources.fake.replies = [asking.look(EntityLookup(entity="Danube"), thought="Which river?")]
    events = list(build_graph(resources).stream({"knowledge_base": "kb", "question": "Where?"}, stream_mode="custom"))
    found = {event["step"]: event["found"] for event in events}
    assert [event["step"] for event in events] == ["question", "first_look", "decompose", "search", "reflect", "answer"]
    assert found["question"] == ["Where?"]
    assert any("Ada Byron" in line for line in found["first_look"])
    assert found["decompose"] == ["entity_search: Danube"]
    assert found["search"] == ["<- lies on: Ulm (ulm)"]
    assert all(event["trace"]["step"] == event["step"] for event in events)


@pytest.mark.parametrize(("question", "why"), [
    ("", "empty"), ("  \n", "empty"), ("x" * (MAX_QUESTION + 1), "10,001 characters"),
    (7, "the question is a text, not int"), (["who"], "not list"), ({"text": "who"}, "not dict")])
def test_a_question_that_is_none_is_an_error(resources, question, why):
    with pytest.raises(QuestionError, match=why):
        ask(resources, question)
    assert resources.fake.inquiries == []


def test_of_a_long_conversation_the_newest_part_is_read(resources):
    long = [HumanMessage("old " * 20_000), AIMessage("answer " * 10_000), HumanMessage("newest"), AIMessage("last")]
    build_graph(resources).invoke({"knowledge_base": "kb", "messages": [*long, HumanMessage("And when?")]})
    earlier = resources.fake.condensed[-1][1]
    assert [text for _, text in earlier][-2:] == ["newest", "last"]
    assert sum(len(text) for _, text in earlier) == MAX_EARLIER


def test_an_unanswerable_question_is_told_what_the_documents_do_say(resources):
    born = asking.claim("Ada Byron was born in Ulm.", (1, "born in Ulm"))
    resources.fake.replies = [asking.answer(born, answerable=False, confidence=0.0)]
    said = asking.ask(resources, "When did Ada Byron marry?")
    assert said["answer"].splitlines()[:2] == ["The documents do not answer this. They do say:",
                                               "Ada Byron was born in Ulm. [1]"]
    assert (said["abstained"], said["grade"], said["confidence"], said["short"]) == (True, "none", 0.0, "")
    assert [citation["quote"] for citation in said["citations"]] == ["born in Ulm"]
    resources.fake.replies = [asking.answer(asking.claim("She never married.", (1, "never")), answerable=False)]
    assert asking.ask(resources, "When did Ada Byron marry?", mode="open")["abstained"]
