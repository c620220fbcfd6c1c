"""The question side of the rules reasoner: the expected kind of answer, follow-ups."""

import re

import pytest
from banyan.models.parsing.parser import Parser
from banyan.models.rules.question import analyse, ask_back, condense
from hypothesis import given
from hypothesis import strategies as st

PARSER = Parser()


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
    assert condense(question, messages, PARSER) == expected


@pytest.mark.parametrize("question", [
    "When was radium discovered?", "When did Ada Byron win her first prize?", "Is there a museum?", "屠呦呦是谁？",
])
def test_a_question_that_stands_alone_is_unchanged(question):
    assert condense(question, COUNTRY, PARSER) == question
    assert condense(question, [], PARSER) == question


@pytest.mark.parametrize(("earlier", "question", "expected"), [
    ("Who was Marie Curie? Who was Pierre Curie?", "Where was she born?", "Where was Marie Curie born?"),
    ("Who was Marie Curie? Who was Pierre Curie?", "Where was he born?", "Where was Pierre Curie born?"),
    ("Who was Karl Williams? Who was Marie Curie?", "When did he die?", "When did Karl Williams die?"),
    ("Who was Mrs. Keller? Who is Mr. Blum?", "When did she die?", "When did Mrs. Keller die?"),
    ("Who was Karl Blum? Where is Warsaw?", "When did he die?", "When did Karl Blum die?"),
    ("Where is Warsaw? Who was Karl Blum?", "How large is it?", "How large is Warsaw?"),
    ("居里夫人是谁？王先生是谁？", "她出生在哪里？", "居里夫人出生在哪里？"),
])
def test_a_pronoun_means_the_last_subject_of_its_kind(earlier, question, expected):
    messages = [("user", text) for text in re.findall(r"[^?？]+[?？]", earlier)]
    assert condense(question, messages, PARSER) == expected


@pytest.mark.parametrize(("question", "asked"), [
    ("Where does he work?", "Who is meant by 'he'?"), ("In which year was she born?", "Who is meant by 'she'?"),
    ("Who is his wife?", "Who is meant by 'his'?"), ("Where is it?", "What is meant by 'it'?"),
    ("When did Ada Byron win her first prize?", ""), ("When the mayor resigned, where did he go?", ""),
    ("What does it say about pay?", ""), ("Who lost his life?", ""), ("Is it possible to leave early?", ""),
    ("What happens to a block when it is orphaned?", ""), ("Where is Ulm?", ""),
    ("他在哪里工作？", "“他”指的是谁？"), ("它的总部在哪里？", "“它”指的是什么？"), ("屠呦呦和她的丈夫住在哪里？", "")])
def test_a_pronoun_that_nothing_explains_is_asked_back(question, asked):
    assert ask_back(analyse(question), PARSER) == asked


PIECES = ("the of who which that where whose in was born does lie Marie Curie 's author city # #1 , ? first or and "
          "的 谁 发现 出生 城市 哪个 首都 ， ？ 他 1898 《 》 呢 说 it her")
WORDS = st.sampled_from(sorted({"{answer 1}", *PIECES.split()}))
ANY = st.text(max_size=80) | st.lists(WORDS, max_size=14).map(" ".join) | st.lists(WORDS, max_size=14).map("".join)


@given(ANY, st.lists(st.tuples(st.sampled_from(["user", "assistant"]), ANY), max_size=4))
def test_condense_never_fails(question, messages):
    assert isinstance(condense(question, messages, PARSER), str)
    assert condense(question, [], PARSER) == question
