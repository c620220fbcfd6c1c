"""Report the status of a knowledge base in numbers."""

import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from cachetools import LRUCache, cached

from ...config import Settings
from ...schemas.documents import Frozen
from ...schemas.prices import Prices
from ...text.titles import UNREAD
from ..knowledge_base import KnowledgeBase
from ..layout import Layout
from ..ledger.database import Database
from ..ledger.extractions import count_by_reader
from ..ledger.postgresql import LedgerSchema
from ..ledger.token_accounts import Spent, total
from ..ledger.version import Overview, ledger_state
from ..vectors.ledger_embedder import recorded_model

DEAREST = 10
"""The number of documents shown with their cost."""
_MOST_CACHED = 10_000
"""States of ledgers whose sizes are cached."""
_SETTLED_NS = 1_000_000_000
"""Nanoseconds after which another change of a file gets another time: clocks of file systems are coarse."""


class Status(Frozen):
    """The report of `banyan status`."""

    kb: str
    documents: int
    chunks: int
    chunks_waiting: int
    chunks_failed: int
    read_by: dict[str, int]
    """Chunks by what read them: "rules", "recorded" for imported triples, or a model's name."""
    failures: tuple[tuple[str, int, str], ...]
    """(document, chunk's position, reason) for each failed chunk."""
    partly_read: dict[str, str]
    """For each document that was read only in part, by its id: what was not read."""
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
    repaired: dict[str, int]
    """Items admitted after a repair, by kind of repair."""
    spent: Spent
    """Everything ever spent, including on deleted documents."""
    spent_by_step: tuple[Spent, ...]
    spent_by_build: tuple[Spent, ...]
    """In the order in which the builds began; an entry without a name is spending outside builds, such as questions."""
    dearest_documents: tuple[Spent, ...]
    """Most expensive first."""
    embedding_model: str


def status_of(knowledge_base: KnowledgeBase, prices: Prices | None = None) -> Status:
    """Return the current status of a knowledge base."""
    steps = knowledge_base.calls.spent("step", prices)
    kb, documents = knowledge_base, knowledge_base.documents
    return Status(
        kb=kb.layout.name, documents=documents.count_documents(), chunks=documents.count(),
        chunks_waiting=documents.count_status("pending", "extracted"),
        chunks_failed=documents.count_failed(), read_by=count_by_reader(kb.extractions.count_fingerprints()),
        failures=tuple(documents.failures()),
        partly_read={name: metadata[UNREAD] for name, _, _, metadata in documents.about() if UNREAD in metadata},
        **kb.counts()._asdict(), communities=kb.communities.count(),
        schema_name=kb.schemas.current().name if kb.schemas.version() else "",
        schema_version=kb.schemas.version(), candidates_waiting=kb.schema_control.count_waiting(),
        rejected=kb.extractions.count_rejections(), facts_not_admitted=kb.extractions.count_rejected_facts(),
        repaired=kb.extractions.count_repairs(),
        spent=total(steps), spent_by_step=tuple(steps), spent_by_build=tuple(kb.calls.spent("build", prices)),
        dearest_documents=tuple(_sort_by_cost(kb.calls.spent("document", prices))),
        embedding_model=recorded_model(kb.database)[0])


def _sort_by_cost(documents: Sequence[Spent]) -> list[Spent]:
    """Return the most expensive documents first: by cost if all costs are known, otherwise by tokens."""
    named = [spent for spent in documents if spent.name]  # without a name: calls that belong to no document
    has_all_costs = all(spent.cost is not None for spent in named)
    return sorted(named, key=lambda spent: (-(spent.cost or 0.0) if has_all_costs else 0.0,
                                            -spent.prompt - spent.completion, spent.name))[:DEAREST]


def read_overview(settings: Settings, name: str) -> Overview | None:
    """Return the sizes of a knowledge base as its ledger has them, or None if no run has stored them.

    They are cached until the ledger's files change: to open the ledger takes milliseconds, and lists have hundreds.
    """
    ledger = Layout.by(settings, name).require().ledger
    changed = _last_change(ledger) if isinstance(ledger, Path) else ()
    if not changed or time.time_ns() - max(time_ns for _, _, time_ns in changed) < _SETTLED_NS:
        return _read_stored_overview(ledger)
    return _cached_overview(ledger, changed)


def _last_change(ledger: Path) -> tuple[tuple[int, int, int], ...]:
    """Return inode, size and time of change of a ledger's file and log; nothing if these are changing."""
    log = ledger.with_name(f"{ledger.name}-wal")
    try:
        files = [ledger.stat(), *([log.stat()] if log.exists() else [])]
    except FileNotFoundError:  # replaced or checkpointed meanwhile
        return ()
    return tuple((file.st_ino, file.st_size, file.st_mtime_ns) for file in files if file.st_size)


@cached(LRUCache(_MOST_CACHED), lock=threading.Lock())
def _cached_overview(ledger: Path, _changed: tuple[tuple[int, int, int], ...]) -> Overview | None:
    return _read_stored_overview(ledger)


def _read_stored_overview(ledger: Path | LedgerSchema) -> Overview | None:
    with closing(Database(ledger, create=False)) as database:
        overview = ledger_state(database).overview
    return Overview(*overview) if overview else None
