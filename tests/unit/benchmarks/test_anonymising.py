"""Ids for names: every form of an entity the same id, none left, and the way back to the byte."""

import pytest
from banyan.benchmarks.papers.anonymising import (
    Anonymiser,
    AnonymityError,
    NamedEntity,
    leaks,
    revert,
)
from hypothesis import given
from hypothesis import strategies as st

CURIE = NamedEntity("PERSON", "Marie Curie", ("Curie", "Madame Curie", "Marie Curie"))
SHI = NamedEntity("PERSON", "史进", ("九纹龙", "史进"))
WARSAW = NamedEntity("LOCATION", "Warsaw", ("Warsaw",))
NAMED = [CURIE, SHI, WARSAW]


@pytest.mark.parametrize(("text", "expected"), [
    ("Marie Curie and Madame Curie's daughter: Curie.", "[PERSON#1] and [PERSON#1]'s daughter: [PERSON#1]."),
    ("MARIE CURIE; Marie\n  Curie", "[PERSON#1]; [PERSON#1]"),
    ("Curieux warsaw, Warsaw-Paris, Warsawian", "Curieux warsaw, [LOCATION#1]-Paris, Warsawian"),
    ("史进号九纹龙，史进到了Warsaw。", "[PERSON#1]号[PERSON#1]，[PERSON#1]到了[LOCATION#1]。"),
    ("[PERSON#7] met Curie [1].", "[PERSON#7] met [PERSON#1] [1]."),
])
def test_every_form_becomes_the_id_of_its_entity(text, expected):
    anonymiser = Anonymiser(NAMED)
    assert anonymiser.replace("a", text) == expected
    assert revert("a", expected, anonymiser.key) == text
    assert leaks(expected, anonymiser.key) == []


WORDS = st.sampled_from(["Marie Curie", "Curie", "CURIE", "Warsaw", "warsaw", "史进", "九纹龙", "史", " ", "\r\n", "\t",
                         "[PERSON#1]", "[", "]", "[PERSON#", "-", "'s", "x", "Ω", "é", "\u2028", "İ", "."])


@given(st.lists(WORDS, max_size=30).map("".join))
def test_whatever_the_text_it_comes_back_to_the_byte_and_names_nobody(text):
    anonymiser = Anonymiser(NAMED)
    changed = anonymiser.replace("t", text)
    assert revert("t", changed, anonymiser.key).encode() == text.encode()
    assert leaks(changed, anonymiser.key) == []


def test_a_text_that_was_changed_or_another_key_is_refused():
    anonymiser = Anonymiser(NAMED)
    changed = anonymiser.replace("t", "Curie saw Warsaw.")
    with pytest.raises(AnonymityError, match=r"character 15: \[LOCATION#2\] is where the key has \[LOCATION#1\]"):
        revert("t", changed.replace("LOCATION#1", "LOCATION#2"), anonymiser.key)
    with pytest.raises(AnonymityError, match=r"\[LOCATION#1\] is missing"):
        revert("t", "[PERSON#1]", anonymiser.key)
    with pytest.raises(AnonymityError, match="no document 'u'; it has: t"):
        revert("u", changed, anonymiser.key)
