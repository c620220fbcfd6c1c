"""What a question may cost, whatever a reasoner asks for, and what a round of lookups shows within its budget."""

import json

import pytest
from banyan.agents.retrieval.evidence import completed_round
from banyan.agents.retrieval.state import CapError
from banyan.prompts.rendering import block_note
from banyan.schemas.inquiry import Block, Judgement, Round
from banyan.schemas.lookups import (
    TOOLS,
    EntityLookup,
    Lookup,
    PassageLookup,
    PathLookup,
    TableQuery,
    TripleLookup,
    lookup_text,
)
from banyan.schemas.retrieval import Passage
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st

from ... import asking
from ...conftest import EXAMPLES


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


BUDGET = 1000
"""Tokens of a round."""


def passages(name: str, words: int = 300, count: int = 6) -> list[Block]:
    return [Block(title=name, left_hint="passages, less near than these", items=tuple(
        Passage(chunk_id=f"{name}{number}", document=f"{name}{number}", title="", text="wasp " * words, start=0,
                score=1.0 - number / 10) for number in range(count)))]


def rows(name: str, count: int) -> list[Block]:
    return [Block(title=name, items=tuple(
        Passage(chunk_id="", document="d", title="", text="x", start=0, score=0.0, kind="row",
                statement=f"{name} number {number}: 1,234") for number in range(count)))]


def completed(*found: tuple[Lookup, list[Block]]) -> list[Block]:
    asked = Round(lookups=tuple(lookup for lookup, _ in found))
    return list(completed_round([], asked, [blocks for _, blocks in found], BUDGET).blocks)


@given(st.integers(1, 60), st.integers(1, 4))
def test_a_list_of_up_to_sixty_short_rows_is_whole_whatever_is_looked_up_beside_it(count, searches):
    found = [(PassageLookup(query=f"q{number}"), passages(f"q{number}")) for number in range(searches)]
    found.insert(searches // 2, (TripleLookup(relation="votes"), rows("votes", count)))
    blocks = completed(*found, (TableQuery(sql="SELECT 1"), rows("sql", count)))
    listed = [block for block in blocks if block.title in {"votes", "sql"}]
    assert [len(block.items) for block in listed] == [count, count]
    assert all(block.items for block in blocks), "each search shows a passage"


def test_lists_that_are_longer_share_their_budget_and_say_what_is_left():
    short, *others = completed((TripleLookup(relation="a"), rows("a", 3)), (TripleLookup(relation="b"), rows("b", 500)),
                               (EntityLookup(entity="c"), rows("c", 500)))
    assert (len(short.items), block_note(short)) == (3, "")
    for block in others:
        assert len(block.items) > 60
        assert block_note(block) == f"{500 - len(block.items)} more lines: narrow it"


def test_passages_that_do_not_fit_are_counted():
    (block,) = completed((PassageLookup(query="q"), passages("q", count=8)))
    assert len(block.items) == 3
    assert block_note(block) == "5 more passages, less near than these"


def test_a_search_in_some_documents_shows_each_of_them(resources):
    names = ("ada", "ulm", "carl", "zh")
    resources.fake.replies = [asking.look(PassageLookup(query="the river of Ulm", documents=names), "wasps", "ants")]
    resources.settings.context_tokens = 200
    asking.ask(resources)
    resources.settings.context_tokens = 4000
    first, second = resources.fake.inquiries[-1].rounds
    searched = {item.document for block in (*first.blocks, second.blocks[0]) for item in block.items}
    assert searched == set(names)
