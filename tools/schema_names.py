"""Find the relations and attributes of the graph by what people and models call them."""

from collections.abc import Iterator
from typing import NamedTuple

from rapidfuzz import fuzz, process

from ..schemas.graph_schema import GraphSchema
from ..schemas.naming import cached_if_short, label_key, normalise
from ..text.content_words import content_words
from .index import RetrievalIndex

_NEAR = 60
_SHOWN = 8
_CUES_KEPT = 1 << 12


class Term(NamedTuple):
    """A relation or attribute with how many rows it has: triples, or entities that have the attribute."""

    name: str
    rows: int
    is_attribute: bool


class FoundTerm(NamedTuple):
    """The terms of a label; where there is none, those like it."""

    terms: tuple[Term, ...]
    near: tuple[str, ...] = ()


def terms_of(index: RetrievalIndex) -> list[Term]:
    """Return the relations, then the attributes that the graph has rows of, the most rows first.

    A relation and an attribute of one name are one, with the rows of both.
    """
    triples, values = index.relation_counts, index.attribute_counts
    terms = [Term(name, triples.get(name, 0) + values.get(name, 0), is_attribute=name not in triples)
             for name in {**triples, **values}]
    return sorted(terms, key=lambda term: (term.is_attribute, -term.rows, term.name))


def find_term(index: RetrievalIndex, schema: GraphSchema, label: str) -> FoundTerm:
    """Return the terms that a label names, by the schema's names and labels or those of the graph."""
    wanted, known = label_key(label), terms_of(index)
    names = {term.name for term in known if wanted in set(names_of(schema, term))} or {
        term.name for term in known if not term.is_attribute and wanted in labels_of(schema, term)}
    if names:
        return FoundTerm(tuple(term for term in known if term.name in names))
    found = process.extract(label, [term.name for term in known], scorer=fuzz.WRatio, processor=label_key,
                            score_cutoff=_NEAR, limit=_SHOWN)
    # Spelling finds no synonym: the terms with most rows follow.
    near = dict.fromkeys([*(name for name, _, _ in found), *(term.name for term in known)])
    return FoundTerm((), tuple(near)[:_SHOWN])


class LabelledTerms:
    """The terms of a graph by the words of the names and labels that a schema gives them."""

    def __init__(self, index: RetrievalIndex, schema: GraphSchema) -> None:
        """Read the names and labels of all terms."""
        self.schema, self.terms = schema, terms_of(index)
        self._spoken: dict[str, list[tuple[int, frozenset[str]]]] = {}
        self._written: list[tuple[int, str]] = []
        for row, term in enumerate(self.terms):
            for label in names_of(schema, term):
                if words := frozenset(content_words(label)):
                    self._spoken.setdefault(min(words), []).append((row, words))
                    if not label.isascii():
                        self._written.append((row, label))

    def named(self, question: str) -> list[str]:
        """Return the terms of which a question has a name or label.

        It has all stems of the label's words, or in a script without spaces the label as it stands.
        """
        asked, folded = frozenset(content_words(question)), normalise(question)
        spoken = {row for word in asked for row, words in self._spoken.get(word, ()) if asked.issuperset(words)}
        written = {row for row, label in self._written if label in folded}
        return list(dict.fromkeys(self.terms[row].name for row in sorted(spoken | written)))


def labels_of(schema: GraphSchema, term: Term) -> list[str]:
    """Return what a term is called: the schema's names and labels, then the cues of relations, all as keys."""
    names = list(names_of(schema, term))
    element = None if term.is_attribute else schema.relation_type(term.name)
    if element is None:
        return names
    return list(dict.fromkeys([*names, *filter(None, map(_bare_cue, element.rules.all_cues()))]))


@cached_if_short(_CUES_KEPT)
def _bare_cue(cue: str) -> str:
    """Return a cue without the signs of its grammar ("<author of" is "author")."""
    bare = cue.removeprefix("<").removeprefix("'s ").removesuffix(" of")
    return label_key(bare.removeprefix("的").removesuffix("是"))


def names_of(schema: GraphSchema, term: Term) -> Iterator[str]:
    """Yield the schema's names and labels of a term, as keys."""
    relation = None if term.is_attribute else schema.relation_type(term.name)
    elements = [element for element in (relation, schema.attribute_type(term.name)) if element]
    yield from map(label_key, [name for element in elements for name in element.all_names()] or [term.name])


def find_type(index: RetrievalIndex, schema: GraphSchema, name: str) -> str:
    """Return the type of entities that has a name, label or alias; "" if there is none."""
    wanted = label_key(name)
    for kind in index.browsing.types:
        element = schema.entity_type(kind)
        if wanted in map(label_key, element.all_names() if element else (kind,)):
            return kind
    return ""
