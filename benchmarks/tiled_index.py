"""Make indexes of a million triples and more from that of a small knowledge base, without building a large one.

The graph of a base of MuSiQue's recorded triples is laid out once for each copy: names that have a word which passages
capitalise differ in each copy; what has no name ("film", "1999") is shared, as in grown_stores.py. Degrees, the lengths
of texts and the number of texts with a word stay the same. A copy's vectors are its original's, moved. The index is
made of that by the ordinary code.

Only the index and the tables for SQL are made: the ledger remains the small one's. So it serves only to measure
questions, their memory and the time of opening.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.graph_store.graph.graph_columns import (
    GraphColumns,
    distinct_rows,
    distinct_triples,
    keep_surest_rows,
)
from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.graph.resolved_graph import ResolvedGraph
from banyan.graph_store.index import index_file
from banyan.graph_store.index.contents import build_index, read_graph
from banyan.graph_store.layout import Layout
from banyan.graph_store.sql.table_file import TableSource
from banyan.graph_store.sql.table_store import TableStore
from banyan.graph_store.vectors.vector_store import Kind
from banyan.schemas.documents import Chunk
from grown_stores import WORD, grown, name_words
from numpy.typing import NDArray

_ORIGINAL, _COPY, _OWN = 0.8, 0.45, 0.4
_BASE = 15_800
"""All of MuSiQue's recorded triples."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_AT_ONCE = 50_000
_PLACES = frozenset({"start", "end", "confidence"})

Rename = Callable[[str, int], str]
Rows = NDArray[np.intp]


def _key(key: str, copy: int) -> str:
    return f"{key}{copy:03d}"


class Tiling:
    """The graph of a base, laid out several times."""

    def __init__(self, base: GraphColumns, copies: int, rename: Rename) -> None:
        """Lay out a base's columns; `rename` returns a text as a copy has it."""
        self._base, self._copies = base, range(copies)
        self._rename_texts(rename)
        size, texts = len(base.ids), list(base.texts)
        shared = np.array([rename(texts[name], 1) == texts[name] for name in base.names.tolist()])
        starts = index_file.list_starts(np.where(shared, 1, copies))
        self._of = [starts[:-1] + np.where(shared, 0, copy) for copy in self._copies]
        """A copy's row of each entity of the base."""
        entity = np.repeat(np.arange(size), np.diff(starts))
        self.origins: dict[Kind, tuple[Rows, Rows]] = {"entities": (entity, np.arange(starts[-1]) - starts[entity])}
        """The row in the base, and the copy, of each row."""
        self._lay_out_triples()

    def _rename_texts(self, rename: Rename) -> None:
        """Give numbers to the texts of all copies: relations, types and attributes stay, chunks get other ids."""
        base = self._base
        chunks = {*base.mentions.chunk.tolist(), *base.support.chunk.tolist(), *base.values.chunk.tolist()}
        kept = {*base.types.tolist(), *base.triples[:, 1].tolist(), *base.values.attribute.tolist()}
        texts = list(enumerate(base.texts))
        renamed = [[_key(text, copy) if number in chunks else text if number in kept else rename(text, copy)
                    for number, text in texts] for copy in self._copies]
        self._texts = sorted(set().union(*renamed))
        number = {text: place for place, text in enumerate(self._texts)}
        self._numbers = np.array([[number[text] for text in own] for own in renamed], np.int32)
        """A copy's number of each text of the base, shape (copies, texts)."""

    def _lay_out_triples(self) -> None:
        heads, relations, tails = self._base.triples.T
        ends = [np.concatenate([of[end] for of in self._of]) for end in (heads, tails)]
        self._triples, rows = distinct_triples(ends[0], self._numbers[:, relations].ravel(), ends[1])
        origin = np.empty((2, len(self._triples)), np.intp)
        copies = np.repeat(self._copies, len(heads))
        origin[:, rows[::-1]] = np.tile(np.arange(len(heads)), len(self._copies))[::-1], copies[::-1]
        self.origins["triples"] = origin[0], origin[1]
        self._triple_rows = rows.reshape(len(self._copies), -1)

    def graph(self) -> KnowledgeGraph:
        """Return the graph."""
        base, (row, copy) = self._base, self.origins["entities"]
        ids = [_key(base.ids[one], number) for one, number in zip(row.tolist(), copy.tolist(), strict=True)]
        return KnowledgeGraph(GraphColumns(
            self._texts, ids, self._numbers[copy, base.types[row]], self._numbers[copy, base.names[row]],
            self._triples, distinct_rows(self._tile(base.mentions)), keep_surest_rows(self._tile(base.support)),
            distinct_rows(self._tile(base.triple_times)), distinct_rows(self._tile(base.values)),
            distinct_rows(self._tile(base.value_times))))

    def _tile(self, table: Any) -> Any:
        tiled = table._replace(**{name: column[:0] for name, column in table._asdict().items()})
        for copy in self._copies:
            rows = {"entity": self._of[copy], "triple": self._triple_rows[copy]}
            copied = table._replace(**{
                name: rows.get(name, self._numbers[copy])[column].astype(np.int32)
                for name, column in table._asdict().items() if name not in _PLACES})
            tiled = type(table)(*map(np.concatenate, zip(tiled, copied, strict=True)))
        return tiled


class MovedVectors:
    """Stands in for the vectors of a tiling: a copy's are its original's, turned to the copy's direction and its own.

    All vectors of a kind are asked for at once, in the order of their rows.
    """

    def __init__(self, arrays: index_file.Arrays, origins: dict[Kind, tuple[Rows, Rows]]) -> None:
        """Take the base's arrays, and for each kind the row in the base and the copy of each row."""
        self._arrays, self._origins = arrays, origins

    def __call__(self, kind: Kind, ids: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of ids, which are made block by block."""
        stored = self._arrays[f"{kind}.vectors"]
        if kind not in self._origins:  # relations, of which copies have hardly more
            return np.resize(stored, (len(ids), stored.shape[1]))
        rows, copies = self._origins[kind]
        directions = _draw(np.random.default_rng(1), int(copies.max()) + 1, stored.shape[1])
        vectors = stored[rows]
        for number, start in enumerate(range(0, len(ids), _AT_ONCE)):
            block, copy = vectors[start:start + _AT_ONCE], copies[start:start + _AT_ONCE]
            own = _draw(np.random.default_rng([2, number]), len(copy), stored.shape[1])
            moved = _ORIGINAL * block + _COPY * directions[copy] + _OWN * own
            block[copy > 0] = (moved / np.linalg.norm(moved, axis=1, keepdims=True))[copy > 0]
        return vectors


def _draw(chance: np.random.Generator, count: int, dimension: int) -> NDArray[np.float32]:
    drawn = chance.standard_normal((count, dimension), np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def tiled(home: Path, recorded: Path, triples: int, first: Sequence[int]) -> str:
    """Make a knowledge base whose index has about so many triples, if the home folder has none yet.

    Args:
        home: the home folder; the base is made there too.
        recorded: MuSiQue's recorded triples in HippoRAG's format.
        triples: how many.
        first: rows of passages that questions are about.

    Returns:
        Its name.
    """
    name, base = f"tiled-{triples}", grown(home, recorded, _BASE, "derived", first)
    made = Layout.of(home, name)
    if made.index.is_file():
        return name
    names = name_words(json.loads(recorded.read_text("utf-8"))["docs"])

    def rename(text: str, copy: int) -> str:
        ending = f"q{_LETTERS[copy // 26]}{_LETTERS[copy % 26]}"
        return WORD.sub(lambda word: word[0] + ending if word[0].casefold() in names else word[0],
                        text) if copy else text

    there = Layout.of(home, base)
    shutil.copytree(there.root, made.root, ignore=shutil.ignore_patterns(made.index.name))
    about, stored = index_file.load(there.index)
    copies = max(1, round(triples / len(stored["triples"])))
    tiling = Tiling(read_graph(stored)[0], copies, rename)
    with Resources(Settings(home=home, llm_base_url=None)) as resources, resources.snapshot(base) as snapshot:
        chunks, communities = snapshot.kb.documents.chunks(), snapshot.kb.communities.searchable()
        version, documents = snapshot.kb.version(), snapshot.kb.documents.about()
    rows, copy = np.divmod(np.arange(len(chunks) * copies), copies)
    origins = tiling.origins | {"chunks": (rows, copy)}
    repeated = [one.model_copy(update={
        "id": _key(one.id, number), "members": tuple(_key(member, number) for member in one.members),
        "keywords": tuple(_key(keyword, number) for keyword in one.keywords)})
        for one in communities for number in range(copies)]
    graph = ResolvedGraph(tiling.graph())
    tiles = [_chunk(chunks[row], number, rename) for row, number in zip(rows.tolist(), copy.tolist(), strict=True)]
    TableStore(made.root).save(version, TableSource(documents, [], graph, tiles))
    arrays = build_index(graph, tiles, repeated, repeated, MovedVectors(stored, origins))
    index_file.write(made.index, about | {"counts": arrays["counts"].tolist()}, arrays)
    return name


def _chunk(chunk: Chunk, copy: int, rename: Rename) -> Chunk:
    return chunk.model_copy(update={"id": _key(chunk.id, copy), "document_id": _key(chunk.document_id, copy),
                                    "title": rename(chunk.title, copy), "text": rename(chunk.text, copy)})
