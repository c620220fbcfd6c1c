"""Lines such as "Capacity: 40 people" under a heading or title that names their subject.

A block of at least two such lines is read as rows of a table whose first cell is that name. Lines under a general
heading ("Contact", "Overview") belong to the heading or title above it. At least three lines that no name stands above,
as at the beginning of a form, are fields of the document; so are two with numbers, dates or ratings.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from ...text.dates import parse_date
from ...text.lexicon import word_set
from ...text.quantities import kind_of
from ...text.scripts import CJK
from ...text.section_lines import is_telling, lines_under
from ...text.table_rows import DOCUMENT, Cell, Row, states_something

_LINE = re.compile(
    rf"^[ \t]{{0,8}}(?:[-*•][ \t]{{1,4}})?\*{{0,2}}(?P<key>[A-Z{CJK}][^\n:：|*?!.#]{{1,40}}?)"
    r"\*{0,2}[ \t]?[:：]\*{0,2}[ \t]{0,4}"
    r"(?P<value>[^\s|][^\n|]{0,100})$")
_NOT_KEYS = word_set("note notes example question answer warning tip hint "
                     "important subject from to cc bcc date sent re ps nb "
                     "todo attention http https source see q a password "
                     "passcode pin 注 注意 问 答 例 例如 提示")
_WEEKDAY = re.compile(r"^\w{2,6}day,? |(?<=\d)(?:st|nd|rd|th)\b")
_NUMBERED = re.compile(r"[IVX]{1,4}\.|[A-Z]\.|\d{1,2}[.)]")
_ITEM_NUMBER = re.compile(r"[A-Z]\w{0,9}-\d{1,6}\Z")  # a key that is the number of a thing: such lines list things
_DEFAULT_HEADER = "includes"
_LINK = re.compile(r"[\[<(]?https?:")
_MOST_KEY_WORDS = 4
_MOST_HEADINGS_OF_FORM = 2  # the most headings above the fields of a document: its title and one more
_LEAST_LINES, _LEAST_FIELDS = 2, 3


def key_value_rows(text: str, title: str, heading: str, names: Callable[[str], bool], document: str,
                   ) -> Iterator[Row]:
    """Yield the key-value lines of a chunk's text as rows, with the name that each line describes in the first cell.

    `title` is the subject in the document's title, and `names` returns True if a heading is a name. If a key and the
    title name the `document` ("RFC-20: Oslo Pumps"), lines under the title describe the document.
    """
    subject = document if document.endswith(f": {title}") else title
    block: list[tuple[int, int, Cell]] = []
    above: tuple[str, ...] = ()
    for line in (*lines_under(text, heading, subject), None):
        match = _LINE.match(line.text) if line and not line.is_code else None
        cell = _cell(match) if match else None
        if line and cell is not None:
            block.append((line.start, line.start + len(line.text), cell))
            above = line.above
        elif line is None or line.text.strip():
            yield from _rows(block, above, title, subject, names, document) if len(block) >= _LEAST_LINES else ()
            block = []


def _rows(block: Sequence[tuple[int, int, Cell]], above: Sequence[str], title: str, subject: str,
          names: Callable[[str], bool], document: str) -> Iterator[Row]:
    """Yield the lines of a block as rows of what they describe: the nearest heading that is a name, or the document."""
    # A numbered heading and one of general words only ("Overview") name no subject.
    owner = next((name for name in reversed(above) if not _NUMBERED.match(name) and is_telling(name) and names(
        title if name == subject else name)), "")
    if not owner and len(set(above)) <= _MOST_HEADINGS_OF_FORM and _is_form([pair for _, _, pair in block]):
        owner = document
    for begin, end, pair in block:
        lists_thing = _ITEM_NUMBER.match(pair.header) is not None
        described = subject if lists_thing else owner
        if described:
            # Where the document is called like its subject, a list of things belongs to the subject.
            is_document = described == document and (owner == document or subject != title)
            header = DOCUMENT if is_document else ""
            # A thing is listed by its number: "EIP-20: Token" under the nearest heading.
            heading = above[-1] if len(above) > 1 and above[-1] != above[0] else _DEFAULT_HEADER
            cell = Cell(heading, f"{pair.header}: {pair.value}") if lists_thing else pair
            yield Row(begin, end, (Cell(header, described), cell))


def _is_form(lines: Sequence[Cell]) -> bool:
    """Return True if lines are the fields of a document: enough lines with distinct keys, at most half links."""
    keys = {line.header.casefold() for line in lines}
    links = sum(_LINK.match(line.value) is not None for line in lines)
    has_no_text = all(kind_of(line.value) != "text" or not any(map(str.isalnum, line.value)) for line in lines)
    least = _LEAST_LINES if has_no_text else _LEAST_FIELDS
    return len(lines) >= least and len(keys) == len(lines) and 2 * links <= len(lines)


def _cell(match: re.Match[str]) -> Cell | None:
    """Return the key and value of a line, or None if it is prose, an address, empty or no key ("Note: ...", a date)."""
    key, value = match["key"].strip(), match["value"].strip(" *")
    key_words = [word for word in key.lower().split() if any(map(str.isalnum, word))]
    has_sentences = ". " in value or "。" in value.rstrip("。")
    is_address = value.startswith("//")
    if has_sentences or is_address or not states_something(value):
        return None
    if len(key_words) > _MOST_KEY_WORDS or set(key_words[:1]) & _NOT_KEYS or parse_date(_WEEKDAY.sub("", key)):
        return None
    return Cell(key, value.rstrip(".。;；"))
