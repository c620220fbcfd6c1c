"""What one chunk gives for bounding: the entities that it names, their types, and what stands above its lines."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import NamedTuple

from ...schemas.documents import Chunk, Span
from ...schemas.extraction import Extraction
from ...schemas.graph_schema import ANY
from ...schemas.naming import canonical_name, label_key
from ...text.cleaning import one_line
from ...text.quantities import parse_value
from ...text.scripts import has_han
from ...text.section_lines import Line, is_item, lines_under, section_of
from ...text.times import SECTION
from .grounding import SourceText
from .labels import Bounds, extracted_names
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
        self.keys: dict[str, str] = {}
        """The canonical key of each extracted name that stands in the source."""
        self.ends: dict[str, End] = {}
        """The entity of each key, as triples name it at their ends."""
        self.respelled: set[str] = set()
        """The extracted dates that the source spells differently."""
        spellings: dict[str, set[str]] = {}
        for name in extracted_names(extraction):
            spellings.setdefault(canonical_name(name), set()).add(name)
        types = {canonical_name(one.name): one.type for one in sorted(
            extraction.entities, key=lambda one: (one.confidence, one.type))}  # of several, the most confident
        for key in filter(None, sorted(spellings)):
            name = source.best_spelling(spellings[key])
            grounded = source.ground_version(name) or source.ground(name, types.get(key, ""))
            if grounded is None:
                continue
            if grounded.quoted and parse_value(name, "date"):
                self.respelled.add(name)
            shown = one_line(grounded.shown)
            end = End(canonical_name(shown), shown, grounded.span)
            self.keys.update(dict.fromkeys(spellings[key], end.key))
            known = self.ends.get(end.key, end)
            self.ends[end.key] = min(end, known, key=lambda e: (e.span.start, e.span.end, e.name))


class TypeWishes:
    """The types that the facts of one chunk require of entities extracted without a type."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._schema = bounds.schema
        self._wishes: dict[str, set[tuple[Hashable, tuple[str, ...]]]] = defaultdict(set)
        """By entity: each of its facts, with the types that the fact allows."""

    def read(self, extraction: Extraction, find_end: Callable[[str], TypedEnd | None]) -> None:
        """Note the types that all facts of an extraction require; `find_end` returns the entity of a name, or None."""
        for triple in extraction.triples:
            relation = self._bounds.find("relation", triple.relation)
            head, tail = find_end(triple.head), find_end(triple.tail)
            if relation and head and tail and head != tail:
                self._wish_ends(*((tail, relation.name, head) if relation.backward else (head, relation.name, tail)))
        for attribute in extraction.attributes:
            known, owner = self._bounds.find("attribute", attribute.attribute), find_end(attribute.entity)
            element = self._schema.attribute_type(known.name) if known else None
            if element and owner and owner.type is None:
                self._wishes[owner.key].add(((element.name, canonical_name(attribute.value)), element.owners))

    def _wish_ends(self, head: TypedEnd, relation: str, tail: TypedEnd) -> None:
        """Note the types, of domain or range, that a triple requires of each of its ends that has no type yet."""
        element = self._schema.relation_type(relation)
        domain, codomain = (element.domain, element.range) if element else ((ANY,), (ANY,))
        for end, other_end, side, other_side in ((head, tail, domain, codomain), (tail, head, codomain, domain)):
            if end.type is None:
                # If the other end fits only this end's side, the triple was extracted the wrong way round.
                is_reversed = (other_end.type is not None and not self._schema.is_a(other_end.type, other_side)
                               and self._schema.is_a(other_end.type, side))
                fact = (head.key, relation, tail.key)
                self._wishes[end.key].add((fact, other_side if is_reversed else side))

    def infer_types(self) -> Iterator[tuple[str, str]]:
        """Yield each entity with the type that most of its facts allow (the first one), or the last resort."""
        for entity, wishes in self._wishes.items():
            candidates = {name for _, allowed in wishes for name in allowed if name != ANY}
            facts_fitting = {name: sum(self._schema.is_a(name, allowed) for _, allowed in wishes)
                             for name in candidates}
            best = min(candidates, key=lambda name: (-facts_fitting[name], self._bounds.position(name)),
                       default=self._bounds.last_resort)
            if best is not None:
                yield entity, best


_FIELD = re.compile(r"[^\w\n]{0,9}(?P<name>[^\n:：|]{1,60}?)[*_\s]{0,4}[:：]")
"""The name of a form's field before its value: "*Sponsor / advisor*: Ann Lee"."""
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")


class ChunkLines:
    """The lines of one chunk with the headings above them."""

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk

    @cached_property
    def _lines(self) -> list[Line]:
        return list(lines_under(self._chunk.text, self._chunk.heading))

    def is_declared(self, label: str, start: int) -> bool:
        """Return True if the document's author wrote a label as a label, so it is not a reasoner's invention."""
        if self._chunk.text.startswith("|", start):  # a row of a table, whose labels are its headers
            return True
        field = _FIELD.match(self._chunk.text, start)
        author_labels = [field["name"]] if field else []
        line = next((line for line in self._lines if line.start >= start), None)
        if line is not None:
            author_labels += [*line.above[-1:], line.caption]
        return label in map(label_key, filter(None, author_labels))

    def section_note(self, span: Span, *known: str) -> str:
        """Return the section of a number as its qualifier, if an item of a list gives it or the section has a year."""
        # Without it, one person's votes in two elections would be two values of one thing.
        line = next((line for line in reversed(self._lines) if line.start <= span.start), None)
        if line is None or line.is_code:
            return ""
        names = {*known, self._chunk.title}
        section = section_of(line, "", names)
        is_new = not set(stems(section)) <= set(stems(" ".join(known).replace("_", " ")))
        if not is_new or not (is_item(line.text, 0) or _YEAR.search(section)):
            return ""
        return f"{SECTION[has_han(section)]}: {section_of(line, self._chunk.title, names)}"
