"""The forms of answers: letters of a question's options, true or false, and names of anonymous ids.

Anonymity Reversion (Youtu-GraphRAG, appendix B) has answers of pairs of an anonymous id and a name, scored by pair.
"""

import re
from typing import NamedTuple

from ..answer_scores import f1, holds, normal_answer

_MARK = re.compile(r"(?<![A-Za-z0-9])([A-J])\s?[).．、:：）]")
_WORD = re.compile(r"[^\W\d_]+")
_AFTER = re.compile(r"(?:answer|option|choice|答案|选项|选择|应选)\W{0,3}(?:is|are|为|是)?\W{0,3}([A-J])(?![A-Za-z])",
                    re.IGNORECASE)
_JOINING = frozenset(["and", "or", "和", "与", "及"])
_TRUE = frozenset(["true", "yes", "correct", "right", "是", "对", "正确", "真"])
_FALSE = frozenset(["false", "no", "incorrect", "wrong", "否", "错", "错误", "假", "不是", "不对", "不正确"])
ID = re.compile(r"[A-Z]{2,20}#\d{1,9}")
_PAIR = re.compile(rf"({ID.pattern})[\]】\"'’”]*\s*(?:[—–-]{{1,3}}>?|→|=>?|[:：]|是|is|was)\s*"
                   r"[\"'‘“\[【]*([^\n;；,，\"”\[\]【】]+)")
_CLOSE = 0.6
"""The smallest F1 of the tokens: it allows a title or another form of the name, but not a list of guesses."""


def options(question: str) -> dict[str, str]:
    """Return the options of a question as {"A": "Warsaw", ...}: at least two, with letters in order from A."""
    found: dict[str, str] = {}
    marks: list[re.Match[str]] = []
    for mark in _MARK.finditer(question):
        if mark[1] == chr(ord("A") + len(marks)):
            marks.append(mark)
    ends = [*(mark.start() for mark in marks[1:]), len(question)]
    for mark, end in zip(marks, ends, strict=False):
        found[mark[1]] = question[mark.end():end].strip(" \n;；,，(（")
    return found if len(found) > 1 else {}


def letters(answer: str, question: str = "") -> frozenset[str]:
    """Return the letters that an answer names: "C", "A, C and D", "ABD", "C. Warsaw", "the answer is C".

    Args:
        answer: the answer.
        question: the question with its options; an answer equal to an option names that option's letter.

    Returns:
        Capital letters; empty if it names none.
    """
    words = [word for word in _WORD.findall(answer) if word.lower() not in _JOINING]
    if words and all(set(word) <= set("ABCDEFGHIJ") for word in words):
        return frozenset("".join(words))
    marked = frozenset(_MARK.findall(answer)) or frozenset(letter.upper() for letter in _AFTER.findall(answer))
    if marked:
        return marked
    given = normal_answer(answer)
    return frozenset(letter for letter, text in options(question).items() if given and normal_answer(text) == given)


def truth(answer: str) -> bool | None:
    """Return whether an answer says true or false, by its first word; None if neither."""
    first = next(iter(_WORD.findall(answer.lower())), "")
    if any(first.startswith(word) for word in _FALSE if not word.isascii()) or first in _FALSE:
        return False
    return True if first in _TRUE or any(first.startswith(word) for word in _TRUE if not word.isascii()) else None


class PairScores(NamedTuple):
    """The number of ids to name, of ids named, and of ids named correctly."""

    asked: int
    named: int
    right: int


def pairs(text: str) -> dict[str, str]:
    """Return a text's name for each id: `PERSON#532——Ishmael`, `[PERSON#532] is Ishmael`, `"PERSON#532": "Ishmael"`.

    If it gives several names, the first one counts.
    """
    found: dict[str, str] = {}
    for identifier, name in _PAIR.findall(text):
        if name.strip(" .。") and not ID.search(name):
            found.setdefault(identifier, name.strip(" .。"))
    return found


def pair_scores(answer: str, gold: str) -> PairScores:
    """Score an answer's pairs against the gold ones. A name is right if it contains the gold name and little else."""
    given, expected = pairs(answer), pairs(gold)
    right = sum(identifier in given and holds(given[identifier], [name]) and f1(given[identifier], [name]) > _CLOSE
                for identifier, name in expected.items())
    return PairScores(asked=len(expected), named=len(given.keys() & expected.keys()), right=right)
