"""What stands above the lines of a chunk: the labels that an author wrote, and the section that a value is given in."""

import re
from functools import cached_property

from ...schemas.documents import Chunk, Span
from ...schemas.naming import label_key
from ...text.scripts import has_han
from ...text.section_lines import Line, is_item, lines_under, section_of
from ...text.times import SECTION
from .words import stems

_FIELD = re.compile(r"[^\w\n]{0,9}(?P<name>[^\n:：|]{1,60}?)[*_\s]{0,4}[:：]")
"""The name of a form's field before its value: "*Sponsor / advisor*: Ann Lee"."""
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")


class ChunkLines:
    """The lines of one chunk with the headings above them."""

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk

    @cached_property
    def _lines(self) -> list[Line]:
        return list(lines_under(self._chunk.text, self._chunk.heading))

    def is_declared(self, label: str, start: int) -> bool:
        """Return True if the document's author wrote a label as a label, so it is not a reasoner's invention."""
        if self._chunk.text.startswith("|", start):  # a row of a table, whose labels are its headers
            return True
        field = _FIELD.match(self._chunk.text, start)
        author_labels = [field["name"]] if field else []
        line = next((line for line in self._lines if line.start >= start), None)
        if line is not None:
            author_labels += [*line.above[-1:], line.caption]
        return label in map(label_key, filter(None, author_labels))

    def section_note(self, span: Span, *known: str) -> str:
        """Return the section of a number as its qualifier, if an item of a list gives it or the section has a year."""
        # Without it, one person's votes in two elections would be two values of one thing.
        line = next((line for line in reversed(self._lines) if line.start <= span.start), None)
        if line is None or line.is_code:
            return ""
        names = {*known, self._chunk.title}
        section = section_of(line, "", names)
        is_new = not set(stems(section)) <= set(stems(" ".join(known).replace("_", " ")))
        if not is_new or not (is_item(line.text, 0) or _YEAR.search(section)):
            return ""
        return f"{SECTION[has_han(section)]}: {section_of(line, self._chunk.title, names)}"
