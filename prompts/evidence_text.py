"""The evidence for a question as a model reads it: numbered passages, facts and reports."""

import re
from collections.abc import Sequence

from ..schemas.naming import canonical_name
from ..schemas.retrieval import Passage
from .rendering import number_items

# A line that is one by itself: a row, an item of a list, a heading, a quote.
_SET_APART = re.compile(r"^\s*(?:[|#>*+\-•·]|\d+[.)、])")
_MARKS = "#= \t*_"


def evidence_block(items: Sequence[Passage]) -> str:
    """Return the items as a numbered list, from 1."""
    return number_items(item.statement or _passage(item) for item in items)


def _passage(item: Passage) -> str:
    return f"{item.header}\n{_flowing(_without_title(item))}"


def _without_title(item: Passage) -> str:
    """Return the text of a passage without a heading that only repeats its title."""
    first, _, rest = item.text.partition("\n")
    heading = canonical_name(first.strip(_MARKS))
    return rest.lstrip() if rest.strip() and heading == canonical_name(item.title) else item.text


def _flowing(text: str) -> str:
    """Return a text whose line breaks within a paragraph are spaces: where a file broke its lines says nothing."""
    lines: list[str] = []
    for paragraph in re.split(r"\n[^\S\n]*\n\s*", text):
        if lines:
            lines.append("")
        joinable = False
        for line in paragraph.split("\n"):
            own = bool(_SET_APART.match(line))
            if lines and joinable and not own:
                lines[-1] = f"{lines[-1]}{_between(lines[-1], line)}{line.strip()}"
            else:
                lines.append(line.rstrip())
            joinable = not line.lstrip().startswith(("|", "#"))
    return "\n".join(lines)


def _between(before: str, after: str) -> str:
    """Return the separator of two joined lines: a space, or nothing in a script without spaces."""
    return "" if "\u2e80" <= before[-1:] <= "\uffef" and "\u2e80" <= after.strip()[:1] <= "\uffef" else " "
