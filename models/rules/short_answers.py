"""The short answer stated in passages: a list, a count, yes or no, or the only span of the expected kind."""

import re
from collections.abc import Iterator, Sequence

from ...schemas.naming import canonical_name, has_name
from ...text.lexicon import word_set
from ...text.quantities import kind_of
from ...text.table_rows import DOCUMENT, Cell, Row
from .chinese_statements import ChineseStatement
from .english_statements import AskedClause, EnglishStatement
from .finder import Finder, Found
from .question import AFTER_NUMBER, Question, foreign_forms
from .recognition.names import names_in
from .recognition.spans import VALUES
from .stated_forms import counted, listed, verdict
from .units import Unit

_NUMBERED = word_set("version number id code")
"""Nouns whose answers have a figure."""
_LEAST_COVERED = 0.55
"""The share of a question's words that a sentence must contain for its only span to be the answer."""
_LEAST_WORD_CERTAINTY = 0.4
"""The least certainty that the sentence, or an adjacent one, says each word of the question that is no name."""
_LIMITING_WORD = re.compile(
    r"\b(?:first|second|third|last|next|previous|former|before|after|earlier|later|until|only|new|old|acting|deputy|"
    r"\w{3,}est|(?:most|least) \w+|more|less|fewer|than)\b|"
    r"第[一二三四五]|首[次个任]|最[后初早晚近新大小高低多少]|上一|下一|前任|副|[主总](?=教练|裁判|编辑|编|设计|工程师|经理|监)",
    re.IGNORECASE)
"""Words that tell one of several things apart: a sentence without such a word of the question may be about another."""
_CHOICE = re.compile(r"\bor\b|还是|分别|\b(?:\w{3,}er|more|less|fewer) (?:\w+ ){0,3}than\b", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:no|not|cannot|nobody|none|never|nothing|neither|nor|without|unless|except)\b|"
                       r"n['’]t\b", re.IGNORECASE)
_UNITS_SEARCHED = 3  # the best sentences and rows
_LIST_LINK = re.compile(r"\s*+[,，、]\s*+(?:(?:and|&)\s++)?|\s++(?:and|&)\s++|[和与及]")
_QUALIFIER = re.compile(r"(?:\b(?:about|around|almost|nearly|under|at (?:least|most)|up to|(?:more|less|fewer) than|"
                        r"over|approximately|roughly|some|between) (?:the )?|"
                        r"\b(?:Mrs?|Ms|Miss|Dr|Prof|Sir|Lady|Lord|Captain)\.? |[约近超逾])\Z", re.IGNORECASE)
"""What belongs to a value that follows it: the words of a number that is not exact, a form of address."""
_QUALIFIER_LENGTH = 20
_DEFINITION = re.compile(r"(?P<subject>[^,.;:()\n]{2,50}?)\W+(?:is|are|was|were) (?:the|an?) (?P<role>[a-z-]+)\b")
_CHOOSING_VERB = re.compile(r"\b(?:picked|chosen|selected|elected|appointed|named|used)\b", re.IGNORECASE)


def short_answer(question: Question, found: Sequence[Found], finder: Finder) -> tuple[str, Unit] | None:
    """Return the words of the answer and the unit that states it, or None if the passages state no certain answer.

    `found` are the units, best first. A question that offers a choice ("X or Y") has no short answer.
    """
    if not found or _CHOICE.search(question.asking):
        return None
    best = found[0]
    if question.expected == "polar":
        stated = verdict(question, found, finder)
    else:
        stated = listed(question, found, finder) or counted(question, found)
    if stated is not None:
        unit = stated[1]
        text = f"{unit.heading} {unit.opening} {unit.text}"
        return stated if _names_all(question, text) else None
    if not question.has_form or best.unit.row is not None:
        return _from_row(question, found)
    asks_for_several = question.lists and question.expected != "number"  # one value does not answer this
    stated_values = [] if asks_for_several else list(_stated_values(question, found, finder))
    if not stated_values:
        return _from_definition(question, best.unit)
    value, unit = stated_values[0]
    differ = any(canonical_name(other) != canonical_name(value) for other, _ in stated_values)
    # The heading of a list asks for all of its items, such as "Organizers".
    is_item = bool(unit.items) and unit is not stated_values[-1][1]
    return None if differ or is_item else (value, unit)


def _stated_values(question: Question, found: Sequence[Found], finder: Finder) -> Iterator[tuple[str, Unit]]:
    """Yield the values of the expected kind that sentences state as the answer, the best sentence first."""
    asked = AskedClause(question, finder.parser.parse(question.asking)) if question.language == "en" else None
    of_named = [item for item in found if finder.passages[item.unit.passage - 1].document in finder.named]
    for item in (of_named or found)[:_UNITS_SEARCHED]:
        unit = item.unit
        if item.covered < _LEAST_COVERED or item.least_certain_word < _LEAST_WORD_CERTAINTY or unit.row:
            continue
        if not _is_about(question, unit):
            continue
        if asked and (statement := EnglishStatement(asked, finder.parser.parse(unit.text))).has_clause:
            places = statement.stated([(span.start, span.end) for span in item.spans])
        elif question.language == "zh":
            spoken, every = ChineseStatement(question, unit.text), [(span.start, span.end) for span in item.spans]
            places = [place for place in every if spoken.states(*place, every)]
        else:
            negated = foreign_forms().get(question.language, {}).get("negated", _NEGATION)
            is_denied = negated.search(unit.text) and not negated.search(question.text)
            places = [] if is_denied or len(item.spans) > 1 else [(span.start, span.end) for span in item.spans]
        yield from ((_shown(unit.text, *place), unit) for place in _join_lists(unit.text, places)
                    if _may_answer(question, unit.text, *place))


def _join_lists(text: str, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return places of values with those joined that are a list: "Ada Blum and Karl Brandt"."""
    joined = list[tuple[int, int]]()
    for start, end in places:
        if joined and _LIST_LINK.fullmatch(text, joined[-1][1], start):
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _shown(text: str, start: int, end: int) -> str:
    """Return a value as it is shown, with the word before it that belongs to it."""
    qualifier = _QUALIFIER.search(text, max(0, start - _QUALIFIER_LENGTH), start)
    return " ".join(text[qualifier.start() if qualifier else start:end].split())


def _may_answer(question: Question, text: str, start: int, end: int) -> bool:
    value = text[start:end]
    if question.focus in _NUMBERED and not any(map(str.isdigit, value)):
        return False
    return question.expected != "number" or question.is_answered_by(value, text[end:end + AFTER_NUMBER])


def _is_about(question: Question, unit: Unit) -> bool:
    """Return True if a sentence is about what the question asks."""
    text = f"{unit.heading} {unit.text}"
    if not _figures(question.asking) <= _figures(text):
        return False
    # The sentence before may name what this one goes on about.
    if not _has_limits(question, text) or not _names_all(question, f"{unit.before} {text}"):
        return False
    return _names_all(question, unit.text) or not _opens_with_name(unit)


def _opens_with_name(unit: Unit) -> bool:
    """Return True if a sentence begins with a name ("Harding died"), and thus is not about the heading's subject."""
    opening = next(iter(names_in(unit.text)), "")
    return unit.text.startswith(opening or " ") and re.search(
        rf"[\w,;’'] {re.escape(opening)}\b", unit.source) is not None and not has_name(unit.heading, opening)


def _has_limits(question: Question, text: str) -> bool:
    """Return True if a text has each limiting word of the question, such as "first" or "deputy"."""
    text_words = set(question.words_of(text)) | {word.lower() for word in _LIMITING_WORD.findall(text)}

    def is_in_text(word: str) -> bool:
        content = question.words_of(word)
        return word.lower() in text_words or (bool(content) and text_words.issuperset(content))

    return all(map(is_in_text, _LIMITING_WORD.findall(question.asking)))


def _names_all(question: Question, text: str) -> bool:
    """Return True if a text contains the question's names."""
    return all(_has_name(text, name, name.split()[-1]) for name in question.names)


def _has_name(text: str, name: str, short: str) -> bool:
    """Return True if a text has a name or its short form; a name with "of" ("University of Oslo") has no short form."""
    return has_name(text, name) or (" of " not in name and has_name(text, short))


def _from_definition(question: Question, unit: Unit) -> tuple[str, Unit] | None:
    """Return the subject of a definition as the answer, or None."""
    match, focus_words = _DEFINITION.match(unit.text), frozenset(question.words_of(question.focus))
    if match is None or not focus_words or not _is_about(question, unit):
        return None
    asked = frozenset(question.words_of(_CHOOSING_VERB.sub(" ", question.asking))) - focus_words
    subject = " ".join(match["subject"].split())
    asks_for_role = asked.issuperset(question.words_of(match["role"]))
    is_covered = asked.issubset(question.words_of(unit.text))
    is_answer = asks_for_role and is_covered and asked.isdisjoint(question.words_of(subject))
    return (subject, unit) if is_answer else None


def _figures(text: str) -> set[str]:
    return {figure.lstrip("0") for figure in re.findall(r"\d+", text)}


def _from_row(question: Question, found: Sequence[Found]) -> tuple[str, Unit] | None:
    """Return the cell that a question asks for, or None if another row of its table answers too.

    A numbered row has no name by which a question could mean it, so it is one of many that may answer.
    """
    searched = found[:1] if question.has_form else found[:_UNITS_SEARCHED]
    unit, cell = next(((item.unit, cell) for item in searched
                       if item.unit.row and (cell := _asked_cell(question, item.unit.row))), (found[0].unit, None))
    row, text = unit.row, f"{unit.heading} {unit.text}"
    if row is None or cell is None or row.is_numbered or _NEGATION.search(question.asking):
        return None
    if not (_figures(question.asking) <= _figures(text) and _has_limits(question, text) and _names_all(question, text)):
        return None
    # The rows of documents' metadata are one table, although each is under its own title.
    table = [item.unit.row for item in found if item.unit.row and (
        item.unit.heading == unit.heading or row.cells[0].header == DOCUMENT)]
    shared = _shared_words(question, row)
    rivals = [other for other in table if other.cells[0].header == row.cells[0].header and cell not in other.cells
              and _shared_words(question, other) >= shared
              and (other.cells[0] != row.cells[0] or cell.header in [one.header for one in other.cells])]
    return (cell.value, unit) if shared and not rivals else None


def _asked_cell(question: Question, row: Row) -> Cell | None:
    """Return the only cell of the expected kind whose header the question names; None if there are several.

    A question for no kind names the header of a cell: "What is the status of X?"
    """
    asked, focus = frozenset(question.words_of(question.text)), frozenset(question.words_of(question.focus))
    if not question.has_form:
        headers = {cell: frozenset(question.words_of(cell.header)) for cell in row.cells[1:]}
        return next((cell for cell, words in headers.items() if focus and focus <= words <= asked), None)
    if row.cells[0].header == DOCUMENT:
        return None
    fitting = [cell for cell in row.cells if _fits(question, cell) and not asked.issuperset(
        question.words_of(cell.value) or [cell.value])]
    named = [cell for cell in fitting if asked.intersection(question.words_of(cell.header))]
    return named[0] if len(named) == 1 and not question.lists else None


def _fits(question: Question, cell: Cell) -> bool:
    """Return True if a cell's value can be an answer of the expected kind: a number, a date, or else words."""
    has_digits = any(map(str.isdigit, cell.value))
    return has_digits if question.expected in VALUES else kind_of(cell.value) == "text" and (
        question.expected == "name" or not has_digits)


def _shared_words(question: Question, row: Row) -> frozenset[str]:
    asked = frozenset(question.words_of(question.text))
    return frozenset(word for cell in row.cells for word in question.words_of(cell.value) if word in asked)
