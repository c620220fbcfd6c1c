"""Lists in the cells of a column: find the separator that the column uses, and split its cells."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

_SEPARATORS = ("\n", ";", "；", "|", "、", ",", "，")
"""In the order in which they are tried: what separates names with commas in them is tried before the comma."""
_COMMAS = frozenset({",", "，"})
_BRACKETS = re.compile(r"\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]|<[^<>]*>|\"[^\"]*\"|“[^“”]*”")
_SENTENCE = re.compile(r"[.!?]\s+\S|[。！？]|[^\W\d_]{4,}[.!?]$")
_BULLET = re.compile(r"^[-*•·]\s+")
_ADDRESS = re.compile(r"@\w")
_LONGEST_ITEM, _MOST_WORDS, _MOST_WORDS_AT_COMMAS = 80, 10, 5
_NEARLY_ALL = 0.9
_MANY_LENGTHS = 3
_ENOUGH = 0.05
"""The share of cells that must have a separator; with fewer, it is part of their words."""
_MIXING = 0.3
"""The share of items after a comma that are first or alone elsewhere: tags mix, "Berlin, Germany" does not."""


def read_lists(cells: Mapping[str, int]) -> dict[str, list[str]] | None:
    """Return the items of each cell of a column of lists, or None if the cells are no lists.

    Args:
        cells: the distinct cells that are not empty, each with how often it occurs.
    """
    for separator in _SEPARATORS:
        several = [cell for cell in cells if separator in cell]
        if not several:
            continue
        if sum(map(cells.__getitem__, several)) < _ENOUGH * sum(cells.values()):
            continue
        split = {cell: _split(cell, separator) for cell in several}
        split = {cell: items for cell, items in split.items() if len(items) > 1}
        if split and _are_items(split, separator) and (separator not in _COMMAS or _are_alike(split, cells)):
            return {cell: split.get(cell) or [_item(cell)] for cell in cells}
    return None


def _split(cell: str, separator: str) -> list[str]:
    """Return the items of a cell; a separator within brackets or quotes separates nothing."""
    if separator == "\n":
        parts = cell.split("\n")
    else:
        hidden = _BRACKETS.sub(lambda group: group[0].replace(separator, "\0"), cell)
        parts = [part.replace("\0", separator) for part in hidden.split(separator)]
    return [item for part in parts if (item := _item(part))]


def _item(part: str) -> str:
    return _BULLET.sub("", " ".join(part.split()))


def _are_items(split: Mapping[str, Sequence[str]], separator: str) -> bool:
    """Return True if nearly all parts are short and no sentences."""
    most_words = _MOST_WORDS_AT_COMMAS if separator in _COMMAS else _MOST_WORDS
    parts = [item for items in split.values() for item in items]
    short = sum(len(item) <= _LONGEST_ITEM and len(item.split()) <= most_words and not _SENTENCE.search(item)
                for item in parts)
    return short >= _NEARLY_ALL * len(parts)


def _are_alike(split: Mapping[str, Sequence[str]], cells: Iterable[str]) -> bool:
    """Return True if what commas separate are things of one kind, and not the parts of one name or place."""
    parts = [item for items in split.values() for item in items]
    if sum(_ADDRESS.search(item) is not None for item in parts) >= _NEARLY_ALL * len(parts):
        return True
    if all(re.fullmatch(r"[\d.]+", item) for item in parts):
        return True
    firsts = {items[0] for items in split.values()} | {_item(cell) for cell in cells if cell not in split}
    later = [item for items in split.values() for item in items[1:]]
    if sum(item in firsts for item in later) >= _MIXING * len(later):
        return True
    return _are_many_names(split, later)


def _are_many_names(split: Mapping[str, Sequence[str]], later: Sequence[str]) -> bool:
    """Return True for names that hardly recur, in lists of many lengths; places have few, and their countries recur."""
    lengths = Counter(map(len, split.values()))
    recurring = sum(number - 1 for number in Counter(later).values())
    return len(lengths) >= _MANY_LENGTHS and recurring * 10 <= len(later) and not any(map(str.isdigit, "".join(later)))
