"""The quotable units of a passage: its sentences and table rows, each with its surroundings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from ...schemas.retrieval import Passage
from ...text.cleaning import has_words
from ...text.lexicon import read_patterns
from ...text.relative_dates import RelativeDate, relative_dates
from ...text.scripts import CJK
from ...text.section_lines import LIST_MARK, mark_length
from ...text.sentences import split_sentences
from ...text.table_rows import Row, find_rows

LONGEST_QUOTE = 400  # columns to which a quote is extended by adjacent sentences; a Chinese character has two
_LONGEST_LIST = 600  # the width in columns up to which a list is quoted whole
_FORMS = {name: re.compile(form) for name, form in read_patterns("rules.toml")["units"].items()}
_HAN = re.compile(f"[{CJK}]")
_ITEM = re.compile(rf"{LIST_MARK.pattern}\S")


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """A sentence or row of a passage: `text` is `source[start:end]`, and `source` the passage's text.

    `passage` counts from 1. `heading` is the document's title with the headings above the unit. In a list of questions
    and answers, `asked` is the question that the unit answers; for other units it is "". Units with the same `section`
    are under one heading, and those with the same `block` in one paragraph or list. `all_units` are those of the
    passage, and `index` is the unit's place among them. `dates` are the relative dates of the passage.
    """

    source: str
    passage: int
    start: int
    end: int
    heading: str
    asked: str
    section: int
    block: int
    is_item: bool
    row: Row | None
    all_units: Sequence["Unit"]
    index: int
    dates: Sequence[RelativeDate]

    @property
    def text(self) -> str:
        """The unit's words."""
        return self.source[self.start : self.end]

    @property
    def relative_dates(self) -> list[RelativeDate]:
        """The relative dates in the unit's words, by their places in it."""
        return [RelativeDate(one.start - self.start, one.end - self.start, one.meant) for one in self.dates
                if self.start <= one.start and one.end <= self.end]

    @property
    def before(self) -> str:
        """The sentence before it in its paragraph, or ""."""
        return self._text_in_block(self.index - 1)

    @property
    def after(self) -> str:
        """The sentence behind it in its paragraph, or ""."""
        return self._text_in_block(self.index + 1)

    def _text_in_block(self, index: int) -> str:
        """Return the text of a unit of the passage; "" if there is none, or it is not in this unit's paragraph."""
        other = self.all_units[index] if 0 <= index < len(self.all_units) else None
        return other.text if other and other.block == self.block else ""

    @property
    def items(self) -> tuple[str, ...]:
        """The items of the list that the unit is in or opens, without their marks."""
        return tuple(item.text[mark_length(item.text) :].strip() for item in self._list_around() if item.is_item)

    @property
    def opening(self) -> str:
        """The sentence that introduces the unit's list or table; "" if there is none."""
        sentences_before = [one for one in self.all_units[: self.index] if not one.row]
        introduction = next(iter(sentences_before[-1:] if self.row else self._list_around()), None)
        if introduction is None or introduction.is_item or introduction.section != self.section:
            return ""
        return introduction.text

    def _list_around(self) -> Sequence["Unit"]:
        """Return the sentence above the unit's list, if any, and the items; empty if the unit is neither of them."""
        block = [unit for unit in self.all_units if unit.block == self.block]
        places_of_items = [place for place, unit in enumerate(block) if unit.is_item]
        if not places_of_items:
            return ()
        first = max(0, places_of_items[0] - 1)  # the sentence above the items; in a block of items alone, an item
        is_of_list = self.is_item or block[first] is self
        return block[first : places_of_items[-1] + 1] if is_of_list else ()

    def quote(self) -> tuple[int, int]:
        """Return the start and end in the passage of the quote to show for the unit.

        A row is shown alone, and a short list as a whole. Any other unit is extended by adjacent sentences up to
        `LONGEST_QUOTE`, first within its paragraph and then within its section.
        """
        start, end = self.start, self.end
        if self.row is not None:
            return start, end
        listed = self._list_around()
        if listed and _width(self.source[listed[0].start : listed[-1].end]) <= _LONGEST_LIST:
            return listed[0].start, listed[-1].end
        # The second round meets the units of the first again; `min` and `max` leave the quote as it is there.
        for is_near in (lambda unit: unit.block == self.block, lambda unit: unit.section == self.section):
            for following in takewhile(is_near, self.all_units[self.index + 1 :]):
                if following.row or _width(self.source[start : following.end]) > LONGEST_QUOTE:
                    break
                end = max(end, following.end)
            for preceding in takewhile(is_near, reversed(self.all_units[: self.index])):
                if preceding.row or _width(self.source[preceding.start : end]) > LONGEST_QUOTE:
                    break
                start = min(start, preceding.start)
        return start, end


def _width(text: str) -> int:
    """Return the number of columns that a text takes; a Chinese character takes two, and a line end none."""
    return len(text) - text.count("\n") + (0 if text.isascii() else len(_HAN.findall(text)))


def find_units(number: int, passage: Passage) -> list[Unit]:
    """Return the sentences and rows of a passage in order; `number` is its place in the context, from 1.

    Left out are markup, questions above their answers, and headings, unless they state a figure.
    """
    reader = _PassageReader(number, passage)
    previous_end = 0
    for start, end in split_sentences(passage.text):
        reader.read(start, end, passage.text[previous_end:start])
        previous_end = end
    return reader.found


class _PassageReader:
    """Reads the sentences of a passage in order, and keeps what applies to the next: heading and question."""

    def __init__(self, number: int, passage: Passage) -> None:
        self.found: list[Unit] = []
        self._number = number
        self._passage = passage
        self._dates = relative_dates(passage.text, passage.said_on)
        self._rows = {row.start: row for row in find_rows(passage.text)}
        self._heading = self._asked = ""
        self._section = self._block = 0

    def read(self, start: int, end: int, gap: str) -> None:
        """Read a sentence; `gap` is what stands between the one before and it."""
        source = self._passage.text
        text = source[start:end]
        beside_on_line = source[source.rfind("\n", 0, start) + 1 : start] + source[end:].partition("\n")[0]
        is_alone_on_line = not beside_on_line.strip(" *_")
        # A question on a line of its own has its answer below it; questions that are items of a list have none there.
        if _FORMS["question_line"].match(text) and is_alone_on_line and not _ITEM.match(text):
            self._begin_section(asked=text)
        elif text.startswith("#"):
            self._begin_section()
            self._heading = text.lstrip("# ").strip()
            if _FORMS["heading_with_figure"].match(text):
                self._add(start, end)
        elif not has_words(text) or _FORMS["horizontal_rule"].match(text):  # markup, which separates paragraphs
            self._block += 1
        else:
            self._read_statement(text, start, end, gap)

    def _begin_section(self, asked: str = "") -> None:
        """Begin a section below a heading, or below the question `asked`."""
        self._asked = asked
        self._block += 1
        self._section += 1

    def _read_statement(self, text: str, start: int, end: int, gap: str) -> None:
        """Add a sentence or row, and begin a block at each row, after a table, and where a paragraph or list begins."""
        row = self._rows.get(start)
        is_item = _ITEM.match(text) is not None
        before = self.found[-1] if self.found else None
        # Blank lines between the items of a list, or between "The parts are:" and the first one, do not end it.
        continues_list = is_item and before and (before.is_item or before.text.rstrip().endswith((":", "：")))
        borders_on_table = row or (before and before.row)
        follows_blank_line = gap.count("\n") > 1
        if borders_on_table or (follows_blank_line and not continues_list):
            self._block += 1
        self._add(start, end, is_item=is_item, row=row)

    def _add(self, start: int, end: int, *, is_item: bool = False, row: Row | None = None) -> None:
        """Append the unit from `start` to `end`, with the headings and the question that are above it now."""
        passage = self._passage
        heading = " ".join(filter(None, [passage.title, passage.heading, self._heading, self._asked]))
        self.found.append(Unit(passage.text, self._number, start, end, heading, self._asked, self._section, self._block,
                               is_item, row, self.found, len(self.found), self._dates))


def readable_row(row: Row) -> str:
    """Return a row in readable form: "Model A – Weight: 21.4 kg; Price: 499 USD"."""
    first, *others = row.cells
    cells = "; ".join(f"{cell.header}: {cell.value}" for cell in others)
    return f"{first.value} – {cells}" if cells else f"{first.header}: {first.value}"
