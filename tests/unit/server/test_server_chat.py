"""The chat as a part of the server's app: whose conversations are whose, and how failures are told."""

import json

import pytest
from banyan.models.reasoner import ReasonerError
from banyan.server.app import create_app
from banyan.server.hosted import mount
from banyan.server.security.gate import Hosts
from banyan.server.security.keys import Keys
from starlette.websockets import WebSocketDisconnect

from ... import asking, in_process

resources = asking.served
QUESTION = "Where was Ada Byron born?"
CHAT = "/chat/kb/people"


def asked(client, key="", *, way="invoke", question=QUESTION, **configurable):
    return client.post(f"{CHAT}/{way}", headers={"X-API-Key": key} if key else {}, json={
        "input": {"messages": [["user", question]]}, "config": {"configurable": configurable}})


def test_threads_of_two_clients_are_two_conversations(client, resources):
    keys = Keys.of(resources.settings)
    for name in ("ada", "bob"):
        key = keys.make(name, ["ask"])
        for question in (QUESTION, "And when?"):
            # What a client says that it is does not count.
            asked(client, key, question=f"{question} ({name})", thread_id="mine", banyan_client="ada")
    earlier = [text for _, conversation in resources.fake.condensed for _, text in conversation]
    assert [text for text in earlier if text.startswith("Where")] == [f"{QUESTION} (ada)", f"{QUESTION} (bob)"]


@pytest.mark.parametrize(("error", "status", "message"), [
    (ReasonerError("the endpoint said 500: try again"), 503, "the endpoint said 500: try again"),
    (ZeroDivisionError("secret"), 500, "an internal error; search the server's log for this request_id")])
def test_what_goes_wrong_is_told_in_every_way(client, resources, error, status, message):
    def fail(_):
        raise error

    resources.fake.reply = fail
    answer = asked(client)
    assert (answer.status_code, answer.json()["error"]["message"]) == (status, message)
    for way in ("stream", "stream_events"):
        answer = asked(client, way=way)
        events = [line for line in answer.text.splitlines() if line.startswith(("event: error", "data: {\"status"))]
        assert events == ["event: error", f"data: {json.dumps({'status_code': status, 'message': message})}"]


def test_what_is_not_the_apps_is_behind_the_same_gate(resources, monkeypatch):
    monkeypatch.setenv("LANGGRAPH_HTTP", json.dumps({"cors": {"allow_origins": ["https://studio.example"]}}))
    studio, asks_as_json = {"Origin": "https://studio.example"}, {"Content-Type": "application/json"}
    with in_process.client(mount(create_app(resources, hosted=True), Hosts.bound("0.0.0.0"))) as client:
        for headers, status in [
                (asks_as_json, 404), (asks_as_json | studio, 404), ({"Content-Type": "text/plain"}, 404), ({}, 404),
                (asks_as_json | {"Host": "evil.example"}, 400),
                (asks_as_json | {"Origin": "https://evil.example"}, 403),
                (asks_as_json | {"Sec-Fetch-Site": "cross-site"}, 403)]:
            assert client.post("/runs/wait", content=b"{}", headers=headers).status_code == status, headers
        assert client.post("/threads/x/runs/y/cancel").status_code == 404, "without a body nothing is said of it"
        for path in ("/internal/truncate", "/internal/debug/thread/x", "/internal", "/deploy", "/deploy/x/events"):
            assert client.post(path).json()["error"]["message"].startswith("this path is not available here")
        with pytest.raises(WebSocketDisconnect), client.websocket_connect("/threads/x/stream/events"):
            pass
        Keys.of(resources.settings).make("ann", ["ask"])
        for path in ("/docs", "/metrics", "/openapi.json", "/threads"):
            assert client.get(path).status_code == 401
        assert client.options("/threads", headers=studio).status_code == 404
        assert client.options("/threads").status_code == 401
