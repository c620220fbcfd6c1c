"""Ask a model which schema fits documents and which labels mean the same, and a person what may join the schema."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from langgraph.types import interrupt

from ..graph_store.evolution.elements import KIND_NAMES, DecisionError, find_element
from ..graph_store.evolution.growth import CORE
from ..graph_store.knowledge_base import KnowledgeBase
from ..ingest.chunking import chunk_document
from ..ingest.formats import FORMATS
from ..ingest.loaders import load_documents
from ..ingest.reading import IngestError, Limits, LoadFailure
from ..models.llm.llm_reasoner import SchemaWriter
from ..runtime.threads import run
from ..schemas import delta
from ..schemas.delta import Candidate, Decided, Decision
from ..schemas.documents import Chunk
from ..schemas.formats.schema_loading import load_schema
from ..schemas.graph_schema import ANY, AUTO_SCHEMA, GraphSchema
from ..text.quantities import format_count
from ..text.scripts import estimate_tokens, first_tokens

_EXCERPT_TOKENS, _CALL_TOKENS, _LARGE = 300, 3000, 160_000
"""The most tokens of a chunk's excerpt; the most tokens of a call; the characters of documents that take two calls."""
SAMPLE = 200  # chunks that the excerpts are chosen from; two calls hold some twenty of them
_COMPARED_AT_ONCE = 60  # new labels that one call groups: the strongest, as only they can join the schema
_CORE_TYPES = ("Person", "Organization", "Location", "Event", "Work", "Product", "Concept")
_CORE_ATTRIBUTES = ("occupation", "alias")
_CORE_RELATIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "works_for": {"domain": ("Person",), "range": ("Organization",)},
    "located_in": {"domain": (ANY,), "range": ("Location",)},
    "part_of": {"domain": (ANY,), "range": (ANY,)},
    "participated_in": {"domain": ("Person", "Organization"), "range": ("Event",)}}
REVIEWED_AT_ONCE = 20  # candidates that a person is shown at once
_SHOWN = 2  # examples of each candidate that its description quotes; all are in the delta


def core_schema() -> GraphSchema:
    """Return the elements that every inferred schema has: a few of the seed `general` that suit any documents."""
    general = load_schema("general")
    relations = [relation.model_copy(update=_CORE_RELATIONS[relation.name])
                 for relation in general.relation_types if relation.name in _CORE_RELATIONS]
    return GraphSchema(
        name=AUTO_SCHEMA, relation_types=tuple(relations),
        entity_types=tuple(type_ for type_ in general.entity_types if type_.name in _CORE_TYPES),
        attribute_types=tuple(type_ for type_ in general.attribute_types if type_.name in _CORE_ATTRIBUTES))


def infer_schema(writer: SchemaWriter, paths: Sequence[Path], limits: Limits, max_tokens: int,
                 on_failure: Callable[[LoadFailure], None]) -> tuple[GraphSchema, int, int]:
    """Let a model propose a schema for documents; return it with the numbers of documents and excerpts that were read.

    Unreadable files go to `on_failure`. Raises IngestError (nothing can be read), ReasonerError and BudgetExceeded.
    """
    documents = [*load_documents(list(paths), limits=limits, on_failure=on_failure)]
    chunks = [chunk for document in documents
              for chunk in chunk_document(document, max_tokens=max_tokens, overlap_tokens=0)]
    if not chunks:
        raise IngestError(f"there is nothing to read in {', '.join(map(str, paths))}: name files, or folders with "
                          f"files, of these formats: {', '.join(FORMATS)}")
    excerpts = choose_excerpts(chunks, sum(len(chunk.text) for chunk in chunks))
    return run(propose_schema, writer, excerpts), len(documents), sum(map(len, excerpts))


def choose_excerpts(chunks: Iterable[Chunk], characters: int) -> list[list[str]]:
    """Choose excerpts of documents for a model to read, and return them by call (one call, two for large inputs).

    First chunks of all documents come first, then second ones, in the order of their ids, which are hashes: by chance,
    but always the same. `characters` is the length of all documents.
    """
    excerpts_by_call: list[list[str]] = [[] for _ in range(2 if characters >= _LARGE else 1)]
    free_tokens = [_CALL_TOKENS] * len(excerpts_by_call)
    for chunk in sorted(chunks, key=lambda c: (c.ordinal, c.id)):
        headings = " > ".join(part for part in (chunk.title, chunk.heading) if part)
        excerpt = f"{headings}\n{chunk.text[:first_tokens(chunk.text, _EXCERPT_TOKENS)]}"
        tokens = estimate_tokens(excerpt)
        call = next((number for number, free in enumerate(free_tokens) if tokens <= free), None)
        if chunk.text.strip() and call is not None:  # None: it fits into no call, but a shorter one may
            excerpts_by_call[call].append(excerpt)
            free_tokens[call] -= tokens
    return [excerpts for excerpts in excerpts_by_call if excerpts]


async def propose_schema(writer: SchemaWriter, calls: Sequence[Sequence[str]]) -> GraphSchema:
    """Let a model add elements to the core schema; each call adds to the schema that the one before it returned."""
    schema = core_schema()
    for excerpts in calls:
        schema = await writer.propose(excerpts, schema)
    return schema


def group_labels(kb: KnowledgeBase, writer: SchemaWriter, support: int) -> None:
    """Ask the model which new labels mean the same, and store its verdicts; `support` documents must have a label."""
    schema = kb.schemas.current()
    # An open schema admits every label, so no label waits to join it.
    labels = [] if schema.open else kb.schema_control.find_uncompared(support, _COMPARED_AT_ONCE)
    if labels:
        kb.schema_control.store_same_labels(labels, run(writer.group, labels, schema))


def fit_schema(kb: KnowledgeBase, writer: SchemaWriter) -> None:
    """Propose a schema from the documents, if they have text, and put it in force."""
    excerpts_by_call = choose_excerpts(kb.documents.sample(SAMPLE),
                                       sum(entry.characters for entry in kb.documents.entries()))
    if not excerpts_by_call:
        return
    schema, core = run(propose_schema, writer, excerpts_by_call), core_schema()
    origin = f"proposed from {sum(map(len, excerpts_by_call))} excerpts of {kb.documents.count_documents()} documents"
    reasons = list[Decided]()  # why each element is in the schema
    for kind in KIND_NAMES:
        for element in schema.elements(kind):
            why = f"{origin}: {element.description}" if element.description else origin
            why = CORE if find_element(core, kind, element.name) else why
            reasons.append(Decided(decision=Decision(kind=kind, name=element.name, verdict="accept", why=why)))
    kb.schemas.append(schema, reasons, "auto")


def ask_person(knowledge_base: str, candidates: Sequence[Candidate],
               decide: Callable[[list[Decision], str], object], *, who: str = "") -> None:
    """Interrupt the run and ask a person about candidates, again and again until `decide` can apply the answer.

    `decide` gets the decisions and who made them: `who`, who resumes the run.
    """
    error = ""
    while True:
        # `interrupt` raises; when the run is resumed, this code runs again from its start, and it returns the answer.
        answer = interrupt(request(knowledge_base, candidates, error))
        try:
            review = delta.read_answer(answer, candidates, who or "reviewer")
            decide(review.on(candidates), review.who)
        except (delta.ReviewError, DecisionError) as wrong:
            error = str(wrong)
        else:
            return


def request(knowledge_base: str, candidates: Sequence[Candidate], error: str = "") -> dict[str, Any]:
    """Build the value of the interrupt that a person answers: LangChain's `HITLRequest` with further keys.

    `delta` has the candidates with all evidence; `error` says why the previous answer could not be applied.
    """
    count = len(candidates)
    descriptions = [f"{number}. {_describe_candidate(candidate)}" for number, candidate in enumerate(candidates, 1)]
    problem = {"error": f"nothing was changed: {error}"} if error else {}
    if error:  # LangChain's form has no place for an error, so the first description begins with it
        descriptions[0] = f"{problem['error']}\n\n{descriptions[0]}"
    return {
        "action_requests": [*map(delta.action_request, candidates, descriptions)],
        "review_configs": [{"action_name": delta.ACTION, "allowed_decisions": ["approve", "edit", "reject"]}],
        "title": f"Schema review of {knowledge_base!r}: {count} candidate{'s' * (count > 1)}",
        **problem,
        "question": "The documents speak of these, and the schema has no name for them. What may join it?",
        "how_to_answer": delta.HOW,
        "delta": {"candidates": [candidate.model_dump(mode="json") for candidate in candidates]}}


def _describe_candidate(candidate: Candidate) -> str:
    """Return a candidate with the types of its ends and its first examples as one line."""
    subjects, objects = "/".join(candidate.subject_types) or "any", "/".join(candidate.object_types) or "any"
    signature = {"relation": f" ({subjects} -> {objects})", "attribute": f" ({subjects}: {objects})"}
    documents = format_count(candidate.documents, "document")
    line = (f"{KIND_NAMES[candidate.kind]} {candidate.name!r}{signature.get(candidate.kind, '')}, in {documents}, "
            f"confidence {candidate.confidence:.2f}")
    examples = "; ".join(f'{example.document}: "{example.words}"' for example in candidate.examples[:_SHOWN])
    return f"{line}. {examples}" if examples else line
