"""Bounding under any schema: what labels mean, what is inferred and repaired, and what is asked for."""

import pytest
from banyan.graph_store.bounding.admission import bound
from banyan.graph_store.bounding.labels import Bounds
from banyan.schemas.documents import Chunk
from banyan.schemas.extraction import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction
from banyan.schemas.graph_schema import AttributeType, EntityType, GraphSchema, open_schema
from banyan.schemas.naming import canonical_name, label_key
from hypothesis import example, given
from hypothesis import strategies as st

from ... import scripted
from ...small_base import said


def schema(types=(), relations=(), attributes=(), **others):
    return GraphSchema(name="s", entity_types=types, relation_types=relations, attribute_types=attributes, **others)


def chunk(text, title=""):
    return Chunk(id="c", document_id="d", ordinal=0, start=0, end=len(text), text=text, title=title)


def facts(result):
    return {(f.head, f.relation, f.tail) for f in result.facts}


def mentions(result):
    return {m.name: m.type for m in result.mentions}


def reasons(result):
    return sorted(r.reason for r in result.rejections)


FILMS = schema(
    types=[{"name": "Film", "aliases": ["movie"], "labels": {"zh": "电影"}}, {"name": "Person"},
           {"name": "Company"}, {"name": "Entity"}],
    relations=[{"name": "directed_by", "domain": ["Film"], "range": ["Person"], "inverse": "director_of"},
               {"name": "director_of", "domain": ["Person"], "range": ["Film"]},
               {"name": "acquired", "domain": ["Company"], "range": ["Company"]},
               {"name": "spouse", "domain": ["Person"], "range": ["Person"], "symmetric": True},
               {"name": "release", "domain": ["Film"]}],
    attributes=[{"name": "budget", "owners": ["Film"], "kind": "number", "unit": "USD"},
                {"name": "premiere", "kind": "date"}, {"name": "alias"}, {"name": "tone"}])
STAFF = Bounds(scripted.schema())
STAFF_TEXT = "Ada works for Acme in Bonn. Acme was founded in 1999. Bob is there too."
PEOPLE = [("Ada", "Person"), ("Bob", "Person"), ("Acme", "Organization"), ("Bonn", "Place")]
FILM_TEXT = ("Bleach (2010) was directed by Abe, the husband of Rin. "
             "Acme bought Bolt. It cost $3 million and opened on May 7, 2010.")


@pytest.mark.parametrize(("label", "name", "repair"), [
    ("movie", "Film", None), ("movies", "Film", "mapped_label"), ("historical film", None, None),
    ("film director", None, None), ("filmlet", None, None), ("影", None, None)])
def test_a_type_is_mapped_by_inflection_alone(label, name, repair):
    result = bound(said([("Bleach", label)]), chunk(FILM_TEXT), Bounds(FILMS))
    assert mentions(result) == ({"Bleach": name} if name else {})
    assert result.repairs == ({repair: 1} if repair else {})
    assert [(a.kind, a.label) for a in result.asks] == ([] if name else [("entity_type", label_key(label))])


@pytest.mark.parametrize(("label", "fact"), [
    ("is directed by", ("Bleach", "directed_by", "Abe")), ("directing by", ("Bleach", "directed_by", "Abe")),
])
def test_a_relation_is_mapped_by_inflection_where_the_types_tell_its_direction(label, fact):
    result = bound(said([("Bleach", "Film"), ("Abe", "Person")], [("Abe", label, "Bleach")]), chunk(FILM_TEXT),
                   Bounds(FILMS))
    assert facts(result) == {fact}
    assert result.repairs == {"mapped_label": 1, "swapped": 1}


def test_who_did_it_to_whom_is_not_guessed():
    companies = [("Acme", "Company"), ("Bolt", "Company")]
    result = bound(said(companies, [("Acme", "acquired by", "Bolt")]), chunk(FILM_TEXT), Bounds(FILMS))
    assert reasons(result) == ["unknown_relation"]
    assert [ask.label for ask in result.asks] == ["acquired by"]
    plain = bound(said(companies, [("Acme", "acquires", "Bolt")]), chunk(FILM_TEXT), Bounds(FILMS))
    assert facts(plain) == {("Acme", "acquired", "Bolt")}


def test_symmetric_and_inverse_statements_are_one_fact():
    people = [("Rin", "Person"), ("Abe", "Person"), ("Bleach", "Film")]
    both = [("Rin", "spouse", "Abe"), ("Abe", "spouse", "Rin"), ("Abe", "director_of", "Bleach"),
            ("Bleach", "directed_by", "Abe")]
    expected = {("Abe", "spouse", "Rin"), ("Bleach", "directed_by", "Abe")}
    for triples in (both, both[::-1], both[:1] + both[2:3], both[1:2] + both[3:]):
        result = bound(said(people, triples), chunk(FILM_TEXT), Bounds(FILMS))
        assert facts(result) == expected
        assert result.repairs == {}


def test_an_entity_without_a_type_takes_the_one_that_most_of_its_facts_ask_for():
    triples = [("Bleach", "directed_by", "Abe"), ("Abe", "director_of", "Bleach"), ("Bleach", "spouse", "Rin")]
    result = bound(said([("Bleach", "")], triples), chunk(FILM_TEXT), Bounds(FILMS))
    assert mentions(result) == {"Bleach": "Film", "Abe": "Person"}
    assert facts(result) == {("Bleach", "directed_by", "Abe")}
    assert reasons(result) == ["domain_range"]
    assert result.repairs == {"inferred_type": 2}


@pytest.mark.parametrize(("attribute", "value", "expected"), [
    ("budget", "3000000", ("$3 million", "3000000 USD")), ("budget", "$3 million", ("$3 million", "3000000 USD")),
    ("premiere", "2010-05-07", ("May 7, 2010", "2010-05-07")),
    ("premiere", "May 7, 2010", ("May 7, 2010", "2010-05-07")), ("budget", "Acme", "wrong_kind"),
    ("premiere", "Rin", "wrong_kind"), ("premiere", "1999", "ungrounded"), ("tone", "husband", ("husband", ""))])
def test_values_are_of_their_kind_and_in_the_source_s_words(attribute, value, expected):
    result = bound(said([("Bleach", "Film")], [], [("Bleach", attribute, value)]), chunk(FILM_TEXT), Bounds(FILMS))
    if isinstance(expected, str):
        assert reasons(result) == [expected]
    else:
        assert [(a.value, a.normal) for a in result.attributes] == [expected]
        assert result.repairs == ({} if value == expected[0] else {"normalised_value": 1})


def test_asks_are_what_could_be_admitted_if_the_label_were_known():
    entities = [("Bleach", "Film"), ("Abe", "Samurai"), ("Rin", "Person"), ("Zuse", "Robot")]
    triples = [("Bleach", "praises", "Rin"), ("Abe", "praises", "Rin"), ("Abe", "spouse", "Rin"),
               ("Rin", "praises", "Rin"), ("Zuse", "praises", "Rin"), ("Rin", " ", "Abe")]
    attributes = [("Abe", "age", "2010"), ("Bleach", "income", "3 million dollars"), ("Rin", "age", "77"),
                  ("Rin", "rank", "husband")]
    result = bound(said(entities, triples, attributes), chunk(FILM_TEXT), Bounds(FILMS))
    assert {(a.kind, a.label, a.subject_type, a.object_type) for a in result.asks} == {
        ("entity_type", "samurai", "", ""), ("relation", "praises", "Film", "Person"),
        ("relation", "praises", "samurai", "Person"), ("attribute", "age", "samurai", "date"),
        ("attribute", "income", "Film", "number"), ("attribute", "rank", "Person", "text")}
    assert all(FILM_TEXT[a.context.start:a.context.end] == a.context.quote for a in result.asks)
    waiting = {r.text: r.label for r in result.rejections if r.reason == "unknown_entity_type"}
    assert waiting == {"Abe": "samurai", "(Abe; spouse; Rin)": "samurai"}
    assert bound(said(entities, triples, attributes), chunk(FILM_TEXT), Bounds(open_schema())).asks == ()


def test_a_fact_is_not_turned_round_where_a_type_may_be_too_general():
    schema = GraphSchema.model_validate({
        "name": "s", "entity_types": [{"name": "Concept"}, {"name": "Feature", "parent": "Concept"}],
        "relation_types": [{"name": "triggered_by", "domain": ["Feature"], "range": ["Concept"]}]})
    result = bound(said([("upgrades", "Concept"), ("epochs", "Feature")], [("upgrades", "triggered_by", "epochs")]),
                   chunk("Here upgrades are started: epochs do it."), Bounds(schema))
    assert (result.facts, reasons(result)) == ((), ["domain_range"])


def test_a_fact_is_not_turned_round_against_its_words():
    given_facts = said(PEOPLE, [("Acme", "employer", "Ada")])
    stated = bound(given_facts, chunk("Acme has as employer Ada. Bonn."), STAFF)
    assert (facts(stated), reasons(stated)) == (set(), ["domain_range", "ungrounded"])
    assert [(ask.label, ask.subject_type, ask.object_type) for ask in stated.asks] == [
        ("employer", "Organization", "Person")]
    assert facts(bound(given_facts, chunk("Ada has as employer Acme. Bonn."), STAFF)) == {("Ada", "employer", "Acme")}


@pytest.mark.parametrize(("triple", "reason"), [
    (("Ada", "plays", "Bob"), "unknown_relation"), (("Ada", "employer", "Bonn"), "domain_range"),
    (("Bonn", "knows", "Acme"), "domain_range"), (("Ada", "knows", "ADA."), "self_loop"),
    (("Ada", "knows", "Cem"), "ungrounded"), (("Ada", " ", "Bob"), "unknown_relation"),
    (("Ada", "knows", "person"), "type_as_name"), (("Ada", "plays", "there"), "undeclared_entity")])
def test_a_triple_that_does_not_fit_is_rejected_with_its_reason(triple, reason):
    result = bound(said(PEOPLE, [triple]), chunk(STAFF_TEXT), STAFF)
    assert result.facts == ()
    assert reasons(result) == [reason]
    assert result.rejections[0].text == f"({triple[0]}; {triple[1]}; {triple[2]})"


@pytest.mark.parametrize("relation", ["works for", "Works-For", "雇主", " EMPLOYER "])
@pytest.mark.parametrize("kind", ["firm", "ORGANIZATION"])
def test_aliases_and_labels_of_other_languages_lead_to_the_element(relation, kind):
    result = bound(said([("Ada", "人物"), ("Acme", kind)], [("Ada", relation, "Acme")]), chunk(STAFF_TEXT), STAFF)
    assert [(f.head_type, f.relation, f.tail_type) for f in result.facts] == [("Person", "employer", "Organization")]


def test_the_open_schema_admits_every_relation_and_type_but_nothing_ungrounded():
    result = bound(said([("Ada", "Mathematician")], [("Ada", "dreams of", "Bonn"), ("Ada", "saw", "Mars")]),
                   chunk(STAFF_TEXT), Bounds(open_schema()))
    assert facts(result) == {("Ada", "dreams of", "Bonn")}
    assert {(m.name, m.type) for m in result.mentions} == {("Ada", "Mathematician"), ("Bonn", "Entity")}
    assert set(reasons(result)) == {"ungrounded"}
    blank = bound(said([], [("Ada", " ", "Bonn")]), chunk(STAFF_TEXT), Bounds(open_schema()))
    assert reasons(blank) == ["unknown_relation"]


def test_names_and_values_are_stored_on_one_line_and_quotes_as_they_are_written():
    text = ("Ada  Mei\nLovelace works for Acme\n Works. Acme\nWorks was founded in May\n1999. "
            "王\n小明 works for Acme Works.")
    people = [("Ada Mei Lovelace", "Person"), ("Acme Works", "Organization"), ("王小明", "Person")]
    stated = [("Ada Mei Lovelace", "employer", "Acme\nWorks"), ("王小明", "employer", "Acme Works")]
    result = bound(said(people, stated, [("Acme Works", "founded", "May\n1999")]), chunk(text), STAFF)
    assert facts(result) == {("Ada Mei Lovelace", "employer", "Acme Works"), ("王小明", "employer", "Acme Works")}
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
    assert [ask.declared for ask in bound(stated, chunk(text, title="Ada"), STAFF).asks] == [is_declared]


TYPES = ["Film", "Silent Film", "Person", "Entity", "电影"]
RELATIONS = ["directed_by", "directed", "directs", "spouse", "knows", "praised by", "praises"]
VALUES = ["born", "height", "alias", "borns"]
NAMES = ["Ada", "Bob", "film", "Film", "Cem", "2010", "May 7, 2010", "2010-05-07", "x", "Rin's", "silent film", "Acme",
         "ADA", "Ａｄａ", "zoe", "Zoe\u0308", "STRASSE", "fin", "京", "İzmir", "nowhere", "«Acme»", " Bob. ", "!"]
SOURCE = ("Ada and Bob met Rin in 2010 at Acme. May 7, 2010: Cem filmed a silent film of 3 km, 3,000 m or ３ km. "
          "Zoë's ﬁn: Straße 🙂 İzmir\u3000北京。")


@st.composite
def schemas(draw):
    names = draw(st.lists(st.sampled_from(TYPES), unique=True, max_size=4))
    ends = st.lists(st.sampled_from(["*", *names]), min_size=1, max_size=2, unique=True)
    types = [{"name": name, "parent": draw(st.sampled_from([None, *names[:at]])),
              "last_resort": draw(st.integers(0, 3)) == 0} for at, name in enumerate(names)]
    relations = [{"name": name, "domain": draw(ends), "range": draw(ends), "symmetric": draw(st.booleans())}
                 for name in draw(st.lists(st.sampled_from(RELATIONS), unique=True, max_size=4))]
    if len(relations) > 1 and not (relations[0]["symmetric"] or relations[1]["symmetric"]):
        relations[draw(st.integers(0, 1))]["inverse"] = relations[draw(st.integers(0, 1))]["name"]
        relations = [r | {"inverse": None} if r.get("inverse") == r["name"] else r for r in relations]
    attributes = [{"name": name, "owners": draw(ends), "kind": draw(st.sampled_from(["text", "number", "date"])),
                   "unit": draw(st.sampled_from(["", "km"]))}
                  for name in draw(st.lists(st.sampled_from(VALUES), unique=True, max_size=3))]
    return schema(types, relations, attributes, open=draw(st.integers(0, 5)) == 0)


sure = st.sampled_from([0.2, 0.5, 1.0])
times = st.sampled_from(["", "in 2010", "7 May 2010", "2010 since", "as of May 2010", "former", "role: Bob",
                         "in 2010; role: Bob; seat: 99999", "in 99999"])
extractions = st.builds(
    Extraction,
    entities=st.lists(st.builds(ExtractedEntity, name=st.sampled_from(NAMES), confidence=sure,
                                type=st.sampled_from([*TYPES, "", "films", "Robot", "robots"])), max_size=6).map(tuple),
    triples=st.lists(st.builds(ExtractedTriple, head=st.sampled_from(NAMES), confidence=sure,
                               relation=st.sampled_from([*RELATIONS, "is directed by", "eats", ""[:1] or " "]),
                               tail=st.sampled_from(NAMES), time=times,
                               evidence=st.sampled_from(["", "met Rin in", "Cem filmed"])),
                     max_size=6).map(tuple),
    attributes=st.lists(st.builds(ExtractedAttribute, entity=st.sampled_from(NAMES), confidence=sure, time=times,
                                  attribute=st.sampled_from([*VALUES, "depth"]),
                                  value=st.sampled_from([*NAMES, "3 km", "3000 m", "3"])), max_size=4).map(tuple))
titles = st.sampled_from(["", "Ada Film"])


@example(GraphSchema(name="s", open=True, attribute_types=(AttributeType(name="alias"),)),
         Extraction(attributes=(ExtractedAttribute(entity="x", attribute="alias", value="Ada"),)), "")
@example(GraphSchema(name="s", open=True, entity_types=(EntityType(name="Film"),),
                     attribute_types=(AttributeType(name="alias"),)),
         Extraction(attributes=(ExtractedAttribute(entity="x", attribute="alias", value="film"),)), "")
@given(schemas(), extractions, titles)
def test_every_fact_fits_and_is_quoted_and_a_second_bounding_changes_nothing(graph_schema, extraction, title):
    bounds = Bounds(graph_schema)
    result = bound(extraction, chunk(SOURCE, title), bounds)
    mentioned = {(mention.name, mention.type) for mention in result.mentions}
    assert len({canonical_name(mention.name) for mention in result.mentions}) == len(result.mentions)
    for fact in result.facts:
        assert graph_schema.fits(fact.head_type, fact.relation, fact.tail_type)
        assert {(fact.head, fact.head_type), (fact.tail, fact.tail_type)} <= mentioned
        assert canonical_name(fact.head) != canonical_name(fact.tail)
    for value in result.attributes:
        assert (value.entity, value.entity_type) in mentioned
        element = graph_schema.attribute_type(value.attribute)
        assert graph_schema.open or graph_schema.is_a(value.entity_type, element.owners)
        assert element is None or (element.kind == "text") == (value.normal == "")
    qualifiers = [one for item in (*result.facts, *result.attributes) for one in item.time.split("; ") if one]
    assert all(one in {"planned", "former"} or (one.partition(": ")[2] or one) in SOURCE for one in qualifiers)
    for item in (*result.mentions, *result.facts, *result.attributes):
        assert SOURCE[item.span.start:item.span.end] == item.span.quote != ""
    again = bound(Extraction(
        entities=tuple(ExtractedEntity(name=m.name, type=m.type) for m in result.mentions),
        triples=tuple(ExtractedTriple(head=f.head, relation=f.relation, tail=f.tail, confidence=f.confidence,
                                      evidence=f.span.quote, time=f.time) for f in result.facts),
        attributes=tuple(ExtractedAttribute(entity=a.entity, attribute=a.attribute, value=a.value,
                                            evidence=a.span.quote, confidence=a.confidence, time=a.time)
                         for a in result.attributes)), chunk(SOURCE, title), bounds)
    assert (again.mentions, again.facts, again.attributes) == (result.mentions, result.facts, result.attributes)
    assert again.rejections == again.asks == ()
    assert again.repairs == {}


@pytest.mark.parametrize(("text", "heading", "said_time", "time"), [
    ("- Ada Lin: 31 votes", "Council > Election of 2021", "", "under: Council > Election of 2021"),
    ("- Ada Lin: 31 votes", "Council > Board", "", "under: Council > Board"),
    ("Ada Lin won 31 votes.", "Council > Election of 2021", "", "under: Council > Election of 2021"),
    ("Ada Lin won 31 votes.", "Council > Board", "", ""), ("- Ada Lin: 31 votes", "Ada Lin > Votes", "", ""),
    ("- Ada Lin: 31 votes in 2020", "Council > Board", "2020", "2020"),
    ("- 林晓：31票", "2021年选举", "", "见于: Minutes > 2021年选举")])
def test_a_number_of_a_list_or_of_a_dated_section_carries_its_section(text, heading, said_time, time):
    name, value = ("林晓", "31票") if "林晓" in text else ("Ada Lin", "31")
    result = bound(said([(name, "Person")], (), [(name, "votes", value, said_time)]),
                   chunk(text, "Minutes").model_copy(update={"heading": heading}), Bounds(open_schema()))
    assert [one.time for one in result.attributes] == [time]
