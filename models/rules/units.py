"""The quotable units of a passage: its sentences and table rows, each with its surroundings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from ...schemas.retrieval import Passage
from ...text.markup import has_words
from ...text.openings import LIST_MARK, mark_length
from ...text.sentences import split_sentences
from ...text.table_rows import Row, find_rows

LONGEST_QUOTE = 400
"""The width in columns to which a quote is extended by adjacent sentences; a Chinese character has two columns."""
_LONGEST_LIST = 600
"""The width in columns up to which a list is quoted whole."""
_RULE = re.compile(r"\s*[|=*_~-]{3,}\s*$")
_ITEM = re.compile(rf"{LIST_MARK.pattern}\S")
_LABEL = re.compile(r"(?:\d{1,3}[.)]\s{1,3})?(?:\*\*([^*\n]{1,80})\*\*|"
                    r"([A-Z][^\W\d_]*(?:[ ’'-][^\W\d_]{1,30}){0,3}[.:])(?=\s))")
"""A label at the beginning of a paragraph, in bold or of a few words, which applies to all its sentences."""
_ASKED = re.compile(r"(?:[#*_\s]|Q\s?[:.：]|问\s?[:：])*(?P<words>[^\n]{3,300}[?？])[*_\s]*$")
_FIGURE = re.compile(r"#{1,6}\s{1,4}(?:[\d.]{1,8}|第\S{1,6}[条章节])?[^\d\n]{0,200}\d")
"""A heading that states a figure, such as a date, besides its own number."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or row of a passage: `text` is `passage.text[start:end]`.

    `passage` counts from 1. `heading` is the document's title with the headings and the label above the unit. `asked`
    is the question of which it is the answer, in a list of such. `before` and `after` are the adjacent sentences in its
    paragraph.
    """

    passage: int
    start: int
    end: int
    text: str
    heading: str
    asked: str
    before: str
    after: str
    row: Row | None
    _of: "_Sentences"
    _at: int

    @property
    def quote(self) -> tuple[int, int]:
        """The characters of the passage to show: a row, a whole list, or a sentence with adjacent ones."""
        return (self.start, self.end) if self.row is not None else _quote(self._of, self._at)

    @property
    def items(self) -> tuple[str, ...]:
        """The items of the list that the unit is in or opens, without their marks."""
        text, listed = self._of.text, _list_of(self._of.items, self._at)
        return tuple(text[item.start + mark_length(text[item.start : item.end]) : item.end].strip()
                     for item in listed if item.is_item)

    @property
    def opening(self) -> str:
        """The sentence that opens that list, or the unit's table; "" if there is none."""
        listed = _list_of(self._of.items, self._at)
        first = next((one for one in reversed(self._of.items[:self._at]) if not one.row), None) if self.row else (
            listed[0] if listed else None)
        is_opening = first and not first.is_item and first.section == self._of.items[self._at].section
        return self._of.text[first.start : first.end] if first and is_opening else ""


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
    asked: str = ""
    asked_at: int = 0


def find_units(number: int, passage: Passage) -> list[Unit]:
    """Return the sentences and rows of a passage in order, without headings, markup and questions with an answer.

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
        heading = " ".join(filter(None, [passage.title, passage.heading, sentence.heading, sentence.asked]))
        before, after = (text[slice(sentences[n].start, sentences[n].end)]
                         if 0 <= n < len(sentences) and sentences[n].block == sentence.block else ""
                         for n in (at - 1, at + 1))
        units.append(Unit(number, sentence.start, sentence.end, own, heading, sentence.asked, before, after,
                          sentence.row, whole, at))
    return units


def _sentences(text: str) -> list[_Sentence]:
    rows = {row.start: row for row in find_rows(text)}
    found: list[_Sentence] = []
    heading = label = asked = ""
    section, block, previous_end, asked_at = 0, 0, 0, -1
    for start, end in split_sentences(text):
        part, gap = text[start:end], text[previous_end:start]
        previous_end = end
        if _is_asked(text, start, end):
            if asked_at >= 0 and not (found and found[-1].start > asked_at):
                found.append(_Sentence(asked_at, asked_at + len(asked), heading, section, block, False, None))
            asked, asked_at, block, section, label = part, start, block + 1, section + 1, ""
            continue
        if part.startswith("#"):
            heading, label, asked, asked_at, block = part.lstrip("# ").strip(), "", "", -1, block + 1
            section += 1
            if _FIGURE.match(part):
                found.append(_Sentence(start, end, "", section, block, False, None))
            continue
        if not has_words(part) or _RULE.match(part):
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
        found.append(_Sentence(start, end, f"{heading} {label}".strip(), section, block, is_item, row, asked, asked_at))
    return found


def _is_asked(text: str, start: int, end: int) -> bool:
    """Return True for a question on a line of its own, below which its answer stands."""
    line = text.rfind("\n", 0, start) + 1
    return not text[line:start].strip() and _ASKED.match(text[start:end]) is not None and not (
        _ITEM.match(text[start:end]) or text[end:].partition("\n")[0].strip(" *_"))


def _list_of(sentences: Sequence[_Sentence], at: int) -> Sequence[_Sentence]:
    """Return the list that a sentence is an item of or opens, with the sentence that opens it; nothing for others."""
    own = [sentence for sentence in sentences if sentence.block == sentences[at].block]
    items = [n for n, sentence in enumerate(own) if sentence.is_item]
    if not items or not (sentences[at].is_item or own[items[0] - 1 : items[0]] == [sentences[at]]):
        return ()
    return own[max(0, items[0] - 1) : items[-1] + 1]


def _quote(whole: _Sentences, at: int) -> tuple[int, int]:
    """Return the characters to show for a sentence: a whole list, else adjacent sentences within `LONGEST_QUOTE`."""
    text, sentences = whole.text, whole.items
    if listed := _list_of(sentences, at):
        start, end = listed[0].start, listed[-1].end
        if cell_len(text[start:end]) <= _LONGEST_LIST:
            return start, end
    own = [n for n, sentence in enumerate(sentences) if sentence.block == sentences[at].block]
    start, end = sentences[at].start, sentences[at].end
    if sentences[at].asked and cell_len(text[sentences[at].asked_at : end]) <= LONGEST_QUOTE:
        start = sentences[at].asked_at
    section = [n for n, sentence in enumerate(sentences) if sentence.section == sentences[at].section]
    for first, last in ((own[0], own[-1]), (section[0], section[-1])):  # the paragraph comes before its neighbours
        for n in range(at + 1, last + 1):
            if cell_len(text[start : sentences[n].end]) > LONGEST_QUOTE or sentences[n].row:
                break
            end = max(end, sentences[n].end)
        for n in range(at - 1, first - 1, -1):
            if cell_len(text[min(start, sentences[n].start) : end]) > LONGEST_QUOTE or sentences[n].row:
                break
            start = min(start, sentences[n].start)
    return start, end


def readable_row(row: Row) -> str:
    """Return a row in readable form: "Model A – Weight: 21.4 kg; Price: 499 USD"."""
    first, *others = row.cells
    cells = "; ".join(f"{cell.header}: {cell.value}" for cell in others)
    return f"{first.value} – {cells}" if cells else f"{first.header}: {first.value}"
