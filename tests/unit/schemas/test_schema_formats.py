"""Schemas in files: the forms that are read, the text that is written, errors that name line and field; the seeds."""

import json

import pytest
from banyan.schemas.formats.schema_loading import dump_schema, load_schema, parse_schema
from banyan.schemas.graph_schema import (
    ANY,
    AttributeType,
    EntityType,
    GraphSchema,
    RelationType,
    SchemaError,
    open_schema,
)

ODD = GraphSchema(
    name="\x85\u2028\u2029\ufeff\x7f", description="\x85 no\n", open=True,
    entity_types=(EntityType(name="P", labels={"zh": "人物"}, aliases=("", "\n")), EntityType(name="Q", parent="P")),
    relation_types=(RelationType(name="parent", domain=("P",), range=(ANY, "Q"), inverse="child"),
                    RelationType(name="child", functional=True), RelationType(name="spouse", symmetric=True)),
    attribute_types=(AttributeType(name="height", owners=("P",), kind="number", unit="\u2028", description="'\"\\"),))


@pytest.mark.parametrize("schema", [ODD, load_schema("general"), open_schema()])
def test_what_is_written_is_read_back_the_same(schema):
    assert parse_schema(dump_schema(schema), "schema.json") == schema


def test_seeds_and_open_go_by_name():
    assert load_schema("open") == open_schema()
    assert load_schema("general").name == "general"
    with pytest.raises(SchemaError, match=r"there is no seed schema or file 'generl'; seeds are: open, biomedical"):
        load_schema("generl")


ONTOLOGY = {"title": "Sport", "id": "ont_3", "concepts": [
    {"qid": "Q5", "label": "human"}, {"qid": "Q349", "label": "sport"}, {"qid": "Q1", "label": "season "},
    {"qid": "Q1", "label": "sports season"}, {"qid": "Q847", "label": "club"}, {"qid": "Q15", "label": "league"}],
    "relations": [
        {"pid": "P641", "label": "sport", "domain": "Q847", "range": "Q349"},
        {"pid": "P118", "label": "league", "domain": "Q5", "range": "Q15"},
        {"pid": "P118", "label": "league", "domain": "Q847", "range": "Q15"},
        {"pid": "P3450", "label": "season of ", "domain": "Q1", "range": "Q999"},
        {"pid": "P2094", "label": "class", "domain": "Q5", "range": ""}]}


def test_qids_become_domain_and_range():
    ontology = parse_schema(json.dumps(ONTOLOGY, indent="\t"), "folder/3_sport.json")
    ends = {r.name: (r.domain, r.range) for r in ontology.relation_types}
    assert ends == {
        "sport": (("club",), ("sport",)),
        "league": (("club", "human"), ("league",)),  # it stands twice
        "season of": (("season", "sports season"), (ANY,)),  # two concepts share a qid; one is not among them
        "class": (("human",), (ANY,))}


TYPES = '{"name": "x",\n "entity_types": [{"name": "P"}],\n'


@pytest.mark.parametrize(("text", "message"), [
    (TYPES + '\t"relation_types": [\n\t{"name": "q",\n\t"range": ["P",\n "Perso"]}]}',
     "relation 'q', range: there is no entity type 'Perso'; add it or name one of"),
    (TYPES + '"relations": []}',
     "relations: there is no such field; docs/schema.md lists them"),
    (TYPES + '"relation_types": [{"name":\n17}]}',
     "relation_types.0.name: Input should be a valid string"),
    (TYPES + '"attribute_types": ["a",\n"b"]}', "attribute_types.0: Input should be a valid dictionary"),
    ('{"name": "x", "entity_types": [{"name": "P",\n"parent": "p"}]}',
     "entity type 'P', parent: there is no entity type 'p'; add it or name one of *, P"),
    ('{"name": "x",\n"open": 3}', "open: Input should be a valid boolean"),
    ("", "line 1, column 1: not JSON: Expecting value"),
    ('{"name": ' + "1" * 5000 + "}", "line 1: not usable JSON: Exceeds the limit"),
    ('{"concepts": [{"label": "a"},\n{"label": 7}]}', "concepts.1.label: Input should be a valid string")])
def test_errors_in_json_name_file_and_field(text, message):
    with pytest.raises(SchemaError) as raised:
        parse_schema(text, "my.json")
    assert str(raised.value).startswith(f"my.json: {message}")


@pytest.mark.parametrize(("first", "message"), [
    ({"inverse": "kid"}, "relation 'parent', inverse: there is no relation 'kid'; add it or name another one"),
    ({"inverse": "Child"}, "there is no relation 'Child'"),
    ({"inverse": "parent"}, "a relation that is its own inverse is symmetric: use `symmetric`"),
    ({"inverse": "child", "symmetric": True}, "a relation that is its own inverse is symmetric: use `symmetric`"),
])
def test_an_inverse_that_cannot_be(first, message):
    with pytest.raises(ValueError, match=message):
        GraphSchema(name="x", relation_types=(RelationType(name="parent", **first), RelationType(name="child")))


SEEDS = ["biomedical", "encyclopedia", "finance", "general", "literature"]


@pytest.fixture(params=SEEDS)
def seed(request) -> GraphSchema:
    return load_schema(request.param)


def test_every_element_is_described_labelled_and_cued_in_both_languages(seed):
    for element in (*seed.entity_types, *seed.relation_types, *seed.attribute_types):
        assert 0 < len(element.description.split()) <= 10, element.name
        assert element.label("zh") != element.name, element.name
        assert element.rules.cues["en"], element.name
        assert element.rules.cues["zh"], element.name
        assert all(len(set(cues)) == len(cues) for cues in element.rules.cues.values()), element.name


def test_what_holds_both_ways_is_symmetric(seed):
    """Such a relation is stored in one direction, so it must fit in either."""
    symmetric = {r.name for r in seed.relation_types if r.symmetric}
    assert symmetric == {"spouse", "friend_of", "competes_with", "signed_agreement_with", "merged_with"} & {
        r.name for r in seed.relation_types}
    assert all(set(r.domain) == set(r.range) for r in seed.relation_types if r.symmetric)
