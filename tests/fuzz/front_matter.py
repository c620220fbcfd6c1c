"""Markdown whose front matter is odd, broken or endless: read in time, as fields or as text, and its facts bounded."""

import random
import time
from pathlib import Path

from banyan.graph_store.bounding.admission import bound
from banyan.graph_store.bounding.labels import Bounds
from banyan.ingest.chunking import chunk_document
from banyan.ingest.loaders import load_documents
from banyan.ingest.reading import LoadFailure
from banyan.models.rules.table_facts import read_rows
from banyan.schemas.formats.schema_loading import load_schema

from .mutations import mutated

_DEADLINE = 10.0
"""Seconds that one file may take, with its chunks and the facts of its fields."""
_KEYS = ("title", "author", "authors", "date", "tags", "status", "requires", "id", "eip", "params", "extra", "a b",
         "字段", '"quoted"', "'x'", "?", "-", "*a", "&a", "<<", "!!python/object", "a.b", "1", "true", "null",
         "\u202ex", "k" * 300)
_VALUES = (
    "Ada", "[a, b]", "{a: b, c: {d: e}}", "&x [1]", "*x", "2024-01-05", "2024-13-45", "1e999", "0x1F", "NaN", "~",
    '"\\u202e"', "'it''s'", "|\n  line\n  line", ">-\n  folded\n", "Ada Byron <ada@example.org>", "1, 2, 3", "a; b; c",
    "A (@a), B (@b)", "!!binary aGk=", "!!set {a}", "!!python/name:os.system", "# comment", "---", "+++", "[" * 300,
    "{" * 300, "x" * 5000, "- a\n- b\n- - c", "| a | b |", "林小雨、张三", "é\u0301", "@", "`", "%", "1_000", "yes",
    "12:30:45", "=", "[[x]]", '"""', "\'\'\'", "{ a = 1, b = [1, 2] }", "2024-01-05T10:00:00Z", "inf", "'")
_BEFORE = ("", "", "", "\ufeff", "\n")
_BODY = "# Ada\n\nAda Byron was born in Ulm.\n"


class FrontMatters:
    """Reads files with made-up fields."""

    name = "front"

    def __init__(self, folder: Path) -> None:
        """Make a folder for one file at a time."""
        self._file = folder / "front" / "a.md"
        self._file.parent.mkdir()
        self._schema = load_schema("general")
        self._bounds = Bounds(self._schema)

    def round(self, draw: random.Random) -> int:
        """Read ten files; returns their number."""
        for _ in range(10):
            data = self._text(draw).encode("utf-8", "surrogatepass")
            self._file.write_bytes(mutated(data, draw) if draw.random() < 0.3 else data)
            began = time.monotonic()
            self._read()
            assert time.monotonic() - began < _DEADLINE, f"{time.monotonic() - began:.1f} s: {data[:2000]!r}"
        return 10

    def _read(self) -> None:
        failures: list[LoadFailure] = []
        documents = list(load_documents([self._file.parent], on_failure=failures.append))
        assert documents or all(failure.reason for failure in failures)
        for document in documents:
            document.model_dump_json().encode()
            for chunk in chunk_document(document, max_tokens=400, overlap_tokens=0):
                assert document.text[chunk.start:chunk.end] == chunk.text
                extraction, _ = read_rows(chunk.text, chunk.title, chunk.heading, self._schema)
                bounded = bound(extraction, chunk, self._bounds)
                for found in (*bounded.mentions, *bounded.facts, *bounded.attributes):
                    assert chunk.text[found.span.start:found.span.end] == found.span.quote

    @staticmethod
    def _text(draw: random.Random) -> str:
        fence, sign = draw.choice((("---", ": "), ("---", ":"), ("+++", " = "), ("+++", "=")))
        lines = []
        for _ in range(draw.choice((0, 1, 3, 10, 60, 400))):
            value, number = draw.choice(_VALUES), draw.choice(("", "", draw.randrange(99)))
            name = f"{' ' * draw.choice((0, 0, 0, 2))}{draw.choice(_KEYS)}{number}"
            is_quoted = sign.strip() == "=" and draw.random() < 0.5
            lines.append(f"{name}{sign}{value!r}" if is_quoted else f"{name}{sign}{value}")
            if fence == "+++" and draw.random() < 0.1:
                lines.append(draw.choice(("[params]", "[[x]]", "[a.b.c]", "[extra")))
        end = draw.choice((fence, fence, fence, "", "...", "+++", fence + " "))
        return "\n".join([draw.choice(_BEFORE) + fence, *lines, end, _BODY])

    def close(self) -> None:
        """Nothing is open."""
