"""Ledgers whose schema grows and is decided on, and documents that make it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from banyan.graph_store.evolution.control import SchemaControl
from banyan.graph_store.evolution.growth import Thresholds
from banyan.graph_store.ledger.database import Database
from banyan.graph_store.ledger.document_rows import Documents
from banyan.graph_store.ledger.extractions import Extractions
from banyan.graph_store.ledger.schema_rows import SchemaHistory
from banyan.ingest.chunking import chunk_document
from banyan.schemas.documents import Document
from banyan.schemas.extraction import (
    BoundedExtraction,
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
)
from banyan.schemas.graph_schema import AttributeType, EntityType, GraphSchema, RelationType
from hypothesis import strategies as st

from .admitted import admitted

THRESHOLDS = Thresholds(confidence=0.8, support=2,
                        growth={"entity_type": 5, "relation": 5, "attribute": 5})

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


class LedgerOnly:
    """A ledger with a schema, without vectors or graph; documents are given with what is said of them."""

    def __init__(self, path: Path, schema: GraphSchema) -> None:
        self.database = Database(path)
        self.documents = Documents(self.database)
        self.extractions = Extractions(self.database)
        self.history = SchemaHistory(self.database)
        self.control = SchemaControl(self.database, self.documents, self.extractions)
        self.history.append(schema, (), "seed")

    def put(self, said: Mapping[str, tuple[str, Extraction]], *, at_once: int = 100) -> None:
        """Store documents of one chunk each, by id: (text, what is said of it); written in batches, as a build does."""
        names = list(said)
        for start in range(0, len(names), at_once):
            batch = []
            for name in names[start:start + at_once]:
                text, extraction = said[name]
                (chunk,) = chunk_document(Document(id=name, title="", text=text, source="test"), max_tokens=100_000,
                                          overlap_tokens=0)
                self.documents.put(Document(id=name, title="", text=text, source="test"), [chunk])
                self.extractions.save(chunk.id, "test", extraction)
                batch.append(chunk.id)
            for name in self.documents.revisions.find_ready():
                self.documents.revisions.put_in_service(name)
            self.control.write(batch)

    def grow(self, thresholds: Thresholds = THRESHOLDS) -> GraphSchema:
        """Let the schema grow; returns the one in force."""
        self.control.grow(thresholds)
        return self.history.current()

    def facts(self) -> dict[str, BoundedExtraction]:
        """What each chunk contributes."""
        return {chunk.id: admitted(self.extractions, chunk)
                for chunk in self.documents.chunks(self.documents.done())}

    def edges(self) -> set[tuple[str, str, str]]:
        """All admitted triples, by names."""
        return {(f.head, f.relation, f.tail) for c in self.facts().values() for f in c.facts}

    def close(self) -> None:
        self.database.close()


@pytest.fixture
def make(tmp_path):
    """Makes ledgers, and closes them at the end."""
    made = []

    def new(schema: GraphSchema = SCHEMA) -> Any:
        made.append(LedgerOnly(tmp_path / f"{len(made)}.sqlite", schema))
        return made[-1]

    yield new
    for ledger in made:
        ledger.close()


@contextmanager
def fresh(factory, schema: GraphSchema = SCHEMA) -> Iterator:
    """A ledger for one example of a property test."""
    ledger = LedgerOnly(factory.mktemp("ledger") / "l.sqlite", schema)
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
