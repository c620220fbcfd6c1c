"""A seed schema proposed from a sample of documents, for a person to edit.

The reasoner extracts from the sample without a schema; its labels become candidates as in any build, here of an empty
schema. The strongest of each kind form a compact schema; of twice as many an LLM, where one is set, makes its own.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from langchain_core.runnables.config import ContextThreadPoolExecutor

from ..graph_store.bounding.admission import Bounds, bound
from ..graph_store.bounding.similar_labels import SimilarLabels
from ..graph_store.evolution.editing import KIND_NAMES, replaced
from ..graph_store.evolution.growth import Grounds, Thresholds, grow
from ..graph_store.ledger.accounts import Calls
from ..graph_store.ledger.schema_requests import AskCount
from ..ingest.chunking import chunk_document
from ..ingest.loaders import FORMATS, IngestError, load_documents
from ..models.llm.inferring import SchemaWriter
from ..models.reasoner import Reasoner
from ..models.rules.tables import read_rows
from ..schemas.delta import Candidate, Decided, ElementKind, Example
from ..schemas.documents import Chunk, Frozen
from ..schemas.extraction import Ask, ExtractionRequest
from ..schemas.graph_schema import GraphSchema, open_schema
from ..schemas.naming import content_id, label_key
from .resources import Resources

SIZE: dict[ElementKind, int] = {"entity_type": 10, "relation": 15, "attribute": 10}
"""How large an inferred schema may be: what the extraction prompt holds in under 480 tokens."""
_SUPPORT = 2
_CONTEXTS = 16


class Inferred(Frozen):
    """An inferred schema, the evidence for its elements, and what was read for it."""

    graph_schema: GraphSchema
    decided: tuple[Decided, ...]
    documents: int
    chunks: int
    files_failed: tuple[str, ...]


def infer_schema(resources: Resources, reasoner: Reasoner, paths: Sequence[Path], *, calls: Calls, name: str,
                 chunks: int, progress: Callable[[int, int], None]) -> Inferred:
    """Propose a compact schema for some documents.

    Args:
        resources: settings and embedding model.
        reasoner: extracts from the sample.
        paths: files and folders.
        calls: the accounts of an LLM's calls.
        name: what the schema is to be called.
        chunks: the size of the sample; it is spread over the documents.
        progress: told how many chunks are done, and of how many.

    Returns:
        The schema; elements are described by an example and stand strongest first.

    Raises:
        IngestError: there is nothing to read.
        ReasonerError: a call failed for good.
    """
    failures: list[str] = []
    sample, documents = _sample(resources, paths, chunks, failures)
    asks = _asks(reasoner, sample, resources.settings.llm_concurrency if resources.settings.uses_llm else 1,
                 progress)
    empty, llm = GraphSchema(name=name), resources.settings.uses_llm
    grounds = Grounds(counts=_counts(asks), declined=(), similar=SimilarLabels(resources.embedder, empty),
                      embedder=resources.embedder, examples=_examples_of(asks))
    schema, decided = grow(empty, grounds, Thresholds(
        confidence=0.0, support=min(_SUPPORT, documents), consistency=-2.0,
        growth={kind: size * (1 + llm) for kind, size in SIZE.items()}))
    schema = _described(schema, decided)
    if llm and schema.entity_types:
        schema = SchemaWriter(resources.settings, calls).write(schema, SIZE)
    return Inferred(graph_schema=schema, decided=tuple(decided), documents=documents,
                    chunks=len(sample), files_failed=tuple(failures))


def _sample(resources: Resources, paths: Sequence[Path], size: int, failures: list[str]) -> tuple[list[Chunk], int]:
    """Chunks in turns of one from each document, documents in an order that their names do not decide."""
    settings, turns, documents = resources.settings, list[tuple[int, str, Chunk]](), 0
    for document in load_documents(list(paths), limits=resources.limits,
                                   on_failure=lambda f: failures.append(f"{f.path}: {f.reason}")):
        documents += 1
        cut = chunk_document(document, max_tokens=settings.chunk_tokens, overlap_tokens=0)
        turns += [(turn, content_id(document.id, document.text), chunk) for turn, chunk in enumerate(cut[:size])]
    if not turns:
        raise IngestError(f"there is nothing to read in {', '.join(map(str, paths))}: name files, or folders with "
                          f"files, of these formats: {', '.join(FORMATS)}")
    return [chunk for _, _, chunk in sorted(turns, key=lambda item: item[:2])[:size]], documents


def _asks(reasoner: Reasoner, sample: Sequence[Chunk], workers: int, progress: Callable[[int, int], None],
          ) -> list[tuple[Chunk, Ask]]:
    bounds, opened = Bounds(GraphSchema(name="empty")), open_schema()

    def read(chunk: Chunk) -> list[tuple[Chunk, Ask]]:
        rows, prose = read_rows(chunk.text, chunk.title, chunk.heading, opened)
        request = ExtractionRequest(text=prose, title=chunk.title, heading=chunk.heading)
        extraction = rows.joined(reasoner.extract(request, opened)) if prose.strip() else rows
        return [(chunk, ask) for ask in bound(extraction, chunk, bounds).asks]

    asked: list[tuple[Chunk, Ask]] = []
    with ContextThreadPoolExecutor(workers) as pool:
        for done, asks in enumerate(pool.map(read, sample), 1):
            asked += asks
            progress(done, len(sample))
    return asked


def _counts(asks: Sequence[tuple[Chunk, Ask]]) -> list[AskCount]:
    sure: defaultdict[tuple[ElementKind, str, str, str, str], list[float]] = defaultdict(list)
    for chunk, ask in asks:
        sure[ask.kind, ask.label, ask.subject_type, ask.object_type, chunk.document_id].append(ask.confidence)
    return [AskCount(*key, len(sure[key]), sum(sorted(sure[key]))) for key in sorted(sure)]


def _examples_of(asks: Sequence[tuple[Chunk, Ask]]) -> Callable[[Candidate], list[Example]]:
    by_label: dict[tuple[ElementKind, str], list[Example]] = {}
    for chunk, ask in asks:
        by_label.setdefault((ask.kind, ask.label), []).append(
            Example(document=chunk.document_id, item=ask.text, words=ask.context.quote))

    def examples(candidate: Candidate) -> list[Example]:
        all_of_them = [example for label in candidate.labels for example in by_label[candidate.kind, label]]
        return sorted(all_of_them, key=lambda e: (e.document, e.item, e.words))[:_CONTEXTS]

    return examples


def _described(schema: GraphSchema, decided: Sequence[Decided]) -> GraphSchema:
    """The schema with an example as each element's description: a person sees what is meant, and rewrites it."""
    items = {(d.decision.kind, label): d.evidence.examples[0].item
             for d in decided if d.evidence and d.evidence.examples for label in d.evidence.labels}
    for kind in KIND_NAMES:
        for element in schema.elements(kind):
            item = next((items[kind, key] for key in map(label_key, element.all_names()) if (kind, key) in items), "")
            if item:
                schema = replaced(schema, kind, element, element.model_copy(update={"description": f"as in {item}"}))
    return schema
