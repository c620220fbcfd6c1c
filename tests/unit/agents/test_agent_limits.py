"""What a question may cost at most: lookups, whatever a reasoner asks for, and SQL statements, which are bounded."""

import json
from contextlib import contextmanager

import pytest
from banyan.agents.resources import Resources
from banyan.agents.retrieval.evidence import dropped_numbers, items_of
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import CapError
from banyan.config import Settings
from banyan.schemas.inquiry import Block, Judgement, Round
from banyan.schemas.lookups import TOOLS, EntityLookup, PassageLookup, PathLookup, TripleLookup, lookup_text
from banyan.schemas.retrieval import Passage
from banyan.tools.fact_rows import item_cost
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st
from sqlalchemy import Engine, event

from ... import asking
from ... import small_base as base
from ...conftest import EXAMPLES

look = asking.look
opened, resources = asking.opened, asking.resources


def ask(resources, question=asking.QUESTION, **context):
    return asking.ask(resources, question, trace=True, **context)


def rambling(resources, lookups=1):
    """A reasoner that never answers unless it must."""
    resources.fake.reply = lambda inquiry: asking.NO_ANSWER if inquiry.is_last else look(
        *(f"{len(inquiry.rounds)}.{number}" for number in range(lookups)))


def test_the_context_may_raise_what_is_set(resources, monkeypatch):
    monkeypatch.setattr(resources.settings, "max_tool_calls", 2)
    rambling(resources, lookups=3)
    assert (len(ask(resources)["sub_queries"]), len(ask(resources, max_tool_calls=3)["sub_queries"])) == (3, 4)


@pytest.mark.parametrize("name", ["max_rounds", "max_tool_calls"])
@pytest.mark.parametrize("value", [0, -1])
def test_a_cap_that_allows_nothing_is_an_error_before_anything_is_asked(resources, name, value):
    with pytest.raises(CapError, match=f"{name} is {value}.*1 or more"):
        ask(resources, **{name: value})
    assert resources.fake.inquiries == []


def test_a_repeated_search_shows_the_next_passages(resources):
    resources.fake.reply = lambda inquiry: asking.NO_ANSWER if inquiry.is_last else look("Ulm")
    said = ask(resources, max_rounds=2)
    assert [step["text"] for step in said["trace"] if step["step"] == "search"] == ["passage_search: Ulm"] * 2
    shown = [item.chunk_id for item in resources.fake.inquiries[-1].items() if item.kind == "passage"]
    assert len(shown) == len(set(shown))


def item(number: int, length: int) -> Passage:
    return Passage(chunk_id=str(number), document="d", title="", text="wasp " * length, start=0, score=1.0)


_rounds = st.lists(st.lists(st.integers(1, 60), max_size=4), min_size=1, max_size=5)


@given(_rounds, st.sets(st.integers(1, 12)), st.integers(0, 400))
def test_the_budget_drops_the_oldest_and_never_what_is_new(lengths, before, tokens):
    rounds = [Round(blocks=(Block(title="b", items=tuple(item(n * 10 + m, length) for m, length in enumerate(one))),))
              for n, one in enumerate(lengths)]
    items = list(items_of(rounds))
    older = len(items) - len(lengths[-1])
    before = {number for number in before if number <= older}
    gone = dropped_numbers(rounds, before, tokens)
    new = [number for number in gone if number not in before]
    candidates = [number for number in range(1, older + 1) if number not in before]
    assert before <= set(gone)
    assert new == candidates[:len(new)], "the oldest go first"

    def cost(without):
        return sum(item_cost(one) for number, one in enumerate(items, 1) if number not in without)

    assert cost(gone) <= tokens or new == candidates
    assert not new or cost(set(gone) - {new[-1]}) > tokens, "no more than need be"


_texts = st.sampled_from(["Ulm", "Ada Byron", "born_in", "no such", "宁波", "2021", "?"])
_lookups = st.one_of(
    st.builds(EntityLookup, entity=_texts, at=st.sampled_from(["", "1801", "May"])),
    st.builds(TripleLookup, relation=_texts, head=_texts | st.just("")),
    st.builds(PathLookup, start=_texts, end=_texts | st.just("")),
    st.builds(PassageLookup, query=_texts))
_replies = st.lists(st.builds(Judgement, lookups=st.lists(_lookups, max_size=8)), max_size=8)
_caps = st.fixed_dictionaries({}, optional={"max_rounds": st.integers(1, 5), "max_tool_calls": st.integers(1, 30)})


@profile(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=5 * EXAMPLES, deadline=None)
@given(_texts, _replies, _caps, st.sets(st.sampled_from(TOOLS)), st.booleans(), st.integers(100, 600))
def test_any_question_ends_within_its_caps_and_shows_nothing_twice(opened, question, replies, caps, tools, decompose,
                                                               tokens):
    opened.fake = asking.Fake()
    opened.fake.replies, opened.settings.context_tokens = list(replies), tokens
    said = ask(opened, question, decompose=decompose,
               routes=tuple(tool.removesuffix("_search").removesuffix("_query") for tool in TOOLS if tool in tools),
               **caps)
    opened.settings.context_tokens = 4000
    searched = [step["text"] for step in said["trace"] if step["step"] == "search"]
    assert len(searched) <= caps.get("max_tool_calls", opened.settings.max_tool_calls)
    assert said["iterations"] <= 1 + caps.get("max_rounds", 5)
    assert {step["tool"] for step in said["trace"] if step["step"] == "search"} <= tools
    last = opened.fake.inquiries[-1]
    assert {lookup_text(lookup) for one in last.rounds for lookup in one.lookups} == set(searched)
    shown = [one.key for one in last.items()]
    assert len(shown) == len(set(shown))
    assert all(one.text for one in last.items())
    assert len(json.dumps(said["trace"], ensure_ascii=False)) < 3000 * (2 + len(searched) + len(replies))


@contextmanager
def counted():
    statements = []

    def count(connection, cursor, statement, *_):
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", count)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", count)


def statements_after(numbers, home, embedder):
    """Add documents; returns the statements of a question that is not the first one."""
    with base.create(home, "kb", embedder) as kb, kb.writing():
        base.put_meetings(kb, numbers)
        base.finish(kb)
    with Resources(Settings(home=home, llm_base_url=None), embedder) as resources:
        ask = build_graph(resources).invoke
        ask({"knowledge_base": "kb", "question": "Who met P2?"})
        with counted() as statements:
            answer = ask({"knowledge_base": "kb", "question": "Whom did P3 meet?"})
        assert "P3 met P4" in answer["answer"]
        return statements


def test_a_question_takes_as_many_statements_in_a_base_twice_as_large(tmp_path, hashed_embedder):
    # Each passage that a question looks at takes one; there are more passages than it looks at.
    large = statements_after(range(70), tmp_path, hashed_embedder)
    twice_as_large = statements_after(range(70, 140), tmp_path, hashed_embedder)
    assert 0 < len(twice_as_large) == len(large) < 120
