"""Comparisons of two things: recognised, asked for each side, and decided by dates or numbers."""

import re
from dataclasses import dataclass
from typing import Literal

from .content_words import language_of

Wanted = Literal["least", "greatest", "same"]


@dataclass(frozen=True)
class Comparison:
    """A question that compares two things by one property.

    `asked` are the questions for each side; `wanted` says which side answers it.
    """

    sides: tuple[str, str]
    asked: tuple[str, str]
    wanted: Wanted


_SIDES = r"(?P<a>[^,?]+?),? or (?P<b>[^,?]+?)\s*\?*$"
_ENGLISH_FORMS = (
    (r"born (?:first|earlier)|(?:is|was) older", "When was {} born?", "least"),
    (r"born (?:last|later)|(?:is|was) younger", "When was {} born?", "greatest"),
    (r"died? (?:first|earlier)", "When did {} die?", "least"),
    (r"died? (?:last|later)", "When did {} die?", "greatest"),
    (r"(?:founded|established|created|started) (?:first|earlier)", "When was {} founded?", "least"),
    (r"(?:founded|established|created|started) (?:last|later)", "When was {} founded?", "greatest"),
    (r"(?:came|come) out (?:first|earlier)|(?:released|published) (?:first|earlier)", "When was {} released?", "least"),
    (r"(?:built|completed|opened) (?:first|earlier)", "When was {} built?", "least"),
    (r"longer", "How long is {}?", "greatest"),
    (r"taller|higher", "How high is {}?", "greatest"),
    (r"(?:more populous|(?:larger|bigger|greater) population|more (?:people|inhabitants))",
     "What is the population of {}?", "greatest"),
    (r"(?:larger|bigger)", "How large is {}?", "greatest"),
    (r"shorter", "How long is {}?", "least"),
    (r"smaller", "How large is {}?", "least"),
)
_ENGLISH_SAME = re.compile(
    r"^(?:are|were|is|was|do|did|does|have)\s+(?:both\s+)?(?P<a>[^,?]+?)\s+and\s+(?P<b>[^,?]+?)\s+(?:both\s+)?"
    r"(?:(?:have|share|of|from|born in|located in|in|lie in)\s+)*the same (?P<noun>[a-z]+)\s*\??$", re.IGNORECASE)
_CHINESE_FORMS = (
    (r"出生(?:得)?(?:更|较)?早|先出生|(?:更早|较早|先)出生|年龄(?:更|较)?大|更年长", "{}出生于哪一年？", "least"),
    (r"出生(?:得)?(?:更|较)?晚|后出生|更晚出生|更年轻|年龄(?:更|较)?小", "{}出生于哪一年？", "greatest"),
    (r"先(?:去世|逝世)|更早(?:去世|逝世)|(?:去世|逝世)(?:得)?更?早", "{}去世于哪一年？", "least"),
    (r"(?:更早|较早|先)(?:成立|创立|创建)|(?:成立|创立|创建)(?:得|时间)?(?:更|较)?早", "{}成立于哪一年？", "least"),
    (r"(?:更晚|后)(?:成立|创立|创建)|(?:成立|创立|创建)(?:得|时间)?(?:更|较)?晚", "{}成立于哪一年？", "greatest"),
    (r"人口(?:更|较)?多", "{}的人口是多少？", "greatest"),
    (r"(?:更|较)长", "{}有多长？", "greatest"),
    (r"(?:更|较)高", "{}有多高？", "greatest"),
    (r"面积(?:更|较)?大|(?:更|较)大", "{}的面积是多少？", "greatest"),
)
_CHINESE_BEFORE = re.compile(r"^(?P<a>[^，,？?]+?)(?:和|与|跟|、)(?P<b>[^，,？?]+?)[，,]?(?:相比)?[，,]?(?:两[者人])?"
                             r"(?:中)?(?:谁|哪一?[个位座条家所])的?(?P<form>[^？?]+)[？?]*$")
_CHINESE_AFTER = re.compile(r"^(?:谁|哪一?[个位座条家所])的?(?P<form>[^，,？?]+)[，,：:]\s*(?P<a>[^，,？?]+?)"
                            r"(?:还是|或者?|和)(?P<b>[^，,？?]+?)[？?]*$")


def comparison(question: str) -> Comparison | None:
    """The comparison a question makes, or None where it makes none that the rules know.

    Args:
        question: a question in English or Chinese.
    """
    return _chinese(question.strip()) if language_of(question) == "zh" else _english(question.strip())


def _english(question: str) -> Comparison | None:
    same = _ENGLISH_SAME.match(question)
    if same:
        a, b, noun = same["a"], same["b"], same["noun"]
        return Comparison((a, b), (f"What is the {noun} of {a}?", f"What is the {noun} of {b}?"), "same")
    for form, asked, wanted in _ENGLISH_FORMS:
        match = re.match(rf"^(?:who|which|what)\b[^,?]*\b(?:{form})\b[^,?]*,\s*{_SIDES}", question, re.IGNORECASE)
        if match:
            return _of(match["a"], match["b"], asked, wanted)
    return None


def _chinese(question: str) -> Comparison | None:
    match = _CHINESE_BEFORE.match(question) or _CHINESE_AFTER.match(question)
    if match is None:
        return None
    for form, asked, wanted in _CHINESE_FORMS:
        if re.search(form, match["form"]):
            return _of(match["a"], match["b"], asked, wanted)
    return None


def _of(a: str, b: str, asked: str, wanted: str) -> Comparison:
    choice: Wanted = "least" if wanted == "least" else "greatest"
    return Comparison((a.strip(), b.strip()), (asked.format(a.strip()), asked.format(b.strip())), choice)


_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "千": 1e3, "万": 1e4, "亿": 1e8}


def quantity(words: str, *, date: bool) -> tuple[float, ...] | None:
    """What a date or number amounts to, for comparing.

    Args:
        words: a span such as '7 November 1867', '1930年12月30日' or '3,800万人'.
        date: whether it is a date.

    Returns:
        (year, month, day), 0 for parts not given, negative years before Christ; or (number,);
        None where no number can be read.
    """
    return _date(words) if date else _number(words)


def _date(words: str) -> tuple[float, ...] | None:
    year = re.search(r"(\d{3,4})|(\d{1,4})(?=\s*(?:年|BC|AD|CE))", words)
    if year is None:
        return None
    sign = -1 if re.search(r"BC|公元前", words) else 1
    named = next((i + 1 for i, name in enumerate(_MONTHS) if name in words.casefold()), 0)
    month = re.search(r"(\d{1,2})\s*月", words)
    day = re.search(r"(?<!\d)(\d{1,2})(?!\d)(?:\s*[日号]|(?=,? \d)|(?= [A-Z]))", words)
    return (sign * float(year.group()), float(month.group(1)) if month else float(named),
            float(day.group(1)) if day else 0.0)


def _number(words: str) -> tuple[float, ...] | None:
    match = re.search(r"\d[\d,，]*(?:\.\d+)?", words)
    if match is None:
        return None
    value = float(re.sub(r"[,，]", "", match.group()))
    for word, scale in _SCALES.items():
        if word in words[match.end() :]:
            value *= scale
    return (value,)
