"""`banyan serve` against clients that mean it ill: nothing succeeds, nothing makes it fail, nobody is kept out."""

import contextlib
import http.client
import re
import resource
import socket
import threading
import time
from pathlib import Path

import httpx
import pytest
import schemathesis
import uvicorn
from banyan.cli.commands.serve import MOST_CONNECTIONS, Connection
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.internal.conjecture.utils import many
from schemathesis import GenerationMode
from schemathesis.checks import FailureGroup
from schemathesis.specs.openapi.checks import ignored_auth, negative_data_rejection, positive_data_acceptance
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from .. import rest, serving, warm_start
from ..conftest import EXAMPLES
from ..ports import free_port

pytestmark = pytest.mark.integration
KB = "/api/knowledge-bases"
OUTSIDE = "../../../../../../../../etc/passwd"
TRAVERSALS = [OUTSIDE, "/etc/passwd", "..", ".", "a/../../b", "..\\..\\b", "C:\\b", "a\x00b", "a\nb", ".hidden", "con",
              "ad\u202e", "a" * 300, "~/b", "%2e%2e/b", "demo/../demo", "server.sqlite", "．．／b"]
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "secret.txt").write_text("the secret beside the home folder", "utf-8")
    return folder


@pytest.fixture(scope="module")
def server(folder):
    """A server with small limits, as few descriptors as some systems begin with, and one knowledge base."""
    with serving.served(folder, BANYAN_MAX_UPLOAD_MB="1", BANYAN_MAX_REQUEST_KB="64",
                        **{warm_start.HASHED: "1", warm_start.DESCRIPTORS: "256"}) as server:
        with httpx.Client(base_url=server.url, timeout=60) as client:
            made = rest.built(client, "demo", {"ada.md": f"# Ada {SCRIPT} Byron\n\nAda Byron was born in Ulm.\n"})
        assert made["state"] == "done", made["error"]
        yield server
        assert "Traceback" not in server.said


def _refused(response, *statuses):
    assert response.status_code in (statuses or range(400, 500)), response.text
    error = response.json()["error"]
    assert set(error) == {"type", "message", "request_id"}
    assert error["request_id"] == response.headers["x-request-id"]
    return error


def _raw(server, request: str, rest: bytes = b"\r\n") -> bytes:
    """What the server says to a request that no client would send: its first line, and what follows, as they are."""
    place = server.url.removeprefix("http://")
    host, port = place.split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(f"{request} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n".encode() + rest)
        said = b""
        while part := connection.recv(65536):
            said += part
    return said


@pytest.mark.parametrize("name", TRAVERSALS)
def test_no_name_of_a_knowledge_base_leads_anywhere(client, folder, name):
    path = "".join(f"%{byte:02X}" for byte in name.encode())
    for method, below in (("GET", ""), ("GET", "/documents"), ("GET", "/export?format=json"), ("POST", "/builds"),
                          ("POST", "/ask"), ("DELETE", "/document?id=x"), ("GET", "/graph/types")):
        said = client.request(method, f"{KB}/{path}{below}", json={"question": "x"} if below == "/ask" else None)
        assert said.status_code in ({400} if "\0" in name else {404, 405, 422}), (below, said.text)
        assert "secret" not in said.text
    _no_stray_files(folder)


@pytest.mark.parametrize("name", [OUTSIDE, "..", "..\\..\\b", "a\x00b"])
def test_no_name_of_an_upload_leads_anywhere(server, folder, name):
    """Sent byte by byte: clients would clean some of these names themselves."""
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    body = (f'--x\r\nContent-Disposition: form-data; name="files"; filename="{quoted}"\r\n\r\n# text\r\n'
            "--x--\r\n").encode()
    head = f"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: {len(body)}\r\n\r\n"
    said = _raw(server, f"POST {KB}/demo/builds", head.encode() + body).decode()
    assert re.match(r"HTTP/1.1 (400|422) ", said), said
    _no_stray_files(folder)


@pytest.mark.parametrize("path", [
    "/assets/../app.py", "/assets/%2e%2e/app.py", "/assets/..%2fapp.py", "/assets//etc/passwd", "/assets/..%5capp.py",
    "/assets/%00", "/assets/", "/..%2fsecret.txt", "/app.py"])
def test_the_page_serves_its_own_files_alone(server, path):
    said = _raw(server, f"GET {path}")
    assert re.match(rb"HTTP/1.1 (400|404|405) ", said), said


def test_a_schema_is_no_path_of_the_servers(client, folder):
    for name in (str(folder / "secret.txt"), OUTSIDE, "seeds/general"):
        said = client.post(f"{KB}/fresh/builds", files=[("files", ("a.md", "# A"))], data={"schema": name})
        assert _refused(said, 422)["type"] == "SchemaError"
        assert "secret beside" not in said.text


def _no_stray_files(folder: Path) -> None:
    assert {entry.name for entry in folder.iterdir()} <= {"home", "server.log", "secret.txt"}
    assert {entry.name for entry in (folder / "home").iterdir() if entry.is_dir()} <= {"demo", ".uploads"}


@pytest.mark.parametrize("body", [
    b"", b"{", b"null", b"[]", b"\xff\xfe", b'{"question": "\\ud800"}', b'{"question": "a\\u0000b", "x": 1}',
    b"[" * 60_000, b'{"question": ' + b"9" * 5000 + b"}", b'{"question": 1e999}', b'{"question": NaN}',
    b'{"question": ""}', b'{"question": "x", "thread": "../x"}', b'{"question": "x", "routes": ["x"]}',
    b'{"question": "x", "mode": "rm -rf"}', b'{"question": "' + b"x" * 10_001 + b'"}'])
@pytest.mark.parametrize("path", [f"{KB}/demo/ask", f"{KB}/demo/ask/stream", f"{KB}/demo/schema/decisions"])
def test_malformed_bodies_are_refused(client, path, body):
    _refused(client.post(path, content=body, headers={"content-type": "application/json"}), 400, 422)


@pytest.mark.parametrize("body", [
    b"", b"--x", b"--x\r\n\r\n", b"--x\r\nContent-Disposition: form-data\r\n\r\nx\r\n--x--\r\n",
    b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.md"\r\n\r\n# A',
    b'--x\r\nContent-Disposition: form-data; name="max_tokens"\r\n\r\n1e999\r\n--x--\r\n',
    b'--x\r\nContent-Disposition: form-data; name="max_cost"\r\n\r\nnan\r\n--x--\r\n',
    b'--x\r\nContent-Disposition: form-data; name="review"\r\n\r\nperhaps\r\n--x--\r\n',
    b'--x\r\nContent-Disposition: form-data; name="files"\r\n\r\nno file\r\n--x--\r\n',
    b"".join(b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n' for _ in range(1001)) + b"--x--\r\n"])
def test_malformed_uploads_are_refused(client, body):
    said = client.post(f"{KB}/fresh/builds", content=body, headers={"content-type": "multipart/form-data; boundary=x"})
    _refused(said, 400, 404, 422)


@pytest.mark.parametrize("query", [
    "limit=0", "limit=501", "limit=-1", "limit=x", f"limit={'9' * 5000}", "limit=1e3", "offset=-1",
    f"offset={2**63}", "q=" + "x" * 201])
def test_parameters_out_of_range_are_refused(client, query):
    _refused(client.get(f"{KB}/demo/documents?{query}"), 422)


@pytest.mark.parametrize("headers", [
    {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}])
def test_pages_of_others_change_nothing(client, headers):
    for method, path in (("POST", f"{KB}/demo/builds"), ("DELETE", f"{KB}/demo/document?id=ada.md"),
                         ("POST", f"{KB}/demo/ask"), ("POST", "/mcp"), ("POST", "/chat/kb/demo/invoke")):
        _refused(client.request(method, path, headers=headers), 403)
    allowed = client.options(f"{KB}/demo/ask", headers={**headers, "Access-Control-Request-Method": "POST"})
    read = client.get(KB, headers=headers)
    assert not [name for said in (allowed, read) for name in said.headers if name.startswith("access-control")]
    assert client.get(f"{KB}/demo/document", params={"id": "ada.md"}).status_code == 200


def test_connections_without_a_request_keep_nobody_out(server):
    (soft, hard), port = resource.getrlimit(resource.RLIMIT_NOFILE), int(server.url.rpartition(":")[2])
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with contextlib.ExitStack() as held:
        held.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(MOST_CONNECTIONS):
            held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60)).sendall(b"GET / HT")
        assert httpx.get(f"{server.url}/api/health", timeout=60).status_code == 200


def test_script_in_a_title_stays_a_text(client):
    """Everything is JSON, not to be taken for a page, but for the page itself, which runs its own scripts alone."""
    (item,) = client.get(f"{KB}/demo/documents").json()["items"]
    assert SCRIPT in item["title"]
    data = [client.get(f"{KB}/demo/{path}") for path in ("documents", "document?id=ada.md", "graph/overview")]
    assert {said.headers["content-type"] for said in data} == {"application/json"}
    for said in (*data, client.get("/")):
        assert said.headers["x-content-type-options"] == "nosniff"
        policy = said.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
    page = client.get(f"{KB}/demo/export", params={"format": "html"})
    assert page.headers["content-disposition"].startswith("attachment")
    assert SCRIPT not in page.text


NOTHING_TO_DENY = {(f"GET /api/{one}", GenerationMode.NEGATIVE) for one in ("health", "ready")}


@pytest.mark.filterwarnings("ignore:Overriding standard format")  # schemathesis has an idea of its own of email
# What it excludes is refused in the tests above, and tried at random in `test_fuzz`: here before a release.
@pytest.mark.parametrize("mode", [
    pytest.param(GenerationMode.POSITIVE, id="positive"),
    pytest.param(GenerationMode.NEGATIVE, id="negative", marks=pytest.mark.slow),
])
def test_the_description_of_the_api_is_true(server, mode):
    """Requests made from it, and from what it excludes, are answered as it says, and never with a 5xx."""
    schema = schemathesis.openapi.from_url(f"{server.url}/api/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 30
    wrong = []
    for operation in operations:
        try:
            with _drawing_collections():
                _answers_as_described(operation, mode)
        except (FailureGroup, AssertionError) as error:
            wrong.append(f"{operation.label}: {error}")
        except Unsatisfiable:  # it takes nothing
            assert (operation.label, mode) in NOTHING_TO_DENY
    assert not wrong, "\n\n".join(wrong)


def _draw_more(elements):
    if elements._depth is None:
        elements.__enter__()
        elements.steps = iter(elements)
    for _ in elements.steps:
        return True
    elements.__exit__(None, None, None)
    return False


@contextlib.contextmanager
def _drawing_collections():
    """Give Hypothesis `many.more` back, by which hypothesis-jsonschema 0.23.1 draws collections."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many, "more", _draw_more, raising=False)
        yield


def _answers_as_described(operation, mode):
    # Without keys none is asked for: what keys do is tested elsewhere. What is of the right form may be refused: a
    # name that nothing has. And parameters that an operation does not know are passed over.
    excluded = [ignored_auth, positive_data_acceptance, *([negative_data_rejection] if operation.method == "get"
                                                          else [])]

    @given(operation.as_strategy(generation_mode=mode))
    @settings(max_examples=EXAMPLES, derandomize=True, deadline=None, database=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    def ask(case):
        if mode is GenerationMode.POSITIVE and "kb" in case.path_parameters:
            case.path_parameters["kb"] = "demo"
        case.call_and_validate(excluded_checks=excluded, timeout=60)

    ask()


HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def port():
    """The port of a server that closes connections after half a second without a request's head."""
    port = free_port()
    app = Starlette(routes=[Route("/", lambda _: PlainTextResponse("here"))])
    server = uvicorn.Server(uvicorn.Config(app, port=port, http=Connection, timeout_keep_alive=0.5, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield port
    server.should_exit = True
    thread.join(60)


@pytest.mark.parametrize("answers", [0, 1])
def test_a_head_that_never_ends_ends_its_connection(port, answers):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        for _ in range(answers):
            connection.sendall(HEAD + b"\r\n")
            response = http.client.HTTPResponse(connection)
            response.begin()
            assert response.read() == b"here"
        connection.sendall(HEAD)
        with contextlib.suppress(ConnectionError):
            for _ in range(100):  # each byte would have started uvicorn's timer again, or stopped it
                connection.sendall(b"X")
                time.sleep(0.1)
            pytest.fail("it was held for ten seconds")
