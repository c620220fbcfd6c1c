"""The knowledge graph: a NetworkX MultiDiGraph made of the contributions of chunks.

Every node, edge and attribute value knows which chunks support it and where, and disappears with
the last of them. The graph is a function of the set of contributions: order changes nothing.

Nodes (kind "entity"): `type`; `names` {name: {chunk: span}}; `attributes` {attribute: {value: {chunk: span}}}.
Edges, keyed by relation: `support` {chunk: (start, end, confidence)}. Spans are (start, end) in the chunk.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...schemas.documents import Frozen
from ...schemas.naming import canonical_name, entity_id, triple_id
from ..ledger.extractions import Contribution

EdgeKey = tuple[str, str, str]
"""Head entity's id, relation, tail entity's id."""


class Entity(Frozen):
    """An entity of the graph as others see it."""

    id: str
    name: str
    type: str


class Triple(Frozen):
    """A triple of the graph as others see it; `confidence` is the best of its supports."""

    id: str
    head: Entity
    relation: str
    tail: Entity
    confidence: float

    def text(self) -> str:
        """The triple in words."""
        return f"{self.head.name} {self.relation.replace('_', ' ')} {self.tail.name}"


@dataclass
class Touched:
    """What a change of the graph touched."""

    entities: set[str] = field(default_factory=set)
    edges: set[EdgeKey] = field(default_factory=set)
    chunks: set[str] = field(default_factory=set)

    def add(self, other: "Touched") -> None:
        """Include what another change touched."""
        self.entities |= other.entities
        self.edges |= other.edges
        self.chunks |= other.chunks


class KnowledgeGraph:
    """Entities and triples with their support. Not safe for writing from several threads."""

    def __init__(self) -> None:
        import networkx as nx  # noqa: PLC0415  (a tenth of a second; questions read the index)

        self.network: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        self._by_chunk: dict[str, Touched] = {}

    def replace(self, chunk_id: str, contribution: Contribution | None) -> Touched:
        """Make a chunk's contribution what is given, whatever it was before.

        Args:
            chunk_id: the chunk.
            contribution: its facts; None takes all that it supported back.

        Returns:
            What was touched, removed items included.
        """
        touched = self._withdraw(chunk_id)
        if contribution is not None:
            added = self._add(chunk_id, contribution)
            self._by_chunk[chunk_id] = added
            touched.add(added)
        return touched

    def _withdraw(self, chunk_id: str) -> Touched:
        owned = self._by_chunk.pop(chunk_id, Touched())
        for head, relation, tail in owned.edges:
            support = self.network.edges[head, tail, relation]["support"]
            support.pop(chunk_id)
            if not support:
                self.network.remove_edge(head, tail, relation)
        for entity in owned.entities:
            node = self.network.nodes[entity]
            _drop(node["names"], chunk_id)
            for values in node["attributes"].values():
                _drop(values, chunk_id)
            node["attributes"] = {name: values for name, values in node["attributes"].items() if values}
            if not node["names"]:
                self.network.remove_node(entity)
        return Touched(set(owned.entities), set(owned.edges), {chunk_id})

    def _add(self, chunk_id: str, contribution: Contribution) -> Touched:
        touched = Touched(chunks={chunk_id})
        ids = {named: entity_id(*named) for named in dict.fromkeys(_named(contribution))}
        nodes = self.network.nodes
        for mention in contribution.mentions:
            entity = ids[mention.name, mention.type]
            if entity not in nodes:
                self.network.add_node(entity, kind="entity", type=mention.type, names={}, attributes={})
            names = nodes[entity]["names"]
            names.setdefault(mention.name, {})[chunk_id] = [mention.span.start, mention.span.end]
            touched.entities.add(entity)
        for fact in contribution.facts:
            head, tail = ids[fact.head, fact.head_type], ids[fact.tail, fact.tail_type]
            if not self.network.has_edge(head, tail, fact.relation):
                self.network.add_edge(head, tail, fact.relation, support={})
            self.network.edges[head, tail, fact.relation]["support"][chunk_id] = [
                fact.span.start, fact.span.end, fact.confidence]
            touched.edges.add((head, fact.relation, tail))
        for attribute in contribution.attributes:
            entity = ids[attribute.entity, attribute.entity_type]
            values = nodes[entity]["attributes"].setdefault(attribute.attribute, {})
            values.setdefault(attribute.value, {})[chunk_id] = [attribute.span.start, attribute.span.end]
        return touched

    def entity_ids(self) -> list[str]:
        """All entities' ids, sorted."""
        return sorted(self.network.nodes)

    def entity(self, entity: str) -> Entity:
        """An entity by id, under the name that most chunks use (the first in order of equals)."""
        return Entity(id=entity, name=self.name(entity), type=self.network.nodes[entity]["type"])

    def name(self, entity: str) -> str:
        """The name that most chunks use for an entity (the first in order of equals)."""
        return _most_used(self.network.nodes[entity]["names"])

    def all_names(self) -> dict[str, str]:
        """The name that most chunks use for each entity (see `name`), by its id, sorted."""
        nodes = self.network.nodes
        return {entity: _most_used(nodes[entity]["names"]) for entity in self.entity_ids()}

    def names(self, entity: str) -> list[str]:
        """All names that the sources use for an entity, sorted."""
        return sorted(self.network.nodes[entity]["names"])

    def attributes(self, entity: str) -> dict[str, list[str]]:
        """An entity's attribute values, sorted."""
        return {name: sorted(values) for name, values in sorted(self.network.nodes[entity]["attributes"].items())}

    def entity_support(self, entity: str) -> list[str]:
        """The chunks that mention an entity, sorted."""
        return sorted({chunk for chunks in self.network.nodes[entity]["names"].values() for chunk in chunks})

    def triple(self, key: EdgeKey) -> Triple:
        """A triple by its key."""
        head, relation, tail = key
        support = self.network.edges[head, tail, relation]["support"]
        return Triple(id=triple_id(head, relation, tail), head=self.entity(head), relation=relation,
                      tail=self.entity(tail), confidence=max(entry[2] for entry in support.values()))

    def triple_support(self, key: EdgeKey) -> list[str]:
        """The chunks that support a triple, sorted."""
        head, relation, tail = key
        return sorted(self.network.edges[head, tail, relation]["support"])

    def edges(self) -> list[EdgeKey]:
        """All triples' keys, sorted."""
        return sorted((head, relation, tail) for head, tail, relation in self.network.edges(keys=True))

    def incident(self, entity: str) -> list[EdgeKey]:
        """The triples in which an entity is head or tail, sorted."""
        edges = {(entity, relation, tail) for tail, relations in self.network.succ[entity].items()
                 for relation in relations}
        edges.update((head, relation, entity) for head, relations in self.network.pred[entity].items()
                     for relation in relations)
        return sorted(edges)

    def neighbours(self, entity: str) -> set[str]:
        """The other entities that triples join an entity to."""
        return {*self.network.succ[entity], *self.network.pred[entity]} - {entity}

    def count_attributes(self) -> int:
        """The number of attribute values of all entities."""
        return sum(len(values) for _, node in self.network.nodes(data=True)
                   for values in node["attributes"].values())

    def mentioned(self, chunk_id: str) -> list[str]:
        """The entities that a chunk contributes to the graph, sorted."""
        return sorted(self._by_chunk[chunk_id].entities) if chunk_id in self._by_chunk else []

    def entity_text(self, entity: str) -> str:
        """What is embedded for an entity: its canonical name, the same for all spellings."""
        return canonical_name(next(iter(self.network.nodes[entity]["names"])))

    def triple_text(self, key: EdgeKey) -> str:
        """What is embedded for a triple: a function of its id."""
        head, relation, tail = key
        return f"{self.entity_text(head)} {relation_text(relation)} {self.entity_text(tail)}"

    def dump(self) -> dict[str, Any]:
        """The graph as plain data, equal for equal graphs."""
        return {
            "nodes": {entity: _ordered(self.network.nodes[entity]) for entity in self.entity_ids()},
            "edges": [[h, r, t, _ordered(self.network.edges[h, t, r])] for h, r, t in self.edges()],
        }

    @classmethod
    def load(cls, data: dict[str, Any]) -> "KnowledgeGraph":
        """The graph that `dump` gave.

        Raises:
            KeyError, TypeError, ValueError: the data is not of that form.
        """
        graph = cls()
        network = graph.network
        network.add_nodes_from(data["nodes"].items())
        for entity, node in data["nodes"].items():
            for chunks in node["names"].values():
                for chunk in chunks:
                    graph._owned(chunk).entities.add(entity)
        for head, relation, tail, edge in data["edges"]:
            network.add_edge(head, tail, relation, **edge)
            for chunk in edge["support"]:
                graph._owned(chunk).edges.add((head, relation, tail))
        return graph

    def _owned(self, chunk_id: str) -> Touched:
        """What a chunk supports, to be added to."""
        owned = self._by_chunk.get(chunk_id)
        if owned is None:
            owned = self._by_chunk[chunk_id] = Touched(chunks={chunk_id})
        return owned


def _named(contribution: Contribution) -> Iterator[tuple[str, str]]:
    """The name and type of each entity, as often as the contribution has them."""
    yield from ((mention.name, mention.type) for mention in contribution.mentions)
    for fact in contribution.facts:
        yield fact.head, fact.head_type
        yield fact.tail, fact.tail_type
    yield from ((attribute.entity, attribute.entity_type) for attribute in contribution.attributes)


def relation_text(relation: str) -> str:
    """A relation's name as words."""
    return relation.replace("_", " ")


def _most_used(names: dict[str, Any]) -> str:
    return min(names, key=lambda name: (-len(names[name]), name)) if len(names) > 1 else next(iter(names))


def _drop(support: dict[str, dict[str, Any]], chunk_id: str) -> None:
    for key in [key for key, chunks in support.items() if chunk_id in chunks]:
        del support[key][chunk_id]
        if not support[key]:
            del support[key]


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) if isinstance(value[key], dict) else value[key] for key in sorted(value)}
    return value
