"""Lines such as "Capacity: 40 people" under a heading or title that names their subject.

A block of at least two such lines is read as rows of a table whose first cell is that name. Lines under a general
heading ("Contact", "Overview") belong to the heading or title above it.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from ...text.scripts import CJK
from ...text.table_rows import DOCUMENT, Cell, Row
from .lexicon import words

_LINE = re.compile(
    rf"^[ \t]{{0,8}}(?:[-*•][ \t]{{1,4}})?\*{{0,2}}(?P<key>[A-Z{CJK}][^\n:：|*?!.#]{{1,40}}?)"
    r"\*{0,2}[ \t]?[:：]\*{0,2}[ \t]{0,4}"
    r"(?P<value>[^\s|][^\n|]{0,100})$")
_HEADING = re.compile(r"[ \t]{0,3}(?P<marks>#{1,6})[ \t]{1,4}(?P<name>[^\n]{1,100})$")
_GENERAL = words(
    "overview details detail contact contacts specification specifications summary information introduction general "
    "data facts key features about notes properties address hours opening times team people staff members agenda "
    "attendees present participants meeting slide page section chapter part appendix exhibit example "
    "quick reference test tests case cases result results "
    "概况 简介 联系方式 基本信息 参数 规格 说明")
_NO_KEYS = words(
    "note notes example question answer warning tip hint important subject from to cc bcc date sent re ps nb todo "
    "attention http https source see q a password passcode pin 注 注意 问 答 例 例如 提示")
_NUMBERED = re.compile(r"[IVX]{1,4}\.|[A-Z]\.|\d{1,2}[.)]")
_ITEM = re.compile(r"[A-Z]\w{0,9}-\d{1,6}\Z")
"""A key that is the number of a thing: such lines list things."""
_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
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
    above = [subject, *heading.split(" > ")]
    block: list[tuple[int, int, Cell]] = []
    start, code = 0, False
    for line in [*text.split("\n"), "#"]:
        code ^= _FENCE.match(line) is not None
        match = None if code else _LINE.match(line)
        cell = _cell(match) if match else None
        if cell is not None:
            block.append((start, start + len(line), cell))
        elif line.strip():
            if len(block) >= _LEAST_LINES:
                owner = next((name for name in reversed(above) if _describes(name) and names(
                    title if name == subject else name)), "")
                for begin, end, pair in block:
                    listed = _ITEM.match(pair.header) is not None
                    if named := subject if listed else owner:
                        header = DOCUMENT if named == document else ""
                        yield Row(begin, end, (Cell(header, named), _item(pair, above) if listed else pair))
            block = []
            found = _HEADING.match(line)
            if found is not None:
                above = [*above[: len(found["marks"])], found["name"].strip(" *#")]
        start += len(line) + 1


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
    return not _NUMBERED.match(name) and any(
        word not in _GENERAL and not word.isdigit() for word in name.lower().split())
