"""The tree after a part of a large graph has changed: what is far from that stays as it was.

The communities of what changed, and those of its neighbours, are fitted to it by `detection.update`; no others are
looked at, so the cost is that of what changed. On the levels above each community keeps its parent. One that is new
joins the parent that most of its members had, else the one that it has most triples with, else the nearest in meaning.
How far all that may lead from detecting all communities anew is bounded by `CommunitySettings.drift`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest

import numpy as np

from ...models.embedding.embedder import Vectors
from ...runtime.one_thread import one_thread
from ..graph.knowledge_graph import KnowledgeGraph
from ..ledger.communities import Community
from ..vectors.store import VectorStore
from .description import described, graph_features, identified, triples_with
from .detection import CommunitySettings, Earlier, EntityFeatures, update
from .features import unit
from .scores import DECIMALS

_MANY = 20
"""Neighbours from which on one more does not make an entity fit another community: where it is known it stays, and
takes nobody with it. Without that, a name that half the documents mention ("1999") would bring in half of the tree."""
_SAMPLE = 1000
"""Entities by which it is known what all have in common. Ids are hashes, so those that sort first are a sample."""


@dataclass(frozen=True)
class Before:
    """The tree of the graph as it was, of all levels, and the entities that changed since."""

    communities: Sequence[Community]
    changed: frozenset[str]


def update_tree(graph: KnowledgeGraph, vectors: VectorStore, settings: CommunitySettings, before: Before,
                ) -> list[Community]:
    """The communities of a graph that has changed in places, of as many levels as before.

    Args:
        graph: the graph.
        vectors: with the vectors of all its entities and relations.
        settings: the constants of the detection.
        before: the tree to go on from.

    Returns:
        As `description.find_tree`.
    """
    finest = [community for community in before.communities if community.level == 0]
    of = {entity: community for community in finest for entity in community.members}
    concerned = {c.id: c for c in _concerned(graph, before.changed, of)}
    found = _regrouped(graph, vectors, settings, before.changed, [concerned[key] for key in sorted(concerned)])
    known = {c.id: c for c in before.communities if c.level}
    if known:
        found = _adopted(graph, vectors, found, of, [c for c in known.values() if c.level == 1])
    children = [*(c for c in finest if c.id not in concerned), *found]
    levels: list[Community] = []
    while children:
        above, children = _above(graph, children, known, before.changed, settings)
        levels += sorted(children, key=lambda c: c.id)
        children = above
    return levels


def _concerned(graph: KnowledgeGraph, changed: frozenset[str], of: Mapping[str, Community]) -> list[Community]:
    """The communities of what changed, and of the neighbours of what may move."""
    near = set(changed)
    for entity in changed:
        if entity in graph.network and _may_move(graph, entity, of):
            near |= graph.neighbours(entity)
    return [of[entity] for entity in near if entity in of]


def _may_move(graph: KnowledgeGraph, entity: str, of: Mapping[str, Community]) -> bool:
    return entity not in of or len(graph.neighbours(entity)) < _MANY


def _regrouped(graph: KnowledgeGraph, vectors: VectorStore, settings: CommunitySettings, changed: frozenset[str],
               concerned: Sequence[Community]) -> list[Community]:
    """The communities of the members of some and of the entities that are new, by id."""
    of = {entity: community for community in concerned for entity in community.members if entity in graph.network}
    ids = sorted({*of, *(entity for entity in changed if entity in graph.network)})
    if not ids:
        return []
    here = set(ids)
    edges = sorted({edge for entity in ids for edge in (
        graph.incident(entity) if len(graph.neighbours(entity)) < _MANY else triples_with(graph, entity, here))})
    around = {end for head, _, tail in edges for end in (head, tail)}.union(nsmallest(_SAMPLE, graph.network))
    data = graph_features(graph, vectors, [*ids, *sorted(around - here)], edges)
    n = len(ids)
    data = EntityFeatures(data.representations[:n], data.relations[:n], data.links[:n, :n])
    number = {community.id: label for label, community in enumerate(concerned)}
    labels = np.array([number[of[entity].id] if entity in of else -1 for entity in ids], np.intp)
    moving = np.array([entity in changed and _may_move(graph, entity, of) for entity in ids])
    labels = update(data, Earlier(labels, moving), settings)
    old = {community.members: community for community in concerned if changed.isdisjoint(community.members)}
    return [old.get(community.members, community) for community in described(graph, ids, data, labels, 0, settings)]


def _adopted(graph: KnowledgeGraph, vectors: VectorStore, found: Sequence[Community], of: Mapping[str, Community],
             parents: Sequence[Community]) -> list[Community]:
    """Communities of the finest level with a parent each."""
    adopted, alone = list[Community](), list[Community]()
    for community in found:
        ends = (end for member in community.members for end in graph.neighbours(member))
        votes = (Counter(of[entity].parent for entity in community.members if entity in of)
                 or Counter(of[end].parent for end in ends if end in of))
        if votes:
            adopted.append(_under(community, min(votes, key=lambda parent: (-votes[parent], parent))))
        else:
            alone.append(community)
    if alone:
        ordered = sorted(parents, key=lambda c: c.id)
        with one_thread():  # sums in the same order on any number of cores
            cosines = _meanings(graph, vectors, alone) @ _meanings(graph, vectors, ordered).T
        adopted += [_under(community, ordered[best].id)
                    for community, best in zip(alone, np.round(cosines, DECIMALS).argmax(axis=1).tolist(), strict=True)]
    return adopted


def _meanings(graph: KnowledgeGraph, vectors: VectorStore, communities: Sequence[Community]) -> Vectors:
    """The direction of the keywords of each community, shape (communities, d)."""
    keywords = [[entity for entity in community.keywords if entity in graph.network] for community in communities]
    all_of_them = sorted({entity for own in keywords for entity in own})
    row, known = {entity: number for number, entity in enumerate(all_of_them)}, vectors.get("entities", all_of_them)
    return unit(np.array([known[[row[entity] for entity in own]].sum(axis=0) for own in keywords], np.float32))


def _under(community: Community, parent: str) -> Community:
    return community if community.parent == parent else community.model_copy(update={"parent": parent})


def _above(graph: KnowledgeGraph, children: Sequence[Community], known: Mapping[str, Community],
           changed: frozenset[str], settings: CommunitySettings) -> tuple[list[Community], list[Community]]:
    """The parents of some communities as they are now, and these with the parents' present ids."""
    by_parent: dict[str, list[Community]] = {}
    for child in children:
        by_parent.setdefault(child.parent, []).append(child)
    if not by_parent.keys() - {""}:
        return [], list(children)
    parents = {parent: _parent(graph, known[parent], own, changed, settings) for parent, own in by_parent.items()}
    return list(parents.values()), [_under(child, parents[child.parent].id) for child in children]


def _parent(graph: KnowledgeGraph, before: Community, children: Sequence[Community], changed: frozenset[str],
            settings: CommunitySettings) -> Community:
    """A community of the members of others; it keeps its keywords as long as they are among these."""
    members = tuple(sorted(entity for child in children for entity in child.members))
    if members == before.members and changed.isdisjoint(members):
        return before
    largest = sorted(children, key=lambda c: (-len(c.members), c.id))
    wanted = dict.fromkeys((*before.keywords, *(keyword for child in largest for keyword in child.keywords)))
    inside = set(members)
    keywords = [entity for entity in wanted if entity in inside][:settings.keywords]
    return identified(graph, before.model_copy(update={"members": members, "keywords": tuple(keywords)}))
