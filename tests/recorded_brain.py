"""A script for `tests/llm_server.py` that extracts what an LLM extracted earlier from the same passages.

It stands in for a model whose answers are known: given a passage in the prompt, the rows are that passage's recorded
triples, in the structure that the request asks for. Every step but extraction is answered by `tests/llm_brain.py`.
"""

import importlib.util
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from banyan.ingest.recorded import load_recorded
from banyan.schemas.extraction import Extraction

Json = dict[str, Any]
Script = Callable[[Json], str]

HEAD = 40
"""Letters and digits by which a passage is known where the prompt has only a part of its first line."""

_LETTERS = re.compile(r"[\W_]+")
_FENCED = re.compile(r"<data>\n(.*?)\n</data>", re.DOTALL)
_NUMBERED = re.compile(r"\[(\d+)\] ")
# How our own prompt lists the cells of its rows.
_ROW = re.compile(r"\[(\w+(?:, \w+)+)\]")
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")
# What the cells of a row are called in prompts and schemas: ours, and those of other systems.
_CELLS = {"head": "head", "subject": "head", "source": "head", "relation": "relation", "predicate": "relation",
          "tail": "tail", "object": "tail", "target": "tail", "words": "words", "evidence": "words", "quote": "words",
          "name": "name", "entity": "name", "type": "type", "kind": "type"}
_NUMBERS = frozenset({"id", "number", "n", "chunk", "passage", "text"})


@dataclass(frozen=True)
class Passage:
    """A recorded passage and what was extracted from it."""

    title: str
    text: str
    extraction: Extraction

    def entities(self, kind: str) -> list[dict[str, str]]:
        """Its entities, then what only its triples name, as a prompt asks for every head and tail."""
        names = [entity.name for entity in self.extraction.entities]
        names += [name for triple in self.extraction.triples for name in (triple.head, triple.tail)]
        return [{"name": name, "type": kind} for name in dict.fromkeys(names)]

    def triples(self) -> list[dict[str, str]]:
        """Its triples with the shortest stretch of the text that states each."""
        return [{"head": triple.head, "relation": triple.relation, "tail": triple.tail,
                 "words": stretch(self.text, triple.head, triple.tail)} for triple in self.extraction.triples]


def stretch(text: str, head: str, tail: str) -> str:
    """The words of a sentence from the one name to the other, or to its end where only one stands in it; else ""."""
    best = ""
    for sentence in (match[0].strip() for match in _SENTENCE.finditer(text)):
        places = [(sentence.find(name), len(name)) for name in (head, tail) if name and name in sentence]
        if len(places) == 2:
            return sentence[min(start for start, _ in places):max(start + size for start, size in places)]
        if places and not best:
            best = sentence[places[0][0]:]
    return best


class Recorded:
    """Recorded passages, found by their text.

    Args:
        path: a file in HippoRAG's format.
    """

    def __init__(self, path: Path) -> None:
        failures: list[Any] = []
        records = list(load_recorded([path], "hipporag", on_failure=failures.append))
        assert not failures, failures
        self.passages = [Passage(each.document.title, each.document.text, each.extraction) for each in records]
        # A passage of several lines is known by its first, as prompts are read line by line.
        self._by_line = {_LETTERS.sub("", passage.text.strip().splitlines()[0]): passage for passage in self.passages}
        self._by_head = {line[:HEAD]: passage for line, passage in self._by_line.items() if len(line) >= HEAD}

    def find(self, prompt: str) -> Iterator[tuple[int, Passage]]:
        """The recorded passages of a prompt with their numbers: those in `[n]` before them, else from 1."""
        number, counted = 0, 0
        for line in prompt.splitlines():
            start = _NUMBERED.match(line)
            number = int(start[1]) if start else number
            passage = self._known(line[start.end():] if start else line)
            if passage is not None:
                counted += 1
                yield number or counted, passage

    def _known(self, line: str) -> Passage | None:
        letters = _LETTERS.sub("", line)
        return self._by_line.get(letters) or self._by_head.get(letters[:HEAD])


def recorded_brain(path: Path, kind: str = "") -> Script:
    """A script that answers extractions with recorded triples.

    Args:
        path: the recorded file.
        kind: the type of every entity, as none is recorded.

    Returns:
        From a request's JSON to the answer's text. A passage that is not recorded has no triples.
    """
    brain, recorded = _rules(), Recorded(path)

    def reply(request: Json) -> str:
        if brain.step(request) != "extraction":
            text: str = brain.reply(request)
            return text
        system, user = (request["messages"][place]["content"] for place in (0, 1))
        found = list(recorded.find("\n".join(_FENCED.findall(user)) or user))
        schema = brain.asked_schema(request)
        answer = _filled(schema, _example(system), found, kind) if schema else _like(_example(system), found, kind)
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))

    return reply


def _rules() -> Any:
    name = "tests.llm_brain"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("llm_brain.py"))
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def _example(system: str) -> Json:
    """The object at the end of the instructions, its rows with the names of their cells where these are listed."""
    start = system.rfind("\n{")
    shown = dict(json.JSONDecoder().raw_decode(system, start + 1)[0]) if start >= 0 else {}
    listed = iter([cells.split(", ")] for cells in _ROW.findall(system))
    return {name: next(listed, part) if isinstance(part, list) and part and isinstance(part[0], list) else part
            for name, part in shown.items()}


def _like(example: Json, found: list[tuple[int, Passage]], kind: str) -> Json:
    """The answer where only the example says what is wanted."""
    return {name: _rows(name, {}, part, found, kind) for name, part in example.items()}


def _filled(schema: Json, example: Json, found: list[tuple[int, Passage]], kind: str) -> Json:
    return {name: _rows(name, part, example.get(name), found, kind) for name, part in schema["properties"].items()}


def _rows(name: str, schema: Json, example: Any, found: list[tuple[int, Passage]], kind: str) -> list[Any]:
    """The items of one list of the answer: rows, objects, or, where lists are within lists, one for each passage."""
    items = schema.get("items", {})
    shown = example[0] if isinstance(example, list) and example else None
    inner = items.get("properties", shown if isinstance(shown, dict) else {})
    if "triples" in inner or "relations" in inner:
        return [_passage(inner, shown, numbered, kind) for numbered in found]
    take = {"entities": partial(Passage.entities, kind=kind), "triples": Passage.triples,
            "relations": Passage.triples}.get(name)
    if take is None:  # attributes and new labels are not recorded
        return []
    facts = [(number, fact) for number, passage in found for fact in take(passage)]
    if inner:
        return [{cell: _cell(cell, number, fact) for cell in inner} for number, fact in facts]
    cells = shown if isinstance(shown, list) else ["name", "type"] if name == "entities" else [
        "head", "relation", "tail", "words"]
    return [[str(_cell(cell, number, fact)) for cell in cells] for number, fact in facts]


def _passage(inner: Json, example: Any, numbered: tuple[int, Passage], kind: str) -> Json:
    shown = example if isinstance(example, dict) else {}
    return {name: numbered[0] if name in _NUMBERS else _rows(name, part if isinstance(part, dict) else {},
                                                             shown.get(name), [numbered], kind)
            for name, part in inner.items()}


def _cell(cell: Any, number: int, fact: dict[str, str]) -> Any:
    if cell in _NUMBERS or isinstance(cell, int) or str(cell).isdigit():
        return number
    return fact.get(_CELLS.get(str(cell), str(cell)), "")
