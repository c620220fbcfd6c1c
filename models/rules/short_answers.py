"""The short answer stated in passages: a table cell, or the only span of the expected kind."""

import re
from collections.abc import Sequence

from ...schemas.naming import canonical_name, has_name
from ...schemas.retrieval import Passage
from ...text.lexicon import word_set
from ...text.quantities import kind_of
from ...text.table_rows import DOCUMENT, Cell, Row
from .finder import Finder, Found
from .question import AFTER_NUMBER, Question, foreign_forms, tells_time
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
_HEADERS = {
    "person": re.compile(r"\b(?:name|who|person|contact)\b|姓名|名称|负责人|联系人", re.IGNORECASE),
    "number": re.compile(r"\b(?:quantity|count|amount|number|units|total)\b|数量|库存", re.IGNORECASE),
    "location": re.compile(r"\b(?:country|city|place|location|region|warehouse|site|room|address)\b|"
                           r"国家|城市|地点|地区", re.IGNORECASE),
    "date": re.compile(r"\b(?:date|day|year|since|until|when|founded|opened|built|due|deadline)\b|日期|时间|年份",
                       re.IGNORECASE),
}
"""Headers of columns whose cells answer, by the expected kind."""
_FEWEST_DOCUMENTS, _USUAL_SHARE = 4, 0.4
"""If this share of at least so many documents has a name, sentences about it often leave the name out."""
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
    best, passages = found[0], finder.passages
    if question.expected == "polar":
        stated = verdict(question, found, finder)
    else:
        stated = listed(question, found, finder) or counted(question, found)
    if stated is not None:
        unit = stated[1]
        text = f"{unit.heading} {unit.opening} {unit.text}"
        return stated if _names_all(question, text, passages) else None
    if not question.has_form:
        return _from_field(question, found, passages)
    if best.unit.row is not None:
        return _from_cell(question, best.unit, found, passages)
    stated = _from_span(question, best, passages)
    others = [(item, one) for item in found[1:_UNITS_SEARCHED]
              if stated and (one := _from_span(question, item, passages))]
    if stated and any(unit.text == stated[1].text.replace(stated[0], said) != stated[1].text
                      for _, (said, unit) in others):
        return None  # two documents state different values in the same words
    of_same_list = [item for item, _ in others if best.unit.items and item.unit.items == best.unit.items]
    if any(item.least_certain_word >= best.least_certain_word for item in of_same_list):
        return None  # the heading of a list asks for all of its items, such as "Organizers"
    return stated or _from_definition(question, best.unit)


def is_unasked(question: Question, row: Row | None) -> bool:
    """Return True for a row of a document's metadata if the question names none of its fields."""
    return row is not None and row.cells[0].header == DOCUMENT and _field(question, row) is None


def _field(question: Question, row: Row) -> Cell | None:
    """Return the first cell whose header's words are all in the question, or None."""
    asked = frozenset(question.words_of(question.asking))
    return next((cell for cell in row.cells[1:] if (words := question.words_of(cell.header))
                 and asked.issuperset(words)), None)


def _from_field(question: Question, found: Sequence[Found], passages: Sequence[Passage]) -> tuple[str, Unit] | None:
    """Return the answer to a question such as "what is the status of X": the cell "status" in the row of X, or None."""
    if not question.focus:
        return None
    focus_words = set(question.words_of(question.focus))
    for unit in (item.unit for item in found[:_UNITS_SEARCHED]):
        cell = _field(question, unit.row) if unit.row else None
        if cell and focus_words.issubset(question.words_of(cell.header)):
            return _from_cell(question, unit, found, passages, cell)
    return None


def _from_span(question: Question, best: Found, passages: Sequence[Passage]) -> tuple[str, Unit] | None:
    """Return the only span of the expected kind in the best sentence, or None if it is not certainly the answer."""
    unit = best.unit
    if best.covered < _LEAST_COVERED or best.least_certain_word < _LEAST_WORD_CERTAINTY:
        return None
    if question.lists and question.expected != "number":
        return None  # one value does not answer a question for several
    if not _is_about(question, unit, passages):
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


def _is_about(question: Question, unit: Unit, passages: Sequence[Passage]) -> bool:
    """Return True if a sentence is about what the question asks."""
    text = f"{unit.heading} {unit.text}"
    negated = foreign_forms().get(question.language, {}).get("negated", _NEGATION)
    if negated.search(unit.text) and not negated.search(question.text):
        return False
    if not _figures(question.asking) <= _figures(text):
        return False
    # The sentence before may name what this one goes on about.
    if not _has_limits(question, text) or not _names_all(question, f"{unit.before} {text}", passages):
        return False
    if not _names_all(question, unit.text, ()) and _opens_with_name(unit):
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


def _names_all(question: Question, text: str, passages: Sequence[Passage]) -> bool:
    """Return True if a text contains the question's names; those that most documents contain may be missing."""
    missing = [name for name in question.names if not _has_name(text, name, name.split()[-1])]
    return not missing or _usual_names(question, passages).issuperset(missing)


def _usual_names(question: Question, passages: Sequence[Passage]) -> frozenset[str]:
    """Return the names of a question that so many documents contain that sentences may leave them out."""
    titles = {passage.document: passage.title for passage in passages}
    texts: dict[str, str] = {}
    for passage in passages:
        texts[passage.document] = f"{texts.get(passage.document, passage.title)}\n{passage.text}"
    if len(texts) < _FEWEST_DOCUMENTS:
        return frozenset()

    def is_usual(name: str) -> bool:
        """Return True if most passages have a name that sets no document apart, so that it answers nothing."""
        titles_with_name = sum(has_name(title, name) for title in titles.values())
        if any(map(str.isdigit, name)) or 0 < titles_with_name <= len(titles) / 2:
            return False
        texts_with_name = sum(_has_name(text, name, name.split(maxsplit=1)[0]) for text in texts.values())
        return texts_with_name >= _USUAL_SHARE * len(texts)

    return frozenset(filter(is_usual, question.names))


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
    if match is None or not focus_words or not _is_about(question, unit, ()):
        return None
    asked = frozenset(question.words_of(_CHOOSING_VERB.sub(" ", question.asking))) - focus_words
    subject = " ".join(match["subject"].split())
    asks_for_role = asked.issuperset(question.words_of(match["role"]))
    is_covered = asked.issubset(question.words_of(unit.text))
    is_answer = asks_for_role and is_covered and asked.isdisjoint(question.words_of(subject))
    return (subject, unit) if is_answer else None


def _from_cell(question: Question, unit: Unit, found: Sequence[Found], passages: Sequence[Passage],
               cell: Cell | None = None) -> tuple[str, Unit] | None:
    """Return the requested cell of the row `unit`, or None if another found row of its table answers too.

    A numbered row has no name by which a question could mean it, so it is one of many that may answer.
    """
    row = unit.row
    if row is None or row.is_numbered or (row.cells[0].header == DOCUMENT and cell is None):
        return None
    shared, cell = _shared_words(question, row), cell or _asked_cell(question, row)
    text = f"{unit.heading} {unit.text}"
    is_denied = _NEGATION.search(question.asking) is not None
    if is_denied or not shared or cell is None or not _figures(question.asking) <= _figures(text):
        return None
    if not _has_limits(question, text) or not _names_all(question, text, passages):
        return None
    # The rows of documents' metadata are one table, although each is under its own title.
    others = (item.unit.row for item in found if item.unit.row is not None and (
        item.unit.heading == unit.heading or row.cells[0].header == DOCUMENT))
    for other in others:
        is_same_table = other.cells[0].header == row.cells[0].header
        fits_as_well = _shared_words(question, other) >= shared
        says_nothing = other.cells[0] == row.cells[0] and not _value_under(other, cell.header)  # the same box of facts
        if is_same_table and other.cells != row.cells and fits_as_well and not says_nothing and (
                _value_under(other, cell.header) != cell.value):
            return None
    return _cell_text(cell), unit


def _shared_words(question: Question, row: Row) -> frozenset[str]:
    asked = frozenset(question.words_of(question.text))
    return frozenset(word for cell in row.cells for word in question.words_of(cell.value) if word in asked)


def asked_cell(question: Question, row: Row) -> str:
    """Return "Weight of Model A: 21.4 kg" for the cell that a question asks for, or "" if that is unclear.

    If it asks for the row's first cell, the cells that it mentions follow: "Model: A – Weight: 21.4 kg".
    """
    cell = None if row.is_numbered else _asked_cell(question, row)
    if cell is None:
        return ""
    first = row.cells[0]
    if cell != first:
        template = "{}的{}：{}" if question.language == "zh" else "{1} of {0}: {2}"
        return template.format(first.value, cell.header, _cell_text(cell))
    shared = _shared_words(question, row)
    mentioned = [other for other in row.cells[1:] if shared.intersection(question.words_of(other.value))]
    details = "; ".join(f"{other.header}: {other.value}" for other in mentioned)
    return f"{first.header}: {first.value}" + (f" – {details}" if details else "")


def _asked_cell(question: Question, row: Row) -> Cell | None:
    """Return the cell that a question asks for, or None if several or none could be meant."""
    asked, header_of_kind = frozenset(question.words_of(question.text)), _HEADERS.get(question.expected)
    named, of_kind = list[Cell](), list[Cell]()
    for cell in row.cells:
        value_words = question.words_of(cell.value)
        is_in_question = bool(value_words) and asked.issuperset(value_words)
        if is_in_question or not _fits_question(question, cell):
            continue
        if asked.intersection(question.words_of(cell.header)):
            named.append(cell)
        elif header_of_kind and header_of_kind.search(cell.header):
            of_kind.append(cell)
    best = named or of_kind
    return best[0] if len(best) == 1 else None


def _fits_question(question: Question, cell: Cell) -> bool:
    """Return True if a cell's value can be an answer of the expected kind: a number, a date, or else words."""
    kind = kind_of(cell.value)
    if question.expected == "number":
        return any(map(str.isdigit, cell.value))
    if question.expected == "date":
        return kind == "date" or tells_time(cell.value) or any(map(str.isdigit, cell.value))
    return kind == "text" and (question.expected == "name" or not any(map(str.isdigit, cell.value)))


def _figures(text: str) -> set[str]:
    return {figure.lstrip("0") for figure in re.findall(r"\d+", text)}


def _value_under(row: Row, header: str) -> str:
    return next((cell.value for cell in row.cells if cell.header == header), "")


def _cell_text(cell: Cell) -> str:
    """Return a cell's value; a bare number gets the unit from its header."""
    unit = re.search(r"[(（]([^()（）]{1,30})[)）]$", cell.header)
    if unit is None or not re.fullmatch(r"[\d.,]+", cell.value):
        return cell.value
    return f"{unit[1]}{cell.value}" if unit[1] in {"£", "$", "€", "¥"} else f"{cell.value} {unit[1]}"
