"""Chunks: parts of a document that fit a model's context, each an exact span of the source.

The content decides where a chunk ends, among ends of paragraphs by the smallest checksum of a sentence, so that chunks
behind an edit soon end where they did before, and keep their ids and what was extracted from them.
"""

import re
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from ..schemas.documents import Chunk, Document
from ..schemas.naming import content_id
from ..text.relative_dates import SayingDates, document_date, relative_dates
from ..text.scripts import TOKEN, estimate_tokens
from ..text.section_lines import BETWEEN, Heading, code_fences, headings, is_item, opening_of
from ..text.sentences import split_sentences

_FILL = 0.75
"""The filled share of a chunk from which it may end. A smaller one realigns sooner after edits, but costs calls."""


class Section(NamedTuple):
    """The text under a heading from character `start` to `end`; `heading` joins the headings above it."""

    heading: str
    start: int
    end: int


class _Unit(NamedTuple):
    """A part that is not divided between chunks: a sentence, a row, a list's item, or a piece of a long one."""

    start: int
    end: int
    tokens: int
    repeats: bool  # True if it may be repeated in the next chunk as overlap; only whole sentences of prose may


def chunk_document(document: Document, *, max_tokens: int, overlap_tokens: int) -> list[Chunk]:
    """Cut a document into chunks along its headings, paragraphs and sentences.

    A text that fits is a single chunk, headings included. Otherwise each chunk lies within one section, and the
    headings above it are in `Chunk.heading`; a heading with nothing below it is in the text of the chunk beside it.
    Every character that is not white space is in a chunk or a heading.

    Tokens are estimated. A chunk repeats whole sentences from the end of the one before it in the same section, up to
    `overlap_tokens`; rows and items of lists are not repeated. It is a ValueError if this is not below `max_tokens`.
    """
    if not 0 <= overlap_tokens < max_tokens:
        msg = (f"overlap_tokens is {overlap_tokens} and max_tokens {max_tokens}, but a chunk needs room "
               "for more than it repeats: choose an overlap from 0 to below max_tokens")
        raise ValueError(msg)
    text = document.text
    dates = SayingDates(text, document_date(document.id, document.title, document.metadata))
    occurrences: Counter[tuple[str, str]] = Counter()
    chunks: list[Chunk] = []
    fences = [(0, ""), *code_fences(text)]
    for heading, start, end in _chunk_spans(text, max_tokens, overlap_tokens):
        # A chunk that begins within code is told so by the line that opens the code.
        code = fences[bisect_right(fences, start, key=itemgetter(0)) - 1][1]
        part, opening, said_on = text[start:end], code or opening_of(text, start), dates.at(start)
        chunks.append(Chunk(
            id=chunk_id(document.id, document.title, heading, part, occurrences[heading, part], opening, said_on),
            document_id=document.id, ordinal=len(chunks), start=start, end=end, text=part, title=document.title,
            heading=heading, opening=opening, said_on=said_on))
        occurrences[heading, part] += 1
    return chunks


def chunk_id(document_id: str, title: str, heading: str, text: str, occurrence: int, opening: str = "",
             said_on: str = "") -> str:
    """Return the id of a chunk, which changes only if what a model reads of the chunk changes.

    `occurrence` counts earlier chunks of the document with the same heading and text; see `Chunk` for the other fields.
    """
    parts = [document_id, title, heading, text, str(occurrence)]
    if opening:
        parts.append(opening)
    if said_on and relative_dates(text, said_on):  # a text without "yesterday" and the like is read without its date
        parts.append(said_on)
    return content_id(*parts)


def _chunk_spans(text: str, max_tokens: int, overlap_tokens: int) -> Iterator[Section]:
    """Yield where each chunk begins and ends, and the headings above it."""
    if estimate_tokens(text) <= max_tokens:
        if text.strip():
            yield Section("", len(text) - len(text.lstrip()), len(text.rstrip()))
        return
    for section in _find_sections(text):
        units = _split_into_units(text, section, max_tokens)
        first = first_new = 0  # the first unit of the next chunk, and its first that is no overlap
        while first_new < len(units):
            end = _end_of_chunk(text, units, first, first_new, max_tokens)
            yield Section(section.heading, units[first].start, units[end - 1].end)
            if end == len(units):
                break
            previous_first, first, first_new = first, end, end
            # The next chunk repeats the last sentences of this one, but not all of it, and has room for a new unit.
            room = min(overlap_tokens, max_tokens - units[end].tokens)
            while first - 1 > previous_first and units[first - 1].repeats and units[first - 1].tokens <= room:
                first -= 1
                room -= units[first].tokens


def _find_sections(text: str) -> list[Section]:
    """Return the sections with text; a heading without any belongs to the section before it, or else to the next."""
    path: list[Heading] = []  # the headings above the current text
    begin, sections, leading_empty = 0, list[Section](), list[Heading]()
    end_of_text = Heading(0, "", len(text), len(text))  # ends the last section
    for heading in [*headings(text), end_of_text]:
        if text[begin:heading.start].strip():
            start = leading_empty[0].start if leading_empty else begin
            sections.append(Section(BETWEEN.join(above.title for above in path), start, heading.start))
            leading_empty = []
        elif path and heading.level <= path[-1].level:  # the heading before this one has no text and no subheading
            if sections:
                sections[-1] = sections[-1]._replace(end=path[-1].end)
            else:
                leading_empty.append(path[-1])
        path = [above for above in path if above.level < heading.level] + [heading]
        begin = heading.end
    if leading_empty:  # the text has nothing but headings
        sections.append(Section("", leading_empty[0].start, leading_empty[-1].end))
    return sections


def _split_into_units(text: str, section: Section, max_tokens: int) -> list[_Unit]:
    """Cut a section into units, none of which is longer than a chunk may be."""
    units: list[_Unit] = []
    is_listed = False  # whether the last unit is a row of a table, or of an item of a list
    for start, end in split_sentences(text[section.start:section.end]):
        begin, stop = section.start + start, section.start + end
        tokens = estimate_tokens(text[begin:stop])
        # A list's item may have several sentences; its further lines are indented, so none begins after a line break.
        continues_item = is_listed and not text[units[-1].end:begin].endswith("\n")
        is_listed = continues_item or text.startswith("|", begin) or is_item(text, begin)
        if tokens <= max_tokens:
            units.append(_Unit(begin, stop, tokens, repeats=not is_listed))
        else:
            units.extend(_cut_long_sentence(text, begin, stop, max_tokens))
    return units


def _cut_long_sentence(text: str, start: int, end: int, max_tokens: int) -> Iterator[_Unit]:
    """Yield the pieces of a sentence that is too long, cut at white space where possible."""
    piece = re.compile(rf"(?:(?:{TOKEN})\s*+){{1,{max_tokens}}}+")
    while match := piece.match(text, start, end):
        stop = match.end()
        is_inside_word = stop < end and not text[stop - 1].isspace()
        if is_inside_word:
            *_, begun_word = match[0].split()
            # Leave the whole word to the next piece, unless this one would lose half its length.
            if 2 * len(begun_word) < len(match[0]):
                stop -= len(begun_word)
        part = text[start:stop].rstrip()
        yield _Unit(start, start + len(part), estimate_tokens(part), repeats=False)
        start = stop


def _end_of_chunk(text: str, units: Sequence[_Unit], first: int, first_new: int, max_tokens: int) -> int:
    """Return the index of the unit before which a chunk ends, the best place from `_FILL` of its size on."""
    filled = sum(unit.tokens for unit in units[first:first_new])
    candidates: list[tuple[int, int, int]] = []
    for at in range(first_new, len(units)):
        filled += units[at].tokens
        if filled > max_tokens:
            if not candidates:  # no unit ends in the last part of the chunk
                return at
            *_, negative_end = min(candidates)
            return -negative_end
        if filled >= _FILL * max_tokens and at + 1 < len(units):
            line_breaks = text.count("\n", units[at].end, units[at + 1].start)
            checksum = zlib.crc32(text[units[at].start:units[at].end].encode("utf-8", "surrogatepass"))
            # The end of a paragraph is best, then of a line, then the smallest checksum; of equal ones the last place.
            candidates.append((-min(line_breaks, 2), checksum, -(at + 1)))
    return len(units)
