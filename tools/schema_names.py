"""Finding the relations and attributes of the graph by the names that people and models use for them."""

from collections.abc import Iterator
from typing import NamedTuple

from rapidfuzz import fuzz, process

from ..graph_store.graph_index import GraphIndex
from ..schemas.graph_schema import GraphSchema
from ..schemas.naming import label_key, normalise
from ..text.content_words import content_words

_NEAR, _SHOWN = 60, 8  # the least likeness (0 to 100) of names that are shown for an unknown one, and how many are


class Term(NamedTuple):
    """A relation or attribute with its number of rows: triples of the relation, or entities with the attribute."""

    name: str
    rows: int
    is_attribute: bool


class FoundTerm(NamedTuple):
    """The terms that a label names; if there are none, `near` has the names of others, the likeliest first."""

    terms: tuple[Term, ...]
    near: tuple[str, ...] = ()


def terms_of(index: GraphIndex) -> list[Term]:
    """Return the relations of the graph, then its attributes, each with the most rows first.

    A relation and an attribute of the same name are one term, a relation with the rows of both.
    """
    triples, values = index.relation_counts, index.attribute_counts
    terms = [Term(name, triples.get(name, 0) + values.get(name, 0), is_attribute=name not in triples)
             for name in {**triples, **values}]
    return sorted(terms, key=lambda term: (term.is_attribute, -term.rows, term.name))


class LabelledTerms:
    """The terms of a graph, to be found in lookups and questions by the names and labels that a schema gives them."""

    def __init__(self, index: GraphIndex, schema: GraphSchema) -> None:
        self.schema, self.terms = schema, terms_of(index)
        self._by_name: dict[str, list[int]] = {}
        self._labels = list[tuple[int, frozenset[str], str]]()  # a term's number, the stems of a label, and the label
        for number, term in enumerate(self.terms):
            for label in dict.fromkeys(names_of(schema, term)):
                self._by_name.setdefault(label, []).append(number)
                if words := frozenset(content_words(label)):
                    self._labels.append((number, words, label))

    def find(self, label: str) -> FoundTerm:
        """Return the terms that a label names; else `near` has similar names, then, for synonyms, the largest."""
        if numbers := self._by_name.get(label_key(label)):
            return FoundTerm(tuple(self.terms[number] for number in numbers))
        similar = process.extract(label, [term.name for term in self.terms], scorer=fuzz.WRatio, processor=label_key,
                                  score_cutoff=_NEAR, limit=_SHOWN)
        near = dict.fromkeys([*(name for name, _, _ in similar), *(term.name for term in self.terms)])
        return FoundTerm((), tuple(near)[:_SHOWN])

    def named(self, question: str) -> list[str]:
        """Return the names of the terms that a question names, in the order of `terms`.

        A question names a term if it has the stems of all words of one of the term's labels, in any order. A label that
        is not in ASCII may also occur as it is, because some scripts have no spaces between words.
        """
        question_words, folded = frozenset(content_words(question)), normalise(question)
        named = {number for number, words, label in self._labels
                 if words <= question_words or (not label.isascii() and label in folded)}
        return list(dict.fromkeys(self.terms[number].name for number in sorted(named)))


def names_of(schema: GraphSchema, term: Term) -> Iterator[str]:
    """Yield the schema's names and labels of a term in the form of `label_key`; the term's own name if it has none."""
    relation = None if term.is_attribute else schema.relation_type(term.name)
    elements = [element for element in (relation, schema.attribute_type(term.name)) if element]
    yield from map(label_key, [name for element in elements for name in element.all_names()] or [term.name])


def find_type(index: GraphIndex, schema: GraphSchema, name: str) -> str:
    """Return the entity type that has a name, label or alias; "" if there is none."""
    wanted = label_key(name)
    for type_name in index.types:
        element = schema.entity_type(type_name)
        if wanted in map(label_key, element.all_names() if element else (type_name,)):
            return type_name
    return ""
