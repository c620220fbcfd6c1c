"""The parts of a sentence that may answer a question by their kind: names, dates and numbers."""

import re
from collections.abc import Sequence

from ...schemas.naming import has_name
from ...text.dates import parse_date
from ...text.quantities import find_numbers, find_values
from ...text.section_lines import mark_length
from ..parsing.parser import Parser
from .question import Question
from .recognition.name_kinds import Span, without_overlaps
from .recognition.names import find_names
from .recognition.spans import find_spans
from .units import Unit

_KINDS = {
    "person": frozenset({"person"}), "location": frozenset({"location", "name"}),
    "organization": frozenset({"organization", "name"}), "date": frozenset({"date"}), "number": frozenset({"number"}),
    "name": frozenset({"person", "organization", "location", "event", "work", "product", "award", "name"}),
}
"""The kinds of spans that may answer, by the expected kind."""
_ASKS_PHONE = re.compile(r"电话|热线|手机号|传真|\b(?:tele)?(?:phone|fax)\b|\bt[eé]l[eé][fp]h?on", re.IGNORECASE)
_PHONE = re.compile(r"(?<!\d)(?<!\d[.-])\+?\d[\d() /-]{5,17}\d(?![.-]?\d)")
_ASKED_NOUN = re.compile(r"\bwh(?:ich|at) ([a-z]{2,20})\b", re.IGNORECASE)


def answer_spans(question: Question, units: Sequence[Unit], parser: Parser) -> list[list[Span]]:
    """Return the spans of each unit that may answer: of the expected kind, and not in the question, ascending."""
    if question.expected in {"date", "number"}:
        found = [_dates_and_numbers(unit, question) for unit in units]
    else:
        found = _name_spans(question, units, parser)
    kinds = _KINDS.get(question.expected, frozenset())
    return [[span for span in spans
             if span.kind in kinds and not has_name(question.text, unit.text[span.start : span.end])]
            for unit, spans in zip(units, found, strict=True)]


def _name_spans(question: Question, units: Sequence[Unit], parser: Parser) -> list[list[Span]]:
    """Return the names in each unit: of the recogniser, words with capitals, and numbered things ("RFC 20")."""
    texts = [unit.text.title() if unit.text.isupper() else unit.text for unit in units]
    asked_noun = _ASKED_NOUN.search(question.asking)  # "Which RFC" is answered by "RFC 20"
    numbered_thing = re.compile(rf"\b{asked_noun[1]}[ -]\d[\d.]*\b", re.IGNORECASE) if asked_noun else None
    found = list[list[Span]]()
    for text, spans in zip(texts, find_spans(texts, parser), strict=True):
        matches = numbered_thing.finditer(text) if numbered_thing else ()
        identifiers = [Span(*match.span(), "name") for match in matches]
        # The first word of a sentence has a capital anyway.
        capitalised = [Span(*place, "name") for place in find_names(text) if place[0] > 0]
        found.append(without_overlaps(identifiers, spans, capitalised))
    return found


def _dates_and_numbers(unit: Unit, question: Question) -> list[Span]:
    """Return the dates and the numbers of a sentence, including relative dates and numbers written as words."""
    text = unit.text
    if _ASKS_PHONE.search(question.asking):
        return [Span(*match.span(), "number") for match in _PHONE.finditer(text)]
    relative = [Span(one.start, one.end, "date") for one in unit.relative_dates]
    dates = [Span(value.start, value.end, "date") for value in find_values(text) if value.kind == "date"]
    if "year" in question.focus:  # "5 May" has none
        dates = [date for date in dates if not parse_date(text[date.start : date.end]).startswith("X")]
    list_mark_end = mark_length(text)  # the "6." of an item is no number that it states
    numbers = [Span(start, end, "number") for start, end in find_numbers(text, counts=True) if start >= list_mark_end]
    return without_overlaps(relative, dates, numbers)
