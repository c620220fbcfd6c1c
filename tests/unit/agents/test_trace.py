"""The trace of a question: what each step leaves in the state, and what a person is shown."""

import io
import json

import pytest
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.cli.commands.ask import print_trace
from banyan.schemas.lookups import EntityLookup, PassageLookup, TripleLookup
from banyan.schemas.trace import TraceStep
from langgraph.checkpoint.memory import InMemorySaver
from rich.console import Console

from ... import asking, scripted
from ... import small_base as base

opened = asking.opened

RIVER = "On which river is the birthplace of Ada Byron?"
LONG = "Very long. " * 90


@pytest.fixture
def resources(opened):
    """A reasoner that looks up the town in the first round and finds the river in the second."""
    opened.fake = fake = asking.Fake()
    fake.replies = [asking.look(EntityLookup(entity="Ada Byron"), TripleLookup(relation="lies_on", head="Ulm"),
                                thought="Her town first.")]
    fake.reply = lambda inquiry: asking.answer(asking.claim("The Danube.", (asking.passages(inquiry)["ulm"],
                                                                             "Ulm lies on the\nriver Danube")),
                                               confidence=0.9)
    return opened


def ask(resources, **context):
    return build_graph(resources).invoke({"knowledge_base": "kb", "question": RIVER}, context=AskContext(**context))


def test_every_step_is_in_the_trace_with_what_it_found(resources):
    steps = [TraceStep(**data) for data in ask(resources, trace=True)["trace"]]
    assert [(step.round, step.step) for step in steps] == [
        (1, "question"), (1, "first_look"), (1, "decompose"), (2, "search"), (2, "search"), (2, "reflect"),
        (2, "answer")]
    question, first, decompose, card, table, reflect, answer = steps
    assert question.text == RIVER
    assert first.total >= len(first.found) == 3
    assert {document for item in first.found for document in item.documents} <= set(base.PEOPLE)
    assert (decompose.sufficient, decompose.text) == (False, "Her town first.")
    assert decompose.lookups == ("entity_search: Ada Byron", "triple_search: lies_on, head Ulm")
    assert [(step.tool, step.text) for step in (card, table)] == [
        ("entity_search", decompose.lookups[0]), ("triple_search", decompose.lookups[1])]
    assert [(item.text, item.documents) for item in card.found] == [("born in -> Ulm (ada)", ("ada",))]
    assert (reflect.sufficient, reflect.lookups) == (True, ())
    assert (answer.text, answer.abstained, answer.confidence, answer.grade, answer.documents) == (
        "The Danube. [1]", False, 0.9, "stated", ("ulm",))


def test_the_answer_has_a_trace_only_where_it_is_asked_for_and_studio_has_it_always(resources):
    graph = build_graph(resources, InMemorySaver())
    config = {"configurable": {"thread_id": "one"}}
    given = {"knowledge_base": "kb", "question": RIVER}
    assert "trace" not in graph.invoke(given, config, context=AskContext())
    kept = graph.get_state(config).values["steps"]
    assert (kept[0]["step"], kept[-1]["step"]) == ("question", "answer")
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
    resources.fake.replies = [asking.look(*(PassageLookup(query=f"{n}.{m} {LONG}") for m in range(4)), thought=LONG)
                              for n in range(5)]
    trace = ask(resources, trace=True)["trace"]
    assert len([step for step in trace if step["step"] == "search"]) == 20
    assert len(json.dumps(trace, ensure_ascii=False)) < 30_000
    assert json.loads(json.dumps(trace)) == trace
    assert all(TraceStep(**step).model_dump(mode="json", exclude_defaults=True).items() <= step.items()
               for step in trace)


def test_a_trace_has_the_arguments_of_a_table(opened):
    graph = build_graph(opened)

    def steps(question):
        answer = graph.invoke({"knowledge_base": "kb", "question": question}, context=AskContext(trace=True))
        return [TraceStep(**data) for data in answer["trace"]]

    opened.fake = asking.Fake()
    opened.fake.replies = [asking.look(TripleLookup(relation="lies_on", head="Ulm", show=("born_in",)),
                                       EntityLookup(entity="Ulm"))]
    assert [step.table for step in steps(RIVER) if step.step in {"first_look", "search"}] == [
        {}, {"relation": "lies_on", "head": "Ulm", "show": ["born_in"]}, {}]
    assert steps("How many people were born in Ulm?")[1].table == {"relation": "born_in", "tail": "Ulm", "do": "count"}
    opened.fake.replies = [asking.look(TripleLookup(relation="lies_on", where=("x" * 900,) * 3))]
    assert not any(step.table for step in steps(RIVER)), "arguments that no link has room for"


def shown(steps) -> list[str]:
    console = Console(file=io.StringIO(), width=200)
    print_trace(console, steps)
    return [line.strip("│├└─ ") for line in console.file.getvalue().splitlines()]


def test_a_person_reads_the_whole_way(resources):
    lines = shown(ask(resources, trace=True)["trace"])
    assert lines[0] == f"question {RIVER}"
    wanted = ["first look", "round 2", "Her town first.", "answer stated"]
    assert [line for line in lines if line in wanted] == wanted
    assert {"entity_search: Ada Byron 1 found", "born in -> Ulm (ada)", "triple_search: lies_on, head Ulm 1 found",
            "Ulm -> Danube (ulm)"} <= set(lines)


def test_what_looks_like_markup_is_shown_as_it_is(resources):
    resources.fake.replies = [asking.look("Where is [bold]X[/bold] [/red]?", thought="[/dim] gone")]
    lines = shown(ask(resources, trace=True)["trace"])
    assert "[/dim] gone" in lines
    assert any(line.startswith("passage_search: Where is [bold]X[/bold] [/red]? ") for line in lines)


@pytest.fixture
def shell(tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = scripted.Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    shell.copy_built()
    return shell


def test_the_command_line_prints_a_trace_when_asked(shell):
    question = "Who is the employer of Ada?"
    plain, said = shell("ask", question, "--kb", "kb"), shell("ask", question, "--kb", "kb", "--trace")
    assert (plain.code, said.code) == (0, 0)
    assert said.out.startswith(f"question {question}\nfirst look\n")
    assert said.out.endswith(f"answer stated\n{plain.out}")
    assert "first look" not in plain.out


def test_the_command_line_adds_the_trace_to_its_json(shell):
    question = ("ask", "Who is the employer of Ada?", "--kb", "kb", "--json")
    plain, said = (json.loads(shell(*question, *more).out) for more in ((), ("--trace",)))
    assert "trace" not in plain
    assert [step["step"] for step in said.pop("trace")][-1] == "answer"
    assert said == plain
