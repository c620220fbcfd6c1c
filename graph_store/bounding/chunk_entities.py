"""What one chunk gives for bounding: the entities that it names, their types, and what stands above its lines."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from ...schemas.documents import Span
from ...schemas.extraction import Extraction
from ...schemas.graph_schema import ANY
from ...schemas.naming import canonical_name, label_key
from ...text.cleaning import one_line
from ...text.quantities import parse_value
from ...text.scripts import has_han
from ...text.section_lines import Line, is_item, section_of
from ...text.times import SECTION
from .grounding import SourceText
from .labels import Bounds
from .words import stems


class End(NamedTuple):
    """An entity as one chunk names it: its key (unique in the chunk), its name, and the name's place."""

    key: str
    name: str
    span: Span


class TypedEnd(NamedTuple):
    """An end of a fact: the entity's key, and its type: "" if that is not in the schema, None if none was extracted."""

    key: str
    type: str | None


class NamedEnds:
    """The entities of an extraction whose names are in the source."""

    def __init__(self, extraction: Extraction, source: SourceText) -> None:
        self.keys: dict[str, str] = {}  # the canonical key of each extracted name that stands in the source
        self.ends: dict[str, End] = {}  # the entity of each key, as triples name it at their ends
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
            end = End(canonical_name(stored_name), stored_name, grounded.span)
            self.keys.update(dict.fromkeys(spellings[key], end.key))
            # Names that the source completes alike are one entity: the first place in the text is its place.
            earlier = self.ends.get(end.key, end)
            self.ends[end.key] = min(end, earlier, key=lambda e: (e.span.start, e.span.end, e.name))


def infer_types(extraction: Extraction, bounds: Bounds, find_end: Callable[[str], TypedEnd | None]) -> dict[str, str]:
    """Return by key the type of each entity without one: the first in the schema that most of its facts allow.

    It is the type of last resort for an entity whose facts allow any. `find_end` returns the entity of a name, or None
    if it has none.
    """
    schema = bounds.schema
    allowed_by_fact = defaultdict[str, dict[Hashable, tuple[str, ...]]](dict)  # by entity
    for triple in extraction.triples:
        relation = bounds.find("relation", triple.relation)
        head, tail = find_end(triple.head), find_end(triple.tail)
        element = schema.relation_type(relation.name) if relation else None
        if relation is None or element is None or head is None or tail is None or head == tail:
            continue
        if relation.backward:
            head, tail = tail, head
        for end, allowed in ((head, element.domain), (tail, element.range)):
            if end.type is None:
                allowed_by_fact[end.key][head.key, element.name, tail.key] = allowed
    for attribute in extraction.attributes:
        known, owner = bounds.find("attribute", attribute.attribute), find_end(attribute.entity)
        owned = schema.attribute_type(known.name) if known else None
        if owned and owner and owner.type is None:
            allowed_by_fact[owner.key][owned.name, canonical_name(attribute.value)] = owned.owners
    types: dict[str, str | None] = {}
    for entity, facts in allowed_by_fact.items():
        candidates = {name for allowed in facts.values() for name in allowed} - {ANY}
        facts_allowing = {name: sum(schema.is_a(name, allowed) for allowed in facts.values()) for name in candidates}
        types[entity] = min(candidates, key=lambda name: (-facts_allowing[name], bounds.position(name)),
                            default=bounds.last_resort)
    return {entity: name for entity, name in types.items() if name is not None}


_FIELD = re.compile(r"[^\w\n]{0,9}(?P<name>[^\n:：|]{1,60}?)[*_\s]{0,4}[:：]")
"""The name of a form's field before its value: "*Sponsor / advisor*: Ann Lee"."""
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")


def is_declared(label: str, text: str, lines: Sequence[Line], start: int) -> bool:
    """Return True if the author of a text wrote a label as a label at a place, so no reasoner invented it."""
    if text.startswith("|", start):  # a row of a table, whose labels are its headers
        return True
    field = _FIELD.match(text, start)
    author_labels = [field["name"]] if field else []
    line = next((line for line in lines if line.start >= start), None)
    if line is not None:
        author_labels += [*line.above[-1:], line.caption]
    return label in map(label_key, filter(None, author_labels))


def section_note(lines: Sequence[Line], title: str, start: int, *known: str) -> str:
    """Return the section of a number at a place, if it tells more than the `known` words of its fact; otherwise "".

    It does if an item of a list gives the number, or if the section's name has a year: without it, one person's votes
    in two elections would be two values of one thing.
    """
    line = next((line for line in reversed(lines) if line.start <= start), None)
    if line is None or line.is_code:
        return ""
    names = {*known, title}
    section = section_of(line, "", names)
    is_new = not set(stems(section)) <= set(stems(" ".join(known).replace("_", " ")))
    if not is_new or not (is_item(line.text, 0) or _YEAR.search(section)):
        return ""
    return f"{SECTION[has_han(section)]}: {section_of(line, title, names)}"
