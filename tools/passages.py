"""Choosing passages as citable items: the best ranked ones, none twice, each cut to what a question asks about."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np

from ..graph_store.graph_index import GraphIndex
from ..graph_store.index.lexical import LexicalIndex, index_terms
from ..schemas.inquiry import Block
from ..schemas.lookups import PassageLookup
from ..schemas.retrieval import EVERYTHING, Passage, Switches
from ..text.relative_dates import said_on_at
from ..text.scripts import estimate_tokens, first_tokens
from ..text.sentences import split_sentences
from ..text.table_rows import SET_APART
from .fact_rows import item_cost
from .retriever import Retriever

AT_LEAST = 3  # passages that are shown even if they are long: one rarely answers, and another lookup costs a call
LEFT_HINT = "passages, less near than these"
_LEFT_OF_DOCUMENTS = "passages of it: the same lookup again shows the next"
_OFFERED_WEIGHT = 1 / 3
"""Of the best passage's weight, to be counted as left out: a model repeats a query to see those."""
_LEAST_WEIGHT = 3 / 20  # of the best passage's weight, to be shown: 3 of 102 passages that readers used had less
_SURE, _FAR, _UNSAID = 2, 3 / 10, 3 / 20
"""A first look shows two passages, and others if they have this share of the best weight or if those above lack more
than this share of the question's words: then a second thing of the question is in a passage of little weight."""
_RANKED = 60  # passages that are ranked: several times what a budget shows, because some were shown before
_LEAST_KNOWN = 1 / 2  # the share of a query's words that any passage has: with less, words tell nothing of passages
_MOST_READ = 10  # how many passages are read for the words that they have: about as many as a first look shows
_WORD = re.compile(r"[^\W_]+")
_SAME = 0.95  # a passage may repeat another if that one has at least this share of its words
_WHOLE_WEIGHT, _MOST_WHOLE = 4 / 5, 2  # this share of the best weight makes so many passages whole in a first look
_LIST_WEIGHT = 1 / 2  # lists and tables need only this share, however many: a question may ask for all of their rows
_LEAST_SAID = 1 / 5  # the share of a question's words, weighed by their rarity, that an excerpt of a first look needs
_SHORT = 200  # estimated tokens of passages that are shown whole wherever they rank
_FIRST_EXCERPT, _EXCERPT = 80, 200
"""The most estimated tokens of an excerpt in a first look and of a lookup, unless its only sentence is longer: shorter
ones lack one in ten of the words that answers cite (benchmarks/README.md)."""

_Spans = Sequence[tuple[int, int]]


class Excerpts:
    """Cuts the passages of one ranking, given in its order.

    `is_first` is a first look, whose best passages stay whole; a lookup cuts no list and no table. `shown` are the
    places that were shown before, as (document, start, end).
    """

    def __init__(self, lexical: LexicalIndex, question: str, *, is_first: bool,
                 shown: Iterable[tuple[str, int, int]] = ()) -> None:
        # How much each word of the question tells: the more, the fewer passages have it.
        self._idf = {term: lexical.sum_idf(term) for term in index_terms(question)}
        self._wholes_left, self._tokens = (_MOST_WHOLE, _FIRST_EXCERPT) if is_first else (0, _EXCERPT)
        self._least_list_weight = _LIST_WEIGHT if is_first else 0.0  # as a share of the best passage's weight
        known_idf = sum(idf for term, idf in self._idf.items() if lexical.knows(term))
        self._least_idf = _LEAST_SAID * known_idf if is_first else 0.0  # the least of the words in an excerpt
        self._best_score = 0.0
        self._shown = [*shown]

    def cut(self, passage: Passage) -> Passage | None:
        """Return a passage without sentences that were shown before; None if it has no others.

        Unless it is short or ranks high, it is cut to the new sentences with the most of the question's words; None if
        others of it were shown and these have none of the words.
        """
        self._best_score = self._best_score or passage.score  # that of the first passage
        sentences = split_sentences(passage.text)
        # As characters of this passage.
        shown = [(first - passage.start, last - passage.start) for document, first, last in self._shown
                 if document == passage.document]

        def is_new(sentence: tuple[int, int]) -> bool:
            return not any(first <= sentence[0] and sentence[1] <= last for first, last in shown)

        # Successive sentences that no shown passage has: neighbours overlap, and cuts of a passage differ.
        new_runs = [[*run] for are_new, run in groupby(sentences, key=is_new) if are_new]
        if not new_runs:
            return None
        (start, _), (_, end) = new_runs[0][0], new_runs[-1][-1]
        if estimate_tokens(passage.text) > _SHORT and not self._stays_whole(passage):
            idf, _, run = max((self._best_run(passage.text, run) for run in new_runs), key=lambda found: found[:2])
            is_partly_shown = sum(map(len, new_runs)) < len(sentences)
            if idf < self._least_idf or (not idf and is_partly_shown):
                return None
            (start, _), (_, end) = run[0], run[-1]
        is_uncut = not passage.text[:start].strip() and not passage.text[end:].strip()
        return passage if is_uncut else passage.model_copy(update={
            "text": passage.text[start:end], "start": passage.start + start, "is_excerpt": True,
            "said_on": said_on_at(passage.text, passage.said_on, start)})

    def _stays_whole(self, passage: Passage) -> bool:
        """Return True if a long passage is not cut; a call with one of prose uses up one of the places for these."""
        has_list_or_table = any(map(SET_APART.match, passage.text.splitlines()))
        if has_list_or_table:
            return passage.score >= self._least_list_weight * self._best_score
        self._wholes_left -= 1
        return self._wholes_left >= 0 and passage.score >= _WHOLE_WEIGHT * self._best_score

    def add(self, passage: Passage) -> None:
        """Record that a passage is shown."""
        self._shown.append((passage.document, passage.start, passage.start + len(passage.text)))

    def _best_run(self, text: str, spans: _Spans) -> tuple[float, int, _Spans]:
        """Return (idf, tokens, sentences) of the run within an excerpt's tokens whose words have the most idf."""
        costs = [estimate_tokens(text[start:end]) for start, end in spans]
        terms = [self._idf.keys() & set(index_terms(text[start:end])) for start, end in spans]
        best: tuple[float, int, _Spans] = (-1.0, 0, spans[:1])
        for first in range(len(spans)):
            cost, found = 0, set[str]()
            for last in range(first, len(spans)):
                cost += costs[last]
                if cost > self._tokens and last > first:  # a single sentence may be longer
                    break
                found |= terms[last]
                idf = round(sum(self._idf[term] for term in sorted(found)), 6)  # rounded, so that equal sums are equal
                if (idf, cost) > best[:2]:  # of equal ones the longest, and of those the first
                    best = idf, cost, spans[first:last + 1]
        return best


def look_up_passages(retriever: Retriever, lookup: PassageLookup, tokens: int, seen: Collection[str] = (),
                     switches: Switches = EVERYTHING, *, near: bool = True, is_read: bool = True) -> list[Block]:
    """Return the best passages for a query that were not shown yet, as one block.

    `near` adapts the ranking to a reader who searches again: passages of little weight are left out, or, in documents
    to stay in, unranked ones are added, so that they can be read whole; False is for a first look. Unless documents to
    stay in are given, long ones are cut for a model to read (`is_read`); see `Excerpts`. `seen` are keys of passages.
    """
    index, allowed = retriever.index, None  # None: all documents
    if lookup.documents:
        allowed = index.documents_with(lookup.documents)
        if not allowed:
            note = f"No document has {' or '.join(lookup.documents)} in its id or title"
            return [Block(title=lookup.query, note=note)]
    limit = _RANKED if allowed is None else len(index.chunks)
    ranking = retriever.rank_passages(lookup.query, limit, switches=switches, documents=allowed)
    excerpts, least_offered = None, 0.0
    if allowed is None:
        least_offered = ranking[0][1] * _OFFERED_WEIGHT if ranking else 0.0
        if near:
            ranking = [(chunk, weight) for chunk, weight in ranking if weight >= ranking[0][1] * _LEAST_WEIGHT]
        elif is_read:
            ranking = [*_without_far(retriever, lookup.query, ranking)]
        if is_read:
            excerpts = Excerpts(index.lexical, lookup.query, is_first=not near, shown=_places_of(index, seen))
    elif near:
        ranked = {chunk for chunk, _ in ranking}
        ids = map(index.chunk_row.at, np.flatnonzero(index.chunks_of(allowed)).tolist())
        ranking += [(chunk, 0.0) for chunk in ids if chunk not in ranked]
        ranking = _put_best_of_each_first(retriever, ranking, lookup.documents, seen)
    items = passage_items(retriever, ranking, tokens, seen, max(AT_LEAST, len(lookup.documents)), excerpts)
    shown_chunks = {key.rsplit(":", 2)[0] for key in (*seen, *(item.key for item in items))}  # CHUNK:START:LENGTH
    # A first look offers no others: the model asks for what it needs.
    left = sum(near and chunk not in shown_chunks and weight >= least_offered for chunk, weight in ranking)
    note = ""
    if not items:
        note = "all that is near was shown before" if ranking else "nothing was found"
    # Only the first item may be cut for its length; then its key differs, because that depends on the text's length.
    if items and not items[0].is_excerpt and items[0].key != retriever.passage(items[0].chunk_id, items[0].score).key:
        note = "it goes on: search its document to read all of it"
    within = "" if allowed is None else f" (in {' or '.join(lookup.documents)})"
    return [Block(title=f"passages: {lookup.query}{within}", items=tuple(items), note=note, left=left,
                  left_hint=LEFT_HINT if allowed is None else _LEFT_OF_DOCUMENTS)]


def _places_of(index: GraphIndex, seen: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """Yield the places of passages that were shown, given by their keys, as (document, start, end)."""
    for chunk, start, length in (key.rsplit(":", 2) for key in seen):
        if chunk in index.chunk_row:
            yield index.chunks[index.chunk_row[chunk]].document_id, int(start), int(start) + int(length)


def is_worded_otherwise(retriever: Retriever, query: str) -> bool:
    """Return True if most words of a query are in no passage, as in another language: they tell nothing of passages."""
    terms = {*index_terms(query)}
    return sum(map(retriever.index.lexical.knows, terms)) <= len(terms) * _LEAST_KNOWN


def _without_far(retriever: Retriever, query: str, ranking: Iterable[tuple[str, float]]) -> Iterator[tuple[str, float]]:
    """Yield a ranking up to where those above have nearly all of a query's words and the next one has little weight."""
    if is_worded_otherwise(retriever, query):
        yield from ranking
        return
    lexical = retriever.index.lexical
    # The query's words that no passage above has, with their idf.
    missing = {term: lexical.sum_idf(term) for term in sorted({*index_terms(query)}) if lexical.knows(term)}
    most_missing, best_weight = _UNSAID * sum(missing.values()), 0.0
    for place, (chunk, weight) in enumerate(ranking):
        best_weight = best_weight or weight
        if place >= _SURE and weight < _FAR * best_weight and sum(missing.values()) <= most_missing:
            return
        yield chunk, weight
        if place < _MOST_READ:
            passage = retriever.passage(chunk, weight)
            for term in index_terms(f"{passage.title} {passage.heading} {passage.text}"):
                missing.pop(term, None)


def _put_best_of_each_first(retriever: Retriever, ranking: list[tuple[str, float]], names: Sequence[str],
                            seen: Collection[str]) -> list[tuple[str, float]]:
    """Return a ranking that begins with the best new passage for each of several names of documents."""
    if len(names) <= 1:
        return ranking
    first = dict[str, float]()
    for name in names:
        documents = retriever.index.documents_with([name])
        # One passage may be of several names' documents: the next name then gets another.
        new = (retriever.passage(*ranked) for ranked in ranking if ranked[0] not in first)
        if best := next((one for one in new if one.document in documents and one.key not in seen), None):
            first[best.chunk_id] = best.score
    return [*first.items(), *(ranked for ranked in ranking if ranked[0] not in first)]


def passage_items(retriever: Retriever, ranking: Iterable[tuple[str, float]], tokens: int, seen: Collection[str] = (),
                  at_least: int = AT_LEAST, excerpts: Excerpts | None = None) -> list[Passage]:
    """Return the first passages of a ranking that fit a budget, without those that repeat another.

    A passage that ends within a table or list is followed by the next chunk. Up to `at_least` passages may together
    exceed the budget: `AT_LEAST` take twice the budget at most, and more in proportion. If the first passage alone is
    longer than the budget, only its beginning is returned.
    """
    shown, shown_words, shown_keys = list[Passage](), list[frozenset[str]](), set(seen)
    described_documents = set[str]()
    tokens_left = tokens
    for ranked in _with_continuations(retriever, ranking):
        # A title that is only the document's id is ignored, because copies of a text have different ids.
        title = "" if ranked.title == ranked.document else ranked.title
        words = frozenset(_WORD.findall(f"{title} {ranked.heading} {ranked.text}"))
        if ranked.key in shown_keys or any(_repeats_shown(words, other) for other in shown_words):
            continue
        passage = excerpts.cut(ranked) if excerpts else ranked
        if passage is None or passage.key in shown_keys:
            continue
        # The metadata is shown with a document's first passage; the beginning of a document contains it itself.
        is_described = ranked.document in described_documents or passage.start == 0
        passage = passage if is_described else retriever.with_metadata(passage)
        cost = item_cost(passage)
        if cost > tokens_left and not shown:
            beginning = cut_passage(passage, tokens_left)
            return [beginning] if beginning.text else []
        most_tokens_left = tokens_left + tokens * at_least // AT_LEAST  # what the first `at_least` may still take
        if cost > tokens_left and (len(shown) >= at_least or cost > most_tokens_left):
            break
        tokens_left -= cost
        shown_keys.update((ranked.key, passage.key))
        described_documents.add(passage.document)
        # Only the words that are shown count for what others repeat.
        shown_words.append(words if passage.text == ranked.text else frozenset(_WORD.findall(passage.text)))
        shown.append(passage)
        if excerpts:
            excerpts.add(passage)
    return shown


def cut_passage(passage: Passage, tokens: int) -> Passage:
    """Return the beginning of a passage that fits a budget: whole sentences, or part of the first one if none fits.

    The metadata is left out.
    """
    cut = passage.model_copy(update={"about": ""})
    end = first_tokens(passage.text, tokens - estimate_tokens(cut.header))
    fitting_ends = [sentence_end for _, sentence_end in split_sentences(passage.text) if sentence_end <= end]
    return cut.model_copy(update={"text": passage.text[:fitting_ends[-1] if fitting_ends else end]})


def _with_continuations(retriever: Retriever, ranking: Iterable[tuple[str, float]]) -> Iterator[Passage]:
    """Yield the passages of a ranking; if a table or list goes on in the next chunk, that one follows its passage."""
    chunks, rows = retriever.index.chunks, retriever.index.chunk_row

    def goes_on(row: int) -> bool:
        """Return True if a chunk ends within a table or list; its first lines in the next chunk look whole there."""
        if not 0 <= row < len(chunks) - 1:
            return False
        chunk, following = chunks[row], chunks[row + 1]
        last_line = chunk.text.rstrip().rpartition("\n")[2]
        first_line = following.text.lstrip("\n").partition("\n")[0]
        is_same_section = (following.document_id, following.heading) == (chunk.document_id, chunk.heading)
        return is_same_section and bool(SET_APART.match(last_line)) and bool(SET_APART.match(first_line))

    for chunk_id, weight in ranking:
        if chunk_id not in rows:
            continue  # a ranking that another system made
        first = rows[chunk_id]
        for row in (first, first + 1) if goes_on(first) else (first,):
            marks = [mark for mark, is_so in (("continued", goes_on(row - 1)), ("goes on", goes_on(row))) if is_so]
            yield retriever.passage(chunks[row].id, weight).model_copy(update={"part": ", ".join(marks)})


def _repeats_shown(words: frozenset[str], shown_words: frozenset[str]) -> bool:
    """Return True if a shown passage has nearly all words of a new one, which adds no name and no number."""
    most_new = (1 - _SAME) * len(words)
    if len(words) - len(shown_words) > most_new:  # true of many, and faster than comparing the words
        return False
    new = words - shown_words
    return len(new) <= most_new and not any(word[0].isupper() or not word.isalpha() for word in new)

