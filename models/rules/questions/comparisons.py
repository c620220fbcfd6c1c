"""Comparisons of two things: recognised, asked for each side, and decided by dates or numbers."""

import re
from dataclasses import dataclass
from typing import Literal

from ..content_words import language_of

Wanted = Literal["least", "greatest", "same", "before", "after"]


@dataclass(frozen=True)
class Comparison:
    """A question that compares two things by one property.

    `asked` are the questions for each side; `wanted` says which side answers it, or for "same",
    "before" and "after" what must hold of the first side for the answer to be yes.
    """

    sides: tuple[str, str]
    asked: tuple[str, str]
    wanted: Wanted


_SIDES = r"(?P<a>[^,?]+?),? or (?P<b>[^,?]+?)\s*\?*$"
_ENGLISH_FORMS: tuple[tuple[str, str, Wanted], ...] = (
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
_ENGLISH_MORE = re.compile(rf"^(?:who|which|what)\b[^,?]*\b(?:has|have|had|owns?|won)\s+(?:the\s+)?"
                           rf"(?P<how>more|fewer|most|fewest)\s+(?P<noun>[a-z][a-z ]*?),\s*{_SIDES}", re.IGNORECASE)
_ENGLISH_ORDER = re.compile(
    r"^(?:was|were|did)\s+(?P<a>[^,?]+?)\s+(?P<verb>born|die|founded|established|built|completed|opened|released|"
    r"published|created)\s+(?P<order>before|earlier than|after|later than)\s+(?P<b>[^,?]+?)\s*\??$", re.IGNORECASE)
_CHINESE_EVENTS = (("出生", "{}出生于哪一年？"), ("去世", "{}去世于哪一年？"), ("逝世", "{}去世于哪一年？"),
                   ("成立", "{}成立于哪一年？"), ("创", "{}成立于哪一年？"), ("建", "{}建于哪一年？"))
_CHINESE_ORDER = re.compile(rf"^(?P<a>[^，,？?]+?)(?:是否)?比(?P<b>[^，,？?]+?)(?P<form>[更较早晚先后]*"
                            rf"(?:{'|'.join(event for event, _ in _CHINESE_EVENTS)})[^，,？?吗]*)吗?[？?]*$")
_CHINESE_FORMS: tuple[tuple[str, str, Wanted], ...] = (
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
    more = _ENGLISH_MORE.match(question)
    if more:
        most = more["how"].casefold() in {"more", "most"}
        return _of(more["a"], more["b"], f"How many {more['noun']} does {{}} have?", "greatest" if most else "least")
    order = _ENGLISH_ORDER.match(question)
    if order:
        verb = order["verb"].casefold()
        asked = "When did {} die?" if verb == "die" else f"When was {{}} {verb}?"
        return _of(order["a"], order["b"], asked, _order(order["order"]))
    for form, asked, wanted in _ENGLISH_FORMS:
        match = re.match(rf"^(?:who|which|what)\b[^,?]*\b(?:{form})\b[^,?]*,\s*{_SIDES}", question, re.IGNORECASE)
        if match:
            return _of(match["a"], match["b"], asked, wanted)
    return None


def _chinese(question: str) -> Comparison | None:
    match = _CHINESE_BEFORE.match(question) or _CHINESE_AFTER.match(question) or _CHINESE_ORDER.match(question)
    if match is None:
        return None
    if match.re is _CHINESE_ORDER:
        asked = next(asked for event, asked in _CHINESE_EVENTS if event in match["form"])
        ordered = re.search("[早晚先后]", match["form"])
        return _of(match["a"], match["b"], asked, _order(match["form"])) if ordered else None
    for form, asked, wanted in _CHINESE_FORMS:
        if re.search(form, match["form"]):
            return _of(match["a"], match["b"], asked, wanted)
    return None


def _order(words: str) -> Wanted:
    return "before" if re.search("before|earlier|[早先]", words, re.IGNORECASE) else "after"


def _of(a: str, b: str, asked: str, wanted: Wanted) -> Comparison:
    return Comparison((a.strip(), b.strip()), (asked.format(a.strip()), asked.format(b.strip())), wanted)
