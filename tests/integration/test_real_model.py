"""A real model over a real server: llama.cpp with SmolLM2-135M. It proves the wire; it is far too small to be right."""

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from .. import rest, serving

pytestmark = [pytest.mark.integration, pytest.mark.slow]
command_line = serving.command_line

DOCUMENTS = {
    "marie-curie.md": "# Marie Curie\n\nMarie Curie was born in Warsaw on 7 November 1867. Marie Curie married the "
                      "physicist Pierre Curie in 1895.\n",
    "warsaw.md": "# Warsaw\n\nWarsaw lies in Poland. Marie Curie was born in Warsaw.\n"}
# Small, for the sake of time: a prompt is read at some 100 tokens a second.
SCHEMA = {
    "name": "lives", "description": "Who was born where.",
    "entity_types": [{"name": "Person", "description": "a person"}, {"name": "City", "description": "a city"}],
    "relation_types": [{"name": "born_in", "description": "birthplace", "domain": ["Person"], "range": ["City"]}],
    "attribute_types": [{"name": "birth_date", "description": "date of birth", "owners": ["Person"]}]}
SETTINGS = {
    "BANYAN_LLM_MODEL": "smollm2", "BANYAN_LLM_TIMEOUT": "300", "BANYAN_LLM_CONCURRENCY": "2",
    "BANYAN_LLM_REPLY_TOKENS": "600", "BANYAN_CONTEXT_TOKENS": "150", "BANYAN_MAX_ROUNDS": "1",
    "BANYAN_MAX_SUB_QUERIES": "2"}
QUESTIONS = ("Where was Marie Curie born?", "Where does Warsaw lie?")


class Run:
    """A knowledge base built by the model, in a folder of its own, and what the build and the server counted."""

    def __init__(self, folder: Any, model: Any) -> None:
        self.folder, self.model = folder, model
        self.settings = {**SETTINGS, "BANYAN_LLM_BASE_URL": model.base_url}
        self.banyan = command_line.CommandLine(folder, tuple(self.settings.items()))
        documents = folder / "documents"
        documents.mkdir()
        for name, text in DOCUMENTS.items():
            (documents / name).write_text(text, "utf-8")
        (folder / "schema.json").write_text(json.dumps(SCHEMA), "utf-8")
        before = model.counted()
        self.report = self.banyan("build", documents, "--schema", folder / "schema.json", "--kb", "kb", "--json").report
        self.counted = model.counted() - before

    def spent(self) -> tuple[int, int, int]:
        with sqlite3.connect(self.folder / "home" / "kb" / "ledger.sqlite") as ledger:
            return ledger.execute("SELECT sum(calls), sum(prompt), sum(completion) FROM tokens").fetchone()


@pytest.fixture(scope="module")
def run(tmp_path_factory, real_model) -> Iterator[Run]:
    return Run(tmp_path_factory.mktemp("real"), real_model)


def check_outcome(steps: list[Any], last: Any) -> None:
    """Cited, each quote as it stands in its document, or declined; or what the model wrote was no answer, twice."""
    assert "step" in {event.name for event in steps}
    if last.name == "error":
        assert "gave no usable answer in 2 attempts" in last.data["message"]
        return
    assert last.name == "answer"
    assert last.data["abstained"] or last.data["citations"]
    assert "".join(event.data["text"] for event in steps if event.name == "token").strip()
    for citation in last.data["citations"]:
        text = DOCUMENTS[citation["document"]]
        assert text[citation["start"]:citation["end"]] == citation["quote"] != ""


def test_no_chunk_fails_and_what_is_stored_stands_in_the_source(run):
    report = run.report
    assert (report["documents"], report["chunks"], report["chunks_failed"]) == (2, 2, 0)
    admitted = report["entities"] + report["triples"] + report["attributes"]
    assert admitted + sum(report["rejected"].values()) > 0, "the model said nothing at all"
    assert run.banyan("verify", "--kb", "kb", "--json").json["problems"] == []


def test_tokens_are_those_that_the_server_counted(run):
    tokens = run.report["tokens"]
    assert tokens["calls"]
    assert (tokens["prompt"], tokens["completion"]) == (run.counted.prompt, run.counted.completion)


def test_a_conversation_is_streamed_over_the_api(run):
    spent, counted = run.spent(), run.model.counted()
    # What it repeats without end is cut off sooner than in a build, where rows are bounded.
    settings = {**run.settings, "BANYAN_LLM_REPLY_TOKENS": "50"}
    with serving.served(run.folder, **settings) as server, httpx.Client(base_url=server.url, timeout=240) as client:
        for question, agent in zip(QUESTIONS, (False, True), strict=True):
            with client.stream("POST", "/api/knowledge-bases/kb/ask/stream", json={
                    "question": question, "agent": agent, "thread": "talk"}) as stream:
                *steps, last = rest.events(stream.iter_lines())
            check_outcome(steps, last)
    paid = [after - before for after, before in zip(run.spent(), spent, strict=True)]
    counted = run.model.counted() - counted
    assert paid[0] >= len(QUESTIONS)
    assert paid[1:] == [counted.prompt, counted.completion]
