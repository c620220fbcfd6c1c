"""Extractive answers: the best quotes, with the short answer if the passages state one.

Nothing is inferred, counted or judged.
"""

from collections.abc import Iterator, Sequence

from ...schemas.retrieval import Claim, DraftAnswer, Passage, Quote, QuotedDraft
from ...text.languages import phrase_language
from ..parsing.parser import Parser
from .finder import Finder, named_documents
from .question import Question, analyse
from .short_answers import asked_cell, is_unasked, short_answer
from .table_columns import find_extreme
from .units import Unit, readable_row

STATED, QUOTED = 0.9, 0.6
"""The confidence of a short answer, and of quotes that cover a question without a short answer."""
_LEAST_COVERED = 0.5
"""The share of a question's words from which the best quote answers a question such as 'why' or 'how'."""
_REPORT_LIMIT = 6
_NAME_END = ". "
_HIGHEST_OF_QUOTES = 0.49
"""The most confidence in quotes alone if a short answer is expected: below the default abstention threshold."""


class Answers:
    """The answers to questions from contexts. Safe for threads."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser

    def answer(self, question: str, passages: Sequence[Passage]) -> DraftAnswer:
        """Return the best quotes as claims, with the short answer if the passages state one.

        Openings and reports give an overview, rows of a table give the rows, and other passages give quotes.
        """
        if passages and passages[0].kind in ("opening", "report"):
            return _draft_overview(passages)
        if passages and passages[0].kind == "row":
            return _draft_rows(passages)
        return self.find(question, passages)

    def find(self, question: str, passages: Sequence[Passage]) -> QuotedDraft:
        """Return the best quotes for a question as a draft; see `answer`."""
        analysed = analyse(question)
        return _draft_answer(analysed, Finder(passages, self._parser, named_documents(analysed, passages)))


def _draft_answer(question: Question, finder: Finder) -> QuotedDraft:
    """Return the draft for a question: a superlative over a table, else a short answer with its quote, else quotes."""
    found = [item for item in finder.search(question) if not is_unasked(question, item.unit.row)]
    if not found:
        return QuotedDraft(answerable=False, confidence=0.0)
    extreme = find_extreme(question, finder.units, finder.passages)
    if extreme is not None:
        winners, comparison, units = extreme
        claims = [_claim(unit, readable_row(unit.row) if unit.row else unit.text, unit.text) for unit in units]
        claims[0] = Claim(text=comparison, quotes=claims[0].quotes)
        return QuotedDraft(answerable=True, claims=claims, confidence=STATED, short=winners)
    if stated := short_answer(question, found, finder):
        short, unit = stated
        has_several_items = len(short) > len(unit.text)  # of a list, of which the unit is only one
        answers_listed_question = bool(unit.asked)
        claim = _quote(question, unit, finder, whole=has_several_items or answers_listed_question)
        return QuotedDraft(answerable=True, claims=[claim], confidence=STATED, short=short)
    claims = [_quote(question, item.unit, finder) for item in finder.quotes(found)]
    covered = found[0].covered
    quote_suffices = not question.has_form and covered >= _LEAST_COVERED
    confidence = QUOTED if quote_suffices else round(covered * _HIGHEST_OF_QUOTES, 4)
    return QuotedDraft(answerable=True, claims=claims, confidence=confidence)


def _draft_rows(items: Sequence[Passage]) -> QuotedDraft:
    """Return a claim for each row, and a short answer from the rows' cells."""
    rows = [(number, item) for number, item in enumerate(items, 1) if item.kind == "row"]
    computed = [item for _, item in rows if len(item.cells) == 1]
    answering = computed or [item for _, item in rows]
    answers = [item.cells[-1] for item in answering if item.cells]
    claims = [Claim(text=item.statement, quotes=[Quote(item=number)]) for number, item in rows]
    return QuotedDraft(answerable=True, claims=claims, confidence=STATED, short="; ".join(dict.fromkeys(answers)))


def _quote(question: Question, unit: Unit, finder: Finder, *, whole: bool = True) -> Claim:
    """Return a claim that quotes a unit, with the sentences around it if `whole`."""
    quoted = finder.passages[unit.passage - 1].text[slice(*unit.quote)] if whole else unit.text
    if unit.row:
        return _claim(unit, asked_cell(question, unit.row) or readable_row(unit.row), quoted)
    return _claim(unit, quoted, quoted)


def _claim(unit: Unit, text: str, words: str) -> Claim:
    return Claim(text=text, quotes=[Quote(item=unit.passage, words=words)])


def _draft_overview(items: Sequence[Passage]) -> DraftAnswer:
    """Return the documents' openings as claims. If there are none, use the facts of the first community reports."""
    openings = [(item.statement, number) for number, item in enumerate(items, 1) if item.kind == "opening"]
    stated = openings or list(_reports(items))[:_REPORT_LIMIT]
    claims = [Claim(text=text, quotes=[Quote(item=number, words=items[number - 1].text)]) for text, number in stated]
    return DraftAnswer(answerable=bool(claims), claims=claims, confidence=STATED if claims else 0.0)


def _reports(items: Sequence[Passage]) -> Iterator[tuple[str, int]]:
    """Yield "name: fact; fact." for each report, with the facts that support it, and the report's number."""
    for number, item in enumerate(items, 1):
        if item.kind == "report":
            name = item.statement.partition(_NAME_END)[0]
            sources = (place.member if place.text.lstrip().startswith("|") else place.text for place in item.places)
            facts = list(dict.fromkeys(" ".join(source.split()).rstrip(".。") for source in sources))
            is_chinese = phrase_language(name) == "zh"
            yield (f"{name}：{'；'.join(facts)}。" if is_chinese else f"{name}: {'; '.join(facts)}."), number
