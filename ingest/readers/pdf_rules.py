"""Horizontal rules of a PDF page: thin lines that enclose a header and the rows of a table."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pdfplumber.page import Page

_LEVEL = 1.5
"""Points by which the pieces of a rule may lie higher or lower."""
_NEAR = 3.0
"""Points by which pieces of a rule, or the ends of rules of one length, may lie apart."""
_THICKEST = 2.0
"""A thicker rectangle is the background of something."""
_SHORTEST = 60.0
_FEWEST = 3
_MOST = 500
"""A page with more rules is a drawing."""


class Rule(NamedTuple):
    """A horizontal rule."""

    y: float
    x0: float
    x1: float


def read_rules(page: Page) -> list[Rule]:
    """Return the horizontal rules of a page from top to bottom, their pieces joined; none if it has too many."""
    pieces = sorted(Rule((shape["top"] + shape["bottom"]) / 2, shape["x0"], shape["x1"])
                    for shape in (*page.lines, *page.rects) if shape["bottom"] - shape["top"] <= _THICKEST)
    rules = [rule for level in _levels(pieces) for rule in _joined(level)]
    return rules if len(rules) <= _MOST else []


def group_rules(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Return those of at least three rules that begin and end at the same places."""
    groups: list[list[Rule]] = []
    for rule in rules:
        if rule.x1 - rule.x0 < _SHORTEST:
            continue
        same = [group for group in groups
                if abs(group[0].x0 - rule.x0) <= _NEAR and abs(group[0].x1 - rule.x1) <= _NEAR]
        if same:
            same[0].append(rule)
        else:
            groups.append([rule])
    return [group for group in groups if len(group) >= _FEWEST]


def _levels(pieces: Sequence[Rule]) -> Iterator[list[Rule]]:
    level: list[Rule] = []
    for piece in pieces:
        if level and piece.y - level[0].y > _LEVEL:
            yield level
            level = []
        level.append(piece)
    if level:
        yield level


def _joined(level: Sequence[Rule]) -> list[Rule]:
    joined: list[Rule] = []
    for piece in sorted(level, key=lambda piece: piece.x0):
        if joined and piece.x0 <= joined[-1].x1 + _NEAR:
            joined[-1] = joined[-1]._replace(x1=max(joined[-1].x1, piece.x1))
        else:
            joined.append(piece)
    return joined
