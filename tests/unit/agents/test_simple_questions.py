"""Which questions are asked as they are, without a call that decomposes them."""

import pytest
from banyan.agents.retrieval.simple_questions import is_simple
from banyan.graph_store.index.name_trie import NameTrie

NAMES = ("Marie Curie", "Pierre Curie", "Poland", "polonium", "屠呦呦", "青蒿素", "Alexandria", "Minnesota", "Jaws")
TRIE = NameTrie.of((name, name) for name in NAMES)


@pytest.mark.parametrize("question", [
    "When was Marie Curie born?", "Who was the mother of Marie Curie?", "Who discovered polonium?",
    "What is the capital of Poland?", "Who was Marie Curie's husband?", "In which city was Marie Curie born?",
    "Which award did Marie Curie receive in 1903?", "How high is Mount Everest?", "What is Marie Curie known for?",
    "What is the population of Alexandria, Minnesota?", "Who directed “Jaws”?",
    "屠呦呦出生在哪个城市？", "屠呦呦的丈夫是谁？", "谁发现了青蒿素？"])
def test_one_thing_asked_of_one_entity_is_simple(question):
    assert is_simple(question, TRIE.find(question))


@pytest.mark.parametrize("question", [
    "Where was the director of Jaws born?", "Where was Marie Curie's husband born?",
    "On which river does the birthplace of the discoverer of polonium lie?",
    "Who was older, Marie Curie or Pierre Curie?", "Who was born first, Marie Curie or Pierre Curie?",
    "What did Marie Curie and Pierre Curie discover?", "Who founded the company that makes radium?",
    "What are the main themes?", "Summarise what is said of Marie Curie.", "Who was the largest city in Poland?",
    "How many awards did Marie Curie receive?", "Is Marie Curie older than Pierre Curie?", "Who is she?", "",
    "Where did Marie Curie live when she discovered polonium?", "¿Dónde nació Marie Curie?",
    "Who was the teacher of the husband of Marie Curie?", "Since when was Marie Curie a professor?",
    "屠呦呦的丈夫出生在哪里？", "屠呦呦和袁隆平谁更年长？", "屠呦呦获得了哪些奖？",
    "发现青蒿素的人毕业于哪所大学的哪个系？"])
def test_anything_else_is_not(question):
    assert not is_simple(question, TRIE.find(question))
