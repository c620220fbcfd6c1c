"""An OpenID Connect issuer of the tests' own: keys, tokens, and what it publishes, by HTTP or without."""

import base64
import hmac
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .http_servers import Handler, listening

AUDIENCE = "banyan-tests"


class SigningKey(NamedTuple):
    kid: str
    private: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

    @classmethod
    def rsa(cls, kid: str) -> "SigningKey":
        return cls(kid, rsa.generate_private_key(65537, 2048))

    def published(self) -> dict[str, Any]:
        shown = jwt.algorithms.RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True)
        return {**shown, "kid": self.kid, "use": "sig", "alg": "RS256"}


class Issuer:
    def __init__(self, url: str = "http://127.0.0.1:9") -> None:
        self.url = url
        self.key = SigningKey.rsa("first")
        self.asked: list[str] = []
        self.published: dict[str, Any] = {}
        self.publish(self.key)

    def publish(self, *keys: SigningKey, **more: Any) -> None:
        self.published["/.well-known/openid-configuration"] = {
            "issuer": self.url, "jwks_uri": f"{self.url}/keys", **more}
        self.published["/keys"] = {"keys": [key.published() for key in keys]}

    def settings(self) -> dict[str, str]:
        return {"oidc_issuer": self.url, "oidc_audience": AUDIENCE, "oidc_bases_claim": "bases"}

    def variables(self) -> dict[str, str]:
        return {f"BANYAN_{name.upper()}": value for name, value in self.settings().items()}

    def token(self, scopes: str = "", *, key: SigningKey | None = None, algorithm: str = "RS256", **claims: Any) -> str:
        key = key or self.key
        now = int(time.time())
        all_claims = {"iss": self.url, "aud": AUDIENCE, "sub": "ann", "iat": now, "exp": now + 600, "bases": "*",
                      "scope": " ".join(f"banyan:{scope}" for scope in scopes.split())} | claims
        # As JSON of ASCII alone, which also has letters that no encoding has.
        payload = json.dumps({name: value for name, value in all_claims.items() if value is not None})
        return jwt.api_jws.encode(payload.encode(), key.private, algorithm, {"kid": key.kid})

    def bad_tokens(self, scopes: str) -> dict[str, str]:
        """Tokens that do not count, each for one reason."""
        now = int(time.time())
        good = self.token(scopes)
        head, body, signature = good.split(".")
        other = SigningKey.rsa(self.key.kid)
        unsigned = _base64(b'{"alg":"none","typ":"JWT"}')
        # What everybody knows, the public key, taken for a secret that both sides share.
        shared = f"{_base64(json.dumps({'alg': 'HS256', 'kid': self.key.kid}).encode())}.{body}"
        public = self.key.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        by_secret = hmac.digest(public, shared.encode(), "sha256")
        return {
            "expired": self.token(scopes, exp=now - 60), "without end": self.token(scopes, exp=None),
            "not yet": self.token(scopes, nbf=now + 120), "of another issuer": self.token(scopes, iss="https://evil"),
            "of no issuer": self.token(scopes, iss=None), "for others": self.token(scopes, aud="somebody-else"),
            "for nobody": self.token(scopes, aud=None), "of nobody": self.token(scopes, sub=None),
            "of an empty subject": self.token(scopes, sub=""),
            "signed by another": self.token(scopes, key=other),
            "signed by a key that is not known": self.token(scopes, key=SigningKey.rsa("other")),
            "signed by a curve of others": self.token(scopes, key=SigningKey(
                "first", ec.generate_private_key(ec.SECP256R1())), algorithm="ES256"),
            "unsigned": f"{unsigned}.{body}.", "unsigned, with a signature": f"{unsigned}.{body}.{signature}",
            "signed by a shared secret": f"{shared}.{_base64(by_secret)}",
            "changed": f"{head}.{body[:-4]}AAAA.{signature}", "without a signature": f"{head}.{body}.",
            "no token": "a.b.c"}


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@contextmanager
def serving() -> Iterator[Issuer]:
    """An issuer on a port of this machine. What is published as bytes is sent as it is, a number as a status."""

    class Publisher(Handler):
        def respond(self) -> None:
            issuer.asked.append(self.path)
            found = issuer.published.get(self.path, 404)
            if isinstance(found, int):
                self.answer(found, **{"Location": f"{issuer.url}/elsewhere"} if found == 302 else {})
            else:
                self.answer(200, found if isinstance(found, bytes) else json.dumps(found).encode())

    with listening(Publisher) as url:
        issuer = Issuer(url)
        yield issuer
