"""Lists of people under a heading that says what they are to a document: its authors, who was present.

"## Present" above "* Ann Lee @alee (guest)" and "* Bo Karl" is read as a row of the document, whose field "Present" has
these people.
"""

import re
from collections.abc import Iterator, Sequence

from ...schemas.naming import label_key
from ...text.scripts import CJK
from ...text.section_lines import LIST_MARK, Line, lines_under
from ...text.table_rows import DOCUMENT, Cell, Row
from ...text.table_rows import LIST_MARK as BETWEEN_ITEMS
from .metadata_facts import PEOPLE

_ITEM = re.compile(
    rf"{LIST_MARK.pattern}[*\[]*(?P<name>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){{1,4}}|[{CJK}]{{2,4}})\**"
    r"(?:[ \t]+\[?\(?(?P<handle>@[\w.-]{1,60}))?(?:\W|\Z)[^\n]{0,120}")
"""A name of two to five words, and a handle; what follows says more of the person."""
_CAPTION = re.compile(r"(?P<name>[^\W\d_][^\n:：.]{2,40})[:：]\s*")
_LEAST = 2
_LONGEST_HEADING = 5
"""Words of a heading; a longer one is a sentence."""
_SHORT = 3
"""Letters of a word within a name that may be in lower case: "van", "de"."""


def people_rows(text: str, heading: str, document: str) -> Iterator[Row]:
    """Find the lists of people of a text.

    Args:
        text: a chunk's text.
        heading: the headings above the chunk, outermost first, separated by " > ".
        document: the document's name in the graph; without one there is nothing to state.

    Returns:
        A row of the document for each list, with one cell of all its people.
    """
    items, said = list[Line](), ""
    for line in (*lines_under(text, heading), None):
        if line is not None and LIST_MARK.match(line.text) and not line.is_code:
            items.append(line)
        elif line is None or line.text.strip():
            yield from _row(items, said, document) if document else ()
            caption = _CAPTION.fullmatch(line.text.strip(" *")) if line else None
            items, said = [], caption["name"] if caption else ""


def _row(items: Sequence[Line], caption: str, document: str) -> Iterator[Row]:
    """Yield the row of a list if all of its items are people, as the caption or the heading above it says."""
    first = items[0] if len(items) >= _LEAST else None
    said = caption or (first.caption or "".join(first.above[-1:]) if first else "")
    people = [_ITEM.fullmatch(item.text) for item in items]
    heading = label_key(said).split()
    if first is None or len(heading) > _LONGEST_HEADING or PEOPLE.isdisjoint(heading):
        return
    if all(person and _is_name(person["name"]) for person in people):
        names = [f"{person['name']} ({person['handle']})" if person["handle"] else person["name"]
                 for person in people if person]
        yield Row(first.start, items[-1].start + len(items[-1].text),
                  (Cell(DOCUMENT, document), Cell(said, BETWEEN_ITEMS.join(names))))


def _is_name(words: str) -> bool:
    return all(not word[0].islower() or len(word) <= _SHORT for word in words.split())
