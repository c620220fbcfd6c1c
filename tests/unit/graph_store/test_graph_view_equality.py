"""What the graph's view reads from the index is what the graph says."""

from collections import Counter
from itertools import pairwise

import networkx as nx
from banyan.graph_store.graph.resolved_graph import ResolvedGraph
from banyan.graph_store.graph_index import GraphIndex
from banyan.graph_store.ledger.communities import TreeCommunity
from banyan.schemas.documents import Chunk, Span
from banyan.schemas.extraction import AttributeFact, BoundedExtraction, EntityMention, RelationFact
from banyan.schemas.naming import canonical_name, entity_id, normalise, triple_id
from banyan.schemas.resolution import AliasRow
from banyan.server.graph_view import Edge, GraphView, Node
from hypothesis import given
from hypothesis import strategies as st

from ... import graph_index as graphs
from ... import hashed_embedding as hashed
from ...admitted import graph_of

NAMES = ("Ada Byron", "ADA  BYRON", "Ａda Byron", "“Ada Byron”", "Ada", "Byron", "Ada Byron Lovelace", "a", "!", "ß",
         "Ulm\nam Rhein", "宁波", "「宁波」", "宁波市", "林小雨")
TYPES = ("City", "Person", "城市")
RELATIONS = ("born_in", "knows", "出生于")
SEARCHED = (*NAMES, " ", "da by", "波", "\n", "nobody", "A" * 90)

entities = st.tuples(st.sampled_from(NAMES), st.sampled_from(TYPES))
contributions = st.lists(st.fixed_dictionaries({
    "facts": st.lists(st.tuples(entities, st.sampled_from(RELATIONS), entities, st.integers(0, 9)), max_size=8),
    "alone": st.lists(entities, max_size=3),
    "values": st.lists(st.tuples(entities, st.sampled_from(("height", "born"))), max_size=2)}), max_size=5)
aliases = st.dictionaries(entities, entities, max_size=4)


def contribution(drawn):
    """What a chunk brings into the graph."""
    span = Span(start=0, end=1, quote="x")
    mentioned = dict.fromkeys([*drawn["alone"], *(end for head, _, tail, _ in drawn["facts"] for end in (head, tail)),
                               *(entity for entity, _ in drawn["values"])])
    return BoundedExtraction(
        mentions=tuple(EntityMention(name=name, type=kind, span=span) for name, kind in mentioned),
        facts=tuple(RelationFact(head=head[0], head_type=head[1], relation=relation, tail=tail[0], tail_type=tail[1],
                         span=Span(start=start, end=start + 1, quote="x"))
                    for head, relation, tail, start in drawn["facts"]),
        attributes=tuple(AttributeFact(entity=name, entity_type=kind, attribute=attribute, value="3", span=span)
                         for (name, kind), attribute in drawn["values"]))


def made(drawn, same, size):
    """A graph, the communities of `size` of its entities each, and the view of their index."""
    mentions = graph_of((f"chunk{number}", contribution(one)) for number, one in enumerate(drawn))
    ids = {entity_id(*alias): entity_id(*of) for alias, of in same.items()}
    aliases = {alias: AliasRow(id=alias, canonical=of, type="Person", partner=of, rule="manual", score=1.0)
               for alias, of in ids.items() if of not in ids}
    graph = ResolvedGraph(mentions, aliases)
    chunks = [Chunk(id=f"chunk{number}", document_id=f"doc{number}", title="", text="text of a chunk", start=0, end=15,
                    ordinal=0) for number in range(len(drawn))]
    known = graph.entity_ids()[1:]  # the first is in none
    communities = [TreeCommunity(id=f"c{at:03d}", members=tuple(known[at:at + size]), keywords=())
                   for at in range(0, len(known), size)]
    index = GraphIndex(graphs.GraphAlone(graph, hashed.HashedEmbedder(), chunks, communities))
    return graph, communities, GraphView(index)


def expected_nodes(graph, communities):
    """All entities as they are drawn: those that most documents mention first, each chunk being one; then by facts."""
    of = {member: community.id for community in communities for member in community.members}
    nodes = [Node(id=one, name=graph.name(one), type=graph.type(one),
                  degree=graph.degree(one), support=len(graph.entity_support(one)),
                  community=of.get(one)) for one in graph.entity_ids()]
    return sorted(nodes, key=lambda node: (-node.support, -node.degree, node.name, node.id))


@given(contributions, aliases, st.integers(1, 4))
def test_entities_and_their_search_are_those_of_the_graph(drawn, same, size):
    graph, communities, view = made(drawn, same, size)
    nodes = expected_nodes(graph, communities)
    assert list(view.nodes) == nodes
    assert [view.node(node.id) for node in nodes] == nodes
    assert list(view.find({node.id for node in nodes} | {"no such"})) == nodes
    assert view.types == Counter(node.type for node in nodes)
    assert view.index.relation_counts == Counter(relation for _, relation, _ in graph.edges())
    for words in SEARCHED:
        for kind in ("", "City", "no such"):
            found = []
            for place, node in enumerate(nodes):
                holding = [name for name in map(normalise, graph.names(node.id)) if normalise(words) in name]
                if holding and kind in {"", node.type}:
                    close = min(0 if name == normalise(words) else 1 if name.startswith(normalise(words)) else 2
                                for name in holding)
                    found.append((close, place, node))
            found.sort(key=lambda one: one[:2])
            assert view.search(words, kind, 3) == [node for *_, node in found[:3]]
    called = {node.id: node for name in SEARCHED for node in nodes
              if canonical_name(name) in map(canonical_name, graph.names(node.id))}
    assert view.find_by_name(SEARCHED) == list(called.values())


@given(contributions, aliases, st.integers(1, 4))
def test_filters_facts_among_entities_and_ways_are_those_of_the_graph(drawn, same, size):
    graph, communities, view = made(drawn, same, size)
    nodes = expected_nodes(graph, communities)
    edges = graph.edges()
    members = set(communities[0].members) if communities else set()
    for kind in ("", "Person"):
        for relation in ("", "knows", "no such"):
            for chunks in (None, {"chunk1", "chunk9"}):
                for within in (None, members):
                    fitting = [node for node in nodes if kind in {"", node.type}
                               and (within is None or node.id in within)
                               and (chunks is None or not chunks.isdisjoint(graph.entity_support(node.id)))
                               and (not relation or any(key[1] == relation for key in graph.incident(node.id)))]
                    assert list(view.matching(kind, relation, chunks, within)) == fitting
                    shown = {node.id for node in fitting}
                    assert view.among(fitting, relation) == [
                        Edge(id=triple_id(*key), source=key[0], target=key[2], relation=key[1]) for key in edges
                        if key[0] in shown and key[2] in shown and relation in {"", key[1]}]
    either = nx.Graph((head, tail) for head, _, tail in edges)
    either.add_nodes_from(node.id for node in nodes)
    for start in nodes[:4]:
        for end in nodes[:4] + nodes[-2:]:
            way = view.path(start.id, end.id)
            if not nx.has_path(either, start.id, end.id):
                assert way == []
                continue
            assert (way[0], way[-1], len(way) - 1) == (start, end, nx.shortest_path_length(either, start.id, end.id))
            assert all(either.has_edge(one.id, other.id) for one, other in pairwise(way))
