"""What fields declare: keys of others become links, one handle is one person, and what repeats a name tells nothing."""

from contextlib import ExitStack

import pytest
from banyan.graph_store.graph.knowledge_graph import is_descriptive
from banyan.schemas.graph_schema import GraphSchema

from ... import small_base as base
from ...newest import dump_graph

RULES = {"Alpha": [("rule_no", "11")],
         "Beta": [("rule_no", "22"), ("requires", "11"), ("requires", "99")],
         "Gamma": [("rule_no", "33"), ("requires", "11"), ("requires", "22"), ("requires", "33")]}
STAFF = {"Ada": [("id", "1")], "Bob": [("id", "2"), ("manager_id", "1")], "Cyd": [("id", "3"), ("manager_id", "2")]}


def put(kb, name, fields, document=""):
    base.put(kb, document or name, "\n".join(f"{name} has {field} {value}." for field, value in fields),
             entities={name: "Record"}, attributes=[(name, field, value) for field, value in fields])


@pytest.fixture
def make(tmp_path, hashed_embedder):
    with ExitStack() as opened:
        def made(records):
            kb = opened.enter_context(base.create(tmp_path, f"kb{len(list(tmp_path.iterdir()))}", hashed_embedder))
            opened.enter_context(kb.writing())
            for name, fields in records.items():
                put(kb, name, fields)
            return kb

        yield made


def links(kb):
    return {(kb.graph.name(head), relation, kb.graph.name(tail)) for head, relation, tail in kb.graph.edges()}


def values(kb, field):
    return {(kb.graph.name(entity), value) for entity in kb.graph.entity_ids()
            for value in kb.graph.values(entity).get(field, {})}


def with_field(records, field, **given):
    return {name: [*fields, *((field, value) for value in given.get(name, ()))] for name, fields in records.items()}


class TestReferences:
    def test_a_field_of_references_leads_to_the_owners_of_the_keys(self, make):
        assert links(make(RULES)) == {("Beta", "requires", "Alpha"), ("Gamma", "requires", "Alpha"),
                                      ("Gamma", "requires", "Beta")}

    def test_a_column_of_ids_leads_to_rows(self, make):
        kb = make(STAFF)
        assert links(kb) == {("Bob", "manager_id", "Ada"), ("Cyd", "manager_id", "Bob")}
        assert values(kb, "manager_id") == set()
        assert values(kb, "id") == {("Ada", "1"), ("Bob", "2"), ("Cyd", "3")}


class TestValues:
    @pytest.mark.parametrize("field", ["pages", "age", "weight", "number_of_pages", "children", "blocks"])
    def test_a_quantity_is_none_though_it_is_somebodys_key(self, make, field):
        kb = make(with_field({name: fields[:1] for name, fields in RULES.items()}, field, Alpha=["22"], Beta=["33"],
                             Gamma=["11"]))
        assert links(kb) == set()
        assert values(kb, field) == {("Alpha", "22"), ("Beta", "33"), ("Gamma", "11")}


class TestOrder:

    def test_a_key_that_comes_later_makes_the_triple(self, make):
        kb = make({name: STAFF[name] for name in ("Bob", "Cyd")})
        assert links(kb) == set()
        put(kb, "Ada", STAFF["Ada"])
        assert links(kb) == links(make(STAFF))

    @pytest.mark.parametrize("name", RULES)
    def test_a_deleted_document_was_never_there(self, make, name):
        kb = make(RULES)
        base.delete(kb, name)
        others = make({other: fields for other, fields in RULES.items() if other != name})
        assert dump_graph(kb.graph) == dump_graph(others.graph)


PEOPLE = GraphSchema.model_validate({
    "name": "people", "entity_types": [{"name": "Person"}, {"name": "Firm"}],
    "relation_types": [], "attribute_types": [{"name": "alias"}, {"name": "born", "kind": "date"}]})


@pytest.fixture
def merged(tmp_path, hashed_embedder):
    """Returns how many entities documents of people with their contacts (or years of birth) are resolved to."""
    def count(*documents, types=()):
        with base.create(tmp_path, "kb", hashed_embedder, PEOPLE) as kb, kb.writing():
            for number, people in enumerate(documents):
                base.put(kb, f"d{number}", " ".join(f"{name} is {contact}." for name, contact in people),
                         entities={name: dict(types).get(name, "Person") for name, _ in people},
                         attributes=[(name, "born" if contact.isdigit() else "alias", contact)
                                     for name, contact in people])
            kb.resolution.resolve()
            count.named = {kb.graph.name(entity): kb.graph.type(entity) for entity in kb.graph.entity_ids()}
            return len(count.named)

    return count


class TestContacts:
    @pytest.mark.parametrize("contact", ["@ada", "ada@x.org"])
    def test_two_spellings_with_one_contact_are_one_person(self, merged, contact):
        assert merged([("Ada Byron", contact)], [("Countess Lovelace", contact)]) == 1

    def test_an_address_that_a_document_gives_for_two_is_an_offices(self, merged):
        assert merged([("Ada Byron", "office@x.org"), ("Carl Berg", "office@x.org")]) == 2

    def test_a_person_and_a_firm_with_one_address_are_two(self, merged):
        assert merged([("Ada Byron", "mail@x.org")], [("Byron Works", "mail@x.org")],
                      types={"Byron Works": "Firm"}) == 2


class TestDocumentKeys:
    @pytest.mark.parametrize(("name", "kind", "entities"), [
        ("EIP-20", "Firm", 1), ("eip 20", "Person", 1), ("EIP-2", "Firm", 2), ("Token", "Firm", 2)])
    def test_what_others_call_by_the_key_of_a_document_is_the_document(self, merged, name, kind, entities):
        assert merged([("EIP-20: Token", "EIP-20")], [(name, "1999")], types={name: kind}) == entities


PUMPS = "RFC-20: Oslo Pumps"


@pytest.mark.parametrize(("attribute", "value", "tells"), [
    ("alias", "RFC-20", False), ("alias", "oslo pumps", False), ("title", "Oslo Pumps", False), ("Rfc", "20", False),
    ("alias", "Pump Note", True), ("title", "Pumps of Oslo", True), ("city", "Oslo", True), ("pages", "20", True),
    ("section", "Harbour", True), ("gate", "G1", True), ("group", "A", True)])
def test_a_value_tells_unless_it_is_part_of_the_name(attribute, value, tells):
    assert is_descriptive(PUMPS, attribute, value) is tells
