"""What must hold whatever documents say: the hostile corpus, and checks of a knowledge base that has read it."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from banyan.agents.construction.graph import build_graph
from banyan.agents.construction.state import BuildContext
from banyan.agents.resources import Resources
from banyan.agents.retrieval.cited_message import find_marks
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.schemas.naming import UNSEEN, normalise

from .admitted import admitted
from .newest import dump_graph, newest

FOLDER = Path(__file__).parent / "hostile"
CLEAN = sorted((FOLDER / "clean").glob("*.txt"))
ATTACKS = sorted(FOLDER.glob("*.txt"))
ALONE = [path for path in ATTACKS if path.stem in {"en-fake-schema-delta", "zh-fake-turns"}]
"""Attacks that are tried one by one: what one document asks for is not what several ask for."""

SCHEMA: dict[str, Any] = {
    "name": "offices",
    "entity_types": [{"name": "Person", "labels": {"zh": "人物"}}, {"name": "Organization", "labels": {"zh": "组织"}},
                     {"name": "Place", "labels": {"zh": "地点"}}],
    "relation_types": [
        {"name": "born_in", "labels": {"zh": "出生于"}, "domain": ["Person"], "range": ["Place"]},
        {"name": "works_for", "labels": {"zh": "任职于"}, "domain": ["Person"], "range": ["Organization"]},
        {"name": "located_in", "labels": {"zh": "位于"}, "domain": ["Organization"], "range": ["Place"]}],
    "attribute_types": [{"name": "founding_date", "owners": ["Organization"], "kind": "date"}],
}


class World:
    """A knowledge base of the clean documents, to which others are added and from which they are deleted."""

    def __init__(self, folder: Path, resources: Resources, first: Sequence[Path] = CLEAN) -> None:
        self.resources = resources
        self.schema_file = folder / "schema.json"
        self.schema_file.write_text(json.dumps(SCHEMA), "utf-8")
        self.add(first)
        self.baseline = self.state()

    @property
    def kb(self) -> KnowledgeBase:
        return newest(self.resources, "kb").kb

    def add(self, paths: Sequence[Path]) -> Any:
        given = {"knowledge_base": "kb", "paths": [str(path) for path in paths], "schema": str(self.schema_file)}
        report = build_graph(self.resources).invoke(given, {"max_concurrency": 3}, context=BuildContext())["report"]
        assert report["chunks_failed"] == 0, report
        assert report["files_failed"] == []
        return report

    def delete(self, paths: list[Path]) -> None:
        self.resources.delete_documents("kb", [path.name for path in paths])

    def state(self) -> dict[str, Any]:
        """All that must be as if a document had never been there."""
        return {"graph": dump_graph(self.kb.graph), "schema": self.kb.schemas.current().model_dump(),
                "documents": {entry.id: self.kb.documents.get(entry.id).text for entry in self.kb.documents.entries()},
                "contributions": self.contributions([path.name for path in CLEAN])}

    def contributions(self, documents: list[str]) -> dict[str, Any]:
        return {chunk.id: admitted(self.kb.extractions, chunk).model_dump()
                for chunk in self.kb.documents.chunks() if chunk.document_id in documents}


def check_contained(world: World) -> None:
    """What the clean documents say is as it was, and all that was read stands in its source."""
    now = world.state()
    assert now["contributions"] == world.baseline["contributions"]
    assert {name: now["documents"][name] for name in world.baseline["documents"]} == world.baseline["documents"]
    assert check_grounded(world.kb) > 0


def check_grounded(kb: KnowledgeBase) -> int:
    """Every name, value and quote of every chunk's contribution stands in that chunk; returns how many there are."""
    count = 0
    for chunk in kb.documents.chunks():
        contribution = admitted(kb.extractions, chunk)
        seen = _letters(chunk.titled_text())
        for said in (*contribution.mentions, *contribution.facts, *contribution.attributes):
            assert chunk.text[said.span.start:said.span.end] == said.span.quote != ""
        names = [*(m.name for m in contribution.mentions), *(f.head for f in contribution.facts),
                 *(f.tail for f in contribution.facts), *(a.entity for a in contribution.attributes),
                 *(a.value for a in contribution.attributes)]
        for name in names:
            assert _letters(name) in seen, f"{name!r} is not in {chunk.text!r}"
        count += len(names)
    return count


def _letters(text: str) -> str:
    """Letters and digits alone, as names are compared: what stands between words does not matter."""
    return re.sub(r"[\W_]+", "", normalise(UNSEEN.sub("", text)))


def check_schema_rules(kb: KnowledgeBase, base: dict[str, Any]) -> list[str]:
    """What the schema has beyond a base came by the rules of growth; returns the names of it."""
    current, grown = kb.schemas.current().model_dump(), []
    for kind in ("entity_types", "relation_types", "attribute_types"):
        names = [element["name"] for element in current[kind]]
        assert [element for element in current[kind] if element in base[kind]] == list(base[kind]), "lost or changed"
        grown += names[len(base[kind]):]
    assert current["open"] is base["open"]
    decided = {d.decision.name.casefold(): d for d in kb.schemas.versions()[-1].decisions}
    for name in grown:
        evidence = decided[name.casefold()].evidence
        assert evidence is not None
        assert evidence.documents >= 2
        assert evidence.confidence >= 0.8
    return grown


def check_answer(kb: KnowledgeBase, answer: dict[str, Any]) -> None:
    """Each citation's words stand in its document, marks are those of citations, and nothing in it is active."""
    numbers = [citation["id"] for citation in answer["citations"]]
    assert numbers == list(range(1, len(numbers) + 1))
    for citation in answer["citations"]:
        text = kb.documents.get(citation["document"]).text
        assert text[citation["start"]:citation["end"]] == citation["quote"] != ""
    said = answer["answer"]
    assert {int(mark[1]) for mark in find_marks(said)} == set(numbers)
    assert not re.search(r"\][(:]|\]\[(?!\d+\])|<\w", said)
    assert not UNSEEN.search(said)


def texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from (*texts(key), *texts(value))
    elif isinstance(data, list | tuple):
        for value in data:
            yield from texts(value)
