"""The optional cross-encoder: a scripted one in the graph, and a tiny real one made here."""

import shutil

import numpy as np
import pytest
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.config import Settings
from banyan.models.reranker import RerankerError, load_reranker

from .. import small_base as base
from ..newest import newest


class Scripted:
    """Scores a text by a function of question and text, and counts what it is asked."""

    def __init__(self, score) -> None:
        self.score = score
        self.asked: list[tuple[str, int]] = []

    def scores(self, question, texts):
        self.asked.append((question, len(texts)))
        return np.array([self.score(question, text) for text in texts], np.float32)


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


def documents(resources) -> list[str]:
    found = newest(resources).retriever.rank_passages(QUESTION, 9)
    return [newest(resources).retriever.passage(*ranked).document for ranked in found]


def test_the_best_passages_are_reordered(resources):
    before = documents(resources)
    last = newest(resources).kb.documents.get(before[-1]).title
    scripted = Scripted(lambda _, text: text.startswith(last))
    resources._reranker = scripted
    assert documents(resources).index(before[-1]) < len(before) - 1
    assert scripted.asked == [(QUESTION, len(before))]


def test_a_cross_encoder_that_is_not_there_is_named_before_anything_is_asked(resources):
    resources.settings.reranker = "no/such-model"
    with pytest.raises(RerankerError, match=r"'no/such-model' is not on this machine.*BANYAN_RERANKER"):
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


TEXTS = ["ada was born in ulm", "turku", "", "林小雨", "long " * 300, "a \ud800 b", "turku"]


def test_a_cross_encoder_scores_each_pair_by_itself(reranker, model):
    together = reranker.scores("where was ada born", TEXTS)
    assert together.shape == (len(TEXTS),)
    assert together.dtype == np.float32
    assert len(set(together.tolist())) > 3
    assert together[1] == together[6]
    another = loaded(model)
    alone = [another.scores("where was ada born", [text])[0] for text in reversed(TEXTS)][::-1]
    np.testing.assert_allclose(together, alone, atol=2e-5)
    assert reranker.scores("another", TEXTS[:1])[0] != together[0]
    assert reranker.scores("where", []).shape == (0,)


def test_a_real_cross_encoder_reorders_a_search(resources, model):
    before = documents(resources)
    resources.settings.reranker = str(model)
    assert sorted(documents(resources)) == sorted(before)
    assert resources.reranker is not None


def test_a_classifier_is_refused(make_model):
    with pytest.raises(RerankerError, match="gives 3 numbers for a pair"):
        load_reranker(Settings(_env_file=None, reranker=str(make_model(3))))


def test_pickled_and_damaged_weights_are_not_read(model, tmp_path):
    pickled = shutil.copytree(model, tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    damaged = shutil.copytree(model, tmp_path / "damaged")
    (damaged / "model.safetensors").write_bytes(b"damaged")
    for folder in (pickled, damaged):
        with pytest.raises(RerankerError, match=r"cannot be loaded.*safetensors weights"):
            load_reranker(Settings(_env_file=None, reranker=str(folder)))
