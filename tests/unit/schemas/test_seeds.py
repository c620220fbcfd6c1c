"""The bundled seed schemas: they load, serve both languages, and keep to the size of a prompt."""

import pytest
from banyan.schemas.formats.schema_loading import load_schema
from banyan.schemas.graph_schema import GraphSchema

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
