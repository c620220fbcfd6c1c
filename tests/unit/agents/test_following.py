"""Sub-queries that are searched before what they wait for is answered, and the second hop of a whole question."""

import pytest
from banyan.agents.retrieval.chaining import following, searchable, waits
from banyan.agents.retrieval.planning import Caps, key, plan_round
from banyan.graph_store.bounding.grounding import words
from banyan.graph_store.index.name_trie import NameTrie
from banyan.schemas.retrieval import ROUTES, SubQuery
from banyan.tools.query import wording
from banyan.tools.ranking.hops import second_hop
from hypothesis import given
from hypothesis import strategies as st

WHOLE = SubQuery(question="The whole?")
CAPS = Caps(rounds=3, sub_queries=5, sub_queries_in_all=20, tool_calls=100)


def part(question: str, **elements) -> SubQuery:
    return SubQuery(question=question, **elements)


def linked(*questions: str, caps: Caps = CAPS, whole: SubQuery = WHOLE) -> dict[str, tuple[int, ...]]:
    """The sub-queries searched in the first round, in their order, with the numbers of those that they follow."""
    parts = [part(question) for question in questions]
    plan = following(plan_round([whole, *searchable(parts)], (), 0, ROUTES, caps), parts)
    return {one.question: one.follows for _, one in plan.new}


@pytest.mark.parametrize(("question", "searched"), [
    ("Who won the election in {answer 1}?", "Who won the election in ?"),
    ("{answer 1}", ""), (" {answer 1}  {answer 22} ", ""), ("{answer 1} and {answer 2}", "and"),
    ("Is {answer 1}\tin\n {answer 2} ?", "Is in ?"),
    ("{answer 1}位于哪条河？", "位于哪条河？"), ("哪条河流经{answer 1}？", "哪条河流经 ？"), ("Item #1", "Item #1"),
    ("Who?", "Who?"), ("", "")])
def test_the_words_searched_are_those_beside_the_places(question, searched):
    assert wording(question) == searched


@given(st.lists(st.sampled_from(["{answer 1}", "{answer 22}", "Who", "在", " ", "#7", "{", "7", "?"]),
                max_size=8).map("".join))
def test_no_place_is_left_in_a_wording_and_no_word_beside_them_is_lost(question):
    said = wording(question)
    assert wording(said) == said == said.strip()
    assert not waits(said)
    assert [mark for mark in "Who在?" if mark in question] == [mark for mark in "Who在?" if mark in said]


@pytest.mark.parametrize(("questions", "searched"), [
    (["Who?", "Where was {answer 1} born?"], [0, 1]),
    (["Where was {answer 1} born?", "Who?"], [1]),
    (["Who?", "Where was {answer 2} born?"], [0]),
    (["Who?", "Where was {answer 3} born?", "On what is {answer 2}?"], [0]),
    (["Who?", "{answer 1}?", "{answer 1}"], [0]),
    (["Who?", "Where was {answer 0} born?"], [0]),
    (["Who?", "Do {answer 1} and {answer 9} know each other?"], [0, 1]),
    (["谁？", "{answer 1}出生于哪里？", "{answer 2}？"], [0, 1]),
    ([], [])])
def test_searched_at_once_is_what_waits_for_an_earlier_one_and_has_words_of_its_own(questions, searched):
    parts = [part(question) for question in questions]
    assert searchable(parts) == [parts[place] for place in searched]


def test_each_step_follows_those_that_it_names():
    assert linked("Who?", "Where was {answer 1} born?", "On what is {answer 2}?",
                  "Did {answer 1} see {answer 3}, or {answer 1}?") == {
        "The whole?": (), "Who?": (), "Where was {answer 1} born?": (1,), "On what is {answer 2}?": (2,),
        "Did {answer 1} see {answer 3}, or {answer 1}?": (1, 3)}


def test_a_step_whose_forerunner_a_cap_left_out_follows_nothing():
    caps = Caps(rounds=1, sub_queries=5, sub_queries_in_all=20, tool_calls=4)
    parts = [part("Who?"), part("Where was {answer 1} born?", routes=())]
    plan = following(plan_round([WHOLE, *searchable(parts)], (), 0, ROUTES, caps), parts)
    assert [(one.question, one.follows) for _, one in plan.new] == [("The whole?", ()),
                                                                    ("Where was {answer 1} born?", ())]
    assert linked("A?", "B?", "Is it {answer 1}?", "Is it {answer 2}?", caps=Caps(
        rounds=1, sub_queries=3, sub_queries_in_all=20, tool_calls=100)) == {
            "The whole?": (), "A?": (), "B?": (), "Is it {answer 1}?": (1,)}


def test_numbers_count_what_is_searched_not_what_is_planned():
    assert linked("{answer 1}?", "Who?", "Where was {answer 2} born?") == {"The whole?": (), "Who?": (),
                                                                           "Where was {answer 2} born?": (1,)}
    # What refers only to a step that cannot be searched is not searched either.
    assert linked("{answer 1}?", "Where is {answer 1}?") == {"The whole?": ()}


def test_a_step_after_the_whole_question_or_a_repetition_follows_the_one_that_is_searched():
    assert linked("the WHOLE", "Where is {answer 1}?") == {"the WHOLE": (), "Where is {answer 1}?": (0,)}
    assert linked("Who?", "who", "Where is {answer 2}?", "Where is {answer 1} ?") == {
        "The whole?": (), "who": (), "Where is {answer 2}?": (1,), "Where is {answer 1} ?": (1,)}
    assert linked("Who?", "Where is {answer 1}?", "where is {answer 1}") == {"The whole?": (), "Who?": (),
                                                                             "where is {answer 1}": (1,)}


def test_a_number_sign_of_the_whole_question_refers_to_nothing():
    whole = part("Who was #1 in the charts?")
    assert linked("Which charts?", "Who was #1 in the charts?", whole=whole) == {
        "Who was #1 in the charts?": (), "Which charts?": ()}


_questions = st.lists(st.sampled_from(["{answer 1}", "{answer 2}", "{answer 3}", "{answer 9}", "Who", "who", "is",
                                       "宁波", "?"]), min_size=1,
                      max_size=4).map(" ".join)
_caps = st.builds(Caps, rounds=st.just(1), sub_queries=st.integers(1, 6), sub_queries_in_all=st.integers(1, 7),
                  tool_calls=st.integers(1, 30))


@given(_questions, st.lists(_questions, max_size=6), _caps)
def test_a_plan_follows_only_what_stands_before_and_keeps_all_else(question, questions, caps):
    parts = [part(one) for one in questions]
    plan = plan_round([part(question), *searchable(parts)], (), 0, ROUTES, caps)
    after = following(plan, parts)
    assert (after.searches, after.notes) == (plan.searches, plan.notes)
    assert [(number, one.model_copy(update={"follows": ()})) for number, one in after.new] == list(plan.new)
    for number, one in after.new:
        assert all(earlier < number for earlier in one.follows)
        assert len(set(one.follows)) == len(one.follows)
        assert not one.follows or waits(one.question)
    assert all(one.question == question or words(wording(one.question)) or not waits(one.question)
               or key(one.question) == key(question) for _, one in after.new)
    assert following(after, parts) == after


NAMES = NameTrie.of((name, name) for name in (
    "Bald Hills Wind Farm", "Ada Byron", "Ulm", "林小雨", "宁波", "2019", "1.5", "Crème Brûlée", "C++"))


def hop(question: str, **elements) -> str | None:
    found = second_hop(part(question, **elements), NAMES.find(question), 0)
    return found and found.question


@pytest.mark.parametrize(("question", "rest"), [
    ("How many people live in the state where the Bald Hills Wind Farm operates?",
     "How many people live in the state where the operates?"),
    ("Ada Byron was born where?", "was born where?"),
    ("Did ADA  BYRON, born in “Ulm”, see Ulm again?", "Did , born in “ ”, see again?"),
    ("Who painted Ulm", "Who painted"),
    ("林小雨出生的城市有多少人口？", "出生的城市有多少人口？"),
    ("谁在宁波见过林小雨？", "谁在 见过 ？"),
    ("How many people had Ulm in 2019 and 1.5 years later?", "How many people had in and years later?"),
    ("How many people had Ulm in 2020?", "How many people had in 2020?"),
    ("Who made the first crème brûlée?", "Who made the first ?"),
    ("Who wrote C++ for #1?", "Who wrote for #1?")])
def test_the_second_hop_is_what_is_left_without_the_names(question, rest):
    assert hop(question) == rest


@pytest.mark.parametrize("question", [
    "Who lives in towns?", "谁住在城里？", "How many are 2020 and 15?", "Ulm", "Ada Byron, Ulm?", "“Ulm” (2019)!",
    "林小雨？", "{answer 1} Ulm?", "", "?"])
def test_without_names_or_without_anything_beside_them_there_is_no_second_hop(question):
    assert second_hop(SubQuery.model_construct(question=question), NAMES.find(question), 0) is None


def test_a_second_hop_follows_the_question_by_its_number_and_keeps_its_schema_elements():
    question = part("Where is Ulm?", entity_types=("City",), relations=("lies_on",), routes=("triple",))
    assert second_hop(question, NAMES.find(question.question), 3) == question.model_copy(
        update={"question": "Where is ?", "follows": (3,)})


@given(st.lists(st.sampled_from(["Ada Byron", "Ulm", "宁波", "2019", "Who", "谁", "is", ",", "?", "  ", "é"]),
                min_size=1, max_size=8).map(" ".join))
def test_a_second_hop_has_all_words_but_the_names(question):
    named = [word for found in NAMES.find(question) for word in found.name.split(" ")]
    rest = hop(question)
    assert sorted([*named, *words(rest or "")]) == sorted(words(question)) or rest is None
    assert (rest is None) == (not named or len(named) == len(words(question)))
