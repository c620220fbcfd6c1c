"""What a build reports: its progress while it runs, and a summary at its end."""

import time
from collections.abc import Sequence
from typing import Literal

from langgraph.config import get_stream_writer

from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.ledger.build_notes import BUILD
from ...graph_store.ledger.readings import find_outdated
from ...schemas.prices import Prices
from .state import BuildReport, BuildState


def show_progress(step: Literal["read", "batch", "extract", "write", "index"], done: int, total: int | None) -> None:
    """Show how far a step is; `total` is None if that is not known."""
    get_stream_writer()({"step": step, "done": done, "total": total})


def total_chunks(kb: KnowledgeBase, outdated: Sequence[str]) -> int:
    """Return how many chunks this build extracts, including those of an earlier build that it resumes.

    So a resumed build continues the same progress bar. Chunks whose extraction has one of the fingerprints `outdated`
    are read again.
    """
    left = kb.documents.count_status("pending", "extracted") + sum(kb.documents.count_to_reread(outdated).values())
    total = max(left, min(kb.documents.count(), int(kb.database.notes(BUILD).get("build_total", 0))))
    kb.database.note(BUILD, build_total=total)
    return total


def forget_total(kb: KnowledgeBase) -> None:
    """Let the next build begin a new progress bar."""
    kb.database.note(BUILD, build_total=0)


def report_of(kb: KnowledgeBase, state: BuildState, reader: str, stopped: str, prices: Prices) -> BuildReport:
    """Return the summary of a build.

    Args:
        kb: the knowledge base.
        state: the build's state.
        reader: the fingerprint of the reasoner that extracts.
        stopped: why the build ended early, or "".
        prices: of models.
    """
    outdated = kb.documents.count_to_reread(find_outdated(kb.extractions.count_fingerprints(), reader))
    spent = kb.calls.total(state["run"])
    costs = [account.cost for account in kb.calls.spent("build", prices, state["run"])]
    return BuildReport(
        kb=kb.layout.name, documents=kb.documents.count_documents(), chunks=kb.documents.count(),
        chunks_failed=kb.documents.count_failed(), chunks_outdated=sum(outdated.values()),
        files_failed=state["files_failed"], files_partly_read=state["files_partly_read"],
        files_moved=state["files_moved"],
        entities=kb.graph.count_entities(), triples=kb.graph.count_triples(),
        attributes=kb.graph.count_attributes(), communities=kb.communities.count(),
        schema_version=kb.schemas.version(), rejected=kb.extractions.count_rejections(),
        tokens={"prompt": spent.prompt, "completion": spent.completion, "calls": spent.calls},
        cached_tokens=spent.cached, wasted_tokens=spent.wasted, cost=costs[0] if costs else 0.0,
        stopped=stopped, seconds=round(max(0.0, time.time() - state["started"]), 3))  # the clock may be set back
