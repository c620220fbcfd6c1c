"""Extractive answers: the best quotes, with the short answer if the passages state one.

Nothing is inferred, counted or judged.
"""

from collections.abc import Iterator, Sequence

from ...schemas.retrieval import Claim, DraftAnswer, Passage, Place, Quote, QuotedDraft
from ...text.content_words import language_of
from ..parsing.parser import Parser
from .finder import Finder, named_documents
from .question import Question, analyse
from .short_answers import asked_cell, is_unasked, short_answer
from .table_columns import find_extreme
from .units import Unit, readable_row

STATED, QUOTED = 0.9, 0.6
"""The confidence of a short answer, and of quotes that cover a question without a short answer."""
_COVERED = 0.5
"""The share of a question's words from which the best quote answers a question such as 'why' or 'how'."""
_MOST_REPORTS = 6
_NAME_END = ". "
_UNSTATED = 0.49
"""The most confidence in quotes alone if a short answer is expected: below the default abstention threshold."""


class Answers:
    """The answers to questions from contexts. Safe for threads."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser

    def answer(self, question: str, passages: Sequence[Passage]) -> DraftAnswer:
        """Return the best quotes as claims, with the short answer if the passages state one.

        Returns:
            A draft of quotes; an overview where the context begins with reports. The confidence is `STATED` with a
            short answer, and `QUOTED` if the first quote covers most of a question without one (why, how). Otherwise
            it is the covered share of the question, below one half.
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
    """Return the draft for one question that is searched as a whole."""
    found = [item for item in finder.search(question) if not is_unasked(question, item.unit.row)]
    if not found:
        return QuotedDraft(answerable=False, confidence=0.0)
    extreme = find_extreme(question, finder.units, finder.passages)
    if extreme is not None:
        words, line, units = extreme
        claims = [_claim(unit, readable_row(unit.row) if unit.row else unit.text, unit.text) for unit in units]
        claims[0] = Claim(text=line, quotes=claims[0].quotes)
        return QuotedDraft(answerable=True, claims=claims, confidence=STATED, short=words)
    if stated := short_answer(question, found, finder):
        short, unit = stated
        # A list is quoted whole, and an answer with its question.
        claim = _quote(question, unit, finder, whole=len(short) > len(unit.text) or bool(unit.asked))
        return QuotedDraft(answerable=True, claims=[claim], confidence=STATED, short=short)
    claims = [_quote(question, item.unit, finder) for item in finder.quotes(found)]
    covered = found[0].covered
    answers = not question.has_form and covered >= _COVERED
    return QuotedDraft(answerable=True, claims=claims,
                       confidence=QUOTED if answers else round(covered * _UNSTATED, 4))


def _draft_rows(items: Sequence[Passage]) -> QuotedDraft:
    """Return the rows that a question asks for: what was computed of them is the short answer, else their names.

    Rows without cells only support it.
    """
    rows = [(number, item) for number, item in enumerate(items, 1) if item.kind == "row"]
    computed = [item for _, item in rows if len(item.cells) == 1]
    stated = [item.cells[-1] for item in computed or (item for _, item in rows) if item.cells]
    claims = [Claim(text=item.statement, quotes=[Quote(item=number)]) for number, item in rows]
    return QuotedDraft(answerable=True, claims=claims, confidence=STATED, short="; ".join(dict.fromkeys(stated)))


def _quote(question: Question, unit: Unit, finder: Finder, *, whole: bool = True) -> Claim:
    """Return the quote of a unit, with its surroundings if it is to be `whole`; of a row what the question asks for."""
    words = finder.passages[unit.passage - 1].text[slice(*unit.quote)] if whole else unit.text
    return _claim(unit, asked_cell(question, unit.row) or readable_row(unit.row) if unit.row else words, words)


def _claim(unit: Unit, text: str, words: str) -> Claim:
    return Claim(text=text, quotes=[Quote(item=unit.passage, words=words)])


def _draft_overview(items: Sequence[Passage]) -> DraftAnswer:
    """Return the openings of the documents as claims if there are any, else the facts behind the reports."""
    openings = [(item.statement, number) for number, item in enumerate(items, 1) if item.kind == "opening"]
    claims = [Claim(text=text, quotes=[Quote(item=number, words=items[number - 1].text)])
              for text, number in openings or list(_reports(items))[:_MOST_REPORTS]]
    return DraftAnswer(answerable=bool(claims), claims=claims, confidence=STATED if claims else 0.0)


def _reports(items: Sequence[Passage]) -> Iterator[tuple[str, int]]:
    """Yield each report's name with the facts that it rests on, and its number."""
    for number, item in enumerate(items, 1):
        if item.kind == "report":
            name = item.statement.partition(_NAME_END)[0]
            facts = list(dict.fromkeys(map(_readable, item.places)))
            is_chinese = language_of(name) == "zh"
            yield (f"{name}：{'；'.join(facts)}。" if is_chinese else f"{name}: {'; '.join(facts)}."), number


def _readable(place: Place) -> str:
    """Return a fact in its source's words; of a row of a table, which says more, what it tells."""
    words = place.member if place.text.lstrip().startswith("|") else place.text
    return " ".join(words.split()).rstrip(".。")
