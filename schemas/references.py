"""References of a sub-query to earlier answers: `{answer 1}` is the answer of the first sub-query.

Questions and names from documents never contain this form, because both pass through `escape_references` first.
"""

import re
from collections.abc import Callable

_REFERENCE = re.compile(r"\{answer ([0-9]{1,3})\}")


def reference(number: int) -> str:
    """Return the reference to the answer of the n-th sub-query, from 1."""
    return f"{{answer {number}}}"


def references(question: str) -> list[int]:
    """Return the numbers of the sub-queries that a question refers to, in order."""
    return [int(number) for number in _REFERENCE.findall(question)]


def replace_references(question: str, by: Callable[[int], str]) -> str:
    """Replace each reference in a sub-query.

    Args:
        question: the sub-query.
        by: returns the text for a number.
    """
    return _REFERENCE.sub(lambda match: by(int(match[1])), question)


def escape_references(text: str) -> str:
    """Escape references in an external text by writing them in round brackets."""
    return replace_references(text, "(answer {})".format)
