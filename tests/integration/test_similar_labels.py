"""Near-duplicate labels: by inflection, and by embedding above a threshold that the schema sets."""

import math
import random

import pytest
from banyan.config import Settings
from banyan.graph_store.bounding.label_words import head_endings, stems, without_voice
from banyan.graph_store.bounding.similar_labels import FLOOR, SimilarLabels
from banyan.models.embedding.embedding_models import load_embedder
from banyan.schemas.formats.schema_loading import load_schema, seed_names
from banyan.schemas.graph_schema import GraphSchema
from hypothesis import given
from hypothesis import strategies as st

from .. import spelling_embedding as spelling

SCHEMA = GraphSchema(
    name="s",
    entity_types=[{"name": "Film", "labels": {"zh": "电影"}}, {"name": "Person", "labels": {"zh": "人物"}}],
    relation_types=[{"name": "directed_by"}, {"name": "located_in"}, {"name": "owns"}],
    attribute_types=[{"name": "length"}])
APART = [("parent", "child"), ("born in", "died in"), ("predecessor", "successor"), ("acquired", "sold"),
         ("acquired", "acquired by"), ("employer", "employee"), ("employer", "employed"), ("birth date", "death date"),
         ("total assets", "total liabilities"), ("increases risk of", "decreases risk of"), ("teacher", "teaches"),
         ("follows", "followed by"), ("founded", "founded by"), ("husband", "wife"), ("owner", "owns")]


def similar():
    return SimilarLabels(spelling.SpellingEmbedder(), SCHEMA)


@pytest.mark.parametrize(("one", "other"), [
    ("works for", "work_for"), ("Is Located In", "located in"), ("was founded by", "founded by"), ("films", "Film"),
    ("companies", "company"), ("acquires", "acquired"), ("cast members", "cast member"), ("directors", "director"),
    ("电影", "电影"),
])
def test_inflection_makes_no_other_label(one, other):
    assert stems(one) == stems(other)


@pytest.mark.parametrize(("one", "other"), APART)
def test_opposites_and_agents_are_other_labels(one, other):
    assert stems(one) != stems(other)


def test_voice_is_told_apart_and_can_be_left_out():
    assert without_voice(stems("directed by")) == stems("directs")
    assert without_voice(stems("by")) == ("by",)
    assert without_voice(stems("born in")) == stems("born in")


def test_endings_are_words_or_characters_longest_first():
    assert head_endings("very_old Films") == [("old", "film"), ("film",)]
    assert head_endings("历史电影") == [("史电影",), ("电影",), ("影",)]
    assert head_endings("Fußball") == head_endings("") == []


def test_the_threshold_is_above_the_likest_of_different_elements_of_kind_and_script():
    tight = GraphSchema(name="s", relation_types=[{"name": "abcdefghijklmnopqrst"}, {"name": "abcdefghijklmnopqrs"}])
    found = SimilarLabels(spelling.SpellingEmbedder(), tight)
    one, other = spelling.SpellingEmbedder().encode([relation.name for relation in tight.relation_types])
    assert found.threshold("relation", "latin") == pytest.approx(one @ other, abs=1e-4)
    assert found.threshold("relation", "latin") > FLOOR
    assert similar().threshold("relation", "latin") == FLOOR
    assert similar().threshold("attribute", "latin") == math.inf


def test_a_script_that_the_model_cannot_read_and_one_without_known_labels_are_left_alone():
    assert similar().threshold("entity_type", "cjk") == 1
    assert similar().duplicate_of("entity_type", "城市") is None
    assert similar().groups("entity_type", ["城市", "公司"]) == [("公司",), ("城市",)]
    assert similar().threshold("relation", "cyrillic") == math.inf
    assert similar().duplicate_of("relation", "снял") is None


def test_a_near_duplicate_leads_to_its_element_and_anything_has_a_nearest_one():
    assert similar().duplicate_of("relation", "loocated_in") == "located_in"
    assert similar().duplicate_of("relation", "knows") is None
    assert similar().nearest("relation", "Loocated In") == ("located_in", 1.0)
    assert similar().nearest("entity_type", "filmo")[0] == "Film"
    assert SimilarLabels(spelling.SpellingEmbedder(), GraphSchema(name="e")).nearest("relation", "x") is None


@given(st.lists(st.sampled_from(["owns", "owned", "own", "snow", "wons", "sees", "saw", "directs", "directed by",
                "电影",
                                 "城市", "locates", "is located"]), max_size=8), st.randoms(use_true_random=False))
def test_groups_hold_each_label_once_in_any_order(labels, shuffled: random.Random):
    groups = similar().groups("relation", labels)
    assert groups == similar().groups("relation", shuffled.sample(labels, len(labels)))
    assert sorted(label for group in groups for label in group) == sorted(set(labels))
    assert groups == sorted(tuple(sorted(group)) for group in groups)
    of = {label: group for group in groups for label in group}
    for one in labels:
        for other in labels:
            assert of[one] is of[other] or stems(one) != stems(other)


@pytest.fixture(scope="module")
def bundled():
    return load_embedder(Settings(_env_file=None))


@pytest.mark.parametrize("seed", seed_names())
def test_no_two_elements_of_a_seed_schema_and_no_opposites_are_taken_for_one(bundled, seed):
    schema = load_schema(seed)
    found = SimilarLabels(bundled, schema)
    for kind in ("entity_type", "relation", "attribute"):
        for one, other in APART:
            assert found.groups(kind, [one, other]) == sorted([(one,), (other,)])
    for relation in schema.relation_types:
        rest = schema.model_copy(update={"relation_types": tuple(r for r in schema.relation_types if r != relation)})
        assert SimilarLabels(bundled, rest).duplicate_of("relation", relation.name) is None
    assert found.duplicate_of("attribute", "date of birth") in {"birth_date", None}


def test_words_in_another_order_are_one_label(bundled):
    found = SimilarLabels(bundled, load_schema("general"))
    assert found.duplicate_of("attribute", "date of birth") == "birth_date"
    assert found.groups("attribute", ["publication date", "height", "date of publication"]) == [
        ("date of publication", "publication date"), ("height",)]
