"""An OpenID Connect issuer of the tests' own: keys, tokens, and what it publishes, by HTTP or without."""

import base64
import hmac
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jws
from joserfc.jwk import ECKey, Key, KeySet, RSAKey

AUDIENCE = "banyan-tests"


class Issuer:
    """Signs tokens with an RSA key; `published` is what it lets know, by path, and `asked` which paths were read."""

    def __init__(self, url: str = "http://127.0.0.1:9") -> None:
        self.url = url
        self.key: Key = RSAKey.generate_key(2048, {"kid": "first", "use": "sig", "alg": "RS256"})
        self.asked: list[str] = []
        self.published: dict[str, Any] = {}
        self.publish(self.key)

    def publish(self, *keys: Key, **more: Any) -> None:
        """Let these keys be known, and these values of the discovery document."""
        self.published["/.well-known/openid-configuration"] = {
            "issuer": self.url, "jwks_uri": f"{self.url}/keys", **more}
        self.published["/keys"] = KeySet(list(keys)).as_dict(private=False)

    def settings(self) -> dict[str, str]:
        """What the server has to be set to."""
        return {"oidc_issuer": self.url, "oidc_audience": AUDIENCE, "oidc_bases_claim": "bases"}

    def variables(self) -> dict[str, str]:
        """The same as variables of an environment."""
        return {f"BANYAN_{name.upper()}": value for name, value in self.settings().items()}

    def token(self, scopes: str = "", *, key: Key | None = None, algorithm: str = "RS256", **claims: Any) -> str:
        """A token, right in all but what is given; a claim that is None is left out."""
        key = key or self.key
        now = int(time.time())
        all_claims = {"iss": self.url, "aud": AUDIENCE, "sub": "ann", "iat": now, "exp": now + 600, "bases": "*",
                      "scope": " ".join(f"banyan:{scope}" for scope in scopes.split())} | claims
        header = {"alg": algorithm, **({"kid": key.kid} if key.kid else {})}
        # As JSON of ASCII alone, which also has letters that no encoding has.
        payload = json.dumps({name: value for name, value in all_claims.items() if value is not None})
        return jws.serialize_compact({"typ": "JWT", **header}, payload, key, algorithms=[algorithm])

    def bad_tokens(self, scopes: str) -> dict[str, str]:
        """Tokens that do not count, each for one reason."""
        now = int(time.time())
        good = self.token(scopes)
        head, body, signature = good.split(".")
        other = RSAKey.generate_key(2048, {"kid": self.key.kid})
        unsigned = _base64(b'{"alg":"none","typ":"JWT"}')
        # What everybody knows, the public key, taken for a secret that both sides share.
        shared = f"{_base64(json.dumps({'alg': 'HS256', 'kid': self.key.kid}).encode())}.{body}"
        by_secret = hmac.digest(self.key.as_pem(private=False), shared.encode(), "sha256")
        return {
            "expired": self.token(scopes, exp=now - 60), "without end": self.token(scopes, exp=None),
            "not yet": self.token(scopes, nbf=now + 120), "of another issuer": self.token(scopes, iss="https://evil"),
            "of no issuer": self.token(scopes, iss=None), "for others": self.token(scopes, aud="somebody-else"),
            "for nobody": self.token(scopes, aud=None), "of nobody": self.token(scopes, sub=None),
            "of an empty subject": self.token(scopes, sub=""),
            "signed by another": self.token(scopes, key=other),
            "signed by a key that is not known": self.token(scopes, key=RSAKey.generate_key(2048, {"kid": "other"})),
            "signed by a curve of others": self.token(scopes, key=ECKey.generate_key("P-256", {"kid": "first"}),
                                                      algorithm="ES256"),
            "unsigned": f"{unsigned}.{body}.", "unsigned, with a signature": f"{unsigned}.{body}.{signature}",
            "signed by a shared secret": f"{shared}.{_base64(by_secret)}",
            "changed": f"{head}.{body[:-4]}AAAA.{signature}", "without a signature": f"{head}.{body}.",
            "no token": "a.b.c"}

    def read_json(self, url: str) -> Any:
        """What is published at an address, as `oidc.read_json` reads it, without a socket."""
        return self.published[self._path(url)]

    def _path(self, url: str) -> str:
        path = url.removeprefix(self.url)
        self.asked.append(path)
        return path


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@contextmanager
def serving() -> Iterator[Issuer]:
    """An issuer on a port of this machine. What is published as bytes is sent as it is, a number as a status."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = issuer.published.get(issuer._path(self.path), 404)
            self.send_response(found if isinstance(found, int) else 200)
            if found == 302:
                self.send_header("Location", f"{issuer.url}/elsewhere")
            self.end_headers()
            if not isinstance(found, int):
                self.wfile.write(found if isinstance(found, bytes) else json.dumps(found).encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer = Issuer(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()
