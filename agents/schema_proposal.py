"""What a model says of a schema: elements that fit a sample of the documents, and which new labels mean the same."""

from collections.abc import Iterable, Sequence

from ..graph_store.evolution.elements import KIND_NAMES, find_element
from ..graph_store.evolution.forgetting import CORE
from ..graph_store.knowledge_base import KnowledgeBase
from ..models.llm.inferring import SchemaWriter
from ..runtime.event_loop import run
from ..schemas.delta import Decided, Decision
from ..schemas.documents import Chunk
from ..schemas.formats.schema_loading import load_schema
from ..schemas.graph_schema import ANY, AUTO_SCHEMA, GraphSchema
from ..text.tokens import estimate_tokens, first_tokens

_EXCERPT_TOKENS, _CALL_TOKENS, _LARGE = 300, 3000, 160_000
"""What is read of a chunk, what a call reads, and the characters of documents from which there are two calls."""
SAMPLE = 200
"""Chunks that the excerpts are chosen from."""
_COMPARED_AT_ONCE = 60
"""New labels that one call groups: the strongest, as only they can join the schema."""
_CORE_TYPES = ("Person", "Organization", "Location", "Event", "Work", "Product", "Concept")
_CORE_RELATIONS = {"works_for": (("Person",), ("Organization",)), "located_in": ((ANY,), ("Location",)),
                   "part_of": ((ANY,), (ANY,)), "participated_in": (("Person", "Organization"), ("Event",))}
_CORE_ATTRIBUTES = ("occupation", "alias")


def core_schema() -> GraphSchema:
    """Return the elements that every inferred schema has: those of the seed `general` that any documents need."""
    general = load_schema("general")
    relations = [r.model_copy(update={"domain": _CORE_RELATIONS[r.name][0], "range": _CORE_RELATIONS[r.name][1]})
                 for r in general.relation_types if r.name in _CORE_RELATIONS]
    return GraphSchema(name=AUTO_SCHEMA, entity_types=tuple(t for t in general.entity_types if t.name in _CORE_TYPES),
                       relation_types=tuple(relations),
                       attribute_types=tuple(a for a in general.attribute_types if a.name in _CORE_ATTRIBUTES))


def choose_excerpts(chunks: Iterable[Chunk], characters: int) -> list[list[str]]:
    """Return the excerpts that each call reads, spread over the documents.

    First come the first chunks of all documents, then the second ones, in the order of their ids, which are hashes of
    their content. So the excerpts are a function of the documents, and not of their order.

    Args:
        chunks: of the documents; `SAMPLE` of them in that order suffice.
        characters: how long all documents are together.
    """
    calls: list[list[str]] = [[] for _ in range(2 if characters >= _LARGE else 1)]
    left = [_CALL_TOKENS] * len(calls)
    for chunk in sorted(chunks, key=lambda c: (c.ordinal, c.id)):
        above = " > ".join(part for part in (chunk.title, chunk.heading) if part)
        excerpt = f"{above}\n{chunk.text[:first_tokens(chunk.text, _EXCERPT_TOKENS)]}"
        tokens = estimate_tokens(excerpt)
        free = next((number for number, room in enumerate(left) if tokens <= room), None)
        if chunk.text.strip() and free is not None:
            calls[free].append(excerpt)
            left[free] -= tokens
    return [excerpts for excerpts in calls if excerpts]


async def propose_schema(writer: SchemaWriter, calls: Sequence[Sequence[str]]) -> GraphSchema:
    """Return the core schema with what a model proposes; each call adds to what the one before proposed.

    Raises:
        ReasonerError: a call failed for good.
        BudgetExceeded: a call would exceed the budget.
    """
    schema = core_schema()
    for excerpts in calls:
        schema = await writer.propose(excerpts, schema)
    return schema


def reasons_of(schema: GraphSchema, excerpts: int, documents: int) -> list[Decided]:
    """Return why each element of a proposed schema is in it."""
    core = core_schema()
    why = f"proposed from {excerpts} excerpts of {documents} documents"
    return [Decided(decision=Decision(kind=kind, name=element.name, verdict="accept", why=(
        CORE if find_element(core, kind, element.name) else
        f"{why}: {element.description}" if element.description else why)))
        for kind in KIND_NAMES for element in schema.elements(kind)]


def group_labels(kb: KnowledgeBase, writer: SchemaWriter, support: int) -> None:
    """Ask once which new labels mean the same, and store the verdicts.

    Raises:
        ReasonerError: the call failed for good.
        BudgetExceeded: the call would exceed the budget.
    """
    schema = kb.schema_control.schema()
    labels = [] if schema.open else kb.schema_control.find_uncompared(support, _COMPARED_AT_ONCE)
    if labels:
        kb.schema_control.keep_same(labels, run(writer.group, labels, schema))
