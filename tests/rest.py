"""What tests of the server share: documents, builds, following them, events, and calls by MCP."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

KB = "/api/knowledge-bases"
BORN = {"question": "When was Marie Curie born?"}
ANSWER = {"answer": "In Ulm [1]", "abstained": False, "confidence": 0.9, "short": "Ulm", "sub_queries": [],
          "iterations": 1, "trace": [{"step": "fuse"}], "citations": []}
"""The fields of an answer, as a conversation stores them."""
# "defeat" is no relation of the schema, and two documents ask for it.
CHESS = {
    "otto-kern.md": "# Otto Kern\n\nOtto Kern was a chess player. He was born in Vienna. "
                    "Otto Kern defeated Tom Hale in 1911.\n",
    "ada-blum.md": "# Ada Blum\n\nAda Blum was a chess player. She was born in Warsaw. "
                   "Ada Blum defeated Otto Kern in 1920.\n"}
DEFEATS = {name: f"{text}\n| Person | Defeat |\n|---|---|\n| {name[:-3].replace('-', ' ').title()} | Tom Hale |\n"
           for name, text in CHESS.items()}
"""The same with a column that no schema has: what the rules propose."""
GIVEN = [{"id": name, "text": text} for name, text in DEFEATS.items()]
"""The same as the input of a run."""


def players(number: int) -> dict[str, str]:
    return {f"player-{one}.md": f"# Player {one}\n\nPlayer {one} was a chess player. She was born in Warsaw in "
                                f"{1700 + one}.\n" for one in range(number)}


def sent(documents):
    return [("files", (name, text, "text/plain")) for name, text in documents.items()]


def followed(client, build):
    """The states of a build that its events tell, to the end or to where it waits."""
    seen = []
    with client.stream("GET", f"/api/builds/{build}/events") as stream:
        for event in events(stream.iter_lines()):
            assert event.name == "build"
            seen.append(event.data)
            if event.data["state"] in {"done", "failed", "cancelled", "waiting"}:
                break
    return seen


def started(client, kb, documents, **fields):
    answer = client.post(f"{KB}/{kb}/builds", files=sent(documents), data=fields)
    assert answer.status_code == 202, answer.text
    return answer.json()["id"]


def built(client, kb, documents, **fields):
    return followed(client, started(client, kb, documents, **fields))[-1]


def state(client, build):
    return client.get(f"/api/builds/{build}").json()["state"]


def mcp(client, method, headers=None, **params):
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    response = client.post("/mcp", json=call, headers=(headers or {}) | {
        "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"})
    assert response.status_code == 200, response.text
    (event,) = events(response.iter_lines())
    return event.data["result"]


class Event(NamedTuple):
    name: str
    data: Any


def events(lines: Iterable[str]) -> Iterator[Event]:
    name, data = "", ""
    for line in lines:
        if line.startswith("event:"):
            name = line.removeprefix("event:").strip()
        elif line.startswith("data:"):
            data += line.removeprefix("data:").strip()
        elif not line and data:
            yield Event(name, json.loads(data))
            name, data = "", ""
