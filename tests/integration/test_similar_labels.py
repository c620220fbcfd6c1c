"""Near-duplicate labels: by inflection, and by embedding above a threshold that the schema sets."""

from collections.abc import Sequence

import numpy as np
import pytest
from banyan.config import Settings
from banyan.graph_store.bounding.similar_labels import SimilarLabels
from banyan.models.embedding.embedder import Vectors
from banyan.models.embedding.embedding_models import load_embedder
from banyan.schemas.formats.schema_loading import load_schema, seed_names
from banyan.schemas.graph_schema import GraphSchema

SCHEMA = GraphSchema(
    name="s",
    entity_types=[{"name": "Film", "labels": {"zh": "电影"}}, {"name": "Person", "labels": {"zh": "人物"}}],
    relation_types=[{"name": "directed_by"}, {"name": "located_in"}, {"name": "owns"}],
    attribute_types=[{"name": "length"}])
APART = [("parent", "child"), ("born in", "died in"), ("predecessor", "successor"), ("acquired", "sold"),
         ("acquired", "acquired by"), ("employer", "employee"), ("employer", "employed"), ("birth date", "death date"),
         ("total assets", "total liabilities"), ("increases risk of", "decreases risk of"), ("teacher", "teaches"),
         ("follows", "followed by"), ("founded", "founded by"), ("husband", "wife"), ("owner", "owns")]


ALPHABET = "abcdefghijklmnopqrstuvwxyz _"


class SpellingEmbedder:
    """Alike is what is spelled with the same letters, however often; all other scripts are one unknown letter."""

    name = "spelling"
    dimension = len(ALPHABET) + 1
    fingerprint = "spelling"

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            for letter in text:
                vectors[row, ALPHABET.find(letter)] = 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def similar():
    return SimilarLabels(SpellingEmbedder(), SCHEMA)


def test_a_near_duplicate_leads_to_its_element_and_anything_has_a_nearest_one():
    assert similar().duplicate_of("relation", "loocated_in") == "located_in"
    assert similar().duplicate_of("relation", "knows") is None
    assert similar().nearest("relation", "Loocated In") == ("located_in", 1.0)
    assert similar().nearest("entity_type", "filmo")[0] == "Film"
    assert SimilarLabels(SpellingEmbedder(), GraphSchema(name="e")).nearest("relation", "x") is None


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
