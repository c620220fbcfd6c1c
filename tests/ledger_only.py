"""A schema over a ledger, without vectors or graph: quick enough for property tests."""

from collections.abc import Mapping
from pathlib import Path

from banyan.graph_store.evolution.control import SchemaControl
from banyan.graph_store.evolution.growth import Thresholds
from banyan.graph_store.ledger.database import Database
from banyan.graph_store.ledger.document_rows import Documents
from banyan.graph_store.ledger.extractions import Extractions
from banyan.graph_store.ledger.schema_history import SchemaHistory
from banyan.ingest.chunking import chunk_document
from banyan.models.embedding.embedder import Embedder
from banyan.schemas.documents import Document
from banyan.schemas.extraction import BoundedExtraction, Extraction
from banyan.schemas.graph_schema import GraphSchema

THRESHOLDS = Thresholds(confidence=0.8, support=2, consistency=-2.0,
                        growth={"entity_type": 5, "relation": 5, "attribute": 5})


class LedgerOnly:
    """A ledger with a schema; documents are given with what is said of them."""

    def __init__(self, path: Path, embedder: Embedder, schema: GraphSchema) -> None:
        self.database = Database(path)
        self.documents = Documents(self.database)
        self.extractions = Extractions(self.database)
        self.history = SchemaHistory(self.database)
        self.control = SchemaControl(self.database, self.documents, self.extractions, embedder, embedder)
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
                self.documents.put_in_service(name)
            self.control.write(batch)

    def grow(self, thresholds: Thresholds = THRESHOLDS) -> GraphSchema:
        """Let the schema grow; returns the one in force."""
        self.control.grow(thresholds)
        return self.history.current()

    def facts(self) -> dict[str, BoundedExtraction]:
        """What each chunk contributes."""
        return {chunk.id: self.extractions.admitted(chunk)
                for chunk in self.documents.chunks(self.documents.done())}

    def edges(self) -> set[tuple[str, str, str]]:
        """All admitted triples, by names."""
        return {(f.head, f.relation, f.tail) for c in self.facts().values() for f in c.facts}

    def close(self) -> None:
        self.database.close()


