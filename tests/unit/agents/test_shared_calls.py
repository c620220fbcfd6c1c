"""Chunks that share a call of a model: which do, what a build that broke off asks again, and who pays."""

import hashlib
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from banyan.agents.resources import Resources
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.ledger.extractions import Extractions
from banyan.models.llm.endpoint import Messages, Reply

from ... import llm_brain, scripted
from ...newest import newest

NAMES = ("Ada", "Bob", "Cem", "Dua", "Eva", "Fay", "Gus", "Hal", "Ida")
TEXTS = {f"{name}.txt": f"{name}:Person --employer--> {name}corp:Organization. {name}corp:Organization.founded = 1999."
         for name in NAMES}
TOGETHER = 75  # tokens of a call: three documents


class Killed(Exception):
    """Ends a build as a kill does: what was written before stays."""


class Model:
    """A model that reads facts written as arrows, and whose answers are of no use if a text of the call is bad."""

    def __init__(self) -> None:
        self.bad: frozenset[str] = frozenset()
        self.sent: list[str] = []
        self.asked: dict[str, frozenset[str]] = {}
        """Of each prompt the names in it."""
        self.kill_at = 0
        self._lock = threading.Lock()

    def answer(self, messages: Messages) -> str:
        system, user = messages[0][1], messages[1][1]
        if '"triples":' not in system:
            return llm_brain.reply({"messages": [{"content": system}, {"content": user}]})
        prompt = digest(messages)
        self.asked[prompt] = frozenset(name for name in NAMES if f"{name}:" in user)
        with self._lock:
            self.sent.append(prompt)
            self.kill_at -= 1
            if self.kill_at == 0:
                raise Killed
        if self.bad & self.asked[prompt]:
            return f"nothing to see, {prompt}"
        lines = [(str(number), scripted.read_facts(line)) for part in llm_brain.parts(user)
                 for number, line in part.lines.items()]
        return json.dumps({
            "prompt": prompt, "new": [],
            "entities": [[one.type, one.name] for _, said in lines for one in said.entities],
            "triples": [[number, one.head, one.relation, one.tail] for number, said in lines for one in said.triples],
            "attributes": [[number, one.entity, one.attribute, one.value]
                           for number, said in lines for one in said.attributes]})


def digest(messages: Messages) -> str:
    return hashlib.sha256(json.dumps(messages).encode()).hexdigest()


class Shop(scripted.Workshop):
    """A workshop whose builds ask a model."""

    def __init__(self, folder: Path, embedder: Any, model: Model, monkeypatch: pytest.MonkeyPatch,
                 **more: Any) -> None:
        super().__init__(folder, embedder)
        self.settings = self.settings.model_copy(update={
            "llm_base_url": "http://127.0.0.1:9/v1", "llm_model": "m", "llm_retries": 0, "extract_tokens": TOGETHER,
            "llm_concurrency": 2, **more})
        self.model = model

        class Client:
            def __init__(self, settings: Any) -> None:
                pass

            async def send(self, messages: Messages, json_schema: Any, capability: Any) -> Reply:
                return Reply(model.answer(messages), 100, 10)

        monkeypatch.setattr("banyan.models.llm.chat_model.ChatClient", Client)

    def resources(self) -> Any:
        return Resources(self.settings, self.embedder)

    def recorded(self) -> set[str]:
        with self.resources() as resources:
            if not (self.settings.home / "kb").exists():
                return set()
            rows = newest(resources).kb.database.rows("SELECT response FROM calls WHERE step = 'extract'")
            return {row[0].rpartition(", ")[2] if row[0].startswith("nothing") else json.loads(row[0])["prompt"]
                    for row in rows}

    def failed(self) -> list[str]:
        with self.resources() as resources:
            kb = newest(resources).kb
            assert list(verify(kb)) == []
            return [document for document, _, _ in kb.documents.failures()]


def test_only_the_chunk_that_fails_is_lost_and_the_others_of_its_call_are_asked_one_by_one(
        tmp_path, hashed_embedder, monkeypatch):
    model = Model()
    model.bad = frozenset({"Bob"})
    shop = Shop(tmp_path, hashed_embedder, model, monkeypatch)
    report = shop.build(shop.write(TEXTS))
    assert (report["chunks_failed"], report["triples"], report["stopped"]) == (1, len(TEXTS) - 1, "")
    assert shop.failed() == ["Bob.txt"]
    assert report["wasted_tokens"] > 0
    sent = len(model.sent)
    shop.build()
    assert len(model.sent) == sent, "nothing is asked again unless it is wished"
    model.bad = frozenset()
    assert shop.build(retry_failed=True)["triples"] == len(TEXTS)
    assert len(model.sent) == sent + 1
    whole = Shop(tmp_path / "whole", hashed_embedder, Model(), monkeypatch)
    whole.build(whole.write(TEXTS))
    assert whole.dump() == shop.dump()
    assert len(whole.model.sent) == len(TEXTS) / 3


@pytest.mark.parametrize(("kills", "bad", "batch"), [
    (["save 3"], "Bob Hal", None), (["send 4", "save 2"], "Bob Hal", 4)])
def test_a_build_that_was_killed_makes_the_same_calls_and_pays_none_twice(
        tmp_path, hashed_embedder, monkeypatch, kills, bad, batch):
    model = Model()
    model.bad = frozenset(bad.split())
    whole = Shop(tmp_path / "whole", hashed_embedder, model, monkeypatch, batch_chunks=batch)
    whole.build(whole.write(TEXTS))
    calls = set(model.sent)
    shop = Shop(tmp_path, hashed_embedder, model, monkeypatch, batch_chunks=batch)
    paths, report = shop.write(TEXTS), None
    for how, number in [*(kill.split() for kill in kills), ("", "0")]:
        before, model.sent = shop.recorded(), []
        with pytest.MonkeyPatch.context() as killing:
            if how == "save":
                killing.setattr(Extractions, "save", dying(Extractions.save, int(number)))
            model.kill_at = int(number) if how == "send" else 0
            try:
                report = shop.build(paths)
            except Killed:
                assert how
        usable = {prompt for prompt in before if not model.bad & model.asked[prompt]}
        paid = {name for prompt in usable for name in model.asked[prompt]}
        assert not usable & set(model.sent), "no answer is paid again"
        assert not paid & {name for prompt in model.sent for name in model.asked[prompt]}, "nor any chunk of it"
        assert set(model.sent) <= calls, "the same chunks share a call"
    assert (report["stopped"], report["chunks_failed"]) == ("", len(model.bad))
    assert shop.failed() == whole.failed() == sorted(f"{name}.txt" for name in model.bad)
    assert shop.recorded() == calls
    assert shop.dump() == whole.dump()


def dying(save: Any, number: int) -> Any:
    left = iter(range(number - 1))

    def stand_in(*arguments: Any) -> Any:
        if next(left, None) is None:
            raise Killed
        return save(*arguments)

    return stand_in


def test_the_documents_of_a_call_pay_for_it_together(tmp_path, hashed_embedder, monkeypatch):
    shop = Shop(tmp_path, hashed_embedder, Model(), monkeypatch)
    report = shop.build(shop.write(TEXTS))
    with shop.resources() as resources:
        spent = newest(resources).kb.calls.spent("document", resources.spending.prices)
    paid = {one.name: one.prompt for one in spent if one.name}
    assert paid.keys() == TEXTS.keys()
    assert sum(paid.values()) == 100 * len(TEXTS) / 3
    assert {33, 34} == set(paid.values()), "all are of one length"
    assert sum(one.prompt for one in spent) == report["tokens"]["prompt"]
