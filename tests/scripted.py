"""A reasoner for tests that reads facts written out in the text, and builds that use it.

`Ada:Person --employer--> Acme:Organization (0.9)` is a triple, `Acme:Organization.founded = 1999` an
attribute. What is said of a chunk depends on its text alone, as with any reasoner.
"""

import atexit
import json
import os
import re
import shutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from banyan.agents.construction.graph import build_graph
from banyan.agents.construction.state import BuildContext, BuildReport
from banyan.agents.resources import Resources
from banyan.cli import main as cli
from banyan.config import Settings
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.layout import Layout, knowledge_bases
from banyan.models.embedding.embedder import Embedder
from banyan.models.rules.rules_reasoner import RulesReasoner
from banyan.schemas.extraction import (
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
    ExtractionRequest,
)
from banyan.schemas.graph_schema import GraphSchema
from banyan.schemas.retrieval import CommunityDigest, CommunitySummary

from .command_line import Result
from .newest import dump_graph
from .small_base import copied

SCHEMA: dict[str, Any] = {
    "name": "scripted",
    "entity_types": [{"name": "Person", "labels": {"zh": "人物"}}, {"name": "Organization", "aliases": ["Firm"]},
                     {"name": "School", "parent": "Organization"}, {"name": "Place"}],
    "relation_types": [
        {"name": "employer", "aliases": ["works for"], "labels": {"zh": "雇主"}, "domain": ["Person"],
         "range": ["Organization"]},
        {"name": "located_in", "domain": ["Organization", "Place"], "range": ["Place"]},
        {"name": "knows", "domain": ["Person"], "range": ["Person"]},
    ],
    "attribute_types": [{"name": "founded", "labels": {"zh": "成立"}, "owners": ["Organization"], "kind": "date"}],
}

_TRIPLE = re.compile(r"(\w+):(\w*) --([^>]*?)--> (\w+):(\w*)(?: \(([\d.]+)\))?")
_ATTRIBUTE = re.compile(r"(\w+):(\w+)\.(\w+) = (\w+)")


def schema() -> GraphSchema:
    return GraphSchema.model_validate(SCHEMA)


def read_facts(text: str) -> Extraction:
    entities: list[ExtractedEntity] = []
    triples: list[ExtractedTriple] = []
    for head, head_type, relation, tail, tail_type, confidence in _TRIPLE.findall(text):
        sure = float(confidence or 1)
        entities += [ExtractedEntity(name=head, type=head_type, confidence=sure),
                     ExtractedEntity(name=tail, type=tail_type, confidence=sure)]
        triples.append(ExtractedTriple(head=head, relation=relation, tail=tail, confidence=sure))
    attributes = [ExtractedAttribute(entity=entity, attribute=name, value=value)
                  for entity, _, name, value in _ATTRIBUTE.findall(text)]
    entities += [ExtractedEntity(name=entity, type=kind) for entity, kind, _, _ in _ATTRIBUTE.findall(text)]
    return Extraction(entities=tuple(entities), triples=tuple(triples), attributes=tuple(attributes))


class ScriptedReasoner(RulesReasoner):
    """Reads what is written out, counts what it is asked, and fails where it is told to.

    `before` is called with each text before it is read: it may raise.
    """

    free = False  # each is counted

    def __init__(self) -> None:
        super().__init__()
        self.extracted: Counter[str] = Counter()
        self.summarised: Counter[CommunityDigest] = Counter()
        self.before: Callable[[str], None] = lambda _: None
        self._counting = threading.Lock()

    def extract_together(self, requests: Sequence[ExtractionRequest], schema: GraphSchema) -> list[Extraction]:
        for request in requests:
            self.before(request.text)
        with self._counting:
            self.extracted.update(request.text for request in requests)
        return [read_facts(request.text) for request in requests]

    async def summarise(self, communities: Sequence[CommunityDigest]) -> list[CommunitySummary]:
        self.summarised.update(communities)
        return await super().summarise(communities)


class ScriptedResources(Resources):
    make_writer: "Callable[[ScriptedResources, str], Any] | None" = None

    def __init__(self, settings: Settings, embedder: Embedder, scripted: ScriptedReasoner | None = None) -> None:
        super().__init__(settings, embedder)
        self.scripted = scripted or ScriptedReasoner()

    def reasoner(self, name: str, models: object = None, calls: object = None) -> ScriptedReasoner:
        return self.scripted

    def schema_writer(self, name: str) -> Any:
        return self.make_writer(self, name) if self.make_writer else super().schema_writer(name)


class Workshop:
    """A home folder, documents, and builds of the knowledge base `kb`, each in fresh resources."""

    def __init__(self, folder: Path, embedder: Embedder, **settings: Any) -> None:
        self.folder = folder
        self.embedder = embedder
        self.documents = folder / "documents"
        self.documents.mkdir(parents=True, exist_ok=True)
        self.schema = folder / "schema.json"
        self.schema.write_text(json.dumps(SCHEMA), "utf-8")
        self.scripted = ScriptedReasoner()
        self.make_writer: Callable[[ScriptedResources, str], Any] | None = None
        self.changes = {"schema_support": 2, **settings}
        self.settings = Settings(_env_file=None, home=folder / "home", llm_base_url=None, **self.changes)

    def write(self, texts: dict[str, str]) -> list[str]:
        for name, text in texts.items():
            (self.documents / name).write_text(text, "utf-8")
        return [str(self.documents / name) for name in texts]

    def resources(self) -> ScriptedResources:
        made = ScriptedResources(self.settings, self.embedder, self.scripted)
        made.make_writer = self.make_writer
        return made

    def use_writer(self, make_writer: Callable[[ScriptedResources, str], Any]) -> None:
        """Let a model write the schemas of builds, and compare their labels."""
        self.make_writer = make_writer
        self.settings = self.settings.model_copy(update={"llm_base_url": "http://127.0.0.1:9/v1"})

    def build(self, paths: Iterable[str] = (), **context: Any) -> BuildReport:
        with self.resources() as resources:
            return run_build(resources, self.given(paths), BuildContext(**context))

    def given(self, paths: Iterable[str] = ()) -> dict[str, Any]:
        return {"knowledge_base": "kb", "paths": list(paths), "schema": str(self.schema)}

    @contextmanager
    def newest(self) -> Iterator[KnowledgeBase]:
        with self.resources() as resources, resources.snapshot("kb") as snapshot:
            yield snapshot.kb

    def dump(self) -> dict[str, Any]:
        with self.newest() as kb:
            return dump_graph(kb.graph)

    def triples(self) -> set[tuple[str, str, str]]:
        with self.newest() as kb:
            return {(kb.graph.name(head), relation, kb.graph.name(tail)) for head, relation, tail in kb.graph.edges()}

    def problems(self) -> list[Any]:
        with self.newest() as kb:
            return verify(kb)

    def vectors(self) -> dict[str, set[str]]:
        with self.newest() as kb:
            return {kind: kb.vectors.ids(kind) for kind in ("entities", "triples", "chunks")}

    def delete(self, *documents: str) -> None:
        with self.resources() as resources:
            resources.delete_documents("kb", list(documents))

    def copy_built(self, texts: dict[str, str] | None = None) -> list[str]:
        """Copy a knowledge base that each process builds once with such settings: that of TEXTS, or of other texts."""
        texts = TEXTS if texts is None else texts
        built = _built(self.embedder, tuple(texts.items()), tuple(sorted(self.changes.items())))
        copied(Layout.by(built.settings, "kb"), Layout.by(self.settings, "kb"))
        self.scripted.extracted.update(built.scripted.extracted)
        return self.write(texts)


@cache
def _built(embedder: Embedder, texts: tuple[tuple[str, str], ...], settings: tuple[tuple[str, Any], ...]) -> Workshop:
    folder = Path(tempfile.mkdtemp(prefix="banyan-built-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    shop = Workshop(folder, embedder, **dict(settings))
    shop.build(shop.write(dict(texts)))
    shutil.rmtree(shop.documents)  # whoever copies it writes them again: to the same documents, moved
    return shop


def run_build(resources: Resources, given: dict[str, Any], context: BuildContext | None = None) -> BuildReport:
    result = build_graph(resources).invoke(given, {"max_concurrency": 3}, context=context or BuildContext())
    return result["report"]


TEXTS = {
    "a.txt": "Ada:Person --employer--> Acme:Organization. Acme:Organization.founded = 1999.",
    "b.txt": "Acme:Organization --located_in--> Bonn:Place.",
    "c.txt": "Bob:Person --employer--> Acme:Organization.",
    "d.txt": "Bonn:Place --located_in--> Europe:Place.",
}


WAITING = {
    "g.txt": "Ada:Person --mentor of--> Bob:Person (0.9).",
    "h.txt": "Cem:Person --Mentor_Of--> Dua:Person (0.9). Ada:Person --plays--> Chess:Game (0.9).",
}
"""What two documents say that the schema has no words for."""


class Shell(Workshop):
    """The command line in this process, with the tests' embedder and reasoner."""

    def __init__(self, folder: Path, embedder: Embedder, monkeypatch: pytest.MonkeyPatch,
                 capsys: pytest.CaptureFixture[str]) -> None:
        for name in ("BANYAN_LLM_BASE_URL", "BANYAN_EMBEDDING_MODEL"):
            monkeypatch.delenv(name, raising=False)
        super().__init__(folder, embedder)
        self.monkeypatch = monkeypatch
        self.capsys = capsys
        monkeypatch.setattr("banyan.agents.resources.load_embedder", lambda _: self.embedder)
        monkeypatch.setattr(Resources, "_make_reasoner", lambda *_: self.scripted)
        monkeypatch.setenv("BANYAN_HOME", str(folder / "home"))
        monkeypatch.setenv("BANYAN_SCHEMA_SUPPORT", "2")
        monkeypatch.chdir(folder)

    def __call__(self, *arguments: object) -> Result:
        self.monkeypatch.setattr(sys, "argv", ["banyan", *map(str, arguments)])
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = self.capsys.readouterr()
        assert "Traceback" not in printed.err
        return Result(int(ended.value.code or 0), printed.out, printed.err.replace("\n", " "))

    def data(self, *arguments: object) -> Any:
        return self(*arguments, "--kb", "kb", "--json").json

    def run_build(self, *paths: object) -> Result:
        given = paths or [self.documents]
        return self("build", *given, "--kb", "kb", "--json", "--schema", self.schema)

    def report(self) -> Any:
        return self.run_build().json

    def sound(self) -> bool:
        result = self("verify", "--kb", "kb")
        assert result.code == 0, result.out
        return True

    def kbs(self) -> list[str]:
        return knowledge_bases(Settings(_env_file=None, home=self.folder / "home"))


@pytest.fixture
def built_shop(tmp_path, hashed_embedder):
    made = Workshop(tmp_path, hashed_embedder)
    made.copy_built()
    return made
