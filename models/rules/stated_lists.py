"""Answers by their form: the items of a list, the cells of a column, the number in a count, yes or no."""

import re
from collections.abc import Sequence

from ...text.content_words import content_words
from ...text.markup import without_markup
from ...text.table_rows import DOCUMENT
from .finder import Finder, Found
from .question import Question
from .units import Unit

_COVERED, _LEAST = 0.6, 0.4
"""The share of a question's words that stand above a list whose items answer it, and the certainty of each of them."""
_LOOKED_AT = 30
"""How many units are looked at, best first."""
_MOST_ITEMS, _LONGEST = 12, 300
_END = " \t;；,，。."
_COUNTED = re.compile(r"几[名位个人家条项](?P<noun>[^\W\d_]{2,8}?)(?:[？?，,]|$)")
_NUMBER = r"(?:\d{1,6}|[一二两三四五六七八九十百]{1,4})\s?[名人个位家条项]"
_SAME, _SAID, _HAN_SAID = 0.6, 0.75, 0.55
"""The share of words that two questions have in common if they are the same, and that a denial has of a question."""
_VERDICT = re.compile(
    r"[\s*_]{0,4}(?P<said>yes|no|是的?|不是|否|可以|不可以|能|不能|会|不会|有|没有|需要|不需要|无需)(?=[\s,.;:!，。；！—–-])",
    re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:do|does|did|is|are|was|were|can|could|may|must|will|would|shall|should|has|have|had)(?: not|n['’]t)\s+"
    r"(?:be\s+)?(?P<verb>[a-z]{3,})|\bcannot\s+(?:be\s+)?(?P<other>[a-z]{3,})", re.IGNORECASE)
_HAN_DENIED = re.compile("(?:不[得能应予]|不可以?|不应当|无需|不需要|禁止|严禁|不享受)(?P<what>[^，,。；;：:]{2,20})")
_LIMITED = re.compile(r"\b(?:if|unless|until|when|where|except|without|only|before|after)\b|除外|另有|但|如果|未",
                      re.IGNORECASE)


def listed(question: Question, found: Sequence[Found], finder: Finder) -> tuple[str, Unit] | None:
    """Return the items that a question for several things asks for, in one text, and the unit that states them."""
    if not question.lists:
        return None
    seen = dict[str, tuple[float, str, Unit]]()
    for unit in (item.unit for item in found[:_LOOKED_AT]):
        above = f"{unit.heading} {unit.opening}"
        if above in seen:
            continue
        seen[above] = 0.0, "", unit
        if unit.row is not None:
            values = _column(question, unit, finder)
        else:
            values = [" ".join(without_markup(text).split()).rstrip(_END) for text in unit.items]
        fits = 1 < len(values) <= _MOST_ITEMS
        if not fits:
            continue
        joined = ("；" if question.language == "zh" else "; ").join(values)
        share, least = finder.share(question, above) if len(joined) <= _LONGEST else (0.0, 0.0)
        if share >= _COVERED and least >= _LEAST:
            seen[above] = share, joined, unit
    _, words, unit = max(seen.values(), key=lambda one: one[0], default=(0.0, "", found[0].unit))
    return (words, unit) if words else None


def _column(question: Question, unit: Unit, finder: Finder) -> list[str]:
    """Return the cells of the column whose header a question names."""
    if unit.row is None or unit.row.cells[0].header == DOCUMENT or not question.focus:
        return []
    headers = [cell.header for cell in unit.row.cells]
    focus = set(question.words_of(question.focus))
    header = next((header for header in headers if focus.issubset(question.words_of(header))), "")
    # A table may go on in another passage.
    rows = {finder.passages[one.passage - 1].start + one.start: one.row for one in finder.units
            if one.row and [cell.header for cell in one.row.cells] == headers}
    cells = [cell for at in sorted(rows) for cell in rows[at].cells]
    return list(dict.fromkeys(" ".join(without_markup(cell.value).split()) for cell in cells if cell.header == header))


def counted(question: Question, found: Sequence[Found]) -> tuple[str, Unit] | None:
    """Return "2人" where a Chinese question asks for 几名副组长 and a sentence or row has 副组长2人 or 2名副组长."""
    match = _COUNTED.search(question.asking)
    if match is None:
        return None
    noun = re.escape(match["noun"])
    stated = re.compile(rf"{noun}\s?({_NUMBER})|({_NUMBER}){noun}")
    places = [(hit[1] or hit[2], item.unit) for item in found[:_LOOKED_AT] if (hit := stated.search(item.unit.text))]
    return places[0] if len({words for words, _ in places}) == 1 else None


def verdict(question: Question, found: Sequence[Found], finder: Finder) -> tuple[str, Unit] | None:
    """Return the words that answer a yes-or-no question, and the unit that states them; `found` has the best first."""
    best = found[0].unit
    if best.asked:
        own = [item.unit for item in found if (item.unit.passage, item.unit.asked) == (best.passage, best.asked)]
        answer = min(own, key=lambda unit: unit.start)
        said = _VERDICT.match(answer.text)
        return (said["said"], answer) if said and _is_same(question, best.asked) else None
    if found[0].covered < (_HAN_SAID if question.language == "zh" else _SAID) or _LIMITED.search(question.text):
        return None
    asked = frozenset(question.words_of(question.text))
    if question.language == "zh":
        denied = _HAN_DENIED.search(best.text)
        if denied is None or _LIMITED.search(best.text) or not asked.issuperset(question.words_of(denied["what"])):
            return None
        return denied[0], best
    denials = {content_words(match["verb"] or match["other"]) for match in _DENIED.finditer(best.text)}
    is_denied = question.language == "en" and not _LIMITED.search(best.text) and any(
        words and asked.issuperset(words) for words in denials) and finder.share(question, best.text)[0] >= _SAID
    return ("No", best) if is_denied else None


def _is_same(question: Question, other: str) -> bool:
    """Return True if two questions share most of their words, and all figures."""
    asked, words = set(question.words_of(question.text)), set(question.words_of(other))
    same_figures = set(re.findall(r"\d+", question.text)) == set(re.findall(r"\d+", other))
    return same_figures and len(asked & words) >= _SAME * len(asked | words)
