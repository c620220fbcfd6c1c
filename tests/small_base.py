"""Small knowledge bases for tests, made without a reasoner: what is said of each document is given."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from banyan.graph_store import derive
from banyan.graph_store.derive import refresh_graph_and_vectors
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.layout import Layout
from banyan.graph_store.ledger.database import Database
from banyan.ingest.chunking import chunk_document
from banyan.models.embedding.embedder import Embedder
from banyan.models.reasoner import Reasoner
from banyan.schemas.documents import Document
from banyan.schemas.extraction import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction
from banyan.schemas.graph_schema import GraphSchema, open_schema
from banyan.schemas.retrieval import CommunityDigest, CommunitySummary

Triples = Sequence[tuple[str, ...]]
"""(head, relation, tail), or with the words that say when."""

PEOPLE = {
    "ada": "Ada Byron was a mathematician. She was born in Ulm, Germany, on 3 May 1801.",
    "ulm": "Ulm is a city in Germany.  Ulm lies on the\nriver Danube.",
    "carl": "Carl Berg was a painter. He was born in Turku.",
    "zh": "林小雨出生于宁波。宁波位于浙江。",
}


def summarise(digests: Sequence[CommunityDigest]) -> list[CommunitySummary]:
    """Names a community by its keywords and describes it by its facts."""
    return [CommunitySummary(name=", ".join(d.keywords), summary="; ".join(d.statements)) for d in digests]


def said(entities: Iterable[tuple[str, str]] = (), triples: Triples = (), attributes: Triples = ()) -> Extraction:
    return Extraction(
        entities=tuple(ExtractedEntity(name=name, type=kind) for name, kind in entities),
        triples=tuple(ExtractedTriple(head=head, relation=relation, tail=tail, time=" ".join(time))
                      for head, relation, tail, *time in triples),
        attributes=tuple(ExtractedAttribute(entity=entity, attribute=name, value=value, time=" ".join(time))
                         for entity, name, value, *time in attributes))


def store(kb: KnowledgeBase, document: Document, max_tokens: int = 400, overlap_tokens: int = 0) -> bool:
    chunks = chunk_document(document, max_tokens=max_tokens, overlap_tokens=overlap_tokens)
    return kb.documents.put(document, chunks)


def put_plain(kb: KnowledgeBase, document_id: str, text: str, *, title: str = "", max_tokens: int = 400) -> None:
    put_document(kb, Document(id=document_id, title=title, text=text, source="test"), max_tokens)
    kb.refresh()


def put_document(kb: KnowledgeBase, document: Document, max_tokens: int = 400) -> None:
    """Store a document that nothing is said of but its tables and metadata."""
    chunks = chunk_document(document, max_tokens=max_tokens, overlap_tokens=0)
    kb.documents.put(document, chunks)
    for chunk in chunks:
        kb.extractions.save(chunk.id, "test", said())
    kb.schema_control.put_revisions_in_service()
    kb.schema_control.write([chunk.id for chunk in chunks])


def put(kb: KnowledgeBase, document_id: str, text: str, *, title: str = "", entities: Mapping[str, str] | None = None,
        triples: Triples = (), attributes: Triples = (), metadata: Mapping[str, str] | None = None) -> str:
    """Store a document of one chunk with what is said of it, and write it; returns the chunk's id."""
    document = Document(id=document_id, title=title, text=text, source="test", metadata=dict(metadata or {}))
    (chunk,) = chunk_document(document, max_tokens=100_000, overlap_tokens=0)
    kb.documents.put(document, [chunk])
    kb.extractions.save(chunk.id, "test", said((entities or {}).items(), triples, attributes))
    kb.schema_control.put_revisions_in_service()
    kb.schema_control.write([chunk.id])
    kb.refresh()
    return chunk.id


# Two circles of friends with different relations.
CIRCLES = [*((f"A{i}", "plays with", f"A{(i + 1) % 12}") for i in range(12)),
           *((f"B{i}", "works for", f"B{(i + 1) % 12}") for i in range(12))]


def embedded(home: Path, name: str, embedder: Embedder, triples: Triples) -> KnowledgeBase:
    """Open a new knowledge base with a document for each triple, which has no tree yet."""
    kb = create(home, name, embedder)
    for head, relation, tail in triples:
        put(kb, f"{head} {relation} {tail}", f"{head} {relation} {tail}.", triples=[(head, relation, tail)])
    kb.vector_synchroniser.sync()
    return kb


def finish(kb: KnowledgeBase) -> None:
    refresh_graph_and_vectors(kb)
    kb.tree.build(summarise)
    kb.save_graph()


def delete(kb: KnowledgeBase, document_id: str) -> None:
    kb.documents.delete(document_id)
    refresh_graph_and_vectors(kb)


def reindex(kb: KnowledgeBase) -> None:
    """Derive everything again, as `banyan reindex` does."""
    derive.reindex(kb, cast("Reasoner", SimpleNamespace(summarise=summarise)))


def create(home: Path, name: str, embedder: Embedder, schema: GraphSchema | None = None) -> KnowledgeBase:
    kb = KnowledgeBase(Layout.of(home, name), embedder, create=True)
    if not kb.schemas.version():
        kb.schemas.append(schema or open_schema(), (), "seed")
    return kb


def copied(source: Layout, target: Layout) -> None:
    """Copy a knowledge base that nobody has open; what is derived of one in PostgreSQL is made again."""
    if isinstance(source.ledger, Path):
        shutil.copytree(source.root, target.root)
        return
    with closing(Database(source.ledger)) as old, closing(Database(target.ledger)) as new:
        new.copy_rows(old)


@cache
def _made(embedder: Embedder, schema: str) -> Path:
    home = Path(tempfile.mkdtemp(prefix="banyan-people-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    with create(home, "people", embedder, GraphSchema.model_validate_json(schema)) as kb, kb.writing():
        put(kb, "ada", PEOPLE["ada"], title="Ada Byron", entities={"Ada Byron": "Person", "Ulm": "City"},
            triples=[("Ada Byron", "born_in", "Ulm")])
        put(kb, "ulm", PEOPLE["ulm"], title="Ulm", entities={"Ulm": "City", "Danube": "River"},
            triples=[("Ulm", "lies_on", "Danube")])
        put(kb, "carl", PEOPLE["carl"], title="Carl Berg", entities={"Carl Berg": "Person", "Turku": "City"},
            triples=[("Carl Berg", "born_in", "Turku")])
        put(kb, "zh", PEOPLE["zh"], title="林小雨", entities={"林小雨": "Person", "宁波": "City"},
            triples=[("林小雨", "出生于", "宁波")])
        finish(kb)
    return home


def people(home: Path, name: str, embedder: Embedder, schema: GraphSchema | None = None) -> None:
    made = _made(embedder, (schema or open_schema()).model_dump_json())
    copied(Layout.of(made, "people"), Layout.of(home, name))
