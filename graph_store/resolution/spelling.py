"""Names that a slip of the pen tells apart: which entities share a form of their name with one letter less."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

LENGTHS = range(6, 41)
"""Lengths of names that may hide a slip of the pen: shorter ones have too many true neighbours."""

_BASE = 0x9E3779B97F4A7C15
"""An odd number with its bits well mixed (2^64 by the golden ratio): of the polynomials that tell forms apart."""


def slip_blocks(names: Mapping[str, str]) -> list[list[str]]:
    """Entities whose names are the same, or become so when a letter is taken out of one of them or of both.

    A name of 20 letters has 21 such forms, most of which nobody shares. So they are told apart by a number
    each, made of all names of a length at once, and written out only where two entities have the same number.

    Args:
        names: by entity; those of other lengths than `LENGTHS` are passed over.

    Returns:
        For each form that two entities or more share, these, in the order of `names`.
    """
    ids = list(names)
    of_length: dict[int, list[tuple[int, str]]] = {length: [] for length in LENGTHS}
    for row, name in enumerate(names.values()):
        if len(name) in LENGTHS:
            of_length[len(name)].append((row, name))
    found = [_forms(named, length) for length, named in of_length.items()]
    numbers, rows, places = (np.concatenate(parts) for parts in zip(*found, strict=True))
    in_order = np.sort(numbers)
    shared = np.flatnonzero(np.isin(numbers, in_order[1:][in_order[1:] == in_order[:-1]]))
    blocks: dict[str, set[int]] = {}
    for row, place in zip(rows[shared].tolist(), places[shared].tolist(), strict=True):
        name = names[ids[row]]
        blocks.setdefault(name[:place] + name[place + 1:], set()).add(row)
    return [[ids[row] for row in sorted(block)] for block in blocks.values() if len(block) > 1]


def _forms(named: Sequence[tuple[int, str]], length: int,
           ) -> tuple[NDArray[np.uint64], NDArray[np.intp], NDArray[np.intp]]:
    """Of each form of some names of a length: its number, whose it is, which letter is left out (the length: none)."""
    text = "".join(name for _, name in named).encode("utf-32-le", "surrogatepass")
    letters = np.frombuffer(text, np.uint32).reshape(-1, length).astype(np.uint64)
    powers = np.multiply.accumulate(np.full(length, _BASE, np.uint64))
    here, shifted = letters * powers, letters[:, 1:] * powers[:-1]
    none = np.zeros((len(letters), 1), np.uint64)
    before = np.concatenate([none, np.cumsum(here, axis=1, dtype=np.uint64)], axis=1)
    # What stands behind the letter that is left out moves one place to the front.
    behind = np.concatenate([np.cumsum(shifted[:, ::-1], axis=1, dtype=np.uint64)[:, ::-1], none, none], axis=1)
    rows = np.array([row for row, _ in named], np.intp)
    return ((before + behind).ravel(), np.repeat(rows, length + 1), np.tile(np.arange(length + 1), len(letters)))
