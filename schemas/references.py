"""How a sub-query names the answer of an earlier one: `{answer 1}` stands for that of the first.

No question and no name of a document holds this form: both pass `literal` on their way in.
"""

import re
from collections.abc import Callable

_REFERENCE = re.compile(r"\{answer ([0-9]{1,3})\}")


def reference(number: int) -> str:
    """What stands for the answer of the n-th sub-query, from 1."""
    return f"{{answer {number}}}"


def references(question: str) -> list[int]:
    """The numbers of the sub-queries that one refers to, as they stand in it."""
    return [int(number) for number in _REFERENCE.findall(question)]


def replaced(question: str, by: Callable[[int], str]) -> str:
    """A sub-query with something else for each reference.

    Args:
        question: the sub-query.
        by: gives the text for a number.
    """
    return _REFERENCE.sub(lambda match: by(int(match[1])), question)


def literal(text: str) -> str:
    """A text from outside, which refers to no answer: what looks like a reference gets round brackets."""
    return replaced(text, "(answer {})".format)
