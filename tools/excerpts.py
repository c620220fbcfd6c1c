"""Cutting ranked passages to what a question asks about, so that more of them can be read for the same tokens."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from ..graph_store.index.lexical import LexicalIndex, index_terms
from ..schemas.retrieval import Passage
from ..text.relative_dates import said_on_at
from ..text.scripts import estimate_tokens
from ..text.sentences import split_sentences
from ..text.table_rows import SET_APART

_WHOLE_WEIGHT, _MOST_WHOLE = 4 / 5, 2
"""Passages with this share of the best one's weight are whole in a first look, at most this number of them."""
_LIST_WEIGHT = 1 / 2
"""Lists and tables with this share are whole in it, however many: a question may ask for all of their rows."""
_LEAST_SAID = 1 / 5
"""The least share of a question's words, weighed by their rarity, that an excerpt of a first look has."""
_SHORT = 200
"""Estimated tokens of passages that are shown whole wherever they rank."""
_FIRST_EXCERPT, _EXCERPT = 80, 200
"""The most estimated tokens of an excerpt in a first look and of a lookup, unless its only sentence is longer.

A question is worded unlike its answer, a lookup's query is not: excerpts of these sizes lack hardly any words that
answers cite, shorter ones and first looks with fewer whole passages lack one in ten (benchmarks/README.md).
"""

_Spans = Sequence[tuple[int, int]]


class Excerpts:
    """Cuts the passages of one ranking, given in its order.

    `is_first` is a first look, whose best passages stay whole; a lookup cuts no list and no table. `shown` are the
    places that were shown before, as (document, start, end).
    """

    def __init__(self, lexical: LexicalIndex, question: str, *, is_first: bool,
                 shown: Iterable[tuple[str, int, int]] = ()) -> None:
        self._idf = {term: lexical.sum_idf(term) for term in index_terms(question)}
        self._wholes_left, self._tokens = (_MOST_WHOLE, _FIRST_EXCERPT) if is_first else (0, _EXCERPT)
        self._least_of_list = _LIST_WEIGHT if is_first else 0.0
        known = sum(idf for term, idf in self._idf.items() if lexical.knows(term))
        self._least_weight = _LEAST_SAID * known if is_first else 0.0
        self._best = 0.0
        self._shown = [*shown]

    def cut(self, passage: Passage) -> Passage | None:
        """Return a passage without sentences that were shown before; None if it has no others.

        Unless it is short or ranks high, it is cut to the new sentences with the most of the question's words; None if
        others of it were shown and these have none of the words.
        """
        self._best = self._best or passage.score
        sentences = split_sentences(passage.text)
        shown = [(first - passage.start, last - passage.start) for document, first, last in self._shown
                 if document == passage.document]
        # Successive sentences that no shown passage has: neighbours overlap, and cuts of a passage differ.
        runs = [[*run] for is_new, run in groupby(sentences, key=lambda span: not any(
            first <= span[0] and span[1] <= last for first, last in shown)) if is_new]
        if not runs:
            return None
        start, end = runs[0][0][0], runs[-1][-1][1]
        if estimate_tokens(passage.text) > _SHORT and not self._stays_whole(passage):
            weight, _, run = max((self._best_run(passage.text, run) for run in runs), key=lambda found: found[:2])
            if weight < self._least_weight or (not weight and sum(map(len, runs)) < len(sentences)):
                return None
            start, end = run[0][0], run[-1][1]
        is_same = not passage.text[:start].strip() and not passage.text[end:].strip()
        return passage if is_same else passage.model_copy(update={
            "text": passage.text[start:end], "start": passage.start + start, "is_excerpt": True,
            "said_on": said_on_at(passage.text, passage.said_on, start)})

    def _stays_whole(self, passage: Passage) -> bool:
        """Return True if a long passage is not cut; one of prose counts among those that stay whole."""
        if any(map(SET_APART.match, passage.text.splitlines())):
            return passage.score >= self._least_of_list * self._best
        self._wholes_left -= 1
        return self._wholes_left >= 0 and passage.score >= _WHOLE_WEIGHT * self._best

    def add(self, passage: Passage) -> None:
        """Record that a passage is shown."""
        self._shown.append((passage.document, passage.start, passage.start + len(passage.text)))

    def _best_run(self, text: str, spans: _Spans) -> tuple[float, int, _Spans]:
        """Return the successive sentences within an excerpt's tokens that have the most of the question's words."""
        # Of equal ones the longest is returned, and of those the first; before them the weight of these words and the
        # tokens.
        costs = [estimate_tokens(text[start:end]) for start, end in spans]
        terms = [self._idf.keys() & set(index_terms(text[start:end])) for start, end in spans]
        best: tuple[float, int, _Spans] = (-1.0, 0, spans[:1])
        for first in range(len(spans)):
            cost, found = 0, set[str]()
            for last in range(first, len(spans)):
                cost += costs[last]
                if cost > self._tokens and last > first:
                    break
                found |= terms[last]
                weight = round(sum(self._idf[term] for term in sorted(found)), 6)
                if (weight, cost) > best[:2]:
                    best = weight, cost, spans[first:last + 1]
        return best
