"""Sub-queries that wait for answers, alone and through the whole graph."""

from collections.abc import Sequence

import pytest
from banyan.agents.retrieval.chaining import fillings, merged, names_of, next_parts, without_rewordings
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.planning import key
from banyan.agents.retrieval.state import AskContext
from banyan.models.rules.rules_reasoner import RulesReasoner
from banyan.schemas.retrieval import Reflection, SubAnswer, SubQuery
from hypothesis import given
from hypothesis import strategies as st

from ... import asking
from ... import small_base as base

opened = asking.opened

NAMES = {"ada byron", "carl berg", "ulm", "turku", "宁波", "杭州", "bosnia and herzegovina", "tom, dick & co"}


def known(text: str) -> bool:
    return text.casefold() in NAMES


@pytest.mark.parametrize(("answer", "names"), [
    ("Ulm", ["Ulm"]),
    ("Ada Byron and Carl Berg", ["Ada Byron", "Carl Berg"]),
    ("Ulm, Turku and Ada Byron", ["Ulm", "Turku", "Ada Byron"]),
    ("Ulm, Turku, or Ulm", ["Ulm", "Turku"]),
    ("宁波和杭州", ["宁波", "杭州"]),
    ("宁波、杭州", ["宁波", "杭州"]),
    ("Bosnia and Herzegovina", ["Bosnia and Herzegovina"]),
    ("Tom, Dick & Co; Ulm", ["Tom, Dick & Co", "Ulm"]),
    ("Simon and Garfunkel", ["Simon and Garfunkel"]),
    ("Martin Luther King, Jr.", ["Martin Luther King, Jr."]),
    ("平和县", ["平和县"]),
    ("Anna Neu; Otto Alt", ["Anna Neu", "Otto Alt"]),
    ("Anna\nOtto\n", ["Anna", "Otto"]),
    ("  Ulm ", ["Ulm"]),
    ("the Soviet Union (Russia)", ["the Soviet Union"]),
    ("Ulm (on the Danube); Turku（芬兰）", ["Ulm", "Turku"]),
    ("(none)", ["(none)"]),
])
def test_an_answer_that_lists_names_gives_each_of_them(answer, names):
    assert list(names_of(answer, known)) == names


def test_a_sentence_is_no_list():
    sentence = "She left the city in which she had lived for many years; her brother stayed there with his wife."
    assert names_of(sentence, known) == (sentence,)


@pytest.mark.parametrize(("question", "answers", "filled"), [
    ("Where is {answer 1}?", ["Ulm"], ["Where is Ulm?"]),
    ("Where is {answer 1}?", [""], []),
    ("Where is {answer 1}?", ["  "], []),
    ("Where is {answer 2}?", ["Ulm"], []),
    ("Where is {answer 0}?", ["Ulm"], []),
    ("Where is {answer 12}?", ["Ulm"], []),
    ("Do {answer 1} and {answer 2} know each other?", ["Ada Byron", "Carl Berg"],
     ["Do Ada Byron and Carl Berg know each other?"]),
    ("Do {answer 1} and {answer 2} know each other?", ["Ada Byron", ""], []),
    ("Where was {answer 1} born?", ["Ada Byron and Carl Berg"],
     ["Where was Ada Byron born?", "Where was Carl Berg born?"]),
    ("Is {answer 1} in {answer 2}?", ["Ulm; Turku", "A; B"], ["Is Ulm in A?", "Is Ulm in B?", "Is Turku in A?"]),
    ("Is {answer 1} {answer 1}?", ["Ulm; Turku"], ["Is Ulm Ulm?", "Is Turku Turku?"]),
    ("Who sang {answer 1}?", ["The {answer 2} Song"], ["Who sang The (answer 2) Song?"]),
    ("Who sang {answer 1}?", ["The #2 Song [PERSON#277]"], ["Who sang The #2 Song [PERSON#277]?"]),
    ("Where?", ["Ulm"], []),
])
def test_a_sub_query_is_filled_with_each_name(question, answers, filled):
    assert fillings(question, answers, known, 3) == filled


def history(*pairs: tuple[str, str]) -> list[SubAnswer]:
    return [SubAnswer(question=question, answer=answer) for question, answer in pairs]


def test_what_was_answered_stands_where_a_reflection_says_nothing():
    before = history(("A?", "Ulm"), ("B?", ""))
    assert merged(before, history(("B?", "Turku")), known, 5) == history(("A?", "Ulm"), ("B?", "Turku"))
    assert merged(before, history(("A?", ""), ("B?", " ")), known, 5) == before
    assert merged(before, history(("Z?", "Bonn"), ("a", "Bonn")), known, 5) == history(("A?", "Bonn"), ("B?", ""))
    assert merged(before, [], known, 5) == before


def test_a_sub_query_asked_for_each_name_has_all_their_answers():
    before = history(("Who?", "Ada Byron, Carl Berg"), ("Where was {answer 1} born?", ""),
                     ("Which river is {answer 2} on?", ""),
                     ("Where was Ada Byron born?", "Ulm"), ("Where was Carl Berg born?", "Turku"))
    after = merged(before, history(("Which river is Ulm on?", "Danube")), known, 5)
    assert after[1].answer == "Ulm; Turku"
    assert after[2].answer == ""
    planned = [SubQuery(question=item.question, relations=(f"r{n}",)) for n, item in enumerate(before)]
    ready = next_parts([], planned, after, {key(item.question) for item in before}, known, 5)
    assert [part.question for part in ready] == ["Which river is Ulm on?", "Which river is Turku on?"]
    assert {part.relations for part in ready} == {("r2",)}, "with the schema elements of the plan"


def test_the_reasoners_sub_queries_go_before_the_plans():
    planned = [SubQuery(question="Who?"), SubQuery(question="Where was {answer 1} born?")]
    answered = history(("Who?", "Ada Byron and Carl Berg"), ("Where was {answer 1} born?", ""))

    def ready(*said: str, searched: Sequence[str] = ()) -> list[str]:
        return [part.question for part in next_parts([SubQuery(question=one) for one in said], planned, answered,
                                                     {key(one) for one in searched}, known, 5)]

    each = ["Where was Ada Byron born?", "Where was Carl Berg born?"]
    assert ready("Who else?") == ["Who else?"]
    assert ready() == each
    assert ready("Who?", searched=["who"]) == each, "what was searched before is nothing new"
    assert ready("Where was Ada Byron and Carl Berg born?") == each, "a list is no name"
    assert ready("Where is {answer 1}?") == ["Where is Ada Byron?", "Where is Carl Berg?"]
    assert ready("Where is {answer 2}?") == each, "what still waits is not asked"
    assert ready(searched=each) == []


def test_what_a_model_asks_in_other_words_is_not_asked_again_as_it_was_planned():
    def left(planned: str, *asked: str) -> bool:
        return bool(without_rewordings([SubQuery(question=planned)], [SubQuery(question=one) for one in asked]))

    assert not left("Who played Ada Byron in Barges?", "Who played Ada Byron in the film Barges?")
    assert not left("谁在电影《驳船》中饰演林小雨？", "在电影《驳船》中，林小雨由谁饰演？")
    assert left("Who played Ada Byron in Barges?", "Who played Carl Berg in Hives?", "Where was Ada Byron born?")
    assert left("Who played Ada Byron in Barges?")


_texts = st.lists(st.sampled_from(["Ulm", "{answer 1}", "{answer 2}", "and", "{answer 9}", "Ada Byron", ";"]),
                  min_size=1,
                  max_size=5).map(" ".join)


@given(_texts, st.lists(_texts | st.just(""), max_size=4), st.integers(1, 4))
def test_filling_is_bounded_and_leaves_no_place_of_the_question(question, answers, limit):
    filled = fillings(question, answers, known, limit)
    assert len(filled) <= limit
    if filled:
        plain = [answer.replace("#", "") for answer in answers]
        assert not any("#" in text for text in fillings(question, plain, known, limit))


class Oracle(asking.Fake):
    """Knows the answers of atomic questions, and gives those that were searched; asks for nothing itself."""

    def __init__(self, plan: Sequence[str], answers: dict[str, str]) -> None:
        super().__init__()
        self.parts = [SubQuery(question=question) for question in plan]
        self.known = answers

    def reflect(self, question, history, passages, schema):
        self.calls.append(("reflect", (question, list(history), list(passages), schema)))
        found = [SubAnswer(question=item.question, answer=self.known.get(item.question, "")) for item in history]
        return Reflection(sufficient=bool(history[len(self.parts) - 1].answer), sub_answers=found, keep=[1])


CHAIN = ["Who wrote the notes?", "Where was {answer 1} born?", "On which river is {answer 2}?",
         "Into which sea flows {answer 3}?"]
ANSWERS = {"Who wrote the notes?": "Ada Byron", "Where was Ada Byron born?": "Ulm", "On which river is Ulm?": "Danube",
           "Into which sea flows Danube?": "Black Sea"}


def ask(resources, reasoner, question="Into which sea ...?", **context):
    resources.fake = reasoner
    return build_graph(resources).invoke({"knowledge_base": "kb", "question": question},
                                         context=AskContext(trace=True, **context))


@pytest.mark.parametrize("hops", [2, 3, 4])
def test_a_chain_is_followed_hop_by_hop_whatever_the_reasoner_asks_for(opened, hops):
    oracle = Oracle(CHAIN[:hops], ANSWERS)
    said = ask(opened, oracle, max_rounds=4)
    assert said["sub_queries"] == ["Into which sea ...?", *list(ANSWERS)[:hops]], "each with the names written out"
    assert said["iterations"] == hops
    last = oracle.said_to("answer")[0][1]
    known = list(ANSWERS.values())[:min(hops, 3)]  # nothing is reflected after the last round
    assert [item.answer for item in last[:len(known)]] == known
    assert last[-1].question == list(ANSWERS)[hops - 1]


def test_a_chain_longer_than_the_rounds_ends_with_what_there_is(opened):
    said = ask(opened, Oracle(CHAIN, ANSWERS), max_rounds=3)
    assert said["iterations"] == 3
    assert said["sub_queries"][1:] == list(ANSWERS)[:3]
    assert said["trace"][-2]["step"] == "fuse", "what was asked for last is searched, and read by the answer"


def test_a_hop_that_is_not_answered_ends_the_chain_without_another_search_for_its_number(opened):
    oracle = Oracle(CHAIN, {"Who wrote the notes?": "Ada Byron"})
    said = ask(opened, oracle)
    assert said["sub_queries"] == ["Into which sea ...?", CHAIN[0], "Where was Ada Byron born?"]
    assert said["iterations"] == 2
    waiting = [note for note in said["trace"][-2]["notes"] if "waits" in note]
    assert len(waiting) == 3
    assert oracle.steps() == ["decompose", "reflect", "reflect", "answer"]


def test_a_list_fans_out_and_the_chain_goes_on_from_all_of_it(opened):
    answers = {"Who was born where?": "Ada Byron and Carl Berg", "Where was Ada Byron born?": "Ulm",
               "Where was Carl Berg born?": "Turku", "On which river is Ulm?": "Danube",
               "On which river is Turku?": "Aura"}
    plan = ["Who was born where?", "Where was {answer 1} born?", "On which river is {answer 2}?"]
    oracle = Oracle(plan, answers)
    said = ask(opened, oracle)
    assert said["sub_queries"][1:] == list(answers)
    assert said["iterations"] == 3
    found = {item.question: item.answer for item in oracle.said_to("answer")[0][1]}
    assert found["Where was {answer 1} born?"] == "Ulm; Turku"


def test_a_list_fans_out_within_the_cap(opened):
    names = "; ".join(f"Name {n}" for n in range(50))
    oracle = Oracle(["Who?", "Where was {answer 1} born?"], {"Who?": names})
    said = ask(opened, oracle, max_sub_queries=3)
    assert said["sub_queries"] == ["Into which sea ...?", "Who?",
                                   *(f"Where was Name {n} born?" for n in range(3))]


def test_the_rules_follow_a_chain_over_several_rounds(tmp_path, hashed_embedder):
    """Four documents of which a context holds one or two: the next hop is found only once it is asked for."""
    idle = " ".join(f"Nothing else of note is told of item {n}." for n in range(7))
    facts = {"polonium": "Polonium was discovered by Ada Byron.", "ada": "Ada Byron was born in Ulm.",
             "ulm": "Ulm lies on the Danube.", "other": "Carl Berg was born in Turku."}
    with base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        for name, text in facts.items():
            base.put(kb, name, f"{text} {idle}")
        base.finish(kb)
    with asking.FakeResources(tmp_path, hashed_embedder) as resources:
        resources.settings.context_tokens = 100
        question = "On which river does the birthplace of the discoverer of polonium lie?"
        said = ask(resources, RulesReasoner(), question)
    decomposed = next(step for step in said["trace"] if step["step"] == "decompose")["sub_queries"]
    assert [part.get("follows", []) for part in decomposed[1:]] == [[], [1], [2]], "each step follows the one before"
    later = said["sub_queries"][len(decomposed):]
    assert "What is the birthplace of Ada Byron?" in later
    assert not any("#" in question for question in later)
    assert said["iterations"] > 1
    assert len(said["sub_queries"]) == len({key(one) for one in said["sub_queries"]})
