"""Answers by their form: the items of a list, a column's cells, the number in a count, yes or no, a superlative."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from ...schemas.naming import has_name
from ...schemas.retrieval import Passage
from ...text.content_words import content_words
from ...text.dates import calendar_day, parse_date
from ...text.markup import without_markup
from ...text.quantities import measure, parse_number
from ...text.table_rows import DOCUMENT, Cell
from .finder import Finder, Found
from .question import Question
from .units import Unit

_LEAST_SHARE, _LEAST_WORD_CERTAINTY = 0.6, 0.4
"""The share of the question's words that the text above a list must cover for its items to be the answer, and the
least certainty of each word.
"""
_UNITS_SEARCHED = 30  # how many units are looked at, best first
_MOST_ITEMS, _LONGEST_LIST = 12, 300
_TRAILING_MARKS = " \t;；,，。."
_COUNT_QUESTION = re.compile(r"几[名位个人家条项](?P<noun>[^\W\d_]{2,8}?)(?:[？?，,]|$)")
_LISTED_NOUN = re.compile(r"哪些(?P<noun>[^\W\d_]{2})")
_NUMBER = r"(?:\d{1,6}|[一二两三四五六七八九十百]{1,4})\s?[名人个位家条项]"
_SAME_QUESTION_SHARE, _DENIAL_SHARE, _CHINESE_DENIAL_SHARE = 0.6, 0.75, 0.55
"""The least share of words that two equal questions have in common, and the least shares of a question's words in a
sentence that denies it: in other languages, and in Chinese.
"""
_YES_OR_NO = re.compile(
    r"[\s*_]{0,4}(?P<verdict>yes|no|是的?|不是|否|可以|不可以|能|不能|会|不会|有|没有|需要|不需要|无需)(?=[\s,.;:!，。；！—–-])",
    re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:do|does|did|is|are|was|were|can|could|may|must|will|would|shall|should|has|have|had)(?: not|n['’]t)\s+"
    r"(?:be\s+)?(?P<verb>[a-z]{3,})|\bcannot\s+(?:be\s+)?(?P<other>[a-z]{3,})", re.IGNORECASE)
_CHINESE_DENIAL = re.compile(
    "(?:不[得能应予]|不可以?|不应当|无需|不需要|禁止|严禁|不享受)(?P<what>[^，,。；;：:]{2,20})")
_CONDITION = re.compile(r"\b(?:if|unless|until|when|where|except|without|only|before|after)\b|除外|另有|但|如果|未",
                        re.IGNORECASE)
_DEGREE_WORD = re.compile(
    r"\b(?P<bare>most|least|fewest|more|less|fewer)\s+(?P<what>[a-z-]+)|\b(?P<word>(?!interest|request|forest|harvest|guest|"
    r"west|rest|best|test|latest news)[a-z]{3,}(?:est|er))\b(?:\s+(?P<noun>[a-z]+))?", re.IGNORECASE)
_COMPARISON = re.compile(r"\bor\b|\bthan\b", re.IGNORECASE)
_ASKS_SMALLEST = re.compile(
    r"(?:cheap|light|small|short|low|few|slow|young|early|near|narrow|thin|less|least)", re.IGNORECASE)
_ASKS_EARLIEST = re.compile(r"(?:old|earl|long)", re.IGNORECASE)
_ASKS_LATEST = re.compile(r"(?:new|young|late)", re.IGNORECASE)
_DATE_HEADER = re.compile(
    r"\b(?:born|birth|built|made|founded|opened|started?|since|from|joined|came|arrived|year|date)\b",
    re.IGNORECASE)
_ROWS_SHOWN = 3
_LARGEST_GAP = 8  # the most characters between two parts of one table: only line breaks, no row

_Cells = tuple[Cell, ...]
_Value = Callable[[str], tuple[float, ...] | None]


def listed(question: Question, found: Sequence[Found], finder: Finder) -> tuple[str, Unit] | None:
    """Return the items that a question for several things asks for, in one text, and the unit that states them.

    The items are those of a list or of a table's column. The headings and the sentence above them must cover the
    question; of several lists, the one is chosen whose headings cover most. None if there is none.
    """
    if not question.lists:
        return None
    # The share that is covered, the items and a unit, by the text above a list; a list that does not fit has share 0.
    lists = dict[str, tuple[float, str, Unit]]()
    noun = _LISTED_NOUN.search(question.asking)
    for unit in (item.unit for item in found[:_UNITS_SEARCHED]):
        above = f"{unit.heading} {unit.opening}"
        if above in lists:
            continue
        lists[above] = 0.0, "", unit
        if unit.row is not None:
            values = _column(question, unit, finder)
        else:
            values = [" ".join(without_markup(text).split()).rstrip(_TRAILING_MARKS) for text in unit.items]
        has_fitting_length = 1 < len(values) <= _MOST_ITEMS
        if not has_fitting_length or (noun and unit.row is None and noun["noun"] not in above):
            continue  # 哪些专业 is not answered by a list under 航空学院 that does not say what it lists
        joined = ("；" if question.language == "zh" else "; ").join(values)
        share, least = finder.share(question, above) if len(joined) <= _LONGEST_LIST else (0.0, 0.0)
        if share >= _LEAST_SHARE and least >= _LEAST_WORD_CERTAINTY:
            lists[above] = share, joined, unit
    _, items, unit = max(lists.values(), key=lambda entry: entry[0], default=(0.0, "", found[0].unit))
    return (items, unit) if items else None


def _column(question: Question, unit: Unit, finder: Finder) -> list[str]:
    """Return the distinct cells of the column whose header the question's noun names, in order; empty if none is."""
    if unit.row is None or unit.row.cells[0].header == DOCUMENT or not question.focus:
        return []
    headers = [cell.header for cell in unit.row.cells]
    focus = set(question.words_of(question.focus))
    header = next((header for header in headers if focus.issubset(question.words_of(header))), "")
    # A table may go on in another passage.
    row_by_place = {finder.passages[one.passage - 1].start + one.start: one.row for one in finder.units
                    if one.row and [cell.header for cell in one.row.cells] == headers}
    cells = [cell for place in sorted(row_by_place) for cell in row_by_place[place].cells]
    return list(dict.fromkeys(" ".join(without_markup(cell.value).split()) for cell in cells if cell.header == header))


def counted(question: Question, found: Sequence[Found]) -> tuple[str, Unit] | None:
    """Return the count that a Chinese question asks for, and the unit that states it and has the question's names.

    None if units disagree. For 几名副组长 ("how many deputy heads") it is "2人" if one has 副组长2人 or 2名副组长.
    """
    match = _COUNT_QUESTION.search(question.asking)
    if match is None:
        return None
    noun = re.escape(match["noun"])
    count_form = re.compile(rf"{noun}\s?({_NUMBER})|({_NUMBER}){noun}")
    named = [item.unit for item in found[:_UNITS_SEARCHED]
             if all(has_name(f"{item.unit.heading} {item.unit.text}", name) for name in question.names)]
    counts = [(hit[1] or hit[2], unit) for unit in named if (hit := count_form.search(unit.text))]
    return counts[0] if len({count for count, _ in counts}) == 1 else None


def verdict(question: Question, found: Sequence[Found], finder: Finder) -> tuple[str, Unit] | None:
    """Return the words that answer a yes-or-no question, and the unit that states them; None if that is uncertain.

    They are the "yes" or "no" of a listed question with the same words, or a denial of what is asked in the best unit.
    Nothing else is answered, as a condition or an exception may stand elsewhere.
    """
    best = found[0].unit
    if best.asked:
        answer_units = [item.unit for item in found
                        if (item.unit.passage, item.unit.asked) == (best.passage, best.asked)]
        answer = min(answer_units, key=lambda unit: unit.start)
        match = _YES_OR_NO.match(answer.text)
        return (match["verdict"], answer) if match and _is_same(question, best.asked) else None
    least_covered = _CHINESE_DENIAL_SHARE if question.language == "zh" else _DENIAL_SHARE
    if found[0].covered < least_covered or _CONDITION.search(question.text):
        return None
    asked = frozenset(question.words_of(question.text))
    if question.language == "zh":
        denial = _CHINESE_DENIAL.search(best.text)
        if denial is None or _CONDITION.search(best.text) or not asked.issuperset(question.words_of(denial["what"])):
            return None
        return denial[0], best
    if question.language != "en" or _CONDITION.search(best.text):
        return None
    denied_verbs = {content_words(match["verb"] or match["other"]) for match in _DENIAL.finditer(best.text)}
    denies_asked = any(verb and asked.issuperset(verb) for verb in denied_verbs)
    return ("No", best) if denies_asked and finder.share(question, best.text)[0] >= _DENIAL_SHARE else None


def _is_same(question: Question, other: str) -> bool:
    asked, words = set(question.words_of(question.text)), set(question.words_of(other))
    same_figures = set(re.findall(r"\d+", question.text)) == set(re.findall(r"\d+", other))
    return same_figures and len(asked & words) >= _SAME_QUESTION_SHARE * len(asked | words)


def find_extreme(question: Question, units: Sequence[Unit], passages: Sequence[Passage],
                 ) -> tuple[str, str, Sequence[Unit]] | None:
    """Return the answer to "Which boat is the oldest?" or "Which boat has the most passengers?", or None.

    It is the first cells of the rows with the largest or smallest value in the column that the question compares by, a
    line with the best values, and their rows. A table consists of the rows with one heading and one first header. A
    superlative needs the whole table: a row that is missing between two passages may have a larger value.
    """
    degree = _DEGREE_WORD.search(question.text)
    if degree is None or question.expected in {"number", "reason", "polar"}:
        return None
    if (degree["word"] or "").lower().endswith("er") and not _COMPARISON.search(question.text):
        return None  # a word such as "member" is a comparative only beside "or" or "than"
    tables: dict[tuple[str, str], dict[_Cells, Unit]] = {}
    for unit in units:
        if unit.row is not None and unit.row.cells[0].header != DOCUMENT:
            table = unit.heading, unit.row.cells[0].header
            tables.setdefault(table, {}).setdefault(unit.row.cells, unit)  # passages overlap
    for (heading, first_header), rows in tables.items():
        compared = _rows_to_compare(question, rows, f"{heading} {first_header}")
        if not compared or not (_COMPARISON.search(question.text) or _is_whole(rows.values(), passages)):
            continue
        if extreme := _extreme_row(question, degree, compared):
            return extreme
    return None


def _is_whole(units: Iterable[Unit], passages: Sequence[Passage]) -> bool:
    """Return True if the passages with a table's rows follow each other in one document, from its first row on."""
    first_rows: dict[int, Unit] = {}  # by the number of the passage
    for unit in units:
        first_rows[unit.passage] = min(first_rows.get(unit.passage, unit), unit, key=lambda one: one.start)
    parts = sorted((passages[number - 1].document, passages[number - 1].start, number) for number in first_rows)
    document, first_start, number = parts[0]
    first = passages[number - 1]
    begins_with_row = not first.text[:first_rows[number].start].strip()
    if first_start > _LARGEST_GAP and not first.heading and begins_with_row:
        return False
    end = first_start
    for other, start, number in parts:
        if other != document or start > end + _LARGEST_GAP:
            return False
        end = max(end, start + len(passages[number - 1].text))
    return True


def _rows_to_compare(question: Question, rows: Mapping[_Cells, Unit], table_name: str) -> Mapping[_Cells, Unit]:
    """Return the rows of a table to compare, or none if the question is not about the table."""
    if _COMPARISON.search(question.text):
        return {row: unit for row, unit in rows.items() if has_name(question.text, row[0].value)}
    asked = frozenset(content_words(question.text))

    def is_mentioned(cell: Cell) -> bool:
        value_words = content_words(cell.value)
        return bool(value_words) and asked.issuperset(value_words)

    headers_of_matches = {row: {cell.header for cell in row if is_mentioned(cell)} for row in rows}
    all_headers = set[str]().union(*headers_of_matches.values())
    if not all_headers and asked.isdisjoint(content_words(table_name)):
        return {}
    return {row: unit for row, unit in rows.items() if headers_of_matches[row] == all_headers}


def _extreme_row(question: Question, degree: re.Match[str], rows: Mapping[_Cells, Unit],
                 ) -> tuple[str, str, Sequence[Unit]] | None:
    """Return the answer of `find_extreme` for some rows, or None if fewer than two have a value to compare."""
    word = degree["word"] or degree["bare"]
    parse_value: _Value = _number_in
    header, smallest_first = _compared_column(question, degree, rows), _ASKS_SMALLEST.match(word) is not None
    if not header and (_ASKS_EARLIEST.match(word) or _ASKS_LATEST.match(word)):
        parse_value, smallest_first = _day_in, _ASKS_EARLIEST.match(word) is not None
        header = next(filter(_DATE_HEADER.search, _headers(rows, parse_value)), "")
    valued_rows = [(value, row, cell.value) for row in rows for cell in row
                   if cell.header == header and (value := parse_value(cell.value)) is not None]
    if len(valued_rows) < 2:  # noqa: PLR2004 - a comparison needs two
        return None
    valued_rows.sort(key=lambda entry: entry[0], reverse=not smallest_first)
    winners = ", ".join(row[0].value for value, row, _ in valued_rows if value == valued_rows[0][0])
    shown = valued_rows[:_ROWS_SHOWN]
    values = "; ".join(f"{row[0].value}: {cell_text}" for _, row, cell_text in shown)
    template = "{}，比较了 {} 行：{}" if question.language == "zh" else "{}, {} rows compared: {}"
    return winners, template.format(header, len(valued_rows), values), [rows[row] for _, row, _ in shown]


def _compared_column(question: Question, degree: re.Match[str], rows: Mapping[_Cells, Unit]) -> str:
    """Return the header of the column of numbers that the question compares by, or ""."""
    degree_words = " ".join(filter(None, (degree["word"], degree["what"], degree["noun"])))
    wanted = content_words(f"{degree_words} {question.text}" if degree["bare"] else degree_words)
    headers = _headers(rows, _number_in)
    return next((header for word in wanted for header in headers if word in content_words(header)), "")


def _headers(rows: Iterable[_Cells], parse_value: _Value) -> Sequence[str]:
    """Return the headers of the columns, but the first, with a cell from which `parse_value` reads a value."""
    return list(dict.fromkeys(cell.header for row in rows for cell in row[1:] if parse_value(cell.value) is not None))


def _number_in(text: str) -> tuple[float, ...] | None:
    size = measure(parse_number(text)) if any(map(str.isdigit, text)) else None
    return (size[1],) if size else None


def _day_in(text: str) -> tuple[float, ...] | None:
    return calendar_day(parse_date(text))
