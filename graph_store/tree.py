"""The knowledge tree (Youtu-GraphRAG eq. 8): L4 communities, L3 keywords, L2 triples, L1 attributes.

L1 and L2 are the graph itself; this file makes L3 and L4 from it and keeps them in the ledger. The
id of a community is made from its members and the digest that its summary is written from, so one
that did not change keeps its name and summary.
"""

import json
from collections.abc import Sequence

from ..schemas.documents import Frozen
from ..schemas.naming import content_id
from ..schemas.retrieval import CommunityDigest, CommunitySummary
from .communities import (
    CommunitySettings,
    EntityFeatures,
    Labels,
    Scores,
    affinity,
    detect,
    features,
    groups,
    hierarchy,
)
from .database import Database
from .graph import EdgeKey, KnowledgeGraph
from .vectors import VectorStore

# Strongest facts shown of a community: at about 12 tokens each, half a prompt of 1,000 tokens.
_DIGEST_FACTS = 40


class Community(Frozen):
    """A community: member entities' ids (sorted), the ids of its keywords (best first), its texts."""

    id: str
    members: tuple[str, ...]
    keywords: tuple[str, ...]
    name: str = ""
    summary: str = ""

    def text(self) -> str:
        """What is embedded for a community."""
        return f"{self.name}. {self.summary}"


def relation_id(relation: str) -> str:
    """The id under which a relation's vector is kept."""
    return content_id("relation", relation)


def find_communities(graph: KnowledgeGraph, vectors: VectorStore, settings: CommunitySettings) -> list[Community]:
    """The communities of the graph, without names, by id: the finest level, which retrieval searches.

    Args:
        graph: the graph.
        vectors: with the vectors of all its entities and relations.
        settings: the constants of the detection.
    """
    data = _features(graph, vectors)
    return _communities(graph, data, detect(data, settings), 0, settings)


def find_levels(graph: KnowledgeGraph, vectors: VectorStore, settings: CommunitySettings) -> list[list[Community]]:
    """The communities, then the communities of communities, level by level; without names, by id.

    Each level is a partition of the entities, and each community lies within one of the next level.
    Arguments are those of `find_communities`, whose result is the first level.
    """
    data = _features(graph, vectors)
    return [_communities(graph, data, labels, level, settings)
            for level, labels in enumerate(hierarchy(data, settings))]


def _features(graph: KnowledgeGraph, vectors: VectorStore) -> EntityFeatures:
    ids = graph.entity_ids()
    edges = graph.edges()
    relations = sorted({relation for _, relation, _ in edges})
    row = {one: number for number, one in enumerate(ids)}
    kind = {relation: number for number, relation in enumerate(relations)}
    return features(vectors.get("entities", ids), vectors.get("relations", [relation_id(r) for r in relations]),
                    [(row[head], kind[relation], row[tail]) for head, relation, tail in edges])


def _communities(graph: KnowledgeGraph, data: EntityFeatures, labels: Labels, level: int,
                 settings: CommunitySettings) -> list[Community]:
    if not len(labels):
        return []
    ids, scores = graph.entity_ids(), affinity(data, labels, settings)
    found = [_community(graph, [ids[i] for i in group], scores[group], level, settings.keywords)
             for group in groups(labels)]
    return sorted(found, key=lambda community: community.id)


def _community(graph: KnowledgeGraph, members: list[str], scores: Scores, level: int, keywords: int) -> Community:
    best = sorted(range(len(members)), key=lambda i: (-float(scores[i]), members[i]))[:keywords]
    unnamed = Community(id="", members=tuple(sorted(members)), keywords=tuple(members[i] for i in best))
    told = digest(graph, unnamed)
    # A community and the only one within it have the same members: above the first level the level tells.
    above = ("level", str(level)) if level else ()
    identity = content_id("community", *above, *unnamed.members, "keywords", *told.keywords, "facts", *told.facts)
    return unnamed.model_copy(update={"id": identity})


def digest(graph: KnowledgeGraph, community: Community) -> CommunityDigest:
    """What a reasoner reads to name and summarise a community."""
    members = set(community.members)
    rank = {one: number for number, one in enumerate(community.keywords)}
    inner: set[EdgeKey] = {edge for one in community.members for edge in graph.incident(one)
                           if edge[0] in members and edge[2] in members}
    leading = sorted(inner, key=lambda e: (min(rank.get(e[0], len(rank)), rank.get(e[2], len(rank))), e))
    return CommunityDigest(keywords=tuple(graph.entity(one).name for one in community.keywords),
                           facts=tuple(graph.triple(edge).text() for edge in leading[:_DIGEST_FACTS]))


class CommunityTable:
    """The ledger's communities."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def all(self) -> list[Community]:
        """The communities, by id."""
        return [Community(id=row["id"], name=row["name"], summary=row["summary"],
                          keywords=tuple(json.loads(row["keywords"])), members=tuple(json.loads(row["members"])))
                for row in self._db.rows("SELECT * FROM communities ORDER BY id")]

    def replace(self, communities: Sequence[Community], position: int) -> None:
        """Make these the communities, as they are at a ledger position; unchanged ones are not rewritten."""
        with self._db.transaction():
            known = {str(row[0]) for row in self._db.rows("SELECT id FROM communities")}
            current = {community.id for community in communities}
            self._db.execute_many("DELETE FROM communities WHERE id = ?",
                                  [(one,) for one in sorted(known - current)])
            self._db.execute_many(
                "INSERT INTO communities (id, name, summary, keywords, members) VALUES (?, ?, ?, ?, ?)",
                [(c.id, c.name, c.summary, json.dumps(c.keywords), json.dumps(c.members))
                 for c in communities if c.id not in known])
            self._db.set_meta("tree_position", str(position))

    def count(self) -> int:
        """The number of communities."""
        return self._db.count("SELECT count(*) FROM communities")


def with_names(community: Community, said: CommunitySummary) -> Community:
    """The community with its name and summary."""
    return community.model_copy(update={"name": said.name, "summary": said.summary})
