"""The steps of nested English questions."""

import pytest
from banyan.models.parsing.parser import Parser
from banyan.tools.ranking.nested_english import Step, split_question
from hypothesis import given
from hypothesis import strategies as st

PARSER = Parser()


def steps(question: str, *known: str) -> list[tuple[str, tuple[int, ...]]]:
    """The steps after the question itself."""
    first, *others = split_question(question, PARSER, lambda text: [name for name in known if name in text])
    assert first == Step(question.strip())
    return [tuple(step) for step in others]


@pytest.mark.parametrize(("question", "expected"), [
    ("What is the river of the birthplace of the discoverer of polonium?",
     [("Who is the discoverer of polonium?", ()), ("What is the birthplace of ?", (1,)),
      ("What is the river of ?", (2,))]),
    ("What is the capital of the country where Frida Kahlo was born?",
     [("In which country was Frida Kahlo born?", ()), ("What is the capital of ?", (1,))]),
    ("Who taught the author of the book that won the Golden Leaf in 1981?",
     [("Which book won the Golden Leaf in 1981?", ()), ("Who is the author of ?", (1,)), ("Who taught ?", (2,))]),
    ("The Grey Ferry was built by a yard that was closed when?",
     [("The Grey Ferry was built by which yard?", ()), ("was closed when?", (1,))]),
    ("Who is the spouse of the Silver Lamp performer?",
     [("Who is the Silver Lamp performer?", ()), ("Who is the spouse of ?", (1,))])])
def test_nested_questions_are_split_innermost_first(question, expected):
    assert steps(question) == expected


@pytest.mark.parametrize("question", [
    "", "What is the capital of France?", "Who was the man who wrote Emma?", "What is the University of Vienna?",
    "Where is the company that Ada Byron founded?", "What is the name of the film directed by Agnes Varda?",
    "法国的首都有多少人口？", "What is the river of the birthplace of the discoverer of polonium? " * 40])
def test_a_simple_long_or_unclear_question_is_searched_as_it_is(question):
    assert steps(question) == []


def test_a_split_whose_first_step_has_no_known_name_is_misread():
    question = "Which town is the birthplace of the author of Emma near?"
    assert steps(question, "Emma")
    assert steps(question, "town") == []


@given(st.text(max_size=60))
def test_any_text_is_searched_and_steps_follow_earlier_ones(question):
    for number, (text, follows) in enumerate(steps(question.replace("{", "")), 1):
        assert text
        assert all(earlier < number for earlier in follows)
