"""Compare words with those of texts, and with typical names of each kind, by the bundled model's word vectors alone."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from ...text.content_words import spoken_words
from ...text.lexicon import WORDS, word_set
from ..embedding.embedder import Vectors, dot_products
from ..embedding.minilm import bundled_tokenizer, word_vectors

_TYPICAL_NAMES = [WORDS[f"typical names of a {kind}"] for kind in ("person", "location", "organization")]
_TYPICAL_THINGS = WORDS["typical things"]
# Closeness is the cosine with typical names less that with typical things. The bounds were found on other names and
# words than those of the tests.
_LEAST_OF_WORD = {"location": {False: 0.08, True: -0.04}, "organization": {False: 0.0, True: -0.1}}  # True: rare words
_LEAST_OF_PERSON = -0.045  # mean of the first and last word of a person's name; a rare word counts as near to both
_LEAST_OF_ACRONYM = 0.1  # for a word that alone is known as the name of a body
_LEAST_OF_PLACE = 0.2  # for a word that is a place whatever stands before it; few other words are so close
_LEAST_OF_FIRST_NAME, _LEAST_LEAD = 0.25, 0.1
"""How close a first name is to persons' names, and how much closer than to other names: so are most first names, and
hardly any other words (see `benchmarks/README.md`)."""
_LEAST_OF_FIRST_WORD, _LEAST_OF_PART = 0.1, -0.12  # for the first word of a person's name, and a common one behind it
_LONGEST_UNIT = 4  # letters of a unit or degree, such as MeV and MMed
_ADDRESS_OF = {"woman": word_set("mrs ms miss lady madame"), "man": word_set("mr sir lord")}
_ADDRESS_BEHIND = {"woman": ("夫人", "女士", "小姐", "太太"), "man": ("先生",)}
"""Forms of address before and after a name that tell the person's gender."""
_OF_WOMEN, _OF_MEN = word_set("she her woman daughter mother"), word_set("he his man son father")
_INITIAL = re.compile(r"[A-Z]\.")
_COINED = re.compile(r"(?!(?:Ma?c|D[eiu]|L[ae]|Fitz|Van|St)[A-Z])(?=[^\Wa-z]*[a-z])\w[^\WA-Z]*[A-Z]\w*")
_LEAST_LEANING = 0.02  # how much nearer a first name must be to words for women than to those for men, or the reverse


class Closeness(NamedTuple):
    """How much closer a word is to names of each kind than to things, and whether the model hardly knows it."""

    person: float
    location: float
    organization: float
    is_rare: bool


def likeness(asked: Sequence[str], texts: Sequence[str]) -> Vectors:
    """Return each English word's highest cosine with the words of each text, 0 without any, shape (texts, words)."""
    best = np.zeros((len(texts), len(asked)), np.float32)
    words_of_texts = [spoken_words(text) for text in texts]
    distinct_words = list(dict.fromkeys(chain.from_iterable(words_of_texts)))
    if not asked or not distinct_words:
        return best
    cosines = dot_products(word_vectors(asked), word_vectors(distinct_words))
    column_of = {word: column for column, word in enumerate(distinct_words)}
    # The columns of all texts' words one after another, and where the words of each text that has any begin.
    columns = [column_of[word] for words in words_of_texts for word in words]
    rows_with_words = [row for row, words in enumerate(words_of_texts) if words]
    starts = np.cumsum([0, *(len(words_of_texts[row]) for row in rows_with_words[:-1])])
    best[rows_with_words] = np.maximum.reduceat(cosines[:, columns], starts, axis=1).T
    return best


@lru_cache(8192)
def closeness(word: str) -> Closeness:
    """Return how close a word is to names; a rare word is one of several pieces for the model."""
    pieces = bundled_tokenizer().encode(word.lower(), add_special_tokens=False).ids
    vector = word_vectors([word.lower()])[0]
    person, place, body = (float(vector @ _difference(names, _TYPICAL_THINGS)) for names in _TYPICAL_NAMES)
    return Closeness(person, place, body, len(pieces) > 1)


@cache
def _difference(some: frozenset[str], others: frozenset[str]) -> Vectors:
    """Return the direction to the mean vector of some words from that of others, each of length 1."""
    first = word_vectors(sorted(some)).mean(axis=0)
    second = word_vectors(sorted(others)).mean(axis=0)
    return np.asarray(first / np.linalg.norm(first) - second / np.linalg.norm(second), np.float32)


def may_be(kind: str, name: str) -> bool:
    """Return True if a name's words are used like names of a kind (person, location, organization), or coined."""
    words = [word for word in name.replace("-", " ").split() if len(word.strip(".,")) > 1]  # without initials
    has_coined_word = any(map(is_coined, words)) and (kind == "location" or len(words) == 1)
    if not words or (has_coined_word and kind != "organization"):
        return False
    if kind == "person":
        first_and_last = [closeness(words[0]), closeness(words[-1])]
        # A rare word, which the model hardly knows, does not speak against a person.
        likely = [max(one.person, 0.0) if one.is_rare else one.person for one in first_and_last]
        return sum(likely) / len(likely) > _LEAST_OF_PERSON
    least = _LEAST_OF_WORD[kind]
    return any(_is_spelled_like_name(word) or getattr(closeness(word), kind) > least[closeness(word).is_rare]
               for word in words)


def gender_of(name: str) -> str:
    """Return "woman" or "man" by a form of address or the first name of a person, or "" if neither tells."""
    words = name.lower().replace(".", " ").split()
    for gender, address in _ADDRESS_OF.items():
        if words[0] in address or name.endswith(_ADDRESS_BEHIND[gender]):
            return gender
    # The first name's lean to words for women, below 0 to those for men.
    leaning = float(word_vectors(words[:1])[0] @ _difference(_OF_WOMEN, _OF_MEN))
    if abs(leaning) < _LEAST_LEANING:
        return ""
    return "woman" if leaning > 0 else "man"


def is_first_name(word: str) -> bool:
    """Return True if a word with a capital is used like first names, and not like the names of places or bodies."""
    if not word.isalpha() or not word.istitle():
        return False
    close = closeness(word)
    return close.person > max(_LEAST_OF_FIRST_NAME, _LEAST_LEAD + max(close.location, close.organization))


def is_called_like_person(name: str) -> bool:
    """Return True if a name begins like persons' names, with initials or a first name, and no other word denies it.

    Rare words, as surnames are, deny nothing. Behind a rare first word a common one has to be used like names, too:
    "Alberti Bass" is no person.
    """
    words = [closeness(word) for word in re.findall(r"[^\W\d_]{2,}", name) if word[0].isupper()]
    if not words:
        return False
    first, last = words[0], words[-1]
    is_first_word_certain = not first.is_rare or last.is_rare or last.person >= _LEAST_OF_FIRST_WORD
    has_first_name = first.person >= _LEAST_OF_FIRST_WORD and is_first_word_certain
    begins_like_person = _INITIAL.match(name) is not None or has_first_name
    return begins_like_person and all(one.is_rare or one.person > _LEAST_OF_PART for one in words[1:])


def is_known_place(name: str) -> bool:
    """Return True if the last word of a name is used like the names of places, and less like those of persons."""
    close = closeness(name.rpartition(" ")[2])
    return close.location > _LEAST_OF_PLACE and close.location > close.person and not close.is_rare


def is_known(word: str) -> bool:
    """Return True if a word is spelled like names, or used like those of organizations more than like other words."""
    close = closeness(word)
    return _is_spelled_like_name(word) or close.organization > max(_LEAST_OF_ACRONYM, close.person, close.location)


def has_proper_word(words: str) -> bool:
    """Return True if one of some words is spelled like names, rare, or used like names: "Latour", but not "Drill"."""
    # Shorter words, such as "of" and initials, tell nothing.
    parts = [part.strip(".") for part in re.findall(r"[\w.]+", words) if len(part) > 2]  # noqa: PLR2004
    return any(_is_spelled_like_name(part) or closeness(part).is_rare or max(closeness(part)[:3]) > _LEAST_OF_PLACE
               for part in parts)


def is_coined(word: str) -> bool:
    """Return True for a word with a capital within it, as software and companies have: "OpenChain", not "McAllen"."""
    return _COINED.fullmatch(word) is not None


def _is_spelled_like_name(word: str) -> bool:
    """Return True for a coined word longer than units ("MeV"), and one with letters and digits: OpenChain, 3M."""
    has_digit_and_letter = any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    return has_digit_and_letter or (len(word) > _LONGEST_UNIT and is_coined(word))
