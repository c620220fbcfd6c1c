"""What of an extraction is admitted: only what fits the schema and stands in the source."""

import pytest
from banyan.graph_store.bounding.admission import Bounds, bound
from banyan.schemas.documents import Chunk
from banyan.schemas.extraction import ExtractedEntity, ExtractedTriple, Extraction
from banyan.schemas.graph_schema import GraphSchema, open_schema

from ... import scripted
from ...small_base import said

SCHEMA = scripted.schema()
BOUNDS, OPEN = Bounds(SCHEMA), Bounds(open_schema())


def chunk(text, title="", heading=""):
    return Chunk(id="c", document_id="d", ordinal=0, start=0, end=len(text), text=text, title=title, heading=heading)


TEXT = "Ada works for Acme in Bonn. Acme was founded in 1999. Bob is there too."
PEOPLE = [("Ada", "Person"), ("Bob", "Person"), ("Acme", "Organization"), ("Bonn", "Place")]


def admitted(result):
    return {(fact.head, fact.relation, fact.tail) for fact in result.facts}


def reasons(result):
    return [rejection.reason for rejection in result.rejections]


def test_what_fits_and_stands_in_the_source_is_admitted():
    result = bound(said(PEOPLE, [("Ada", "employer", "Acme"), ("Acme", "located_in", "Bonn")],
                        [("Acme", "founded", "1999")]), chunk(TEXT), BOUNDS)
    assert admitted(result) == {("Ada", "employer", "Acme"), ("Acme", "located_in", "Bonn")}
    assert [(a.entity, a.attribute, a.value) for a in result.attributes] == [("Acme", "founded", "1999")]
    assert {m.name: m.span.start for m in result.mentions} == {name: TEXT.index(name) for name, _ in PEOPLE}
    assert result.facts[0].span.quote in TEXT
    assert result.attributes[0].span.quote == "Acme was founded in 1999."
    assert result.rejections == ()
    assert result.repairs == {}


def test_a_fact_is_not_turned_round_where_a_type_may_be_too_general():
    schema = GraphSchema.model_validate({
        "name": "s", "entity_types": [{"name": "Concept"}, {"name": "Feature", "parent": "Concept"}],
        "relation_types": [{"name": "triggered_by", "domain": ["Feature"], "range": ["Concept"]}]})
    result = bound(said([("upgrades", "Concept"), ("epochs", "Feature")], [("upgrades", "triggered_by", "epochs")]),
                   chunk("Here upgrades are started: epochs do it."), Bounds(schema))
    assert (result.facts, reasons(result)) == ((), ["domain_range"])


def test_a_fact_is_not_turned_round_against_its_words():
    facts = said(PEOPLE, [("Acme", "employer", "Ada")])
    stated = bound(facts, chunk("Acme has as employer Ada. Bonn."), BOUNDS)
    assert (admitted(stated), reasons(stated)[0]) == (set(), "domain_range")
    assert [(ask.label, ask.subject_type, ask.object_type) for ask in stated.asks] == [
        ("employer", "Organization", "Person")]
    assert admitted(bound(facts, chunk("Ada has as employer Acme. Bonn."), BOUNDS)) == {("Ada", "employer", "Acme")}


@pytest.mark.parametrize(("triple", "reason"), [
    (("Ada", "plays", "Bob"), "unknown_relation"), (("Ada", "employer", "Bonn"), "domain_range"),
    (("Bonn", "knows", "Acme"), "domain_range"), (("Ada", "knows", "ADA."), "self_loop"),
    (("Ada", "knows", "Cem"), "ungrounded"), (("Ada", " ", "Bob"), "unknown_relation"),
    (("Ada", "knows", "person"), "type_as_name"), (("Ada", "plays", "there"), "undeclared_entity"),
])
def test_a_triple_that_does_not_fit_is_rejected_with_its_reason(triple, reason):
    result = bound(said(PEOPLE, [triple]), chunk(TEXT), BOUNDS)
    assert result.facts == ()
    assert reasons(result) == [reason]
    assert result.rejections[0].text == f"({triple[0]}; {triple[1]}; {triple[2]})"


@pytest.mark.parametrize("relation", ["employer", "Employer", "works for", "Works-For", "works_for", "雇主",
                                      " EMPLOYER "])
@pytest.mark.parametrize("kind", ["Organization", "firm", "ORGANIZATION"])
def test_aliases_and_labels_of_other_languages_lead_to_the_element(relation, kind):
    result = bound(said([("Ada", "人物"), ("Acme", kind)], [("Ada", relation, "Acme")]), chunk(TEXT), BOUNDS)
    assert [(f.head_type, f.relation, f.tail_type) for f in result.facts] == [("Person", "employer", "Organization")]


def test_the_open_schema_admits_every_relation_and_type_but_nothing_ungrounded():
    result = bound(said([("Ada", "Mathematician")], [("Ada", "dreams of", "Bonn"), ("Ada", "saw", "Mars")]),
                   chunk(TEXT), OPEN)
    assert admitted(result) == {("Ada", "dreams of", "Bonn")}
    assert {(m.name, m.type) for m in result.mentions} == {("Ada", "Mathematician"), ("Bonn", "Entity")}
    assert set(reasons(result)) == {"ungrounded"}
    assert reasons(bound(said([], [("Ada", " ", "Bonn")]), chunk(TEXT), OPEN)) == ["unknown_relation"]


def test_names_and_values_are_stored_on_one_line_and_quotes_as_they_are_written():
    text = ("Ada  Mei\nLovelace works for Acme\n Works. Acme\nWorks was founded in May\n1999. "
            "王\n小明 works for Acme Works.")
    people = [("Ada Mei Lovelace", "Person"), ("Acme Works", "Organization"), ("王小明", "Person")]
    stated = [("Ada Mei Lovelace", "employer", "Acme\nWorks"), ("王小明", "employer", "Acme Works")]
    result = bound(said(people, stated, [("Acme Works", "founded", "May\n1999")]), chunk(text), BOUNDS)
    assert admitted(result) == {("Ada Mei Lovelace", "employer", "Acme Works"), ("王小明", "employer", "Acme Works")}
    assert [(a.entity, a.value, a.normal) for a in result.attributes] == [("Acme Works", "May 1999", "1999-05")]
    assert {m.name for m in result.mentions} == {"Ada Mei Lovelace", "Acme Works", "王小明"}
    assert any("\n" in mention.span.quote for mention in result.mentions)
    assert all(text[m.span.start:m.span.end] == m.span.quote for m in result.mentions)


@pytest.mark.parametrize(("text", "is_declared"), [
    ("| Name: Ada | Sponsor: Bob |", True), ("*Sponsor*: Bob, of Ada\n", True), ("## Sponsor\n\n* Bob, of Ada\n", True),
    ("**Sponsor:**\n\n* Bob, of Ada\n", True), ("## Ada\n\nBob is her sponsor.\n", False),
    ("Bob: sponsor of Ada\n", False)])
def test_a_label_is_declared_by_a_header_a_field_or_a_heading(text, is_declared):
    words = next(line for line in text.split("\n") if "Bob" in line)
    people = tuple(ExtractedEntity(name=name, type="Person") for name in ("Ada", "Bob"))
    stated = Extraction(entities=people,
                        triples=(ExtractedTriple(head="Ada", relation="sponsor", tail="Bob", evidence=words),))
    assert [ask.declared for ask in bound(stated, chunk(text, title="Ada"), BOUNDS).asks] == [is_declared]
