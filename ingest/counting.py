"""Counts of what a reader leaves out, in words."""

from collections.abc import Mapping


def list_counts(counts: Mapping[str, int]) -> str:
    """Return counts as text ("2 pictures, 1 comment"); "" if all are 0.

    Args:
        counts: the number of each kind of thing, named in the singular.
    """
    return ", ".join(f"{number:,} {name}{'s' * (number != 1)}" for name, number in counts.items() if number)
