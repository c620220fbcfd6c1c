"""Pages of printed works: where each begins in the joined text."""

from collections.abc import Sequence

_BETWEEN = "\n\n"


def join_pages(pages: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """Join the texts of pages, with a blank line between those that have text.

    Returns:
        The text, and the offset of each page in characters; a page without text begins where the next one does.
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
