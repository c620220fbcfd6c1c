"""Passages as citable items: the best ranked, none shown twice, none that says what another one says."""

import re
from collections.abc import Collection, Iterable, Iterator

import numpy as np

from ..schemas.documents import Chunk
from ..schemas.inquiry import Block
from ..schemas.lookups import PassageLookup
from ..schemas.retrieval import EVERYTHING, Passage, Switches
from ..text.sentences import split_sentences
from ..text.table_rows import SET_APART
from ..text.tokens import estimate_tokens, first_tokens
from .index import RetrievalIndex
from .line_budget import item_cost
from .retriever import Retriever

AT_LEAST = 3
"""Passages of a look where their chunks are long: one alone rarely answers, and another look costs a call."""
_LEAST_WEIGHT = 3 / 20
"""Of the best passage's weight: of what lookups show below it readers used nothing (benchmarks/README.md)."""
_RANKED = 60
"""Passages of a ranking that are looked at: several times what a budget shows, for those shown before."""
_WORD = re.compile(r"[^\W_]+")
_SAME = 0.95
"""The share of a passage's words that another one has, from which it may be the same."""


def look_up_passages(retriever: Retriever, lookup: PassageLookup, tokens: int, seen: Collection[str] = (),
                     switches: Switches = EVERYTHING, *, near: bool = True) -> list[Block]:
    """Return the best passages for a query that were not shown yet.

    Args:
        retriever: the knowledge base.
        lookup: the query, and the documents to stay in.
        tokens: the budget, estimated tokens.
        seen: the keys of passages that were shown before.
        switches: what the ranking uses.
        near: leave out passages of hardly any weight beside the best one; but documents that are named are read to
            their end.
    """
    index, allowed = retriever.index, None
    if any(lookup.documents):
        allowed = index.documents_with(lookup.documents)
        if not allowed:
            wanted = " or ".join(lookup.documents)
            return [Block(title=lookup.query, note=f"No document has {wanted} in its id or title")]
    limit = _RANKED if allowed is None else len(index.chunks)
    ranking = retriever.rank_passages(lookup.query, limit, switches=switches, documents=allowed)
    if near and allowed is None:
        ranking = [(key, weight) for key, weight in ranking if weight >= ranking[0][1] * _LEAST_WEIGHT]
    elif near and allowed is not None:
        ranking += _without_weight(index, allowed, {key for key, _ in ranking})
    items = passage_items(retriever, ranking, tokens, seen)
    note = "" if items else "all that is near was shown before" if ranking else "nothing was found"
    if any(_is_cut(retriever, item) for item in items):
        note = "it goes on: search its document to read all of it"
    within = "" if allowed is None else f" (in {' or '.join(filter(None, lookup.documents))})"
    return [Block(title=f"passages: {lookup.query}{within}", items=tuple(items), note=note)]


def _without_weight(index: RetrievalIndex, documents: Collection[str], ranked: Collection[str],
                    ) -> Iterator[tuple[str, float]]:
    """Yield the other passages of documents, in their order: a query may share nothing with what it asks to read."""
    rows = np.flatnonzero(index.chunks_of(documents)).tolist()
    yield from ((key, 0.0) for key in (index.chunks[row].id for row in rows) if key not in ranked)


def passage_items(retriever: Retriever, ranking: Iterable[tuple[str, float]], tokens: int,
                  seen: Collection[str] = ()) -> list[Passage]:
    """Return the first passages of a ranking that fit a budget and say something new.

    What a table or list that is cut goes on with follows it. There are at least `AT_LEAST` passages if twice the
    budget has room for them. If the first one alone is longer than the budget, it is cut to it.

    Args:
        retriever: the knowledge base.
        ranking: chunks as (id, weight), best first.
        tokens: the budget, estimated tokens.
        seen: the keys of passages that were shown before.
    """
    shown, words, known, budget = list[Passage](), list[frozenset[str]](), set(seen), tokens
    documents = set[str]()
    for ranked in _with_rest(retriever, ranking):
        # A document's name says nothing: copies of a text have different ones.
        title = "" if ranked.title == ranked.document else ranked.title
        own_words = frozenset(_WORD.findall(f"{title} {ranked.heading} {ranked.text}"))
        if ranked.key in known or any(_says_nothing_new(own_words, other) for other in words):
            continue
        # A document says of itself in its first words what `about` repeats.
        repeats = ranked.document in documents or ranked.start == 0
        passage = ranked if repeats else retriever.described(ranked)
        cost = item_cost(passage)
        if cost > tokens and not shown:
            return [cut_passage(passage, tokens)]
        # Long passages may take twice the budget.
        if cost > tokens and (len(shown) >= AT_LEAST or cost > tokens + budget):
            break
        tokens -= cost
        known.add(ranked.key)
        documents.add(passage.document)
        words.append(own_words)
        shown.append(passage)
    return shown


def cut_passage(passage: Passage, tokens: int) -> Passage:
    """Return the beginning of a passage that fits a budget: whole sentences, or words where none fits."""
    cut = passage.model_copy(update={"about": ""})
    if estimate_tokens(cut.header) > tokens // 2:
        title = passage.title[:first_tokens(passage.title, tokens // 2)]
        cut = cut.model_copy(update={"title": title, "heading": ""})
    end = first_tokens(passage.text, tokens - estimate_tokens(cut.header))
    sentences = [last for _, last in split_sentences(passage.text) if last <= end]
    return cut.model_copy(update={"text": passage.text[:sentences[-1] if sentences else end]})


def _is_cut(retriever: Retriever, item: Passage) -> bool:
    return item.key != retriever.passage(item.chunk_id, item.score).key


def _with_rest(retriever: Retriever, ranking: Iterable[tuple[str, float]]) -> Iterator[Passage]:
    """Yield the passages of a ranking, each followed by the one in which its table or list goes on."""
    chunks, rows = retriever.index.chunks, retriever.index.chunk_row
    for key, weight in ranking:
        if key not in rows:
            continue
        yield retriever.passage(key, weight)
        row = rows[key]
        if row + 1 < len(chunks) and _goes_on(chunks[row], chunks[row + 1]):
            yield retriever.passage(chunks[row + 1].id, weight)


def _goes_on(chunk: Chunk, following: Chunk) -> bool:
    """Return True if a table or list that a chunk ends with goes on in the next one."""
    if following.document_id != chunk.document_id or following.heading != chunk.heading:
        return False
    last, first = chunk.text.rstrip().rpartition("\n")[2], following.text.lstrip("\n").partition("\n")[0]
    return bool(SET_APART.match(last) and SET_APART.match(first))


def _says_nothing_new(words: frozenset[str], shown: frozenset[str]) -> bool:
    """Return True if nearly all words were shown, and those that were not are neither names nor numbers."""
    new = words - shown
    return (len(new) <= (1 - _SAME) * len(words)
            and not any(word[0].isupper() or not word.isalpha() for word in new))

