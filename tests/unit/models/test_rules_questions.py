"""The question side of the rules reasoner: unfolding, comparison, schema elements, follow-ups."""

import time

import pytest
from banyan.models.parsing.parser import Parser
from banyan.models.rules.follow_ups import condense
from banyan.models.rules.question import analyse
from banyan.schemas.retrieval import references
from banyan.tools.ranking.steps import unfold
from hypothesis import example, given, settings
from hypothesis import strategies as st

PARSER = Parser()


def steps(question: str, limit: int = 5) -> list[str]:
    return unfold(question, limit, PARSER)


@pytest.mark.parametrize(("question", "expected"), [
    ("What is the river of the birthplace of the discoverer of polonium?",
     ["Who is the discoverer of polonium?", "What is the birthplace of {answer 1}?",
      "What is the river of {answer 2}?"]),
    ("What is the capital of the country where Frida Kahlo was born?",
     ["In which country was Frida Kahlo born?", "What is the capital of {answer 1}?"]),
    ("Where was Marie Curie's husband born?", ["Who is Marie Curie's husband?", "Where was {answer 1} born?"]),
    ("Who taught the author of the book that won the Golden Leaf in 1981?",
     ["Which book won the Golden Leaf in 1981?", "Who is the author of {answer 1}?", "Who taught {answer 2}?"]),
    ("When did the country where Chopin was born join the European Union?",
     ["In which country was Chopin born?", "When did {answer 1} join the European Union?"]),
    ("The Grey Ferry was built by a yard that was closed when?",
     ["The Grey Ferry was built by which yard?", "{answer 1} was closed when?"]),
    ("Who is the spouse of the Silver Lamp performer?",
     ["Who is the Silver Lamp performer?", "Who is the spouse of {answer 1}?"])])
def test_nested_questions_are_unfolded_innermost_first(question, expected):
    assert steps(question) == expected


@pytest.mark.parametrize("question", [
    "What is the capital of France?", "Who is the president of the United Nations?",
    "Who was the man who wrote Emma?",
    "What is the University of Vienna?",
    "Where is the company that Ada Byron founded?",
    "What is Marie Curie's nationality?", "What is the name of the film directed by Agnes Varda?",
    "法国的首都有多少人口？", "阳光公司2019年的净利润是多少？",
])
def test_a_simple_or_unclear_question_stays_as_it_is(question):
    assert steps(question) == [question]


@pytest.mark.parametrize(("question", "expected"), [
    ("Who wrote Emma?", "person"), ("When did she die?", "date"), ("What year was it?", "date"),
    ("Where is Ulm?", "location"), ("On which river does Ulm lie?", "location"),
    ("How many people live in Ulm?", "number"), ("What is the population of Ulm?", "number"),
    ("Which company makes it?", "organization"), ("Was it sunk?", "polar"), ("Why did it sink?", "reason"),
    ("What does the boat weigh?", "number"), ("Who is Ada Byron?", "text"), ("Which gemstone is blue?", "name"),
    ("Where does a diver go who has missed a stop?", "location"), ("What happened in 2021?", "text"),
    ("谁写了它？", "person"), ("哪一年成立？", "date"), ("人口是多少？", "number"),
    ("在哪座城市？", "location"), ("哪家公司收购了它？", "organization"), ("如何提升业绩？", "text"),
])
def test_the_expected_kind_of_answer(question, expected):
    assert analyse(question).expected == expected


PERSON = [("user", "Who discovered polonium?"), ("assistant", "Marie Curie discovered polonium in 1898.")]
COUNTRY = [("user", "What is the capital of Poland?"), ("assistant", "Warsaw is the capital of Poland.")]
ZH_PERSON = [("user", "谁发现了青蒿素？"), ("assistant", "屠呦呦发现了青蒿素。")]
ZH_COUNTRY = [("user", "波兰的人口是多少？"), ("assistant", "波兰人口约3800万。")]


@pytest.mark.parametrize(("messages", "question", "expected"), [
    (PERSON, "And when did she die?", "When did Marie Curie die?"),
    (COUNTRY, "How large is it?", "How large is Poland?"),
    (COUNTRY, "What about France?", "What is the capital of France?"),
    (COUNTRY, "How many people live there?", "How many people live in Warsaw?"),
    (COUNTRY, "And the population?", "What is the population of Poland?"),
    (ZH_COUNTRY, "法国呢？", "法国的人口是多少？"), (ZH_COUNTRY, "它的首都呢？", "波兰的首都是什么？"),
    (ZH_COUNTRY, "那里有多少大学？", "波兰有多少大学？"),
    (ZH_PERSON, "她出生在哪里？", "屠呦呦出生在哪里？")])
def test_follow_ups_are_made_to_stand_alone(messages, question, expected):
    assert condense(question, messages) == expected


@pytest.mark.parametrize("question", [
    "When was radium discovered?", "When did Ada Byron win her first prize?", "Is there a museum?", "屠呦呦是谁？",
])
def test_a_question_that_stands_alone_is_unchanged(question):
    assert condense(question, COUNTRY) == question
    assert condense(question, []) == question


PIECES = ("the of who which that where whose in was born does lie Marie Curie 's author city # #1 , ? first or and "
          "的 谁 发现 出生 城市 哪个 首都 ， ？ 他 1898 《 》 呢 说 it her")
WORDS = st.sampled_from(sorted({"{answer 1}", *PIECES.split()}))
ANY = st.text(max_size=80) | st.lists(WORDS, max_size=14).map(" ".join) | st.lists(WORDS, max_size=14).map("".join)


@given(ANY.filter(bool), st.integers(1, 6))
@example("   ", 3)
@settings(deadline=None, max_examples=100)
def test_unfold_never_fails_and_keeps_to_the_limit(question, limit):
    found = unfold(question, limit, PARSER)
    assert 1 <= len(found) <= limit
    assert all(found)
    for number, step in enumerate(found if len(found) > 1 else ()):
        # A step refers to steps before it alone, besides what the question itself says.
        assert all(1 <= one <= number for one in set(references(step)) - set(references(question)))


@given(ANY, st.lists(st.tuples(st.sampled_from(["user", "assistant"]), ANY), max_size=4))
@settings(deadline=None, max_examples=100)
def test_condense_never_fails(question, messages):
    assert isinstance(condense(question, messages), str)
    assert condense(question, []) == question


def test_long_questions_take_linear_time():
    def seconds(repeats: int) -> float:
        text = "the city of the man who was born in the town where the author of " * repeats
        start = time.thread_time()
        unfold(text + "?", 5, PARSER)
        return time.thread_time() - start

    seconds(1)
    assert seconds(40) < 200 * max(seconds(4), 0.002)
