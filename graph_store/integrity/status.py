"""What a knowledge base holds, in numbers."""

from collections.abc import Sequence

from ...schemas.documents import Frozen
from ...schemas.prices import Prices
from ..knowledge_base import KnowledgeBase
from ..ledger.accounts import Spent, StepTokens, total
from ..vectors.ledger_embedder import recorded_model

DEAREST = 10
"""Documents shown with what they cost."""


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
    facts_not_admitted: dict[str, int]
    """Facts and values among them, by reason; accepting what waits for the schema admits those that it keeps out."""
    repaired: dict[str, int]
    """Items admitted after a repair, by its kind."""
    tokens: tuple[StepTokens, ...]
    spent: Spent
    """All that was ever paid, for deleted documents too."""
    spent_by_step: tuple[Spent, ...]
    spent_by_build: tuple[Spent, ...]
    """In the order in which they began; without a name: what no build paid, such as questions."""
    dearest_documents: tuple[Spent, ...]
    """Dearest first."""
    embedding_model: str
    vectors_trusted: dict[str, float]
    """For each script the share of known items that the vectors find (see `reliability`)."""


def status_of(knowledge_base: KnowledgeBase, prices: Prices | None = None) -> Status:
    """The numbers of a knowledge base as it is now."""
    prices = prices or Prices({})
    steps = knowledge_base.calls.spent("step", prices)
    kb, documents = knowledge_base, knowledge_base.documents
    return Status(
        kb=kb.layout.name, documents=documents.count_documents(), chunks=documents.count(),
        chunks_waiting=documents.count("pending") + documents.count("extracted"),
        chunks_failed=documents.count("failed"), failures=tuple(documents.failures()),
        **kb.counts()._asdict(), communities=kb.communities.count(),
        schema_name=kb.schemas.current().name if kb.schemas.version() else "",
        schema_version=kb.schemas.version(), candidates_waiting=kb.schema_control.count_waiting(),
        rejected=kb.extractions.rejected(), facts_not_admitted=kb.extractions.rejected_facts(),
        repaired=kb.extractions.repaired(), tokens=tuple(kb.calls.steps()),
        spent=total(steps), spent_by_step=tuple(steps), spent_by_build=tuple(kb.calls.spent("build", prices)),
        dearest_documents=tuple(_dearest(kb.calls.spent("document", prices))),
        embedding_model=recorded_model(kb.database),
        vectors_trusted=dict(kb.reliability.current().by_script))


def _dearest(documents: Sequence[Spent]) -> list[Spent]:
    """Those that cost most, by price where all prices are known, else by tokens."""
    named = [spent for spent in documents if spent.name]
    priced = all(spent.cost is not None for spent in named)
    return sorted(named, key=lambda spent: (-(spent.cost or 0.0) if priced else 0.0,
                                            -spent.prompt - spent.completion, spent.name))[:DEAREST]
