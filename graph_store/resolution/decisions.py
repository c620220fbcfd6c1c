"""Find the entities that a person names, and check a person's decision on two entities."""

from collections.abc import Mapping, Sequence
from typing import Literal

from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import canonical_name
from ...schemas.resolution import AliasRow
from ..graph.knowledge_graph import KnowledgeGraph
from ..graph.resolved_graph import ResolvedGraph
from ..store_errors import EntityDecisionError
from .surroundings import Surroundings

Verdict = Literal["merge", "split"]


def match_entity(graph: ResolvedGraph, name: str) -> str:
    """Return the id of the unmerged entity that a person names by its id, its name in a document, or "name (type)".

    Raises:
        EntityDecisionError: there is none, or there are several.
    """
    return _require_one(graph.mentions, name, _find_by_name(graph, name))


def match_node(graph: ResolvedGraph, name: str) -> str:
    """Return the node of the resolved graph that a person names by id or any of its names (see `match_entity`)."""
    key = canonical_name(name)
    nodes = {graph.canonical(entity) for entity in _find_by_name(graph, name)}
    if not nodes:  # a person may have renamed the entity, and no document has the new name
        nodes = {node for node in graph.entity_ids() if canonical_name(graph.name(node)) == key}
    return _require_one(graph, name, sorted(nodes))


def _find_by_name(graph: ResolvedGraph, name: str) -> list[str]:
    mentions, key = graph.mentions, canonical_name(name)
    if name in mentions:
        return [name]
    return [entity.id for entity in map(mentions.entity, mentions.entity_ids())
            if key in {canonical_name(entity.name), canonical_name(f"{entity.name} ({entity.type})")}]


def _require_one(graph: KnowledgeGraph, name: str, entities: Sequence[str]) -> str:
    """Return the only one of the entities that a name may refer to; raise EntityDecisionError for none or several."""
    if not entities:
        raise EntityDecisionError(f"there is no entity {name!r}; `banyan entities --search` finds names")
    if len(entities) > 1:
        shown = ", ".join(f"'{graph.entity(entity).name} ({graph.entity(entity).type})'" for entity in entities)
        raise EntityDecisionError(f"{name!r} names several entities: say which of {shown}")
    return entities[0]


def match_pair(graph: ResolvedGraph, schema: GraphSchema, verdict: Verdict, names: tuple[str, str]) -> tuple[str, str]:
    """Return the ids of the two entities that a person wants to merge or split.

    Raises:
        EntityDecisionError: the decision would change nothing, or the types exclude a merge.
    """
    first, second = (match_entity(graph, name) for name in names)
    if first == second:
        raise EntityDecisionError(f"{names[0]!r} and {names[1]!r} are one name of one type: there is nothing to "
                                  f"{verdict}")
    together = graph.canonical(first) == graph.canonical(second)
    if verdict == "split" and not together:
        raise EntityDecisionError(f"{names[0]!r} and {names[1]!r} are two entities already: nothing is to do")
    if verdict == "merge" and not schema.open and not Surroundings(graph.mentions, schema, {}).same_type(first, second):
        types = [graph.mentions.entity(entity).type for entity in (first, second)]
        raise EntityDecisionError(f"{names[0]!r} is of the type {types[0]} and {names[1]!r} of {types[1]}: the facts "
                                  "of one would not fit the other's; let one type be the other's parent in the schema")
    return first, second


def check_carried_out(graph: ResolvedGraph, aliases: Mapping[str, AliasRow], verdict: Verdict,
                      pair: tuple[str, str]) -> None:
    """Raise EntityDecisionError if the new aliases do not merge or split two entities, for an earlier decision."""
    first, second = (row.canonical if (row := aliases.get(entity)) else entity for entity in pair)
    if (first == second) != (verdict == "merge"):
        names = [graph.mentions.entity(entity).name for entity in pair]
        done = "made one" if verdict == "merge" else "split"
        raise EntityDecisionError(f"{names[0]!r} and {names[1]!r} cannot be {done}: an earlier decision on other "
                                  "names of theirs says otherwise; take that back first (`banyan entities decisions`)")
