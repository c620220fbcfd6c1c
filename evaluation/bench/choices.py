"""The options of a question, the letters that an answer chooses, and whether it says true or false."""

import re

from ..answer_scores import normal_answer

_MARK = re.compile(r"(?<![A-Za-z0-9])([A-J])\s?[).．、:：）]")
_WORD = re.compile(r"[^\W\d_]+")
_AFTER = re.compile(r"(?:answer|option|choice|答案|选项|选择|应选)\W{0,3}(?:is|are|为|是)?\W{0,3}([A-J])(?![A-Za-z])",
                    re.IGNORECASE)
_JOINING = frozenset(["and", "or", "和", "与", "及"])
_TRUE = frozenset(["true", "yes", "correct", "right", "是", "对", "正确", "真"])
_FALSE = frozenset(["false", "no", "incorrect", "wrong", "否", "错", "错误", "假", "不是", "不对", "不正确"])


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
