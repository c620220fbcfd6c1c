"""The knowledge tree (Youtu-GraphRAG eq. 8): L4 communities and L3 keywords, made from the graph (L2 and L1).

If a large graph has changed in places, only new entities, and the communities of entities that share a triple or a
passage with a new one, are regrouped (`detection.adapt_partition`). On the levels above, each community keeps its
parent; a new one gets the parent that most of its members had, or else most of the entities beside them.

A community is summarised from its digest: keywords, strongest facts, connections to others. Its id is a hash of the
digest, so it keeps its name and summary as long as the digest does not change.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import chain

import numpy as np

from ...schemas.naming import content_id, normalise, relation_id
from ...schemas.retrieval import CommunityDigest, CommunitySummary
from ..graph.knowledge_graph import KnowledgeGraph
from ..graph.resolved_graph import LedgerGraph
from ..ledger.communities import CommunityTable, TreeCommunity, text_id
from ..ledger.database import Database
from ..ledger.notes import TreeState, ledger_state, note_state
from ..vectors.vector_store import VectorStore
from .clusters import Labels, members_by_community
from .detection import CommunitySettings, adapt_partition, detect_hierarchy
from .features import EntityFeatures, Perception, compute_features

_DECIMALS = 4  # of a cohesion, so that rounding errors change nothing
_SAMPLE = 1000  # entities added to the regrouped ones, so that their mean vector is about that of the whole graph
Summarise = Callable[[Sequence[CommunityDigest]], list[CommunitySummary]]

_DESCRIBED_AT_ONCE = 256  # communities described between two commits: what an endpoint answers at once by default
_DIGEST_FACTS = 40  # facts in a digest: at about 12 tokens each they are half a prompt of 1,000 tokens
_DIGEST_VALUES, _DIGEST_CONNECTIONS = 10, 10  # the most values, and connections to other communities, among them
TAU = 0.5
"""The share of an entity's neighbours from which it is at the boundary of their community: at most two have so many."""


def find_tree(graph: KnowledgeGraph, vectors: VectorStore, settings: CommunitySettings) -> list[TreeCommunity]:
    """Return the communities of all levels, without names, sorted by level and id; all entities have vectors."""
    data, ids = graph_features(graph, vectors), graph.entity_ids()
    levels = [make_communities(graph, ids, data, labels, level, settings)
              for level, labels in enumerate(detect_hierarchy(data, settings))]
    communities: list[TreeCommunity] = []
    for on_level, parents in zip(levels, [*levels[1:], []], strict=True):
        parent_of = {entity: parent.id for parent in parents for entity in parent.members}
        # All members of a community have the same parent, so the first one tells it.
        communities += [c.model_copy(update={"parent": parent_of.get(c.members[0], "")}) for c in on_level]
    return communities


def graph_features(graph: KnowledgeGraph, vectors: VectorStore, chosen: Sequence[str] | None = None,
                   sample: Sequence[str] = ()) -> EntityFeatures:
    """Compute the features of entities, all or the chosen ones in order, from vectors, triples and mentions.

    `sample` are others, which affect only the mean vector and shared passages (see `_SAMPLE`).
    """
    chosen = graph.entity_ids() if chosen is None else chosen
    ids = [*chosen, *sample]
    number = np.full(graph.count_entities(), -1, np.intp)  # by row of the graph; -1 for entities left out
    number[[graph.row(entity) for entity in ids]] = np.arange(len(ids))
    triples = graph.columns.triples.astype(np.int64)
    triples[:, [0, 2]] = number[triples[:, [0, 2]]]
    ends = triples[:, [0, 2]]
    triples = triples[((ends >= 0) & (ends < len(chosen))).all(axis=1)]  # those between chosen entities
    relations, triples[:, 1] = np.unique(triples[:, 1], return_inverse=True)
    relation_ids = [relation_id(graph.columns.texts[relation]) for relation in relations.tolist()]
    entities, chunks = graph.mention_pairs()
    is_included = number[entities] >= 0
    passages = np.unique(chunks[is_included], return_inverse=True)[1]
    data = compute_features(vectors.get("entities", ids), vectors.get("relations", relation_ids), triples,
                            np.stack([number[entities][is_included], passages], axis=1))
    return data.first(len(chosen)) if sample else data


def make_communities(graph: KnowledgeGraph, ids: Sequence[str], data: EntityFeatures, labels: Labels, level: int,
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


def update_tree(graph: KnowledgeGraph, vectors: VectorStore, settings: CommunitySettings,
                old_tree: Sequence[TreeCommunity]) -> list[TreeCommunity]:
    """Adapt an earlier tree, `old_tree`, to the graph as it is now; the number of levels stays."""
    finest = [community for community in old_tree if community.level == 0]
    old_community = {entity: community for community in finest for entity in community.members}
    beside_new: dict[str, set[str]] = {}  # for each new entity those that share a triple or a passage with it
    for entity in graph.entity_ids():
        if entity not in old_community:
            beside_new[entity] = set(graph.neighbours(entity))
            for chunk in graph.entity_support(entity):
                beside_new[entity].update(mention.entity for mention in graph.mentioned_in(chunk))
    deleted = set(old_community).difference(graph.entity_ids())
    changed = deleted.union(*beside_new.values()) & old_community.keys()
    to_regroup = {old_community[entity].id for entity in changed}
    regrouped = _regroup_near_new(graph, vectors, settings, beside_new, [c for c in finest if c.id in to_regroup])
    # The ids of other communities may change, too: digests have the facts and names that the graph has now.
    levels = [[with_content_id(graph, c) for c in finest if c.id not in to_regroup]]
    for community in regrouped:
        # Its parent is that of most members, else of most entities beside new members.
        voters = [entity for entity in community.members if entity in old_community]
        if not voters:
            voters = [*chain.from_iterable(beside_new[entity] for entity in community.members)]
        votes = Counter(old_community[entity].parent for entity in voters if entity in old_community)
        parent = min(votes, key=lambda parent: (-votes[parent], parent), default="")  # "" is a new parent
        levels[0].append(community.model_copy(update={"parent": parent}))
    for level in range(1, 1 + max(community.level for community in old_tree)):
        old_parents = {community.id: community for community in old_tree if community.level == level}
        levels[-1], parents = _update_parents(graph, levels[-1], old_parents, level, settings)
        levels.append(parents)
    return [community for level in levels for community in sorted(level, key=lambda c: c.id)]


def _regroup_near_new(graph: KnowledgeGraph, vectors: VectorStore, settings: CommunitySettings,
                      beside_new: Mapping[str, set[str]], communities: Sequence[TreeCommunity]) -> list[TreeCommunity]:
    """Regroup new entities and the members of some communities; return the communities that result, sorted by id."""
    label_of: dict[str, int] = {}
    for label, community in enumerate(communities):
        label_of.update((entity, label) for entity in community.members if entity in graph)
    ids = sorted({*label_of, *beside_new})
    if not ids:
        return []
    others = nsmallest(_SAMPLE, set(graph.entity_ids()) - set(ids))  # at random, as ids are hashes
    data = graph_features(graph, vectors, ids, others)
    own_label = len(communities) + np.arange(len(ids))  # a new entity begins in a community of its own
    labels = np.array([label_of.get(entity, own_label[row]) for row, entity in enumerate(ids)], np.intp)
    may_move = set(beside_new).union(*beside_new.values())
    labels = adapt_partition(data, labels, np.array([entity in may_move for entity in ids]), settings)
    return make_communities(graph, ids, data, labels, 0, settings)


def _update_parents(graph: KnowledgeGraph, children: Sequence[TreeCommunity], old_parents: Mapping[str, TreeCommunity],
                    level: int, settings: CommunitySettings) -> tuple[list[TreeCommunity], list[TreeCommunity]]:
    """Return communities with the new ids of their parents, and the parents with their current members and keywords.

    `old_parents` are the communities of the next level, `level`, by their old ids. Children without one get a new one.
    """
    by_parent: dict[str, list[TreeCommunity]] = {}
    for child in children:
        by_parent.setdefault(child.parent, []).append(child)
    new = TreeCommunity(id="", members=(), keywords=(), level=level)
    parents = dict[str, TreeCommunity]()
    for old_id, siblings in by_parent.items():
        parent = old_parents.get(old_id, new)  # all children without a parent share a new one
        members = {entity for child in siblings for entity in child.members}
        # Keep the keywords that are still members, and fill up with those of the largest children.
        largest_first = sorted(siblings, key=lambda c: (-len(c.members), c.id))
        candidates = [*parent.keywords, *(keyword for child in largest_first for keyword in child.keywords)]
        keywords = [entity for entity in dict.fromkeys(candidates) if entity in members][:settings.keywords]
        parents[old_id] = with_content_id(graph, parent.model_copy(
            update={"members": tuple(sorted(members)), "keywords": tuple(keywords)}))
    return [child.model_copy(update={"parent": parents[child.parent].id}) for child in children], [*parents.values()]


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
        if not whole and len(entities) > settings.update_above:
            old_tree = self._communities.all(level=None)
            finest = (community.members for community in old_tree if community.level == 0)
            grouped = set(chain.from_iterable(finest))
            drift = ledger_state(self._db).tree.drift + len(grouped ^ set(entities))
            if old_tree and drift <= settings.drift * len(entities):  # otherwise too much was only patched
                communities = update_tree(graph, self._vectors, settings, old_tree)
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
            stated = {text_id(text) for text in iterate_texts(self._graph.graph)}
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


def iterate_texts(graph: KnowledgeGraph) -> Iterator[str]:
    """Yield every text that a digest may contain: all names of entities, and all triples and values in words."""
    yield from graph.all_names().values()
    yield from map(graph.statement_of, range(graph.count_triples()))
    for entity in (graph.columns.ids[row] for row in np.unique(graph.columns.values.entity).tolist()):
        for attribute, values in graph.descriptive_values(entity).items():
            yield from (graph.value_statement(entity, attribute, value) for value in values)


def make_digest(graph: KnowledgeGraph, community: TreeCommunity) -> CommunityDigest:
    """Return the digest from which a community is summarised: its facts and values, and triples to the outside."""
    seen_keys = set[str]()
    triples = _take_unseen(map(graph.statement_of, _iterate_inner_triples(graph, community)), _DIGEST_FACTS, seen_keys)
    statements = (graph.value_statement(keyword, attribute, value) for keyword in community.keywords
                  for attribute, values in graph.descriptive_values(keyword).items() for value in values)
    values = _take_unseen(statements, _DIGEST_VALUES, seen_keys)
    outer = map(graph.statement_of, _iterate_outer_triples(graph, community))
    connections = _take_unseen(outer, _DIGEST_CONNECTIONS, seen_keys)
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


def _iterate_inner_triples(graph: KnowledgeGraph, community: TreeCommunity) -> Iterator[int]:
    """Yield the rows of the triples between members: first those of keywords, then those between other members."""
    members = set(map(graph.row, community.members))
    keywords = list(map(graph.row, community.keywords))
    triples_of_keywords = chain.from_iterable(_triples_of(graph, keyword) for keyword in keywords)
    rows_of_keywords = dict.fromkeys(row for row, other in triples_of_keywords if other in members)
    yield from rows_of_keywords
    for member in map(graph.row, community.members):
        for row, other in _triples_of(graph, member):
            if other in members and row not in rows_of_keywords and graph.ends_of(row)[0] == member:
                yield row  # once, from its head


def _iterate_outer_triples(graph: KnowledgeGraph, community: TreeCommunity) -> Iterator[int]:
    """Yield the rows of the triples to outside entities: first those at the boundary (eq. 4), and those of keywords."""
    ordered = list(map(graph.row, dict.fromkeys((*community.keywords, *community.members))))  # keywords first
    last_rank = len(community.keywords)  # of all members that are no keywords
    rank_of_member = {entity: min(rank, last_rank) for rank, entity in enumerate(ordered)}
    # Outside entities at the boundary: at least the share tau of their neighbours are members (UniAI-GraphRAG eq. 4).
    # Several triples between two entities count once, as A is an indicator in the paper. A share equal to tau suffices,
    # as in the equation; the paper's text says "exceeds".
    adjacent = graph.columns.adjacent
    counts = Counter(chain.from_iterable(adjacent[member].tolist() for member in ordered))
    rank_of_row: dict[int, int] = {}
    for entity in counts.keys() - rank_of_member.keys():
        if counts[entity] / len(adjacent[entity]) >= TAU:
            rank_of_row.update((row, rank_of_member[member]) for row, member in _triples_of(graph, entity)
                               if member in rank_of_member)
    yield from sorted(rank_of_row, key=lambda row: (rank_of_row[row], row))
    for member in ordered:
        yield from (row for row, end in _triples_of(graph, member)
                    if end not in rank_of_member and row not in rank_of_row)


def _triples_of(graph: KnowledgeGraph, entity: int) -> Iterator[tuple[int, int]]:
    """Yield the row of each triple of an entity, with the entity at its other end; entities are given as rows."""
    for row in graph.columns.incident[entity].tolist():
        head, tail = graph.ends_of(row)
        yield row, tail if head == entity else head
