"""Which sources settings are read from, and which are not combined."""

import pytest
from banyan.cli import main as cli
from banyan.config import Settings, SettingsError
from platformdirs import user_data_path
from pydantic import ValidationError
from typer.testing import CliRunner

from ... import small_base


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A current folder with files that somebody else wrote."""
    folder = tmp_path / "cloned"
    for file in (folder / ".env", folder / ".banyan" / ".env"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("BANYAN_LLM_BASE_URL=http://evil.example/v1\nCHROMA_OTEL_COLLECTION_ENDPOINT=evil\n", "utf-8")
    monkeypatch.chdir(folder)
    return folder


def test_a_file_in_the_current_folder_is_not_read(elsewhere, monkeypatch):
    monkeypatch.setenv("BANYAN_LLM_API_KEY", "the user's")
    for home in (None, ".banyan", "./.banyan"):
        if home:
            monkeypatch.setenv("BANYAN_HOME", home)
        assert Settings().llm_base_url is None


def test_without_a_home_of_their_own_knowledge_bases_are_in_one_place_per_user(elsewhere, tmp_path, monkeypatch):
    monkeypatch.delenv("BANYAN_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert Settings().home == user_data_path("banyan", appauthor=False) == tmp_path / "data" / "banyan"
    (tmp_path / "data" / "banyan").mkdir(parents=True)
    (tmp_path / "data" / "banyan" / ".env").write_text("BANYAN_LLM_MODEL=mine\n", "utf-8")
    assert Settings().llm_model == "mine"


def test_nor_does_chroma_read_one(elsewhere, tmp_path, hashed_embedder, monkeypatch):
    import chromadb  # noqa: PLC0415
    from chromadb.config import Settings as ChromaSettings  # noqa: PLC0415

    assert ChromaSettings().chroma_otel_collection_endpoint == "evil", "it would, if it were not told"
    used, opened = [], chromadb.PersistentClient
    monkeypatch.setattr(chromadb, "PersistentClient",
                        lambda path, settings: used.append(settings) or opened(path, settings))
    with small_base.create(tmp_path, "people", hashed_embedder) as kb, kb.writing():
        small_base.put(kb, "ada", "Ada was born.", entities={"Ada": "Person"})
        small_base.finish(kb)
    assert {settings.chroma_otel_collection_endpoint for settings in used} == {""}


def test_the_file_of_the_home_folder_and_the_one_that_is_named_are_read(elsewhere, tmp_path, monkeypatch):
    home, named = tmp_path / "home", tmp_path / "mine.env"
    home.mkdir()
    (home / ".env").write_text("BANYAN_LLM_MODEL=of-home\n", "utf-8")
    named.write_text("BANYAN_LLM_MODEL=named\n", "utf-8")
    assert Settings(home=home).llm_model == "of-home"
    monkeypatch.setenv("BANYAN_HOME", str(home))
    assert Settings().llm_model == "of-home"
    assert Settings(_env_file=None).llm_model == "gpt-4o-mini"
    monkeypatch.setenv("BANYAN_ENV_FILE", str(named))
    assert Settings().llm_model == "named"
    monkeypatch.setenv("BANYAN_ENV_FILE", str(tmp_path / "none"))
    with pytest.raises(SettingsError, match="which is no file"):
        Settings()


@pytest.mark.parametrize(("address", "secret"), [("LLM_BASE_URL", "LLM_API_KEY"), ("CHROMA_URL", "CHROMA_TOKEN")])
def test_a_secret_is_sent_to_no_address_of_another_source(tmp_path, monkeypatch, address, secret):
    (tmp_path / ".env").write_text(f"BANYAN_{address}=http://elsewhere.example\n", "utf-8")
    assert Settings(home=tmp_path)
    monkeypatch.setenv(f"BANYAN_{secret}", "the user's")
    with pytest.raises(SettingsError, match="comes from the file"):
        Settings(home=tmp_path)
    monkeypatch.setenv(f"BANYAN_{address}", "http://mine.example")
    assert getattr(Settings(home=tmp_path), secret.lower()).get_secret_value() == "the user's"
    with pytest.raises(SettingsError, match="comes from the arguments"):
        Settings(home=tmp_path, **{address.lower(): "http://elsewhere.example"})
    assert Settings(home=tmp_path, **{address.lower(): ""})


@pytest.mark.parametrize("sign", ["@", "/", "#", "?", " ", "\n", "["])
def test_a_password_in_an_address_that_cannot_be_read_is_not_shown(sign, monkeypatch):
    address = f"postgresql://banyan:Tr0ub4dor{sign}3word@db.example.org/banyan"
    with pytest.raises(ValidationError) as caught:
        Settings(_env_file=None, database_url=address)
    assert "percent-encoded" in str(caught.value)
    monkeypatch.setenv("BANYAN_DATABASE_URL", address)
    told = CliRunner().invoke(cli.app, ["list"])
    assert told.exit_code == 1
    for text in (str(caught.value), repr(caught.value), told.output):
        assert "Tr0ub4dor" not in text
        assert "3word" not in text


@pytest.mark.parametrize("name", ["llm_base_url", "embedding_base_url", "reranker_base_url"])
def test_an_endpoint_s_address_holds_no_secret(name):
    with pytest.raises(ValidationError, match="name or password in it") as caught:
        Settings(_env_file=None, **{name: "https://user:Tr0ub4dor@models.example.org/v1"})
    assert "Tr0ub4dor" not in str(caught.value)
