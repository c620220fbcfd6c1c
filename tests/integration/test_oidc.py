"""`banyan serve` with an issuer's tokens, read over HTTP: no key is needed, and nobody is let in without either."""

import socket

import httpx
import pytest
from banyan.runtime import audit
from banyan.server.security import clients

from .. import oidc_issuer, serving

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def server(tmp_path_factory, issuer):
    # On all addresses: that alone asks for a key or an issuer.
    with serving.served(tmp_path_factory.mktemp("server"), host="0.0.0.0", **issuer.variables()) as server:
        yield server


def get(server, path, token):
    return httpx.get(f"{server.url}{path}", headers={"Authorization": f"Bearer {token}"} if token else {}, timeout=30)


def test_tokens_are_all_that_is_needed(server, issuer):
    assert get(server, "/api/knowledge-bases", "").status_code == 401
    assert get(server, "/api/knowledge-bases", issuer.token("read")).json() == {"items": []}
    assert get(server, "/api/knowledge-bases", issuer.token("ask")).status_code == 403
    assert get(server, "/api/health", "wrong").status_code == 200, "what anybody may ask needs no good token"
    made = httpx.put(f"{server.url}/api/knowledge-bases/mine/schema", timeout=60, json={
        "text": '{"name": "s", "entity_types": [{"name": "Person"}]}', "who": "somebody"},
        headers={"Authorization": f"Bearer {issuer.token('read write review', sub='eve@example.org')}"})
    assert made.status_code == 200, made.text
    assert [(entry.who, entry.action) for entry in audit.entries(server.home)] == [("oidc|eve@example.org", "schema")]
    assert issuer.token("read") not in server.said


def test_an_issuer_that_is_gone_is_told(tmp_path):
    with oidc_issuer.serving() as issuer:
        token = issuer.token("read")
    with serving.served(tmp_path, **issuer.variables()) as server:
        refused = get(server, "/api/knowledge-bases", token)
        assert (refused.status_code, refused.json()["error"]["type"]) == (503, "IssuerError")
        assert refused.headers["retry-after"]
        assert get(server, "/api/ready", token).status_code == 200
        assert f"the keys of the issuer {issuer.url} cannot be read: ConnectError" in server.said


@pytest.mark.parametrize("answer", [404, 302, b"", b"[]", b"x" * (clients._MOST_BYTES + 1)])
def test_what_is_no_document_is_not_read(issuer, answer):
    issuer.published["/odd"] = answer
    with pytest.raises(ValueError):
        clients.read_json(f"{issuer.url}/odd")
    assert "/elsewhere" not in issuer.asked


def test_an_issuer_that_does_not_answer_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(clients, "_WITHIN", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(httpx.TimeoutException):
            clients.read_json(f"http://127.0.0.1:{silent.getsockname()[1]}/")
