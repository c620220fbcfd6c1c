"""Questions over all rows of a table: which is the dearest, which of two is lighter, which or how many are red."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ....schemas.naming import canonical_name
from ....schemas.retrieval import Claim, DraftAnswer
from ....text.table_rows import Cell, Row
from ..content_words import content_words
from ..lexicon import words
from ..questions.answer_types import Expected, Question
from ..questions.names import mentions
from .evidence import SentencePool
from .measures import amount, asks_for_measure, comparable
from .rows import akin, column, header_says, named_in_row, number_of, value_under
from .sentences import Sentence

if TYPE_CHECKING:
    from spacy.tokens import Token

_LEAST = words("cheap light small short low few slow young early little near thin narrow")
_EARLIEST_WINS = {"old": True, "early": True, "soon": True, "long": True, "young": False, "new": False, "late": False,
                  "recent": False, "recently": False}
"""Of the words that compare by dates: whether the first date wins, as of what is oldest or has lasted longest."""
_BEGINNINGS = re.compile(r"\b(?:born|birth|built|made|founded|opened|established|launched|started?|since|from|joined|"
                         r"came|arrived|year)\b", re.IGNORECASE)
_AGES = words("old young long")
_LIGHT_VERBS = words("make have do give take get be")
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
    degree = _degree(question) if sides or question.expected is not Expected.POLAR else None
    tables = sorted(_tables(pool), key=lambda table: not _is_named_for(question, table))
    for table in tables if question.expected is not Expected.REASON else ():
        draft = _extreme(question, sides, table, degree) if degree else (
            _count(question, table) or _list(question, table))
        if draft is not None:
            return draft
    return None


def _tables(pool: SentencePool) -> list[_Table]:
    groups: dict[tuple[str, str], dict[tuple[Cell, ...], Sentence]] = {}
    for sentence in pool.sentences:
        if sentence.row is not None:
            group = groups.setdefault((sentence.title, sentence.row.cells[0].header), {})
            group.setdefault(sentence.row.cells, sentence)  # passages overlap
    return [_Table(title, tuple(rows.values())) for (title, _), rows in groups.items() if len(rows) > 1]


def _is_named_for(question: Question, table: _Table) -> bool:
    """Whether a table's document or first column is called what is asked for: 'Which animal' asks for animals."""
    first = table.rows[0].row
    called = f"{re.sub(r'[-_]', ' ', table.title)} {first.cells[0].header if first else ''}"
    return any(akin(word, other) for word in content_words(question.focus) for other in content_words(called))


class _Degree(NamedTuple):
    """What a question compares by: the word as it stands, its base form, whether the least wins, what it is said of."""

    word: str
    lemma: str
    least: bool
    noun: str = ""


def _degree(question: Question) -> _Degree | None:
    if question.parse is None:
        match = _CHINESE_DEGREE.search(question.text)
        return _Degree(match[0], match[0], bool(_LEAST_FORMS.search(match[0]))) if match else None
    if question.expected is Expected.NUMBER:
        return None
    # 'the five largest suppliers' says which table is meant; what asks is the predicate.
    for token in reversed(list(question.parse)):
        if token.tag_ in {"JJS", "JJR", "RBS", "RBR"} and not _is_condition(token):
            bare = token.lemma_ in {"most", "least", "more", "less", "many", "much"}
            word = token.head if bare and token.head.pos_ != "VERB" else token
            least = token.lemma_ in {"least", "less", "few"} or word.lemma_.lower() in _LEAST
            noun = word.head.text if word.dep_ == "amod" and word.lemma_.lower() not in _AGES else ""
            return _Degree(word.text, word.lemma_.lower(), least, noun)
    return None


def _is_condition(token: "Token") -> bool:
    """Whether a comparative is part of a condition ('if the wind is stronger than force 6'), which asks nothing."""
    return any(above.dep_ in {"advcl", "relcl", "ccomp"} for above in (token, *token.ancestors))


def _extreme(question: Question, sides: Sequence[str], table: _Table, degree: _Degree) -> DraftAnswer | None:
    rows = [sentence.row for sentence in table.rows if sentence.row is not None]
    keys = {canonical_name(row.cells[0].value) for row in rows}
    named = {canonical_name(name) for name in question.names} & keys
    wanted = {canonical_name(re.sub(r"^the ", "", side)) for side in sides} or (named if len(named) > 1 else set())
    chosen = _of_kind(question, table) if not wanted else [
        sentence for sentence in table.rows
        if sentence.row is not None and canonical_name(sentence.row.cells[0].value) in wanted]
    if len(chosen) < max(2, len(wanted)) or (not wanted and not _about(question, table)):
        return None
    value: Callable[[Cell], tuple[float, ...] | None] = _numbers_of
    header, least = column(question, rows, degree.word, degree.noun), degree.least
    if not header and degree.lemma in _EARLIEST_WINS:
        header, least, value = _date_column(rows, degree.lemma), _EARLIEST_WINS[degree.lemma], _day_of
    valued = [(found, sentence, cell) for sentence in chosen if sentence.row is not None
              and (cell := value_under(sentence.row, header)) is not None and (found := value(cell)) is not None]
    if len(valued) < 2:  # noqa: PLR2004 - one alone is not compared
        return None
    valued.sort(key=lambda item: item[0], reverse=not least)
    # Of a year and a day in it neither is known to be earlier: both are named.
    best = [item for item in valued if len(set(comparable(item[0], valued[0][0]))) == 1]
    winners = [sentence.row.cells[0].value for _, sentence, _ in best if sentence.row is not None]
    shown = "; ".join(f"{sentence.row.cells[0].value}: {cell.value}" for _, sentence, cell in valued[:_SHOWN]
                      if sentence.row is not None)
    short = ", ".join(winners)
    return DraftAnswer(answerable=True, confidence=_SURE, short=short, claims=[
        Claim(text=f"{short} ({header}: {shown})", quotes=[sentence.quote() for _, sentence, _ in valued[:_SHOWN]])])


def _of_kind(question: Question, table: _Table) -> list[Sentence]:
    """The rows that a comparison is among: with each value that the question says whole, as 'the oldest dog' does."""
    spoken = content_words(question.text)
    said = [{cell.header for cell in sentence.row.cells if (parts := content_words(cell.value))
             and all(any(akin(part, word) for word in spoken) for part in parts)} if sentence.row else set[str]()
            for sentence in table.rows]
    wanted = set[str]().union(*said)
    return [sentence for sentence, headers in zip(table.rows, said, strict=True) if headers == wanted]


def _date_column(rows: Sequence[Row], lemma: str) -> str:
    """The header of the dates that tell which row is oldest or newest; of several those that begin something."""
    headers = [header for header in dict.fromkeys(cell.header for row in rows for cell in row.cells)
               if all(_day_of(cell) is not None for row in rows if (cell := value_under(row, header)) is not None)]
    begin = [header for header in headers if _BEGINNINGS.search(header)]
    if lemma in _AGES or len(headers) > 1:
        headers = begin
    return headers[0] if headers else ""


def _day_of(cell: Cell) -> tuple[float, ...] | None:
    found = amount(cell.value, date=True)
    return found[1] if found else None


def _numbers_of(cell: Cell) -> tuple[float, ...] | None:
    number = number_of(cell)
    return None if number is None else (number,)


def _about(question: Question, table: _Table) -> bool:
    """Whether a table is about what the question asks of: a header, its title or the text above it says so."""
    first = table.rows[0]
    if any(mentions(first.title, name) for name in question.names):
        return True
    said = {*first.title_words, *content_words(first.passage_text[:1000]),
            *(word for cell in (first.row.cells if first.row else ()) for word in content_words(cell.header))}
    wanted = [word for word in (*content_words(question.focus), *question.words) if not word.isdigit()]
    return any(akin(word, other) for word in wanted for other in said)


def _has(row: Row, name: str) -> bool:
    """Whether a cell is a name, or says it in another form ('Italian' for Italy)."""
    return named_in_row(row, name) > 0 or any(akin(word, other) for word in content_words(name)[:1] if " " not in name
                                              for cell in row.cells for other in content_words(cell.value))


def _rows_that(question: Question, table: _Table) -> list[Sentence]:
    """The rows with a cell that the question says ('Italian'); none where it says more than that, or nothing of it.

    It may say several only where it asks for what the rows are by their header: else a single row would be counted.
    """
    headers = {word for sentence in table.rows for cell in (sentence.row.cells if sentence.row else ())
               for word in content_words(cell.header)}
    conditions = [word for word in question.words if not any(akin(word, header) for header in headers)]
    meeting = {word: [sentence for sentence in table.rows if sentence.row is not None and any(
        akin(word, other) for cell in sentence.row.cells for other in content_words(cell.value))]
        for word in conditions}
    meeting |= {name: [sentence for sentence in table.rows if sentence.row is not None and _has(sentence.row, name)]
                for name in question.names if not mentions(table.title, name)}
    kinds = [rows for rows in meeting.values() if rows]
    # Beside what the rows are ('productions') each word must be a header, a value or above them: else another thing
    # is asked for.
    above = {*table.rows[0].title_words, *content_words(re.sub(r"[-_]", " ", table.title))}
    others = [word for word, found in meeting.items() if not found and word not in above]
    asked = (*question.words, *content_words(question.focus))
    columned = any(akin(word, header) for word in asked for header in headers)
    keys = {word for sentence in table.rows[:1] for cell in (sentence.row.cells[:1] if sentence.row else ())
            for word in content_words(cell.header)}
    if len(others) > 1 or not columned or (len(kinds) > 1 and not any(
            akin(word, key) for word in asked for key in keys)):
        return []
    return [sentence for sentence in table.rows if kinds and all(sentence in rows for rows in kinds)]


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
    rows = _rows_that(question, table) or (list(table.rows) if _is_listed(question, table) else [])
    return _listed(_keys(rows, ", "), _keys(rows, ", "), rows) if rows else None


def _is_listed(question: Question, table: _Table) -> bool:
    """Whether all rows are what is asked for: the first header says it, and what stands above them says the rest."""
    first = table.rows[0]
    if first.row is None or not header_says(first.row._replace(cells=first.row.cells[:1]), question.focus):
        return False
    said = {*_LIGHT_VERBS, *first.title_words, *content_words(f"{first.before} {question.focus}")}
    return (bool(question.words or question.names) and said.issuperset(question.words)
            and all(mentions(first.title, name) for name in question.names))


def _keys(rows: Sequence[Sentence], joint: str) -> str:
    """What the rows are about."""
    return joint.join(sentence.row.cells[0].value for sentence in rows if sentence.row is not None)


def _listed(short: str, text: str, rows: Sequence[Sentence]) -> DraftAnswer:
    return DraftAnswer(answerable=True, confidence=_SURE, short=short, claims=[
        Claim(text=text, quotes=[sentence.quote() for sentence in rows])])
