"""The rules reasoner, the default: it quotes, with a stated short answer, and infers, counts and judges nothing."""

import math
import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ...runtime.threads import in_thread
from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema
from ...schemas.inquiry import Inquiry, Judgement
from ...schemas.resolution import EntityPair, PairVerdict
from ...schemas.retrieval import Claim, CommunityDigest, CommunitySummary, DraftAnswer, Passage, Quote, QuotedDraft
from ...text.lexicon import read_json
from ...text.scripts import phrase_language
from ...text.table_rows import DOCUMENT
from ..parsing.parser import Parser
from .finder import TRUSTED_LESS, Finder, named_documents, tier_of
from .question import Question, analyse, ask_back, condense
from .short_answers import is_asked_thing, short_answer
from .units import Unit, readable_row

if TYPE_CHECKING:
    from .reader import RulesReader

_NAME_KEYWORDS, _MOST_FACTS = 3, 8  # the most keywords in a community's name, and the most facts in its summary
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
_CHINESE_KINDS: dict[str, str] = read_json("kinds.json")["chinese"]
_UNNAMED = "Unnamed community"
_STATED = 0.9  # the confidence of a short answer
_COVERED_WEIGHT, _COVERED_CONSTANT = 2.18, -1.97
"""How likely quotes hold the answer: a logistic function of the share of the question's words that the best one covers,
as benchmarks/found_confidence.py fits it."""
_REPORT_LIMIT = 6
_NEARLY_AS_LIKELY = 0.8
"""A quote of a superseded or less trusted document is shown beside another one if its confidence is at least this
share of the other's, and before it if the other's is less than this share of its own."""


class RulesReasoner:
    """The `Reasoner` with patterns and word lists; it knows no facts itself, so all modes answer alike. Thread-safe."""

    fingerprint = "rules-35"
    """The version of the rules; it changes when they would extract something else."""
    resolves = False  # names and facts are resolved without it
    can_reason = False  # it finds and quotes, and draws no conclusions

    def __init__(self, parser: Parser | None = None) -> None:
        self._parser = parser or Parser()

    @cached_property
    def _extractor(self) -> "RulesReader":
        from .reader import RulesReader  # noqa: PLC0415  (questions need no extraction)

        return RulesReader(self._parser)

    def extract_together(self, requests: Sequence[ExtractionRequest], schema: GraphSchema) -> list[Extraction]:
        """Extract entities and facts of chunks; see `RulesReader.extract`."""
        return self._extractor.extract(requests, schema)

    async def extract(self, requests: Sequence[ExtractionRequest], schema: GraphSchema) -> list[Extraction]:
        """See `extract_together`."""
        return await in_thread(self.extract_together, requests, schema)

    def with_instructions(self, instructions: str) -> "RulesReasoner":
        """Return this reasoner unchanged: instructions for wording do not apply to quotes."""
        del instructions
        return self

    async def resolve(self, pairs: Sequence[EntityPair]) -> list[PairVerdict | None]:
        """Never merge: a wrong merge is worse than a missed one."""
        return [None] * len(pairs)

    async def summarise(self, communities: Sequence[CommunityDigest]) -> list[CommunitySummary]:
        """Name each community by the keywords that occur in most of its facts, and describe it by its first facts."""
        return await in_thread(lambda: list(map(_summarise, communities)))

    async def judge(self, inquiry: Inquiry) -> Judgement:
        """Answer from the evidence in all modes alike; see `answer`. It never looks further."""
        return Judgement(draft=await in_thread(self.answer, inquiry.question, list(inquiry.items())))

    def answer(self, question: str, passages: Sequence[Passage]) -> DraftAnswer:
        """Return the best quotes as claims, with the short answer if the passages state one.

        Openings and reports give an overview, rows the computed values or else their last cells, other passages quotes.
        """
        if passages and passages[0].kind in ("opening", "report"):
            return _draft_overview(passages)
        if not passages or passages[0].kind != "row":
            return self.find(question, passages)
        rows = [(number, item) for number, item in enumerate(passages, 1) if item.kind == "row"]
        computed = [item.cells[0] for _, item in rows if len(item.cells) == 1]  # a sum or count is a row of one cell
        last_cells = computed or [item.cells[-1] for _, item in rows if item.cells]
        answers = [cell for cell in last_cells if not is_asked_thing(question, cell)]
        claims = [Claim(text=item.statement, quotes=[Quote(item=number)]) for number, item in rows]
        confidence = _STATED if answers else _confidence_of_quotes(1.0)  # rows of what the question names are no answer
        short = "; ".join(dict.fromkeys(answers))
        return QuotedDraft(answerable=True, claims=claims, confidence=confidence, short=short)

    def find(self, question: str, passages: Sequence[Passage]) -> QuotedDraft:
        """Return the best quotes for a question as a draft; see `answer`."""
        analysed = analyse(question)
        if question_to_user := ask_back(analysed):
            return QuotedDraft(answerable=False, confidence=0.0, asks_back=question_to_user)
        named = named_documents(analysed, passages)
        draft = _draft_answer(analysed, Finder(passages, self._parser, named))
        tiers_below_best = sorted({*map(tier_of, passages)} - {0})
        for tier in tiers_below_best:
            draft = _with_quote_of_tier(draft, analysed, Finder(passages, self._parser, named, tier=tier))
        return draft

    async def condense(self, question: str, messages: Sequence[tuple[str, str]]) -> str:
        """Make a follow-up question self-contained; see `question.condense`."""
        return await in_thread(condense, question, messages, self._parser)


def _summarise(digest: CommunityDigest) -> CommunitySummary:
    """Return a name of a few keywords and the entities' type, and a summary of the first facts as sentences."""
    keywords, facts = _clean(digest.keywords), _clean(digest.statements)
    texts = [*keywords, *facts]
    is_chinese = 2 * sum(phrase_language(text) == "zh" for text in texts) > len(texts)  # a foreign name does not decide
    # The given order is by nearness to the community's centre. A keyword of many facts describes it better.
    by_frequency = sorted(keywords, key=lambda keyword: -sum(keyword in fact for fact in facts))[:_NAME_KEYWORDS]
    named_by = by_frequency or facts[:1]
    kind = _CAMEL.sub(" ", digest.kind).lower() if keywords else ""  # a fact as a name needs no type behind it
    if is_chinese:
        name = "、".join(named_by) + (f"（{_CHINESE_KINDS.get(kind, digest.kind)}）" if kind else "")
    else:
        name = ", ".join(named_by) + (f" ({kind})" if kind else "")
    name = name or _UNNAMED
    stop, space = ("。", "") if is_chinese else (".", " ")
    sentences = [fact if fact[-1] in ".!?。！？" else f"{fact}{stop}" for fact in facts[:_MOST_FACTS]]
    return CommunitySummary(name=name, summary=space.join(sentences) or name)


def _clean(texts: Sequence[str]) -> list[str]:
    """Collapse white space in each text, and omit empty texts and repeats."""
    return list(dict.fromkeys(filter(None, (" ".join(text.split()) for text in texts))))


def _draft_answer(question: Question, finder: Finder) -> QuotedDraft:
    """Return the draft for a question: a short answer with its quote, else quotes."""
    found = [item for item in finder.search(question) if not _is_unasked_metadata(question, item.unit, finder)]
    if not found:
        return QuotedDraft(answerable=False, confidence=0.0)
    if stated := short_answer(question, found, finder):
        short, unit = stated
        has_several_items = len(short) > len(unit.text)  # of a list, of which the unit is only one
        claim = _quote(unit, finder, whole=has_several_items or bool(unit.asked))
        return QuotedDraft(answerable=True, claims=[claim], confidence=_STATED, short=short)
    quotes = finder.quotes(found)
    return QuotedDraft(answerable=True, claims=[_quote(item.unit, finder) for item in quotes],
                       confidence=_confidence_of_quotes(max(item.covered for item in quotes)))


def _is_unasked_metadata(question: Question, unit: Unit, finder: Finder) -> bool:
    """Return True for a row of a document's metadata if the question names neither the document nor a field."""
    is_named = finder.passages[unit.passage - 1].document in finder.named
    if unit.row is None or unit.row.cells[0].header != DOCUMENT or is_named:
        return False
    asked = frozenset(question.words_of(question.asking))
    words_of_fields = [question.words_of(cell.header) for cell in unit.row.cells[1:]]
    return not any(words and asked.issuperset(words) for words in words_of_fields)


def _with_quote_of_tier(draft: QuotedDraft, question: Question, finder: Finder) -> QuotedDraft:
    """Return a draft from preferred documents, with the best quote of the finder's superseded or less trusted ones."""
    # The draft stays as it is if a preferred document says the same, or the quote is much less likely the answer. A
    # superseded document gives no short answer: what only it says may hold no longer.
    best = next(iter(finder.search(question)), None)
    preferred = [passage for passage in finder.passages if tier_of(passage) < finder.tier]
    if best is None or any(best.unit.text in passage.text for passage in preferred):
        return draft
    if finder.tier == TRUSTED_LESS:
        draft_of_tier = _draft_answer(question, finder)
        if _NEARLY_AS_LIKELY * draft_of_tier.confidence > draft.confidence:
            return draft_of_tier.model_copy(update={"claims": [*draft_of_tier.claims, *draft.claims]})
    quote, confidence = _quote(best.unit, finder, whole=False), _confidence_of_quotes(best.covered)
    if _NEARLY_AS_LIKELY * confidence > draft.confidence:
        return draft.model_copy(update={"answerable": True, "claims": [quote, *draft.claims], "confidence": confidence})
    # Beside a short answer the quote is always shown: it may say something else.
    if draft.short or confidence >= _NEARLY_AS_LIKELY * draft.confidence:
        return draft.model_copy(update={"claims": [*draft.claims[:1], quote, *draft.claims[1:]]})
    return draft


def _confidence_of_quotes(covered: float) -> float:
    """Return how often quotes that have a share of the question's words hold its answer."""
    return round(1 / (1 + math.exp(-_COVERED_WEIGHT * covered - _COVERED_CONSTANT)), 4)


def _quote(unit: Unit, finder: Finder, *, whole: bool = True) -> Claim:
    """Return a claim that quotes a unit: with the sentences around it if `whole`, or else alone."""
    quoted = finder.passages[unit.passage - 1].text[slice(*unit.quote())] if whole else unit.text
    return Claim(text=readable_row(unit.row) if unit.row else quoted, quotes=[Quote(item=unit.passage, words=quoted)])


def _draft_overview(items: Sequence[Passage]) -> DraftAnswer:
    """Return the documents' openings as claims. If there are none, use the facts of the first community reports."""
    stated = [(item.statement, number) for number, item in enumerate(items, 1) if item.kind == "opening"]
    if not stated:
        reports = [(number, item) for number, item in enumerate(items, 1) if item.kind == "report"]
        for number, item in reports[:_REPORT_LIMIT]:  # "name: fact; fact."
            name = item.statement.partition(". ")[0]
            # The line of a table's row is hard to read, unlike the fact that it states.
            sources = (place.member if place.text.lstrip().startswith("|") else place.text for place in item.places)
            facts = list(dict.fromkeys(" ".join(source.split()).rstrip(".。") for source in sources))
            is_chinese = phrase_language(name) == "zh"
            text = f"{name}：{'；'.join(facts)}。" if is_chinese else f"{name}: {'; '.join(facts)}."
            stated.append((text, number))
    claims = [Claim(text=text, quotes=[Quote(item=number, words=items[number - 1].text)]) for text, number in stated]
    return DraftAnswer(answerable=bool(claims), claims=claims, confidence=_STATED if claims else 0.0)
