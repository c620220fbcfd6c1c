"""Names that are spelt like another one or share its words."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from rapidfuzz import fuzz, process

_NEAR = 75
"""rapidfuzz's ratio from which two names are spelt alike."""
_ALL = 100
"""rapidfuzz's ratio of two names of which one has all words of the other."""


class Spellings:
    """Names prepared for comparison: folded, and with their words sorted."""

    def __init__(self, names: Iterable[str]) -> None:
        """Fold some names; white space in them is single spaces."""
        self._names = list(names)
        self._folded = [name.casefold() for name in self._names]
        self._sorted = [_sort_words(name) for name in self._folded]
        self._joined = "\n".join(f" {name} " for name in self._folded)
        self._starts = [0, *accumulate(len(name) + 3 for name in self._folded)]

    def near(self, name: str, limit: int) -> tuple[str, ...]:
        """Return the nearest names: spelt alike, whatever the words' order, or with all words of one in the other."""
        folded = name.casefold()
        wanted = _sort_words(folded)
        found = process.extract(wanted, self._sorted, scorer=fuzz.ratio, score_cutoff=_NEAR, limit=limit)
        rows = sorted({row for word in wanted.split() for row in self._containing(word)})
        parts = process.extract(folded, {row: self._folded[row] for row in rows}, scorer=fuzz.token_set_ratio,
                                score_cutoff=_ALL, limit=limit)
        return tuple(dict.fromkeys(self._names[row] for _, _, row in (*found, *parts)))[:limit]

    def _containing(self, word: str) -> Iterator[int]:
        """Yield the rows of the names that contain a word."""
        at = self._joined.find(f" {word} ")
        while at >= 0:
            row = bisect_right(self._starts, at) - 1
            yield row
            at = self._joined.find(f" {word} ", self._starts[row + 1])


def _sort_words(folded: str) -> str:
    return " ".join(sorted(folded.split()))
