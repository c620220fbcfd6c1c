"""What a knowledge base holds, in numbers."""

from ..schemas.documents import Frozen
from .accounts import StepTokens
from .store import KnowledgeBase


class Status(Frozen):
    """The report of `banyan status`."""

    kb: str
    documents: int
    chunks: int
    chunks_waiting: int
    chunks_failed: int
    failures: tuple[tuple[str, int, str], ...]
    """(document, chunk's position, reason) of the failed chunks."""
    entities: int
    triples: int
    attributes: int
    communities: int
    schema_name: str
    schema_version: int
    candidates_waiting: int
    rejected: dict[str, int]
    repaired: dict[str, int]
    """Items admitted after a repair, by its kind."""
    tokens: tuple[StepTokens, ...]
    embedding_model: str
    vectors_trusted: dict[str, float]
    """For each script the share of known items that the vectors find (see `reliability`)."""


def status_of(knowledge_base: KnowledgeBase) -> Status:
    """The numbers of a knowledge base as it is now."""
    kb, documents, network = knowledge_base, knowledge_base.documents, knowledge_base.graph.network
    return Status(
        kb=kb.layout.name, documents=documents.count_documents(), chunks=documents.count(),
        chunks_waiting=documents.count("pending") + documents.count("extracted"),
        chunks_failed=documents.count("failed"), failures=tuple(documents.failures()),
        entities=network.number_of_nodes(), triples=network.number_of_edges(),
        attributes=kb.graph.count_attributes(), communities=kb.communities.count(),
        schema_name=kb.schemas.current().name if kb.schemas.version() else "",
        schema_version=kb.schemas.version(), candidates_waiting=kb.schema_control.count_waiting(),
        rejected=kb.extractions.rejected(), repaired=kb.extractions.repaired(), tokens=tuple(kb.calls.steps()),
        embedding_model=(kb.database.get_meta("embedding") or "").partition("\n")[0],
        vectors_trusted=dict(kb.reliability().by_script))
