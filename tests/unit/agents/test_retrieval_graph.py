"""The retrieval graph's rounds of lookups: what is looked up and shown, and when it ends."""

import pytest
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.schemas.graph_schema import GraphSchema
from banyan.schemas.lookups import CommunityLookup, EntityLookup, PassageLookup, PathLookup, TripleLookup

from ... import asking
from ... import small_base as base

ask, look, answer, claim = asking.ask, asking.look, asking.answer, asking.claim

BORN = claim("She was born in Ulm.", (1, "born in Ulm"))


def test_a_question_that_the_first_look_answers_costs_one_call(resources):
    resources.fake.replies = [answer(BORN, short="Ulm")]
    said = ask(resources)
    (inquiry,) = resources.fake.inquiries
    assert (len(inquiry.rounds), inquiry.is_last) == (1, False)
    assert "born_in" in inquiry.terms, "the schema's terms"
    assert (said["answer"], said["short"], said["iterations"]) == ("She was born in Ulm. [1]", "Ulm", 1)
    assert said["sub_queries"] == [asking.QUESTION]


def test_each_lookup_is_made_by_its_tool_and_shown_in_the_order_asked(resources):
    lookups = [TripleLookup(relation="lies_on"), CommunityLookup(theme="painters"), EntityLookup(entity="Carl Berg"),
               PathLookup(start="Ada Byron", end="Danube"), PassageLookup(query="Ningbo", documents=("zh",))]
    resources.fake.replies = [look(*lookups, thought="What else?")]
    updates = build_graph(resources).stream({"knowledge_base": "kb", "question": asking.QUESTION},
                                            stream_mode="updates")
    nodes = [node for update in updates for node in update]
    assert sorted(node for node in nodes if "_search" in node) == sorted(lookup.tool for lookup in lookups)
    first, second = resources.fake.inquiries
    assert second.rounds[0] == first.rounds[0]
    last = second.rounds[1]
    assert (last.thought, last.lookups) == ("What else?", tuple(lookups))
    assert [block.title.split(" (")[0] for block in last.blocks] == [
        "lies on", "reports on painters", "Carl Berg", "Ada Byron … Danube", "passages: Ningbo"]
    assert all(block.items or block.note for block in last.blocks)


def test_a_lookup_that_cannot_be_made_is_told_in_the_next_prompt(resources):
    refused = ("triple_search", "not looked up: relation: missing")
    resources.fake.replies = [look(EntityLookup(entity="Turku")).model_copy(update={"refused": [refused]})]
    ask(resources)
    last = resources.fake.inquiries[-1].rounds[-1].blocks[-1]
    assert (last.title, last.note, last.items) == (*refused, ())


def test_what_was_shown_is_not_shown_again(resources):
    again = [EntityLookup(entity="Ada Byron"), TripleLookup(relation="born_in", head="Ada")]
    resources.fake.replies = [look("Where is Ulm?", *again), look("Ulm, a city in Germany", *again)]
    ask(resources)
    items = asking.items(resources.fake.inquiries[-1])
    keys = [item.statement or item.chunk_id for item in items]
    assert len(keys) == len(set(keys)) > 3
    last = resources.fake.inquiries[-1].rounds[-1]
    assert [block.note for block in last.blocks[-2:]] == ["the rest was shown above"] * 2


def test_numbers_of_items_never_change(resources):
    resources.fake.replies = [look("Danube"), look(EntityLookup(entity="Turku"))]
    ask(resources)
    *earlier, last = map(asking.items, resources.fake.inquiries)
    assert all(last[:len(items)] == items for items in earlier)


def test_without_the_agent_one_round_may_follow(resources):
    resources.fake.reply = lambda _: look(f"query {len(resources.fake.inquiries)}")
    said = ask(resources, agent=False)
    assert [inquiry.is_last for inquiry in resources.fake.inquiries] == [False, True]
    assert said["sub_queries"] == [asking.QUESTION, "passage_search: query 1"]


def test_without_decomposition_the_question_is_searched_before_any_call(resources):
    said = ask(resources, decompose=False)
    (inquiry,) = resources.fake.inquiries
    assert [one.lookups for one in inquiry.rounds] == [(), (PassageLookup(query=asking.QUESTION),)]
    assert said["sub_queries"] == [asking.QUESTION, f"passage_search: {asking.QUESTION}"]


SCHEMA = GraphSchema.model_validate({
    "name": "people", "entity_types": [{"name": "Person"}, {"name": "City"}, {"name": "River"}],
    "relation_types": [{"name": "born_in", "domain": ["Person"], "range": ["City"]},
                       {"name": "lies_on", "domain": ["City"], "range": ["River"]}]})


@pytest.fixture(scope="module")
def bounded(tmp_path_factory, hashed_embedder):
    home = tmp_path_factory.mktemp("home")
    base.people(home, "kb", hashed_embedder, SCHEMA)
    with asking.FakeResources(home, hashed_embedder) as resources:
        yield resources


@pytest.mark.parametrize(("tool", "question", "kinds"), [
    ("entity", "Who is Ada Byron?", {"fact"}), ("triple", "How many were born in Ulm?", set()),
    ("community", "What are these documents about?", {"opening", "report"}), ("community", "Who is Ada Byron?", set()),
    ("dfs", "Who is Ada Byron?", set()), ("passage", "Who is Ada Byron?", {"passage"})])
def test_the_first_look_has_what_the_question_is_about(bounded, tool, question, kinds):
    bounded.fake = asking.Fake()
    ask(bounded, question, routes=(tool,))
    assert {item.kind for item in asking.items(bounded.fake.inquiries[0])} == kinds


def test_without_a_model_it_quotes_and_an_overview_lists_how_documents_begin(resources, hashed_embedder):
    with Resources(resources.settings, hashed_embedder) as rules:
        born, whole = ask(rules), ask(rules, "What are these documents about?")
    assert (born["short"], born["citations"][0]["document"], born["iterations"]) == ("Ulm", "ada", 1)
    assert {citation["document"] for citation in whole["citations"]} == set(base.PEOPLE)
    assert len(whole["answer"].splitlines()) == len(base.PEOPLE)
