"""Correcting names in a question that differ in a letter or two from the knowledge base's spelling."""

import re

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from ...graph_store.graph_index import GraphIndex
from ...schemas.naming import normalise

_WORD = re.compile(r"[^\W\d_]{5,40}")
_LONG_WORD = 8
"""From this number of letters, two may be wrong. In a shorter word, a second difference makes another word."""
_MAX_WORDS = 20


def respelt(question: str, index: GraphIndex) -> tuple[str, list[tuple[str, str]]]:
    """Return a question with misspelt words of names corrected, and the words replaced, as (asked, meant).

    Only capitalised ASCII words that occur in no passage are corrected, each to the nearest word of a name with the
    same first letter; a word equally near to two is not changed.
    """
    replaced: dict[str, str] = {}
    for word in [match.group() for match in _WORD.finditer(question)][:_MAX_WORDS]:
        folded = normalise(word)
        if not word[0].isupper() or not word.isascii() or index.lexical.knows(folded):
            continue
        max_distance = 2 if len(word) >= _LONG_WORD else 1
        nearest = process.extract(folded, index.name_words, scorer=Levenshtein.distance, score_cutoff=max_distance,
                                  limit=2)
        distances = [(distance, name_word) for name_word, distance, _ in nearest if name_word[0] == folded[0]]
        if not distances or distances[0][0] == 0:  # no similar name, or the word is spelt like one
            continue
        if len(distances) == 1 or distances[0][0] < distances[1][0]:
            replaced[word] = distances[0][1].capitalize()
    for word, meant in replaced.items():
        question = re.sub(rf"\b{re.escape(word)}\b", meant, question)
    return question, list(replaced.items())

