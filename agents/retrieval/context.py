"""What a reasoner is given to reflect and answer: passages, facts of the graph and reports, in one token budget.

The rule: reports take at most a quarter, and only where the question is thematic (beta(q) as of one that names
nothing); passages take the rest, and facts what is left where the next passage does not fit, for a passage says more.
No passage takes more than half: of a longer one the stretch that states the nearest facts is shown. A fact that a
shown passage states is left out. Facts and reports are numbered like passages, and citing one cites the words that
support it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ...schemas.retrieval import Evidence, Passage
from ...text.sentences import split_sentences
from ...text.tokens import estimate_tokens
from ...tools.query import Query
from ...tools.ranking.beta import beta
from ...tools.retriever import Retriever
from ...tools.statements import Statement, of_entities, statements
from .citing import within_budget

REPORTS_SHARE = 1 / 4
_MOST_REPORTS = 3
_THEMATIC = 0.5
"""beta(q) is 0.3 where nothing is named, 0.5 where one word in ten is of a name."""
_REPORT_FLOOR = 0.5
"""How near to the question a community has to be for its report to be shown.

For 25 of the 30 themes of benchmarks/questions one is that near, which then is about the theme."""
MARK_TOKENS = 4
"""What the number and mark of an item cost."""


def build_context(retriever: Retriever, ranking: Sequence[tuple[str, float]], queries: Sequence[Query],
                  evidence: Sequence[Evidence], tokens: int) -> list[Passage]:
    """Return the passages, facts and reports for a question.

    Args:
        retriever: the knowledge base.
        ranking: chunks as (id, weight), best first.
        queries: the question, then its sub-queries.
        evidence: of all routes; communities among it may become reports.
        tokens: the budget, estimated tokens of all items together.

    Returns:
        Passages, best first; then facts, nearest first; then reports. Items that are no passages have a
        `statement`; their `text` is the stretch of a document that supports it.
    """
    there = [(key, weight) for key, weight in ranking if key in retriever.index.chunk_row]
    reports = shown_reports(retriever, queries, evidence, int(tokens * REPORTS_SHARE))
    left = tokens - items_cost(reports)
    near: dict[str, float] = {}
    for item in evidence:
        for entity in item.entity_ids if item.route != "community" else ():
            near[entity] = max(near.get(entity, 0.0), item.score)
    paths: dict[str, float] = {}
    for item in evidence:
        for fact in item.path[1:] if item.route == "dfs" else ():
            paths[fact] = max(paths.get(fact, 0.0), item.score)
    lines = statements(retriever.index, queries, dict(there), near, paths)
    stated: defaultdict[str, list[Statement]] = defaultdict(list)
    for line in lines:
        stated[line.chunk_id].append(line)
    shown = within_budget((_stretch(retriever.passage(key, weight), stated[key], left // 2) for key, weight in there),
                          left)
    left -= sum(map(passage_cost, shown))
    facts = _facts(retriever, lines, dict(there), {passage.chunk_id: passage for passage in shown}, left)
    return [*shown, *facts, *reports]


def passage_cost(passage: Passage) -> int:
    """Return the estimated tokens of a passage with what is above it."""
    return estimate_tokens(passage.header) + estimate_tokens(passage.text)


def _stretch(passage: Passage, facts: Sequence[Statement], tokens: int) -> Passage:
    """Return the passage, or of a long one the sentences in a row that state most of the facts.

    Of several that state as much it is the longest one.
    """
    if passage_cost(passage) <= tokens:
        return passage
    room, text = tokens - estimate_tokens(passage.header), passage.text
    sentences = split_sentences(text)
    worth = [sum(fact.score for fact in facts if fact.start < end and fact.end > start) for start, end in sentences]
    costs = [estimate_tokens(text[start:end]) for start, end in sentences]
    best: tuple[tuple[float, int], int, int] | None = None
    first, total, cost = 0, 0.0, 0
    for last, (_, end) in enumerate(sentences):  # the longest stretch that fits and ends here
        total, cost = total + worth[last], cost + costs[last]
        while first <= last and cost > room:
            total, cost, first = total - worth[first], cost - costs[first], first + 1
        value = round(total, 6), cost  # sums that were taken from differ in the last digits
        if first <= last and (best is None or value > best[0]):
            best = value, sentences[first][0], end
    if best is None:
        return passage  # not one sentence fits
    _, start, end = best
    return passage.model_copy(update={"text": text[start:end], "start": passage.start + start})


def items_cost(items: Sequence[Passage]) -> int:
    """Return the estimated tokens of items as they are shown."""
    return sum(estimate_tokens(item.statement) + MARK_TOKENS if item.statement else passage_cost(item)
               for item in items)


def _facts(retriever: Retriever, lines: Sequence[Statement], weights: Mapping[str, float],
           shown: Mapping[str, Passage], tokens: int) -> list[Passage]:
    facts: list[Passage] = []
    for line in lines:
        cost = estimate_tokens(line.line) + MARK_TOKENS
        if cost <= tokens and not _states(retriever, shown.get(line.chunk_id), line):
            tokens -= cost
            facts.append(statement_item(retriever, line, weights.get(line.chunk_id, 0.0), line.line))
        if tokens <= MARK_TOKENS:
            break
    return facts


def _states(retriever: Retriever, passage: Passage | None, line: Statement) -> bool:
    """Return True if a passage, as it is shown, has the words that support a fact."""
    if passage is None:
        return False
    before = passage.start - retriever.index.chunks[retriever.index.chunk_row[line.chunk_id]].start
    return before <= line.start and line.end <= before + len(passage.text)


def statement_item(retriever: Retriever, support: Statement, score: float, statement: str) -> Passage:
    """Return an item of the context that shows a statement and is cited by the words that support it."""
    passage = retriever.passage(support.chunk_id, score)
    return passage.model_copy(update={"text": passage.text[support.start:support.end], "statement": statement,
                                      "start": passage.start + support.start, "facts": ()})


def shown_reports(retriever: Retriever, queries: Sequence[Query], evidence: Sequence[Evidence],
             tokens: int) -> list[Passage]:
    """Return the reports near to a thematic question, each resting on the fact of it nearest to the question."""
    if not queries or beta(queries[0]) >= _THEMATIC:
        return []
    index, reports = retriever.index, list[Passage]()
    ids = dict.fromkeys(item.community_id for item in sorted(evidence, key=lambda item: -item.score)
                        if item.community_id in index.communities and item.score >= _REPORT_FLOOR)
    for key in list(ids)[:_MOST_REPORTS]:
        community = index.communities[key]
        support = next(iter(of_entities(index, queries[0], community.members, 1)), None)
        cost = estimate_tokens(community.text()) + MARK_TOKENS
        # Without an own summary it says no more than names.
        if support is not None and cost <= tokens and community.summary != community.name:
            tokens -= cost
            reports.append(statement_item(retriever, support, 0.0, community.text()))
    return reports
