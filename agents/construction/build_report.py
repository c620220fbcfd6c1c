"""What a build reports: its progress while it runs, and a summary at its end."""

import time
from collections.abc import Sequence
from typing import Literal

from langgraph.config import get_stream_writer

from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.ledger.readings import find_outdated
from ...schemas.prices import Prices
from .state import BuildReport, BuildState


def show_progress(step: Literal["read", "batch", "extract", "write", "index"], done: int, total: int | None) -> None:
    """Show how many items of a step are done, of how many; `total` is None if it is not known."""
    get_stream_writer()({"step": step, "done": done, "total": total})


def chunks_left(kb: KnowledgeBase, outdated: Sequence[str]) -> int:
    """Return how many chunks the build has to extract.

    These are the chunks that were never extracted, and those whose extraction has one of the fingerprints `outdated`,
    which are extracted again.
    """
    return kb.documents.count_status("pending", "extracted") + sum(kb.documents.count_to_reread(outdated).values())


def report_of(kb: KnowledgeBase, state: BuildState, reader: str, stopped: str, prices: Prices) -> BuildReport:
    """Return the summary of a build."""
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
