"""Misspelt names: what a question writes a letter or two otherwise than the knowledge base does."""

import re

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from ...schemas.naming import normalise
from ...tools.index import RetrievalIndex

_WORD = re.compile(r"[^\W\d_]{5,40}")
_LONG = 8
"""Letters of a word in which two may be wrong; in a shorter one a second mistake makes another word."""
_MOST_WORDS = 20


def respelt(question: str, index: RetrievalIndex) -> tuple[str, list[tuple[str, str]]]:
    """Correct misspelt words of names in a question to the knowledge base's spelling.

    Args:
        question: the question; only capitalised words that occur in no passage are corrected.
        index: the knowledge base.

    Returns:
        The question, and the words replaced as (asked, meant). A word equally near to two names stays.
    """
    replaced: dict[str, str] = {}
    for word in [match.group() for match in _WORD.finditer(question)][:_MOST_WORDS]:
        folded = normalise(word)
        if not word[0].isupper() or not word.isascii() or index.lexical.knows(folded):
            continue
        allowed = 1 + (len(word) >= _LONG)
        near = process.extract(folded, index.name_words, scorer=Levenshtein.distance, score_cutoff=allowed, limit=2)
        near = [item for item in near if item[0][0] == folded[0]]
        if near and near[0][1] and (len(near) == 1 or near[0][1] < near[1][1]):
            replaced[word] = near[0][0].capitalize()
    for word, meant in replaced.items():
        question = re.sub(rf"\b{re.escape(word)}\b", meant, question)
    return question, list(replaced.items())

