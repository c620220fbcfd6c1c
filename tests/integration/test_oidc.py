"""Tokens of an issuer: which count, what they grant, what is asked of the issuer; and `banyan serve` with them."""

import asyncio
import base64
import time

import httpx
import pytest
from banyan.config import Settings
from banyan.runtime import audit
from banyan.schemas.services import is_trustworthy
from banyan.server.security import clients
from banyan.server.security.clients import COOLDOWN, KEYS_LIFESPAN, IssuerError, TokenError, Tokens
from banyan.server.security.keys import Bases
from pydantic import ValidationError

from .. import oidc_issuer, serving
from ..oidc_issuer import SigningKey
from ..waiting import Clock

pytestmark = pytest.mark.integration

NONE = Bases(frozenset())
WELL_KNOWN = "/.well-known/openid-configuration"


@pytest.fixture(autouse=True)
def published(issuer):
    issuer.publish(issuer.key)
    issuer.asked.clear()


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(clients.time, "monotonic", clock)
    return clock


def tokens(issuer, **more):
    return Tokens(Settings(_env_file=None, **(issuer.settings() | more)))


def check(tokens, token):
    return asyncio.run(tokens.check(token))


def test_a_token_grants_what_its_claims_say(issuer):
    granted = check(tokens(issuer), issuer.token("ask read", bases=["papers", "notes"]))
    assert granted[:3] == ("oidc|ann", {"ask", "read"}, Bases(frozenset({"papers", "notes"})))
    for claims, scopes in (({"scope": None}, set()), ({"scope": "ask openid banyan:fly"}, set()),
                           ({"scope": ["banyan:ask", 7, "profile"]}, {"ask"}), ({"scope": {"ask": True}}, set())):
        assert check(tokens(issuer), issuer.token(**claims)).scopes == scopes, claims
    for claims, bases in (({"bases": "*"}, Bases()), ({"bases": None}, NONE), ({"bases": []}, NONE),
                          ({"bases": 7}, NONE), ({"bases": "a b"}, Bases(frozenset("ab")))):
        assert check(tokens(issuer), issuer.token(**claims)).bases == bases, claims
    assert check(tokens(issuer, oidc_bases_claim=""), issuer.token(bases="a")).bases == Bases()
    roles = {"realm_access": {"roles": ["ask"]}, "https://example.org/roles": "write"}
    for claim, scopes in (("realm_access.roles", {"ask"}), ("https://example.org/roles", {"write"}),
                          ("realm_access.none", set()), ("realm_access.roles.deeper", set())):
        checked = tokens(issuer, oidc_scopes_claim=claim, oidc_scope_prefix="")
        assert check(checked, issuer.token(**roles)).scopes == scopes, claim


def test_a_subject_can_take_the_name_of_no_key_and_break_no_line(issuer):
    for subject, name in (("auth0|5f", "oidc|auth0|5f"), ("a@b.org", "oidc|a@b.org"), ("a:b\nx", "oidc|a%3Ab%0Ax")):
        assert check(tokens(issuer), issuer.token(sub=subject)).name == name
    with pytest.raises(TokenError, match="1 to 255"):
        check(tokens(issuer), issuer.token(sub="x" * 256))


def test_what_does_not_count_is_told_why(issuer):
    checked = tokens(issuer)
    reasons = {"expired": "has expired", "for others": "Audience", "of another issuer": "issuer", "without end": "exp"}
    for name, token in issuer.bad_tokens("ask").items():
        with pytest.raises(TokenError) as told:
            check(checked, token)
        assert reasons.get(name, "") in str(told.value), name
        assert token not in str(told.value)
    assert check(checked, issuer.token("ask", exp=int(time.time()) - 5)).scopes == {"ask"}, "clocks differ a little"


def test_a_published_secret_makes_no_token_and_strange_keys_are_passed_over(issuer):
    secret = b"s" * 32
    shared = {"kty": "oct", "kid": "shared", "k": base64.urlsafe_b64encode(secret).decode()}
    issuer.published["/keys"]["keys"] += [shared, {"kty": "MLWE"}, {"kty": "EC", "crv": "?"}, 7]
    checked = tokens(issuer)
    assert check(checked, issuer.token("ask")).scopes == {"ask"}
    with pytest.raises(TokenError, match="not accepted"):
        check(checked, issuer.token("ask", key=SigningKey("shared", secret), algorithm="HS256"))


def test_keys_are_read_once_and_again_for_a_new_one_at_a_bounded_rate(issuer, clock):
    checked, new = tokens(issuer), SigningKey.rsa("new")
    for _ in range(3):
        check(checked, issuer.token())
    assert issuer.asked == [WELL_KNOWN, "/keys"]
    issuer.publish(issuer.key, new)
    with pytest.raises(TokenError):
        check(checked, issuer.token(key=new))
    assert len(issuer.asked) == 2, "a moment after the last look"
    clock.now += COOLDOWN
    assert check(checked, issuer.token(key=new)).name == "oidc|ann"
    for _ in range(5):
        with pytest.raises(TokenError):
            check(checked, issuer.token(key=new._replace(kid="guessed")))
    assert len(issuer.asked) == 4
    issuer.publish(issuer.key)
    clock.now += KEYS_LIFESPAN + 1
    with pytest.raises(TokenError):
        check(checked, issuer.token(key=new))
    assert len(issuer.asked) == 6, "a key that was taken back ends"


@pytest.mark.parametrize("more", [
    {"issuer": "https://evil.example"}, {"jwks_uri": "http://keys.example/keys"}, {"jwks_uri": None},
    {"jwks_uri": "file:///etc/passwd"}])
def test_a_discovery_document_that_leads_elsewhere_is_not_followed(issuer, more):
    issuer.publish(issuer.key, **more)
    checked = tokens(issuer)
    for _ in range(3):
        with pytest.raises(IssuerError):
            check(checked, issuer.token("ask"))
    assert issuer.asked == [WELL_KNOWN], "nor is it read for each token"


@pytest.mark.parametrize("path", [WELL_KNOWN, "/keys"])
@pytest.mark.parametrize("answer", [404, 302, b"", b"[]"])
def test_what_is_no_document_or_redirects_is_not_read(issuer, path, answer):
    issuer.published[path] = answer
    with pytest.raises(IssuerError):
        check(tokens(issuer), issuer.token("ask"))
    assert "/elsewhere" not in issuer.asked


def test_an_issuer_is_named_with_an_audience_and_by_https():
    for url in ("https://login.example.org/realms/x", "http://127.0.0.1:8080", "http://localhost/x", "http://[::1]:1/"):
        assert Settings(_env_file=None, oidc_issuer=url, oidc_audience="a").oidc_issuer == url
    for url in ("http://login.example.org", "ftp://x", "login.example.org", "https://u:p@x.org", "https://x.org/?q=1",
                "https://", "http://127.0.0.1.evil.org", "http://[::1"):
        with pytest.raises(ValidationError, match="should be the issuer's URL"):
            Settings(_env_file=None, oidc_issuer=url, oidc_audience="a")
    with pytest.raises(ValidationError, match="BANYAN_OIDC_AUDIENCE"):
        Settings(_env_file=None, oidc_issuer="https://x.org")
    assert not is_trustworthy("https://x.org:99999/")


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
