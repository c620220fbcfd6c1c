"""Answers by their form: the items of a list, a column's cells, the number in a count, yes or no."""

import re
from collections.abc import Sequence

from ...schemas.naming import has_name
from ...text.content_words import content_words
from ...text.markup import without_markup
from ...text.table_rows import DOCUMENT
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


def listed(question: Question, found: Sequence[Found], finder: Finder) -> tuple[str, Unit] | None:
    """Return the items that a question for several things asks for, in one text, and the unit that states them.

    The headings and the sentence above a list must cover the question; of several lists, the one is chosen whose
    headings cover most. None if there is none.
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
        texts = _column(question, unit, finder) if unit.row else unit.items
        values = [" ".join(without_markup(text).split()).rstrip(_TRAILING_MARKS) for text in texts]
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
    headers, focus = [cell.header for cell in unit.row.cells], set(question.words_of(question.focus))
    header = next((header for header in headers if focus.issubset(question.words_of(header))), "")
    # A table may go on in another passage.
    row_by_place = {finder.passages[one.passage - 1].start + one.start: one.row for one in finder.units
                    if one.row and [cell.header for cell in one.row.cells] == headers}
    return list(dict.fromkeys(cell.value for _, row in sorted(row_by_place.items()) for cell in row.cells
                              if cell.header == header))


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
