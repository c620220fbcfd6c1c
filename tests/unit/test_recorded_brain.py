"""The endpoint's script of recorded triples: a passage's own, in whatever structure the request asks for."""

import json
from pathlib import Path
from typing import Any

import pytest
from banyan.models.llm import wire
from banyan.prompts import example, render
from banyan.schemas.graph_schema import open_schema

from ..conftest import load_test_module

recorded = load_test_module("recorded_brain")

DOCS = [{"title": "Ulm", "text": "Ulm lies in Germany. It is old.", "extracted_entities": ["Ulm"],
         "extracted_triples": [["Ulm", "lies in", "Germany"]]},
        {"title": "Ada", "text": "Ada met Carl in Ulm.\nHe was a friend.", "extracted_entities": ["Ada"],
         "extracted_triples": [["Ada", "met", "Carl"], ["Carl", "is", "friend"]]}]
ROW = {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}


@pytest.fixture
def brain(tmp_path: Path) -> Any:
    (tmp_path / "openie.json").write_text(json.dumps({"docs": DOCS}), "utf-8")
    return recorded.recorded_brain(tmp_path / "openie.json")


def asked(user: str, schema: dict[str, Any] | None, system: str = "") -> dict[str, Any]:
    named = {"response_format": {"json_schema": {"name": "extraction", "schema": schema}}} if schema else {}
    return {"messages": [{"content": system}, {"content": f"<data>\n{user}\n</data>"}], **named}


def test_our_own_extraction_reads_its_answer(brain: Any) -> None:
    shape = wire.extraction(open_schema())
    prompt = render("extract", "en", schema="-", example=example("extract", "en"), context="Ada", text=DOCS[1]["text"])
    for schema in (shape.json_schema, None):
        request = asked("", schema, prompt.system) | {
            "messages": [{"content": prompt.system}, {"content": prompt.user}]}
        found = shape.read(json.loads(brain(request)))
        assert [(t.head, t.relation, t.tail) for t in found.triples] == [
            ("Ada", "met", "Carl"), ("Carl", "is", "friend")]
        assert [e.name for e in found.entities] == ["Ada", "Carl", "friend"]
        assert found.triples[0].evidence == "Ada met Carl"


def test_objects_are_filled_by_their_fields(brain: Any) -> None:
    fields = {"subject": {"type": "string"}, "predicate": {"type": "string"}, "object": {"type": "string"}}
    schema = {"properties": {"triples": {"items": {"properties": fields}}}}
    assert json.loads(brain(asked(DOCS[0]["text"], schema))) == {
        "triples": [{"subject": "Ulm", "predicate": "lies in", "object": "Germany"}]}


def test_several_passages_are_told_apart_by_their_numbers(brain: Any) -> None:
    schema = {"properties": {"chunks": {"items": {"properties": {"id": {"type": "integer"}, "triples": ROW}}}}}
    text = f"[3] {DOCS[1]['text']}\n\n[4] {DOCS[0]['text']}"
    assert json.loads(brain(asked(text, schema))) == {"chunks": [
        {"id": 3, "triples": [["Ada", "met", "Carl", "Ada met Carl"], ["Carl", "is", "friend", "Carl in Ulm."]]},
        {"id": 4, "triples": [["Ulm", "lies in", "Germany", "Ulm lies in Germany"]]}]}


def test_a_passage_that_is_not_recorded_has_nothing(brain: Any) -> None:
    assert json.loads(brain(asked("Another text.", {"properties": {"triples": ROW}}))) == {"triples": []}


def test_other_steps_are_answered_by_rules(brain: Any) -> None:
    prompt = render("condense", "en", conversation="user: Who is Ada Byron?", question="Where was she born?")
    request = {"messages": [{"content": prompt.system}, {"content": prompt.user}]}
    assert json.loads(brain(request)) == {"question": "Where was Ada Byron born?"}
