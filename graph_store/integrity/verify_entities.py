"""Checks of entity resolution: which names are one entity's, and on what grounds."""

from collections.abc import Iterator

from ..knowledge_base import KnowledgeBase
from .problems import REINDEX, Problem


def aliases(kb: KnowledgeBase) -> Iterator[Problem]:
    """Aliases lead to an entity that is none, rest on words of the source, and are as persons decided."""
    if kb.resolution.is_behind(kb.entities.resolved_by()):
        return  # they were found for another state; the next build replaces them
    rows, known = kb.entities.aliases(), kb.graph.mentions.network
    for entity, row in rows.items():
        if entity not in known or row.canonical not in known or row.canonical in rows:
            yield Problem(what=f"the alias {entity} leads nowhere", fix=REINDEX)
        chunks = {chunk.id: chunk for chunk in kb.documents.chunks(e.chunk for e in row.evidence)}
        if any(e.chunk not in chunks or not 0 <= e.start < e.end <= len(chunks[e.chunk].text) for e in row.evidence):
            yield Problem(what=f"the alias {entity} rests on words that are not there", fix=REINDEX)
    latest = {(decision.first, decision.second): decision for decision in kb.entities.decisions()}
    for (first, second), decision in latest.items():
        ends = [rows[entity].canonical if entity in rows else entity for entity in (first, second)]
        if first in known and second in known and (ends[0] == ends[1]) != (decision.verdict == "merge"):
            yield Problem(what=f"{decision.who} decided to {decision.verdict} {first} and {second}, and they are not",
                          fix=REINDEX)
