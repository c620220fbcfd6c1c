"""Names in a question: which are found, where they stand, and with whatever quotes."""

import banyan
import pytest
from banyan.graph_store.bounding.words import words
from banyan.graph_store.index.lexical import NamedSpan
from banyan.text.lexicon import ENGLISH_STOP
from hypothesis import given
from hypothesis import strategies as st

from ...graph_index import trie_of
from ...hashed_embedding import HashedEmbedder
from ...small_base import create, finish, put


def test_the_longest_name_wins_and_names_do_not_overlap():
    trie = trie_of([("New York", "a"), ("New York City", "b"), ("York City", "c"), ("City Hall", "d")])
    assert trie.find("Is new YORK city hall in New York?") == [
        NamedSpan("new york city", ("b",), 3, 16), NamedSpan("new york", ("a",), 25, 33)]


def test_chinese_names_are_found_without_spaces():
    trie = trie_of([("北京", "a"), ("北京大学", "b"), ("林小雨", "c")])
    question = "林小雨毕业于北京大学，后来住在北京。"
    found = trie.find(question)
    assert [named.entities for named in found] == [("c",), ("b",), ("a",)]
    assert [question[named.start:named.end] for named in found] == ["林小雨", "北京大学", "北京"]


def test_aliases_and_namesakes():
    trie = trie_of([("Mercury", "planet"), ("Mercury", "element"), ("Quicksilver", "element")])
    assert trie.find("mercury, or quicksilver") == [
        NamedSpan("mercury", ("element", "planet"), 0, 7), NamedSpan("quicksilver", ("element",), 12, 23)]


def test_a_name_is_not_found_inside_a_word():
    assert trie_of([("Ada", "a"), ("Ulm", "b")]).find("Adam likes Ulmer Spatz") == []


def test_a_function_word_in_small_letters_is_no_name():
    trie = trie_of([("IN", "Indiana"), ("WAS", "Washington")])
    assert trie.find("Who was born in Ulm?") == []
    assert [named.entities for named in trie.find("Did WAS play in IN?")] == [("Washington",), ("Indiana",)]


_names = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), min_size=1, max_size=20).filter(words)


@given(_names, st.sampled_from(["", "Who is ", "谁是", "(", "1: "]), st.sampled_from(["", "?", " now", "」", " 2"]))
def test_every_name_is_found_in_a_text_made_of_it(name, before, after):
    text = before + name + after
    found = trie_of([(name, "one")]).find(text)
    glued = words(text) != words(before) + words(name) + words(after)
    is_function_word = {*words(name)} <= ENGLISH_STOP
    assert glued or is_function_word or any(named.entities == ("one",) for named in found)


def test_a_question_finds_a_name_with_another_apostrophe(tmp_path):
    with banyan.open("kb", home=tmp_path / "home", llm_base_url=None) as kb:
        kb.add({"id": "a", "text": "Nora O’Shea was born in Tralee. Ian O'Dowd was born in Ennis."})
        assert kb.ask("Where was Nora O'Shea born?").short == "Tralee"
        assert kb.ask("Where was Ian O’Dowd born?").short == "Ennis"


PERSONS = {"Ben Sternthal": "Person", "Ben": "Person"}


@pytest.fixture
def documents_of(tmp_path):
    """Return the documents of each entity of documents, which are given as (text, entities)."""
    def read(*documents):
        with create(tmp_path, "kb", HashedEmbedder()) as kb, kb.writing():
            for number, (text, entities) in enumerate(documents):
                put(kb, f"d{number}", text, entities=entities)
            finish(kb)
            of_chunk = kb.documents.of_chunks()
            return {kb.graph.name(entity): {of_chunk[chunk] for chunk in kb.graph.entity_support(entity)}
                    for entity in kb.graph.entity_ids()}
    return read


FAMILY = dict.fromkeys(("Mary Fairlie", "John Fairlie", "Miss Fairlie", "Mrs. Fairlie"), "Person")
MILLS = {"Open Mill Trust": "Organization", "Mill Trust": "Organization"}
ADDRESSED = dict.fromkeys(("Mr. Ukridge", "Mr. Black"), "Person")
UKERT = dict.fromkeys(("Johann Ukert", "Ukert"), "Person")
DORNS = {"Ann Dorn": "Person", "Bo Dorn": "Person", "Dorn": "Location"}
KUHNAU = {"Johann Kuhnau": "Person"}


@pytest.mark.parametrize(("documents", "found"), [
    # A name of one chunk is counted in all that have it.
    ([("NASA came.", {"NASA": "Organization"}), ("So NASA left; see NASA.org.", {})], {"NASA": {"d0", "d1"}}),
    ([("The Mill Trust met.", {"Mill Trust": "Organization"}), ("It is the Mill\nTrust.", {}),
      ("The Mill Trusts are many; see https://x.org/Mill Trust/.", {})], {"Mill Trust": {"d0", "d1"}}),
    # A short name is the only person of its document who has it; of a family, nobody is meant for sure.
    ([("Ben Sternthal came. Ben spoke.", PERSONS), ("Ben wrote.", {"Ben": "Person"}),
      ("Ben Sternthal met Ben Karl, and Ben left.", {**PERSONS, "Ben Karl": "Person"})],
     {"Ben Sternthal": {"d0", "d2"}, "Ben Karl": {"d2"}}),
    ([("Mary Fairlie and John Fairlie. Miss Fairlie and Mrs. Fairlie spoke.", FAMILY)],
     {"Mary Fairlie", "John Fairlie", "Mrs. Fairlie"}),
    # A surname is its only bearer in other documents, too; of two bearers in one, nobody.
    ([("Johann Ukert came. Ukert spoke.", UKERT), ("So Ukert wrote.", UKERT),
      ("Ann Dorn saw Bo Dorn. Dorn left.", DORNS)],
     {"Johann Ukert": {"d0", "d1"}, "Ann Dorn": {"d2"}, "Bo Dorn": {"d2"}}),
    # Who is often called by a first name alone is meant by it everywhere, if nobody else has it.
    ([*((f"Lydia {verb}.", {"Lydia": "Person"}) for verb in ("came", "saw", "left")), ("Then came Lydia.", {}),
      ("Lydia Dorn came.", {"Lydia Dorn": "Person"})], {"Lydia": {"d0", "d1", "d2", "d3"}, "Lydia Dorn": {"d4"}}),
    # What is very often called by one word is meant by it wherever it stands, adjectives before it or not.
    ([*((f"Ken {verb}.", {"Ken": "Person"}) for verb in ("came", "saw", "left", "ran", "sat")),
      ("Then came Big Ken, a big man.", {}), ("So ken Mary Ken.", {}),
      ("Ken Dorn met Ken Lind and Ken.", {"Ken Dorn": "Person", "Ken Lind": "Person", "Ken": "Person"})],
     {"Ken": {"d0", "d1", "d2", "d3", "d4", "d5", "d7"}, "Ken Dorn": {"d7"}, "Ken Lind": {"d7"}}),
    # What is mostly written small is no name.
    ([("Hush! He left for Radom.", {"Hush": "Person", "Radom": "City"}),
      *((f"We hush {word}.", {}) for word in ("one", "two", "three"))], {"Radom": {"d0"}}),
    ([("The Open Mill Trust and the Mill Trust met.", MILLS)], {*MILLS}),
    # A last name taken for a place is the person's.
    ([("Johann Kuhnau wrote it.", KUHNAU), ("Johann Kuhnau died. In Kuhnau we see it.",
                                            {**KUHNAU, "Kuhnau": "Location"})], {"Johann Kuhnau": {"d0", "d1"}}),
    # A family name alone is whom a form of address tells, but no longer name and no word of the language.
    ([("Mr. Ukridge and Mr. Black came.", ADDRESSED), ("So Ukridge and Black ran.", {}),
      ("In Ukridge we trust, black or not.", {"Ukridge": "Location"}), ("Mr. Ukridge left Mr. Black.", ADDRESSED),
      ("Mrs.\xa0Ukridge laughed.", {})], {"Mr. Ukridge": {"d0", "d1", "d2", "d3"}, "Mr. Black": {"d0", "d3"}}),
    ([("Mr. London came to London.", {"Mr. London": "Person", "London": "Location"}),
      ("London is far.", {"London": "Location"})], {"London": {"d0", "d1"}, "Mr. London": {"d0"}}),
    ([("Jack London came to London.", {"Jack London": "Person", "London": "Location"}),
      ("London is far.", {"London": "Location"})], {"Jack London", "London"})])
def test_names_of_documents_stand_for_the_entities_that_are_meant(documents_of, documents, found):
    assert documents_of(*documents) == found if isinstance(found, dict) else set(documents_of(*documents)) == found


def test_a_person_of_one_word_keeps_its_facts_beside_a_form_of_address(tmp_path):
    with create(tmp_path, "kb", HashedEmbedder()) as kb, kb.writing():
        for number in range(3):
            put(kb, f"d{number}", "Mr. Dorn spoke.", entities={"Mr. Dorn": "Person"})
        put(kb, "d3", "Dorn lives in Radom.", entities={"Dorn": "Person", "Radom": "City"},
            triples=[("Dorn", "lives_in", "Radom")])
        finish(kb)
        facts = [(kb.graph.name(head), relation, kb.graph.name(tail)) for head, relation, tail in kb.graph.edges()]
    assert facts == [("Dorn", "lives_in", "Radom")]


def test_fields_of_several_things_on_a_line_give_no_short_answer(tmp_path):
    with banyan.open("kb", home=tmp_path / "home", llm_base_url=None) as kb:
        kb.add({"id": "a", "text": "name: Arc room: 4 name: Bow room: 7 name: Cot room: 9"})
        assert kb.ask("Which room has Arc?").short == ""
