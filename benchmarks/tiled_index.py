"""Make indexes of a million triples and more from that of a small knowledge base, without building a large one.

The index of a base of MuSiQue's recorded triples is repeated for each copy: entities, triples and chunks whose names
have a word that passages capitalise differ in each copy; what has no name ("film", "1999") is shared, as in
grown_stores.py. Degrees, the lengths of texts and the number of texts with a word stay the same. A copy's vectors are
its original's, moved.

Only the files that readers map are made: the ledger remains the small one's. So it serves only to measure questions,
their memory and the time of opening.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from banyan.graph_store.bounding.grounding import words
from banyan.graph_store.index import array_file, columns
from banyan.graph_store.index.browsing import browsing, stated
from banyan.graph_store.index.contents import step_arrays
from banyan.graph_store.index.lexical import postings, terms
from banyan.graph_store.index.name_trie import trie
from banyan.graph_store.index.vector_rows import StoredVectors
from banyan.graph_store.layout import Layout
from banyan.graph_store.vectors.vector_store import Kind
from grown_stores import WORD, grown, name_words
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
Pairs = tuple[NDArray[Any], NDArray[Any]]
_ORIGINAL, _COPY, _OWN = 0.8, 0.45, 0.4
_BASE = 15_800
"""All of MuSiQue's recorded triples."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class _Rows:
    """The rows of a kind: for a row of the base one in each copy, or one that all copies share."""

    def __init__(self, shared: NDArray[np.bool_], copies: int) -> None:
        self.starts = columns.starts(np.where(shared, 1, copies))
        self._shared = shared
        self.base = np.repeat(np.arange(len(shared)), np.diff(self.starts))
        self.copy = np.arange(self.starts[-1]) - self.starts[self.base]

    def __len__(self) -> int:
        return int(self.starts[-1])

    def of(self, rows: NDArray[Any], copy: int) -> NDArray[Any]:
        """Return a copy's rows for rows of the base."""
        return self.starts[rows] + np.where(self._shared[rows], 0, copy)


def ending(copy: int) -> str:
    """Return the suffix of a copy's names; "" for the base itself."""
    return f"q{_LETTERS[copy // 26]}{_LETTERS[copy % 26]}" if copy else ""


class Tiling:
    """The index of a base, laid out several times."""

    def __init__(self, base: Arrays, copies: int, named: Callable[[str, int], str]) -> None:
        """Take the base's arrays, the number of copies, and a function that gives a text as a copy has it."""
        self._base, self._copies, self._named = base, copies, named
        about = columns.Texts(base, "entities.about")
        self._about = [orjson.loads(text) for text in about]
        shared = np.array([named(name, 1) == name for name, *_ in self._about], bool)
        ends = base["triples.ends"]
        self.rows: dict[Kind, _Rows] = {
            "entities": _Rows(shared, copies), "triples": _Rows(shared[ends[:, 0]] & shared[ends[:, 2]], copies),
            "chunks": _Rows(np.zeros(len(base["chunks"]), bool), copies)}

    def arrays(self) -> Arrays:
        """Return all arrays except those of vectors."""
        triples, called = self._triples(), self._names_and_types()
        return {**self._ids(), **self._entities(called), **triples, **self._chunks(), **self._communities(),
                **self._walk(), **browsing(called, triples["triples.ends"], self._finest()), **stated({}, {})}

    def _each(self, owner: Kind, value: Kind, name: str) -> Pairs:
        """Return the base's lists of rows by row as (owner, value) pairs for every copy, each pair once."""
        lists = columns.Lists(self._base, name)
        owners = np.repeat(np.arange(len(lists)), np.diff(lists.starts))
        pairs = [np.stack([self.rows[owner].of(owners, copy), self.rows[value].of(lists.values, copy)])
                 for copy in range(self._copies)]
        found = np.concatenate(pairs, axis=1)
        keys = np.unique(found[0].astype(np.int64) * len(self.rows[value]) + found[1])
        return keys // len(self.rows[value]), keys % len(self.rows[value])

    def _ids(self) -> Arrays:
        made: Arrays = {}
        for kind, rows in self.rows.items():
            ids = [f"{key.decode()}{copy:03d}"
                   for key, copy in zip(self._base[kind][rows.base], rows.copy, strict=True)]
            made |= columns.ids(kind, ids)
        return made

    def _names_and_types(self) -> list[tuple[str, str]]:
        """Return each entity's name and type, without its other names."""
        rows = self.rows["entities"]
        return [(self._named(self._about[row][0], copy), self._about[row][1])
                for row, copy in zip(rows.base.tolist(), rows.copy.tolist(), strict=True)]

    def _finest(self) -> dict[int, str]:
        """Return the finest community of each entity that has one."""
        rows, numbers, ids = self.rows["entities"], self._base["entities.finest"], columns.Ids(self._base, "finest")
        return {row: f"{ids.at(number)}{copy:03d}" for row, (number, copy) in enumerate(
            zip(numbers[rows.base].tolist(), rows.copy.tolist(), strict=True)) if number >= 0}

    def _entities(self, called: Sequence[tuple[str, str]]) -> Arrays:
        rows, size = self.rows["entities"], len(self.rows["entities"])
        folded = [words(name) for name, _ in called]
        attributes = columns.Texts(self._base, "entities.attributes")
        return {"counts": np.array([size, len(self.rows["triples"]), 0]), **self._attributes(),
                **columns.texts("entities.about", (orjson.dumps(one) for one in called)),
                **columns.texts("entities.attributes", (attributes.raw(row) for row in rows.base.tolist())),
                **columns.texts("entities.times", [b""] * size),
                **columns.inverted("entities.chunks", *self._each("entities", "chunks", "entities.chunks"), size),
                **columns.inverted("entities.triples", *self._each("entities", "triples", "entities.triples"), size),
                **trie("names", ((said, row) for row, said in enumerate(folded))),
                **trie("values", ()),
                **columns.texts("spellings", sorted({name for name, _ in called})),
                **columns.texts("name_words", sorted({word for said in folded for word in said}))}

    def _attributes(self) -> Arrays:
        """Return the names of attributes, and of each its values by the rows of their owners in all copies."""
        owners, held = columns.Lists(self._base, "cells.owners"), self._base["cells.values"]
        rows, values = list[NDArray[Any]](), list[NDArray[Any]]()
        for row in range(len(owners)):
            own, texts = owners[row], held[owners.starts[row]:owners.starts[row + 1]]
            copied = np.concatenate([self.rows["entities"].of(own, copy) for copy in range(self._copies)])
            pairs = np.unique(np.stack([copied, np.tile(texts, self._copies)]), axis=1)
            rows.append(pairs[0])
            values.append(pairs[1])
        return {**columns.texts("attributes", columns.Texts(self._base, "attributes")),
                **columns.lists("cells.owners", rows), "cells.values": np.concatenate([*values, held[:0]]),
                **{f"cells.texts.{part}": self._base[f"cells.texts.{part}"] for part in ("values", "starts")}}

    def _triples(self) -> Arrays:
        rows, ends = self.rows["triples"], self._base["triples.ends"]
        made = np.stack([np.zeros(len(rows), np.int32)] * 3, axis=1)
        for copy in range(self._copies - 1, -1, -1):
            at = rows.of(np.arange(len(ends)), copy)
            made[at, 0], made[at, 1] = self.rows["entities"].of(ends[:, 0], copy), ends[:, 1]
            made[at, 2] = self.rows["entities"].of(ends[:, 2], copy)
        owners, chunks = self._each("triples", "chunks", "triples.chunks")
        relations = columns.Lists(self._base, "relations.triples")
        return {**columns.texts("triples.times", [b""] * len(made)), "triples.ends": made,
                "triples.spans": np.tile(np.array([[0, 20]], np.int32), (len(owners), 1)),
                **columns.inverted("triples.chunks", owners, chunks, len(rows)),
                **columns.inverted("relations.triples", made[:, 1], np.arange(len(made)), len(relations)),
                **{f"relations.{part}": self._base[f"relations.{part}"] for part in ("values", "starts")}}

    def _chunks(self) -> Arrays:
        rows, base = self.rows["chunks"], columns.Texts(self._base, "chunks.about")
        number, ids = self._base["chunks.documents"], columns.Ids(self._base, "chunks")
        documents = int(number.max()) + 1
        told, spoken = [], list[list[str]]()
        for row, copy in zip(rows.base.tolist(), rows.copy.tolist(), strict=True):
            chunk = orjson.loads(base.raw(row))
            chunk |= {part: self._named(chunk[part], copy) for part in ("title", "text")} | {
                "id": f"{ids.at(row)}{copy:03d}"}
            told.append(orjson.dumps(chunk))
            spoken.append(terms(f"{chunk['title']}\n{chunk['text']}"))
        owner = number[rows.base] * self._copies + rows.copy
        whole: list[list[str]] = [[] for _ in range(documents * self._copies)]
        for of, said in zip(owner.tolist(), spoken, strict=True):
            whole[of] = whole[of] + said if whole[of] else said
        return {**columns.texts("chunks.about", told),
                "chunks.documents": owner.astype(np.int32), **postings("chunks.words", spoken),
                **postings("documents.words", whole)}

    def _communities(self) -> Arrays:
        base, copies = columns.Texts(self._base, "communities.about"), range(self._copies)
        ids = columns.Ids(self._base, "communities")
        told = []
        for row in range(len(base)):
            for copy in copies:
                community = orjson.loads(base.raw(row))
                community |= {part: [f"{key}{copy:03d}" for key in community[part]] for part in ("members", "keywords")}
                told.append(orjson.dumps(community | {"id": f"{ids.at(row)}{copy:03d}"}))
        made = columns.ids("communities", [f"{ids.at(row)}{copy:03d}" for row in range(len(base)) for copy in copies])
        lists, of = columns.Lists(self._base, "communities.chunks"), self.rows["chunks"].of
        chunks = (np.sort(of(lists[row], copy)) for row in range(len(base)) for copy in copies)
        directions = np.repeat(self._base["communities.vectors"], self._copies, axis=0)
        moved = _ORIGINAL * directions + _COPY * np.tile(self._directions(), (len(base), 1))
        return {**made, **columns.texts("communities.about", told), **columns.lists("communities.chunks", chunks),
                "communities.vectors": moved / np.linalg.norm(moved, axis=1, keepdims=True).clip(1e-9)}

    def _directions(self) -> NDArray[np.float32]:
        """Draw a direction for each copy."""
        return _directions(np.random.default_rng(1), self._copies, self._base["communities.vectors"].shape[1])

    def _walk(self) -> Arrays:
        entities, chunks = len(self.rows["entities"]), len(self.rows["chunks"])
        owners, mentioned = self._each("entities", "chunks", "entities.chunks")
        named, titled = self._each("entities", "chunks", "entities.titled")
        return {**columns.inverted("entities.titled", named, titled, entities),
                **step_arrays("walk", entities + chunks, np.concatenate([owners, named]),
                              np.concatenate([mentioned, titled]) + entities)}

    def vectors(self, kind: Kind, stored: NDArray[np.float32], block: int = 50_000) -> Iterator[NDArray[np.float32]]:
        """Yield a kind's vectors in blocks of rows: a copy's are its original's, moved."""
        rows, dimension = self.rows[kind], stored.shape[1]
        directions = self._directions()
        for number, at in enumerate(range(0, len(rows), block)):
            copy = rows.copy[at:at + block]
            found = stored[rows.base[at:at + block]].copy()
            own = _directions(np.random.default_rng([2, number]), len(copy), dimension)
            moved = _ORIGINAL * found + _COPY * directions[copy] + _OWN * own
            moved /= np.linalg.norm(moved, axis=1, keepdims=True)
            found[copy > 0] = moved[copy > 0]
            yield found


def _directions(chance: np.random.Generator, count: int, dimension: int) -> NDArray[np.float32]:
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
    name = f"tiled-{triples}"
    there, made = Layout.of(home, grown(home, recorded, _BASE, "derived", first)), Layout.of(home, name)
    if made.index.is_file():
        return name
    names = name_words(json.loads(recorded.read_text("utf-8"))["docs"])

    def named(text: str, copy: int) -> str:
        return WORD.sub(lambda word: word[0] + ending(copy) if word[0].casefold() in names else word[0],
                        text) if copy else text

    found = array_file.load(there.index)
    tiling = Tiling(dict(found.arrays), max(1, round(triples / len(found.arrays["triples"]))), named)
    shutil.copytree(there.root, made.root, ignore=shutil.ignore_patterns("index.bin"))
    arrays = tiling.arrays()
    for kind in tiling.rows:
        vectors = np.concatenate(list(tiling.vectors(kind, found.arrays[f"{kind}.vectors"])))
        arrays |= StoredVectors.of(vectors).arrays(kind)
    array_file.write(made.index, found.about | {"counts": arrays["counts"].tolist()}, arrays)
    return name
