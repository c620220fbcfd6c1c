"""The optional cross-encoder: a scripted one in the graph, and a tiny real one made here."""

import shutil

import numpy as np
import pytest
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.config import Settings
from banyan.models.embedding.onnx_export import bundled_model
from banyan.models.reranking.reranker import RerankerError, load_reranker
from banyan.tools.ranking.reranking import reranked
from hypothesis import given
from hypothesis import strategies as st

from .. import small_base as base


class Scripted:
    """Scores a text by a function of question and text, and counts what it is asked."""

    def __init__(self, score) -> None:
        self.score = score
        self.asked: list[tuple[str, int]] = []

    def scores(self, question, texts):
        self.asked.append((question, len(texts)))
        return np.array([self.score(question, text) for text in texts], np.float32)


def ranking(count: int) -> list[tuple[str, float]]:
    return [(f"c{n}", 1 / (n + 1)) for n in range(count)]


def ids(ranked) -> list[str]:
    return [one for one, _ in ranked]


def test_both_rankings_have_equal_say():
    # By hand: c0 is 1st and 3rd, c2 3rd and 1st, c1 2nd twice; 1/61 + 1/63 > 2/62, and c0 stands before c2.
    said = reranked(Scripted(lambda _, text: int(text)), ["q"], ["0", "1", "2"], ranking(3))
    assert ids(said) == ["c0", "c2", "c1"]
    said = reranked(Scripted(lambda _, text: {"0": 1, "1": 3, "2": 2}[text]), ["q"], ["0", "1", "2"], ranking(3))
    assert ids(said) == ["c1", "c0", "c2"]


def test_each_sub_query_brings_its_own_passage():
    score = {("a", "3"): 9, ("b", "4"): 9}
    said = reranked(Scripted(lambda question, text: score.get((question, text), -int(text))), ["a", "b"],
                    [str(n) for n in range(6)], ranking(6))
    assert ids(said)[0] == "c0"
    assert max(ids(said).index(one) for one in ("c3", "c4")) < ids(said).index("c2")


@given(st.lists(st.lists(st.floats(-5, 5, width=32), min_size=6, max_size=6), min_size=1, max_size=3),
       st.integers(0, 6))
def test_reordering_loses_and_invents_nothing(scores, count):
    table = {(str(q), str(n)): value for q, row in enumerate(scores) for n, value in enumerate(row)}
    said = reranked(Scripted(lambda question, text: table[question, text]), [str(q) for q in range(len(scores))],
                    [str(n) for n in range(count)], ranking(6))
    assert sorted(ids(said)) == sorted(ids(ranking(6)))
    assert said[count:] == ranking(6)[count:]
    doubled = Scripted(lambda question, text: 2 * table[question, text])
    assert said == reranked(doubled, [str(q) for q in range(len(scores))], [str(n) for n in range(count)], ranking(6))


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
    found = resources.retriever("kb").rank_passages(QUESTION, 9)
    return [resources.retriever("kb").passage(*ranked).document for ranked in found]


def test_the_best_passages_are_reordered(resources):
    before = documents(resources)
    last = resources.knowledge_base("kb").documents.get(before[-1]).title
    scripted = Scripted(lambda _, text: text.startswith(last))
    resources._reranker = scripted
    assert documents(resources).index(before[-1]) < len(before) - 1
    assert scripted.asked == [(QUESTION, len(before))]


def test_only_the_best_are_read(home, hashed_embedder):
    with Resources(Settings(home=home, rerank_passages=1, _env_file=None), hashed_embedder) as resources:
        before = documents(resources)
        resources._reranker = scripted = Scripted(lambda *_: 1)
        assert documents(resources) == before
        assert scripted.asked == [(QUESTION, 1)]


def test_a_cross_encoder_that_is_not_there_is_named_before_anything_is_asked(resources):
    resources.settings.reranker = "no/such-model"
    with pytest.raises(RerankerError, match=r"'no/such-model' is not on this machine.*BANYAN_RERANKER"):
        build_graph(resources).invoke({"knowledge_base": "kb", "question": QUESTION})


def test_none_is_loaded_where_none_is_set(resources):
    assert load_reranker(Settings(_env_file=None)) is None
    assert resources.reranker is None


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
    assert resources.reranker._scores


def test_a_classifier_is_refused(make_model):
    with pytest.raises(RerankerError, match="gives 3 numbers for a pair"):
        load_reranker(Settings(_env_file=None, reranker=str(make_model(3))))


def test_an_encoder_of_single_texts_is_refused(tmp_path):
    """sentence-transformers would give it a head of random weights, with no more than a note in the log."""
    with pytest.raises(RerankerError, match="BertModel, which encodes single texts"):
        load_reranker(Settings(_env_file=None, reranker=str(bundled_model())))


@pytest.mark.parametrize("content", [None, "{", "[]"])
def test_a_folder_without_a_model_is_named(tmp_path, content):
    if content is not None:
        (tmp_path / "config.json").write_text(content, "utf-8")
    with pytest.raises(RerankerError, match=f"{tmp_path}.*no readable config.json"):
        load_reranker(Settings(_env_file=None, reranker=str(tmp_path)))


def test_pickled_and_damaged_weights_are_not_read(model, tmp_path):
    pickled = shutil.copytree(model, tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    damaged = shutil.copytree(model, tmp_path / "damaged")
    (damaged / "model.safetensors").write_bytes(b"damaged")
    for folder in (pickled, damaged):
        with pytest.raises(RerankerError, match=r"cannot be loaded.*safetensors weights"):
            load_reranker(Settings(_env_file=None, reranker=str(folder)))


def test_a_score_that_is_no_number_is_an_error(reranker, monkeypatch):
    monkeypatch.setattr("sentence_transformers.CrossEncoder.predict",
                        lambda _, pairs, **__: np.full(len(pairs), np.nan))
    with pytest.raises(RerankerError, match="no number"):
        reranker.scores("broken?", ["a"])
