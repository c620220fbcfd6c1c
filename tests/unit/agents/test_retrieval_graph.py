"""The retrieval graph's rounds of search: what is asked of the reasoner and searched, and when it ends."""

import pytest
from banyan.agents.retrieval.graph import build_graph
from banyan.schemas.retrieval import ROUTES, Claim, DraftAnswer, Quote, Reflection, SubAnswer, SubQuery
from banyan.tools.retriever import Retriever

from ... import asking

Fake, ask = asking.Fake, asking.ask
opened, resources = asking.opened, asking.resources


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


def test_the_question_and_each_part_take_every_route_once(resources, searched):
    resources.fake.parts = [SubQuery(question="Where was Ada Byron born?"), SubQuery(question="Where was Carl born?")]
    said = ask(resources, "Where were Ada Byron and Carl born?")
    assert said["sub_queries"] == ["Where were Ada Byron and Carl born?", "Where was Ada Byron born?",
                                   "Where was Carl born?"]
    assert sorted(searched) == sorted((route, text) for route in ROUTES for text in said["sub_queries"])
    assert resources.fake.steps() == ["decompose", "reflect", "answer"]
    assert said["iterations"] == 1


def test_a_part_equal_to_the_question_brings_its_schema_elements(resources, searched):
    resources.fake.parts = [SubQuery(question="so where was  Ada Byron BORN?", routes=("triple",))]
    assert len(ask(resources)["sub_queries"]) == 1
    # And so does its second hop.
    assert searched == [("triple", "so where was Ada Byron BORN?"), ("triple", "so where was BORN?")]


def test_a_question_that_is_not_taken_apart_has_a_second_hop(resources, searched):
    said = ask(resources, "Who else was born where Ada Byron was?")
    assert said["sub_queries"] == ["Who else was born where Ada Byron was?"], "the rest is no question of its own"
    assert set(searched) == {(route, text) for route in ROUTES for text in (
        "Who else was born where Ada Byron was?", "Who else was born where was?")}


@pytest.mark.parametrize(("question", "parts"), [
    ("Who lives in towns?", []), ("Ada Byron?", []), ("So where was Ada Byron born?", ["Who was Ada Byron?"])])
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
    runs = [(node, {found.number for found in state["found"]}) for update in updates
            for node, state in update.items() if node.endswith("_search")]
    assert sorted(runs[:4]) == sorted((f"{route}_search", {0, 1, 2, 3}) for route in ROUTES)
    assert runs[4:] == [("triple_search", {4, 5})]


def test_a_part_that_waits_is_searched_when_its_answer_is_known_with_the_name_written_out(resources, searched):
    resources.fake.parts = [SubQuery(question="Where was Ada Byron born?"),
                            SubQuery(question="On which river is {answer 1}?")]
    resources.fake.reflections = [Reflection(
        sufficient=False, sub_answers=[SubAnswer(question="Where was Ada Byron born?", answer="Ulm")],
        sub_queries=[SubQuery(question="Which sea is {answer 2} near?")])]
    said = ask(resources, "On which river is the birthplace of Ada Byron?")
    assert said["sub_queries"] == ["On which river is the birthplace of Ada Byron?", "Where was Ada Byron born?",
                                   "On which river is Ulm?"]
    assert sorted(searched) == sorted((route, text) for route in ROUTES for text in said["sub_queries"])
    first, second = (arguments[1] for arguments in resources.fake.said_to("reflect"))
    assert [item.question for item in first] == ["Where was Ada Byron born?", "On which river is {answer 1}?"]
    assert (second[0].question, second[0].answer) == ("Where was Ada Byron born?", "Ulm")
    assert second[-1] == SubAnswer(question="On which river is Ulm?")
    assert said["iterations"] == 2


def test_what_waits_no_longer_is_searched_once_for_each_name_beside_what_is_asked_for(resources):
    resources.fake.parts = [SubQuery(question="Who was born?"), SubQuery(question="Where was {answer 1} born?")]
    resources.fake.reflections = [Reflection(
        sufficient=False, sub_answers=[SubAnswer(question="Who was born?", answer="Ada Byron; Carl Berg")],
        sub_queries=[SubQuery(question="Is Ulm a city?")])]
    assert ask(resources, "Who was born where?")["sub_queries"][2:] == [
        "Is Ulm a city?", "Where was Ada Byron born?", "Where was Carl Berg born?"]


@pytest.mark.parametrize("context", [{"agent": False}, {"max_rounds": 1}])
def test_where_nothing_is_reflected_what_waits_is_searched_by_its_own_words(resources, searched, context):
    resources.fake.parts = [SubQuery(question="Where was Ada Byron born?"),
                            SubQuery(question="On which river is {answer 1}?")]
    said = ask(resources, "On which river is the birthplace of Ada Byron?", **context)
    assert said["sub_queries"][1:] == ["Where was Ada Byron born?", "On which river is {answer 1}?"]
    assert ("dfs", "On which river is ?") in searched
    assert not any("{" in text for _, text in searched)


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


def test_new_sub_queries_are_searched_once_and_never_repeated(resources, searched):
    again = [SubQuery(question="So where was Ada Byron born?"), SubQuery(question="Is ULM  a city?"),
             SubQuery(question="Is Ulm a city?")]
    resources.fake.reflections = [Reflection(sufficient=False, sub_queries=again),
                                  Reflection(sufficient=False, sub_queries=again, keep=[1])]
    said = ask(resources)
    assert said["sub_queries"] == ["So where was Ada Byron born?", "Is Ulm a city?"]
    assert said["iterations"] == 2
    assert sorted(searched) == sorted((route, text) for route in ROUTES for text in (
        "So where was Ada Byron born?", "So where was born?", "Is Ulm a city?")), "the second hop too is searched once"
    assert resources.fake.steps() == ["decompose", "reflect", "reflect", "answer"]


@pytest.mark.parametrize(("mode", "keep", "steps"), [
    ("reject", [], ["reflect"]), ("reject", [1], ["reflect", "answer"]), ("open", [], ["reflect", "answer"])])
def test_a_question_on_which_nothing_bears_is_not_asked_again(resources, mode, keep, steps):
    resources.fake.reflections = [Reflection(sufficient=False, missing="her town", keep=keep)]
    assert ask(resources, asking.PLAIN, mode=mode)["abstained"]
    assert resources.fake.steps() == steps


def test_what_the_last_reflection_asks_for_is_searched_before_the_answer(resources, searched):
    resources.fake.reflections = [Reflection(sufficient=False, sub_queries=[SubQuery(question=f"More {n}?")])
                                  for n in range(20)]
    said = ask(resources, max_rounds=3)
    assert resources.fake.steps() == ["decompose", "reflect", "reflect", "answer"]
    assert said["iterations"] == 3
    assert {"More 0?", "More 1?"} <= {text for _, text in searched}
    assert len(resources.fake.reflections) == 18


def test_a_plain_question_costs_no_call_to_decompose_it_and_one_that_is_answered_no_other(resources):
    resources.fake.parts = [SubQuery(question="Part?")]
    resources.fake.reflections = [Reflection(sufficient=True, draft=DraftAnswer(answerable=True, claims=[
        Claim(text="She was born in Ulm.", quotes=[Quote(passage=1, words="born in Ulm")])], short="Ulm"))]
    said = ask(resources, asking.PLAIN)
    assert resources.fake.steps() == ["reflect"]
    assert said["sub_queries"] == [asking.PLAIN]
    assert (said["answer"], said["short"], said["abstained"]) == ("She was born in Ulm. [1]", "Ulm", False)


def test_what_was_read_is_not_shown_again_but_what_a_reflection_relied_on(resources, monkeypatch):
    monkeypatch.setattr("banyan.agents.retrieval.evidence._BEST_AGAIN", 0)
    resources.fake.reflections = [Reflection(sufficient=False, keep=[2, 99], sub_queries=[
        SubQuery(question="Is it a city?")])]
    resources.settings.context_tokens = 45
    try:
        ask(resources)
    finally:
        resources.settings.context_tokens = 1500
    first, second = (arguments[2] for arguments in resources.fake.said_to("reflect"))
    assert second[0] == first[1]
    assert not {item.chunk_id for item in second[1:]} & {item.chunk_id for item in first}
    assert len(second) > 1


def test_answers_found_on_the_way_reach_the_answer(resources):
    resources.fake.parts = [SubQuery(question="So where was Ada Byron born?")]
    found = SubAnswer(question="So where was Ada Byron born?", answer="Ulm")
    resources.fake.reflections = [Reflection(sufficient=True, sub_answers=[found])]
    ask(resources)
    (step,) = resources.fake.said_to("answer")[0][1]
    assert (step.question, step.answer, step.missing) == (found.question, "Ulm", "")


def test_what_was_missing_is_remembered_until_it_is_found(resources):
    resources.fake.parts = [SubQuery(question="So where was Ada Byron born?"), SubQuery(question="Where did she live?")]
    resources.fake.reflections = [Reflection(
        sufficient=False, missing="where she lived", sub_answers=[SubAnswer(question="So where was Ada Byron born?",
                                                                           answer="Ulm")],
        sub_queries=[SubQuery(question="In which city did Ada Byron live?")])]
    ask(resources)
    steps = resources.fake.said_to("reflect")[1][1]
    assert [step.missing for step in steps] == ["", "where she lived", ""]


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
    assert said["sub_queries"] == ["So where was Ada Byron born?"]
    # The second hop needs no reasoner.
    assert sorted(searched) == sorted((route, text) for route in ROUTES for text in (
        "So where was Ada Byron born?", "So where was born?"))


@pytest.mark.parametrize("routes", [("entity",), ("triple", "dfs"), ()])
def test_only_the_routes_switched_on_are_searched(resources, searched, routes):
    ask(resources, routes=routes)
    assert {route for route, _ in searched} == set(routes)
    # Dense and lexical search rank the passages even without any route.
    assert "ada" in {passage.document for passage in resources.fake.said_to("answer")[0][2]}
