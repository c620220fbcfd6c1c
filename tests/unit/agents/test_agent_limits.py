"""What a question may cost at most: lookups, whatever a reasoner asks for, and SQL statements, which are bounded."""

import json
from contextlib import contextmanager

import pytest
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import CapError
from banyan.config import Settings
from banyan.schemas.inquiry import Judgement
from banyan.schemas.lookups import TOOLS, EntityLookup, PassageLookup, PathLookup, TripleLookup, lookup_text
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st
from sqlalchemy import Engine, event

from ... import asking
from ... import small_base as base
from ...conftest import EXAMPLES

opened, resources = asking.opened, asking.resources


def ask(resources, question=asking.QUESTION, **context):
    return asking.ask(resources, question, trace=True, **context)


@pytest.mark.parametrize("name", ["max_rounds", "max_tool_calls"])
@pytest.mark.parametrize("value", [0, -1])
def test_a_cap_that_allows_nothing_is_an_error_before_anything_is_asked(resources, name, value):
    with pytest.raises(CapError, match=f"{name} is {value}.*1 or more"):
        ask(resources, **{name: value})
    assert resources.fake.inquiries == []


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
