"""Words that are used in a similar way, by the bundled model's word vectors; no model runs.

A question's words are compared with those of texts. And words are compared with typical names: recognisers take "Hard
Copy" for a person and "Word Marks" for a place, but names of a kind are near each other, and far from words for things.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import chain

import numpy as np

from ...text.content_words import spoken_words
from ...text.lexicon import word_set
from ..embedding.embedder import Vectors, dot_products
from ..embedding.minilm import bundled_tokenizer, word_vectors

_TYPICAL_NAMES = {
    "person": "john mary james anna peter robert maria david karl elena paul susan ahmed thomas julia ivan",
    "location": "london paris germany texas tokyo india oslo chicago brazil vienna madrid canada egypt ohio",
    "organization": "google microsoft toyota ibm siemens sony intel nokia honda nasa unesco fiat boeing samsung",
}
_TYPICAL_THINGS = ("project policy group system service price network general product data software market office "
                   "public")
_LEAST_CLOSENESS = {"location": (0.08, -0.04), "organization": (0.0, -0.1)}
"""How much closer a common word, and a rare one, must be to names than to things, as a difference of cosines."""
_LONGEST_UNIT = 4  # letters of a unit or degree, such as MeV and MMed
_LEAST_OF_ACRONYM = 0.1  # how much closer an acronym must be
_LEAST_OF_PERSON = -0.045
"""The same for the mean of the first and the last word of a person's name, where a rare word counts as near to both."""
_LEAST_OF_FIRST_NAME, _LEAST_LEAD = 0.25, 0.1
"""How close a first name is to typical ones, and how much closer than to other names: so are most first names, and
hardly any other words (see `benchmarks/README.md`)."""
_LEAST_OF_FIRST_WORD, _LEAST_OF_PART = 0.1, -0.12
"""How close to names of persons the first word of a person's name must be, and any common word behind it."""
_LEAST_OF_PLACE = 0.2
"""How close a word must be to names of places to be one whatever stands before it; few other words are."""
_ADDRESS_OF = {"woman": word_set("mrs ms miss lady madame"), "man": word_set("mr sir lord")}
_ADDRESS_BEHIND = {"woman": ("夫人", "女士", "小姐", "太太"), "man": ("先生",)}
"""Forms of address before and after a name that tell the person's gender."""
_LEAST_OF_LONE_NAME = 0.05
"""How close to names of persons a word must be that alone is the name of a person."""
_INITIAL = re.compile(r"[A-Z]\.")
_LEAST_LEANING = 0.02
"""How much nearer a first name must be to the words for women than to those for men, or the reverse."""


def likeness(asked: Sequence[str], texts: Sequence[str]) -> Vectors:
    """Return how certainly each text says each English word in lower case, as float32 of shape (texts, words).

    It is the highest cosine between the word and a word of the text, and 0 for a text without words. The vectors are
    those of the bundled model's input words, so no model runs.

    Raises:
        ModelError: see `word_vectors`.
    """
    best = np.zeros((len(texts), len(asked)), np.float32)
    words_of_texts = [spoken_words(text) for text in texts]
    distinct_words = list(dict.fromkeys(chain.from_iterable(words_of_texts)))
    if not asked or not distinct_words:
        return best
    cosines = dot_products(word_vectors(asked), word_vectors(distinct_words))
    column_of = {word: column for column, word in enumerate(distinct_words)}
    columns = [column_of[word] for words in words_of_texts for word in words]
    filled = [row for row, words in enumerate(words_of_texts) if words]
    starts = np.cumsum([0, *(len(words_of_texts[row]) for row in filled[:-1])])
    best[filled] = np.maximum.reduceat(cosines[:, columns], starts, axis=1).T
    return best


@lru_cache(8192)
def may_be(kind: str, name: str) -> bool:
    """Return True if the words of a name are used like names of a kind, or are spelled as no common word is.

    The kind is "person", "location" or "organization".
    """
    parts = [word for word in name.replace("-", " ").split() if len(word.strip(".,")) > 1]
    if kind == "person":
        first_and_last = [_closeness_to_kind(word, kind) for word in (*parts[:1], *parts[-1:])]
        # A rare word, which the model hardly knows, does not speak against a person.
        ends = [max(closeness, 0.0) if is_rare_word else closeness for closeness, is_rare_word in first_and_last]
        return bool(ends) and sum(ends) / len(ends) > _LEAST_OF_PERSON

    def is_close(word: str) -> bool:
        closeness, is_rare_word = _closeness_to_kind(word, kind)
        return closeness > _LEAST_CLOSENESS[kind][is_rare_word]

    return any(_is_spelled_like_name(word) or is_close(word) for word in parts)


@lru_cache(1024)
def gender_of(name: str) -> str:
    """Return "woman" or "man" by a form of address or the first name of a person, or "" if neither tells."""
    words = name.lower().replace(".", " ").split()
    for gender, address in _ADDRESS_OF.items():
        if words[0] in address or name.endswith(_ADDRESS_BEHIND[gender]):
            return gender
    leaning = float(word_vectors(words[:1])[0] @ _difference("she her woman daughter mother", "he his man son father"))
    if abs(leaning) < _LEAST_LEANING:
        return ""
    return "woman" if leaning > 0 else "man"


@lru_cache(8192)
def is_first_name(word: str) -> bool:
    """Return True if a word with a capital is used like first names, and not like the names of places or bodies."""
    if not word.isalpha() or not word.istitle():
        return False
    person, place, body = (_closeness_to_kind(word, kind)[0] for kind in ("person", "location", "organization"))
    return person > _LEAST_OF_FIRST_NAME and person - max(place, body) > _LEAST_LEAD


@lru_cache(8192)
def is_called_like_person(name: str) -> bool:
    """Return True if a name begins like persons' names, with initials or a first name, and no other word denies it.

    Rare words, as surnames are, deny nothing. Behind a rare first word a common one has to be used like names, too:
    "Alberti Bass" is no person.
    """
    words = [word for word in re.findall(r"[^\W\d_]{2,}", name) if word[0].isupper()]
    if not words:
        return False
    closeness = [_closeness_to_kind(word, "person") for word in words]
    first, is_rare = closeness[0]
    last, is_last_rare = closeness[-1]
    begins_like_person = _INITIAL.match(name) is not None or (first >= _LEAST_OF_FIRST_WORD and (
        not is_rare or is_last_rare or last >= _LEAST_OF_FIRST_WORD))
    return begins_like_person and all(rare or close > _LEAST_OF_PART for close, rare in closeness[1:])


@lru_cache(8192)
def is_known_place(name: str) -> bool:
    """Return True if the last word of a name is a common one that is used like the names of places."""
    place, is_rare = _closeness_to_kind(name.rpartition(" ")[2], "location")
    return not is_rare and place > _LEAST_OF_PLACE and lead_over_persons("location", name) > 0


@lru_cache(8192)
def has_proper_word(words: str) -> bool:
    """Return True if one of some words is spelled like names, rare, or used like names: "Latour", but not "Drill"."""
    parts = [part for part in re.findall(r"[\w.]+", words) if len(part) > 2]  # noqa: PLR2004
    closeness = [_closeness_to_kind(part.strip("."), kind) for part in parts for kind in _TYPICAL_NAMES]
    return any(map(_is_spelled_like_name, parts)) or any(
        is_rare or close > _LEAST_OF_PLACE for close, is_rare in closeness)


@lru_cache(8192)
def lead_over_persons(kind: str, name: str) -> float:
    """Return how much closer the last word of a name is to names of a kind than to names of persons."""
    word = name.rpartition(" ")[2]
    return _closeness_to_kind(word, kind)[0] - _closeness_to_kind(word, "person")[0]


@lru_cache(8192)
def may_be_surname(word: str) -> bool:
    """Return True unless a word is used like common words."""
    return _closeness_to_kind(word, "person")[0] > _LEAST_OF_LONE_NAME


def is_known(word: str) -> bool:
    """Return True if a word is spelled like names, or used like those of organizations more than like other words."""
    body, *others = (_closeness_to_kind(word, kind)[0] for kind in ("organization", "person", "location"))
    return _is_spelled_like_name(word) or body > max(_LEAST_OF_ACRONYM, *others)


def _is_spelled_like_name(word: str) -> bool:
    """Return True for words such as OpenChain, 3M and U.S."""
    has_inner_capital = len(word) > _LONGEST_UNIT and any(map(str.isupper, word[1:])) and not word.isupper()
    mixes_digits = any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    return has_inner_capital or mixes_digits or "." in word[:-1]


@lru_cache(8192)
def _closeness_to_kind(word: str, kind: str) -> tuple[float, bool]:
    """Return how much closer a word is to names of a kind than to things, and whether it is rare."""
    is_in_pieces = len(bundled_tokenizer().encode(word.lower(), add_special_tokens=False).ids) > 1
    return float(word_vectors([word.lower()])[0] @ _difference(_TYPICAL_NAMES[kind], _TYPICAL_THINGS)), is_in_pieces


@cache
def _difference(some: str, others: str) -> Vectors:
    """Return the direction from the mean vector of some words to that of others, each of length 1."""
    first, second = (word_vectors(sorted(words.split())).mean(axis=0) for words in (some, others))
    return np.asarray(first / np.linalg.norm(first) - second / np.linalg.norm(second), np.float32)
