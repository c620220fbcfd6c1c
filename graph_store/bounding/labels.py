"""What bounding looks up: the schema's element of a label, the entities of a chunk, and what is above its lines."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from ...schemas.delta import ELEMENT_KINDS, ElementKind
from ...schemas.documents import Span
from ...schemas.edits import Types
from ...schemas.extraction import Extraction, RepairKind
from ...schemas.graph_schema import ROOT_TYPE, GraphSchema
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


class Known(NamedTuple):
    """The name of the schema element that a label refers to, and the repair by which it was found, if any."""

    name: str
    repair: RepairKind | None = None
    backward: bool = False  # the label states the relation from tail to head, as an inverse alias does


class Bounds:
    """A schema prepared for looking up labels; built once for many chunks."""

    def __init__(self, schema: GraphSchema, types: Types | None = None) -> None:
        """Prepare a schema; `types` are those that people assigned to entities."""
        self.schema = schema
        self._decided = types or {}
        self._names: dict[ElementKind, dict[str, str]] = {}
        """The name of the element that has each name or alias, by key; names take precedence over aliases."""
        for kind in ELEMENT_KINDS:
            names = self._names[kind] = {label_key(element.name): element.name for element in schema.elements(kind)}
            for element in schema.elements(kind):
                for label in element.all_names():
                    names.setdefault(label_key(label), element.name)
        self._positions = {t.name: position for position, t in enumerate(schema.entity_types)}
        self._backward = {label_key(alias): r.name for r in reversed(schema.relation_types)  # so the first one wins
                          for alias in r.inverse_aliases}
        self._first_inverses: dict[str, str] = {}  # of each relation whose inverse the schema lists before it
        relation_positions = {relation.name: position for position, relation in enumerate(schema.relation_types)}
        for relation in schema.relation_types:
            if relation.inverse:
                first, second = sorted((relation.name, relation.inverse), key=relation_positions.__getitem__)
                self._first_inverses.setdefault(second, first)  # several may name it; the first one that does counts

    def find(self, kind: ElementKind, label: str) -> Known | None:
        """Return the element that has a label as name or alias, else as inverse alias, else inflected; or None."""
        key = label_key(label)
        if name_in_schema := self._names[kind].get(key):
            return Known(name_in_schema)
        if kind == "relation" and key in self._backward:
            return Known(self._backward[key], backward=True)
        if self.schema.open:  # it admits every label as it is
            name = label.strip() or (ROOT_TYPE if kind == "entity_type" else "")
            return Known(name) if name else None
        with_same_stems = self._stems[kind].get(stems(key), set())
        is_unique = len(with_same_stems) == 1  # of several elements, none is more likely meant
        return Known(min(with_same_stems), "mapped_label") if is_unique else None

    @cached_property
    def _stems(self) -> dict[ElementKind, dict[tuple[str, ...], set[str]]]:
        """The names of the elements that have each label, by kind and the stems of the label."""
        stemmed: dict[ElementKind, dict[tuple[str, ...], set[str]]] = {kind: {} for kind in self._names}
        for kind, names in self._names.items():
            for key, name in names.items():
                stemmed[kind].setdefault(stems(key), set()).add(name)
        return stemmed

    def entity_type(self, label: str) -> str | None:
        """Return the schema's name for an entity type given any of its labels, or None if unknown."""
        known = self.find("entity_type", label)
        return known.name if known else None

    def apply_decision(self, name: str, known: Known) -> Known:
        """Return the type that a person assigned to a canonical name if the schema has it, else the extracted type."""
        decided_name = self._decided.get((name, known.name))
        decided = self.find("entity_type", decided_name) if decided_name else None
        return decided if decided and decided.repair is None else known  # a similar label is not what they chose

    def is_type_name(self, name: str) -> bool:
        """Return True if a name is a type's name: a film extracted as "film" is not an entity."""
        return label_key(name) in self._names["entity_type"]

    def position(self, type_name: str) -> int:
        """Return a type's position in the schema; types that it does not list share the position after the last."""
        return self._positions.get(type_name, len(self._positions))

    def stored_relation(self, relation: str, head_type: str, tail_type: str, *, is_sorted: bool) -> str | None:
        """Return the relation under which a fact is stored with its ends exchanged; None to store it unchanged."""
        inverse = self._first_inverses.get(relation)
        if inverse and self.schema.fits(tail_type, inverse, head_type):
            return inverse
        element = self.schema.relation_type(relation)
        # The ends of a symmetric relation are stored in order, so that a fact is the same from either end.
        has_unsorted_ends = element is not None and element.symmetric and not is_sorted
        return relation if has_unsorted_ends and self.schema.fits(tail_type, relation, head_type) else None

    @cached_property
    def last_resort(self) -> str | None:
        """The type of an entity about which nothing is known: the root type, else the schema's own, else None."""
        if self.schema.open or ROOT_TYPE in self._positions:
            return ROOT_TYPE
        return next((entity_type.name for entity_type in self.schema.entity_types if entity_type.last_resort), None)


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
