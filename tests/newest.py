"""What a test reads of a knowledge base: its newest snapshot, and all that questions are answered from."""

from typing import Any

from banyan.agents.resources import Resources
from banyan.agents.snapshots import Snapshot
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.schemas.documents import EVERYTHING, Scope


def newest(resources: Resources, name: str = "kb", scope: Scope = EVERYTHING) -> Snapshot:
    with resources.snapshot(name, scope) as snapshot:
        return snapshot


def contents(kb: KnowledgeBase) -> dict[str, Any]:
    """All that questions are answered from, in which `verify` finds nothing wrong."""
    assert verify(kb) == []
    return {"graph": kb.graph.dump(), "schema": kb.schemas.current().model_dump(),
            "communities": [community.model_dump() for community in kb.communities.all(level=None)],
            "asks": kb.schema_control.asks.counts(), "rejected": kb.extractions.count_rejections(),
            "failures": kb.documents.failures(),
            "vectors": {kind: kb.vectors.ids(kind) for kind in ("entities", "triples", "chunks")}}
