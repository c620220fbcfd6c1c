"""The trace of a question: what each step leaves in the state, and what a person is shown."""

import pytest
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.schemas.inquiry import TraceStep
from banyan.schemas.lookups import EntityLookup, TableQuery, TripleLookup

from ... import asking
from ... import small_base as base

RIVER = "On which river is the birthplace of Ada Byron?"


@pytest.fixture
def resources(opened):
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


def test_a_query_is_in_the_trace_and_below_the_answer_with_its_records(resources):
    sql = "SELECT count(*) AS people FROM entities WHERE type = 'person'"
    resources.fake.replies = [asking.look(TableQuery(sql=sql), thought="Count them.")]
    resources.fake.reply = lambda inquiry: asking.answer(asking.claim("There are 27 people.", (next(
        number for number, item in enumerate(asking.items(inquiry), 1) if item.basis), "")), confidence=0.9)
    found = ask(resources, trace=True)
    search = next(TraceStep(**step) for step in found["trace"] if step["step"] == "search")
    people = search.found[0].text.removeprefix("people: ")
    repaired = sql.replace("'person'", "'Person'").replace("count(*)", "COUNT(*)")
    assert (search.tool, search.table) == ("table_query", {"sql": repaired})
    assert any(note.startswith(f"from {people} records") for note in search.notes)
    assert found["answer"].splitlines()[-1] == f"(Computed from {people} records: {repaired})"
    assert found["grade"] == "inferred", "27 is not what the query gave"


def test_the_command_line_prints_a_trace_when_asked(shell):
    shell.copy_built()
    question = "Who is the employer of Ada?"
    plain, said = shell("ask", question, "--kb", "kb"), shell("ask", question, "--kb", "kb", "--trace")
    assert (plain.code, said.code) == (0, 0)
    assert said.out.startswith(f"question {question}\nfirst look ")
    assert plain.out.splitlines()[0] in said.out.partition("\nanswer ")[2].splitlines()
    assert "first look" not in plain.out
