"""The quotable units of a passage: its sentences and table rows, each with its surroundings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from ...schemas.retrieval import Passage
from ...text.sentences import split_sentences
from ...text.table_rows import Row, find_rows

LONGEST_QUOTE = 400
"""The width in columns to which a quote is extended by adjacent sentences; a Chinese character has two columns."""
_LONGEST_LIST = 600
"""The width in columns up to which a list is quoted whole."""
_RULE = re.compile(r"\s*[|=*_~-]{3,}\s*$")
_ITEM = re.compile(r"\s*(?:[-*•·–]|\d{1,3}[.)]|[（(]?[一二三四五六七八九十]{1,2}[）)、.])\s*\S")
_LABEL = re.compile(r"(?:\d{1,3}[.)]\s{1,3})?(?:\*\*([^*\n]{1,80})\*\*|"
                    r"([A-Z][^\W\d_]*(?:[ ’'-][^\W\d_]{1,30}){0,3}[.:])(?=\s))")
"""A label at the beginning of a paragraph, in bold or of a few words, which applies to all its sentences."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or row of a passage: `text` is `passage.text[start:end]`.

    `passage` counts from 1. `heading` is the document's title with the headings and the label above the unit. `before`
    and `after` are the adjacent sentences in its paragraph.
    """

    passage: int
    start: int
    end: int
    text: str
    heading: str
    before: str
    after: str
    row: Row | None
    _of: "_Sentences"
    _at: int

    @property
    def quote(self) -> tuple[int, int]:
        """The characters of the passage to show: a row, a whole list, or a sentence with adjacent ones."""
        return (self.start, self.end) if self.row is not None else _quote(self._of, self._at)


@dataclass(frozen=True, slots=True)
class _Sentences:
    """The sentences and rows of a passage."""

    text: str
    items: Sequence["_Sentence"]


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    end: int
    heading: str
    section: int
    """The number of the heading above it."""
    block: int
    """The number of the paragraph or list."""
    is_item: bool
    row: Row | None


def find_units(number: int, passage: Passage) -> list[Unit]:
    """Return the sentences and rows of a passage in order, without headings and rules of markup.

    Args:
        number: the passage's number, from 1.
        passage: a passage of the context.
    """
    text = passage.text
    sentences = _sentences(text)
    whole = _Sentences(text, sentences)
    units: list[Unit] = []
    for at, sentence in enumerate(sentences):
        own = text[sentence.start : sentence.end]
        heading = f"{passage.title} {sentence.heading}".strip()
        before, after = (text[slice(sentences[n].start, sentences[n].end)]
                         if 0 <= n < len(sentences) and sentences[n].block == sentence.block else ""
                         for n in (at - 1, at + 1))
        units.append(Unit(number, sentence.start, sentence.end, own, heading, before, after, sentence.row, whole, at))
    return units


def _sentences(text: str) -> list[_Sentence]:
    rows = {row.start: row for row in find_rows(text)}
    found: list[_Sentence] = []
    heading = label = ""
    section, block, previous_end = 0, 0, 0
    for start, end in split_sentences(text):
        part, gap = text[start:end], text[previous_end:start]
        previous_end = end
        if part.startswith("#"):
            heading, label, block = part.lstrip("# ").strip(), "", block + 1
            section += 1
            continue
        if not part.strip() or _RULE.match(part):
            block += 1
            continue
        row, is_item = rows.get(start), bool(_ITEM.match(part))
        opens_line = "\n" in gap or start == 0
        continues_list = is_item and bool(found) and (
            found[-1].is_item or text[found[-1].start : found[-1].end].rstrip().endswith((":", "：")))
        if row or (found and found[-1].row) or (gap.count("\n") > 1 and not continues_list):
            block, label = block + 1, ""
        match = _LABEL.match(part) if opens_line else None
        label = (match[1] or match[2]).strip(" .:") if match else "" if opens_line and not is_item else label
        found.append(_Sentence(start, end, f"{heading} {label}".strip(), section, block, is_item, row))
    return found


def _quote(whole: _Sentences, at: int) -> tuple[int, int]:
    """Return the characters to show for a sentence: a whole list, else adjacent sentences within `LONGEST_QUOTE`."""
    text, sentences = whole.text, whole.items
    own = [n for n, sentence in enumerate(sentences) if sentence.block == sentences[at].block]
    items = [n for n in own if sentences[n].is_item]
    if items and (at in items or at + 1 == items[0]):
        first = items[0] - 1 if items[0] - 1 in own else items[0]
        start, end = sentences[first].start, sentences[items[-1]].end
        if cell_len(text[start:end]) <= _LONGEST_LIST:
            return start, end
    start, end = sentences[at].start, sentences[at].end
    section = [n for n, sentence in enumerate(sentences) if sentence.section == sentences[at].section]
    for first, last in ((own[0], own[-1]), (section[0], section[-1])):  # the paragraph comes before its neighbours
        for n in range(at + 1, last + 1):
            if cell_len(text[start : sentences[n].end]) > LONGEST_QUOTE or sentences[n].row:
                break
            end = max(end, sentences[n].end)
        for n in range(at - 1, first - 1, -1):
            if cell_len(text[sentences[n].start : end]) > LONGEST_QUOTE or sentences[n].row:
                break
            start = min(start, sentences[n].start)
    return start, end


def readable_row(row: Row) -> str:
    """Return a row in readable form: "Model A – Weight: 21.4 kg; Price: 499 USD"."""
    first, *others = row.cells
    cells = "; ".join(f"{cell.header}: {cell.value}" for cell in others)
    return f"{first.value} – {cells}" if cells else f"{first.header}: {first.value}"
