"""What every request passes, without a socket: hosts, origins, keys, rates, sizes, ids and headers."""

import errno
import json
import os

import httpx
import pytest
from banyan.config import Settings
from banyan.server.security.clients import Clients
from banyan.server.security.gate import Envelope, Gate, Hosts, same_origin
from banyan.server.security.keys import KEYS_FILE, Keys, KeysError
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

pytestmark = pytest.mark.anyio
HERE = Hosts.bound("127.0.0.1")


def behind(tmp_path, *, needs_keys: bool = False, workers: int = 1, **limits) -> httpx.AsyncClient:
    async def tell(request: Request) -> JSONResponse:
        body = await request.body()
        return JSONResponse({"client": request.state.client, "scopes": sorted(request.state.scopes), "read": len(body)})

    settings = Settings(home=tmp_path, _env_file=None, **limits)
    app = Starlette(routes=[Route("/{path:path}", tell, methods=["GET", "POST"])])
    app.add_middleware(Gate, settings=settings, clients=Clients(settings), hosts=HERE, needs_keys=needs_keys,
                       workers=workers)
    app.add_middleware(Envelope)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8000")


async def test_a_key_gives_its_scopes_until_it_is_taken_back(tmp_path):
    keys = Keys(tmp_path / KEYS_FILE)
    async with behind(tmp_path) as client:
        said = keys.make("ann", ["ask", "read"])
        for headers in ({"Authorization": f"Bearer {said}"}, {"authorization": f"bearer  {said}"}, {"X-API-Key": said}):
            told = (await client.get("/api/builds", headers=headers)).json()
            assert (told["client"], told["scopes"]) == ("ann", ["ask", "read"])
        for headers in ({}, {"Authorization": f"Bearer {said}x"}, {"Authorization": f"Basic {said}"},
                        {"X-API-Key": ""}):
            refused = await client.get("/api/builds", headers=headers)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
        again = keys.make("ann", ["read"])
        assert [(await client.get("/x", headers={"X-API-Key": one})).status_code for one in (said, again)] == [401, 200]
        keys.revoke("ann")
        assert (await client.get("/x", headers={"X-API-Key": again})).status_code == 401
        assert (await client.get("/x")).status_code == 401, "the last key was revoked, not the need of one"
        (tmp_path / KEYS_FILE).unlink()
        assert (await client.get("/x")).status_code == 401, "nor does a file that is gone open a server that runs"
    async with behind(tmp_path) as client:
        assert (await client.get("/x")).status_code == 200
    async with behind(tmp_path, needs_keys=True) as client:
        assert (await client.get("/x")).status_code == 401, "beyond this machine nobody is let in without"


async def test_a_damaged_file_of_keys_lets_nobody_in(tmp_path):
    (tmp_path / KEYS_FILE).write_text('{"keys": [{"name": "x"}', "utf-8")
    async with behind(tmp_path) as client:
        said = await client.get("/x")
    assert (said.status_code, said.json()["error"]["type"]) == (503, "KeysError")
    assert str(tmp_path) not in said.text


def test_a_stored_key_that_is_not_valid_lets_nobody_in(tmp_path):
    file = tmp_path / KEYS_FILE
    secret = Keys(file).make("ann", ["read"])
    file.write_text(file.read_text("utf-8").replace('"ann"', '"local"'), "utf-8")
    with pytest.raises(KeysError, match="cannot be read"):
        Keys(file).find(secret)


def test_keys_are_stored_as_hashes_for_their_owner_alone(tmp_path):
    keys = Keys(tmp_path / KEYS_FILE)
    said = keys.make("ann", ["write", "read"])
    (stored,) = json.loads((tmp_path / KEYS_FILE).read_text("utf-8"))["keys"]
    assert said not in json.dumps(stored)
    assert stored["scopes"] == ["read", "write"]
    if os.name == "posix":
        assert (tmp_path / KEYS_FILE).stat().st_mode & 0o777 == 0o600
    for name in ("../ann", "local", "ann\n", "local\n", "a b"):
        with pytest.raises(KeysError, match="cannot name a key"):
            keys.make(name, ["read"])
    with pytest.raises(KeysError, match="no key 'bob'"):
        keys.revoke("bob")


async def test_bodies_are_bounded_as_they_say_and_as_they_come(tmp_path):
    async def pieces():
        for _ in range(3):
            yield b"x" * 500

    async with behind(tmp_path, max_request_kb=1, max_upload_mb=0.01) as client:
        assert (await client.post("/x", content=b"x" * 1024)).json()["read"] == 1024
        for content in (b"x" * 1025, pieces()):
            assert (await client.post("/x", content=content)).status_code == 413
        upload = "/api/knowledge-bases/demo/builds"
        assert (await client.post(upload, content=b"x" * 10_000)).json()["read"] == 10_000
        assert (await client.post(upload, content=b"x" * 10_500)).status_code == 413


async def test_every_response_has_an_id_and_the_headers_that_protect_it(tmp_path):
    async with behind(tmp_path) as client:
        mine = await client.get("/x", headers={"X-Request-ID": "mine.1-a_B"})
        others = [await client.get("/x", headers={"X-Request-ID": one}) for one in ("a b", "x" * 65, "<script>")]
        refused = await client.get("/x", headers={"Host": "evil.example"})
    assert mine.headers["x-request-id"] == "mine.1-a_B"
    assert len({said.headers["x-request-id"] for said in others}) == 3
    assert not {said.headers["x-request-id"] for said in others} & {"a b", "x" * 65, "<script>"}
    assert refused.json()["error"]["request_id"] == refused.headers["x-request-id"]
    for said in (mine, refused):
        assert said.headers["content-security-policy"].startswith("default-src 'self';")
        assert said.headers["x-content-type-options"] == "nosniff"


async def test_a_key_may_have_a_lower_rate_of_its_own_divided_among_processes(tmp_path):
    keys = Keys(tmp_path / KEYS_FILE)
    slow, fast = (keys.make(name, ["read"], requests_per_minute=most) for name, most in (("slow", 4), ("fast", 1_000)))

    async def answered(key, **more):
        async with behind(tmp_path, requests_per_minute=6, **more) as client:
            return [(await client.get("/x", headers={"X-API-Key": key})).status_code for _ in range(8)].count(200)

    assert [await answered(slow), await answered(slow, workers=2), await answered(slow, workers=9)] == [4, 2, 1]
    assert await answered(fast) == 6, "never more than any client"
    async with behind(tmp_path, requests_per_minute=6) as client:
        said = [(await client.get("/x", headers={"X-API-Key": slow})).status_code for _ in range(5)]
        assert said == [200, 200, 200, 200, 429]
        assert (await client.get("/x", headers={"X-API-Key": fast})).status_code == 200, "others do not wait"
        again = keys.make("slow", ["read"], requests_per_minute=5)
        assert (await client.get("/x", headers={"X-API-Key": again})).status_code == 200, "from then on"


@pytest.mark.parametrize(("host", "allowed"), [
    ("localhost", True), ("LOCALHOST:8000", True), ("127.0.0.1:1", True), ("[::1]:8000", True), ("10.0.0.7", False),
    ("evil.example", False), ("localhost.evil.example", False), ("localhost@evil.example", False), ("", False),
    ("localhost/x", False), ("[::1", False), ("localhost:port", False), ("localhost?x", False)])
def test_the_names_of_a_server(host, allowed):
    assert HERE.allow(host) is allowed
    everywhere = Hosts.bound("0.0.0.0", "kb.example.org")
    assert [everywhere.allow(name) for name in ("10.0.0.7:8000", "[fe80::1]", "KB.example.org:1", "evil.example")] == [
        True, True, True, False]


@pytest.mark.parametrize(("headers", "same"), [
    ([], True), ([("origin", "http://a:1")], True), ([("origin", "https://A:1")], True),
    ([("origin", "http://a:2")], False), ([("origin", "null")], False), ([("origin", "")], False),
    ([("origin", "http://[")], False),
    ([("origin", "http://a:1@evil")], False), ([("origin", "http://a:1"), ("origin", "http://evil")], False),
    ([("sec-fetch-site", "same-origin")], True), ([("sec-fetch-site", "none")], True),
    ([("sec-fetch-site", "same-site")], False), ([("sec-fetch-site", "cross-site"), ("origin", "http://a:1")], False)])
def test_what_is_of_the_same_origin(headers, same):
    raw = [(name.encode(), value.encode()) for name, value in (("host", "a:1"), *headers)]
    assert same_origin(Headers(raw=raw)) is same


@pytest.mark.parametrize(("headers", "told"), [
    ([("Transfer-Encoding", "chunked"), ("Content-Length", "4")], "send one of both"),
    ([("Host", "127.0.0.1"), ("Host", "evil.example")], "does not accept this host name"),
    ([("Host", "")], "does not accept this host name")])
async def test_headers_that_contradict_each_other_are_refused(tmp_path, headers, told):
    async with behind(tmp_path) as client:
        refused = await client.post("/x", content=b"body", headers=headers)
    assert (refused.status_code, told in refused.text) == (400, True)


@pytest.mark.parametrize(("end", "status"), [(b"--", 200), (b"--\r\nepilogue", 200), (b"", 400), (b"\r\n", 400)])
async def test_an_upload_that_ends_before_its_last_boundary_is_refused(tmp_path, end, status):
    part = b'--b0\r\nContent-Disposition: form-data; name="files"; filename="a.md"\r\n\r\ntext\r\n'
    async with behind(tmp_path) as client:
        told = await client.post("/x", content=part * 2 + b"--b0" + end,
                                 headers={"Content-Type": 'multipart/form-data; boundary="b0"'})
    assert told.status_code == status


def test_a_key_is_revoked_where_nothing_more_can_be_written(tmp_path, monkeypatch):
    keys = Keys(tmp_path / KEYS_FILE)
    secret = keys.make("ann", ["read"])
    other = keys.make("bob", ["read"])

    def full(*_given, **_named):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("banyan.server.security.keys.whole_file", full)
    monkeypatch.setattr("banyan.runtime.audit.record", full)
    with pytest.raises(OSError, match="No space"):
        keys.make("eve", ["read"])
    keys.revoke("ann")
    for known in (keys, Keys(tmp_path / KEYS_FILE)):
        assert known.find(secret) is None
        assert known.find(other).name == "bob"
