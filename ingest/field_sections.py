"""Find records that are no tables in their file: sections that repeat the same fields, and "name: value" lines.

    ## P-001 Harbour wall              | Name               | Owner     | Status |
    - Owner: Ida Marsh         gives   | P-001 Harbour wall | Ida Marsh | open   |
    - **Status:** open

They are read from the text of a document, so they are found in files of all formats.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import dedent

from ..schemas.documents import SourceTable
from ..schemas.naming import label_key
from ..text.cleaning import one_line, without_markup
from ..text.section_lines import Line, is_unfilled, lines_under, mark_length
from ..text.table_rows import LIST_MARK
from .reading import DEFAULT_LIMITS
from .reference_lists import reference_tables
from .table_lines import FORM_FIELDS

# A picture (emoji) in front of a field's name, outside or inside its bold marks.
_SYMBOL = r"(?:(?:[\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff][\u200d\ufe0f]?){1,6}[ \t]{0,4})?"
_FIELD = re.compile(rf"(?P<set_in>[ \t]{{0,12}})(?P<mark>[-*+•][ \t]{{1,4}})?{_SYMBOL}(?:\*{{1,2}}|__)?{_SYMBOL}"
                    r"(?P<name>[^\W\d_](?:[^:：|*`\"'<>{}=;,.!?。，；！？\n]|\.(?=\d)){0,39})(?:\*{1,2}|__)?"
                    r"(?:[ \t]?:(?:\*{1,2}|__)?(?:[ \t]|$|(?=\[))|：(?:\*{1,2}|__)?)(?P<value>[^\n]*)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]")
_MOST_WORDS = 5  # of a field's name; a longer text before a colon begins a sentence
_FEWEST, _FEWEST_ALONE = 2, 3  # the fewest fields of a record, and of one that is alone of its kind, such as a head
_MOST_FIELDS = DEFAULT_LIMITS.table_columns
_SHARED = 0.5  # the share of a record's fields that the others of its kind have, too
_MOST_KINDS = 50  # the latest kinds with the same field that a record is compared with, which bounds the time
_LEAST_FILLED = 0.1  # the smallest share of a table's cells that is filled; below it, most fields occur only once
_MOST_REPEATED = 1 / 3  # the share of lines with a repeated name above which they are a dialogue of named speakers
_NAME, _SECTION = "Name", "Section"
_HEAD = 100_000  # the characters of a text at whose beginning its head is looked for
_RST_NAME = re.compile(r"^:([^\W\d_][^:\n]{0,39}):(?=[ \t]|$)", re.MULTILINE)
_BESIDE = re.compile(r"(?<=[,;|·])[ \t](?=\*\*[^*:\n]{1,40}(?:\*\*:|:\*\*))")  # "**Area**: Web, **Points**: 50"
_OVERLINED = re.compile(r"\s*+(?:(?:\.\. _?[^\n:]{1,200}|:orphan):[ \t]*\n\s*+){0,3}(?:(?P<line>[=*#~-]{3,}+)\n)?"
                        r"(?P<title>[^\n]{1,300})\n(?(line)(?P=line)|={3,})[ \t]*\n")
_TITLE = re.compile(r"\s*+(?:#[ \t][^\n]{1,300}|[^\n|:：]{1,200}\n={3,}|[^\n|:：#>]{1,200}(?=\n[ \t]*\n)|"
                    r"\[[^\[\]]{1,300}\](?=\n[ \t]*\n))\n")  # or a note in brackets
_PARAGRAPH = re.compile(r"\s*+(?:[^\n]*\S[^\n]*+(?:\n|\Z))+")
_ENDS = re.compile(r"[ \t]*(?:\Z|\n[ \t]*(?:\Z|\n|#|-{3}))")
_CODE = re.compile(r"\s*+(?:<pre>|```|~~~)[ \t]*+\n(?P<code>(?:(?![ \t]*+(?:</pre>|```|~~~))[^\n]*+\n)*+)"
                   r"[ \t]*+(?:</pre>|```|~~~)")
_LINKS = re.compile(r"(\]\([^()\n]*+\))[ \t]++(?=\[)")  # side by side, as two people or reviews
_SENTENCE = re.compile(r"[.!?。！？]\Z")


@dataclass(slots=True)
class Block:
    """Neighbouring fields, from character `start` to `end`, and the headings above them."""

    above: tuple[str, ...]
    level: int  # of the last heading
    heading_start: int  # of the heading right above it, else -1
    start: int
    set_in: int  # the spaces in front of its first field
    is_listed: bool  # whether its first field is an item of a list
    end: int = 0
    is_loose: bool = False  # whether blank lines are between its fields
    fields: dict[str, list[str]] = field(default_factory=dict)  # lines and what joins them, by the folded name
    names: dict[str, str] = field(default_factory=dict)  # as they are first written, by the folded name
    repeated: int = 0  # the number of lines whose name stood in it before
    last: str = ""  # the folded name of the last field; "" behind an item that is none
    last_start: int = 0  # where the last field begins
    others: list[tuple[int, int]] = field(default_factory=list)  # where the items of its list are that are no fields

    def add(self, name: str, value: str, start: int, end: int) -> None:
        """Add a field; the values of fields with the same name are joined."""
        self.end, self.last_start = end, start
        if len(self.fields) > _MOST_FIELDS:  # `read_blocks` leaves it out; parsing the rest would take long
            return
        self.last = label_key(name)
        self.names.setdefault(self.last, one_line(name))
        self.repeated += self.last in self.fields
        self._extend(_plain(value), LIST_MARK)

    def add_other(self, start: int, end: int) -> None:
        """Add an item of the list that is no field; the lines below belong to it."""
        self.end, self.last = end, ""
        self.others.append((start, end))

    def continue_value(self, line: str, end: int) -> None:
        """Add a further line to the value of the last field, as another item of a list if it looks like one."""
        self.end = end
        if not self.last:
            self.others[-1] = self.others[-1][0], end
            return
        mark = mark_length(line)
        parts = self.fields.get(self.last, [])
        line_before = parts[-1] if parts else ""
        last_word = line_before.rpartition(" ")[2]
        # People are written one a line with their addresses, and links one a line.
        is_person = last_word.endswith(">") and "@" in last_word
        is_link = "://" in line_before and last_word == line_before
        self._extend(_plain(line[mark:]), LIST_MARK if mark or is_person or is_link else " ")

    def _extend(self, words: str, separator: str) -> None:
        """Add words to the value of the last field, behind the separator if it has some already."""
        parts = self.fields.setdefault(self.last, [])
        if words:
            parts += [separator, words] if parts else [words]

    @property
    def is_dialogue(self) -> bool:
        """True if so many of its lines repeat a name that the names are those of speakers."""
        return self.repeated > _MOST_REPEATED * (len(self.fields) + self.repeated)

    def value(self, key: str) -> str:
        """Return the value of a field, "" if it has none."""
        return "".join(self.fields.get(key, ()))


def _plain(value: str) -> str:
    """Return a value without markup, with a comma between links side by side."""
    if value.count("**") % 2:
        value = value.rstrip().removesuffix("**")  # of "**Points: 350**", which is bold as a whole
    return one_line(without_markup(_LINKS.sub(r"\1, ", value)))


def read_blocks(lines: Iterable[Line], *, may_repeat: bool = False) -> list[Block]:
    """Return the blocks of two to `_MOST_FIELDS` fields in some lines, in order; dialogues only if `may_repeat`."""
    reader = _BlockReader()
    for line in lines:
        reader.add(line)
    return [block for block in reader.blocks if _FEWEST <= len(block.fields) <= _MOST_FIELDS
            and len(block.others) < len(block.fields) and (may_repeat or not block.is_dialogue)]


class _BlockReader:
    """Reads the blocks of fields in a text line by line."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._block: Block | None = None  # to which the next line may belong
        self._level, self._heading_start, self._line_before = 0, -1, ""

    def add(self, line: Line) -> None:
        """Add the next line of the text."""
        heading = None if line.is_code else _HEADING.match(line.text)
        if line.is_code or heading:  # what is below belongs to no block above
            self._block, self._heading_start = None, -1
        if heading:
            self._level, self._heading_start = len(heading[1]), line.start
        elif line.text.strip() and not line.is_code:
            self._add_words(line)
        self._line_before = line.text.strip()

    def _add_words(self, line: Line) -> None:
        """Add a line of words: to the block above it, or as the beginning of a block if it is a field."""
        end, indent = line.start + len(line.text.rstrip()), len(line.text) - len(line.text.lstrip(" \t"))
        if self._block is not None and indent > self._block.set_in:
            # Behind a blank line, what is set in is text below the fields, unless a list or the last field has it.
            if self._line_before or self._block.is_listed or not self._block.value(self._block.last):
                self._block.continue_value(line.text, end)
            else:
                self._block, self._heading_start = None, -1
            return
        is_row = line.text.startswith("|")
        found = None if is_row else _FIELD.fullmatch(line.text)
        if found is None or len(found["name"].split()) > _MOST_WORDS:
            if self._block is not None and self._line_before and self._goes_on(self._block, line, indent, end):
                return
            self._block, self._heading_start = None, -1
            return
        if self._block is not None and self._begins_record(self._block, found):
            self._block, self._heading_start = None, -1
        if self._block is None:
            self._block = Block(line.above, self._level, self._heading_start, line.start, indent,
                                is_listed=found["mark"] is not None)
            self.blocks.append(self._block)
            self._heading_start = -1  # it names this block, and not the next
        elif not self._line_before:
            self._block.is_loose = True
        self._block.add(found["name"], found["value"], line.start, end)

    def _goes_on(self, block: Block, line: Line, indent: int, end: int) -> bool:
        """Add a line that is no field to the list above it, as an item or, as in Markdown, as more of the last one."""
        is_item = mark_length(line.text) > 0
        if not block.is_listed or indent != block.set_in:
            return False  # it ends the block above it
        if is_item:
            block.add_other(line.start, end)
        else:
            block.continue_value(line.text, end)
        return True

    def _begins_record(self, block: Block, found: re.Match[str]) -> bool:
        """Return True if a field on the level of a block is the first of another record."""
        is_lead_in = not block.is_listed and len(block.fields) == 1 and not block.fields[block.last]  # "The order:"
        repeats_name = label_key(found["name"]) in block.fields
        ends_list = block.is_listed and not found["mark"]
        follows_other = bool(block.others) and not block.last  # which may name a record
        return is_lead_in or (repeats_name and follows_other) or (not self._line_before and (repeats_name or ends_list))


def all_tables(text: str, title: str, placed: Sequence[SourceTable]) -> tuple[SourceTable, ...]:
    """Return the tables of a text in order: those that are placed already, its records and its lists of references."""
    # The text of a stored document comes with the tables that were found in it before.
    found = [table for table in (*_field_tables(text, title), *reference_tables(text)) if table not in placed]
    return tuple(sorted([*placed, *found], key=lambda table: table.spans[:1]))


def _field_tables(text: str, title: str) -> Iterator[SourceTable]:
    """Yield the records of a text as tables, one for each set of fields, in order.

    The first column is the heading that names each record, if there are such. A record alone counts if it has at least
    three fields and is no list. `title` is that of records under no other heading.
    """
    if ":" not in text and "：" not in text:
        return
    for records in _records_by_kind(read_blocks(lines_under(text, "", title))):
        first, columns = records[0], {key for block in records for key in block.fields}
        if len(records) > 1:
            filled = sum(len(block.fields) for block in records)
            is_table = len(columns) <= _MOST_FIELDS and filled >= _LEAST_FILLED * len(columns) * len(records)
        else:
            leads_on = any(first.value(key).endswith((":", "：")) for key in first.fields)  # to text that follows
            is_list = first.is_listed or first.is_loose or first.set_in > 0 or leads_on
            is_table = len(first.fields) >= _FEWEST_ALONE and not is_list
        if is_table:
            yield _records_table(records, title)


def _records_by_kind(blocks: Sequence[Block]) -> list[list[Block]]:
    """Return the records by kind: of sections on one level, or of one section, that share most of their fields."""
    blocks_in_section = Counter((block.level, block.above) for block in blocks)
    kinds: list[list[Block]] = []
    kinds_with: dict[tuple[object, str], list[int]] = {}  # the numbers of kinds, by their place and one of their fields
    for block in blocks:
        has_own_heading = blocks_in_section[block.level, block.above] == 1
        if not has_own_heading and block.is_loose:  # a dialogue
            continue
        # Records with headings of their own are compared over all sections, others only within theirs.
        place = (block.level, () if has_own_heading else block.above)
        shared_fields = Counter[int]()  # how many the block shares with each kind
        for key in block.fields:
            shared_fields.update(kinds_with.get((place, key), [])[-_MOST_KINDS:])
        fitting = [kind for kind, count in shared_fields.items() if count >= _SHARED * len(block.fields)]
        kind = min(fitting, default=len(kinds))
        if kind == len(kinds):
            kinds.append([])
        kinds[kind].append(block)
        for key in block.fields:
            known_kinds = kinds_with.setdefault((place, key), [])
            if kind not in known_kinds:
                known_kinds.append(kind)
    return kinds


def _records_table(records: Sequence[Block], title: str) -> SourceTable:
    """Return records of one kind as a table; the heading that names each is in its first column."""
    names: dict[str, str] = {}  # as they are first written, in order
    for block in records:
        for key, name in block.names.items():
            names.setdefault(key, name)
    keys = list(names)
    # The innermost place in their headings where records differ, and so have names; 0, the document's title, is none.
    depth = next((at for at in range(min(len(block.above) for block in records) - 1, 0, -1)
                  if len({block.above[at] for block in records}) > 1), 0)
    sections = {block.above[:depth] for block in records}
    naming: dict[str, list[str]] = {}  # the cells of the columns in front of the fields
    if depth:
        naming[_SECTION if label_key(_NAME) in keys else _NAME] = [block.above[depth] for block in records]
    if depth and len(sections) > 1:  # the named things are in several sections
        naming.setdefault(_SECTION, [block.above[depth - 1] for block in records])
    rows: list[tuple[str, ...]] = []
    spans: list[tuple[int, int]] = []
    for at, block in enumerate(records):
        values = ((key, block.value(key)) for key in keys)
        rows.append((*(cells[at] for cells in naming.values()),
                     *("" if is_unfilled(value, key) else value for key, value in values)))
        # A record begins with the heading that names it, or with its fields.
        spans.append((block.heading_start if depth and block.heading_start >= 0 else block.start, block.end))
    # A column in front has no name if the records have a field of the same name.
    columns = [name if label_key(name) not in keys else "" for name in naming] + [names[key] for key in keys]
    shared = records[0].above[:depth or None] if len(sections) == 1 else ()  # the headings above all records
    return SourceTable(title=shared[-1] if shared else title, columns=tuple(columns), rows=tuple(rows),
                       spans=tuple(spans))


def split_head(text: str) -> tuple[dict[str, str], str]:
    """Return the fields at the head of a text, below its title if it has one, and the text without them.

    Field names are in lower case, as documents write "Author" and "author". Items of the head's list that are no fields
    stay in the text, and without a head all of it does.
    """
    overlined = _OVERLINED.match(text)
    title = overlined or _TITLE.match(text)
    begin = title.end() if title else 0
    # The names of reStructuredText's fields, without a colon in front, so that all places stay.
    head = _BESIDE.sub("\n", _RST_NAME.sub(r"\1 :", text[begin:begin + _HEAD]))
    fields, end, others = _head_fields(head)
    if not fields and (paragraph := _PARAGRAPH.match(head)):  # below which the text begins with "Description: It ..."
        fields, end, others = _head_fields(paragraph[0])
    if not fields and (code := _CODE.match(head)):
        lines, end = dedent(code["code"]), code.end()
        fields, end_of_fields, others = _head_fields(lines)
        if lines[end_of_fields:].strip():  # other code is below them, so the block is no head
            fields = {}
    values = {name.lower(): value.rstrip(",;|· ") for name, value in fields.items()}  # lists may end so in each line
    if not values or len(values) < len(fields):  # none, or two names that are one in lower case
        return {}, text
    own_title = {"title": overlined["title"].strip()} if overlined else {}
    return own_title | values, text[:begin] + others + text[begin + end:].lstrip("\n")


def _head_fields(text: str) -> tuple[dict[str, str], int, str]:
    """Return the fields in the lines with which a text begins, where they end, and the items among them that are none.

    There are no fields if the text begins otherwise.
    """
    block = next(iter(read_blocks(lines_under(text, ""), may_repeat=True)), None)
    # The head of a form may begin with an empty field, or with a line such as "The order:".
    above = text[:block.start].strip() if block is not None else ""
    if block is None or (above and not _FIELD.fullmatch(above)) or not _ENDS.match(text, block.end):
        return {}, 0, ""
    values, end = {block.names[key]: block.value(key) for key in block.fields if block.value(key)}, block.end
    is_known = any(map(FORM_FIELDS.search, block.names.values()))  # a name such as "Author", which forms have
    if not is_known and _SENTENCE.search(block.value(block.last)):  # "Description: We found a ..." begins the text
        del values[block.names[block.last]]
        end = block.last_start
    is_prose = block.is_dialogue or block.is_listed or block.is_loose or any(map(_SENTENCE.search, values.values()))
    is_head = is_known or (bool(values) and len(block.fields) >= _FEWEST_ALONE and not is_prose)
    others = "".join(f"{line}\n" for line in (above, *(text[start:end] for start, end in block.others)) if line)
    return (values, end, others and f"{others}\n") if is_head else ({}, 0, "")
