"""Questions over all rows of a table: which is the dearest, which of two is lighter, which or how many are red."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....schemas.naming import canonical_name
from ....schemas.retrieval import Claim, DraftAnswer
from ....text.table_rows import Row
from ..content_words import content_words
from ..lexicon import words
from ..questions.answer_types import Expected, Question
from .evidence import SentencePool
from .measures import asks_for_measure
from .rows import akin, column, named_in_row, number_of, value_under
from .sentences import Sentence

if TYPE_CHECKING:
    from spacy.tokens import Token

_LEAST = words("cheap light small short low few slow young early little near thin narrow")
_LEAST_FORMS = re.compile(r"[最更](?:低|小|少|轻|短|便宜|早)")
_CHINESE_DEGREE = re.compile(r"[最更](高|低|大|小|多|少|轻|重|长|短|贵|便宜|早|晚)")
_COUNTING = re.compile(r"^how many of\b|^how many\b|有几|有多少[个家种款名]", re.IGNORECASE)
_SURE = 0.9
_SHOWN = 5


@dataclass(frozen=True)
class _Table:
    """Rows of one document under the same first header."""

    title: str
    rows: tuple[Sentence, ...]


def answer_from_table(question: Question, sides: Sequence[str], pool: SentencePool) -> DraftAnswer | None:
    """The answer of a comparison, superlative, list or count over the rows of a table; None where it is none of these.

    Args:
        question: the question taken apart.
        sides: what it compares, where it names that.
        pool: the sentences of the passages, rows among them.

    Returns:
        A claim that names the winner or the number with the values compared, and quotes their rows.
    """
    for table in _tables(pool) if question.expected is not Expected.REASON else ():
        degree = _degree(question) if sides or question.expected is not Expected.POLAR else None
        draft = _extreme(question, sides, table, *degree) if degree else (
            _count(question, table) or _list(question, table))
        if draft is not None:
            return draft
    return None


def _tables(pool: SentencePool) -> list[_Table]:
    groups: dict[tuple[str, str], list[Sentence]] = {}
    for sentence in pool.sentences:
        if sentence.row is not None:
            groups.setdefault((sentence.title, sentence.row.cells[0].header), []).append(sentence)
    return [_Table(title, tuple(rows)) for (title, _), rows in groups.items() if len(rows) > 1]


def _degree(question: Question) -> tuple[str, bool] | None:
    """The word that a question compares by and whether the least wins."""
    if question.parse is None:
        match = _CHINESE_DEGREE.search(question.text)
        return (match[0], bool(_LEAST_FORMS.search(match[0]))) if match else None
    if question.expected is Expected.NUMBER:
        return None
    # 'the five largest suppliers' says which table is meant; what asks is the predicate.
    for token in reversed(list(question.parse)):
        if token.tag_ in {"JJS", "JJR", "RBS", "RBR"} and not _is_condition(token):
            bare = token.lemma_ in {"most", "least", "more", "less", "many", "much"}
            word = token.head if bare and token.head.pos_ != "VERB" else token
            least = token.lemma_ in {"least", "less", "few"} or word.lemma_.lower() in _LEAST
            return word.text, least
    return None


def _is_condition(token: "Token") -> bool:
    """Whether a comparative is part of a condition ('if the wind is stronger than force 6'), which asks nothing."""
    return any(above.dep_ in {"advcl", "relcl", "ccomp"} for above in (token, *token.ancestors))


def _extreme(question: Question, sides: Sequence[str], table: _Table, word: str,
             least: bool) -> DraftAnswer | None:
    rows = [sentence.row for sentence in table.rows if sentence.row is not None]
    wanted = {canonical_name(re.sub(r"^the ", "", side)) for side in sides}
    chosen = [sentence for sentence in table.rows if not wanted or (
        sentence.row is not None and canonical_name(sentence.row.cells[0].value) in wanted)]
    header = column(question, rows, word)
    if not header or len(chosen) < max(2, len(wanted)) or (not wanted and not _about(question, table)):
        return None
    valued = [(number, sentence, cell) for sentence in chosen if sentence.row is not None
              and (cell := value_under(sentence.row, header)) is not None and (number := number_of(cell)) is not None]
    if len(valued) < 2:  # noqa: PLR2004 - one alone is not compared
        return None
    valued.sort(key=lambda item: item[0] if least else -item[0])
    best = [item for item in valued if item[0] == valued[0][0]]
    winners = [sentence.row.cells[0].value for _, sentence, _ in best if sentence.row is not None]
    shown = "; ".join(f"{sentence.row.cells[0].value}: {cell.value}" for _, sentence, cell in valued[:_SHOWN]
                      if sentence.row is not None)
    short = ", ".join(winners)
    return DraftAnswer(answerable=True, confidence=_SURE, short=short, claims=[
        Claim(text=f"{short} ({header}: {shown})", quotes=[sentence.quote() for _, sentence, _ in valued[:_SHOWN]])])


def _about(question: Question, table: _Table) -> bool:
    """Whether a table is about what the question asks of: a header, its title or the text above it says so."""
    first = table.rows[0]
    said = {*first.title_words, *content_words(first.passage_text[:1000]),
            *(word for cell in (first.row.cells if first.row else ()) for word in content_words(cell.header))}
    wanted = [word for word in (*content_words(question.focus), *question.words) if not word.isdigit()]
    return any(akin(word, other) for word in wanted for other in said)


def _has(row: Row, name: str) -> bool:
    """Whether a cell is a name, or says it in another form ('Italian' for Italy)."""
    return named_in_row(row, name) > 0 or any(akin(word, other) for word in content_words(name)[:1] if " " not in name
                                              for cell in row.cells for other in content_words(cell.value))


def _rows_that(question: Question, table: _Table) -> list[Sentence]:
    """The rows with a cell that the question says ('Italian'); none where it says more than that, or nothing of it."""
    headers = {word for sentence in table.rows for cell in (sentence.row.cells if sentence.row else ())
               for word in content_words(cell.header)}
    conditions = [word for word in question.words if not any(akin(word, header) for header in headers)]
    meeting = {word: [sentence for sentence in table.rows if sentence.row is not None and any(
        akin(word, other) for cell in sentence.row.cells for other in content_words(cell.value))]
        for word in conditions}
    meeting |= {name: [sentence for sentence in table.rows if sentence.row is not None and _has(sentence.row, name)]
                for name in question.names}
    kinds = {word: rows for word, rows in meeting.items() if rows}
    # Beside what the rows are ('productions') each word must be a header, a value or above them: else another thing
    # is asked for.
    others = [word for word, found in meeting.items() if not found and word not in table.rows[0].title_words]
    asked = (*question.words, *content_words(question.focus))
    columned = any(akin(word, header) for word in asked for header in headers)
    return next(iter(kinds.values())) if len(others) <= 1 and len(kinds) == 1 and columned else []


def _count(question: Question, table: _Table) -> DraftAnswer | None:
    """How many rows have a cell that the question says: 'How many suppliers are Italian?'."""
    if question.expected is not Expected.NUMBER or not _COUNTING.search(question.text) or not _about(
            question, table) or asks_for_measure(question) or _is_column(question, table):
        return None
    rows = _rows_that(question, table)
    return _listed(str(len(rows)), f"{len(rows)} ({_keys(rows, '; ')})", rows) if rows else None


def _is_column(question: Question, table: _Table) -> bool:
    """Whether a table has numbers of what is counted: 'How many cars can the Heron carry?' asks for one of them."""
    numbers = {cell.header for sentence in table.rows for cell in (sentence.row.cells if sentence.row else ())
               if number_of(cell) is not None}
    counted = question.words[:1]
    return any(akin(word, header) for word in counted for name in numbers for header in content_words(name))


def _list(question: Question, table: _Table) -> DraftAnswer | None:
    """Which rows have a cell that the question says: 'Which instruments are on board the Petrel?'."""
    several = any(token.tag_ == "NNS" and token.lower_ == question.focus for token in question.parse or ())
    if not several or question.expected is Expected.DATE or not _about(question, table):
        return None
    rows = _rows_that(question, table)
    return _listed(_keys(rows, ", "), _keys(rows, ", "), rows) if rows else None


def _keys(rows: Sequence[Sentence], joint: str) -> str:
    """What the rows are about."""
    return joint.join(sentence.row.cells[0].value for sentence in rows if sentence.row is not None)


def _listed(short: str, text: str, rows: Sequence[Sentence]) -> DraftAnswer:
    return DraftAnswer(answerable=True, confidence=_SURE, short=short, claims=[
        Claim(text=text, quotes=[sentence.quote() for sentence in rows])])
