"""The knowledge graph as it is searched: an entity with several names is one node.

Made from the mentions' graph, in which every name and type is a node, from the aliases, and from what persons changed
of names, facts and values. Where a subject has one value at a time, later ones end those before (`supersede`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...schemas.resolution import Alias, AliasRow, EntityGroup
from .knowledge_graph import EdgeKey, KnowledgeGraph, surer
from .laid_edits import GraphEdits
from .superseding import supersede


class ResolvedGraph(KnowledgeGraph):
    """A knowledge graph over another one. Its nodes are canonical entities, with all facts about their aliases."""

    def __init__(self, mentions: KnowledgeGraph | None = None, aliases: Mapping[str, AliasRow] | None = None,
                 edits: GraphEdits | None = None) -> None:
        """Resolve a graph of mentions, which nobody changes any more, by aliases and by what persons changed."""
        super().__init__()
        self.mentions = mentions or KnowledgeGraph()
        self._aliases: dict[str, AliasRow] = dict(aliases or {})
        self._edits = edits or GraphEdits()
        self._members: dict[str, set[str]] = {}
        self._sources: dict[EdgeKey, set[EdgeKey]] = {}
        self._edited = self._edits.on(self.canonical, self.mentions.network.has_node)
        self._make()

    def canonical(self, entity: str) -> str:
        """Return the node of an entity's mentions: its own, or its canonical entity's while that is mentioned."""
        row = self._aliases.get(entity)
        return row.canonical if row and row.canonical in self.mentions.network else entity

    def members(self, node: str) -> list[str]:
        """Return the entities of the mentions' graph that a node is made of, sorted."""
        return sorted(self._members[node])

    def edge_of(self, key: EdgeKey) -> EdgeKey | None:
        """Return the edge of a fact of the mentions' graph; None if there is none or a person rejected it."""
        return self._present(self._holding(self._to_nodes(key)))

    def _present(self, edge: EdgeKey | None) -> EdgeKey | None:
        return edge if edge and self.network.has_edge(edge[0], edge[2], edge[1]) else None

    def nodes_of_aliases(self) -> dict[str, str]:
        """Return the node of each entity that is another one's alias."""
        return {entity: node for node, entities in self._members.items() for entity in entities if entity != node}

    def corrections(self) -> dict[EdgeKey, EdgeKey | None]:
        """Return what holds in the place of each fact of nodes that a person decided on; None: nothing does."""
        return {said: self._present(self._holding(said)) for said in self._edited.facts}

    def groups(self) -> list[EntityGroup]:
        """Return the nodes with aliases, by name."""
        groups = [group_of(self.mentions, node, [self._aliases[entity] for entity in sorted(members - {node})])
                 for node, members in self._members.items() if len(members) > 1]
        return sorted(groups, key=lambda group: (group.name, group.type, group.id))

    def name(self, entity: str) -> str:
        """Return the name that a person gave a node, else the one that most chunks use for its canonical entity."""
        return self._edited.names.get(entity) or self.mentions.name(entity)

    def all_names(self) -> dict[str, str]:
        """Return the name of each node (see `name`), by its id, sorted."""
        names = self.mentions.all_names() | self._edited.names
        return {entity: names[entity] for entity in self.entity_ids()}

    def entity_text(self, entity: str) -> str:
        """Return the text embedded for a node: its canonical entity's name."""
        return self.mentions.entity_text(entity)

    def _make(self) -> None:
        """Make all nodes and edges."""
        for entity in self.mentions.network:
            self._members.setdefault(self.canonical(entity), set()).add(entity)
        for head, tail, relation in self.mentions.network.edges(keys=True):
            key = head, relation, tail
            if edge := self._holding(self._to_nodes(key)):
                self._sources.setdefault(edge, set()).add(key)
        # Sorted, so the network's own order does not hang on the hash seed.
        for node in sorted(self._members):
            self._make_node(node)
        for key in sorted(self._sources):
            self._make_edge(key)
        if self._edits.schema is not None:
            supersede(self, self._edits.schema)

    def _to_nodes(self, key: EdgeKey) -> EdgeKey:
        """Return the fact that a fact of mentions says of nodes."""
        return self.canonical(key[0]), key[1], self.canonical(key[2])

    def _holding(self, said: EdgeKey) -> EdgeKey | None:
        """Return the fact that holds where one is said: itself, what a person corrected it to, or none."""
        return self._edited.facts.get(said, said)

    def _fits(self, key: EdgeKey) -> bool:
        """Return True if a person's correction of a fact is between existing entities and fits the schema."""
        head, relation, tail = key
        nodes, schema = self.network.nodes, self._edits.schema
        return head in nodes and tail in nodes and (
            schema is None or schema.fits(nodes[head]["type"], relation, nodes[tail]["type"]))

    def _make_node(self, node: str) -> None:
        members = sorted(self._members[node])
        if members == [node] and node not in self._edited.names and node not in self._edited.values:  # as nearly all
            self.network.add_node(node, **self.mentions.network.nodes[node])
            return
        parts = [self.mentions.network.nodes[entity] for entity in members]
        kind = next((self._aliases[entity].type for entity in members if entity != node),
                    self.mentions.network.nodes[node]["type"])
        names, attributes, times = (_merge([part.get(of, {}) for part in parts])
                                    for of in ("names", "attributes", "times"))
        if given := self._edited.names.get(node):
            names = {**names, given: names.get(given, {})}
        if edited := self._edited.values.get(node):
            attributes, times = (_merge([*_correct_values(values, edited)]) for values in (attributes, times))
        self.network.add_node(node, kind="entity", type=kind, names=names, attributes=attributes,
                              **({"times": times} if times else {}))

    def _make_edge(self, key: EdgeKey) -> None:
        head, relation, tail = key
        sources = sorted(self._sources[key])
        if any(self._to_nodes(source) != key for source in sources) and not self._fits(key):
            sources = [source for source in sources if self._to_nodes(source) == key]
        # A fact between an entity and itself under another name says nothing.
        if not sources or (head == tail and any(source[0] != source[2] for source in sources)):
            return
        edges = [self.mentions.network.edges[h, t, r] for h, r, t in sources]
        support = _merge([edge["support"] for edge in edges], surer)
        times = _merge([edge["times"] for edge in edges if "times" in edge])
        self.network.add_edge(head, tail, relation, support=support, **({"times": times} if times else {}))


def _merge(parts: Sequence[Mapping[str, Any]], best: Callable[..., Any] = min) -> Mapping[str, Any]:
    """Return nested dictionaries as one; of two places in a chunk the first, or of two supports the surer one."""
    if len(parts) == 1:  # as nearly always
        return parts[0]
    merged: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            if key not in merged:
                merged[key] = value
            elif isinstance(value, dict):
                merged[key] = _merge((merged[key], value), best)
            else:
                merged[key] = best(merged[key], value)
    return merged


def _correct_values(values: Mapping[str, Mapping[str, Any]], edited: Mapping[tuple[str, str], str | None],
               ) -> Iterator[dict[str, dict[str, Any]]]:
    """Yield what is held of each value, by attribute, under the value that holds in its place."""
    for name, own in values.items():
        for value, held in own.items():
            if (instead := edited.get((name, value), value)) is not None:
                yield {name: {instead: held}}


def group_of(mentions: KnowledgeGraph, node: str, rows: Sequence[AliasRow]) -> EntityGroup:
    """Return a canonical entity with its aliases, by name."""
    aliases = []
    for row in rows:
        entity = mentions.entity(row.id)
        aliases.append(Alias(id=row.id, name=entity.name, type=entity.type, rule=row.rule, score=row.score,
                             evidence=row.evidence))
    own = mentions.entity(node)
    return EntityGroup(id=node, name=own.name, type=rows[0].type,
                       aliases=tuple(sorted(aliases, key=lambda alias: (alias.name, alias.type, alias.id))))
