"""The trace of a question: what each step leaves in the state, and what a person is shown."""

import io
import json

import pytest
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.agents.retrieval.trace_steps import TEXT, short
from banyan.cli.trace_tree import print_trace
from banyan.schemas.retrieval import (
    ROUTES,
    Claim,
    DraftAnswer,
    Quote,
    Reflection,
    SubAnswer,
    SubQuery,
)
from banyan.schemas.trace import TraceStep
from langgraph.checkpoint.memory import InMemorySaver
from rich.console import Console

from ... import asking, scripted
from ... import small_base as base

opened = asking.opened

RIVER = "On which river is the birthplace of Ada Byron?"
LONG = "Very long. " * 200


@pytest.fixture
def resources(opened):
    """A reasoner that takes the question apart, finds the town in the first round and the river in the second."""
    opened.fake = fake = asking.Fake()
    fake.parts = [SubQuery(question="Where was Ada Byron born?", entity_types=("Person",), relations=("born_in",)),
                  SubQuery(question="On which river is {answer 1}?", routes=("triple",))]
    born = SubAnswer(question="Where was Ada Byron born?", answer="Ulm")
    fake.reflections = [
        Reflection(sufficient=False, missing="the river of Ulm", sub_answers=[born]),
        Reflection(sufficient=True, sub_answers=[SubAnswer(question="On which river is {answer 1}?", answer="Danube")])]
    fake.draft = lambda passages: DraftAnswer(answerable=True, confidence=0.9, claims=[Claim(
        text="The Danube.", quotes=[Quote(passage=next(n for n, p in enumerate(passages, 1) if p.document == "ulm"),
                                          words="Ulm lies on the\nriver Danube")])])
    return opened


def ask(resources, **context):
    return build_graph(resources).invoke({"knowledge_base": "kb", "question": RIVER}, context=AskContext(**context))


def traced(resources, **context) -> list[TraceStep]:
    return [TraceStep(**data) for data in ask(resources, trace=True, **context)["trace"]]


def test_every_step_is_in_the_trace(resources):
    steps = traced(resources)
    order = [(step.round, step.step) for step in steps]
    assert order == [(1, "question"), (1, "decompose"), *[(1, "search")] * 8, (1, "fuse"), (1, "reflect"),
                     (2, "search"), (2, "fuse"), (2, "reflect"), (2, "answer")]
    assert steps[0].text == RIVER
    assert [(query.number, query.question, query.relations, query.follows) for query in steps[1].sub_queries] == [
        (0, RIVER, (), ()), (1, "Where was Ada Byron born?", ("born_in",), ())]
    searches = [step for step in steps if step.step == "search"]
    assert [(step.number, step.route) for step in searches] == [
        (0, "entity"), (1, "entity"), (0, "triple"), (1, "triple"), (0, "community"), (1, "community"),
        (0, "dfs"), (1, "dfs"), (2, "triple")]


def test_a_second_hop_is_traced_with_what_it_follows(resources):
    resources.fake.parts, resources.fake.reflections = [], []
    steps = traced(resources)
    assert [(query.number, query.question, query.follows) for query in steps[1].sub_queries] == [
        (0, RIVER, ()), (1, "On which river is the birthplace of ?", (0,))]
    assert {(step.number, step.route) for step in steps if step.step == "search"} == {
        (number, route) for number in (0, 1) for route in ROUTES}


def test_a_search_says_what_it_found_how_and_in_which_documents(resources):
    by_route = {(step.number, step.route): step for step in traced(resources) if step.step == "search"}
    named = by_route[1, "entity"].found[0]
    assert named.text.startswith("Ada Byron (Person)")
    assert (named.score, named.how, named.documents) == (1.0, "the question names 'ada byron'", ("ada",))
    walked = by_route[1, "dfs"].found[0]
    assert walked.how in {"Ada Byron", "Ulm"}, "where the path sets out"
    assert walked.documents
    assert all(step.total >= len(step.found) > 0 for step in by_route.values())


def test_the_ranking_the_reflection_and_the_answer_are_told(resources):
    steps = traced(resources)
    fuse, first, second, answer = (steps[10], steps[11], steps[14], steps[15])
    assert fuse.passages[0].score >= fuse.passages[1].score
    assert {passage.document for passage in fuse.passages} <= set(base.PEOPLE)
    assert (first.sufficient, first.text) == (False, "the river of Ulm")
    assert [query.question for query in first.sub_queries] == ["On which river is Ulm?"]
    assert SubAnswer(question="Where was Ada Byron born?", answer="Ulm") in first.sub_answers
    assert (second.sufficient, second.text, second.sub_queries) == (True, "", ())
    assert (answer.text, answer.abstained, answer.confidence) == ("The Danube. [1]", False, 0.9)
    assert answer.documents == ("ulm",)


def test_the_answer_has_a_trace_only_where_it_is_asked_for_and_studio_has_it_always(resources):
    graph = build_graph(resources, InMemorySaver())
    config = {"configurable": {"thread_id": "one"}}
    given = {"knowledge_base": "kb", "question": RIVER}
    assert "trace" not in graph.invoke(given, config, context=AskContext())
    kept = graph.get_state(config).values["steps"]
    assert kept[0]["step"] == "question"
    assert kept[-1]["step"] == "answer"
    assert graph.invoke(given, config, context=AskContext(trace=True))["trace"][0]["step"] == "question"
    assert not graph.invoke(given, config, context=AskContext())["trace"], "that of the question before is gone"
    assert [step["step"] for step in graph.get_state(config).values["steps"]].count("question") == 1


def test_each_step_is_streamed_as_it_is_kept(resources):
    stream = build_graph(resources).stream({"knowledge_base": "kb", "question": RIVER},
                                           context=AskContext(trace=True), stream_mode=["custom", "values"])
    events, last = [], {}
    for kind, event in stream:
        if kind == "custom":
            events.append(event["trace"])
        else:
            last = event
    assert sorted(map(json.dumps, events)) == sorted(map(json.dumps, last["trace"]))


def test_a_trace_is_plain_data_and_small_whatever_is_said(resources):
    resources.fake.parts = [SubQuery(question=f"{n} {LONG}", relations=("born_in",)) for n in range(5)]
    resources.fake.reflections = [Reflection(sufficient=False, missing=LONG, keep=list(range(1, 20)), sub_queries=[
        SubQuery(question=f"{n}.{m} {LONG}") for m in range(9)]) for n in range(3)]
    trace = ask(resources, trace=True)["trace"]
    assert len([step for step in trace if step["step"] == "search"]) == 64
    assert len(json.dumps(trace, ensure_ascii=False)) < 80_000
    assert json.loads(json.dumps(trace)) == trace
    assert all(TraceStep(**step).model_dump(mode="json", exclude_defaults=True).items() <= step.items()
               for step in trace)
    assert not any(text in json.dumps(trace, ensure_ascii=False) for text in base.PEOPLE.values())


def test_texts_are_cut_in_any_script():
    assert short("字" * 500) == "字" * (TEXT - 1) + "…"
    assert short("a\n  b") == "a b"
    assert short("a" * TEXT) == "a" * TEXT


def shown(steps, width=160) -> str:
    console = Console(file=io.StringIO(), width=width)
    print_trace(console, steps)
    return console.file.getvalue()


def test_a_person_reads_the_whole_way(resources):
    text = shown(ask(resources, trace=True)["trace"])
    lines = [line.strip("│├└─ ") for line in text.splitlines()]
    assert lines[0] == f"question {RIVER}"
    assert lines[-1] == "answer"
    for expected in ("round 1", "round 2", f"0 {RIVER}", "1 Where was Ada Byron born? Person, born_in",
                     "2 On which river is Ulm?",
                     "reflection not sufficient: the river of Ulm", "Where was Ada Byron born? -> Ulm",
                     "On which river is {answer 1}? -> Danube", "reflection sufficient"):
        assert expected in lines, expected
    assert lines.index("round 2") < lines.index("2 On which river is Ulm?")
    assert any(line.startswith("1.00 Ada Byron (Person)") and "[ada] (the question names 'ada byron')" in line
               for line in lines)


def test_what_looks_like_markup_is_shown_as_it_is(resources):
    resources.fake.parts = [SubQuery(question="Where is [bold]X[/bold] [/red]?", relations=("[a]",))]
    resources.fake.reflections = [Reflection(sufficient=False, missing="[/dim] gone")]
    text = shown(ask(resources, trace=True, max_tool_calls=1)["trace"])
    assert "[/dim] gone" in text
    resources.fake.reflections = []
    assert "Where is [bold]X[/bold] [/red]? [a]" in shown(ask(resources, trace=True)["trace"])


@pytest.fixture
def shell(tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = scripted.Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    shell.copy_built()
    return shell


def test_the_command_line_prints_a_trace_when_asked(shell):
    question = "Who is the employer of Ada?"
    plain, said = shell("ask", question, "--kb", "kb"), shell("ask", question, "--kb", "kb", "--trace")
    assert (plain.code, said.code) == (0, 0)
    assert said.out.startswith(f"question {question}\nround 1\n")
    assert said.out.endswith(f"answer\n{plain.out}")
    assert "round 1" not in plain.out


def test_the_command_line_adds_the_trace_to_its_json(shell):
    question = ("ask", "Who is the employer of Ada?", "--kb", "kb", "--json")
    plain, said = (json.loads(shell(*question, *more).out) for more in ((), ("--trace",)))
    assert "trace" not in plain
    assert [step["step"] for step in said.pop("trace")][-1] == "answer"
    assert said == plain
