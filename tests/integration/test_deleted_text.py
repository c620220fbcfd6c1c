"""What a deleted document said is nowhere in the files of its knowledge base, nor in backups made afterwards."""

import json
import re
import zipfile
from collections.abc import Callable
from typing import Any

from banyan.graph_store.integrity.backup import back_up
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.layout import Layout
from banyan.models.llm.endpoint import Messages, Reply
from banyan.runtime.budgets import charge_calls

from ..newest import newest
from ..scripted_endpoint import ScriptedEndpoint, reasoner
from ..unit.agents.test_schema_proposal import FittedShop

STAYS = {"a.txt": "Ada:Person --employer--> Acme:Organization. Acme:Organization.founded = 1999.",
         "b.txt": "Acme:Organization --located_in--> Bonn:Place. Bob:Person --employer--> Acme:Organization."}
# It brings entities and a relation that the schema does not know, each with a word of its own.
GOES = {"qvarnholm.txt": "Zyxomma:Person --employer--> Qvarnholm:Organization. "
                         "Zyxomma:Person --bjurstroms--> Ada:Person. The password is Ficklampa."}
WORDS = ("zyxomma", "qvarnholm", "bjurstrom", "ficklampa")


def found(folder):
    """The words that stand in any file, with the file."""
    return [(path.relative_to(folder).as_posix(), word) for path in sorted(folder.rglob("*")) if path.is_file()
            for data in [path.read_bytes().lower()] for word in WORDS
            if word.encode() in data or word.encode("utf-16-le") in data]


def test_no_file_has_a_word_of_what_was_deleted(shop, tmp_path):
    texts = STAYS | {f"p{number}.txt": f"P{number}:Person --knows--> P{number + 1}:Person." for number in range(30)}
    shop.build(shop.write(texts | GOES))
    home = shop.settings.home
    with KnowledgeBase.open(home, "kb", shop.embedder) as kb:
        kb.calls.record(key="k", step="answer", response="The password is Ficklampa.", prompt_tokens=5,
                        completion_tokens=5, model="m")
        with charge_calls(build="run", documents={"a.txt": 1, "qvarnholm.txt": 1}):
            for key in ("shared", "another"):
                kb.calls.record(key=key, step="extract", response="{}", prompt_tokens=9, completion_tokens=5, model="m")
        paid = kb.calls.total()
    assert {word for _, word in found(home)} == set(WORDS), "the test would find them"
    with shop.resources() as resources:
        resources.delete_documents("kb", ["qvarnholm.txt"])
        assert found(home / "kb") == []
        assert newest(resources).kb.calls.total() == paid, "what was paid stays counted"
        back_up(Layout.by(shop.settings, "kb"), tmp_path / "kb.zip", shop.embedder)
    assert found(home / "kb") == []
    with zipfile.ZipFile(tmp_path / "kb.zip") as archive:
        archive.extractall(tmp_path / "unpacked")
    assert found(tmp_path / "unpacked") == []
    assert shop.problems() == []


# What a model made of a deleted document: names of a schema that it proposed, its growth, and reports of a shared call.

PROPOSAL = {"thought": "Of Zyxomma and her password.",
            "types": [["Qvarnholm Guild", "Organization", "a guild at Qvarnholm", ""], ["City", "Location", "", ""]],
            "relations": [["bjurstroms", "Person", "Person", "", ""], ["leads", "Person", "Organization", "", ""]],
            "attributes": [["ficklampa", "Person", "text", "", ""]]}
FITTED = {"a.txt": "Ada:Person --leads--> Acme:Organization.", "b.txt": "Bonn:City --located_in--> Europe:Location."}


def test_a_proposed_schema_and_its_growth_keep_nothing_of_what_was_deleted(tmp_path, hashed_embedder):
    shop = FittedShop(tmp_path, hashed_embedder, PROPOSAL, {"same": [["1", "leads", ""]]}, {"same": []},
                      schema_support=None)
    goes = {"secret.txt": "Zyxomma:Person --bjurstroms--> Ada:Person. Eva:Person --zyxomma leads--> Acme:Organization "
                          "(0.9). Zyxomma:Person --qvarnholms--> Ficklampa:Zyxommoid (0.9)."}
    shop.build(shop.write(FITTED | goes))
    with shop.resources() as resources:
        before = newest(resources).kb.schemas.current()
        assert {"bjurstroms", "qvarnholms", "ficklampa"} <= {
            one.name for one in (*before.relation_types, *before.attribute_types)}
        resources.delete_documents("kb", ["secret.txt"])
        kept = newest(resources).kb.schemas
        assert {one.name for one in kept.current().relation_types} == {
            "works_for", "located_in", "part_of", "participated_in", "leads"}
        assert kept.current().entity_type("City"), "a document has one"
        assert kept.versions()[0].decisions
        assert found(shop.settings.home / "kb") == []
    assert shop.problems() == []


class TellingEndpoint(ScriptedEndpoint):
    """Repeats in each report all that the call shows."""

    async def send(self, messages: Messages, json_schema: dict[str, Any], permit: Callable[[], None]) -> Reply:
        self.sent.append(messages)
        text = " ".join(messages[1][1].split())
        return Reply(json.dumps({"communities": [{"id": int(number), "name": "n", "summary": text}
                                                 for number in re.findall(r"\[(\d+)\]", text)]}), 1, 1)


def test_a_report_goes_with_what_its_call_was_shown(shop, monkeypatch):
    endpoint = TellingEndpoint([])
    llm = reasoner(endpoint).awaited
    monkeypatch.setattr(type(shop.scripted), "summarise", lambda _, digests: llm.summarise(digests))
    apart = {f"p{number}.txt": f"P{number}:Person --knows--> Q{number}:Person." for number in range(4)}
    shop.build(shop.write(STAYS | apart | GOES))
    assert len(endpoint.sent) == 1
    assert {word for _, word in found(shop.settings.home / "kb")} >= {"zyxomma"}
    with shop.resources() as resources:
        resources.delete_documents("kb", list(GOES))
        assert found(shop.settings.home / "kb") == []
        asked = len(endpoint.sent)
        assert asked == 2, "those of that call are described again"
        resources.delete_documents("kb", ["p0.txt"])
        assert len(endpoint.sent) == asked + 1
    assert shop.problems() == []
