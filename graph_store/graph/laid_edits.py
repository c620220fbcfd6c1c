"""What persons changed of names, facts and values, as it is laid over the graph.

An edit names entities by the ids that they had when it was decided. Which nodes these are changes with aliases and
types, so it is looked up again whenever the graph changes. Edits of what is not there rest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ...schemas.edits import Edit, FactEdit, FactRef, Rename, ValueEdit, decided_types, ids_after
from ...schemas.graph_schema import GraphSchema
from .knowledge_graph import EdgeKey


@dataclass(frozen=True)
class GraphEdits:
    """The edits in force, in order, and the schema: corrected facts have to fit it."""

    edits: Sequence[Edit] = ()
    schema: GraphSchema | None = None

    def on(self, node_of: Callable[[str], str], known: Callable[[str], bool]) -> "NodeEdits":
        """Return the edits by the nodes that they concern now; `node_of` gives the node of an entity's id."""
        after = ids_after(decided_types(self.edits))

        def node(entity: str) -> str:
            return node_of(entity if known(entity) else after.get(entity, entity))

        def key(fact: FactRef) -> EdgeKey:
            return node(fact.head.id), fact.relation, node(fact.tail.id)

        made = NodeEdits()
        for edit in self.edits:
            if isinstance(edit, Rename):
                made.names[node(edit.entity.id)] = edit.name
            elif isinstance(edit, FactEdit):
                made.put_fact(key(edit.fact), key(edit.corrected) if edit.corrected else None)
            elif isinstance(edit, ValueEdit):
                values = made.values.setdefault(node(edit.value.entity.id), {})
                said = edit.value.attribute, edit.value.value
                values.update({other: edit.corrected for other, given in values.items() if (other[0], given) == said})
                values[said] = edit.corrected
        return made


@dataclass
class NodeEdits:
    """Edits by node: names; facts, and values by attribute, each with what holds instead, None for nothing."""

    names: dict[str, str] = field(default_factory=dict)
    facts: dict[EdgeKey, EdgeKey | None] = field(default_factory=dict)
    values: dict[str, dict[tuple[str, str], str | None]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Return True if there are any."""
        return bool(self.names or self.facts or self.values)

    def put_fact(self, fact: EdgeKey, instead: EdgeKey | None) -> None:
        """Add a decision; it also holds for what was corrected to this fact before."""
        self.facts.update({other: instead for other, given in self.facts.items() if given == fact})
        self.facts[fact] = instead
