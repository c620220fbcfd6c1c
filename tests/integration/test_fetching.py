"""Documents from addresses: what is fetched from a server of this machine, and what is left alone."""

from types import SimpleNamespace

import pytest
from banyan.ingest.fetching import Address
from banyan.ingest.loaders import load_documents
from banyan.ingest.reading import IngestError, Limits

from .. import scripted
from ..http_servers import Handler, listening

pytestmark = pytest.mark.integration
PAGE = b"<html><head><title>Ulm</title></head><body><p>Ulm lies on the Danube.</p></body></html>"
PAGES = {
    "/ulm": ("text/html; charset=utf-8", PAGE),
    "/latin": ("text/plain; charset=iso-8859-1", "K\xf6ln lies on the Rhine.".encode("latin-1")),
    "/notes.md": ("text/plain", b"# Notes\n\nAda met Bob."),
    "/people.ndjson": ("text/plain", b'{"id": "8", "text": "Bob was born in Bonn."}\n'),
    "/people.csv": ("text/csv", b"id,title,text\n7,Ada,Ada was born in Ulm."),
    "/picture": ("image/png", b"\x89PNG"),
    "/large": ("text/plain", b"word " * 1000),
}
REDIRECTS = {"/old": "/ulm", "/loop": "/loop", "/file": "file:///etc/passwd", "/other": "ftp://127.0.0.1/x"}


@pytest.fixture(scope="module")
def site():
    asked = []

    class Pages(Handler):
        def respond(self):
            asked.append(self.path)
            if self.path in REDIRECTS:
                self.answer(302, Location=REDIRECTS[self.path])
            else:
                kind, body = PAGES.get(self.path, ("text/plain", b""))
                self.answer(200 if self.path in PAGES else 404, body, Content_Type=kind)

    with listening(Pages) as url:
        yield SimpleNamespace(url=url, asked=asked)


def load(site, *paths, **limits):
    failures = []
    found = load_documents([Address(site.url + path) for path in paths], on_failure=failures.append,
                           limits=Limits(**{"fetch": "any", **limits}))
    return {document.id.removeprefix(site.url): document for document in found}, [one.reason for one in failures]


def test_pages_texts_and_tables_are_read_as_files_of_their_kind(site):
    documents, failures = load(site, "/ulm#top", "/latin", "/notes.md", "/people.csv", "/people.ndjson")
    assert failures == []
    assert (documents["/ulm"].title, documents["/ulm"].text) == ("Ulm", "Ulm lies on the Danube.")
    assert documents["/ulm"].source == f"{site.url}/ulm"
    assert documents["/latin"].text == "K\xf6ln lies on the Rhine."
    assert documents["/notes.md"].text.startswith("# Notes")
    assert documents["/people.csv/7"].title == "Ada"
    assert documents["/people.ndjson/8"].text == "Bob was born in Bonn."


@pytest.mark.parametrize(("path", "limits", "why"), [
    ("/none", {}, "status 404"), ("/picture", {}, "'image/png', which is not read"),
    ("/large", {"file_bytes": 100}, "larger than 100 bytes"), ("/loop", {}, "redirects more than 5 times"),
    ("/file", {}, "no http or https address"), ("/other", {}, "no http or https address"),
    ("/ulm", {"fetch": "public"}, "set BANYAN_FETCH=any"), ("/old", {"fetch": "public"}, "set BANYAN_FETCH=any")])
def test_what_is_not_fetched_is_a_failure_that_says_why(site, path, limits, why):
    documents, (reason,) = load(site, path, **limits)
    assert documents == {}
    assert why in reason


@pytest.mark.parametrize("host", ["localhost", "[::1]", "0.0.0.0", "[::ffff:127.0.0.1]", "2130706433", "127.1"])
def test_no_spelling_of_this_machine_is_reached(site, host):
    site.asked.clear()
    failures = []
    address = Address(site.url.replace("127.0.0.1", host) + "/ulm")
    assert list(load_documents([address], on_failure=failures.append, limits=Limits(fetch="public"))) == []
    assert len(failures) == 1
    assert site.asked == []


def test_a_password_in_an_address_is_not_sent(site):
    site.asked.clear()
    documents, (reason,) = load(site, "/ulm".replace("/ulm", "@127.0.0.1/ulm"))
    assert documents == {}
    assert "contains a user or a password" in reason
    assert site.asked == []


def test_nothing_is_fetched_unless_it_is_allowed(site):
    site.asked.clear()
    with pytest.raises(IngestError, match="set BANYAN_FETCH=public"):
        load_documents([Address(f"{site.url}/ulm")], on_failure=lambda _: None, limits=Limits())
    assert site.asked == []


def test_the_command_line_builds_from_addresses(site, tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = scripted.Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    shell("build", f"{site.url}/ulm", "--kb", "kb").refused("BANYAN_FETCH=public")
    assert not (tmp_path / "home" / "kb").exists(), "nothing was made"
    monkeypatch.setenv("BANYAN_FETCH", "any")
    built = shell("build", f"{site.url}/ulm", f"{site.url}/none", "--kb", "kb", "--json")
    assert built.code == 0, "one of the two was there"
    assert "the server answers with the status 404" in built.err
    assert f"{site.url}/ulm" in shell("documents", "--kb", "kb").out
