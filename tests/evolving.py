"""Ledgers whose schema grows and is decided on, and documents that make it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from banyan.schemas.extraction import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction
from banyan.schemas.graph_schema import AttributeType, EntityType, GraphSchema, RelationType
from hypothesis import strategies as st

from . import ledger_only
from .hashed_embedding import HashedEmbedder

THRESHOLDS = ledger_only.THRESHOLDS

SCHEMA = GraphSchema(
    name="s",
    entity_types=(EntityType(name="Person"), EntityType(name="City"), EntityType(name="Poet", parent="Person")),
    relation_types=(RelationType(name="born_in", domain=("Person",), range=("City",)),
                    RelationType(name="knows", domain=("Person",), range=("Person",), symmetric=True)),
    attribute_types=(AttributeType(name="age", owners=("Person",), kind="number"),))

TYPES = ["Person", "City", "Poet", "Guild", "Ship"]
RELATIONS = ["born_in", "knows", "sails on", "member of", "painted"]


def said(*triples: tuple[str, str, str], types: dict[str, str], sure: float = 0.9,
         attributes: tuple[tuple[str, str, str], ...] = ()) -> tuple[str, Extraction]:
    """A text that has everything in it, and the extraction."""
    text = " ".join(f"{head} {relation} {tail}." for head, relation, tail in (*triples, *attributes))
    text += " ".join(f" {name} is there." for name in types)
    return text, Extraction(
        entities=tuple(ExtractedEntity(name=name, type=kind, confidence=sure) for name, kind in types.items()),
        triples=tuple(ExtractedTriple(head=h, relation=r, tail=t, confidence=sure) for h, r, t in triples),
        attributes=tuple(ExtractedAttribute(entity=e, attribute=a, value=v, confidence=sure) for e, a, v in attributes))


PAINTED = {
    "a": said(("Ada", "painted", "Ulm"), types={"Ada": "Person", "Ulm": "City"}),
    "b": said(("Bea", "painted", "Bonn"), types={"Bea": "Person", "Bonn": "City"}),
}


@pytest.fixture
def make(tmp_path):
    """Makes ledgers, and closes them at the end."""
    made = []

    def new(schema: GraphSchema = SCHEMA) -> Any:
        made.append(ledger_only.LedgerOnly(tmp_path / f"{len(made)}.sqlite", HashedEmbedder(), schema))
        return made[-1]

    yield new
    for ledger in made:
        ledger.close()


@contextmanager
def fresh(factory, schema: GraphSchema = SCHEMA) -> Iterator:
    """A ledger for one example of a property test."""
    ledger = ledger_only.LedgerOnly(factory.mktemp("ledger") / "l.sqlite", HashedEmbedder(), schema)
    try:
        yield ledger
    finally:
        ledger.close()


ITEMS = st.tuples(st.sampled_from("ABCD"), st.sampled_from(TYPES), st.sampled_from(RELATIONS),
                   st.sampled_from("WXYZ"), st.sampled_from(TYPES), st.sampled_from([0.7, 0.85, 1.0]))
DOCUMENTS = st.lists(st.lists(ITEMS, min_size=1, max_size=3), min_size=1, max_size=6)


def document(items) -> tuple[str, Extraction]:
    types: dict[str, str] = {}
    triples = []
    for head, head_type, relation, tail, tail_type, _ in items:
        types.setdefault(head, head_type)
        types.setdefault(tail, tail_type)
        triples.append((head, relation, tail))
    return said(*triples, types=types, sure=items[0][5])
