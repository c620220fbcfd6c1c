"""`banyan entities`, `--no-resolve`, and an LLM's verdicts, from documents to the merged graph."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from banyan.config import Settings
from banyan.models.llm.endpoint import Messages, Reply
from banyan.models.llm.llm_reasoner import PAIRS_PER_CALL, LlmReasoner
from banyan.schemas.resolution import EntityCard, EntityPair

from ..hashed_embedding import HashedEmbedder
from ..in_memory_calls import InMemoryCalls
from ..llm_brain import reply
from ..scripted import Shell
from ..waited import Waited

RECORDS = [
    {"id": "1", "title": "Acme", "text": "Acme-Werke makes carts.", "entities": [],
     "triples": [["Acme-Werke", "makes", "carts"]]},
    {"id": "2", "title": "Ulm", "text": "Acme Werke is in Ulm.", "entities": [],
     "triples": [["Acme Werke", "is in", "Ulm"]]},
    {"id": "3", "title": "Bonn", "text": "Bonn buys carts.", "entities": [], "triples": [["Bonn", "buys", "carts"]]},
]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    made = Shell(tmp_path, HashedEmbedder(), monkeypatch, capsys)
    (tmp_path / "records.jsonl").write_text("\n".join(map(json.dumps, RECORDS)), "utf-8")
    return made


def imported(shell: Shell, *options: str) -> Any:
    return shell.data("import", shell.folder / "records.jsonl", "--format", "triples", "--schema", "open", *options)


def test_names_of_one_thing_are_one_node_and_are_listed_with_their_reason(shell: Shell) -> None:
    assert imported(shell)["entities"] == 4
    (group,) = shell.data("entities", "--merged")
    assert {group["name"], *(alias["name"] for alias in group["aliases"])} == {"Acme-Werke", "Acme Werke"}
    assert [alias["rule"] for alias in group["aliases"]] == ["spelling"]
    assert all(place["end"] > place["start"] for place in group["aliases"][0]["evidence"])
    shown = shell("entities", "--kb", "kb", "--merged").out
    assert "1 entities with several names" in shown
    assert "spelling, 0.97" in shown
    assert len(shell.data("entities", "--merged", "--search", "WERKE")) == 1
    assert shell.data("entities", "--merged", "--search", "nothing") == []
    assert shell.sound()


class BrainEndpoint:
    """Answers by the tests' brain, and keeps what it was sent."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.sent: list[Messages] = []

    async def send(self, messages: Messages, json_schema: dict[str, Any], permit: Callable[[], None]) -> Reply:
        self.sent.append(list(messages))
        if self.answers:
            return Reply(self.answers.pop(0), 10, 5)
        text = reply({"messages": [{"role": role, "content": content} for role, content in messages],
                      "response_format": {"json_schema": {"name": json_schema["title"]}}})
        return Reply(text, 10, 5)


def pair(first: str, second: str) -> EntityPair:
    return EntityPair(first=EntityCard(name=first, type="Thing", facts=(f"{first} is in Ulm",)),
                      second=EntityCard(name=second, type="Thing"))


def llm(endpoint: BrainEndpoint, ledger: InMemoryCalls | None = None) -> Any:
    return Waited(LlmReasoner(Settings(_env_file=None), ledger or InMemoryCalls(), lambda _: endpoint))


def test_the_llm_judges_pairs_in_batches_and_pays_once() -> None:
    endpoint, ledger = BrainEndpoint(), InMemoryCalls()
    pairs = [pair(f"Trade union {number}", "Trade unions" if number % 2 else "carts")
             for number in range(PAIRS_PER_CALL + 1)]
    said = llm(endpoint, ledger).resolve(pairs)
    assert len(said) == len(pairs)
    assert len(endpoint.sent) == 2
    assert llm(endpoint, ledger).resolve(pairs) == said
    assert len(endpoint.sent) == 2
    assert "- Trade union 0 is in Ulm" in endpoint.sent[0][1][1] + endpoint.sent[1][1][1]
    assert llm(endpoint).resolve([]) == []
