"""The retrieval graph, with a reasoner that says what a test wants and records what it was asked."""

from collections.abc import Callable
from typing import Any

import pytest
from banyan.agents.retrieval.citing import NOT_FOUND, OWN_KNOWLEDGE
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import MAX_EARLIER, MAX_QUESTION, AskContext, QuestionError
from banyan.graph_store.errors import UnknownKnowledgeBaseError
from banyan.schemas.retrieval import (
    ROUTES,
    Claim,
    DraftAnswer,
    Passage,
    Quote,
    Reflection,
    SubAnswer,
    SubQuery,
)
from banyan.tools.retriever import Retriever
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from ..conftest import load_test_module

base, asking = load_test_module("small_base"), load_test_module("asking")

Fake = asking.Fake


@pytest.fixture(scope="module")
def opened(tmp_path_factory, hashed_embedder):
    home = tmp_path_factory.mktemp("home")
    base.people(home, "kb", hashed_embedder)
    with asking.FakeResources(home, hashed_embedder) as resources:
        yield resources


@pytest.fixture
def resources(opened):
    opened.fake = Fake()
    return opened


@pytest.fixture
def searched(monkeypatch):
    """The (route, question) of every search."""
    done: list[tuple[str, str]] = []
    search = Retriever.search

    def recorded(self, route, query, *limit):
        done.append((route, query.text))
        return search(self, route, query, *limit)

    monkeypatch.setattr(Retriever, "search", recorded)
    return done


def ask(resources, question="Where was Ada Byron born?", **context):
    return build_graph(resources).invoke({"knowledge_base": "kb", "question": question}, context=AskContext(**context))


def quoting(*quotes: tuple[str, str], answerable=True) -> Callable[[list[Passage]], DraftAnswer]:
    """A draft with one claim for each (document, words)."""

    def draft(passages):
        number = {passage.document: n for n, passage in enumerate(passages, 1)}
        return DraftAnswer(answerable=answerable, claims=[
            Claim(text=f"Claim on {document}.", quotes=[Quote(passage=number[document], words=words)])
            for document, words in quotes])

    return draft


# ---- decompose -----------------------------------------------------------------------------------


def test_the_question_and_each_part_take_every_route_once(resources, searched):
    resources.fake.parts = [SubQuery(question="Where was Ada Byron born?"), SubQuery(question="Where was Carl born?")]
    said = ask(resources, "Where were Ada Byron and Carl born?")
    assert said["sub_queries"] == ["Where were Ada Byron and Carl born?", "Where was Ada Byron born?",
                                   "Where was Carl born?"]
    assert sorted(searched) == sorted((route, text) for route in ROUTES for text in said["sub_queries"])
    assert resources.fake.steps() == ["decompose", "reflect", "answer"]
    assert said["iterations"] == 1


def test_decomposition_is_limited_whatever_the_reasoner_says(resources):
    resources.fake.parts = [SubQuery(question=f"Part {n}?") for n in range(9)]
    assert ask(resources)["sub_queries"] == ["Where was Ada Byron born?", *(f"Part {n}?" for n in range(5))]
    assert resources.fake.said_to("decompose")[0][2] == 5
    resources.fake = Fake()
    resources.fake.parts = [SubQuery(question=f"Part {n}?") for n in range(9)]
    assert len(ask(resources, max_sub_queries=2)["sub_queries"]) == 3


def test_a_part_equal_to_the_question_brings_its_schema_elements(resources, searched):
    resources.fake.parts = [SubQuery(question="where was  Ada Byron BORN?", routes=("triple",))]
    assert len(ask(resources)["sub_queries"]) == 1
    # And so does its second hop.
    assert searched == [("triple", "where was Ada Byron BORN?"), ("triple", "where was BORN?")]


def test_a_question_that_is_not_taken_apart_has_a_second_hop(resources, searched):
    said = ask(resources, "Who else was born where Ada Byron was?")
    assert said["sub_queries"] == ["Who else was born where Ada Byron was?"], "the rest is no question of its own"
    assert set(searched) == {(route, text) for route in ROUTES for text in (
        "Who else was born where Ada Byron was?", "Who else was born where was?")}


@pytest.mark.parametrize(("question", "parts"), [
    ("Who lives in towns?", []), ("Ada Byron?", []), ("Where was Ada Byron born?", ["Who was Ada Byron?"])])
def test_there_is_no_second_hop_without_names_nor_words_beside_them_nor_after_a_decomposition(
        resources, searched, question, parts):
    resources.fake.parts = [SubQuery(question=part) for part in parts]
    ask(resources, question)
    assert {text for _, text in searched} == {question, *parts}


def test_a_route_searches_all_sub_queries_of_a_round_at_once(resources):
    resources.fake.parts = [SubQuery(question=f"Part {n}?") for n in range(3)]
    resources.fake.reflections = [Reflection(sufficient=False, sub_queries=[
        SubQuery(question=f"More {n}?", routes=("triple",)) for n in range(2)])]
    updates = build_graph(resources).stream({"knowledge_base": "kb", "question": "Where?"}, stream_mode="updates")
    runs = [(node, {found["number"] for found in state["found"]}) for update in updates
            for node, state in update.items() if node.endswith("_search")]
    assert sorted(runs[:4]) == sorted((f"{route}_search", {0, 1, 2, 3}) for route in ROUTES)
    assert runs[4:] == [("triple_search", {4, 5})]


def test_a_part_that_waits_for_an_answer_is_searched_by_its_words_and_again_when_it_is_filled(resources, searched):
    resources.fake.parts = [SubQuery(question="Where was Ada Byron born?"),
                            SubQuery(question="On which river is {answer 1}?")]
    resources.fake.reflections = [Reflection(
        sufficient=False, sub_answers=[SubAnswer(question="Where was Ada Byron born?", answer="Ulm")],
        sub_queries=[SubQuery(question="On which river is Ulm?"), SubQuery(question="Which sea is {answer 2} near?")])]
    said = ask(resources, "On which river is the birthplace of Ada Byron?")
    assert said["sub_queries"] == ["On which river is the birthplace of Ada Byron?", "Where was Ada Byron born?",
                                   "On which river is {answer 1}?", "On which river is Ulm?"]
    assert not any("#" in text for _, text in searched)
    assert sorted(searched) == sorted((route, text) for route in ROUTES for text in (
        "On which river is the birthplace of Ada Byron?", "Where was Ada Byron born?", "On which river is ?",
        "On which river is Ulm?"))
    first, second = (arguments[1] for arguments in resources.fake.said_to("reflect"))
    assert [item.question for item in first] == ["Where was Ada Byron born?", "On which river is {answer 1}?"]
    assert (second[0].question, second[0].answer) == ("Where was Ada Byron born?", "Ulm")
    assert second[-1] == SubAnswer(question="On which river is Ulm?")
    assert said["iterations"] == 2


@pytest.mark.parametrize(("question", "asked", "rest"), [
    ("Was Ada Byron the #1 of Ulm?", "Was Ada Byron the #1 of Ulm?", "Was the #1 of ?"),
    ("Did Ada Byron have the #1 hit?", "Did Ada Byron have the #1 hit?", "Did have the #1 hit?"),
    ("Is Ada Byron [PERSON#277]?", "Is Ada Byron [PERSON#277]?", "Is [PERSON#277]?"),
    # What looks like a reference to an answer is text in a question.
    ("Does Ada Byron print {answer 1}?", "Does Ada Byron print (answer 1)?", "Does print (answer 1)?")])
def test_a_question_with_a_sign_like_a_reference_is_searched_as_it_is(resources, searched, question, asked, rest):
    said = ask(resources, question)
    assert said["sub_queries"] == [asked]
    assert {route for route, _ in searched} == set(ROUTES)
    assert {text for _, text in searched} == {asked, rest}
    assert resources.fake.said_to("answer")[0][0] == asked


# ---- reflect -------------------------------------------------------------------------------------


def test_new_sub_queries_are_searched_once_and_never_repeated(resources, searched):
    again = [SubQuery(question="Where was Ada Byron born?"), SubQuery(question="Is ULM  a city?"),
             SubQuery(question="Is Ulm a city?")]
    resources.fake.reflections = [Reflection(sufficient=False, sub_queries=again),
                                  Reflection(sufficient=False, sub_queries=again)]
    said = ask(resources)
    assert said["sub_queries"] == ["Where was Ada Byron born?", "Is Ulm a city?"]
    assert said["iterations"] == 2
    assert sorted(searched) == sorted((route, text) for route in ROUTES for text in (
        "Where was Ada Byron born?", "Where was born?", "Is Ulm a city?")), "the second hop too is searched once"
    assert resources.fake.steps() == ["decompose", "reflect", "reflect", "answer"]


def test_rounds_are_capped(resources):
    resources.fake.reflections = [Reflection(sufficient=False, sub_queries=[SubQuery(question=f"More {n}?")])
                                  for n in range(20)]
    said = ask(resources)
    assert said["iterations"] == 3
    assert said["sub_queries"] == ["Where was Ada Byron born?", "More 0?", "More 1?"]
    assert resources.fake.steps() == ["decompose", "reflect", "reflect", "reflect", "answer"]


def test_the_cap_on_rounds_can_be_set(resources):
    resources.fake.reflections = [Reflection(sufficient=False, sub_queries=[SubQuery(question=f"More {n}?")])
                                  for n in range(20)]
    assert ask(resources, max_rounds=1)["iterations"] == 1
    assert resources.fake.steps() == ["decompose", "reflect", "answer"]


def test_new_sub_queries_of_a_round_are_limited(resources):
    resources.fake.reflections = [Reflection(
        sufficient=False, sub_queries=[SubQuery(question=f"More {n}?") for n in range(9)])]
    assert len(ask(resources)["sub_queries"]) == 1 + 5


def test_answers_found_on_the_way_reach_the_answer(resources):
    resources.fake.parts = [SubQuery(question="Where was Ada Byron born?")]
    found = SubAnswer(question="Where was Ada Byron born?", answer="Ulm")
    resources.fake.reflections = [Reflection(sufficient=True, sub_answers=[found])]
    ask(resources)
    (step,) = resources.fake.said_to("answer")[0][1]
    assert (step.question, step.answer, step.missing) == (found.question, "Ulm", "")
    assert "Ada Byron born in Ulm" in step.facts


def test_what_was_missing_is_remembered_until_it_is_found(resources):
    resources.fake.parts = [SubQuery(question="Where was Ada Byron born?"), SubQuery(question="Where did she live?")]
    resources.fake.reflections = [Reflection(
        sufficient=False, missing="where she lived", sub_answers=[SubAnswer(question="Where was Ada Byron born?",
                                                                           answer="Ulm")],
        sub_queries=[SubQuery(question="In which city did Ada Byron live?")])]
    ask(resources)
    steps = resources.fake.said_to("reflect")[1][1]
    assert [step.missing for step in steps] == ["", "where she lived", ""]


# ---- switches ------------------------------------------------------------------------------------


def test_without_the_agent_there_is_one_round(resources):
    resources.fake.parts = [SubQuery(question="Where is Ulm?")]
    said = ask(resources, agent=False)
    assert resources.fake.steps() == ["decompose", "answer"]
    assert said["iterations"] == 1
    assert "Where is Ulm?" in said["sub_queries"]


def test_without_decomposition_the_question_is_searched_as_it_is(resources, searched):
    said = ask(resources, agent=False, decompose=False)
    assert resources.fake.steps() == ["answer"]
    assert said["iterations"] == 1
    assert said["sub_queries"] == ["Where was Ada Byron born?"]
    # The second hop needs no reasoner.
    assert sorted(searched) == sorted((route, text) for route in ROUTES for text in (
        "Where was Ada Byron born?", "Where was born?"))


@pytest.mark.parametrize("routes", [("entity",), ("triple", "dfs"), ()])
def test_only_the_routes_switched_on_are_searched(resources, searched, routes):
    ask(resources, routes=routes)
    assert {route for route, _ in searched} == set(routes)
    # Dense and lexical search rank the passages even without any route.
    assert "ada" in {passage.document for passage in resources.fake.said_to("answer")[0][2]}


# ---- answers and citations -----------------------------------------------------------------------


def test_citations_are_numbered_and_stand_in_the_stored_text(resources):
    resources.fake.draft = quoting(("ada", "She was born in Ulm"), ("ulm", "Ulm lies on the\nriver Danube."),
                                   ("zh", "林小雨出生于宁波"), ("ada", "She was born in Ulm"))
    said = ask(resources)
    assert said["answer"].splitlines() == ["Claim on ada. [1]", "Claim on ulm. [2]", "Claim on zh. [3]",
                                           "Claim on ada. [1]"]
    assert not said["abstained"]
    assert [citation["id"] for citation in said["citations"]] == [1, 2, 3]
    documents = resources.knowledge_base("kb").documents
    for citation in said["citations"]:
        assert set(citation) == {"id", "document", "start", "end", "quote", "metadata", "page"}
        assert documents.get(citation["document"]).text[citation["start"]:citation["end"]] == citation["quote"]
    assert said["citations"][2]["quote"] == "林小雨出生于宁波"


def test_a_quote_with_other_case_and_spaces_is_cited_in_the_sources_words(resources):
    resources.fake.draft = quoting(("ulm", "ulm lies on the river DANUBE"))
    assert ask(resources)["citations"][0]["quote"] == "Ulm lies on the\nriver Danube"


def test_reject_abstains_when_the_reasoner_finds_no_answer(resources):
    resources.fake.draft = quoting(("ada", "She was born in Ulm"), answerable=False)
    said = ask(resources)
    assert said["abstained"]
    assert said["answer"].startswith(NOT_FOUND)
    assert 0 < len(said["citations"]) <= 3
    documents = resources.knowledge_base("kb").documents
    assert all(documents.get(c["document"]).text[c["start"]:c["end"]] == c["quote"] for c in said["citations"])


@pytest.mark.parametrize("words", ["She was born in Rome", "", "  ", "BORN IN UL", "born in Ul",
                                   "Germany on 3 May 1801 in Rome"])
def test_reject_abstains_when_no_quote_stands_in_the_source(resources, words):
    resources.fake.draft = quoting(("ada", words))
    said = ask(resources)
    assert said["abstained"]
    assert said["answer"].startswith(NOT_FOUND)
    assert 0 < len(said["citations"]) <= 3
    documents = resources.knowledge_base("kb").documents
    assert all(documents.get(c["document"]).text[c["start"]:c["end"]] == c["quote"] for c in said["citations"])


def test_reject_leaves_out_the_claim_that_was_made_up(resources):
    resources.fake.draft = quoting(("ada", "She was born in Rome"), ("ulm", "Ulm is a city in Germany."))
    said = ask(resources)
    assert said["answer"] == "Claim on ulm. [1]"
    assert len(said["citations"]) == 1


@pytest.mark.parametrize("number", [0, -1, 99])
def test_a_quote_of_a_passage_that_was_not_given_is_not_cited(resources, number):
    resources.fake.draft = lambda _: DraftAnswer(answerable=True, claims=[
        Claim(text="So.", quotes=[Quote(passage=number, words="Ulm")])])
    assert ask(resources)["abstained"]


def test_open_marks_what_is_not_from_the_documents(resources):
    resources.fake.draft = quoting(("ada", "She was born in Rome"), ("ulm", "Ulm is a city in Germany."),
                                   answerable=False)
    said = ask(resources, mode="open")
    assert said["answer"].splitlines() == [f"Claim on ada. {OWN_KNOWLEDGE}", "Claim on ulm. [1]"]
    assert not said["abstained"]
    assert resources.fake.said_to("answer")[0][3] == "open"


def test_open_without_any_claim_abstains(resources):
    assert ask(resources, mode="open")["abstained"]


# ---- chat and streams ----------------------------------------------------------------------------


def test_a_follow_up_is_condensed_and_the_answer_joins_the_messages(resources):
    resources.fake.draft = quoting(("ada", "She was born in Ulm"))
    messages = [HumanMessage("Who was Ada Byron?"), AIMessage("A mathematician."), HumanMessage("Where was she born?")]
    said = build_graph(resources).invoke({"knowledge_base": "kb", "messages": messages})
    assert resources.fake.said_to("condense") == [
        ("Where was she born?", [("user", "Who was Ada Byron?"), ("assistant", "A mathematician.")])]
    assert said["sub_queries"] == ["Where was she born? (of Ada Byron)"]
    assert [message.type for message in said["messages"]] == ["human", "ai", "human", "ai"]
    assert said["messages"][-1].text == said["answer"] == "Claim on ada. [1]"


def test_a_first_question_is_not_condensed(resources):
    said = build_graph(resources).invoke({"knowledge_base": "kb", "messages": [("user", "Where was Ada born?")]})
    assert "condense" not in resources.fake.steps()
    assert said["sub_queries"] == ["Where was Ada born?"]


def test_a_conversation_is_kept_by_its_thread_and_each_question_begins_anew(resources):
    graph = build_graph(resources, InMemorySaver())
    config: Any = {"configurable": {"thread_id": "one"}}
    resources.fake.reflections = [Reflection(sufficient=False, sub_queries=[SubQuery(question="Is Ulm a city?")])]
    resources.fake.draft = quoting(("ada", "She was born in Ulm"))
    first = graph.invoke({"knowledge_base": "kb", "messages": [("user", "Where was Ada born?")]}, config)
    assert first["iterations"] == 2
    resources.fake.draft = lambda _: DraftAnswer(answerable=False)
    second = graph.invoke({"messages": [("user", "And Carl?")]}, config)
    assert second["iterations"] == 1
    assert second["sub_queries"] == ["And Carl? (of Ada Byron)"]
    assert second["abstained"]
    assert second["answer"].startswith(NOT_FOUND)
    assert len(second["messages"]) == 4
    earlier = resources.fake.said_to("condense")[0][1]
    assert [role for role, _ in earlier] == ["user", "assistant"]


def test_progress_is_streamed(resources):
    resources.fake.parts = [SubQuery(question="Where was Ada Byron born?")]
    resources.fake.reflections = [Reflection(sufficient=False, sub_queries=[SubQuery(question="Is Ulm a city?")])]
    events = list(build_graph(resources).stream({"knowledge_base": "kb", "question": "Where?"}, stream_mode="custom"))
    found = {event["step"]: event["found"] for event in reversed(events)}
    assert [event["step"] for event in events if event["step"] != "search"] == [
        "question", "decompose", "fuse", "reflect", "fuse", "reflect", "answer"]
    assert found["decompose"] == ["Where?", "Where was Ada Byron born?"]
    assert "Ada Byron" in found["fuse"]
    assert found["reflect"] == ["Is Ulm a city?"]
    assert all(event["trace"]["step"] == event["step"] for event in events)


def test_the_output_is_small(resources):
    assert set(ask(resources)) == {"answer", "abstained", "confidence", "short", "citations", "sub_queries",
                                   "iterations", "messages"}


@pytest.mark.parametrize("question", ["", "  \n"])
def test_an_empty_question_is_an_error(resources, question):
    with pytest.raises(QuestionError, match="empty"):
        ask(resources, question)
    assert resources.fake.calls == []


@pytest.mark.parametrize("question", [7, ["who"], {"text": "who"}])
def test_a_question_that_is_no_text_is_an_error(resources, question):
    with pytest.raises(QuestionError, match=f"the question is a text, not {type(question).__name__}"):
        ask(resources, question)


def test_a_question_that_is_too_long_is_an_error(resources):
    with pytest.raises(QuestionError, match="10,001 characters"):
        ask(resources, "x" * (MAX_QUESTION + 1))
    assert ask(resources, "x" * MAX_QUESTION)["abstained"]


def test_a_knowledge_base_that_is_not_there_is_an_error(resources):
    with pytest.raises(UnknownKnowledgeBaseError):
        build_graph(resources).invoke({"knowledge_base": "absent", "question": "Who?"})


def test_the_context_may_name_the_knowledge_base(resources):
    said = build_graph(resources).invoke({"question": "Where?"}, context=AskContext(knowledge_base="kb"))
    assert said["abstained"]


def test_each_sub_query_is_embedded_once(resources, monkeypatch):
    kind = type(resources.embedder)
    encode, seen = kind.encode, []
    monkeypatch.setattr(kind, "encode", lambda self, texts: seen.extend(texts) or encode(self, texts))
    resources.fake.parts = [SubQuery(question="Is this embedded anew?")]
    resources.fake.reflections = [Reflection(sufficient=False, sub_queries=[SubQuery(question="And this one?")])]
    ask(resources, "How often is it embedded?")
    assert sorted(seen) == sorted(["How often is it embedded?", "Is this embedded anew?", "And this one?"])


def test_of_a_long_conversation_the_newest_part_is_read(resources):
    long = [HumanMessage("old " * 20_000), AIMessage("answer " * 10_000), HumanMessage("newest"), AIMessage("last")]
    build_graph(resources).invoke({"knowledge_base": "kb", "messages": [*long, HumanMessage("And when?")]})
    earlier = resources.fake.said_to("condense")[-1][1]
    assert [text for _, text in earlier][-2:] == ["newest", "last"]
    assert sum(len(text) for _, text in earlier) == MAX_EARLIER
