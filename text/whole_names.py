"""Whether a text contains a whole name, not a piece of a longer word."""

from collections.abc import Iterable

from ..schemas.naming import canonical_name, normalise


def has_name(text: str, name: str) -> bool:
    """Return True if a text contains a whole name, regardless of case and width; Chinese has no word boundaries."""
    return has_any_name(text, [name])


def has_any_name(text: str, names: Iterable[str]) -> bool:
    """Return True if a text contains one of several names; see `has_name`."""
    folded = normalise(text)
    return any(_stands_in(folded, canonical_name(name)) for name in names)


def _stands_in(folded: str, wanted: str) -> bool:
    at = folded.find(wanted)
    while wanted and at >= 0:
        before, after = folded[at - 1 : at], folded[at + len(wanted) : at + len(wanted) + 1]
        if not (_joins(before) and _joins(wanted[0])) and not (_joins(wanted[-1]) and _joins(after)):
            return True
        at = folded.find(wanted, at + 1)
    return False


def _joins(character: str) -> bool:
    return character.isalnum() and not "\u3400" <= character <= "\u9fff"
