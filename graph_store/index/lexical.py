"""Find texts and names by their words: BM25 over texts, names of similar spelling, and names within a question."""

import math
import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from ...schemas.naming import normalise
from ...text.content_words import stem_word
from ...text.dates import find_dates, parse_date
from ...text.lexicon import ENGLISH_STOP
from ...text.scripts import MARKS, UNSPACED
from ..bounding.words import word_places
from .index_file import Arrays, Words, build_inverted, build_words, narrow, read_lists

_RUN = re.compile(rf"[{UNSPACED}]+|(?:[^\W_{UNSPACED}]++|[{MARKS}])++")
_DAY_OR_MONTH = re.compile(r"\d{4}-\d\d(?:-\d\d)?")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_LONGEST_WORD = 40  # letters; longer runs are no words, such as encoded data, and have no stem
# A passage that has more of the words of a question answers more of it than one that repeats a few.
_K1 = 0.9
ONCE = 1 / (1 + _K1)  # the share of a term's idf that a text of mean length scores for having it once
_NEAR = 75  # rapidfuzz's ratio from which two names are spelt alike
_ALL = 100  # rapidfuzz's ratio of two names of which one has all words of the other


def index_terms(text: str) -> list[str]:
    """Return a text's index terms: stems of words, pairs of neighbouring signs in scripts without spaces, and dates.

    A date is the same term however it is written: "2020.2.18" and "18 February 2020" are "2020-02-18" and "2020-02".
    """
    runs: list[str] = _RUN.findall(normalise(text))
    dates = (parse_date(text[start:end]) for start, end in find_dates(text))
    indexed = [term for day in dates if _DAY_OR_MONTH.fullmatch(day) for term in dict.fromkeys([day, day[:7]])]
    for run in runs:
        if run.isascii():  # also of other languages, which lose an English ending in questions and texts alike
            indexed.append(stem_word(run) if run.isalpha() and len(run) <= _LONGEST_WORD else run)
        elif len(run) > 1 and _UNSPACED.match(run):  # a run is wholly in a script without spaces, or not at all
            indexed.extend(a + b for a, b in pairwise(run))
        else:  # also a single character in a script without spaces
            indexed.append(run)
    return indexed


def build_postings(name: str, lists: Sequence[list[str]]) -> dict[str, NDArray[Any]]:
    """Build the arrays of a `LexicalIndex` from the index terms of each text."""
    import bm25s  # noqa: PLC0415  (slow to import, and not needed by readers)

    term_numbers = {term: number for number, term in enumerate(sorted(set(chain.from_iterable(lists))))}
    scores: dict[str, Any] = {"data": np.zeros(0, np.float32), "indices": np.zeros(0, np.int32), "indptr": np.zeros(1)}
    if term_numbers:  # bm25s cannot index texts without any term
        model = bm25s.BM25(method="lucene", k1=_K1, b=0.75)
        numbered_lists = [[term_numbers[term] for term in terms] for terms in lists]
        model.index((numbered_lists, term_numbers), show_progress=False)
        scores = model.scores
    return {f"{name}.data": scores["data"], f"{name}.indices": scores["indices"],
            f"{name}.starts": narrow(scores["indptr"]), **build_words(f"{name}.terms", term_numbers)}


class LexicalIndex:
    """BM25 (Lucene's variant; k1 = 0.9 as in Anserini, b = 0.75 as in the literature)."""

    def __init__(self, arrays: Arrays, name: str, size: int) -> None:
        """Read the arrays of `build_postings`; `size` is the number of texts."""
        self._terms = Words(arrays, f"{name}.terms")
        self._data, self._indices, self._starts = (arrays[f"{name}.{part}"] for part in ("data", "indices", "starts"))
        self._size = size

    @classmethod
    def of(cls, texts: Sequence[str]) -> "LexicalIndex":
        """Index some texts."""
        return cls(build_postings("texts", [index_terms(text) for text in texts]), "texts", len(texts))

    def __len__(self) -> int:
        return self._size

    def knows(self, word: str) -> bool:
        """Return True if a word, in any of its forms, is in some text."""
        return all(self._terms.get(term) is not None for term in index_terms(word))

    def scores(self, query: str) -> NDArray[np.float32]:
        """Return every text's BM25 score for a query, shape (n,); 0 for texts that share no term with it."""
        scores = np.zeros(self._size, np.float32)
        for number in map(self._terms.get, dict.fromkeys(index_terms(query))):
            if number is not None:
                postings = slice(self._starts[number], self._starts[number + 1])
                np.add.at(scores, self._indices[postings], self._data[postings])
        return scores

    def sum_idf(self, query: str) -> float:
        """Return the sum of the idf of a query's distinct terms; a term that no text has counts most."""
        numbers = map(self._terms.get, dict.fromkeys(index_terms(query)))
        counts = (0 if number is None else int(self._starts[number + 1] - self._starts[number]) for number in numbers)
        return sum(map(self.idf, counts))

    def idf(self, texts: int) -> float:
        """Return the inverse document frequency (idf) of a term that occurs in this number of texts."""
        return math.log1p((self._size - texts + 0.5) / (texts + 0.5))


class Spellings:
    """Names prepared for comparison: folded."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        self._folded = list(map(str.casefold, self._names))

    def find_similar(self, name: str, limit: int) -> tuple[str, ...]:
        """Return the nearest names: spelt alike, whatever the words' order, or with all words of one in the other."""
        folded = name.casefold()
        alike = process.extract(folded, self._folded, scorer=fuzz.token_sort_ratio, score_cutoff=_NEAR, limit=limit)
        contained = process.extract(folded, self._folded, scorer=fuzz.token_set_ratio, score_cutoff=_ALL, limit=limit)
        return tuple(dict.fromkeys(self._names[row] for _, _, row in (*alike, *contained)))[:limit]


class NamedSpan(NamedTuple):
    """A name in a question: its folded words, the ids of the entities with that name, and its start and end."""

    name: str
    entities: tuple[str, ...]
    start: int
    end: int


def build_trie(name: str, names: Iterable[tuple[Sequence[str], int]]) -> dict[str, NDArray[Any]]:
    """Build the arrays of a `NameTrie` from pairs of a name's folded words and an entity's row."""
    path_numbers: dict[str, int] = {}  # a path is the first words of a name, or all of them
    whole_names, rows = array("i"), array("i")
    for folded, row in names:
        for end in range(1, len(folded) + 1):
            number = path_numbers.setdefault(" ".join(folded[:end]), len(path_numbers))
        if folded:  # `number` is that of its last path, the whole name
            whole_names.append(number)
            rows.append(row)
    # The distinct pairs of two numbers of 32 bits, sorted.
    pairs = np.unique(np.array(whole_names, np.int64) << 32 | np.array(rows, np.int64))
    return build_words(f"{name}.paths", path_numbers) | build_inverted(
        f"{name}.entities", pairs >> 32, pairs & 0xFFFFFFFF, len(path_numbers))


class NameTrie:
    """Names and aliases as paths of folded words; lookup is linear in the question's length."""

    def __init__(self, arrays: Arrays, name: str, id_of: Callable[[int], str]) -> None:
        """Read the arrays of `build_trie`; `id_of` returns the id of an entity's row."""
        self._paths = Words(arrays, f"{name}.paths")
        self._entities = read_lists(arrays, f"{name}.entities")
        self._id_of = id_of

    def find(self, question: str) -> list[NamedSpan]:
        """Find the longest known names in a question, without overlaps, from left to right."""
        spans = word_places(question)
        folded = [word for word, _, _ in spans]
        matches: list[NamedSpan] = []
        start = 0
        while start < len(folded):
            end, entities = start, tuple[str, ...]()  # of the longest name from here on
            for longer in range(start + 1, len(folded) + 1):
                number = self._paths.get(" ".join(folded[start:longer]))
                if number is None:
                    break  # no name begins with these words
                rows = self._entities[number]
                if len(rows):
                    end, entities = longer, tuple(map(self._id_of, rows.tolist()))
            _, first, behind_first = spans[start]
            # In small letters it is no name: "in" is not IN, Indiana.
            is_function_word = (end == start + 1 and folded[start] in ENGLISH_STOP
                                and question[first:behind_first].islower())
            if entities and not is_function_word:
                matches.append(NamedSpan(" ".join(folded[start:end]), entities, first, spans[end - 1][2]))
            start = max(end, start + 1)
        return matches

    def rows_of(self, folded: Sequence[str]) -> NDArray[Any]:
        """Return the rows of the entities with a name of these folded words."""
        number = self._paths.get(" ".join(folded))
        return self._entities.values[:0] if number is None else self._entities[number]
