"""Rank texts by BM25 over stems of words, and over character bigrams in scripts without spaces."""

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...schemas.naming import normalise
from ...text.content_words import stem_word
from ...text.dates import date_terms
from ...text.scripts import MARKS, UNSPACED
from .array_file import Arrays
from .columns import Words, narrow, words

_RUN = re.compile(rf"[{UNSPACED}]+|(?:[^\W_{UNSPACED}]|[{MARKS}])+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_LONGEST_WORD = 40
# A passage that has more of the words of a question answers more of it than one that repeats a few.
_K1 = 0.9
ONCE = 1 / (1 + _K1)
"""The share of a term's idf that a text of mean length scores for having it once."""


def terms(text: str) -> list[str]:
    """Return a text's index terms: stems of words, and in scripts without spaces the bigrams of each run of letters.

    A run of a single letter is a term itself. Dates are terms of their own, however they are written.
    """
    runs: list[str] = _RUN.findall(normalise(text))
    indexed: list[str] = []
    for run in runs:
        if _UNSPACED.match(run) and len(run) > 1:
            indexed.extend(a + b for a, b in pairwise(run))
        else:
            indexed.append(_stem(run))
    return [*indexed, *date_terms(runs)]


def _stem(word: str) -> str:
    """Return an English word without its ending, so that "meets" finds "meeting"; other scripts' words are unchanged.

    The words of other languages lose English endings, too: in questions and in texts alike.
    """
    is_word = word.isascii() and word.isalpha() and len(word) <= _LONGEST_WORD
    return stem_word(word) if is_word else word


def postings(name: str, lists: Sequence[list[str]]) -> dict[str, NDArray[Any]]:
    """Build the arrays of a `LexicalIndex` from the index terms of texts, numbered by their order."""
    known = sorted({term for listed in lists for term in listed})
    number = {term: row for row, term in enumerate(known)}
    scores: dict[str, Any] = {"data": np.zeros(0, np.float32), "indices": np.zeros(0, np.int32),
                              "indptr": np.zeros(1, np.int32)}
    if known:
        import bm25s  # noqa: PLC0415  (slow to import, and not needed by readers)

        model = bm25s.BM25(method="lucene", k1=_K1, b=0.75)
        model.index(([[number[term] for term in listed] for listed in lists], number), show_progress=False)
        scores = model.scores | {"indptr": narrow(model.scores["indptr"])}
    return {f"{name}.{part}": scores[part] for part in ("data", "indices", "indptr")} | words(f"{name}.terms", known)


class LexicalIndex:
    """BM25 (Lucene's variant; k1 = 0.9 as in Anserini, b = 0.75 as in the literature)."""

    def __init__(self, arrays: Arrays, name: str, size: int) -> None:
        """Read the arrays that `postings` built from `size` texts."""
        self._terms = Words(arrays, f"{name}.terms")
        self._data, self._indices, self._starts = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
        self._size = size

    @classmethod
    def of(cls, texts: Sequence[str]) -> "LexicalIndex":
        """Index some texts."""
        return cls(postings("texts", [terms(text) for text in texts]), "texts", len(texts))

    def __len__(self) -> int:
        return self._size

    def knows(self, word: str) -> bool:
        """Return True if any text has a word, in whichever form."""
        return all(self._terms.get(term) is not None for term in terms(word))

    def scores(self, query: str) -> NDArray[np.float32]:
        """Return every text's BM25 score for a query, shape (n,); 0 for texts that share no term with it."""
        found = (self._terms.get(term) for term in dict.fromkeys(terms(query)))
        scores = np.zeros(self._size, np.float32)
        for number in (number for number in found if number is not None):
            postings = slice(self._starts[number], self._starts[number + 1])
            np.add.at(scores, self._indices[postings], self._data[postings])
        return scores

    def information(self, query: str) -> float:
        """Return the sum of the idf of a query's terms; what no text has counts most."""
        numbers = map(self._terms.get, dict.fromkeys(terms(query)))
        return sum(self.idf(0 if number is None else int(self._starts[number + 1] - self._starts[number]))
                   for number in numbers)

    def idf(self, texts: int) -> float:
        """Return the inverse document frequency of what stands in a number of texts."""
        return math.log1p((self._size - texts + 0.5) / (texts + 0.5))
