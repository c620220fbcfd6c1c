"""The short answer stated in passages: a table cell, or the only span of the expected kind."""

import re
from collections.abc import Sequence

from ...schemas.naming import canonical_name, has_name
from ...schemas.retrieval import Passage
from ...text.content_words import spoken_words
from ...text.lexicon import words
from ...text.quantities import kind_of, measure, parse_number
from ...text.table_rows import DOCUMENT, Cell, Row
from .finder import Finder, Found
from .likeness import likeness
from .question import Question, foreign_forms, tells_time
from .recognition.spans import VALUES
from .stated_lists import counted, listed, verdict
from .units import Unit

_COVERED = 0.55
"""The share of a question's words that a sentence must contain for its only span to be the answer."""
_LEAST_CERTAIN_WORD = 0.4
"""The least certainty of each of these words except names, by a similar word or an adjacent sentence."""
_LIMITING = re.compile(
    r"\b(?:first|second|third|last|next|previous|former|before|after|earlier|later|until|only|new|old|acting|deputy|"
    r"\w{3,}est|(?:most|least) \w+|more|less|fewer|than)\b|"
    r"第[一二三四五]|首[次个任]|最[后初早晚近新大小高低多少]|上一|下一|前任|副|[主总](?=教练|裁判|编辑|编|设计|工程师|经理|监)",
    re.IGNORECASE)
"""Words that distinguish things of one kind: a sentence without them may be about another one."""
_CHOICE = re.compile(r"\bor\b|还是|分别|\b(?:\w{3,}er|more|less|fewer) (?:\w+ ){0,3}than\b", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:no|not|cannot|nobody|none|never|nothing|neither|nor|without|unless|except)\b|"
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
_SEVERAL, _USUAL = 4, 0.4
"""The fewest documents, and the share of them with a name, for which the name goes without saying."""
_LOOKED_AT = 3
_BOUND = re.compile(r"\s?(?:年|月|日)?[之以]?[前后]")
"""What follows a date that only bounds another one (到2020前)."""
_OWNED = re.compile(r"(?<![\w-])[\w-]++(?=['’]s\b)")
_JOINT = re.compile(r"\s*+[,，、]\s*+(?:(?:and|&)\s++)?|\s++(?:and|&)\s++|[和与及]")
_DEFINED = re.compile(r"(?P<subject>[^,.;:()\n]{2,50}?)\W+(?:is|are|was|were) (?:the|an?) (?P<role>[a-z-]+)\b")
_CHOSEN = re.compile(r"\b(?:picked|chosen|selected|elected|appointed|named|used)\b", re.IGNORECASE)
_PREPOSITION = re.compile(r"(on|in|at|from|to|by|for|with|under|near|through|into) (?:which|what|whom)\b",
                          re.IGNORECASE)

_SIMILAR = 0.45
"""The cosine of two words with a similar meaning."""
_AFTER = 40
"""The number of characters after a number that may name the counted things."""
_COUNTED = re.compile(r"\bhow many ((?:[\w’'-]+ ){1,3})", re.IGNORECASE)
_ASKED_MEASURES = (
    (re.compile(r"\bhow long\b|多长时间|多久|(?:几|多少)个?(?:工作)?(?:[天日年月周]|小时|星期)", re.IGNORECASE),
     words("time years weeks months days hours minutes length")),
    (re.compile(r"\bhow (?:far|tall|high|wide|deep|big)\b|\b(?:length|height|depth|width|distance)\b", re.IGNORECASE),
     words("length area")),
    (re.compile(r"\b(?:weighs?|weight|heavy)\b|重量|多重", re.IGNORECASE), words("mass")),
    (re.compile(r"\b(?:costs?|prices?|fees?|pay|charges?|charged|expensive|budget|revenue|turnover|salary|rent|donation)\b|"
                r"多少钱|价格|售价|费用|多少[元镑]", re.IGNORECASE), words("money")),
    (re.compile("(?:多少|几倍)的?(?:工资|报酬|补偿|赔偿|罚款|税|利息)"), words("money %")),
    (re.compile(r"\b(?:percentage|per ?cent|share|proportion)\b|比例|百分之", re.IGNORECASE), words("%")),
)
"""The measures that answer a question of a form."""


def short_answer(question: Question, found: Sequence[Found], finder: Finder) -> tuple[str, Unit] | None:
    """Return the words of the answer that the passages state, and the unit that states it, or None."""
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
    return _from_span(question, best, passages) or _from_definition(question, best.unit)


def is_unasked(question: Question, row: Row | None) -> bool:
    """Return True for a row of a document's metadata of which the question names no field."""
    return row is not None and row.cells[0].header == DOCUMENT and _field(question, row) is None


def _field(question: Question, row: Row) -> Cell | None:
    """Return the cell of a row whose header a question names."""
    asked = frozenset(question.words_of(question.asking))
    return next((cell for cell in row.cells[1:] if (words := question.words_of(cell.header))
                 and asked.issuperset(words)), None)


def _from_field(question: Question, found: Sequence[Found], passages: Sequence[Passage]) -> tuple[str, Unit] | None:
    """Return the cell under the header that a question such as "what is the status of X" asks for, in the row of X."""
    for unit in (item.unit for item in found[:_LOOKED_AT]):
        cell = _field(question, unit.row) if unit.row else None
        if cell and question.focus and set(question.words_of(question.focus)).issubset(question.words_of(cell.header)):
            return _from_cell(question, unit, found, passages, cell)
    return None


def _from_span(question: Question, best: Found, passages: Sequence[Passage]) -> tuple[str, Unit] | None:
    """Return the only span of the expected kind in the best sentence, if the sentence covers the question."""
    unit = best.unit
    if best.covered < _COVERED or best.least_certain_word < _LEAST_CERTAIN_WORD:
        return None
    if question.lists and question.expected != "number":
        return None  # one value does not answer a question for several
    if not _speaks_of(question, unit, passages):
        return None
    values = _distinct_values(question, best)
    if len(values) != 1:
        return None
    (value,) = values
    start = unit.text.index(value)
    end = start + len(value)
    is_answer = (_is_measured(question, value, unit.text[end:end + _AFTER]) if question.expected == "number"
                 else _is_same_clause(question, unit, start, len(value)))
    return (" ".join(value.split()), unit) if is_answer else None


def _distinct_values(question: Question, best: Found) -> list[str]:
    """Return the distinct values of the expected kind; names joined by 'and' are one value.

    If the question begins with a preposition ("on which river"), only values after that preposition count.
    """
    text, runs = best.unit.text, list[tuple[int, int]]()
    defined = re.match(rf"([^,.;:()\n]{{2,50}}){_called(question.focus)}", text, re.IGNORECASE)
    if question.focus and question.expected not in VALUES and defined:
        return [defined[1]]
    for span in best.spans:
        if runs and question.expected not in VALUES and _JOINT.fullmatch(text, runs[-1][1], span.start):
            runs[-1] = runs[-1][0], span.end
        else:
            runs.append((span.start, span.end))
    if len(runs) > 1 and (match := _PREPOSITION.match(question.text)):
        behind = re.compile(rf"\b{match[1]} (?:(?:the|an?) )?$", re.IGNORECASE)
        runs = [run for run in runs if behind.search(text, 0, run[0])] or runs
    if len(runs) > 1 and question.language == "zh":
        runs = _in_asked_clause(question, text, runs)
    return list({canonical_name(text[start:end]): text[start:end] for start, end in runs}.values())


def _called(noun: str) -> str:
    return rf", (?:an?|the) [^,.;]{{0,80}}\b{re.escape(noun)}\b"


def _in_asked_clause(question: Question, text: str, runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the places within the clause of a Chinese sentence that covers most of the question."""
    # The predicate stands at the end of a question, and says more than its subject.
    asked = {word: at for at, word in enumerate(question.words_of(question.asking), 1)
             if word not in _words_of_names(question)}
    best = max(_clauses(text, runs), key=lambda clause: sum(map(asked.__getitem__, asked.keys() & frozenset(
        question.words_of(text[slice(*clause)])))))
    own = [run for run in runs if best[0] <= run[0] < best[1]]
    return [run for run in own if not _BOUND.match(text, run[1])] or own or runs


def _clauses(text: str, values: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the clauses of a Chinese sentence; a date before a comma belongs to the clause behind it."""
    clauses: list[tuple[int, int]] = []
    start = -1
    for match in re.finditer(r"[^\s，,；;。：:][^，,；;。：:]*", text):
        begin, end = match.start() if start < 0 else start, match.start() + len(match[0].rstrip())
        is_value = any(first <= match.start() and end <= last for first, last in values)
        start = begin if is_value else -1
        clauses += [] if is_value else [(begin, match.end())]
    return clauses if start < 0 else [*clauses, (start, len(text))]


def _speaks_of(question: Question, unit: Unit, passages: Sequence[Passage]) -> bool:
    """Return True if a sentence is about what the question asks.

    It has the figures, limits and names of the question, is not negated, and has no word of it as an owner alone, as
    "the mill's owner lives in Ulm" has "mill" for "Where is the mill?"; names of the question may be owners.
    """
    text = f"{unit.heading} {unit.text}"
    negated = foreign_forms().get(question.language, {}).get("negated", _NEGATED)
    if negated.search(unit.text) and not negated.search(question.text):
        return False
    if not _figures(question.asking) <= _figures(text):
        return False
    # The sentence before may name what this one goes on about.
    if not _says_limits(question, text) or not _names_all(question, f"{unit.before} {text}", passages):
        return False
    owned = {word for owner in _OWNED.findall(unit.text) for word in question.words_of(owner)}
    free = set(question.words_of(_OWNED.sub(" ", unit.text)))
    asked_as_owner = (owned - free).intersection(question.words_of(question.text))
    return asked_as_owner <= _words_of_names(question)


def _says_limits(question: Question, text: str) -> bool:
    """Return True if a text has each word with which the question distinguishes things of one kind."""
    present = set(question.words_of(text)) | {word.lower() for word in _LIMITING.findall(text)}
    return all(word.lower() in present or present.issuperset(question.words_of(word) or ("",))
               for word in _LIMITING.findall(question.asking))


def _names_all(question: Question, text: str, passages: Sequence[Passage]) -> bool:
    """Return True if a text contains the question's names, except the usual names of the documents."""
    missing = [name for name in question.names if not _has_name(text, name, name.split()[-1])]
    return not missing or _usual_names(question, passages).issuperset(missing)


def _usual_names(question: Question, passages: Sequence[Passage]) -> frozenset[str]:
    """Return the names of a question that many documents contain, so sentences omit them."""
    titles = {passage.document: passage.title for passage in passages}
    texts: dict[str, str] = {}
    for passage in passages:
        texts[passage.document] = f"{texts.get(passage.document, passage.title)}\n{passage.text}"
    if len(texts) < _SEVERAL:
        return frozenset()
    # A name that titles one of the documents is not what the others are about.
    return frozenset(name for name in question.names if not any(map(str.isdigit, name)) and not (
        0 < sum(has_name(title, name) for title in titles.values()) <= len(titles) / 2) and sum(
        _has_name(text, name, name.split()[0]) for text in texts.values()) >= _USUAL * len(texts))


def _has_name(text: str, name: str, short: str) -> bool:
    """Return True if a text has a name or its short form; "University" is none of the University of Oslo."""
    return has_name(text, name) or (" of " not in name and has_name(text, short))


def _words_of_names(question: Question) -> set[str]:
    return {word for name in question.names for word in question.words_of(name)}


def _is_same_clause(question: Question, unit: Unit, at: int, length: int) -> bool:
    """Return True if a Chinese sentence names its subject before a value or in its clause, not after it."""
    end = next(end for start, end in _clauses(unit.text, [(at, at + length)]) if start <= at < end)
    named = [name for name in question.names if name in unit.text]
    return question.language != "zh" or not named or any(name in unit.text[:end] for name in named)


def _is_measured(question: Question, value: str, text_after: str = "") -> bool:
    """Return True if a number is of the measure that is asked for, or is followed by the noun that is counted."""
    size = measure(parse_number(value))
    unit = size[0] if size else ""
    is_money = len(unit) == 3 and unit.isupper()  # noqa: PLR2004 - currencies are ISO codes
    for asks_for_measure, units in _ASKED_MEASURES:
        if asks_for_measure.search(question.asking):
            return unit in units or (is_money and "money" in units)
    counted_noun = _COUNTED.search(question.text)
    if counted_noun and text_after:
        if unit and not set(question.words_of(counted_noun[1])).intersection(question.words_of(unit)):
            return False
        return float(likeness(spoken_words(counted_noun[1]), [f"{value} {text_after}"]).max(initial=0.0)) >= _SIMILAR
    asks_for_count = re.search(r"\bhow many\b|几|多少", question.asking, re.IGNORECASE)
    return not (asks_for_count and (is_money or unit == "%"))


def _from_definition(question: Question, unit: Unit) -> tuple[str, Unit] | None:
    """Return the subject of "a bear is the mascot of the club" for "which animal was chosen as the club's mascot"."""
    match, kind = _DEFINED.match(unit.text), frozenset(question.words_of(question.focus))
    if match is None or not kind or not _speaks_of(question, unit, ()):
        return None
    asked = frozenset(question.words_of(_CHOSEN.sub(" ", question.asking))) - kind
    subject = " ".join(match["subject"].split())
    said = asked.issuperset(question.words_of(match["role"])) and asked.issubset(question.words_of(unit.text))
    return (subject, unit) if said and asked.isdisjoint(question.words_of(subject)) else None


def _from_cell(question: Question, unit: Unit, found: Sequence[Found], passages: Sequence[Passage],
               cell: Cell | None = None) -> tuple[str, Unit] | None:
    """Return the cell under the requested header, in the only table row that the question names."""
    row = unit.row
    if row is None or (row.cells[0].header == DOCUMENT and cell is None):
        return None
    shared, cell = _shared_words(question, row), cell or _asked_cell(question, row)
    text = f"{unit.heading} {unit.text}"
    is_denied = _NEGATED.search(question.asking) is not None
    if is_denied or not shared or cell is None or not _figures(question.asking) <= _figures(text):
        return None
    if not _says_limits(question, text) or not _names_all(question, text, passages):
        return None
    for other in (item.unit.row for item in found if item.unit.row is not None and (
            item.unit.heading == unit.heading or row.cells[0].header == DOCUMENT)):
        if other.cells[0].header == row.cells[0].header and other.cells != row.cells and (
                _shared_words(question, other) >= shared and _value_under(other, cell.header) != cell.value):
            return None
    return _cell_text(cell), unit


def _shared_words(question: Question, row: Row) -> frozenset[str]:
    """Return the words of a row's cells that occur in the question."""
    asked = frozenset(question.words_of(question.text))
    return frozenset(word for cell in row.cells for word in question.words_of(cell.value) if word in asked)


def asked_cell(question: Question, row: Row) -> str:
    """Return "Weight of Model A: 21.4 kg" for the cell that a question asks for, or "" if it is unclear."""
    cell = _asked_cell(question, row)
    if cell is None:
        return ""
    first = row.cells[0]
    if cell != first:
        joint = "{}的{}：{}" if question.language == "zh" else "{1} of {0}: {2}"
        return joint.format(first.value, cell.header, _cell_text(cell))
    shared = _shared_words(question, row)
    others = "; ".join(f"{other.header}: {other.value}" for other in row.cells[1:] if shared.intersection(
        question.words_of(other.value)))
    return f"{first.header}: {first.value}" + (f" – {others}" if others else "")


def _asked_cell(question: Question, row: Row) -> Cell | None:
    """Return the cell that a question asks for by its header or kind, or None if it is unclear."""
    asked, fits = frozenset(question.words_of(question.text)), _HEADERS.get(question.expected)
    named, of_kind = list[Cell](), list[Cell]()
    for cell in row.cells:
        if not _may_answer(question, cell) or (set(question.words_of(cell.value)) and asked.issuperset(
                question.words_of(cell.value))):
            continue
        if asked.intersection(question.words_of(cell.header)):
            named.append(cell)
        elif fits and fits.search(cell.header):
            of_kind.append(cell)
    best = named or of_kind
    return best[0] if len(best) == 1 else None


def _may_answer(question: Question, cell: Cell) -> bool:
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
