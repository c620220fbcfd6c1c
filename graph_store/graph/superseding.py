"""Which facts a later one ends: of relations and attributes that have one value at a time.

What is derived here is distinct from what a source states: edges and nodes have it as `later`, the dates at which
another value took the place of one, beside their `times`. It is a function of the graph, in any order.
"""

from collections.abc import Mapping

from ...schemas.graph_schema import GraphSchema
from ...text.times import Validity, later_values
from .knowledge_graph import EdgeKey, KnowledgeGraph


def supersede(graph: KnowledgeGraph, schema: GraphSchema) -> None:
    """Note at which dates facts and values of a graph are followed by a later one."""
    relations, functional = schema.one_at_a_time()
    _supersede_facts(graph, relations)
    for node, data in graph.network.nodes(data=True):
        later = {name: found for name, values in data.get("times", {}).items() if name in functional
                 and (found := later_values({value: Validity.of(times) for value, times in values.items()}))}
        if later:
            graph.network.nodes[node]["later"] = {
                name: {value: sorted(dates) for value, dates in sorted(found.items())} for name, found in later.items()}


def _supersede_facts(graph: KnowledgeGraph, relations: Mapping[str, tuple[bool, bool]]) -> None:
    subjects: dict[tuple[str, str, str], dict[EdgeKey, Validity]] = {}
    for head, tail, relation, data in graph.network.edges(keys=True, data=True):
        of_head, of_tail = relations.get(relation, (False, False))
        if of_head and "times" in data:
            subjects.setdefault((head, relation, "head"), {})[head, relation, tail] = Validity.of(data["times"])
        if of_tail and "times" in data:
            subjects.setdefault((tail, relation, "tail"), {})[head, relation, tail] = Validity.of(data["times"])
    found: dict[EdgeKey, set[str]] = {}
    for values in subjects.values():
        for key, dates in later_values(values).items():
            found.setdefault(key, set()).update(dates)
    for (head, relation, tail), dates in found.items():
        graph.network.edges[head, tail, relation]["later"] = sorted(dates)
