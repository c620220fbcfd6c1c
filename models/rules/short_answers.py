"""The short answer stated in passages: a list, a count, yes or no, or the only span of the expected kind."""

import re
from collections.abc import Sequence

from ...schemas.naming import canonical_name, has_name
from ...text.lexicon import word_set
from ...text.quantities import kind_of
from ...text.table_rows import DOCUMENT, Cell, Row
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
                       r"n['’]t\b|不(?!得?(?:超过|[少低高晚早多迟]于|满|足)|[仅但断同])|[没未无非]", re.IGNORECASE)
_UNITS_SEARCHED = 3  # the best sentences and rows
_BOUND_MARK = re.compile(r"\s?(?:年|月|日)?[之以]?[前后]")
"""What follows a date that is only the bound of a period (到2020前, "before 2020")."""
# "mill" in "the mill's owner", ", and" between names, and "A bear is the mascot".
_OWNER = re.compile(r"(?<![\w-])[\w-]++(?=['’]s\b)")
_LIST_LINK = re.compile(r"\s*+[,，、]\s*+(?:(?:and|&)\s++)?|\s++(?:and|&)\s++|[和与及]")
_DEFINITION = re.compile(r"(?P<subject>[^,.;:()\n]{2,50}?)\W+(?:is|are|was|were) (?:the|an?) (?P<role>[a-z-]+)\b")
_CHOOSING_VERB = re.compile(r"\b(?:picked|chosen|selected|elected|appointed|named|used)\b", re.IGNORECASE)
_QUESTION_PREPOSITION = re.compile(r"(on|in|at|from|to|by|for|with|under|near|through|into) (?:which|what|whom)\b",
                                   re.IGNORECASE)


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
    stated = _from_span(question, best)
    others = [(item, one) for item in found[1:_UNITS_SEARCHED]
              if stated and (one := _from_span(question, item))]
    if stated and any(unit.text == stated[1].text.replace(stated[0], said) != stated[1].text
                      for _, (said, unit) in others):
        return None  # two documents state different values in the same words
    of_same_list = [item for item, _ in others if best.unit.items and item.unit.items == best.unit.items]
    if any(item.least_certain_word >= best.least_certain_word for item in of_same_list):
        return None  # the heading of a list asks for all of its items, such as "Organizers"
    return stated or _from_definition(question, best.unit)


def _from_span(question: Question, best: Found) -> tuple[str, Unit] | None:
    """Return the only span of the expected kind in the best sentence, or None if it is not certainly the answer."""
    unit = best.unit
    if best.covered < _LEAST_COVERED or best.least_certain_word < _LEAST_WORD_CERTAINTY:
        return None
    if question.lists and question.expected != "number":
        return None  # one value does not answer a question for several
    if not _is_about(question, unit):
        return None
    values = _distinct_values(question, best)
    if len(values) != 1:
        return None
    (value,) = values
    if question.focus in _NUMBERED and not any(map(str.isdigit, value)):
        return None
    start = unit.text.index(value)
    end = start + len(value)
    is_answer = (question.is_answered_by(value, unit.text[end:end + AFTER_NUMBER]) if question.expected == "number"
                 else _may_belong_to_names(question, unit, start, len(value)))
    return (" ".join(value.split()), unit) if is_answer else None


def _distinct_values(question: Question, best: Found) -> list[str]:
    """Return the distinct values of the expected kind in a sentence; names joined by 'and' are one value."""
    text, value_places = best.unit.text, list[tuple[int, int]]()
    asks_for_name = question.expected not in VALUES
    apposition = rf", (?:an?|the) [^,.;]{{0,80}}\b{re.escape(question.focus)}\b"  # ", a company" for "company"
    described = re.match(rf"([^,.;:()\n]{{2,50}}){apposition}", text, re.IGNORECASE)
    if question.focus and asks_for_name and described:
        return [described[1]]
    for span in best.spans:
        if value_places and asks_for_name and _LIST_LINK.fullmatch(text, value_places[-1][1], span.start):
            value_places[-1] = value_places[-1][0], span.end
        else:
            value_places.append((span.start, span.end))
    if len(value_places) > 1 and (match := _QUESTION_PREPOSITION.match(question.text)):
        preposition = re.compile(rf"\b{match[1]} (?:(?:the|an?) )?$", re.IGNORECASE)
        value_places = [place for place in value_places if preposition.search(text, 0, place[0])] or value_places
    if len(value_places) > 1 and question.language == "zh":
        value_places = _in_asked_clause(question, text, value_places)
    return list({canonical_name(text[start:end]): text[start:end] for start, end in value_places}.values())


def _in_asked_clause(question: Question, text: str, values: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return those values (start, end) that are in the clause of a Chinese sentence that covers the question best."""
    # Later words weigh more: the predicate stands at the end of a question, and says more than its subject.
    weights = {word: position for position, word in enumerate(question.words_of(question.asking), 1)
               if word not in _words_of_names(question)}

    def weigh(clause: tuple[int, int]) -> int:
        clause_words = frozenset(question.words_of(text[slice(*clause)]))
        return sum(weights[word] for word in weights.keys() & clause_words)

    clause_start, clause_end = max(_clauses(text, values), key=weigh)
    in_clause = [value for value in values if clause_start <= value[0] < clause_end]
    return [value for value in in_clause if not _BOUND_MARK.match(text, value[1])] or in_clause or values


def _clauses(text: str, values: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    clauses: list[tuple[int, int]] = []
    value_start = -1  # of a value that waits for its clause; -1 if there is none
    for match in re.finditer(r"[^\s，,；;。：:][^，,；;。：:]*", text):
        begin = match.start() if value_start < 0 else value_start
        end = match.start() + len(match[0].rstrip())
        is_value = any(first <= match.start() and end <= last for first, last in values)
        if is_value:
            value_start = begin
        else:
            value_start = -1
            clauses.append((begin, match.end()))
    return clauses if value_start < 0 else [*clauses, (value_start, len(text))]


def _is_about(question: Question, unit: Unit) -> bool:
    """Return True if a sentence is about what the question asks."""
    text = f"{unit.heading} {unit.text}"
    negated = foreign_forms().get(question.language, {}).get("negated", _NEGATION)
    if negated.search(unit.text) and not negated.search(question.text):
        return False
    if not _figures(question.asking) <= _figures(text):
        return False
    # The sentence before may name what this one goes on about.
    if not _has_limits(question, text) or not _names_all(question, f"{unit.before} {text}"):
        return False
    if not _names_all(question, unit.text) and _opens_with_name(unit):
        return False
    owner_words = {word for owner in _OWNER.findall(unit.text) for word in question.words_of(owner)}
    other_words = set(question.words_of(_OWNER.sub(" ", unit.text)))
    asked_but_only_owners = (owner_words - other_words).intersection(question.words_of(question.text))
    return asked_but_only_owners <= _words_of_names(question)


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


def _words_of_names(question: Question) -> set[str]:
    return {word for name in question.names for word in question.words_of(name)}


def _may_belong_to_names(question: Question, unit: Unit, at: int, length: int) -> bool:
    """Return False if a Chinese sentence has the question's names only after the clause of a value."""
    names = [name for name in question.names if name in unit.text]
    if question.language != "zh" or not names:
        return True
    clause_end = next(end for start, end in _clauses(unit.text, values=[(at, at + length)])
                      if start <= at < end)
    return any(name in unit.text[:clause_end] for name in names)


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
