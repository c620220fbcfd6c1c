"""What is at the boundary of a community: eq. 4 of UniAI-GraphRAG by hand."""

from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.tree.community_digests import boundary
from banyan.schemas.documents import Span
from banyan.schemas.extraction import BoundedExtraction, EntityMention, Fact
from banyan.schemas.naming import entity_id

SPAN = Span(start=0, end=1, quote="x")


def graph_of(triples):
    names = sorted({end for head, _, tail in triples for end in (head, tail)})
    return KnowledgeGraph.of([("c", BoundedExtraction(
        mentions=tuple(EntityMention(name=name, type="Thing", span=SPAN) for name in names),
        facts=tuple(Fact(head=h, head_type="Thing", relation=r, tail=t, tail_type="Thing", span=SPAN)
                    for h, r, t in triples)))])


def test_neighbours_whose_links_lead_mostly_into_the_community_are_at_its_boundary():
    graph = graph_of([("U", "born_in", "A"), ("U", "spouse", "A"), ("B", "born_in", "U"), ("U", "born_in", "X"),
                      ("V", "born_in", "A"), ("V", "born_in", "X"), ("V", "born_in", "Y"), ("A", "born_in", "B")])
    inside = [entity_id(name, "Thing") for name in ("A", "B")]
    u, v = (entity_id(name, "Thing") for name in "UV")
    assert boundary(graph, inside, 0.5) == {u}, "two triples to one neighbour count once"
    assert boundary(graph, inside, 1 / 3) == {u, v}, "tau itself is enough"
    assert boundary(graph, [], 0) == set()
