"""The knowledge graph as it is searched: an entity with several names is one node.

Made from the mentions' graph, in which every name and type is an entity, from the aliases, and from what persons
changed of names, facts and values. Where a subject has one value at a time, later ones end those before (`supersede`).
"""

from collections.abc import Mapping, Sequence

from ...schemas.resolution import Alias, AliasRow, EntityGroup
from .knowledge_graph import KnowledgeGraph
from .laid_edits import GraphEdits
from .resolved_columns import resolve_columns
from .superseding import supersede


class ResolvedGraph(KnowledgeGraph):
    """A knowledge graph over another one. Its nodes are canonical entities, with all facts about their aliases."""

    def __init__(self, mentions: KnowledgeGraph, aliases: Mapping[str, AliasRow] | None = None,
                 edits: GraphEdits | None = None) -> None:
        """Resolve a graph of mentions by aliases and by what persons changed."""
        edits = edits or GraphEdits()
        self.mentions = mentions
        self._aliases = {row.id: row for row in (aliases or {}).values() if row.canonical in mentions}
        self._members: dict[str, list[str]] = {}
        for alias in sorted(entity for entity in self._aliases if entity in mentions):
            self._members.setdefault(self._aliases[alias].canonical, []).append(alias)
        self._edited = edits.on(self.canonical, mentions.__contains__)
        types = {node: self._aliases[names[0]].type for node, names in self._members.items()}
        columns = resolve_columns(mentions.columns, self.nodes_of_aliases(), types, self._edited, edits.schema)
        super().__init__(columns, supersede(columns, edits.schema) if edits.schema else None)

    def canonical(self, entity: str) -> str:
        """Return the node of an entity's mentions: its own, or its canonical entity's while that is mentioned."""
        row = self._aliases.get(entity)
        return row.canonical if row else entity

    def members(self, node: str) -> list[str]:
        """Return the entities of the mentions' graph that a node is made of, sorted."""
        return sorted([node, *self._members.get(node, ())])

    def nodes_of_aliases(self) -> dict[str, str]:
        """Return the node of each entity that is another one's alias."""
        return {entity: node for node, aliases in self._members.items() for entity in aliases}

    def groups(self) -> list[EntityGroup]:
        """Return the nodes with aliases, by name."""
        groups = [group_of(self.mentions, node, [self._aliases[entity] for entity in aliases])
                  for node, aliases in self._members.items()]
        return sorted(groups, key=lambda group: (group.name, group.type, group.id))

    def entity_text(self, entity: str) -> str:
        """Return the text embedded for a node: its canonical entity's name."""
        return self.mentions.entity_text(entity)


def group_of(mentions: KnowledgeGraph, node: str, rows: Sequence[AliasRow]) -> EntityGroup:
    """Return a canonical entity with its aliases, by name; there is at least one row."""
    aliases = []
    for row in rows:
        entity = mentions.entity(row.id)
        aliases.append(Alias(id=row.id, name=entity.name, type=entity.type, rule=row.rule, score=row.score,
                             evidence=row.evidence))
    # All rows have the group's type, which need not be the one that texts give the canonical entity.
    own = mentions.entity(node)
    return EntityGroup(id=node, name=own.name, type=rows[0].type,
                       aliases=tuple(sorted(aliases, key=lambda alias: (alias.name, alias.type, alias.id))))
