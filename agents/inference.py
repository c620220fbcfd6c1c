"""Infer a schema for documents: a model proposes it from excerpts, or the rules find it in a sample.

With a model, one call proposes the schema (two for large inputs). Without one, the rules read a sample under an empty
schema. The labels that they use become candidates as in any build, and the strongest candidates form the schema.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from ..graph_store.bounding.admission import Bounds, bound
from ..graph_store.bounding.similar_labels import SimilarLabels
from ..graph_store.evolution.elements import KIND_NAMES, replace_element
from ..graph_store.evolution.growth import Thresholds, grow
from ..graph_store.evolution.schema_candidates import SHOWN, Grounds
from ..graph_store.ledger.schema_requests import AskCount
from ..graph_store.ledger.token_accounts import Calls
from ..ingest.chunking import chunk_document
from ..ingest.loaders import FORMATS, IngestError, load_documents
from ..models.llm.inferring import SchemaWriter
from ..models.reasoner import Reasoner
from ..models.rules.table_facts import read_rows
from ..runtime.event_loop import run
from ..schemas.delta import Candidate, Decided, ElementKind, Example
from ..schemas.documents import Chunk, Frozen
from ..schemas.extraction import Ask
from ..schemas.graph_schema import GraphSchema, open_schema
from ..schemas.naming import label_key
from .extraction_requests import extraction_request
from .resources import Resources
from .schema_proposal import choose_excerpts, propose_schema, reasons_of

SIZE: dict[ElementKind, int] = {"entity_type": 10, "relation": 15, "attribute": 10}
"""The most elements of a schema that the rules infer."""
_SUPPORT = 2
"""How many documents must support an element, if there are that many."""


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
        reasoner: reads the sample if no model is set.
        paths: files and folders.
        calls: the accounts to which the calls of a model are charged.
        name: the schema's name.
        chunks: how many chunks the rules read; they are spread over the documents.
        progress: called with the number of chunks that are read and the number of all chunks; only without a model.

    Raises:
        IngestError: there is nothing to read.
        ReasonerError: a call failed for good.
        BudgetExceeded: a call would exceed the budget.
    """
    failures: list[str] = []
    read, documents = _read(resources, paths, failures)
    if resources.settings.uses_llm:
        excerpts = choose_excerpts(read, sum(len(chunk.text) for chunk in read))
        schema = run(propose_schema, SchemaWriter(resources.settings, calls), excerpts)
        return Inferred(graph_schema=schema.model_copy(update={"name": name}), documents=documents,
                        decided=tuple(reasons_of(schema, sum(map(len, excerpts)), documents)),
                        chunks=sum(map(len, excerpts)), files_failed=tuple(failures))
    sample = sorted(read, key=lambda c: (c.ordinal, c.id))[:chunks]
    asks = _collect_asks(reasoner, sample, progress)
    empty = GraphSchema(name=name)
    grounds = Grounds(counts=_count_asks(asks), declined=(), similar=SimilarLabels(resources.embedder, empty),
                      examples=_example_finder(asks))
    schema, decided = grow(empty, grounds, Thresholds(
        confidence=0.0, support=min(_SUPPORT, documents), growth=SIZE))
    return Inferred(graph_schema=_describe_by_example(schema, decided), decided=tuple(decided), documents=documents,
                    chunks=len(sample), files_failed=tuple(failures))


def _read(resources: Resources, paths: Sequence[Path], failures: list[str]) -> tuple[list[Chunk], int]:
    """Read files, and return the chunks of their documents and the number of documents."""
    documents, chunks = 0, list[Chunk]()
    for document in load_documents(list(paths), limits=resources.limits,
                                   on_failure=lambda f: failures.append(f"{f.path}: {f.reason}")):
        documents += 1
        chunks += chunk_document(document, max_tokens=resources.settings.chunk_tokens, overlap_tokens=0)
    if not chunks:
        raise IngestError(f"there is nothing to read in {', '.join(map(str, paths))}: name files, or folders with "
                          f"files, of these formats: {', '.join(FORMATS)}")
    return chunks, documents


def _collect_asks(reasoner: Reasoner, sample: Sequence[Chunk], progress: Callable[[int, int], None],
                  ) -> list[tuple[Chunk, Ask]]:
    """Extract chunks by an open schema, and check the result against an empty one, so every label is missing."""
    bounds, opened = Bounds(GraphSchema(name="empty")), open_schema()
    asks: list[tuple[Chunk, Ask]] = []
    for done, chunk in enumerate(sample, 1):
        rows, prose = read_rows(chunk.text, chunk.title, chunk.heading, opened)
        request = extraction_request(chunk, prose, {})
        extraction = rows.combine(*run(reasoner.extract, [request], opened)) if prose.strip() else rows
        asks += [(chunk, ask) for ask in bound(extraction, chunk, bounds).asks]
        progress(done, len(sample))
    return asks


def _count_asks(asks: Sequence[tuple[Chunk, Ask]]) -> list[AskCount]:
    """Count how often each document uses each label with each pair of types, and add up the confidences."""
    confidences: defaultdict[tuple[ElementKind, str, str, str, str], list[float]] = defaultdict(list)
    for chunk, ask in asks:
        confidences[ask.kind, ask.label, ask.subject_type, ask.object_type, chunk.document_id].append(ask.confidence)
    # Sorted, so the sum of floats does not depend on the order of the chunks.
    return [AskCount(*key, len(values), sum(sorted(values))) for key, values in sorted(confidences.items())]


def _example_finder(asks: Sequence[tuple[Chunk, Ask]]) -> Callable[[Candidate], list[Example]]:
    """Return a function that finds examples of a candidate: passages that use one of its labels."""
    by_label: dict[tuple[ElementKind, str], list[Example]] = {}
    for chunk, ask in asks:
        by_label.setdefault((ask.kind, ask.label), []).append(
            Example(document=chunk.document_id, item=ask.text, words=ask.context.quote))

    def find_examples(candidate: Candidate) -> list[Example]:
        examples = [example for label in candidate.labels for example in by_label[candidate.kind, label]]
        return sorted(examples, key=lambda e: (e.document, e.item, e.words))[:SHOWN]

    return find_examples


def _describe_by_example(schema: GraphSchema, decided: Sequence[Decided]) -> GraphSchema:
    """Return the schema with an example of its use as each element's description, for a person to rewrite."""
    example_by_label = {(d.decision.kind, label): d.evidence.examples[0].item
                        for d in decided if d.evidence and d.evidence.examples for label in d.evidence.labels}
    for kind in KIND_NAMES:
        for element in schema.elements(kind):
            labels = [(kind, label_key(name)) for name in element.all_names()]
            example = next((example_by_label[label] for label in labels if label in example_by_label), "")
            if example:
                described = element.model_copy(update={"description": f"as in {example}"})
                schema = replace_element(schema, kind, element, described)
    return schema
