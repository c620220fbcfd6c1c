"""What a round of lookups shows: short lists whole, each named document, and how much is left out."""

from banyan.agents.retrieval.evidence import completed_round
from banyan.prompts import block_note
from banyan.schemas.inquiry import Block, Round
from banyan.schemas.lookups import EntityLookup, Lookup, PassageLookup, TableQuery, TripleLookup
from banyan.schemas.retrieval import Passage
from hypothesis import given
from hypothesis import strategies as st

from ... import asking

opened, resources = asking.opened, asking.resources
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
