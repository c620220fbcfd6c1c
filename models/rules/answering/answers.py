"""Answers and reflection by quoting: the rules reasoner says what a sentence says, or abstains.

A question that was taken apart is answered hop by hop: each sub-query is filled with the answers
before it, its best sentence is found, and the span of the expected kind in that sentence is its
answer. Every claim quotes the sentences it rests on, verbatim.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ....schemas.graph_schema import GraphSchema
from ....schemas.naming import normalise
from ....schemas.references import references
from ....schemas.retrieval import Claim, DraftAnswer, Passage, Quote, Reflection, SubAnswer
from ....text.dates import months_named, overlap
from ...parsing.parser import Parser
from ..content_words import language_of
from ..lexicon import SUMMARY_CUES
from ..questions.answer_types import Expected, Question
from ..questions.comparisons import Comparison, comparison
from ..questions.decomposition import fill, sub_query
from .evidence import ANSWERED, MOST_EMBEDDED, Pools, SentencePool, Support
from .measures import amount, comparable
from .statements import answer_from_facts, overview
from .tables import answer_from_table
from .verdicts import cause_near, tells_cause, verdict_on

_FEWEST_EMBEDDED = 8
_CLEAR_MARGIN = 0.4
_MOST_SENTENCES = 3
_NEW_WORDS = 0.3
_WORTH_ADDING = 0.6
_SAYS_ALL = 0.8
_NO_CAUSE = 0.5
_MOST_EVENTS = 8
_HAPPENED = re.compile(r"\bwhat (?:else )?(?:happened|took place|occurred|changed)\b|"
                       r"发生了?(?:什么|哪些)|有(?:什么|哪些)大事",
                       re.IGNORECASE)


@dataclass(frozen=True)
class _Hop:
    """A sub-query as filled, with its answer ("" where none) and the sentence that holds it."""

    question: str
    answer: str
    support: Support | None

    @property
    def confidence(self) -> float:
        return self.support.probability if self.support else 0.0

    @property
    def normal(self) -> str:
        """The normal form of the answer, where the graph has one."""
        spans = self.support.spans if self.support else ()
        return next((span.normal for span in spans if span.words == self.answer), "")


def answer(question: str, history: Sequence[SubAnswer], passages: Sequence[Passage],
           pools: Pools) -> DraftAnswer:
    """The answer in quoted sentences; the final claim first, then one for each hop it rests on.

    Args:
        question: the question.
        history: its sub-queries with the answers found so far.
        passages: the evidence.
        pools: reads their sentences.

    Returns:
        Claims whose quotes are substrings of the passages they name: the nearest sentence where nothing
        answers. `confidence` is the calibrated probability that the evidence answers the question (of a
        chain: its weakest hop), `ANSWERED` where it is as likely as not.
    """
    if passages and all(passage.statement for passage in passages):
        return overview(passages)
    pool = pools.of(passages)
    draft = _from_sentences(question, history, pool, pools.parser)
    if draft.confidence < ANSWERED and (from_fact := answer_from_facts(pool.analyse(question), passages)) is not None:
        return from_fact
    return draft


def _from_sentences(question: str, history: Sequence[SubAnswer], pool: SentencePool, parser: Parser) -> DraftAnswer:
    compared = comparison(question, parser)
    analysed = pool.analyse(question)
    from_table = answer_from_table(analysed, compared.sides if compared else (), pool)
    if from_table is not None:
        return from_table
    if compared is not None:
        return _answer_comparison(compared, pool)
    if SUMMARY_CUES.search(question):
        return _overview(question, pool)
    if (events := _events(analysed, pool)) is not None:
        return events
    if analysed.expected is Expected.POLAR:
        return _answer_polar(analysed, pool)
    if len(history) > 1:
        chain = _chain(history, _answer_hops(history, pool))
        confidence = min((hop.confidence for hop in chain), default=0.0)
        if confidence >= ANSWERED:
            claims = [_claim(hop.support, hop.answer, hop.question) for hop in chain if hop.support is not None]
            return DraftAnswer(answerable=True, claims=_distinct(claims), confidence=confidence,
                               short=_short(chain[0]))
    return _answer_directly(question, pool, nested=len(history) > 1)


def reflect(question: str, history: Sequence[SubAnswer], passages: Sequence[Passage], schema: GraphSchema,
            pools: Pools) -> Reflection:
    """Whether the passages answer the last step, and else which filled sub-queries to ask next.

    Args:
        question: the question.
        history: the sub-queries asked so far; one may refer to answers of others.
        passages: the evidence.
        schema: the schema in force, for the elements of new sub-queries.
        pools: reads their sentences.

    Returns:
        `sub_answers` in the order of `history`; `sub_queries` holds no question of the history.
    """
    pool = pools.of(passages)
    hops = _answer_hops(history, pool)
    compared = comparison(question, pools.parser)
    if compared is not None:
        sufficient = all(hop.answer for hop in _sides(compared, pool))
    elif hops:
        sufficient = bool(hops[_final(history)].answer)
    else:
        sufficient = _find(question, "", pool, MOST_EMBEDDED).answer != ""
    new = [] if sufficient else _unasked(history, hops)
    missing = [] if sufficient else [hop.question for hop in hops if not hop.answer]
    return Reflection(
        sufficient=sufficient,
        missing="; ".join(missing),
        sub_answers=[SubAnswer(question=item.question, answer=hop.answer)
                     for item, hop in zip(history, hops, strict=True)],
        sub_queries=[sub_query(text, schema, pools.parser, chained=True) for text in new],
    )


def _unasked(history: Sequence[SubAnswer], hops: list[_Hop]) -> list[str]:
    """Unanswered steps that could now be filled with names and were not yet asked like that."""
    asked = {normalise(item.question) for item in history}
    return list(dict.fromkeys(hop.question for hop in hops if not hop.answer
                              and not references(hop.question) and normalise(hop.question) not in asked))


def _answer_hops(history: Sequence[SubAnswer], pool: SentencePool) -> list[_Hop]:
    """Each sub-query answered in order, filled with the answers before it."""
    embedded = max(_FEWEST_EMBEDDED, MOST_EMBEDDED // max(1, len(history)))
    hops: list[_Hop] = []
    for item in history:
        filled = fill(item.question, [_first_name(hop.answer) for hop in hops])
        hops.append(_Hop(filled, item.answer, None) if references(filled)
                    else _find(filled, item.answer, pool, embedded))
    return hops


def _first_name(answer: str) -> str:
    """The first of several names joined by 'and': a step asks about one thing, and no text holds both together."""
    first, joint, second = answer.partition(" and ")
    return first.split(", ")[0] if joint and first[:1].isupper() and second[:1].isupper() else answer


def _find(question: str, known: str, pool: SentencePool, embedded: int) -> _Hop:
    """The answer of one atomic question and its sentence; an answer already known only gets its sentence."""
    supports = pool.search(pool.analyse(question), embedded)
    if known:
        holding = [support for support in supports if normalise(known) in normalise(_context(support))]
        return _Hop(question, known, next(iter([*holding, *supports]), None))
    if not supports or supports[0].probability < ANSWERED:
        return _Hop(question, "", supports[0] if supports else None)
    best = supports[0]
    return _Hop(question, best.spans[0].words if best.spans else best.sentence.text, best)


def _context(support: Support) -> str:
    return f"{support.sentence.title}\n{support.sentence.text}"


def _final(history: Sequence[SubAnswer]) -> int:
    """The place of the step that answers the question: the last of the plan, whose steps refer to answers.

    Filled forms of earlier steps may stand after it, asked in a later round.
    """
    planned = [i for i, item in enumerate(history) if references(item.question)]
    return planned[-1] if planned else len(history) - 1


def _chain(history: Sequence[SubAnswer], hops: list[_Hop]) -> list[_Hop]:
    """The final hop and the answered hops it rests on, final first; empty where it has no answer."""
    final = _final(history)
    if not hops[final].answer:
        return []
    needed = {final}
    for i in range(final, -1, -1):
        if i in needed:
            needed.update(number - 1 for number in references(history[i].question) if 0 < number <= i)
    if len(needed) == 1:
        needed.update(i for i, hop in enumerate(hops) if hop.answer and hop.confidence >= ANSWERED)
    return [hops[final], *(hops[i] for i in sorted(needed - {final}))]


def _claim(support: Support, short: str, question: str) -> Claim:
    """A claim that quotes one sentence, led by the short answer where there is one."""
    sentence = " ".join(support.sentence.text.split())
    if not short or normalise(short) == normalise(support.sentence.text):
        return Claim(text=sentence, quotes=[support.sentence.quote()])
    joint = "：" if language_of(question) == "zh" else ": "
    return Claim(text=f"{short}{joint}{sentence}", quotes=[support.sentence.quote()])


def _short(hop: _Hop) -> str:
    """A hop's answer where it is a span, not the sentence itself."""
    return "" if hop.support is None or hop.answer == hop.support.sentence.text else hop.answer


def _clear(support: Support) -> str:
    """The short answer where one candidate stands out, else nothing."""
    spans = support.spans
    if not spans or (len(spans) > 1 and spans[0].fit - spans[1].fit < _CLEAR_MARGIN):
        return ""
    return spans[0].words


def _distinct(claims: list[Claim]) -> list[Claim]:
    """The claims, each sentence quoted once."""
    unique: dict[tuple[int, str], Claim] = {}
    for claim in claims:
        unique.setdefault((claim.quotes[0].passage, claim.quotes[0].words), claim)
    return list(unique.values())


def _answer_directly(question: str, pool: SentencePool, *, nested: bool) -> DraftAnswer:
    """The best sentence; for why, how and what also those near it that say something more.

    Where the steps of a nested question led nowhere, one sentence must say all of it: most that
    come near speak of one step only.
    """
    analysed = pool.analyse(question)
    supports = pool.search(analysed)
    if not supports:
        return DraftAnswer(answerable=False, confidence=0.0)
    best = supports[0]
    if analysed.expected is Expected.REASON:
        best = max(supports[:_MOST_SENTENCES], key=lambda support: support.rank + tells_cause(support.sentence))
    partly = nested and best.covered < _SAYS_ALL
    confidence = min(best.probability, ANSWERED) * best.covered if partly else best.probability
    if analysed.expected is Expected.REASON:
        return _answer_reason(best, confidence)
    chosen = [best, *(_further(supports) if analysed.expected is Expected.TEXT and confidence >= ANSWERED else [])]
    claims = [_claim(support, _clear(support), question) for support in chosen]
    return DraftAnswer(answerable=True, claims=claims, confidence=confidence,
                       short=best.spans[0].words if best.spans else "")


def _answer_reason(best: Support, confidence: float) -> DraftAnswer:
    """The sentence with the cause, which may stand before or after the one that says what it caused."""
    cause, words = cause_near(best.sentence)
    quotes = list(dict.fromkeys((best.sentence.text, cause))) if cause else [best.sentence.text]
    claims = [Claim(text=" ".join(text.split()), quotes=[Quote(passage=best.sentence.passage + 1, words=text)])
              for text in reversed(quotes)]
    return DraftAnswer(answerable=True, claims=claims, confidence=confidence if cause else confidence * _NO_CAUSE,
                       short=words)


def _answer_polar(question: Question, pool: SentencePool) -> DraftAnswer:
    """Yes or no, by the sentence that speaks of all that the question says; else the sentence that answers it."""
    supports = pool.search(question)
    for support in supports:
        yes = verdict_on(question, support)
        if yes is not None:
            chinese = question.language == "zh"
            word = ("是" if chinese else "Yes") if yes else ("否" if chinese else "No")
            return DraftAnswer(answerable=True, claims=[_claim(support, word, question.text)], short=word,
                               confidence=max(ANSWERED, support.covered * support.named))
    claims = [_claim(support, "", question.text) for support in supports[:1]]
    return DraftAnswer(answerable=bool(claims), claims=claims, confidence=supports[0].probability if supports else 0.0)


def _further(supports: list[Support]) -> list[Support]:
    """Sentences nearly as likely as the first that add new words to those before them."""
    chosen: list[Support] = []
    seen = set(supports[0].sentence.words)
    for support in supports[1:]:
        new = support.sentence.words - seen
        if (support.probability >= max(ANSWERED, _WORTH_ADDING * supports[0].probability)
                and len(new) >= _NEW_WORDS * len(support.sentence.words)):
            chosen.append(support)
            seen |= support.sentence.words
        if len(chosen) == _MOST_SENTENCES - 1:
            break
    return chosen


def _overview(question: str, pool: SentencePool) -> DraftAnswer:
    """For questions about the whole: the nearest sentence of each of the first passages."""
    first: dict[int, Support] = {}
    for support in pool.search(pool.analyse(question)):
        first.setdefault(support.sentence.passage, support)
    chosen = [first[number] for number in sorted(first)][:_MOST_SENTENCES]
    if not chosen:
        return DraftAnswer(answerable=False, confidence=0.0)
    # What is summed up is there as far as its names are: no sentence says all of it.
    return DraftAnswer(answerable=True, claims=[_claim(support, "", question) for support in chosen],
                       confidence=chosen[0].named)


def _events(question: Question, pool: SentencePool) -> DraftAnswer | None:
    """What happened at a time: all sentences of that time, in the order of the passages; None for other questions."""
    wanted = months_named(question.text)
    if not wanted or not _HAPPENED.search(question.text):
        return None
    claims, told = list[Claim](), False
    for sentence in (told_of for told_of in pool.sentences if told_of.row is None):
        own = months_named(sentence.text)
        # What a dated sentence goes on with, up to the next date or line, is of its time.
        told = bool(overlap(wanted, own)) if own or sentence.starts_line else told
        if told:
            claims.append(Claim(text=" ".join(sentence.text.split()), quotes=[sentence.quote()]))
    claims = claims[:_MOST_EVENTS]
    return DraftAnswer(answerable=bool(claims), claims=claims, confidence=_SAYS_ALL if claims else 0.0)


def _sides(compared: Comparison, pool: SentencePool) -> list[_Hop]:
    return [_find(asked, "", pool, MOST_EMBEDDED // 2) for asked in compared.asked]


def _answer_comparison(compared: Comparison, pool: SentencePool) -> DraftAnswer:
    """Which side it is, with the sentence of each side; no answer where a side is missing."""
    hops = _sides(compared, pool)
    answered = [hop for hop in hops if hop.support is not None and hop.answer]
    verdict = _verdict(compared, hops) if len(answered) == len(hops) else ""
    confidence = min((hop.confidence for hop in hops), default=0.0)
    claims = [_claim(hop.support, hop.answer, hop.question) for hop in answered if hop.support is not None]
    if verdict:
        quotes = [quote for claim in claims for quote in claim.quotes]
        return DraftAnswer(answerable=True, claims=[Claim(text=verdict, quotes=quotes)], confidence=confidence,
                           short=re.split(r" ?[(（]", verdict, maxsplit=1)[0])
    return DraftAnswer(answerable=False, claims=claims, confidence=0.0)


def _verdict(compared: Comparison, hops: list[_Hop]) -> str:
    """The comparison's outcome in words with both values; empty where they cannot be compared."""
    answers = [hop.answer for hop in hops]
    chinese = language_of("".join(compared.sides)) == "zh"
    values = ("；" if chinese else "; ").join(
        f"{side}{'：' if chinese else ': '}{words}" for side, words in zip(compared.sides, answers, strict=True))
    if compared.wanted == "same":
        equal = normalise(answers[0]) == normalise(answers[1])
        return _yes_or_no(equal, values, chinese=chinese)
    date = compared.asked[0].startswith("When") or "哪一年" in compared.asked[0]
    left, right = (amount(hop.answer, date=date, normal=hop.normal) for hop in hops)
    if left is None or right is None or left[0] != right[0]:
        return ""
    ours, theirs = comparable(left[1], right[1])
    if ours == theirs:
        return ""
    first = (ours < theirs) == (compared.wanted in {"least", "before"})
    if compared.wanted in {"before", "after"}:
        return _yes_or_no(first, values, chinese=chinese)
    winner = compared.sides[0 if first else 1]
    return f"{winner}（{values}）" if chinese else f"{winner} ({values})"


def _yes_or_no(yes: bool, values: str, *, chinese: bool) -> str:
    if chinese:
        return f"{'是' if yes else '否'}（{values}）"
    return f"{'Yes' if yes else 'No'} ({values})"
