"""The answers that are several: the items of a list, the cells of a column, the number in a count."""

import re
from collections.abc import Sequence

from ...text.markup import without_markup
from ...text.table_rows import DOCUMENT, find_rows
from .finder import Finder, Found
from .question import Question
from .units import Unit

_COVERED, _LEAST = 0.6, 0.4
"""The share of a question's words that stand above a list whose items answer it, and the certainty of each of them."""
_LOOKED_AT = 30
"""How many units are looked at, best first."""
_MOST_ITEMS, _LONGEST = 12, 300
_LONGEST_NAME = 6
"""Words of an item that may name a person."""
_END = " \t;；,，。."
_COUNTED = re.compile(r"几[名位个人家条项](?P<noun>[^\W\d_]{2,8}?)(?:[？?，,]|$)")
_NUMBER = r"\d{1,6}|[一二两三四五六七八九十百]{1,4}"


def listed(question: Question, found: Sequence[Found], finder: Finder) -> tuple[str, Unit] | None:
    """Return the items that a question for several things asks for, in one text, and the unit that states them."""
    if not question.lists:
        return None
    seen = dict[str, tuple[float, str, Unit]]()
    for unit in (item.unit for item in found[:_LOOKED_AT]):
        headers = " ".join(cell.header for cell in unit.row.cells) if unit.row else ""
        above = f"{unit.heading} {unit.opening} {headers}"
        if above in seen or not (unit.row or unit.items):
            continue
        seen[above] = 0.0, "", unit
        if unit.row is not None:
            values = _column(question, unit, finder)
        else:
            values = [" ".join(without_markup(text).split()).rstrip(_END) for text in unit.items]
        fits = 1 < len(values) <= _MOST_ITEMS and question.counted in {0, len(values)}
        if not fits or (question.expected == "person" and any(len(value.split()) > _LONGEST_NAME for value in values)):
            continue
        joined = ("；" if question.language == "zh" else "; ").join(values)
        share, least = finder.share(question, above) if len(joined) <= _LONGEST else (0.0, 0.0)
        if share >= _COVERED and least >= _LEAST:
            seen[above] = share, joined, unit
    _, words, unit = max(seen.values(), key=lambda one: one[0], default=(0.0, "", found[0].unit))
    return (words, unit) if words else None


def _column(question: Question, unit: Unit, finder: Finder) -> list[str]:
    """Return the cells of the column whose header a question names, if it names no cell of the table."""
    if unit.row is None or unit.row.cells[0].header == DOCUMENT or not question.focus:
        return []
    asked, headers = frozenset(question.words_of(question.asking)), [cell.header for cell in unit.row.cells]
    focus = set(question.words_of(question.focus))
    header = next((header for header in headers if focus.issubset(question.words_of(header))), "")
    document = finder.passages[unit.passage - 1].document
    # A table may go on in another passage.
    rows = {passage.start + row.start: row for passage in finder.passages if passage.document == document
            for row in find_rows(passage.text) if [cell.header for cell in row.cells] == headers}
    cells = [cell for at in sorted(rows) for cell in rows[at].cells if cell.header == header]
    if any(asked.issuperset(question.words_of(cell.value) or ("",)) for row in rows.values() for cell in row.cells):
        return []
    return list(dict.fromkeys(" ".join(without_markup(cell.value).split()) for cell in cells))


def counted(question: Question, found: Sequence[Found]) -> tuple[str, Unit] | None:
    """Return "2人" where a Chinese question asks for 几名副组长 and a sentence or row has 副组长2人 or 2名副组长."""
    match = _COUNTED.search(question.asking)
    if match is None:
        return None
    noun = re.escape(match["noun"])
    number = rf"(?:{_NUMBER})\s?[名人个位家条项]"
    stated = re.compile(rf"{noun}\s?(?P<after>{number})|(?P<before>{number}){noun}")
    places = [(hit["after"] or hit["before"], item.unit) for item in found[:_LOOKED_AT]
              if (hit := stated.search(item.unit.text))]
    return places[0] if len({words for words, _ in places}) == 1 else None
