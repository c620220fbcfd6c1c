"""The knowledge tree (Youtu-GraphRAG eq. 8): L4 communities and L3 keywords, made from the graph (L2 and L1).

If a large graph has changed in places, new entities join the communities of those that share a triple or a passage
with them (`fit_tree`), until so many have come or gone that all are detected anew.

A community is summarised from its digest: keywords, strongest facts, connections to others. Its id is a hash of the
digest, so it keeps its name and summary as long as the digest does not change.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain

import numpy as np

from ...schemas.naming import content_id, normalise, relation_id
from ...schemas.retrieval import CommunityDigest, CommunitySummary
from ..graph.knowledge_graph import KnowledgeGraph
from ..graph.resolved_graph import LedgerGraph
from ..ledger.database import Database
from ..ledger.entity_rows import CommunityTable, TreeCommunity, text_id
from ..ledger.notes import TreeState, ledger_state, note_state
from ..vectors.vector_store import VectorStore
from .detection import CommunitySettings, detect_hierarchy, members_by_community
from .features import EntityFeatures, Labels, Perception, compute_features

_DECIMALS = 4  # of a cohesion, so that rounding errors change nothing
Summarise = Callable[[Sequence[CommunityDigest]], list[CommunitySummary]]

_DESCRIBED_AT_ONCE = 256  # communities described between two commits: what an endpoint answers at once by default
_DIGEST_FACTS = 40  # facts in a digest: at about 12 tokens each they are half a prompt of 1,000 tokens
_DIGEST_VALUES, _DIGEST_CONNECTIONS = 10, 10  # the most values, and connections to other communities, among them
TAU = 0.5
"""The share of an entity's neighbours from which it is at the boundary of their community: at most two have so many."""


def find_tree(graph: KnowledgeGraph, vectors: VectorStore, settings: CommunitySettings) -> list[TreeCommunity]:
    """Return the communities of all levels, without names, sorted by level and id; all entities have vectors."""
    ids, triples = graph.entity_ids(), graph.columns.triples.astype(np.int64)
    relations, triples[:, 1] = np.unique(triples[:, 1], return_inverse=True)
    relation_ids = [relation_id(graph.columns.texts[relation]) for relation in relations.tolist()]
    entities, chunks = graph.mention_pairs()
    passages = np.unique(chunks, return_inverse=True)[1]
    data = compute_features(vectors.get("entities", ids), vectors.get("relations", relation_ids), triples,
                            np.stack([entities, passages], axis=1))
    levels = [_make_communities(graph, ids, data, labels, level, settings)
              for level, labels in enumerate(detect_hierarchy(data, settings))]
    communities: list[TreeCommunity] = []
    for on_level, parents in zip(levels, [*levels[1:], []], strict=True):
        parent_of = {entity: parent.id for parent in parents for entity in parent.members}
        # All members of a community have the same parent, so the first one tells it.
        communities += [c.model_copy(update={"parent": parent_of.get(c.members[0], "")}) for c in on_level]
    return communities


def _make_communities(graph: KnowledgeGraph, ids: Sequence[str], data: EntityFeatures, labels: Labels, level: int,
                      settings: CommunitySettings) -> list[TreeCommunity]:
    """Return the communities of a partition on a level, with keywords, cohesion and id; sorted by id."""
    if not len(labels):
        return []
    scores = Perception(data, labels).phi(np.arange(len(labels)), labels, settings.semantic_weight)
    communities = []
    for group in members_by_community(labels):
        fit = {ids[row]: float(scores[row]) for row in group.tolist()}
        keywords = sorted(fit, key=lambda entity: (-fit[entity], entity))[:settings.keywords]
        # "or 0.0" turns -0.0 into 0.0, because PostgreSQL stores -0.0 and SQLite does not.
        cohesion = round(float(scores[group].mean(dtype=np.float64)), _DECIMALS) or 0.0
        communities.append(with_content_id(graph, TreeCommunity(
            id="", members=tuple(sorted(fit)), keywords=tuple(keywords), level=level, cohesion=cohesion)))
    return sorted(communities, key=lambda c: c.id)


def fit_tree(graph: KnowledgeGraph, settings: CommunitySettings,
             old_tree: Sequence[TreeCommunity]) -> list[TreeCommunity]:
    """Fit an earlier tree to the graph as it is now: new entities join communities, which keep their parents.

    A community keeps its cohesion, too: it is measured when all are detected.
    """
    old = {community.id: community for community in old_tree}
    finest = {key: [entity for entity in community.members if entity in graph]
              for key, community in old.items() if community.level == 0}
    levels: list[Mapping[str, Sequence[str]]] = [_join_new_entities(graph, finest, settings.max_members)]
    for level in range(1, 1 + max(community.level for community in old_tree)):
        members_of_parent = defaultdict[str, list[str]](list)
        for key, members in levels[-1].items():
            members_of_parent[old[key].parent if key in old else f"new on level {level}"] += members
        levels.append(members_of_parent)
    new_id = dict[str, str]()  # by the key of a community: its old id, or a name for a new one
    fitted: list[TreeCommunity] = []
    for level, members_of in reversed([*enumerate(levels)]):  # parents come first, as their children name them
        for key, members in members_of.items():
            if not members:
                continue  # all were deleted
            before = old.get(key) or TreeCommunity(id="", members=(), keywords=(), level=level)
            kept_keywords = [entity for entity in before.keywords if entity in graph]
            by_degree = sorted(members, key=lambda entity: (-graph.degree(entity), entity))
            keywords = dict.fromkeys((*kept_keywords, *by_degree))
            parent = before.parent or ("" if level + 1 == len(levels) else f"new on level {level + 1}")
            community = with_content_id(graph, before.model_copy(update={
                "members": tuple(sorted(members)), "keywords": tuple([*keywords][:settings.keywords]),
                "parent": new_id.get(parent, "")}))
            new_id[key] = community.id
            fitted.append(community)
    return sorted(fitted, key=lambda community: (community.level, community.id))


def _join_new_entities(graph: KnowledgeGraph, communities: Mapping[str, Sequence[str]],
                       max_members: int) -> dict[str, list[str]]:
    """Return the members of communities, by key, with each new entity where most of its links and passages lead to."""
    joined = {key: [*members] for key, members in communities.items()}
    community_of = {entity: key for key, members in communities.items() for entity in members}

    def count_votes(entity: str) -> Counter[str]:
        """Return how many of those that share a triple, or else a passage, with an entity are in which community."""
        beside = graph.neighbours(entity)
        if beside.isdisjoint(community_of):
            beside = {mention.entity for chunk in graph.entity_support(entity) for mention in graph.mentioned_in(chunk)}
        return Counter(community_of[one] for one in sorted(beside) if one in community_of)

    new_entities = [entity for entity in graph.entity_ids() if entity not in community_of]
    # Those beside old entities come first, so that the others find them in their communities.
    for entity in sorted(new_entities, key=lambda entity: (not count_votes(entity), entity)):
        votes = {key: count for key, count in count_votes(entity).items() if len(joined[key]) < max_members}
        key = min(votes, key=lambda key: (-votes[key], key), default=f"new with {entity}")
        joined.setdefault(key, []).append(entity)
        community_of[entity] = key
    return joined


class TreeSynchroniser:
    """Updates and describes the communities of one knowledge base; one that stays the same keeps its description."""

    def __init__(self, database: Database, graph: LedgerGraph, vectors: VectorStore,
                 communities: CommunityTable) -> None:
        self._db = database
        self._graph = graph
        self._vectors = vectors
        self._communities = communities

    def is_behind(self) -> bool:
        """Return True if the communities do not reflect the graph."""
        tree = ledger_state(self._db).tree
        return (tree.position, tree.resolution) != self._graph.state

    def update(self, summarise: Summarise) -> None:
        """Build the tree if it does not reflect the graph; else describe what an earlier run left undescribed."""
        if self.is_behind():
            self.build(summarise)
        else:
            self.describe(summarise)

    def build(self, summarise: Summarise, settings: CommunitySettings | None = None, *, whole: bool = False) -> None:
        """Find the communities, all anew if `whole` or if the stored ones cannot be updated; describe the new ones."""
        settings = settings or CommunitySettings()
        graph, state = self._graph.graph, self._graph.state
        entities, communities = graph.entity_ids(), list[TreeCommunity]()
        drift = 0  # the entities that have come or gone since all were clustered
        if not whole and len(entities) > settings.fit_above:
            old_tree = self._communities.all(level=None)
            grouped = set(chain.from_iterable(community.members for community in old_tree if community.level == 0))
            drift = ledger_state(self._db).tree.drift + len(grouped ^ set(entities))
            if old_tree and drift <= settings.drift * len(entities):  # otherwise too much was only patched
                communities = fit_tree(graph, settings, old_tree)
        # One level may have so many communities that it needs a level above.
        has_levels = any(community.level for community in communities)
        if not communities or (not has_levels and len(communities) > settings.max_clusters):
            communities, drift = find_tree(graph, self._vectors, settings), 0
        with self._db.transaction():
            self._communities.replace(communities)
            self._store_state(ledger_state(self._db).tree._replace(
                position=state.position, resolution=state.resolution, drift=drift))
        self.describe(summarise)

    def forget_outdated_reports(self) -> None:
        """Delete the reports whose prompt had a text that no document states any more, as they may repeat it."""
        if texts_in_prompt := self._communities.find_shared():
            graph = self._graph.graph
            # Every text that a digest may contain: names of entities, and triples and values in words.
            stated = set(map(text_id, chain(graph.all_names().values(),
                                            map(graph.statement_of, range(graph.count_triples())))))
            for entity in (graph.columns.ids[row] for row in np.unique(graph.columns.values.entity).tolist()):
                for attribute, values in graph.descriptive_values(entity).items():
                    stated.update(text_id(graph.value_statement(entity, attribute, value)) for value in values)
            self._communities.forget_summaries([report for report, texts in texts_in_prompt.items()
                                                if not stated.issuperset(texts)])

    def describe(self, summarise: Summarise) -> None:
        """Name and summarise the communities that are not described; what is done is stored if a later batch fails."""
        undescribed = self._communities.find_undescribed()
        for start in range(0, len(undescribed), _DESCRIBED_AT_ONCE):
            batch = undescribed[start:start + _DESCRIBED_AT_ONCE]
            summaries = summarise([make_digest(self._graph.graph, community) for community in batch])
            with self._db.transaction():
                self._communities.describe(zip([community.id for community in batch], summaries, strict=True))
                self._store_state(ledger_state(self._db).tree)

    def _store_state(self, state: TreeState) -> None:
        """Store the tree's state under a new revision, by which readers notice the change."""
        note_state(self._db, tree=state._replace(revision=state.revision + 1))


def with_content_id(graph: KnowledgeGraph, community: TreeCommunity) -> TreeCommunity:
    """Return a community with its id, a hash of its level, its keywords' ids and its digest."""
    digest = make_digest(graph, community)
    # The level tells a community from the only one within it; the ids, from one of entities with the same names.
    level = ("level", str(community.level)) if community.level else ()
    identity = content_id("community", *level, *community.keywords, "keywords", *digest.keywords,
                          "facts", *digest.facts, "connections", *digest.connections)
    return community.model_copy(update={"id": identity})


def make_digest(graph: KnowledgeGraph, community: TreeCommunity) -> CommunityDigest:
    """Return the digest from which a community is summarised: its facts and values, and triples to the outside."""
    seen_keys = set[str]()
    inner, outer = _rank_triples(graph, community)
    triples = _take_unseen(map(graph.statement_of, inner), _DIGEST_FACTS, seen_keys)
    statements = (graph.value_statement(keyword, attribute, value) for keyword in community.keywords
                  for attribute, values in graph.descriptive_values(keyword).items() for value in values)
    values = _take_unseen(statements, _DIGEST_VALUES, seen_keys)
    connections = _take_unseen(map(graph.statement_of, outer), _DIGEST_CONNECTIONS, seen_keys)
    type_counts = Counter(map(graph.type, community.keywords))
    return CommunityDigest(keywords=tuple(graph.name(entity) for entity in community.keywords),
                           facts=(*triples[:_DIGEST_FACTS - len(values) - len(connections)], *values),  # fill the rest
                           connections=tuple(connections),
                           kind=min(type_counts, key=lambda name: (-type_counts[name], name), default=""))


def _take_unseen(facts: Iterable[str], most: int, seen_keys: set[str]) -> list[str]:
    """Return the first `most` facts that are not in `seen_keys` yet, and add their keys to it."""
    new_facts = list[str]()
    for fact in facts:
        key = normalise(fact.replace(":", " "))  # a value, "height: 2 m", may say the same as a triple
        if key not in seen_keys:
            seen_keys.add(key)
            new_facts.append(fact)
            if len(new_facts) == most:
                break
    return new_facts


def _rank_triples(graph: KnowledgeGraph, community: TreeCommunity) -> tuple[list[int], list[int]]:
    """Return the rows of the triples between members, and of those to other entities; those of keywords come first.

    Of the second kind, those at the boundary come first: at least the share tau of the other entity's neighbours are
    members (UniAI-GraphRAG eq. 4). Several triples between two entities count once, as A is an indicator in the paper.
    A share equal to tau suffices, as in the equation; the paper's text says "exceeds".
    """
    rank = {row: rank for rank, row in enumerate(map(graph.row, dict.fromkeys(
        (*community.keywords, *community.members))))}
    last_rank = len(community.keywords)  # of all members that are no keywords
    adjacent_to = cache(graph.columns.adjacent_to)
    member_counts = Counter(chain.from_iterable(adjacent_to(member).tolist() for member in rank))
    inner, outer = list[tuple[int, int]](), list[tuple[bool, int, int]]()
    for row in graph.columns.incident.unite(rank).tolist():
        head, tail = graph.ends_of(row)
        best_rank = min(rank[end] for end in (head, tail) if end in rank)
        if head in rank and tail in rank:
            inner.append((min(best_rank, last_rank), row))
            continue
        outside = tail if head in rank else head
        is_boundary = member_counts[outside] / len(adjacent_to(outside)) >= TAU
        outer.append((not is_boundary, min(best_rank, last_rank) if is_boundary else best_rank, row))
    return [row for _, row in sorted(inner)], [row for *_, row in sorted(outer)]
