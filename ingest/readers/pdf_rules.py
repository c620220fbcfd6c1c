"""Horizontal rules of a PDF page: thin lines around the header and rows of a table."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pdfplumber.page import Page

_LEVEL = 1.5
"""The largest vertical distance in points between pieces of one rule."""
_NEAR = 3.0
"""The largest distance in points between pieces of a rule, or between the ends of rules of one length."""
_THICKEST = 2.0
"""The largest thickness of a rule; a thicker rectangle is a background."""
_SHORTEST = 60.0
_FEWEST = 3
_MOST = 500
"""The most rules of a page; a page with more is a drawing."""


class Rule(NamedTuple):
    """A horizontal rule."""

    y: float
    x0: float
    x1: float


def read_rules(page: Page) -> list[Rule]:
    """Return the horizontal rules of a page from top to bottom, with their pieces joined; none if too many."""
    pieces = sorted(Rule((shape["top"] + shape["bottom"]) / 2, shape["x0"], shape["x1"])
                    for shape in (*page.lines, *page.rects) if shape["bottom"] - shape["top"] <= _THICKEST)
    rules = [rule for level in _levels(pieces) for rule in _join_pieces(level)]
    return rules if len(rules) <= _MOST else []


def group_rules(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Return the groups of at least three rules that begin and end at the same places."""
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


def _join_pieces(level: Sequence[Rule]) -> list[Rule]:
    joined: list[Rule] = []
    for piece in sorted(level, key=lambda piece: piece.x0):
        if joined and piece.x0 <= joined[-1].x1 + _NEAR:
            joined[-1] = joined[-1]._replace(x1=max(joined[-1].x1, piece.x1))
        else:
            joined.append(piece)
    return joined
