"""What a test reads of a knowledge base: its newest snapshot, and all that questions are answered from."""

from typing import Any

from banyan.agents.resources import Resources
from banyan.agents.snapshots import Snapshot
from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.schemas.documents import EVERYTHING, Scope


def newest(resources: Resources, name: str = "kb", scope: Scope = EVERYTHING) -> Snapshot:
    with resources.snapshot(name, scope) as snapshot:
        return snapshot


def contents(kb: KnowledgeBase) -> dict[str, Any]:
    """All that questions are answered from, in which `verify` finds nothing wrong."""
    assert verify(kb) == []
    return {"graph": dump_graph(kb.graph), "schema": kb.schemas.current().model_dump(),
            "communities": [community.model_dump() for community in kb.communities.all(level=None)],
            "asks": kb.schema_control.asks.counts(), "rejected": kb.extractions.count_rejections(),
            "failures": kb.documents.failures(),
            "vectors": {kind: kb.vectors.ids(kind) for kind in ("entities", "triples", "chunks")}}


def dump_graph(graph: KnowledgeGraph) -> dict[str, Any]:
    """Return a graph as plain data; equal graphs give equal data."""
    nodes = {}
    for entity in graph.columns.ids:
        later = {attribute: {value: list(validity.later) for value, validity in values.items()}
                 for attribute, values in graph.validities(entity).items()}
        nodes[entity] = {"type": graph.type(entity), "name": graph.name(entity), "names": graph.spellings(entity),
                         "attributes": graph.values(entity), "times": graph.value_times(entity), "later": later}
    edges = [[*graph.edge(row), graph.support(row), graph.times_of(row), list(graph.validity(row).later)]
             for row in range(graph.count_triples())]
    return {"nodes": nodes, "edges": edges}
