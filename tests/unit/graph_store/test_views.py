"""Views: named partitions of the entities, functions of the graph alone; eq. 4 of UniAI-GraphRAG by hand."""


import numpy as np
import pytest
from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.tree.view_attributes import build_view
from banyan.graph_store.tree.view_boundary import boundary
from banyan.graph_store.tree.view_spec import ViewError, parse_view
from banyan.schemas.documents import Span
from banyan.schemas.extraction import AttributeFact, BoundedExtraction, EntityMention, Fact
from banyan.schemas.graph_schema import GraphSchema, open_schema
from banyan.schemas.naming import entity_id
from hypothesis import given, settings
from hypothesis import strategies as st

SPAN = Span(start=0, end=1, quote="x")
SCHEMA = GraphSchema.model_validate({
    "name": "films",
    "entity_types": [{"name": "Thing"}],
    "relation_types": [
        {"name": "directed_by", "labels": {"zh": "导演"}}, {"name": "born_in", "aliases": ["birthplace"]},
        {"name": "located_in", "inverse": "contains"}, {"name": "contains"}, {"name": "spouse", "symmetric": True}],
    "attribute_types": [{"name": "founded", "kind": "date"}, {"name": "length", "kind": "number", "unit": "km"},
                        {"name": "colour", "labels": {"zh": "颜色"}}, {"name": "rdf:type"}]})
VIEWS = ["attribute:founded", "attribute:founded:decade", "attribute:founded:value", "attribute:length:2",
         "attribute:length:value", "attribute:colour", "relation:located_in", "relation:^born_in"]


def graph_of(triples=(), values=(), lonely=(), other=None):
    """A graph of (head, relation, tail), (entity, attribute, value) and lonely entities of a chunk, and of another."""
    return KnowledgeGraph.of([("c", contribution(triples, values, lonely)), *([("other", other)] if other else [])])


def contribution(triples=(), values=(), lonely=()):
    names = {*lonely, *(one for one, _, _ in values), *(end for head, _, tail in triples for end in (head, tail))}
    return BoundedExtraction(
        mentions=tuple(EntityMention(name=name, type="Thing", span=SPAN) for name in sorted(names)),
        facts=tuple(Fact(head=h, head_type="Thing", relation=r, tail=t, tail_type="Thing", span=SPAN)
                    for h, r, t in triples),
        attributes=tuple(AttributeFact(entity=e, entity_type="Thing", attribute=a, value=v, span=SPAN)
                         for e, a, v in values))


def view(graph, spec, schema=SCHEMA):
    return build_view(graph, parse_view(spec, schema, graph))


def shown(graph, found):
    """The groups as (name, names of members); the rest under None."""
    return [(None if group.rest else group.name, {graph.entity(one).name for one in group.members})
            for group in found]


names = st.sampled_from("ABCDEFGH")
facts = st.tuples(names, st.sampled_from(["directed_by", "born_in", "located_in", "spouse"]), names)
attributes = st.one_of(
    st.tuples(names, st.just("founded"), st.sampled_from(["1867", "7 November 1867", "1990s", "44 BC", "5 March"])),
    st.tuples(names, st.just("length"), st.sampled_from(["5 km", "7", "5 km to 10 km", "12 miles", "long"])),
    st.tuples(names, st.just("colour"), st.sampled_from(["red", "Red", "绿色"])))
chunks = st.lists(st.tuples(st.lists(facts, max_size=4), st.lists(attributes, max_size=3)), max_size=5)


@settings(max_examples=60, deadline=None)
@given(chunks, st.sampled_from(VIEWS), st.randoms())
def test_every_view_covers_each_entity_once_whatever_the_order_of_insertion(parts, spec, random):
    def inserted(order):
        return KnowledgeGraph.of((f"c{number}", contribution(*parts[number])) for number in order)

    order = list(range(len(parts)))
    graph = inserted(order)
    found = view(graph, spec)
    assert sorted(one for group in found for one in group.members) == graph.entity_ids()
    assert all(group.members == tuple(sorted(group.members)) and group.members for group in found)
    assert sum(group.rest for group in found) <= 1
    random.shuffle(order)
    assert view(inserted(order), spec) == found


@settings(max_examples=40, deadline=None)
@given(chunks, st.floats(0, 1), st.data())
def test_a_boundary_is_what_eq_4_says(parts, tau, data):
    graph = KnowledgeGraph.of((f"c{number}", contribution(*part)) for number, part in enumerate(parts))
    ids = graph.entity_ids()
    communities = [data.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else [] for _ in range(3)]
    near = {one: {end for edge in graph.incident(one) for end in (edge[0], edge[2])} - {one} for one in ids}
    expected = [{u for u in ids if u not in c and near[u] & set(c) and len(near[u] & set(c)) / len(near[u]) >= tau}
                for c in communities]
    assert [boundary(graph, community, tau) for community in communities] == expected


def test_a_graph_of_thousands_is_seen_whole():
    count = 5000
    random = np.random.default_rng(1)
    graph = graph_of([(f"e{a}", "born_in", f"e{b}") for a, b in random.integers(0, count, (8000, 2))],
                     [(f"e{one}", "founded", str(1800 + one // 3 % 90)) for one in range(0, count, 3)])
    years = view(graph, "attribute:founded")
    assert [group.name for group in years] == [*map(str, range(1800, 1890)), "without founded"]


DATED = [("A", "founded", "7 November 1867"), ("B", "founded", "1867"), ("C", "founded", "1861"),
         ("D", "founded", "1990s"), ("E", "founded", "44 BC"), ("F", "founded", "5 March"),
         ("G", "founded", "1998-2003")]


@pytest.mark.parametrize(("spec", "expected"), [
    ("attribute:founded", [("44 BC", {"E"}), ("1861", {"C"}), ("1867", {"A", "B"}), ("1990–1999", {"D"}),
                           ("1998–2003", {"G"}), (None, {"F", "H"})]),
    ("attribute:founded:decade", [("51–42 BC", {"E"}), ("1860–1869", {"A", "B", "C"}), ("1990–1999", {"D"}),
                                  ("1998–2003", {"G"}), (None, {"F", "H"})]),
    ("attribute:founded:century", [("101–2 BC", {"E"}), ("1800–1899", {"A", "B", "C"}), ("1900–1999", {"D"}),
                                   ("1998–2003", {"G"}), (None, {"F", "H"})]),
    ("attribute:founded:value", [("XXXX-03-05", {"F"}), ("-0043", {"E"}), ("1861", {"C"}), ("1867", {"B"}),
                                 ("1867-11-07", {"A"}), ("199X", {"D"}), ("1998/2003", {"G"}), (None, {"H"})]),
])
def test_dates_are_grouped_by_period_as_far_as_they_are_precise(spec, expected):
    graph = graph_of(values=DATED, lonely=["H"])
    assert shown(graph, view(graph, spec)) == expected


def test_numbers_are_split_into_quantiles_within_their_unit():
    sizes = zip("ABCDEFGH", (1, 1, 1, 2, 3, 20, 100, 5), strict=True)
    graph = graph_of(values=[*((name, "length", f"{size} km") for name, size in sizes),
                             ("I", "length", "7"), ("J", "length", "5 ft 11 in"), ("K", "length", "5 ft")])
    assert shown(graph, view(graph, "attribute:length:2")) == [
        ("5 ft", {"K"}), ("5 ft 11 in", {"J"}), ("1 km – 3 km", {"A", "B", "C", "D", "E"}),
        ("5 km – 100 km", {"F", "G", "H", "I"})]
    quarters = view(graph, "attribute:length")
    assert ("1 km", {"A", "B", "C"}) in shown(graph, quarters), "equal numbers stay together"


def test_texts_are_grouped_whatever_their_spelling_under_the_usual_one():
    graph = graph_of(values=[("A", "colour", "Red"), ("B", "colour", "red"), ("C", "colour", "ｒｅｄ"),
                             ("D", "colour", "绿色")], other=contribution(values=[("C", "colour", "red")]))
    assert shown(graph, view(graph, "attribute:colour")) == [("red", {"A", "B", "C"}), ("绿色", {"D"})]


def test_of_several_values_the_best_supported_counts_then_the_first():
    graph = graph_of(values=[("A", "founded", "1861"), ("A", "founded", "1867"), ("B", "founded", "1867"),
                             ("B", "founded", "1861")],
                     other=contribution(values=[("A", "founded", "November 1867")]))
    assert shown(graph, view(graph, "attribute:founded")) == [("1861", {"B"}), ("1867", {"A"})]


def test_a_relation_groups_by_its_other_end():
    graph = graph_of([("Louvre", "located_in", "Paris"), ("Orsay", "located_in", "Paris"),
                      ("Prado", "located_in", "Madrid"), ("Prado", "located_in", "Spain"),
                      ("Paris", "located_in", "Paris")], other=contribution([("Prado", "located_in", "Spain")]))
    assert shown(graph, view(graph, "relation:located_in")) == [
        ("Paris", {"Louvre", "Orsay"}), ("Spain", {"Prado"}), (None, {"Paris", "Madrid", "Spain"})]
    assert shown(graph, view(graph, "relation:^located_in")) == [
        ("Louvre", {"Paris"}), ("Prado", {"Madrid", "Spain"}), (None, {"Louvre", "Orsay", "Prado"})]


def test_an_inverse_or_symmetric_relation_is_read_both_ways():
    graph = graph_of([("Paris", "contains", "Louvre"), ("Orsay", "located_in", "Paris"), ("Ada", "spouse", "Bob")])
    assert shown(graph, view(graph, "relation:located_in"))[0] == ("Paris", {"Louvre", "Orsay"})
    assert shown(graph, view(graph, "relation:^contains"))[0] == ("Paris", {"Louvre", "Orsay"})
    assert shown(graph, view(graph, "relation:spouse"))[:2] == [("Ada", {"Bob"}), ("Bob", {"Ada"})]


def test_neighbours_whose_links_lead_mostly_into_the_community_are_at_its_boundary():
    graph = graph_of([("U", "born_in", "A"), ("U", "spouse", "A"), ("B", "born_in", "U"), ("U", "born_in", "X"),
                      ("V", "born_in", "A"), ("V", "born_in", "X"), ("V", "born_in", "Y"), ("A", "born_in", "B")])
    inside = [entity_id(name, "Thing") for name in ("A", "B")]
    u, v = (entity_id(name, "Thing") for name in "UV")
    assert boundary(graph, inside, 0.5) == {u}, "two triples to one neighbour count once"
    assert boundary(graph, inside, 1 / 3) == {u, v}, "tau itself is enough"
    assert boundary(graph, [], 0) == set()


@pytest.mark.parametrize(("said", "name"), [
    ("Attribute：颜色", "attribute:colour"), ("attribute:rdf:type", "attribute:rdf:type"),
    ("attribute:Founded: Century", "attribute:founded:century"), ("relation:Birthplace", "relation:born_in"),
    ("relation:<located in", "relation:^located_in")])
def test_a_view_is_named_in_any_words_of_the_schema(said, name):
    assert parse_view(said, SCHEMA, KnowledgeGraph.of(())).view == name


@pytest.mark.parametrize(("said", "explained"), [
    ("topics", "say one of attribute:NAME"),
    ("modularity", "there is no view"),
    ("attribute:age", "no attribute 'age'; there are: colour, founded, length, rdf:type"),
    ("attribute:age:decade", "no attribute 'age'"),
    ("relation:", "no relation ''; there are: born_in, contains, directed_by, located_in, spouse"),
    ("relation:knows", "no relation 'knows'"),
    ("attribute:founded:month", "say one of year, decade, century, value"),
    ("attribute:length:1", "a number of quantiles, value"),
    ("attribute:colour:decade", "say one of value")])
def test_what_cannot_be_made_is_said_with_what_can(said, explained):
    with pytest.raises(ViewError, match="view") as error:
        parse_view(said, SCHEMA, KnowledgeGraph.of(()))
    assert explained in str(error.value)


def test_an_open_schema_takes_the_names_of_the_graph_in_all_their_spellings():
    graph = graph_of([("Louvre", "is in", "Paris"), ("Orsay", "Is In", "Paris")],
                     [("Louvre", "opened", "1793"), ("Orsay", "opened", "December 1986"), ("Orsay", "kind", "museum")])
    assert shown(graph, view(graph, "relation:is_in", open_schema())) == [("Paris", {"Louvre", "Orsay"}),
                                                                          (None, {"Paris"})]
    assert [name for name, _ in shown(graph, view(graph, "attribute:opened:decade", open_schema()))] == [
        "1790–1799", "1980–1989", None]
    with pytest.raises(ViewError, match="there are: kind, opened"):
        parse_view("attribute:closed", open_schema(), graph)
