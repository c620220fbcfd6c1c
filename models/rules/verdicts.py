"""Yes or no, where a sentence says it: the answer in a list of questions, or a sentence that denies what is asked."""

import re
from collections.abc import Sequence

from .content_words import content_words
from .finder import Finder, Found
from .question import Question
from .units import Unit

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
