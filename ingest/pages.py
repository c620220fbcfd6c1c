"""Pages of printed works: where each begins in the text that they make together."""

from collections.abc import Sequence

_BETWEEN = "\n\n"


def joined(pages: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """The text of some pages, with a blank line between those that have any.

    Returns:
        The text, and where each page begins in it, in characters; one without text begins where the next one does.
    """
    parts, starts, length = list[str](), list[int](), 0
    for page in pages:
        words = page.strip()
        starts.append(length)
        if words:
            parts.append(words)
            length += len(words) + len(_BETWEEN)
    text = _BETWEEN.join(parts)
    return text, tuple(min(start, len(text)) for start in starts)
