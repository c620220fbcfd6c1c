"""Lines such as "Capacity: 40 people" under a heading or title that names their subject.

A block of at least two such lines is read as rows of a table whose first cell is that name. Lines under a general
heading ("Contact", "Overview") belong to the heading or title above it.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from ...text.scripts import CJK
from ...text.section_lines import is_telling, lines_under
from ...text.table_rows import DOCUMENT, Cell, Row
from .lexicon import words

_LINE = re.compile(
    rf"^[ \t]{{0,8}}(?:[-*•][ \t]{{1,4}})?\*{{0,2}}(?P<key>[A-Z{CJK}][^\n:：|*?!.#]{{1,40}}?)"
    r"\*{0,2}[ \t]?[:：]\*{0,2}[ \t]{0,4}"
    r"(?P<value>[^\s|][^\n|]{0,100})$")
_NO_KEYS = words(
    "note notes example question answer warning tip hint important subject from to cc bcc date sent re ps nb todo "
    "attention http https source see q a password passcode pin 注 注意 问 答 例 例如 提示")
_NUMBERED = re.compile(r"[IVX]{1,4}\.|[A-Z]\.|\d{1,2}[.)]")
_ITEM = re.compile(r"[A-Z]\w{0,9}-\d{1,6}\Z")
"""A key that is the number of a thing: such lines list things."""
_INCLUDES = "includes"
_LONGEST_KEY = 4
"""The longest key in words."""
_LEAST_LINES = 2


def key_value_rows(text: str, title: str, heading: str, names: Callable[[str], bool], document: str = "",
                   ) -> Iterator[Row]:
    """Find the key-value lines of a text.

    Args:
        text: a chunk's text.
        title: the subject in the document's title, or "".
        heading: the headings above the chunk, outermost first, separated by " > ".
        names: returns True if a heading is a name.
        document: the document's name if its title is what names it, which then is described instead of the title.

    Returns:
        A row for each line, with the name that it describes in the first cell.
    """
    subject = document or title
    block: list[tuple[int, int, Cell]] = []
    above: tuple[str, ...] = ()
    for line in (*lines_under(text, heading, subject), None):
        match = _LINE.match(line.text) if line and not line.is_code else None
        cell = _cell(match) if match else None
        if line and cell is not None:
            block.append((line.start, line.start + len(line.text), cell))
            above = line.above
        elif line is None or line.text.strip():
            yield from _rows(block, above, title, subject, names) if len(block) >= _LEAST_LINES else ()
            block = []


def _rows(block: Sequence[tuple[int, int, Cell]], above: Sequence[str], title: str, subject: str,
          names: Callable[[str], bool]) -> Iterator[Row]:
    """Yield the lines of a block with what they describe: the nearest heading that names something."""
    owner = next((name for name in reversed(above) if _describes(name) and names(
        title if name == subject else name)), "")
    for begin, end, pair in block:
        listed = _ITEM.match(pair.header) is not None
        if named := subject if listed else owner:
            header = DOCUMENT if named == subject != title else ""
            yield Row(begin, end, (Cell(header, named), _item(pair, above) if listed else pair))


def _item(pair: Cell, above: Sequence[str]) -> Cell:
    """Return a line that lists a thing by its number as a value under the nearest heading."""
    heading = above[-1] if len(above) > 1 and above[-1] != above[0] else _INCLUDES
    return Cell(heading, f"{pair.header}: {pair.value}")


def _cell(match: re.Match[str]) -> Cell | None:
    key, value = match["key"].strip(), match["value"].strip(" *")
    key_words = key.lower().split()
    prose = ". " in value or "。" in value.rstrip("。") or value.startswith("//")
    return Cell(key, value.rstrip(".。")) if value and not prose and len(key_words) <= _LONGEST_KEY and not (
        set(key_words[:1]) & _NO_KEYS) else None


def _describes(name: str) -> bool:
    """Return True for a heading that may name something, which has words other than general ones."""
    return not _NUMBERED.match(name) and is_telling(name)
