"""Dates and numbers of the graph that travel with the passages."""

from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.index.contents import facts_by_chunk
from banyan.schemas.documents import Span
from banyan.schemas.extraction import AttributeFact, BoundedExtraction, EntityMention
from banyan.schemas.graph_schema import AttributeType, GraphSchema, RulesHints, open_schema
from banyan.schemas.retrieval import TypedFact

TEXT = "The Elm is 900 long. It was dug in May 1801 by Carl Berg."
SCHEMA = GraphSchema(name="rivers", attribute_types=(
    AttributeType(name="length", kind="number", unit="m", labels={"zh": "长度"},
                  rules=RulesHints(cues={"en": ("long",)})),
    AttributeType(name="digger", kind="text")))


def graph(*attributes: tuple[str, str]) -> KnowledgeGraph:
    """A graph of one river with these (attribute, value)s, each stated by the sentence that holds it."""
    def span(words: str) -> Span:
        start = TEXT.index(words)
        return Span(start=start, end=start + len(words), quote=words)

    return KnowledgeGraph.of([("c1", BoundedExtraction(
        mentions=(EntityMention(name="Elm", type="River", span=span("Elm")),),
        attributes=tuple(AttributeFact(entity="Elm", entity_type="River", attribute=name, value=value, span=span(value))
                         for name, value in attributes)))])


def test_values_have_the_schemas_kind_unit_and_words():
    facts = facts_by_chunk(graph(("length", "900"), ("digger", "Carl Berg")), SCHEMA)
    assert facts == {"c1": (TypedFact(entities=("Elm",), asked_by=("length", "长度", "long"), value="900",
                                      normal="900 m", start=11, end=14),)}


def test_without_a_schema_values_tell_their_own_kind():
    facts = facts_by_chunk(graph(("dug", "May 1801"), ("digger", "Carl Berg")), open_schema())["c1"]
    assert [(fact.value, fact.normal, fact.asked_by) for fact in facts] == [("May 1801", "1801-05", ("dug",))]
