"""Which sources settings are read from and which are not combined; what is sent to models, where vectors are."""

import pytest
from banyan.cli import main as cli
from banyan.config import LLM_STEPS, Settings, SettingsError
from banyan.schemas.services import ChromaServer
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


def test_without_a_home_of_their_own_knowledge_bases_are_in_one_place_per_user(elsewhere, tmp_path, monkeypatch):
    for home in (".banyan", "./.banyan"):
        monkeypatch.setenv("BANYAN_HOME", home)
        assert Settings().llm_base_url is None, "files of the current folder are not read"
    monkeypatch.delenv("BANYAN_HOME")
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


def efforts(given: str) -> dict[str, str]:
    settings = Settings(_env_file=None, llm_reasoning_effort=given)
    return {step: settings.for_step(step).llm_reasoning_effort for step in LLM_STEPS}


def test_an_effort_is_for_all_steps_or_by_step() -> None:
    assert efforts("") == dict.fromkeys(LLM_STEPS, "")
    assert efforts("low") == dict.fromkeys(LLM_STEPS, "low")
    assert efforts("extract=low, Answer = medium") == dict.fromkeys(LLM_STEPS, "") | {
        "extract": "low", "answer": "medium"}
    assert efforts("minimal,answer=high") == dict.fromkeys(LLM_STEPS, "minimal") | {"answer": "high"}


@pytest.mark.parametrize(("given", "body"), [("", {}), (' {"top_k": 20} ', {"top_k": 20})])
def test_an_extra_body_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch, given: str, body: object) -> None:
    monkeypatch.setenv("BANYAN_LLM_EXTRA_BODY", given)
    assert Settings(_env_file=None).llm_extra_body == body


@pytest.mark.parametrize(("given", "said"), [
    ("top_k=20", "it is not JSON .Expecting value"), ("[1]", "it is no JSON object"), ("null", "it is no JSON object"),
    ('{"model": "m"}', "Banyan sets model itself: leave that out, and name the model in BANYAN_LLM_MODEL"),
    ('{"stream": true, "tools": []}', "Banyan sets stream, tools itself")])
def test_a_wrong_extra_body_is_named(monkeypatch: pytest.MonkeyPatch, given: str, said: str) -> None:
    monkeypatch.setenv("BANYAN_LLM_EXTRA_BODY", given)
    with pytest.raises(ValidationError, match=said):
        Settings(_env_file=None)


@pytest.mark.parametrize(("url", "said"), [
    ("localhost:8000", "such as http://127.0.0.1:8000"), ("ftp://host", "such as"), ("http://", "such as"),
    ("http://host:99999", "such as"), ("http://host:0", "such as"), ("http://ho st", "such as"),
    ("http://[::1", "such as"), ("http://me:secret@host:8000", "BANYAN_CHROMA_TOKEN"),
    ("http://host?x=1", "alone"), ("http://host#x", "alone")])
def test_what_is_no_url_is_refused_without_being_repeated(url, said):
    with pytest.raises(ValidationError) as caught:
        Settings(_env_file=None, chroma_url=url)
    (error,) = caught.value.errors()
    assert error["loc"] == ("chroma_url",)
    assert said in error["msg"]
    assert "secret" not in error["msg"]


def test_the_token_is_sent_and_never_shown():
    server = ChromaServer(url="http://host", token="sesame")
    assert server.headers() == {"Authorization": "Bearer sesame"}
    assert ChromaServer(url="http://host", token="sesame", token_header="X-Chroma-Token").headers() == {
        "X-Chroma-Token": "sesame"}
    assert ChromaServer(url="http://host").headers() == {}
    assert "sesame" not in repr(server) + str(Settings(_env_file=None, chroma_url="http://host", chroma_token="sesame"))
