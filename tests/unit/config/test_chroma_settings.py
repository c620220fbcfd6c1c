"""Where the vectors are said to be, by settings."""

import pytest
from banyan.config import Settings
from banyan.schemas.service_addresses import ChromaServer
from pydantic import ValidationError


def settings(**values):
    return Settings(_env_file=None, **values)


@pytest.mark.parametrize(("url", "read"), [
    ("http://127.0.0.1:8000", "http://127.0.0.1:8000"), ("https://chroma.example/", "https://chroma.example"),
    ("http://[::1]:8000", "http://[::1]:8000"), ("http://proxy/chroma/", "http://proxy/chroma")])
def test_urls_are_read(url, read):
    assert settings(chroma_url=url).chroma_server == ChromaServer(url=read)


@pytest.mark.parametrize(("url", "said"), [
    ("localhost:8000", "such as http://127.0.0.1:8000"), ("ftp://host", "such as"), ("http://", "such as"),
    ("http://host:99999", "such as"), ("http://host:0", "such as"), ("http://ho st", "such as"),
    ("http://[::1", "such as"), ("http://me:secret@host:8000", "BANYAN_CHROMA_TOKEN"),
    ("http://host?x=1", "alone"), ("http://host#x", "alone")])
def test_what_is_no_url_is_refused_without_being_repeated(url, said):
    with pytest.raises(ValidationError) as caught:
        settings(chroma_url=url)
    (error,) = caught.value.errors()
    assert error["loc"] == ("chroma_url",)
    assert said in error["msg"]
    assert "secret" not in error["msg"]


@pytest.mark.parametrize(("name", "value"), [("chroma_token", "a\nb"), ("chroma_token", "schlüssel"),
                                             ("chroma_token_header", "X Pass"), ("chroma_token_header", "")])
def test_what_no_header_can_hold_is_refused(name, value):
    with pytest.raises(ValidationError) as caught:
        settings(**{name: value})
    assert caught.value.errors()[0]["loc"] == (name,)


def test_the_token_is_sent_and_never_shown():
    server = ChromaServer(url="http://host", token="sesame")
    assert server.headers() == {"Authorization": "Bearer sesame"}
    assert ChromaServer(url="http://host", token="sesame", token_header="X-Chroma-Token").headers() == {
        "X-Chroma-Token": "sesame"}
    assert ChromaServer(url="http://host").headers() == {}
    assert "sesame" not in repr(server) + str(settings(chroma_url="http://host", chroma_token="sesame"))
