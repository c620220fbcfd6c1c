"""Facts as rows: one for each time at which a fact holds, with its documents and the first place that states it.

What a chunk states without a time holds at all of the fact's times.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...schemas.documents import Chunk
from ...text.times import read_time
from ..graph.graph_columns import Numbers, find_firsts, sort_rows
from ..graph.knowledge_graph import KnowledgeGraph


class When(NamedTuple):
    """When a fact holds; `is_open` if it holds until a later fact replaces it."""

    since: str | None = None
    until: str | None = None
    qualifiers: str | None = None
    is_open: bool = False


class ChunkPlaces:
    """The document and the start of each chunk of a graph, by the number of the chunk's id among the graph's texts."""

    def __init__(self, graph: KnowledgeGraph, chunks: Iterable[Chunk]) -> None:
        known = [(number, chunk) for chunk in chunks if (number := graph.columns.number_of(chunk.id)) >= 0]
        self.documents = sorted({chunk.document_id for _, chunk in known})
        number_of = {document: number for number, document in enumerate(self.documents)}
        self.document = np.full(len(graph.columns.texts), -1, np.int32)
        self.start = np.zeros(len(graph.columns.texts), np.int32)
        for number, chunk in known:
            self.document[number], self.start[number] = number_of[chunk.document_id], chunk.start


class Statements(NamedTuple):
    """Places that state facts, one a row; `when` is 0 where nothing is said of a time."""

    fact: Numbers
    when: Numbers
    chunk: Numbers
    start: Numbers
    end: Numbers


class PlacedRows(NamedTuple):
    """Facts with all of their documents and the first place, sorted by fact and time."""

    fact: Numbers
    when: Numbers
    documents: list[list[str]]
    starts: Numbers
    ends: Numbers


def place_rows(stated: Statements, places: ChunkPlaces) -> PlacedRows:
    """Return a row for each fact and time; statements of chunks that are not known are left out."""
    stated = Statements(*(column[places.document[stated.chunk] >= 0] for column in stated))
    document, begin = places.document[stated.chunk], places.start[stated.chunk]
    rows = sort_rows(stated.fact, stated.when, document, begin + stated.start, begin + stated.end)
    fact, when, document, begin = stated.fact[rows], stated.when[rows], document[rows], begin[rows]
    firsts = find_firsts(fact, when)
    documents = find_firsts(fact, when, document)  # each document of a row once
    named = [places.documents[number] for number in document[documents].tolist()]
    bounds = [*np.flatnonzero(firsts[documents]).tolist(), len(named)]
    return PlacedRows(fact[firsts], when[firsts], [named[start:end] for start, end in pairwise(bounds)],
                      (begin + stated.start[rows])[firsts], (begin + stated.end[rows])[firsts])


class Times:
    """When the words of a graph say that facts hold, numbered from 1 in the order of the times; 0 is no time."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        columns = graph.columns
        used = np.unique(np.concatenate([columns.triple_times.words, columns.value_times.words]))
        read = {number: when for number in used.tolist() if (when := _read_when(columns.texts[number])) is not None}
        ordered = sorted(set(read.values()), key=lambda when: [part or "" for part in when[:3]] + [str(when.is_open)])
        self.whens: Sequence[When] = (When(), *ordered)
        number_of = {when: number for number, when in enumerate(self.whens)}
        self._numbers = np.zeros(len(columns.texts), np.int32)
        for words, when in read.items():
            self._numbers[words] = number_of.get(when, 0)

    def combine_statements(self, untimed: Statements, words: Numbers, timed: Statements) -> Statements:
        """Return all statements of facts: those of `timed` have a time in `words` if it can be read."""
        timed = timed._replace(when=self._numbers[words])
        timed = Statements(*(column[timed.when > 0] for column in timed))
        # One number for each pair of a fact and a chunk.
        pairs, timed_pairs = (stated.fact.astype(np.int64) * len(self._numbers) + stated.chunk
                              for stated in (untimed, timed))
        is_timed = np.isin(pairs, timed_pairs)
        untimed = _repeat_for_all_times(Statements(*(column[~is_timed] for column in untimed)), timed)
        return Statements(*map(np.concatenate, zip(timed, untimed, strict=True)))

    def find_times(self, rows: PlacedRows, later: Callable[[int], Sequence[str]]) -> list[When]:
        """Return when each row holds; `later` returns the dates from which later facts replace a fact."""
        found = []
        for fact, when in zip(rows.fact.tolist(), map(self.whens.__getitem__, rows.when.tolist()), strict=True):
            since = when.since
            dates = [date for date in later(fact) if since and date > since] if when.is_open else []
            found.append(when._replace(until=min(dates, default=None)) if when.is_open else when)
        return found


def _read_when(words: str) -> When | None:
    time = read_time(words)
    if time is None:
        return None
    qualifiers = (time.kind if time.kind in ("planned", "former") else "", time.qualifiers)
    # What held at a date did not end then.
    return When(time.start or None, None if time.kind == "at" else time.end or None,
                "; ".join(filter(None, qualifiers)) or None, time.kind in ("at", "from"))


def _repeat_for_all_times(untimed: Statements, timed: Statements) -> Statements:
    """Repeat statements without a time for each time of their fact."""
    rows = sort_rows(timed.fact, timed.when)
    fact, when = timed.fact[rows], timed.when[rows]
    firsts = find_firsts(fact, when)
    fact, when = fact[firsts], np.append(when[firsts], 0)
    starts, ends = (np.searchsorted(fact, untimed.fact, side) for side in ("left", "right"))
    counts = np.maximum(ends - starts, 1)  # a statement of a fact without any time stays one row, with time 0
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)  # 0, 1, ... for each statement
    places = np.where(np.repeat(ends > starts, counts), np.repeat(starts, counts) + within, len(fact))
    repeated = Statements(*(np.repeat(column, counts) for column in untimed))
    return repeated._replace(when=when[places])
