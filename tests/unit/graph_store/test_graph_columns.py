"""The graph in columns, and its view, are what the rows say: for any aliases and any order of chunks."""

from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

import networkx as nx
import pytest
from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.graph.resolved_graph import ResolvedGraph
from banyan.graph_store.graph_index import GraphIndex
from banyan.graph_store.index.contents import build_graph_arrays, read_graph
from banyan.graph_store.ledger.entity_rows import TreeCommunity
from banyan.graph_store.store_errors import LedgerDamagedError
from banyan.schemas.documents import Chunk, Span
from banyan.schemas.extraction import AttributeFact, BoundedExtraction, EntityMention, RelationFact
from banyan.schemas.graph_schema import ANY, GraphSchema
from banyan.schemas.naming import canonical_name, entity_id, normalise, triple_id
from banyan.schemas.resolution import AliasRow
from banyan.server.graph_view import Edge, GraphView, Node
from hypothesis import given
from hypothesis import strategies as st

from ... import graph_index as graphs
from ... import hashed_embedding as hashed
from ...admitted import graph_of
from ...newest import dump_graph

NAMES, TYPES = ("Ada", "ADA", "Bob", "北京", "Eva Q"), ("Person", "City")
SHOWN = ("Ada Byron", "ADA  BYRON", "Ａda Byron", "“Ada Byron”", "Ada", "Byron", "Ada Byron Lovelace", "a", "!", "ß",
         "Ulm\nam Rhein", "宁波", "「宁波」", "宁波市", "林小雨")
SEARCHED = (*SHOWN, " ", "da by", "波", "\n", "nobody", "A" * 90)
spans = st.builds(lambda start, length: Span(start=start, end=start + length, quote="x" * length),
                  st.integers(0, 9), st.integers(1, 3))
times = st.sampled_from(["", "in 2018", "since 2015"])


def statements(names):
    named = st.tuples(st.sampled_from(names), st.sampled_from(TYPES))
    facts = st.tuples(named, st.sampled_from(["knows", "in"]), named, times, spans, st.sampled_from([0.5, 1.0]))
    values = st.tuples(named, st.sampled_from(["age", "role"]), st.sampled_from(["1", "2"]), times, spans)
    return st.lists(st.tuples(st.lists(facts, max_size=4), st.lists(values, max_size=3)), min_size=1, max_size=4)


said = statements(NAMES)
named = st.tuples(st.sampled_from(NAMES), st.sampled_from(TYPES))
merged = st.dictionaries(named, st.sampled_from([("Bob", "Person"), ("Eva Q", "City")]), max_size=3)
shown = st.tuples(statements(SHOWN), st.dictionaries(*[st.tuples(st.sampled_from(SHOWN), st.sampled_from(TYPES))] * 2,
                                                     max_size=4), st.integers(1, 4))


def admitted(stated, valued):
    ends = dict.fromkeys([end for head, _, tail, *_ in stated for end in (head, tail)] + [one[0] for one in valued])
    return BoundedExtraction(
        mentions=tuple(EntityMention(name=name, type=kind, span=Span(start=0, end=1, quote="x"))
                       for name, kind in ends),
        facts=tuple(RelationFact(head=head[0], head_type=head[1], relation=relation, tail=tail[0], tail_type=tail[1],
                                 time=time, span=span, confidence=confidence)
                    for head, relation, tail, time, span, confidence in stated),
        attributes=tuple(AttributeFact(entity=owner[0], entity_type=owner[1], attribute=attribute, value=value,
                                       time=time, span=span) for owner, attribute, value, time, span in valued))


def aliases_of(same):
    ids = {entity_id(*alias): entity_id(*of) for alias, of in same.items()}
    return {alias: AliasRow(id=alias, canonical=of, type="Person", partner=of, rule="manual", score=1.0)
            for alias, of in ids.items() if of not in ids}


@given(said, merged, st.randoms(use_true_random=False))
def test_a_resolved_graph_has_what_is_stated_of_all_members_of_a_node(drawn, same, random):
    chunks = [(f"c{number}", admitted(*one)) for number, one in enumerate(drawn)]
    random.shuffle(chunks)
    mentions = graph_of(chunks)
    aliases = aliases_of({alias: of for alias, of in same.items()
                          if entity_id(*of) != entity_id(*alias) and entity_id(*of) in mentions})
    graph = ResolvedGraph(mentions, aliases)
    names, triples, loops, held = {}, {}, set(), {}
    for number, (stated, valued) in enumerate(drawn):
        def node(end):
            entity = entity_id(*end)
            return aliases[entity].canonical if entity in aliases else entity

        for end in [end for head, _, tail, *_ in stated for end in (head, tail)] + [one[0] for one in valued]:
            names.setdefault(node(end), {}).setdefault(end[0], set()).add(f"c{number}")
        for head, relation, tail, time, span, confidence in stated:
            key = node(head), relation, node(tail)
            if key[0] == key[2] and entity_id(*head) != entity_id(*tail):
                loops.add(key)
            places = triples.setdefault(key, {}).setdefault(f"c{number}", [])
            places.append((-confidence, span.start, span.end, time))
        for owner, attribute, value, time, span in valued:
            places = held.setdefault(node(owner), {}).setdefault((attribute, value), {}).setdefault(f"c{number}", [])
            places.append((span.start, span.end, time))
    assert graph.entity_ids() == sorted(names)
    for entity, own in names.items():
        assert {name: set(places) for name, places in graph.spellings(entity).items()} == own
        assert {(attribute, value): places for attribute, found in graph.values(entity).items()
                for value, places in found.items()} == {
            key: {chunk: list(min(places)[:2]) for chunk, places in of.items()}
            for key, of in held.get(entity, {}).items()}
    assert graph.edges() == sorted(triples.keys() - loops)
    for key in graph.edges():
        assert graph.support(key) == {
            chunk: [*min(places)[1:3], -min(places)[0]] for chunk, places in triples[key].items()}
        dated = {time for places in triples[key].values() for *_, time in places} - {""}
        assert graph.times_of(graph.triple_row(key)).keys() == dated


@given(said, merged)
def test_a_stored_graph_is_the_graph(drawn, same):
    mentions = graph_of([(f"c{number}", admitted(*one)) for number, one in enumerate(drawn)])
    aliases = aliases_of({alias: of for alias, of in same.items() if entity_id(*of) in mentions})
    schema = GraphSchema.model_validate({
        "name": "s", "entity_types": [{"name": kind} for kind in TYPES],
        "relation_types": [{"name": "knows", "domain": [ANY], "range": [ANY], "functional": True}],
        "attribute_types": [{"name": "age", "owners": [ANY], "functional": True}]})
    graph = ResolvedGraph(mentions, aliases, (), schema)
    assert dump_graph(KnowledgeGraph(*read_graph(build_graph_arrays(graph)))) == dump_graph(graph)


def test_a_fact_about_an_entity_that_nothing_mentions_is_damage():
    fact = RelationFact(head="Ada", head_type="Person", relation="knows", tail="Bob", tail_type="Person",
                span=Span(start=0, end=1, quote="x"))
    with pytest.raises(LedgerDamagedError, match="no chunk mentions"):
        graph_of([("c", BoundedExtraction(facts=(fact,)))])


def made(drawn, same, size):
    graph = ResolvedGraph(graph_of((f"chunk{number}", admitted(*one)) for number, one in enumerate(drawn)),
                          aliases_of(same))
    chunks = [Chunk(id=f"chunk{number}", document_id=f"doc{number}", title="", text="text of a chunk", start=0, end=15,
                    ordinal=0) for number in range(len(drawn))]
    known = graph.entity_ids()[1:]  # the first is in none
    communities = [TreeCommunity(id=f"c{at:03d}", members=tuple(known[at:at + size]), keywords=())
                   for at in range(0, len(known), size)]
    index = GraphIndex(graphs.GraphAlone(graph, hashed.HashedEmbedder(), chunks, communities))
    return graph, communities, GraphView(SimpleNamespace(index=index))


def expected_nodes(graph, communities):
    """All entities as they are drawn: those that most documents mention first, each chunk being one; then by facts."""
    of = {member: community.id for community in communities for member in community.members}
    nodes = [Node(id=one, name=graph.name(one), type=graph.type(one),
                  degree=graph.degree(one), support=len(graph.entity_support(one)),
                  community=of.get(one)) for one in graph.entity_ids()]
    return sorted(nodes, key=lambda node: (-node.support, -node.degree, node.name, node.id))


@given(shown)
def test_entities_and_their_search_are_those_of_the_graph(drawn):
    graph, communities, view = made(*drawn)
    nodes = expected_nodes(graph, communities)
    assert list(view.matching()) == nodes
    assert [view.node(node.id) for node in nodes] == nodes
    assert list(view.find({node.id for node in nodes} | {"no such"})) == nodes
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
            assert [*view.make_nodes(view.index.find_containing(words, kind))] == [node for *_, node in found]
    called = {node.id: node for name in SEARCHED for node in nodes
              if canonical_name(name) in map(canonical_name, graph.names(node.id))}
    rows = dict.fromkeys(row for name in SEARCHED for row in view.index.find_named(name).tolist())
    assert [*map(view.make_node, rows)] == list(called.values())


@given(shown)
def test_filters_facts_among_entities_and_ways_are_those_of_the_graph(drawn):
    graph, communities, view = made(*drawn)
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
                        Edge(id=triple_id(*key), source=key[0], target=key[2], relation=key[1],
                             **dict(zip(("start", "end"), graph.validity(key).bounds(), strict=True))) for key in edges
                        if key[0] in shown and key[2] in shown and relation in {"", key[1]}]
    either = nx.Graph((head, tail) for head, _, tail in edges)
    either.add_nodes_from(node.id for node in nodes)
    for start in nodes[:4]:
        for end in nodes[:4] + nodes[-2:]:
            way = view.path(start, end)
            if not nx.has_path(either, start.id, end.id):
                assert way == []
                continue
            assert (way[0], way[-1], len(way) - 1) == (start, end, nx.shortest_path_length(either, start.id, end.id))
            assert all(either.has_edge(one.id, other.id) for one, other in pairwise(way))
