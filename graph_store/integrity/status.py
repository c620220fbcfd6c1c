"""Report the status of a knowledge base in numbers."""

from contextlib import closing

from ...config import Settings
from ...runtime.budgets import Prices
from ...schemas.documents import Frozen
from ...text.section_lines import UNREAD
from ..knowledge_base import KnowledgeBase
from ..layout import Layout
from ..ledger.database import Database
from ..ledger.extractions import count_by_reader
from ..ledger.notes import Overview, ledger_state
from ..ledger.token_accounts import Spent, total
from ..vectors.vector_synchroniser import recorded_model

DEAREST = 10  # the number of documents shown with their cost, the most expensive ones


class Status(Frozen):
    """The report of `banyan status`."""

    kb: str
    documents: int
    chunks: int
    chunks_waiting: int
    chunks_failed: int
    read_by: dict[str, int]  # chunks by what read them: "rules", "recorded" for imported triples, or a model's name
    failures: tuple[tuple[str, int, str], ...]  # (document, chunk's position, reason) for each failed chunk
    partly_read: dict[str, str]  # for each document that was read only in part, by its id: what was not read
    entities: int
    triples: int
    attributes: int
    communities: int
    schema_name: str
    schema_version: int
    candidates_waiting: int
    rejected: dict[str, int]
    facts_not_admitted: dict[str, int]
    """Rejected facts and values by reason; those outside the schema are admitted once it has their elements."""
    repaired: dict[str, int]  # items admitted after a repair, by kind of repair
    spent: Spent  # everything ever spent, including on deleted documents
    spent_by_step: tuple[Spent, ...]
    spent_by_build: tuple[Spent, ...]
    """In the order in which the builds began; an entry without a name is spending outside builds, such as questions."""
    dearest_documents: tuple[Spent, ...]  # most expensive first
    embedding_model: str


def status_of(knowledge_base: KnowledgeBase, prices: Prices | None = None) -> Status:
    """Return the current status of a knowledge base."""
    kb, documents, steps = knowledge_base, knowledge_base.documents, knowledge_base.calls.spent("step", prices)
    failures = tuple(documents.failures())
    costs = [spent for spent in kb.calls.spent("document", prices) if spent.name]  # the others belong to no document
    dearest = sorted(costs, key=lambda spent: (-spent.prompt - spent.completion, spent.name))
    if all(spent.cost is not None for spent in costs):  # otherwise they are compared by tokens alone
        dearest.sort(key=lambda spent: -(spent.cost or 0.0))
    embedding_model, _ = recorded_model(kb.database)
    return Status(
        kb=kb.layout.name, documents=documents.count_documents(), chunks=documents.count(),
        chunks_waiting=documents.count_status("pending", "extracted"), chunks_failed=len(failures), failures=failures,
        read_by=count_by_reader(kb.extractions.count_fingerprints()),
        partly_read={one.id: one.metadata[UNREAD] for one in documents.about() if UNREAD in one.metadata},
        **kb.counts()._asdict(), communities=kb.communities.count(), schema_version=kb.schemas.version(),
        schema_name=kb.schemas.current().name if kb.schemas.version() else "",
        candidates_waiting=kb.schema_control.count_waiting(), repaired=kb.extractions.count_repairs(),
        rejected=kb.extractions.count_rejections(), facts_not_admitted=kb.extractions.count_rejections(of_facts=True),
        spent=total(steps), spent_by_step=tuple(steps), spent_by_build=tuple(kb.calls.spent("build", prices)),
        dearest_documents=tuple(dearest[:DEAREST]), embedding_model=embedding_model)


def read_overview(settings: Settings, name: str) -> Overview | None:
    """Return the sizes of a knowledge base as its ledger has them, or None if no run has stored them."""
    with closing(Database(Layout.by(settings, name).require().ledger, create=False)) as database:
        overview = ledger_state(database).overview
    return Overview(*overview) if overview else None
