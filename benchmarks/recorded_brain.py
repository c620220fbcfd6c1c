"""A script for `tests/llm_server.py` that extracts what an LLM extracted earlier from the same passages.

It stands in for a model whose answers are known: given a passage in the prompt, the rows are that passage's recorded
triples. Every step but extraction is answered by `tests/llm_brain.py`.
"""

import importlib.util
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from banyan.ingest.given import load_recorded
from banyan.schemas.extraction import Extraction

Json = dict[str, Any]
Script = Callable[[Json], str]

HEAD = 40
"""Letters and digits by which a passage is known where the prompt has only a part of its first line."""

_LETTERS = re.compile(r"[\W_]+")
_FENCED = re.compile(r"<data>\n(.*?)\n</data>", re.DOTALL)
_NUMBERED = re.compile(r"\[(\d+)\] ")
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")


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
    """Return a sentence's words from one name to the other, to its end where only one stands in it, else ""."""
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
        """Yield the recorded passages of a prompt with the numbers before them, else counted from 1."""
        number, counted = 0, 0
        for line in prompt.splitlines():
            start = _NUMBERED.match(line)
            number = int(start[1]) if start else number
            passage = self._known(line[start.end():] if start else line)
            if passage is not None:
                counted += 1
                yield number or counted, passage

    def of_lines(self, lines: Mapping[int, str]) -> Passage | None:
        """Return the recorded passage that was cut into these numbered lines."""
        first, whole = min(lines), " ".join(lines.values())
        return self._known(lines[first]) or self._known(whole)

    def _known(self, line: str) -> Passage | None:
        letters = _LETTERS.sub("", line)
        return self._by_line.get(letters) or self._by_head.get(letters[:HEAD])


def recorded_brain(path: Path, kind: str = "") -> Script:
    """Return a script that answers extractions with recorded triples.

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
        names: dict[str, None] = {}
        tails: dict[tuple[str, str, str], list[str]] = {}
        for part in brain.parts(_FENCED.findall(request["messages"][1]["content"])[0]):
            passage = recorded.of_lines(part.lines)
            names |= dict.fromkeys(entity["name"] for entity in passage.entities(kind)) if passage else {}
            for fact in passage.triples() if passage else ():
                line = next((number for number, line in part.lines.items() if fact["words"] in line), min(part.lines))
                tails.setdefault((str(line), fact["head"], fact["relation"]), []).append(fact["tail"])
        answer = {"entities": [[kind, *names]] if names else [],
                  "triples": [[*row, *ends] for row, ends in tails.items()], "attributes": [], "new": []}
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))

    return reply


def _rules() -> Any:
    name = "tests.llm_brain"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / "tests" / "llm_brain.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
