"""Merged entities as people are shown them."""

from collections.abc import Sequence

from ...schemas.resolution import Alias, EntityGroup
from ..resolution.groups import AliasRow
from .knowledge_graph import KnowledgeGraph


def group_of(mentions: KnowledgeGraph, node: str, rows: Sequence[AliasRow]) -> EntityGroup:
    """A canonical entity with its aliases, by name.

    Args:
        mentions: the unresolved graph.
        node: the canonical entity's id.
        rows: its aliases that are mentioned.
    """
    aliases = []
    for row in rows:
        entity = mentions.entity(row.id)
        aliases.append(Alias(id=row.id, name=entity.name, type=entity.type, rule=row.rule, score=row.score,
                             evidence=row.evidence))
    own = mentions.entity(node)
    return EntityGroup(id=node, name=own.name, type=rows[0].type,
                       aliases=tuple(sorted(aliases, key=lambda alias: (alias.name, alias.type, alias.id))))
