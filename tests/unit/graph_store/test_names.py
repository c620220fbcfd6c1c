"""Names in a question: which are found, and where they stand."""

from itertools import pairwise

import pytest
from banyan.graph_store.bounding.grounding import word_places, words
from banyan.graph_store.index.name_trie import NamedSpan, NameTrie
from hypothesis import example, given
from hypothesis import strategies as st


def test_the_longest_name_wins_and_names_do_not_overlap():
    trie = NameTrie.of([("New York", "a"), ("New York City", "b"), ("York City", "c"), ("City Hall", "d")])
    assert trie.find("Is new YORK city hall in New York?") == [
        NamedSpan("new york city", ("b",), 3, 16), NamedSpan("new york", ("a",), 25, 33)]


def test_a_name_that_begins_like_a_longer_one_is_still_found():
    trie = NameTrie.of([("New York", "a"), ("New York City Council House", "b")])
    assert trie.find("the New York City budget") == [NamedSpan("new york", ("a",), 4, 12)]


def test_chinese_names_are_found_without_spaces():
    trie = NameTrie.of([("北京", "a"), ("北京大学", "b"), ("林小雨", "c")])
    question = "林小雨毕业于北京大学，后来住在北京。"
    found = trie.find(question)
    assert [named.entities for named in found] == [("c",), ("b",), ("a",)]
    assert [question[named.start:named.end] for named in found] == ["林小雨", "北京大学", "北京"]


def test_aliases_and_namesakes():
    trie = NameTrie.of([("Mercury", "planet"), ("Mercury", "element"), ("Quicksilver", "element")])
    assert trie.find("mercury, or quicksilver") == [
        NamedSpan("mercury", ("element", "planet"), 0, 7), NamedSpan("quicksilver", ("element",), 12, 23)]


def test_a_name_is_not_found_inside_a_word():
    assert NameTrie.of([("Ada", "a"), ("Ulm", "b")]).find("Adam likes Ulmer Spatz") == []


def test_names_without_a_word_are_left_out():
    trie = NameTrie.of([("...", "a"), ("", "b")])
    assert trie.find("... and , nothing") == []


_names = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), min_size=1, max_size=20).filter(words)


@given(_names, st.sampled_from(["", "Who is ", "谁是", "(", "1: "]), st.sampled_from(["", "?", " now", "」", " 2"]))
def test_every_name_is_found_in_a_text_made_of_it(name, before, after):
    text = before + name + after
    found = NameTrie.of([(name, "one")]).find(text)
    glued = words(text) != words(before) + words(name) + words(after)
    assert glued or any(named.entities == ("one",) for named in found)


@given(st.lists(_names, min_size=1, max_size=8))
def test_names_found_side_by_side_are_the_names_put_in(names):
    # A foreign word keeps them apart: without it two names could read as a third.
    text = " Ωzzz ".join(names)
    known = {" ".join(words(name)) for name in names}
    found = NameTrie.of([(name, " ".join(words(name))) for name in names]).find(text)
    assert all(one.entities == (one.name,) and one.name in known for one in found)
    covered = {one.name for one in found}
    assert all(any(f" {name} " in f" {one} " or f" {one} " in f" {name} " for one in covered) for name in known)


@given(st.lists(_names, min_size=1, max_size=5), st.text(max_size=40))
def test_names_stand_where_they_say_from_left_to_right(names, between):
    text = between.join(names)
    found = NameTrie.of([(name, name) for name in names]).find(text)
    assert all(before.start <= after.start and before.end <= after.end for before, after in pairwise(found))
    for named in found:
        assert 0 <= named.start < named.end <= len(text)
        assert f" {named.name} " in f" {' '.join(words(text[named.start:named.end]))} "


@pytest.mark.parametrize(("text", "slices"), [
    ("Who's Ada-Byron?", ["Who", "s", "Ada", "Byron"]),
    ("Crème  BRÛLÉE", ["Crème", "BRÛLÉE"]),
    ("Cre\u0300me bru\u0302le\u0301e!", ["Cre\u0300me", "bru\u0302le\u0301e"]),
    ("ＡＢＣ，ﬁne Straße", ["ＡＢＣ", "ﬁne", "Straße"]),
    ("林小雨2019年", ["林", "小", "雨", "2019", "年"]),
    ("C++ and 1,168.5 m²", ["C++", "and", "1,168.5", "m²"]),
    ("서울 İzmir", ["서", "울", "İzmir"]),
    ("...", []), ("", [])])
def test_words_are_where_they_stand(text, slices):
    assert [text[start:end] for _, start, end in word_places(text)] == slices


@given(st.text(max_size=60) | st.text("aé\u0301ﬁ½ßİ宁가1.,+# -", max_size=20))
@example("½ a½ ⒈5 ㏂")
def test_places_slice_back_to_the_words(text):
    places = word_places(text)
    assert [word for word, _, _ in places] == words(text)
    for word, start, end in places:
        assert 0 <= start < end <= len(text)
        # One character may hold two words, as ½ does.
        assert word in words(text[start:end])
    assert all(before[1] <= after[1] and before[2] <= after[2] for before, after in pairwise(places))


@given(st.lists(st.text("abcdé宁波XYZß", min_size=1, max_size=5), max_size=6))
def test_without_such_characters_a_slice_is_the_word(parts):
    text = ", ".join(parts)
    places = word_places(text)
    assert [words(text[start:end]) for _, start, end in places] == [[word] for word, _, _ in places]
    assert all(before[2] <= after[1] for before, after in pairwise(places))
