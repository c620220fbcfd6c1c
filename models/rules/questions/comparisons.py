"""Comparisons of two things: recognised, asked for each side, and decided by dates or numbers."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ...parsing.parser import Parser
from ..content_words import language_of
from ..lexicon import ENGLISH_CONCEPTS, words

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

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


_LONGEST = 300
"""Characters: whoever compares two things by one property needs no more."""
_EVENTS = {"bear": "When was {} born?", "die": "When did {} die?", "found": "When was {} founded?",
           "establish": "When was {} founded?", "create": "When was {} founded?", "start": "When was {} founded?",
           "form": "When was {} formed?", "release": "When was {} released?", "publish": "When was {} published?",
           "come": "When was {} released?", "build": "When was {} built?", "complete": "When was {} built?",
           "open": "When was {} opened?"}
_EARLIER = words("first earlier older oldest before earliest")
_LATER = words("last later younger youngest after latest")
_LESS = words("shorter smaller lighter fewer less lower cheaper slower fewest least smallest shortest lowest younger")
_DEGREES = _LESS | words("more most fewer fewest deeper deepest wider widest warmer colder richer earlier")
_PEOPLED = words("population inhabitants populous people")
_SIZES = {"tall": "high"}
_CHINESE_EVENTS = (("出生", "{}出生于哪一年？"), ("去世", "{}去世于哪一年？"), ("逝世", "{}去世于哪一年？"),
                   ("成立", "{}成立于哪一年？"), ("创", "{}成立于哪一年？"), ("建", "{}建于哪一年？"))
# Each looks ahead for the end first: after that, the first place where it can go on is the one.
_CHINESE_ORDER = re.compile(r"^(?P<a>[^，,？?][^，,？?比]*?)(?:是否)?比(?=[^，,？?吗]++吗?[？?]*+$)"
                            r"(?P<b>[^，,？?吗]+?)(?P<form>[更较早晚先后]{0,4}"
                            rf"(?:{'|'.join(event for event, _ in _CHINESE_EVENTS)})[^，,？?吗]*)")
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
_CHINESE_BEFORE = re.compile(r"^(?=[^？?]++[？?]*+$)(?P<a>[^，,？?][^，,？?和与跟、]*+)[和与跟、](?P<b>[^，,？?]+?)"
                             r"[，,]?(?:相比)?[，,]?(?:两[者人])?中?(?:谁|哪一?[个位座条家所])的?(?P<form>[^？?]+)")
_CHINESE_AFTER = re.compile(r"^(?:谁|哪一?[个位座条家所])的?(?P<form>[^，,？?：:]++)[，,：:]\s*+"
                            r"(?=[^，,？?]++[？?]*+$)(?P<a>[^，,？?]+?)(?:还是|或者?|和)(?P<b>[^，,？?]++)")


def comparison(question: str, parser: Parser) -> Comparison | None:
    """The comparison a question makes, or None where it makes none that the rules know.

    Args:
        question: a question in English or Chinese.
        parser: parses English.
    """
    text = question.strip()
    if len(text) > _LONGEST:
        return None
    if language_of(text) == "zh":
        return _chinese(text)
    doc = parser.parse(text)
    lower = [token.lower_ for token in doc]
    if lower and lower[0] in {"are", "were", "is", "was", "do", "did", "does", "have"}:
        return _same(doc, lower) or _order(doc, lower)
    return _choice(doc, lower)


def _choice(doc: "Doc", lower: list[str]) -> Comparison | None:
    """Of the kind 'Which is longer, A or B?'."""
    if "or" not in lower or not lower or lower[0] not in {"who", "which", "what"}:
        return None
    joint = len(lower) - 1 - lower[::-1].index("or")
    marks = [i for i, token in enumerate(doc[:joint]) if token.text in {",", ":"} and i < joint - 1]
    begin = marks[-1] + 1 if marks else next(
        (i + 1 for i in range(joint - 1, 0, -1) if lower[i] in _EARLIER | _LATER or doc[i].tag_ in {"JJR", "RBR"}), 0)
    sides = _text(doc, begin, joint), _text(doc, joint + 1, len(doc))
    if not begin or not all(sides):
        return None
    compared = _compared(doc[:begin], lower[:begin])
    return _of(*sides, *compared) if compared else None


def _compared(opening: "Span", lower: list[str]) -> tuple[str, Wanted] | None:
    """What is asked of each side, and which of them is wanted."""
    held = frozenset(lower)
    degree = next((token for token in opening if token.tag_ in {"JJR", "RBR", "JJS", "RBS"}), None)
    event = next((asked for token in opening if (asked := _EVENTS.get(token.lemma_.lower()))), None)
    if (event or held & {"older", "oldest", "younger", "youngest"}) and held & (_EARLIER | _LATER):
        return event or _EVENTS["bear"], "least" if held & _EARLIER else "greatest"
    if degree is None or not (held & _PEOPLED or degree.lower_ in ENGLISH_CONCEPTS or degree.lower_ in _DEGREES):
        return None
    wanted: Wanted = "least" if degree.lower_ in _LESS else "greatest"
    if held & _PEOPLED:
        many = "inhabitants" in held or "people" in held
        return f"{'How many inhabitants does {} have' if many else 'What is the population of {}'}?", wanted
    if degree.lemma_ in {"more", "many", "few", "fewer", "most", "less"} or degree.lower_ in {"more", "fewer", "most"}:
        noun = next((token for token in opening[degree.i + 1 :] if token.tag_ in {"NN", "NNS"}), None)
        return (f"How many {noun.lower_} does {{}} have?", wanted) if noun is not None else None
    base = degree.lemma_.lower()
    return f"How {_SIZES.get(base, base)} is {{}}?", wanted


def _same(doc: "Doc", lower: list[str]) -> Comparison | None:
    """Of the kind 'Are A and B of the same nationality?'."""
    if "same" not in lower or "and" not in lower[: lower.index("same")]:
        return None
    same, joint = lower.index("same"), lower.index("and")
    noun = _text(doc, same + 1, len(doc))
    end = next((i for i in range(joint + 1, same) if lower[i] == "both"
                or (i > joint + 1 and doc[i].pos_ in {"ADP", "VERB", "DET", "AUX"})), same)
    start = 2 if lower[1] == "both" else 1
    a, b = _text(doc, start, joint), _text(doc, joint + 1, end)
    if not a or not b or not noun or " " in noun:
        return None
    return Comparison((a, b), (f"What is the {noun} of {a}?", f"What is the {noun} of {b}?"), "same")


def _order(doc: "Doc", lower: list[str]) -> Comparison | None:
    """Of the kind 'Was A born before B?'."""
    at = next((i for i, word in enumerate(lower) if word in {"before", "after", "earlier", "later"} and i > 1), 0)
    asked = _EVENTS.get(doc[at - 1].lemma_.lower()) if at else None
    than = at + 1 + (lower[at + 1 : at + 2] == ["than"])
    if asked is None or not _text(doc, than, len(doc)):
        return None
    return _of(_text(doc, 1, at - 1), _text(doc, than, len(doc)), asked,
               "before" if lower[at] in _EARLIER else "after")


def _text(doc: "Doc", start: int, end: int) -> str:
    return doc[start:end].text.strip(" ,?.") if start < end else ""


def _chinese(question: str) -> Comparison | None:
    match = _CHINESE_BEFORE.match(question) or _CHINESE_AFTER.match(question) or _CHINESE_ORDER.match(question)
    if match is None:
        return None
    if match.re is _CHINESE_ORDER:
        asked = next(asked for event, asked in _CHINESE_EVENTS if event in match["form"])
        ordered = re.search("[早晚先后]", match["form"])
        return _of(match["a"], match["b"], asked, _chinese_order(match["form"])) if ordered else None
    for form, asked, wanted in _CHINESE_FORMS:
        if re.search(form, match["form"]):
            return _of(match["a"], match["b"], asked, wanted)
    return None


def _chinese_order(form: str) -> Wanted:
    return "before" if re.search("[早先]", form) else "after"


def _of(a: str, b: str, asked: str, wanted: Wanted) -> Comparison:
    return Comparison((a.strip(), b.strip()), (asked.format(a.strip()), asked.format(b.strip())), wanted)
