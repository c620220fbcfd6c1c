"""Cells of a column: which are empty, and how many may differ from the column's kind."""

from collections.abc import Callable, Mapping
from typing import TypeVar

DASHES = frozenset({"", "-", "–", "—", "−", "--", "---", "‐", "‑", "――"})
_NOTHING = frozenset({
    "n/a", "n.a.", "na", "#n/a", "null", "none", "nil", "nan", "?", "??", "???", ".", "..", "...", "…", "unknown",
    "not available", "not applicable", "tbd", "tba", "k.a.", "k. a.", "keine angabe", "s.o.", "无", "未知", "暂无"})
"""What says that there is no value, in a column of numbers, dates or truth values. In one of texts it may be a name."""
_LONGEST_NOTHING = max(map(len, _NOTHING))
_MAY_DIFFER = 0.1
"""The share of cells that may differ from a column's kind. A remark in one of ten cells says nothing about the other
nine; with more, sums would leave out too much of the column to be called its sum."""
_SHORT_COLUMN = 5
"""In a column of this many cells, one may differ, although it is more than one of ten."""

Read = TypeVar("Read")


def says_nothing(cell: str) -> bool:
    """Return True for a cell that is empty, or only says that there is no value."""
    text = cell.strip()
    return text in DASHES or (len(text) <= _LONGEST_NOTHING and text.lower() in _NOTHING)


def read_most(cells: Mapping[str, int], read: Callable[[str], Read | None]) -> dict[str, Read]:
    """Read the distinct cells of a column, or none if too many of them cannot be read.

    Args:
        cells: the distinct cells that are not empty, each with how often it occurs.
        read: returns None for a cell that cannot be read.
    """
    may_differ, differ = most_that_differ(sum(cells.values())), 0
    results: dict[str, Read] = {}
    for cell, number in cells.items():
        result = read(cell)
        if result is not None:
            results[cell] = result
        elif (differ := differ + number) > may_differ:
            return {}
    return results


def most_that_differ(cells: int) -> int:
    """Return how many cells of a column, of all that are not empty, may be of another kind than the column."""
    return max(int(cells * _MAY_DIFFER), 1 if cells >= _SHORT_COLUMN else 0)
