"""What a question may cost at most, whatever a reasoner asks for, and sub-queries in the schema's terms."""

import json
from collections import Counter

import pytest
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.planning import CapError, Caps, key, plan_round
from banyan.agents.retrieval.state import AskContext
from banyan.schemas.graph_schema import GraphSchema
from banyan.schemas.references import literal
from banyan.schemas.retrieval import ROUTES, Reflection, SubAnswer, SubQuery
from banyan.tools.retriever import Retriever
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st

from ... import asking
from ... import small_base as base
from ...conftest import EXAMPLES

resources = asking.resources

SCHEMA = GraphSchema.model_validate({
    "name": "people",
    "entity_types": [{"name": "Person", "labels": {"zh": "人物"}}, {"name": "City", "aliases": ["Town"]},
                     {"name": "River"}],
    "relation_types": [{"name": "born_in", "aliases": ["birthplace"], "domain": ["Person"], "range": ["City"]},
                       {"name": "lies_on", "domain": ["City"], "range": ["River"]}],
    "attribute_types": [{"name": "birth_date", "owners": ["Person"], "kind": "date"}],
})


@pytest.fixture(scope="module", params=["open", "bounded"])
def opened(request, tmp_path_factory, hashed_embedder):
    home = tmp_path_factory.mktemp("home")
    base.people(home, "kb", hashed_embedder, SCHEMA if request.param == "bounded" else None)
    with asking.FakeResources(home, hashed_embedder) as resources:
        yield resources


def ask(resources, question="So where was Ada Byron born?", **context):
    return build_graph(resources).invoke({"knowledge_base": "kb", "question": question},
                                         context=AskContext(trace=True, **context))


def searches(said) -> list[tuple[int, str]]:
    return [(step["number"], step["route"]) for step in said["trace"] if step["step"] == "search"]


def notes(said) -> list[str]:
    return [note for step in said["trace"] for note in step.get("notes", ())]


def test_tool_calls_are_capped_and_the_answer_is_made_from_what_there_is(resources):
    resources.fake.parts = [SubQuery(question=f"Part {n}?") for n in range(3)]
    resources.fake.reflections = [Reflection(sufficient=False, sub_queries=[SubQuery(question="More?")])]
    said = ask(resources, max_tool_calls=6)
    assert searches(said) == [(0, "entity"), (1, "entity"), (0, "triple"), (1, "triple"), (0, "community"), (0, "dfs")]
    assert said["sub_queries"] == ["So where was Ada Byron born?", "Part 0?"]
    assert notes(said) == [
        "cap of 6 tool calls: left out community, dfs for 'Part 0?'",
        *(f"cap of 6 tool calls: left out entity, triple, community, dfs for 'Part {n}?'" for n in (1, 2)),
        "cap of 6 tool calls: left out entity, triple, community, dfs for 'More?'"]
    assert resources.fake.said_to("answer")[0][2], "there are passages"


def test_a_second_hop_is_left_out_within_the_caps_and_that_is_said(resources):
    said = ask(resources, max_tool_calls=4)
    assert searches(said) == [(0, route) for route in ROUTES]
    assert notes(said) == ["cap of 4 tool calls: left out entity, triple, community, dfs for 'So where was born?'"]
    said = ask(resources, max_sub_queries_in_all=1)
    assert searches(said) == [(0, route) for route in ROUTES]
    assert notes(said) == ["cap of 1 sub-queries in all: left out 'So where was born?'"]


def test_what_a_decomposition_lost_to_a_cap_is_said_and_not_replaced_by_a_second_hop(resources):
    resources.fake.parts = [SubQuery(question="Part?")]
    said = ask(resources, max_tool_calls=4)
    assert searches(said) == [(0, route) for route in ROUTES]
    assert notes(said) == ["cap of 4 tool calls: left out entity, triple, community, dfs for 'Part?'"]


def test_the_settings_cap_what_the_context_does_not(resources, monkeypatch):
    monkeypatch.setattr(resources.settings, "max_tool_calls", 2)
    assert len(searches(ask(resources))) == 2
    assert len(searches(ask(resources, max_tool_calls=3))) == 3


@pytest.mark.parametrize("name", ["max_rounds", "max_sub_queries", "max_sub_queries_in_all", "max_tool_calls"])
@pytest.mark.parametrize("value", [0, -1])
def test_a_cap_that_allows_nothing_is_an_error_before_anything_is_asked(resources, name, value):
    with pytest.raises(CapError, match=f"{name} is {value}.*1 or more"):
        ask(resources, **{name: value})
    assert resources.fake.calls == []


def test_the_defaults_allow_what_the_caps_on_rounds_and_sub_queries_do(resources):
    resources.fake.parts = [SubQuery(question=f"Part {n}?") for n in range(9)]
    resources.fake.reflections = [Reflection(sufficient=False, sub_queries=[
        SubQuery(question=f"More {n}.{m}?") for m in range(9)]) for n in range(9)]
    said = ask(resources)
    assert (len(said["sub_queries"]), len(searches(said)), said["iterations"]) == (16, 64, 3)


@pytest.mark.parametrize("again", ["so where was  ADA BYRON born", "So where was Ada Byron born ?",
                                   "“So where was Ada Byron born?”", "Ｓo where was Ada Byron born？"])
def test_case_width_spaces_and_marks_make_no_other_question(resources, again):
    resources.fake.reflections = [Reflection(sufficient=False, sub_queries=[SubQuery(question=again)])]
    said = ask(resources)
    assert said["sub_queries"] == ["So where was Ada Byron born?"]
    assert resources.fake.steps() == ["decompose", "reflect", "answer"]


def test_a_filled_sub_query_that_was_asked_before_is_not_asked_again(resources):
    resources.fake.parts = [SubQuery(question="Is Ulm a city?"), SubQuery(question="Which town?"),
                            SubQuery(question="Is {answer 2} a city?")]
    answered = [SubAnswer(question="Which town?", answer="ULM")]
    resources.fake.reflections = [Reflection(sufficient=False, sub_answers=answered, sub_queries=[
        SubQuery(question="Is {answer 2} a city?")])]
    assert ask(resources)["sub_queries"][1:] == ["Is Ulm a city?", "Which town?"]


def test_elements_are_mapped_to_the_schema_or_dropped(resources, monkeypatch):
    asked: list[SubQuery] = []
    search = Retriever.search
    monkeypatch.setattr(Retriever, "search", lambda self, route, query, *limit: asked.append(query.sub_query)
                        or search(self, route, query, *limit))
    part = SubQuery(question="Where?", entity_types=("人物", "person", "Spaceship"), attributes=("Birth date", "mass"),
                    relations=("birthplace", "Lies On", "teleported_to"), routes=("triple",))
    resources.fake.parts = [part]
    resources.fake.reflections = [Reflection(sufficient=False, sub_queries=[
        SubQuery(question="And?", entity_types=("Towns", "Planet"), routes=("triple",))])]
    said = ask(resources)
    first, last = (next(one for one in asked if one.question == question) for question in ("Where?", "And?"))
    schema = resources.knowledge_base("kb").schemas.current()
    if schema.open:
        assert first == part
        assert notes(said) == []
        return
    assert first == part.model_copy(update={"entity_types": ("Person",), "relations": ("born_in", "lies_on"),
                                            "attributes": ("birth_date",)})
    assert last.entity_types == ("City",)
    assert "entity type 'Spaceship' is not in the schema: dropped" in notes(said)
    assert "relation 'birthplace' is 'born_in' in the schema" in notes(said)
    assert "entity type 'Planet' is not in the schema: dropped" in notes(said)
    shown = next(step["sub_queries"] for step in said["trace"] if step["step"] == "decompose")[1]
    assert (shown["entity_types"], shown["relations"]) == (["Person"], ["born_in", "lies_on"])


_words = st.sampled_from(["Ulm", "ulm", "Ada", "{answer 1}", "{answer 2}", "{answer 3}", "{answer 1}?", "{answer 7}",
                          "river", "?", "in", "宁波", "where"])
_questions = st.lists(_words, min_size=1, max_size=4).map(" ".join)
_answers = st.sampled_from(["", "Ulm", "Ada Byron and Carl Berg", "A; B; C", "{answer 1}", "宁波、杭州", " "])
_parts = st.lists(st.builds(
    SubQuery, question=_questions, routes=st.just(ROUTES) | st.sampled_from(ROUTES).map(lambda route: (route,)),
    relations=st.sampled_from([(), ("born_in",), ("no such",)])), max_size=6)
_reflections = st.lists(st.builds(
    Reflection, sufficient=st.sampled_from([False, False, False, True]), sub_queries=_parts,
    sub_answers=st.lists(st.builds(SubAnswer, question=_questions, answer=_answers), max_size=4)), max_size=8)
_caps = st.fixed_dictionaries({}, optional={
    "max_rounds": st.integers(1, 5), "max_sub_queries": st.integers(1, 5),
    "max_sub_queries_in_all": st.integers(1, 9), "max_tool_calls": st.integers(1, 30)})


class Rambling(asking.Fake):
    """Answers each sub-query asked so far as well, so that what waits is filled."""

    def __init__(self, answers: list[str]) -> None:
        super().__init__()
        self.answers = answers

    def reflect(self, question, history, passages, schema):
        said = super().reflect(question, history, passages, schema)
        said.sub_answers += [SubAnswer(question=item.question, answer=answer)
                             for item, answer in zip(history, self.answers, strict=False)]
        return said


def test_a_survey_without_searches_is_answered_once(opened):
    opened.fake = Rambling([])
    opened.fake.parts = [SubQuery(question="Ulm", routes=("community",))]
    ask(opened, "Ulm", routes=())
    assert opened.fake.steps() == ["decompose", "answer"]


@profile(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20 * EXAMPLES,
         deadline=None)
@given(_questions.filter(str.strip), _parts, _reflections, st.lists(_answers, max_size=6), _caps,
       st.sets(st.sampled_from(ROUTES)))
def test_any_question_ends_within_its_caps_and_repeats_nothing(opened, question, parts, reflections, answers, caps,
                                                               routes):
    opened.fake = Rambling(answers)
    opened.fake.parts, opened.fake.reflections = parts, reflections
    said = ask(opened, question, routes=tuple(route for route in ROUTES if route in routes), **caps)
    default = opened.settings
    rounds, calls = said["iterations"], searches(said)
    assert rounds <= caps.get("max_rounds", default.max_rounds)
    assert len(calls) <= caps.get("max_tool_calls", default.max_tool_calls)
    asked = [query for step in said["trace"] for query in step.get("sub_queries", ())]
    assert [query["number"] for query in asked] == list(range(len(asked)))
    assert len(said["sub_queries"]) <= len(asked) <= caps.get("max_sub_queries_in_all", default.max_sub_queries_in_all)
    assert all(earlier < query["number"] for query in asked for earlier in query.get("follows", ()))
    per_round = Counter(step["round"] + (step["step"] == "reflect") for step in said["trace"]
                        for query in step.get("sub_queries", ()) if query["number"])
    assert max(per_round.values(), default=0) <= caps.get("max_sub_queries", default.max_sub_queries)
    assert len(calls) == len(set(calls))
    keys = [key(query["question"]) for query in asked]
    assert len(keys) == len(set(keys))
    assert set(said["sub_queries"]) <= {query["question"] for query in asked}
    assert {route for _, route in calls} <= routes
    assert said["sub_queries"][0].strip() in {literal(question).strip(), *(part.question for part in parts)}
    assert opened.fake.steps()[-1] in {"answer", "reflect"}, "a reflection may be the answer"
    reflected = opened.fake.steps().count("reflect")
    assert rounds - 1 <= reflected <= min(rounds, max(0, caps.get("max_rounds", default.max_rounds) - 1))
    assert len(json.dumps(said["trace"], ensure_ascii=False)) < 1000 * (10 + len(calls) * 2)


@given(_parts, _parts, st.integers(0, 9), st.just(set(ROUTES)) | st.sets(st.sampled_from(ROUTES)),
       st.builds(Caps, rounds=st.just(1), sub_queries=st.integers(1, 5), sub_queries_in_all=st.integers(1, 9),
                 tool_calls=st.integers(1, 9)))
def test_a_plan_counts_on_from_what_was_asked(parts, asked, calls, routes, caps):
    plan = plan_round(parts, asked, calls, routes, caps)
    assert [number for number, _ in plan.new] == list(range(len(asked), len(asked) + len(plan.new)))
    assert not {key(part.question) for _, part in plan.new} & {key(part.question) for part in asked}
    assert len(plan.searches) <= max(0, caps.tool_calls - calls)
    assert {number for number, _ in plan.searches} <= {number for number, _ in plan.new}
    by_number = dict(plan.new)
    assert all(route in by_number[number].routes and route in routes for number, route in plan.searches)
    wanted = sum(len(routes & set(part.routes)) for _, part in plan.new)
    assert len(plan.searches) == wanted or plan.notes, "what is left out is said"
