"""The graph in columns is what its rows say: compared with dictionaries, for any aliases and any order of chunks."""

import pytest
from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.graph.resolved_graph import GraphEdits, ResolvedGraph
from banyan.graph_store.index.contents import build_graph_arrays, read_graph
from banyan.graph_store.store_errors import LedgerDamagedError
from banyan.schemas.documents import Span
from banyan.schemas.extraction import AttributeFact, BoundedExtraction, EntityMention, RelationFact
from banyan.schemas.graph_schema import ANY, GraphSchema
from banyan.schemas.naming import entity_id
from banyan.schemas.resolution import AliasRow
from hypothesis import given
from hypothesis import strategies as st

from ...admitted import graph_of

NAMES, TYPES = ("Ada", "ADA", "Bob", "北京", "Eva Q"), ("Person", "City")
named = st.tuples(st.sampled_from(NAMES), st.sampled_from(TYPES))
spans = st.builds(lambda start, length: Span(start=start, end=start + length, quote="x" * length),
                  st.integers(0, 9), st.integers(1, 3))
times = st.sampled_from(["", "in 2018", "since 2015"])
facts = st.tuples(named, st.sampled_from(["knows", "in"]), named, times, spans, st.sampled_from([0.5, 1.0]))
values = st.tuples(named, st.sampled_from(["age", "role"]), st.sampled_from(["1", "2"]), times, spans)
said = st.lists(st.tuples(st.lists(facts, max_size=4), st.lists(values, max_size=3)), min_size=1, max_size=4)
merged = st.dictionaries(named, st.sampled_from([("Bob", "Person"), ("Eva Q", "City")]), max_size=3)


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


@given(said, merged, st.randoms(use_true_random=False))
def test_a_resolved_graph_has_what_is_stated_of_all_members_of_a_node(drawn, same, random):
    chunks = [(f"c{number}", admitted(*one)) for number, one in enumerate(drawn)]
    random.shuffle(chunks)
    mentions = graph_of(chunks)
    aliases = {entity_id(*alias): entity_id(*of) for alias, of in same.items() if entity_id(*of) != entity_id(*alias)}
    aliases = {alias: of for alias, of in aliases.items() if of not in aliases and of in mentions}
    graph = ResolvedGraph(mentions, {alias: AliasRow(id=alias, canonical=of, type="Person", partner=of, rule="manual",
                                                     score=1.0) for alias, of in aliases.items()})
    names, triples, loops, held = {}, {}, set(), {}
    for number, (stated, valued) in enumerate(drawn):
        def node(end):
            entity = entity_id(*end)
            return aliases.get(entity, entity)

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
    ids = {entity_id(*alias): entity_id(*of) for alias, of in same.items() if entity_id(*of) in mentions}
    aliases = {alias: AliasRow(id=alias, canonical=of, type="Person", partner=of, rule="manual", score=1.0)
               for alias, of in ids.items() if of not in ids}
    schema = GraphSchema.model_validate({
        "name": "s", "entity_types": [{"name": kind} for kind in TYPES],
        "relation_types": [{"name": "knows", "domain": [ANY], "range": [ANY], "functional": True}],
        "attribute_types": [{"name": "age", "owners": [ANY], "functional": True}]})
    graph = ResolvedGraph(mentions, aliases, GraphEdits((), schema))
    assert KnowledgeGraph(*read_graph(build_graph_arrays(graph))).dump() == graph.dump()


def test_a_fact_about_an_entity_that_nothing_mentions_is_damage():
    fact = RelationFact(head="Ada", head_type="Person", relation="knows", tail="Bob", tail_type="Person",
                span=Span(start=0, end=1, quote="x"))
    with pytest.raises(LedgerDamagedError, match="no chunk mentions"):
        graph_of([("c", BoundedExtraction(facts=(fact,)))])
