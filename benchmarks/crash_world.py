"""A small world for crash tests: documents, an endpoint that counts what is paid, and the operations killed.

The documents state facts as arrows (as in tests/scripted.py), which makes the endpoint's answers a
function of the prompt: `Ada:Person --employer--> Acme:Organization.` Two relations and a type are not in
the schema, so it grows with documents and shrinks with deletions.
"""

import asyncio
import hashlib
import json
import re
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from tests import llm_server, scripted  # noqa: E402

KB = "kb"
BACKUP = "kb.zip"
DOCUMENTS = 20
ADDED = 6
"""The last documents, which the operation `add` adds."""
UPDATED = (2, 7, 11)
_FIRMS = ("Acme", "Bolt", "Corvo", "Delta", "Ember")
_PLACES = ("Aachen", "Bonn", "Celle", "Dessau")
_EXTRACTED = re.compile(r"<data>\n(.*?)\n</data>", re.DOTALL)


def _person(number: int) -> str:
    return f"{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[number % 26]}{'aeiou'[number % 5]}rin"


def document(number: int, *, updated: bool = False) -> str:
    """Return a document's text; if updated, one of its paragraphs differs."""
    one, other = _person(number), _person(number * 5 + 1)
    firm, place = _FIRMS[number % len(_FIRMS)], _PLACES[number % len(_PLACES)]
    lines = [
        f"{one}:Person --employer--> {firm}:Organization. {one}:Person --knows--> {other}:Person.",
        f"{firm}:Organization --located_in--> {place}:Place. {firm}:Organization.founded = {1900 + number % 7}.",
        f"{one}:Person --plays--> {'Cello' if number % 2 else 'Flute'}:Instrument (0.9).",
    ]
    if number in {3, 8}:  # two supporters: the schema loses it when one of them goes
        lines.append(f"{one}:Person --mentors--> {other}:Person (0.9).")
    if number == 5:  # waits for a person: one document alone does not let the schema grow
        lines.append(f"{one}:Person --admires--> {other}:Person (0.9).")
    if number >= DOCUMENTS - ADDED:
        lines.append(f"{firm}:Organization --rivals--> {_FIRMS[(number + 1) % len(_FIRMS)]}:Organization (0.9).")
    if updated:
        lines[0] = f"{one}:Person --employer--> Quarto:Organization. {one}:Person --knows--> Zed{number}:Person."
    return "\n\n".join(lines) + "\n"


def write_documents(folder: Path, numbers: Iterable[int], updated: tuple[int, ...] = ()) -> None:
    """Write some documents and a table below a folder, with the schema that they are built by beside it.

    If documents are updated, a row of the table is added, another is changed, and a third is gone.
    """
    (folder / "documents").mkdir(parents=True, exist_ok=True)
    for number in numbers:
        text = document(number, updated=number in updated)
        (folder / "documents" / f"doc{number:02}.txt").write_text(text, "utf-8")
    keys = (1, 2, 4, 5) if updated else (1, 2, 3, 4)
    rows = [f"{key},{_FIRMS[key - 1]}:Organization.founded = {1950 + key + len(updated) * (key == 2)}.,{10 * key}"
            for key in keys]
    (folder / "documents" / "rows.csv").write_text("\n".join(["id,note,amount", *rows]) + "\n", "utf-8")
    (folder / "schema.json").write_text(json.dumps(scripted.SCHEMA), "utf-8")
    narrower = [relation for relation in scripted.SCHEMA["relation_types"] if relation["name"] != "located_in"]
    (folder / "narrower.json").write_text(json.dumps(scripted.SCHEMA | {"relation_types": narrower}), "utf-8")


def _write_what_is_synced(folder: Path) -> None:
    """Add documents, change some, and remove one."""
    write_documents(folder, ALL, UPDATED)
    (folder / "documents" / f"doc{REMOVED:02}.txt").unlink()


FIRST = range(DOCUMENTS - ADDED)
ALL = range(DOCUMENTS)
REMOVED = 3


@dataclass(frozen=True)
class Operation:
    """A command that is killed and run again.

    Args:
        start: the store that it begins with: "nothing", "built" (of the first documents), "merged" (the same after
            the operation `merge`), or "unindexed" (ended before its communities were found).
        arguments: of the command line.
        prepare: writes the documents as they are by then.
        done: what the second run may end with instead, where the first had done all of it before it died.
    """

    start: str
    arguments: tuple[str, ...]
    prepare: Callable[[Path], None] = lambda folder: write_documents(folder, FIRST)
    done: str = ""


_BUILD = ("build", "documents", "--kb", KB, "--schema", "schema.json", "--json")
_NOTHING_LEFT = "nothing is to do"
OPERATIONS = {
    "build": Operation("nothing", _BUILD),
    "add": Operation("built", _BUILD, lambda folder: write_documents(folder, ALL)),
    "update": Operation("built", _BUILD, lambda folder: write_documents(folder, FIRST, UPDATED)),
    "delete": Operation("built", ("delete", "doc03.txt", "--kb", KB), done="there is no document 'doc03.txt'"),
    "index": Operation("unindexed", _BUILD),
    "sync": Operation("built", ("sync", "documents", "--kb", KB, "--yes", "--json"), _write_what_is_synced),
    "review": Operation("built", ("schema", "review", "--kb", KB, "--all", "accept", "--by", "tester")),
    "schema": Operation("built", ("schema", "set", "narrower.json", "--kb", KB, "--by", "tester")),
    "merge": Operation("built", ("entities", "merge", "Acme", "Bolt", "--kb", KB)),
    "split": Operation("merged", ("entities", "split", "Acme", "Bolt", "--kb", KB), done=_NOTHING_LEFT),
    "retype": Operation("built", ("entities", "retype", "Acme", "School", "--kb", KB), done=_NOTHING_LEFT),
    "restore": Operation("merged", ("restore", BACKUP, "--kb", KB, "--force", "--json")),
    "reindex": Operation("built", ("reindex", "--kb", KB)),
}
"""Every operation that writes."""
BACK_UP = ("backup", "--kb", KB, "--output", BACKUP)

SETTINGS = {
    "BANYAN_HOME": "home", "BANYAN_LLM_MODEL": "scripted", "BANYAN_LLM_RETRIES": "0", "BANYAN_LLM_CONCURRENCY": "4",
    "BANYAN_EXTRACT_TOKENS": "96", "BANYAN_CHUNK_TOKENS": "32", "BANYAN_CHUNK_OVERLAP": "0",
    "BANYAN_BATCH_CHUNKS": "12",
}


def answer(request: dict[str, Any]) -> str:
    """Answer a request: an extraction by the arrows of its chunk, all other steps by the scripted brain."""
    if request["response_format"]["json_schema"]["name"] != "extraction":
        return _mark(request, json.loads(llm_server.scripted_brain()(request)))
    found = _EXTRACTED.search(request["messages"][1]["content"])
    lines = [(str(number), scripted.read_facts(line)) for part in llm_server.brain.parts(found[1] if found else "")
             for number, line in part.lines.items()]
    new = {item.relation: item.confidence for _, said in lines for item in said.triples if item.confidence < 1}
    types = {entity.name: entity.type for _, said in lines for entity in said.entities}
    if "Instrument" in types.values():
        new["Instrument"] = 0.9
    return _mark(request, {
        "entities": [[kind, name] for name, kind in types.items()],
        "triples": [[number, item.head, item.relation, item.tail] for number, said in lines for item in said.triples],
        "attributes": [[number, item.entity, item.attribute, item.value]
                       for number, said in lines for item in said.attributes],
        "new": [[label, str(confidence)] for label, confidence in new.items()]})


def digest_of(request: dict[str, Any]) -> str:
    """Return a digest that identifies a prompt."""
    return hashlib.sha256(json.dumps(request["messages"]).encode()).hexdigest()


def _mark(request: dict[str, Any], said: dict[str, Any]) -> str:
    """Add the prompt's digest to an answer: the ledger stores it and so shows which prompts were paid."""
    return json.dumps({**said, "prompt": digest_of(request)}, ensure_ascii=False)


class CountingServer(llm_server.LlmServer):
    """The scripted endpoint, which remembers for each key who asked what and when it was answered.

    Args:
        delay: seconds that an answer takes.
    """

    def __init__(self, delay: float, **named: Any) -> None:
        super().__init__(answer, **named)
        self._delay = delay
        self._asked: dict[str, list[str]] = {}
        self._counting = threading.Lock()

    def _app(self) -> Any:
        app = super()._app()
        app.get("/asked/{key}")(lambda key: JSONResponse(self._asked.get(key, [])))
        return app

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        with self._counting:
            self._asked.setdefault(key, []).append(digest_of(body))
        await asyncio.sleep(self._delay)
        return await super()._complete(request)
