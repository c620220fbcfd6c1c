"""Collect the dates and numbers that the graph has for a chunk's entities, in normal form."""

from ...schemas.graph_schema import AttributeType, GraphSchema
from ...schemas.retrieval import TypedFact
from ...text.values import kind_of, parse_value
from ..graph.knowledge_graph import KnowledgeGraph


def facts_by_chunk(graph: KnowledgeGraph, schema: GraphSchema) -> dict[str, tuple[TypedFact, ...]]:
    """Return the attributes with a date or a number, by the id of the chunk that states them.

    The schema has an attribute's kind, unit and the words that questions use for it; the kind of an attribute that it
    lacks is inferred from each value. A chunk's facts are in the order of entity, attribute and value.
    """
    known = {attribute.name: attribute for attribute in schema.attribute_types}
    facts: dict[str, list[TypedFact]] = {}
    for node in graph.entities_with_values():
        names = tuple(graph.names(node))
        for name, values in graph.values(node).items():
            attribute = known.get(name) or AttributeType(name=name)
            for value, support in values.items():
                kind = attribute.kind if name in known else kind_of(value)
                normal = parse_value(value, kind, attribute.unit)
                if not normal:
                    continue
                for chunk_id, (start, end) in support.items():
                    facts.setdefault(chunk_id, []).append(TypedFact(
                        entities=names, asked_by=(*attribute.all_names(), *attribute.rules.all_cues()), value=value,
                        normal=normal, start=start, end=end))
    return {chunk_id: tuple(listed) for chunk_id, listed in facts.items()}
