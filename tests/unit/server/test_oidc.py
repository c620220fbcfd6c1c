"""Tokens of an issuer: which count, what they grant, and what is asked of the issuer."""

import asyncio
import time

import pytest
from banyan.config import Settings
from banyan.schemas.services import is_trustworthy
from banyan.server.security import clients
from banyan.server.security.clients import BETWEEN, KEPT, IssuerError, TokenError, Tokens
from banyan.server.security.keys import NONE, Bases
from joserfc.jwk import OctKey, RSAKey
from pydantic import ValidationError

from ... import oidc_issuer
from ...waiting import Clock

WELL_KNOWN = "/.well-known/openid-configuration"


@pytest.fixture(scope="module")
def known():
    return oidc_issuer.Issuer()


@pytest.fixture
def issuer(known, monkeypatch):
    known.publish(known.key)
    known.asked.clear()
    monkeypatch.setattr(clients, "read_json", known.read_json)
    return known


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
    assert check(tokens(issuer, oidc_bases_claim=""), issuer.token(bases="a")).bases.every
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
    reasons = {"expired": "has expired", "for others": "aud", "of another issuer": "iss", "without end": "exp"}
    for name, token in issuer.bad_tokens("ask").items():
        with pytest.raises(TokenError) as told:
            check(checked, token)
        assert reasons.get(name, "") in str(told.value), name
        assert token not in str(told.value)
    assert check(checked, issuer.token("ask", exp=int(time.time()) - 5)).scopes == {"ask"}, "clocks differ a little"


def test_a_published_secret_makes_no_token_and_strange_keys_are_passed_over(issuer):
    secret = OctKey.generate_key(256, {"kid": "shared"})
    issuer.publish(issuer.key)
    issuer.published["/keys"]["keys"] += [secret.as_dict(private=True), {"kty": "MLWE"}, {"kty": "EC", "crv": "?"}, 7]
    checked = tokens(issuer)
    assert check(checked, issuer.token("ask")).scopes == {"ask"}
    with pytest.raises(TokenError, match="cannot be checked"):
        check(checked, issuer.token("ask", key=secret, algorithm="HS256"))


def test_keys_are_read_once_and_again_for_a_new_one_at_a_bounded_rate(issuer, clock):
    checked, new = tokens(issuer), RSAKey.generate_key(2048, {"kid": "new"})
    for _ in range(3):
        check(checked, issuer.token())
    assert issuer.asked == [WELL_KNOWN, "/keys"]
    issuer.publish(issuer.key, new)
    with pytest.raises(TokenError):
        check(checked, issuer.token(key=new))
    assert len(issuer.asked) == 2, "a moment after the last look"
    clock.now += BETWEEN
    assert check(checked, issuer.token(key=new)).name == "oidc|ann"
    for _ in range(5):
        with pytest.raises(TokenError):
            check(checked, issuer.token(key=RSAKey.generate_key(2048, {"kid": "guessed"})))
    assert len(issuer.asked) == 4
    issuer.publish(issuer.key)
    clock.now += KEPT
    with pytest.raises(TokenError):
        check(checked, issuer.token(key=new))
    assert len(issuer.asked) == 6, "a key that was taken back ends"


@pytest.mark.parametrize("more", [
    {"issuer": "https://evil.example"}, {"jwks_uri": "http://keys.example/keys"}, {"jwks_uri": None},
    {"jwks_uri": "file:///etc/passwd"}])
def test_a_discovery_document_that_leads_elsewhere_is_not_followed(issuer, more):
    issuer.publish(issuer.key, **more)
    with pytest.raises(IssuerError):
        check(tokens(issuer), issuer.token("ask"))
    assert issuer.asked == [WELL_KNOWN]


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
