"""Lookups and scopes with arguments that nobody would give: each finds something, or says in words why not."""

import random
import time
from pathlib import Path
from typing import Any, get_args

from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.models.embedding.embedder import Embedder
from banyan.schemas.errors import BanyanError
from banyan.schemas.graph_schema import open_schema
from banyan.schemas.lookups import LONGEST, TOOLS, Calculation
from banyan.schemas.scope import Scope
from banyan.tools.langchain_tools import lookup_tools
from pydantic import ValidationError

from .. import small_base

_DEADLINE = 10.0
"""Seconds of one lookup in a base of sixty facts."""
_NAMES = ("Hut 1", "Hut 2", "Alba", "林小雨", "宁波", "weight", "opened", "status", "supplies", "lies_in", "Open",
          "12 kg", "2004-05-03", "doc1", "hut")
_ODD = (
    "", " ", "*", "?", "[", "]", "[!", "[a-", "(", ")", "|", "||", "A|B", "=", "!=", ">=", "<", "..", "1..", "..5",
    "5..1", "1..2..3", ">=2020", "<=1e400", "!=|", "≥", ".", "tail.", "tail.status", "head", "tail", "year",
    "decade", "opened.year", "status.month", ".year", "->", "-> *", "supplies -> *", "<supplies -> lies_in", "*" * 300,
    "-1", "0", "1e309", "NaN", "inf", "9" * 400, "-" * 400, "2004-13-45", "0000", "BC 5000", "\u202e", "\0", "\ud800",
    "é\u0301", "\n", "'", '"', "%", "%s", "\\", "\\d+", "(a+)+$", "a" * 1000, "字" * 500, "NULL", "OR 1=1 --", "{",
    "${x}", "<data>", "[1]")
_SIGNS = ("=", "!=", ">=", "<=", ">", "<", "≥", "≤", " = ", "==", "=>", "")


class Lookups:
    """Calls the five lookups, over all documents or those that a random scope leaves."""

    name = "lookups"

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        """Make a knowledge base with numbers, dates, qualifiers and metadata."""
        self._settings = Settings(home=folder / "lookups", llm_base_url=None, _env_file=None)
        with small_base.create(self._settings.home, "kb", embedder, open_schema()) as kb, kb.writing():
            for number in range(12):
                name, other = f"Hut {number}", f"Hut {(number * 5 + 1) % 12}"
                opened, weight = f"{1990 + number}-0{number % 9 + 1}-11", ("12 kg", "1.5 t", "unknown",
                "-3")[number % 4]
                status = ("Open", "Shut (partly)", "A|B", "5..10")[number % 4]
                small_base.put(
                    kb, f"doc{number}.md", f"{name} supplies {other} since {2000 + number}. {name} opened {opened}. "
                    f"Its weight is {weight}, its status {status}.", title=f"On {name}",
                    entities={name: "Hut", other: "Hut"},
                    triples=[(name, "supplies", other, f"since {2000 + number}")],
                    attributes=[(name, "opened", opened), (name, "weight", weight), (name, "status", status)],
                    metadata={"date": opened, "author": ("Ada", "Otto [x]", "林*")[number % 3]})
            small_base.finish(kb)
            kb.save_index()
        self._resources = Resources(self._settings, embedder)
        self._scope = Scope()
        self._tools = {tool.name: tool for tool in lookup_tools(lambda: self._resources.retriever("kb", self._scope))}

    def round(self, draw: random.Random) -> int:
        """Look some things up; returns how many."""
        for _ in range(40):
            self._scope = Scope() if draw.random() < 0.8 else Scope.of(
                [self._text(draw) for _ in range(draw.randint(0, 2))],
                {draw.choice(("date", "author", self._text(draw))): self._text(draw) for _ in range(draw.randint(0,
                2))})
            tool = draw.choice(TOOLS)
            self._look_up(tool, self._arguments(tool, draw))
        return 40

    def _look_up(self, tool: str, arguments: dict[str, Any]) -> None:
        began = time.monotonic()
        try:
            said = self._tools[tool].invoke(arguments)
        except ValidationError:  # what an agent is told of arguments of another form
            return
        except BanyanError as error:
            raise AssertionError(f"{tool} {arguments} let an error out: {error!r}") from error
        assert isinstance(said, str), said
        assert said.strip(), f"{tool} {arguments}: nothing was said"
        assert time.monotonic() - began < _DEADLINE, f"{tool} {arguments} took {time.monotonic() - began:.1f} s"

    def _arguments(self, tool: str, draw: random.Random) -> dict[str, Any]:
        text = lambda: self._text(draw)  # noqa: E731  (many are drawn)
        texts = lambda: [text() for _ in range(draw.randint(0, 3))]  # noqa: E731
        given: dict[str, Any] = {
            "entity_search": lambda: {"entity": text(), "relations": texts(), "at": text()},
            "triple_search": lambda: {
                "relation": draw.choice(("supplies", "weight", "opened", "status", "date", text())),
                "head": text(), "tail": text(), "where": [self._condition(draw) for _ in range(draw.randint(0, 3))],
                "by": text(), "do": draw.choice(get_args(Calculation)), "show": texts(),
                "limit": draw.choice((0, 1, 3, -1, 10**9, 10**30, "2", 1.5)), "document": text(), "at": text()},
            "dfs_search": lambda: {"start": text(), "end": text(), "along": texts()},
            "community_search": lambda: {"theme": text(), "by": text(), "along": text()},
            "passage_search": lambda: {"query": text(), "documents": texts()}}[tool]()
        for name in draw.sample(sorted(given), draw.randint(0, len(given) - 1)):
            if name not in {"relation", "entity", "start", "query"}:
                del given[name]
        if draw.random() < 0.1:
            given[draw.choice(sorted(given))] = draw.choice((None, 7, [], {}, [None], True, ["x"] * 50,
            "x" * (LONGEST + 1)))
        return given

    @staticmethod
    def _text(draw: random.Random) -> str:
        pieces = [draw.choice(_NAMES if draw.random() < 0.6 else _ODD) for _ in range(draw.choice((1, 1, 1, 2, 4)))]
        return draw.choice(("", " ", "|", "=")).join(pieces)[:LONGEST]

    def _condition(self, draw: random.Random) -> str:
        field = draw.choice(("status", "weight", "opened", "tail.status", "tail.opened", self._text(draw)))
        return f"{field}{draw.choice(_SIGNS)}{self._text(draw)}"[:LONGEST]

    def close(self) -> None:
        """Close the knowledge base."""
        self._resources.close()
