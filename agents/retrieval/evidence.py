"""What a model is given to reflect and answer: numbered passages, facts and reports that it has not seen, in a budget.

What the reflection before relied on comes first, so prompts of one question begin alike. Passages follow in the
order of their ranking, then facts that no shown passage states, nearest first, then reports where the question is
thematic. A fact or report is cited by the words that support it.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from ...graph_store.bounding.grounding import without_aside
from ...schemas.naming import canonical_name
from ...schemas.retrieval import Evidence, Passage, Reflection
from ...text.tokens import estimate_tokens
from ...tools.near_facts import near_facts
from ...tools.query import Query
from ...tools.retriever import Retriever
from ...tools.statements import Statement
from .citing import within_budget
from .context import MARK_TOKENS, items_cost, shown_reports, statement_item

_FACTS_SHARE, _REPORTS_SHARE, _BESIDE_SHARE = 1 / 5, 1 / 4, 1 / 2
_MOST_FACTS = 20
_ABOUT_FIRST = 3
"""Passages of each sub-query that go first because they are about what it names."""
_BEST_AGAIN = 2
_RELIED_ON = 3
"""Items shown again because they hold an answer, where a model does not say which it needs."""
_FLOOR, _FEWEST, _FEWEST_LATER = 0.03, 5, 2
"""A passage whose weight is less than this share of the best one's is left out, where there are so many others.

Of the gold passages of benchmarks/questions that are ranked at all one in 210 is below."""
_WORD = re.compile(r"[^\W_]+")
_SAME = 0.95
"""The share of a passage's words that another one has, from which it may be the same."""


def item_key(item: Passage) -> str:
    """Return the key of an item: its statement, or a passage's chunk."""
    return item.statement or item.chunk_id


def choose_evidence(retriever: Retriever, ranking: Sequence[tuple[str, float]], queries: Sequence[Query],
                    evidence: Sequence[Evidence], tokens: int, kept: Sequence[Passage],
                    seen: Collection[str]) -> list[Passage]:
    """Return what a model reads next.

    Args:
        retriever: the knowledge base.
        ranking: chunks as (id, weight), best first.
        queries: the sub-queries that it is to serve: the question first, or those of a later round.
        evidence: of all routes; communities among it may become reports.
        tokens: the budget, estimated tokens of all items together.
        kept: the items that the reflection before relied on; they come first.
        seen: the keys of all items shown before.

    Returns:
        The kept items, passages beside them, further passages, facts and reports. Items that are no passages have a
        `statement`; their `text` is the stretch of a document that supports it.
    """
    kept = within_budget(kept, tokens)
    reports = [item for item in shown_reports(retriever, queries, evidence, int(tokens * _REPORTS_SHARE))
               if item_key(item) not in seen]
    left = tokens - items_cost(kept) - items_cost(reports)
    kept = [*kept, *_within_share(_beside(retriever, kept, seen), left)]
    left = tokens - items_cost(kept) - items_cost(reports)
    fresh = list(_fresh(retriever, ranking, kept, {*seen, *map(item_key, kept)}))
    passages = within_budget(fresh, left)
    near = near_facts(retriever, queries)
    facts = list(_facts(retriever, near, [*kept, *passages], seen))
    room = left - items_cost(passages)
    wanted = min(items_cost(facts), int(tokens * _FACTS_SHARE))
    if room < wanted and len(passages) > 1:
        passages = within_budget(fresh, left - wanted)
        facts, room = list(_facts(retriever, near, [*kept, *passages], seen)), left - items_cost(passages)
    return [*kept, *passages, *_fitting(facts, room), *reports]


def answering_first(retriever: Retriever, queries: Sequence[Query], ranking: Sequence[tuple[str, float]],
                    ) -> tuple[list[tuple[str, float]], set[str]]:
    """Return a ranking that begins with passages about what follow-ups name, and those that are shown again.

    A passage is about what its title names. What was read before its name was asked for may not have helped:
    passages about the name, and the best of the ranking, are shown again if the model has seen them.

    Args:
        retriever: the knowledge base.
        queries: the follow-ups.
        ranking: of their passages as (id, weight), best first.

    Returns:
        The ranking, and the ids that are shown again.
    """
    index, first = retriever.index, dict[str, float]()
    weights = dict(ranking)
    for query in queries:
        names = {canonical_name(name) for named in query.meaning.names
                 for name in (named.name, *(index.name(entity) for entity in named.entities))}
        mentioned = {key: weights.get(key, 0.0) for named in query.meaning.names for entity in named.entities
                     for key in index.entity_support(entity)}
        titled = [key for key in sorted(mentioned, key=lambda key: (-mentioned[key], key))
                  if canonical_name(without_aside(index.chunks[index.chunk_row[key]].title)) in names]
        first.update((key, mentioned[key]) for key in titled[:_ABOUT_FIRST])
    again = {*first, *(key for key, _ in ranking[:_BEST_AGAIN])}
    return [*first.items(), *((key, weight) for key, weight in ranking if key not in first)], again


def relied_on(reflection: Reflection, items: Sequence[Passage], tokens: int) -> list[Passage]:
    """Return the items that a reflection asks to keep; where it names none, the first that hold an answer it gave."""
    kept = [items[number - 1] for number in sorted(set(reflection.keep)) if 0 < number <= len(items)]
    if not kept:
        answers = [canonical_name(found.answer) for found in reflection.sub_answers if found.answer.strip()]
        kept = [item for item in items
                if any(answer in canonical_name(f"{item.title} {item.text}") for answer in answers)][:_RELIED_ON]
    return within_budget(kept, tokens)


def _beside(retriever: Retriever, kept: Sequence[Passage], seen: Collection[str]) -> Iterator[Passage]:
    """Yield the passages that follow and precede kept ones in their documents, unless they were shown.

    A list or a table that a passage breaks off goes on in the next one, whose words rarely repeat what it is about.
    """
    chunks, rows = retriever.index.chunks, retriever.index.chunk_row
    shown = {*seen, *map(item_key, kept)}
    for item in kept:
        if item.statement or item.chunk_id not in rows:
            continue
        for row in (rows[item.chunk_id] + 1, rows[item.chunk_id] - 1):
            if 0 <= row < len(chunks) and (chunk := chunks[row]).document_id == item.document and chunk.id not in shown:
                shown.add(chunk.id)
                yield retriever.passage(chunk.id, item.score)


def _within_share(passages: Iterator[Passage], tokens: int) -> list[Passage]:
    """Return the first passages that fit their share of a budget; none is cut."""
    found, left = list[Passage](), int(tokens * _BESIDE_SHARE)
    for passage in passages:
        left -= items_cost([passage])
        if left < 0:
            break
        found.append(passage)
    return found


def _fresh(retriever: Retriever, ranking: Sequence[tuple[str, float]], kept: Sequence[Passage],
           seen: Collection[str]) -> Iterator[Passage]:
    """Yield the passages that were not shown and say something that no better one says."""
    said, count = [_words(item.text) for item in kept if not item.statement], 0
    fewest, best = _FEWEST_LATER if seen else _FEWEST, max((weight for _, weight in ranking), default=0.0)
    for key, weight in ranking:
        if key in seen or key not in retriever.index.chunk_row:
            continue
        if count >= fewest and weight < _FLOOR * best:
            return
        passage = retriever.passage(key, weight)
        words = _words(passage.text)
        if not any(_says_nothing_new(words, other) for other in said):
            said.append(words)
            count += 1
            yield passage


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))


def _says_nothing_new(words: frozenset[str], said: frozenset[str]) -> bool:
    """Return True if nearly all words were said, and those that were not are neither names nor numbers."""
    new = words - said
    return (len(new) <= (1 - _SAME) * len(words)
            and not any(word[0].isupper() or not word.isalpha() for word in new))


def _facts(retriever: Retriever, near: Sequence[Statement], shown: Sequence[Passage],
           seen: Collection[str]) -> Iterator[Passage]:
    """Yield the near facts that no passage states which is shown or was."""
    lines: dict[str, list[Passage]] = {}
    for statement in near:
        lines.setdefault(statement.line, []).append(
            statement_item(retriever, statement, statement.score, statement.line))
    read = {item_key(item) for item in shown} | set(seen)
    unread = [items[0] for line, items in lines.items()
              if line not in read and not any(item.chunk_id in read for item in items)]
    yield from unread[:_MOST_FACTS]


def _fitting(facts: Sequence[Passage], tokens: int) -> Iterator[Passage]:
    for fact in facts:
        tokens -= estimate_tokens(fact.statement) + MARK_TOKENS
        if tokens < 0:
            return
        yield fact
