"""Cells of a column: which are empty, how many may differ from the column's kind, and which are lists."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from .lexicon import WORDS
from .number_cells import read_number
from .patterns import read_patterns

DASHES = frozenset({"", "-", "–", "—", "−", "--", "---", "‐", "‑", "――"})
_NOTHING = WORDS["cells without a value"]  # only in a column of numbers, dates or truth values: in one of texts, a name
_LONGEST_NOTHING = max(map(len, _NOTHING))
_MAY_DIFFER = 0.1
"""The share of cells that may differ from a column's kind. A remark in one of ten cells says nothing about the other
nine; with more, sums would leave out too much of the column to be called its sum."""
_SHORT_COLUMN = 5  # in a column of this many cells, one may differ, although it is more than one of ten
_SEPARATORS = ("\n", ";", "；", "|", "、", ",", "，")  # commas last: items of the others may have commas in them
_FORMS = {name: re.compile(form) for name, form in read_patterns("cells.toml")["lists"].items()}
_LONGEST_ITEM = 80  # characters
_MOST_WORDS, _MOST_WORDS_AT_COMMAS = 10, 5  # of an item; sentences have commas, too, and between them more words
_NEARLY_ALL = 0.9  # the share of a column's items that must look like items
_MANY_LENGTHS = 2  # places have few lengths, too, but their parts are single words
_ENOUGH = 0.05  # the share of cells that must have a separator, unless all items stand alone; else it is part of words
_MIXING = 0.3  # the share of first items that are also later ones or alone, and of later ones that are first or alone
_OF_WORDS, _RECURRING = 0.8, 0.1  # in lists of names: the shares of names of several words, and of repetitions

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


def read_lists(cells: Mapping[str, int]) -> dict[str, list[str]] | None:
    """Return the items of each cell of a column of lists, or None if the cells are no lists.

    Args:
        cells: the distinct cells that are not empty, each with how often it occurs.
    """
    for separator in _SEPARATORS:
        is_comma = separator in {",", "，"}
        split = {cell: items for cell in cells if len(items := _split_cell(cell, separator)) > 1}
        if not split or not _are_lists(split, cells, is_comma=is_comma):
            continue
        lists = {cell: split.get(cell) or [_clean_item(cell)] for cell in cells}
        if not is_comma:  # the items may be lists with commas: some cells repeat a field, others have commas in it
            count_of_item = Counter[str]()
            for cell, items in lists.items():
                count_of_item.update(dict.fromkeys(items, cells[cell]))
            parts_of_item = read_lists(count_of_item) or {}
            lists = {cell: [part for item in items for part in parts_of_item.get(item, [item])]
                     for cell, items in lists.items()}
        return _with_last_items(lists)
    return None


def _are_lists(split: Mapping[str, Sequence[str]], cells: Mapping[str, int], *, is_comma: bool) -> bool:
    """Return True if the parts of the cells that have a separator are items of lists: short, and no sentences."""
    parts = [part for items in split.values() for part in items]
    are_many = sum(map(cells.__getitem__, split)) >= _ENOUGH * sum(cells.values())
    if not are_many and not all(part in cells for part in parts):  # "Law, Tax" is a list beside "Law" and "Tax"
        return False
    most_words = _MOST_WORDS_AT_COMMAS if is_comma else _MOST_WORDS
    like_items = sum(len(part) <= _LONGEST_ITEM and len(part.split()) <= most_words
                     and not _FORMS["sentence"].search(part) for part in parts)
    return like_items >= _NEARLY_ALL * len(parts) and (not is_comma or _are_alike(split, parts, cells))


def _split_cell(cell: str, separator: str) -> list[str]:
    """Return the items of a cell; a separator within brackets or quotes separates nothing."""
    if separator not in cell:
        return [cell]
    if separator != "\n":  # a line ends also within a bracket that is left open
        cell = _FORMS["bracketed"].sub(lambda group: group[0].replace(separator, "\0"), cell)
    return [item for part in cell.split(separator) if (item := _clean_item(part.replace("\0", separator)))]


def _clean_item(part: str) -> str:
    return _FORMS["bullet"].sub("", " ".join(part.split()))


def _are_alike(split: Mapping[str, Sequence[str]], parts: Sequence[str], cells: Iterable[str]) -> bool:
    """Return True if what commas separate are things of one kind, and not the parts of one name or place."""
    if sum(_FORMS["address"].search(item) is not None for item in parts) >= _NEARLY_ALL * len(parts):
        return True
    if all(_FORMS["figures"].fullmatch(item) for item in parts):
        return not all(map(read_number, split))  # "1,234" is one number
    # The same items are first, later and alone: "Berlin, Germany" has cities before countries.
    plain = {item: _clean_item(_FORMS["bracketed"].sub("", item)) for item in (*cells, *parts)}
    alone = [plain[cell] for cell in cells if cell not in split]
    firsts = [plain[items[0]] for items in split.values()]
    laters = [plain[item] for items in split.values() for item in items[1:]]
    are_firsts_mixed = sum(item in {*laters, *alone} for item in firsts) >= _MIXING * len(firsts)
    are_laters_mixed = sum(item in {*firsts, *alone} for item in laters) >= _MIXING * len(laters)
    if are_firsts_mixed and are_laters_mixed:
        return True
    # Names of several words that hardly recur, in lists of many lengths.
    have_many_lengths = len(set(map(len, split.values()))) >= _MANY_LENGTHS
    hardly_recur = len(parts) - len(set(parts)) <= _RECURRING * len(parts)
    are_of_words = sum(" " in item for item in parts) >= _OF_WORDS * len(parts)
    return have_many_lengths and hardly_recur and are_of_words and not any(map(str.isdigit, "".join(parts)))


def _with_last_items(lists: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return lists with two items for a last part such as "plums and apples", if others have both."""
    known = {item for items in lists.values() for item in items}
    complete: dict[str, list[str]] = {}
    for cell, items in lists.items():
        last = _FORMS["and_before"].sub("", items[-1])
        parts = _FORMS["and"].split(last)
        complete[cell] = [*items[:-1], *(parts if known.issuperset(parts) else [last])]
    return complete
