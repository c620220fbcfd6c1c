"""The entities that one chunk names, and the types of those of which none was said, from what their facts ask for."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from typing import NamedTuple

from ...schemas.documents import Span
from ...schemas.extraction import Extraction
from ...schemas.graph_schema import ANY
from ...schemas.naming import canonical_name
from ...text.cleaning import one_line
from ...text.quantities import parse_value
from .grounding import Grounded, SourceText
from .labels import Bounds, extracted_names


class End(NamedTuple):
    """An entity as one chunk names it: `key` tells entities of the chunk apart."""

    key: str
    name: str
    span: Span


class TypedEnd(NamedTuple):
    """An end of a fact by its key, with its type so far: "" while its label is unknown, None if none was said."""

    key: str
    type: str | None


class NamedEnds:
    """The entities whose names are in the source."""

    def __init__(self, extraction: Extraction, source: SourceText, bounds: Bounds) -> None:
        """Look up all names of an extraction."""
        self._extraction, self._source, self._bounds = extraction, source, bounds
        self.keys: dict[str, str] = {}
        """Of each name said that is in the source: the key of its entity."""
        self.ends: dict[str, End] = {}
        self.respelled: set[str] = set()
        """The dates that the source spells otherwise."""
        spellings: dict[str, set[str]] = {}
        for name in extracted_names(extraction):
            spellings.setdefault(canonical_name(name), set()).add(name)
        for key in sorted(spellings):
            if key:
                self._find_name(key, spellings[key])

    def _find_name(self, key: str, spellings: set[str]) -> None:
        name = self._source.best_spelling(spellings) if len(spellings) > 1 else next(iter(spellings))
        grounded = self._source.ground(name) or self._ground_alias(key)
        if grounded is None:
            return
        if grounded.quoted and parse_value(name, "date"):
            self.respelled.add(name)
        shown = one_line(grounded.shown)
        end = End(canonical_name(shown), shown, grounded.span)
        self.keys.update(dict.fromkeys(spellings, end.key))
        known = self.ends.get(end.key, end)
        self.ends[end.key] = min(end, known, key=lambda e: (e.span.start, e.span.end, e.name))

    def _ground_alias(self, key: str) -> Grounded | None:
        """Another name that the extraction gives of an entity: it is stored under the name that the source has."""
        others = sorted(a.value for a in self._extraction.attributes
                        if canonical_name(a.entity) == key and self._bounds.is_alias(a.attribute))
        return next((grounded for other in others if (grounded := self._source.ground(other))
                     and not self._bounds.is_type_name(grounded.shown)), None)


class TypeWishes:
    """What the facts of one chunk ask for of the entities without a type."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._schema = bounds.schema
        self._wishes: dict[str, set[tuple[Hashable, tuple[str, ...]]]] = defaultdict(set)

    def read(self, extraction: Extraction, find_end: Callable[[str], TypedEnd | None]) -> None:
        """Note what all facts of an extraction ask for; `find_end` returns the end that a name refers to."""
        for triple in extraction.triples:
            relation = self._bounds.find("relation", triple.relation)
            head, tail = find_end(triple.head), find_end(triple.tail)
            if relation and head and tail and head != tail:
                self.wish_ends(*((tail, relation.name, head) if relation.backward else (head, relation.name, tail)))
        for attribute in extraction.attributes:
            known, owner = self._bounds.find("attribute", attribute.attribute), find_end(attribute.entity)
            element = self._schema.attribute_type(known.name) if known else None
            if element and owner and owner.type is None:
                self.wish(owner.key, element.owners, (element.name, canonical_name(attribute.value)))

    def wish(self, entity: str, allowed: tuple[str, ...], fact: Hashable) -> None:
        """Note that a fact asks for one of some types; the same fact counts once."""
        self._wishes[entity].add((fact, allowed))

    def wish_ends(self, head: TypedEnd, relation: str, tail: TypedEnd) -> None:
        """Note what a triple asks for of those of its ends, given by key and type, that have no type yet.

        Where one end has a type that fits the other side alone, the triple was said backwards.
        """
        element = self._schema.relation_type(relation)
        domain, codomain = (element.domain, element.range) if element else ((ANY,), (ANY,))
        for (key, own), (_, other), mine, theirs in ((head, tail, domain, codomain), (tail, head, codomain, domain)):
            if own is None:
                backwards = (other is not None and not self._schema.is_a(other, theirs)
                             and self._schema.is_a(other, mine))
                self.wish(key, theirs if backwards else mine, (head[0], relation, tail[0]))

    def infer(self) -> Iterator[tuple[str, str]]:
        """Entities with the type that most facts can live with; of equals the first of the schema.

        Where only facts speak that admit any type, it is the type of last resort, if there is one.
        """
        for entity, wishes in self._wishes.items():
            asked = {name for _, allowed in wishes for name in allowed if name != ANY}
            best = min(asked, key=lambda name: (-sum(self._schema.is_a(name, allowed) for _, allowed in wishes),
                                                self._bounds.position(name)), default=self._bounds.last_resort)
            if best is not None:
                yield entity, best
