"""Extractive answers: the best quotes, with the short answer if the passages state one.

A decomposed question is answered step by step: each sub-query is filled with the earlier answers and then answered.
Nothing is inferred, counted or judged.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from cachetools import LRUCache

from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import normalise
from ...schemas.references import references
from ...schemas.retrieval import Claim, DraftAnswer, Passage, Quote, QuotedDraft, Reflection, SubAnswer
from ...text.table_rows import Row
from ..parsing.parser import Parser
from .decomposition import fill, sub_query
from .finder import Finder, Found
from .overviews import overview
from .question import Question
from .short_answers import Short, asked_cell, short_answer
from .table_columns import find_extreme
from .units import Unit, readable_row

_POOLS = 8
"""The number of contexts whose units are cached, for current questions; each takes about 100 KB."""
STATED, QUOTED = 0.9, 0.6
"""The confidence of a short answer, and of quotes that cover a question without a short answer."""
_COVERED = 0.5
"""The share of a question's words from which the best quote answers a question such as 'why' or 'how'."""
_UNSTATED = 0.49
"""The most confidence in quotes alone if a short answer is expected: below the default abstention threshold."""


@dataclass(frozen=True, slots=True)
class _Hop:
    """A filled sub-query, its answer ("" if none was found), and the claim that states the answer."""

    question: str
    answer: str
    claim: Claim | None


class Answers:
    """The answers to questions from contexts; the units of recent contexts are cached. Safe for threads."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._finders: LRUCache[tuple[Passage, ...], Finder] = LRUCache(_POOLS)
        self._lock = threading.Lock()

    def answer(self, question: str, history: Sequence[SubAnswer], passages: Sequence[Passage]) -> DraftAnswer:
        """Return the best quotes as claims, with the short answer if the passages state one.

        Args:
            question: the question.
            history: the sub-queries of the question with the answers so far.
            passages: the context, best first.

        Returns:
            A draft of quotes. The confidence is `STATED` with a short answer, and `QUOTED` if the first quote covers
            most of a question without one (why, how). Otherwise it is the covered share of the question, below one
            half.
        """
        if passages and all(passage.statement for passage in passages):
            return overview(passages)
        finder = self._finder(passages)
        if len(history) > 1 and (chained := _chain(history, self._hops(history, finder))):
            final, *others = chained
            claims = [hop.claim for hop in (final, *others) if hop.claim is not None]
            return QuotedDraft(answerable=True, claims=_distinct(claims), confidence=STATED, short=final.answer)
        return _draft_answer(question, finder)

    def find(self, question: str, passages: Sequence[Passage]) -> QuotedDraft:
        """Return the best quotes for a question as a draft; see `answer`."""
        return _draft_answer(question, self._finder(passages))

    def reflect(self, question: str, history: Sequence[SubAnswer], passages: Sequence[Passage],
                schema: GraphSchema) -> Reflection:
        """Return whether a chain of sub-queries is answered, and if not, which filled ones to ask next.

        A question that was not decomposed is searched only once, because its words do not change.
        """
        del question
        if len(history) < 2:  # noqa: PLR2004 - one step is no chain
            return Reflection(sufficient=True)
        hops = self._hops(history, self._finder(passages))
        asked = {normalise(item.question) for item in history}
        final = hops[_final(history)]
        new = [] if final.answer else list(dict.fromkeys(
            hop.question for hop in hops
            if not hop.answer and not references(hop.question) and normalise(hop.question) not in asked))
        return Reflection(
            sufficient=bool(final.answer),
            missing="" if final.answer else "; ".join(hop.question for hop in hops if not hop.answer),
            sub_answers=[SubAnswer(question=item.question, answer=hop.answer)
                         for item, hop in zip(history, hops, strict=True)],
            sub_queries=[sub_query(text, schema, chained=True) for text in new])

    def _finder(self, passages: Sequence[Passage]) -> Finder:
        key = tuple(passages)
        with self._lock:
            finder = self._finders.get(key)
        if finder is None:
            finder = Finder(passages, self._parser)
            with self._lock:
                self._finders[key] = finder
        return finder

    def _hops(self, history: Sequence[SubAnswer], finder: Finder) -> list[_Hop]:
        """Answer each sub-query in order, filled with the earlier answers."""
        hops: list[_Hop] = []
        for item in history:
            filled = fill(item.question, [_first_name(hop.answer) for hop in hops])
            if references(filled):
                hops.append(_Hop(filled, item.answer, None))
                continue
            draft = _draft_answer(filled, finder)
            answer = draft.short or item.answer
            claims = draft.claims[:1] if draft.short or not answer else [
                claim for claim in draft.claims if normalise(answer) in normalise(claim.text)]
            hops.append(_Hop(filled, answer, next(iter(claims), None)))
        return hops


def _draft_answer(text: str, finder: Finder) -> QuotedDraft:
    """Return the draft for one question that is searched as a whole."""
    question, found = finder.search(text)
    if not found:
        return QuotedDraft(answerable=False, confidence=0.0)
    extreme = find_extreme(question, finder.units)
    if extreme is not None:
        claims = [_claim(unit, readable_row(unit.row) if unit.row else unit.text, unit.text) for unit in extreme.units]
        claims[0] = Claim(text=extreme.line, quotes=claims[0].quotes)
        return QuotedDraft(answerable=True, claims=claims, confidence=STATED, short=extreme.words)
    short = short_answer(question, found, finder.passages)
    if short is not None:
        return QuotedDraft(answerable=True, claims=[_stating(question, short, finder)], confidence=STATED,
                           short=short.words)
    claims = [_quote(question, item, finder) for item in finder.quotes(found)]
    covered = found[0].covered
    answers = not question.has_form and covered >= _COVERED
    return QuotedDraft(answerable=True, claims=claims,
                       confidence=QUOTED if answers else round(covered * _UNSTATED, 4))


def _quote(question: Question, found: Found, finder: Finder) -> Claim:
    """Return the quote of a unit with its surroundings."""
    unit = found.unit
    words = finder.passages[unit.passage - 1].text[slice(*unit.quote)]
    return _claim(unit, _row_text(question, unit.row) if unit.row else " ".join(words.split()), words)


def _stating(question: Question, short: Short, finder: Finder) -> Claim:
    """Return the sentence, row or fact that states a short answer."""
    unit = short.unit
    if unit is None:
        fact = finder.passages[short.passage - 1]
        return Claim(text=" ".join(fact.text.split()), quotes=[Quote(passage=short.passage, words=fact.text)])
    return _claim(unit, _row_text(question, unit.row) if unit.row else " ".join(unit.text.split()), unit.text)


def _row_text(question: Question, row: Row) -> str:
    return asked_cell(question, row) or readable_row(row)


def _claim(unit: Unit, text: str, words: str) -> Claim:
    return Claim(text=text, quotes=[Quote(passage=unit.passage, words=words)])


def _first_name(answer: str) -> str:
    """Return the first of several names joined by 'and', because a step asks about one thing."""
    first, joint, second = answer.partition(" and ")
    return first.split(", ")[0] if joint and first[:1].isupper() and second[:1].isupper() else answer


def _final(history: Sequence[SubAnswer]) -> int:
    """Return the index of the step that answers the question: the last one with references to other answers.

    Filled forms of earlier steps, asked in a later round, may follow it.
    """
    planned = [at for at, item in enumerate(history) if references(item.question)]
    return planned[-1] if planned else len(history) - 1


def _chain(history: Sequence[SubAnswer], hops: Sequence[_Hop]) -> list[_Hop]:
    """Return the final hop and the hops it depends on, final first; empty if one of them has no answer."""
    final = _final(history)
    needed = {final}
    for at in range(final, -1, -1):
        if at in needed:
            needed.update(number - 1 for number in references(history[at].question) if 0 < number <= at)
    chained = [hops[final], *(hops[at] for at in sorted(needed - {final}))]
    return chained if len(needed) > 1 and all(hop.answer and hop.claim for hop in chained) else []


def _distinct(claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims without repeated quotes."""
    return list({(claim.quotes[0].passage, claim.quotes[0].words): claim for claim in reversed(claims)}.values())[::-1]
