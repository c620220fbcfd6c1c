"""What one chunk gives for bounding: the entities that it names, and what stands above its lines."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ...schemas.documents import Span
from ...schemas.extraction import Extraction
from ...schemas.naming import canonical_name, label_key
from ...text.cleaning import one_line
from ...text.quantities import parse_value
from ...text.scripts import has_han
from ...text.section_lines import Line, is_item, section_of
from ...text.times import SECTION
from .grounding import SourceText
from .words import stems

_FIELD = re.compile(r"[^\w\n]{0,9}(?P<name>[^\n:：|]{1,60}?)[*_\s]{0,4}[:：]")
"""The name of a form's field before its value: "*Sponsor / advisor*: Ann Lee"."""
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")


class NamedEntity(NamedTuple):
    """An entity as one chunk names it: its key (unique in the chunk), its name, and the name's place."""

    key: str
    name: str
    span: Span


class NamedEntities:
    """The entities of an extraction whose names are in the source."""

    def __init__(self, extraction: Extraction, source: SourceText) -> None:
        self.keys: dict[str, str] = {}  # the canonical key of each extracted name that stands in the source
        self.entities: dict[str, NamedEntity] = {}  # by canonical key
        self.respelled: set[str] = set()  # the extracted dates that the source spells differently
        names = {*(entity.name for entity in extraction.entities),
                 *(end for triple in extraction.triples for end in (triple.head, triple.tail)),
                 *(attribute.entity for attribute in extraction.attributes)}
        spellings: dict[str, set[str]] = {}
        for name in names:
            spellings.setdefault(canonical_name(name), set()).add(name)
        most_confident_last = sorted(extraction.entities, key=lambda entity: (entity.confidence, entity.type))
        types = {canonical_name(entity.name): entity.type for entity in most_confident_last}
        for key in filter(None, sorted(spellings)):
            # Prefer a spelling that is in the text, then the shortest.
            name = min(spellings[key], key=lambda name: (source.verbatim(name) is None, len(name), name))
            grounded = source.ground(name, types.get(key, ""))
            if grounded is None:
                continue
            if grounded.quoted and parse_value(name, "date"):
                self.respelled.add(name)
            stored_name = one_line(grounded.shown)
            entity = NamedEntity(canonical_name(stored_name), stored_name, grounded.span)
            self.keys.update(dict.fromkeys(spellings[key], entity.key))
            # Several names may be completed to one ("beta 2" and "3.9 beta 2"): the first place in the text is used.
            other = self.entities.get(entity.key, entity)
            self.entities[entity.key] = min(entity, other, key=lambda e: (e.span.start, e.span.end, e.name))


def is_declared(label: str, text: str, lines: Sequence[Line], start: int) -> bool:
    """Return True if the label of what is said at a place is a heading of a table, form or section, not invented."""
    if text.startswith("|", start):  # a row of a table, whose labels are its headers
        return True
    field = _FIELD.match(text, start)
    author_labels = [field["name"]] if field else []
    # Of a sentence within a line, the next line is taken: it is mostly under the same heading.
    line = next((line for line in lines if line.start >= start), None)
    if line is not None:
        author_labels += [*line.above[-1:], line.caption]  # the nearest heading can be the label of what a line says
    return label in map(label_key, filter(None, author_labels))


def section_note(lines: Sequence[Line], title: str, start: int, *known: str) -> str:
    """Return the section of a number at a place, if it tells more than the `known` words of its fact; otherwise ""."""
    line = next((line for line in reversed(lines) if line.start <= start), None)
    if line is None or line.is_code:  # code has no sections
        return ""
    names = {*known, title}
    section = section_of(line, "", names)  # without the title, which is the same for the whole document
    has_new_words = not set(stems(section)) <= set(stems(" ".join(known).replace("_", " ")))
    # Without the year of a section, one person's votes in two elections would be two values of one thing.
    distinguishes_values = is_item(line.text, 0) or _YEAR.search(section)
    if not (has_new_words and distinguishes_values):
        return ""
    return f"{SECTION[has_han(section)]}: {section_of(line, title, names)}"
