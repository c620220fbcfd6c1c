"""Lexical retrieval: BM25 over words, and over character bigrams where a script has no spaces."""

import re
from collections.abc import Sequence
from itertools import pairwise

import bm25s
import numpy as np
from numpy.typing import NDArray

from ..schemas.naming import normalise
from ..text.scripts import CJK

_RUN = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_CJK = re.compile(f"[{CJK}]")


def terms(text: str) -> list[str]:
    """The index terms of a text: folded words; bigrams of each CJK run, or its one character."""
    indexed: list[str] = []
    for run in _RUN.findall(normalise(text)):
        if _CJK.match(run) and len(run) > 1:
            indexed.extend(a + b for a, b in pairwise(run))
        else:
            indexed.append(run)
    return indexed


class LexicalIndex:
    """BM25 (Lucene's variant, k1 = 1.5, b = 0.75: the library's and the literature's defaults)."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Index some texts; their order numbers them."""
        self._size = len(texts)
        self._model = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
        lists = [terms(text) for text in texts]
        self._usable = any(lists)
        if self._usable:
            self._model.index(lists, show_progress=False)

    def knows(self, term: str) -> bool:
        """Whether any text has an index term."""
        return self._usable and term in self._model.vocab_dict

    def scores(self, query: str) -> NDArray[np.float32]:
        """BM25 of every text for a query, shape (n,); zeros where nothing is shared."""
        wanted = [term for term in dict.fromkeys(terms(query)) if self._usable and term in self._model.vocab_dict]
        if not wanted:
            return np.zeros(self._size, np.float32)
        return np.asarray(self._model.get_scores(wanted), np.float32)
