"""Finding names in a text as whole words, not as pieces of longer ones."""

from collections.abc import Iterable

from ..schemas.naming import canonical_name, normalise


def has_name(text: str, name: str) -> bool:
    """Return True if a text contains a whole name, regardless of case and width; Chinese has no word boundaries."""
    return has_any_name(text, [name])


def has_any_name(text: str, names: Iterable[str]) -> bool:
    """Return True if a text contains one of several names; see `has_name`."""
    folded = normalise(text)
    return any(_has_whole_word(folded, canonical_name(name)) for name in names)


def _has_whole_word(folded: str, name: str) -> bool:
    """Return True if a folded text has a name that is not a part of a longer word; an empty name is in no text."""
    start = folded.find(name)
    while name and start >= 0:
        end = start + len(name)
        before, after = folded[start - 1 : start], folded[end : end + 1]
        begins_word = not (_is_word_letter(before) and _is_word_letter(name[0]))
        ends_word = not (_is_word_letter(name[-1]) and _is_word_letter(after))
        if begins_word and ends_word:
            return True
        start = folded.find(name, start + 1)
    return False


def _is_word_letter(character: str) -> bool:
    """Return True for a letter or digit of a script with spaces between words: any but Chinese characters."""
    return character.isalnum() and not "\u3400" <= character <= "\u9fff"
