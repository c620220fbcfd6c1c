"""Scores of one answer against the expected ones: exact match, F1, and containment."""

import re
import string
from collections import Counter
from collections.abc import Sequence

from ..schemas.naming import normalise

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff]")
_PUNCTUATION = str.maketrans("", "", string.punctuation + "，。、；：？！“”‘’（）《》「」『』【】—…·")


def normal_answer(text: str) -> str:
    """Normalise an answer like SQuAD and MuSiQue: lower case, no punctuation or English articles, single spaces.

    Args:
        text: an answer in any script; its width is folded like that of names (`schemas.naming`).
    """
    return " ".join(_ARTICLES.sub(" ", normalise(text).translate(_PUNCTUATION)).split())


def exact_match(answer: str, expected: Sequence[str]) -> float:
    """Return 1.0 if the normalised answer equals an expected one, else 0.0."""
    return float(any(normal_answer(answer) == normal_answer(accepted) for accepted in expected))


def f1(answer: str, expected: Sequence[str]) -> float:
    """Return the best F1 of the answer's tokens against one of the expected answers, 0 to 1.

    Args:
        answer: the answer; two empty texts match fully.
        expected: the accepted answers. Tokens are words, and single Chinese or Japanese characters.
    """
    return max((_overlap(_tokens(answer), _tokens(accepted)) for accepted in expected), default=0.0)


def holds(answer: str, expected: Sequence[str]) -> bool:
    """Return True if the answer contains an expected answer, but not within a longer Latin word or number."""
    tokens = f" {' '.join(_tokens(answer))} "
    return any(f" {' '.join(given)} " in tokens for accepted in expected if (given := _tokens(accepted)))


def _tokens(text: str) -> list[str]:
    return _HAN.sub(lambda match: f" {match.group()} ", normal_answer(text)).split()


def _overlap(given: list[str], wanted: list[str]) -> float:
    if not given or not wanted:
        return float(given == wanted)
    same = sum((Counter(given) & Counter(wanted)).values())
    return 2 * same / (len(given) + len(wanted))
