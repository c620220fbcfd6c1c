"""Fit citable items into a budget of tokens."""

from collections.abc import Sequence

from ..schemas.retrieval import Passage
from ..text.tokens import estimate_tokens

MARK_TOKENS = 4
"""Estimated tokens of the number and the mark that precede an item in a prompt."""


def item_cost(item: Passage) -> int:
    """Return the estimated tokens of an item in a prompt: its statement, or a passage's header and text."""
    if item.statement:
        return estimate_tokens(item.statement) + MARK_TOKENS
    return estimate_tokens(item.header) + estimate_tokens(item.text) + MARK_TOKENS


def fit_lines(items: Sequence[Passage], tokens: int, at_least: int = 1) -> tuple[list[Passage], int]:
    """Return the first items that fit a budget, and the number of those left out.

    The first `at_least` items are returned even if they exceed the budget.
    """
    shown: list[Passage] = []
    for item in items:
        tokens -= item_cost(item)
        if tokens < 0 and len(shown) >= at_least:
            break
        shown.append(item)
    return shown, len(items) - len(shown)
