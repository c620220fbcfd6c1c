"""Replies of a model to every step, whole, cut, damaged or of another form: read in time, or of no use in words."""

import json
import random
import time
from typing import Any

from banyan.graph_store.bounding.admission import bound
from banyan.graph_store.bounding.labels import Bounds
from banyan.models.llm import wire
from banyan.models.llm.endpoint import Reply
from banyan.models.llm.extraction_reply import NumberedLines
from banyan.models.llm.llm_reasoner import merge_proposal
from banyan.models.llm.wire import UnusableAnswer, read_reply
from banyan.schemas.documents import Chunk
from banyan.schemas.extraction import Extraction, ExtractionRequest
from banyan.schemas.formats.schema_loading import load_schema
from banyan.schemas.lookups import TOOLS
from banyan.schemas.retrieval import CommunityDigest

from .mutations import mutated

_DEADLINE = 5.0
"""Seconds that reading one reply, or bounding what it says of a short chunk, may take."""
_TEXT = "Ada Byron was born in Ulm in 1801.\nShe worked for Acme since 1820; votes: 27.\n林小雨出生于宁波。"
_SCHEMA = load_schema("general")
_REQUESTS = [ExtractionRequest(text=_TEXT, title="Ada"), ExtractionRequest(text="Otto met Ada in Bonn.", title="Otto")]
_DIGESTS = [CommunityDigest(keywords=("Ada",), facts=("Ada met Otto", "Ada age: 7")),
            CommunityDigest(keywords=("Ulm",), facts=())]
_SHAPES: dict[str, wire.Shape[Any]] = {
    "extraction": wire.extraction(_SCHEMA, NumberedLines(_REQUESTS)), "summaries": wire.summaries(_DIGESTS),
    "verdicts": wire.verdicts(2), "judgement": wire.judgement(TOOLS), "answer": wire.judgement(()),
    "same": wire.SAME_LABELS, "question": wire.QUESTION,
    "schema": wire.proposed_schema(lambda proposed: merge_proposal(_SCHEMA, proposed))}
_GOOD: dict[str, Any] = {
    "extraction": {"entities": [["Person", "Ada Byron", "Otto"], ["Place", "Ulm"]],
                   "triples": [["1 in 1801", "Ada Byron", "born_in", "Ulm"], ["2 since 1820; votes: 27", "Ada Byron",
                                                                              "works_for", "Acme"]],
                   "attributes": [["1", "Ada Byron", "birth_date", "1801"]],
                   "new": [["met", "0.9"]]},
    "summaries": {"communities": [{"id": 1, "name": "A", "summary": "a", "findings": [{"text": "f", "facts": [1, 2]}]},
                                  {"id": 2, "name": "B", "summary": "b", "findings": []}]},
    "verdicts": {"pairs": [{"id": 1, "thought": "", "same": True, "confidence": 0.9},
                           {"id": 2, "thought": "", "same": False, "confidence": 1}]},
    "judgement": {"thought": "", "lookups": [{"tool": "triple_search", "relation": "born_in"},
                                             {"tool": "table_query", "sql": "SELECT 1"},
                                             {"tool": "dfs_search", "start": "Ada"}],
                  "answerable": False, "claims": [], "short": "", "confidence": 0.5},
    "answer": {"thought": "", "lookups": [], "answerable": True, "short": "Ulm", "confidence": 1,
               "claims": [{"text": "In Ulm.", "quotes": [{"item": 1, "words": "born in Ulm"}], "unstated": ""}]},
    "same": {"same": [["1", "works_for", "forward"], ["2", "owns", "backward"]]}, "question": {"question": "Who?"},
    "schema": {"thought": "", "types": [["Ship", "Product", "a vessel", "船"]],
               "relations": [["sails on", "Ship", "Place|River", "", "tail"]],
               "attributes": [["tonnage", "Ship", "number", "", "one"]]}}
_ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1e308, 10**40, float("inf"), float("nan"), "", " ", "1", "99999", "0", "-1", "L3", "lines 1",
    "1 since 2020; a: b; c", "x" * 20_000, "*", "|||", "\ud800", "\0\u202e", "A|B", [], {}, [[]], [None], [[["a"]]],
    {"id": 1}, "1e400", "１", "²", ["1", "a", "b", "c", "d", "e", "f", "g"], [["1"] * 50] * 50, "the " * 500, "(" * 200)
_AROUND = ("%", "```json\n%\n```", "<think>%</think>%", "%%", "[%]", '{"answer": %}', "Here: % and {", "%}}", '"%"',
           "{" * 500 + "%", "%" + "[" * 2000, "\ufeff%", '{"properties": %, "type": "object"}')


class Replies:
    name = "replies"

    def __init__(self) -> None:
        self._bounds = Bounds(_SCHEMA)
        self._chunks = [Chunk(id=str(number), document_id="d", ordinal=0, start=0, end=len(one.text), text=one.text,
                              title=one.title) for number, one in enumerate(_REQUESTS)]

    def round(self, draw: random.Random) -> int:
        for _ in range(100):
            step = draw.choice(sorted(_SHAPES))
            text = self._reply(_GOOD[step], draw)
            began = time.thread_time()
            try:
                answer = read_reply(Reply(text, 1, 1), _SHAPES[step])
            except UnusableAnswer as error:
                assert str(error), step
            else:
                for chunk, extraction in zip(self._chunks, answer if step == "extraction" else (), strict=False):
                    self._bound(chunk, extraction)
            took = time.thread_time() - began
            assert took < _DEADLINE, f"{step} took {took:.1f} s: {text[:500]!r}"
        return 100

    def _bound(self, chunk: Chunk, extraction: Extraction) -> None:
        Extraction.model_validate_json(extraction.model_dump_json())  # as the ledger has it
        bounded = bound(extraction, chunk, self._bounds)
        for found in (*bounded.mentions, *bounded.facts, *bounded.attributes):
            assert chunk.text[found.span.start:found.span.end] == found.span.quote

    def _reply(self, good: Any, draw: random.Random) -> str:
        value = good
        for _ in range(draw.choice((0, 1, 1, 2, 5))):
            value = self._changed(value, draw)
        text = json.dumps(value, ensure_ascii=draw.random() < 0.5)
        if draw.random() < 0.3:
            text = mutated(text.encode("utf-8", "replace"), draw).decode("utf-8", "replace")
        around = draw.choice(_AROUND) if draw.random() < 0.4 else "%"
        return around.replace("%", text) if draw.random() < 0.95 else text * draw.choice((3, 200))

    def _changed(self, value: Any, draw: random.Random) -> Any:
        inner = isinstance(value, dict | list) and value and draw.random() < 0.85
        if not inner:
            return draw.choice(_ODD)
        if isinstance(value, dict):
            name = draw.choice(sorted(value))
            if draw.random() < 0.15:
                return {key: one for key, one in value.items() if key != name}
            return {**value, name: self._changed(value[name], draw)}
        place = draw.randrange(len(value))
        if draw.random() < 0.2:
            return [*value[:place], *value[place + 1:]] if draw.random() < 0.5 else value * draw.choice((2, 100))
        return [*value[:place], self._changed(value[place], draw), *value[place + 1:]]

    def close(self) -> None:
        pass
