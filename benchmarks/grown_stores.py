"""Make knowledge bases that differ only in size, from MuSiQue's recorded triples.

A smaller one is imported from some of the passages; a larger one from all of them and from copies with other names: a
word that the passages mostly capitalise gets the copy's suffix in titles, texts, entities and triples ("Warsaw" is
"Warsawqa" in the first copy). So degrees, the length of texts and the number of passages that mention an entity stay
the same. Copies share only what has no name ("film", "1999"), as more passages of the same kind would.

They are built by the ordinary import, once for each home folder.
"""

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from banyan.agents.construction import graph as construction
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.models.embedding.embedder import Embedder, Vectors
from banyan.models.embedding.embedding_models import load_embedder

Origin = Literal["derived", "model"]
# The import admits this share of the recorded triples: the others are not in their passage's words.
_KEPT = 0.91
_LETTERS = "aeiouybcdfghjklmnprstvwxz"
_ENDINGS = (*_LETTERS, *(first + second for first in _LETTERS for second in _LETTERS))
WORD = re.compile(r"[^\W\d_]+")
# No English word ends so.
_ENDED = re.compile(rf"(?<=\w)q([{_LETTERS}]{{1,2}})\b", re.IGNORECASE)
# More than one worker, because LangGraph's stream takes one for itself; as the command line does.
_WORKERS = 3
# The shares of the original, of the copy's direction and of a random direction in a derived vector.
_ORIGINAL, _COPY, _OWN = 0.8, 0.45, 0.4


class DerivedEmbedder:
    """The real model's vectors for texts of MuSiQue, and moved vectors for their copies.

    Encoding 200,000 texts takes a quarter of an hour on two idle cores, and measuring speed only needs vectors that are
    spread like real ones: a copy's is its original's, turned towards the copy's direction and a random one. Name and
    fingerprint are the model's, because the model itself embeds questions.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.dimension, self.fingerprint = embedder.name, embedder.dimension, embedder.fingerprint
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.encode`."""
        originals = [_ENDED.sub("", text) for text in texts]
        new = [text for text in dict.fromkeys(originals) if text not in self._known]
        if new:
            self._known.update(zip(new, self._embedder.encode(new), strict=True))
        vectors = np.array([self._known[text] for text in originals], np.float32).reshape(-1, self.dimension)
        for row, (text, original) in enumerate(zip(texts, originals, strict=True)):
            if text != original:
                copy = Counter(_ENDED.findall(text)).most_common(1)[0][0].lower()
                moved = _ORIGINAL * vectors[row] + _COPY * self._direction(copy) + _OWN * self._direction(text)
                vectors[row] = moved / np.linalg.norm(moved)
        return vectors

    def _direction(self, text: str) -> Vectors:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
        drawn = np.random.default_rng(seed).standard_normal(self.dimension, np.float32)
        return drawn / np.linalg.norm(drawn)


def grown(home: Path, recorded: Path, size: int, origin: Origin, first: Sequence[int]) -> str:
    """Make a knowledge base of about so many triples, if the home folder has none yet.

    Args:
        home: the home folder.
        recorded: MuSiQue's recorded triples in HippoRAG's format.
        size: how many triples.
        origin: whence the vectors of copies are.
        first: rows of passages that even the smallest has, those that questions are about.

    Returns:
        Its name.
    """
    name = f"grown-{size}-{origin}"
    done = home / f"{name}.json"
    if done.is_file():
        return name
    home.mkdir(parents=True, exist_ok=True)
    source = home / f"{name}.jsonl"
    with source.open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records(recorded, size, first))
    model = load_embedder(Settings())
    settings = Settings(home=home, llm_base_url=None)
    started = time.perf_counter()
    with Resources(settings, DerivedEmbedder(model) if origin == "derived" else model) as resources:
        report = construction.build_graph(resources).invoke(
            {"knowledge_base": name, "paths": [str(source)], "schema": "open", "recorded": "triples"},
            {"max_concurrency": _WORKERS})["report"]
    done.write_text(json.dumps(report | {"seconds": time.perf_counter() - started}), "utf-8")
    source.unlink()
    return name


def records(recorded: Path, size: int, first: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield passages with their triples for `banyan import --format triples`, up to a number of triples.

    Raises:
        SystemExit: there are not enough triples.
    """
    docs: list[dict[str, Any]] = json.loads(recorded.read_text("utf-8"))["docs"]
    order = [*dict.fromkeys(first), *(row for row in range(len(docs)) if row not in set(first))]
    names, left = name_words(docs), size / _KEPT
    for copy in ("", *_ENDINGS):
        for row in order:
            if left <= 0:
                return
            record = _record(docs[row], names, copy)
            left -= len(record["triples"])
            yield record | {"id": f"{copy or 0}#{row}"}
    raise SystemExit(f"{size:,} triples are more than MuSiQue and {len(_ENDINGS)} copies of it have: ask for fewer")


def name_words(docs: Sequence[dict[str, Any]]) -> frozenset[str]:
    """Return the case-folded words that the passages capitalise more often than not."""
    plain, capital = Counter[str](), Counter[str]()
    for doc in docs:
        for word in WORD.findall(doc["text"]):
            (plain if word[0].islower() else capital)[word.casefold()] += 1
    return frozenset(word for word, count in capital.items() if count > plain[word])


def _record(doc: dict[str, Any], names: frozenset[str], copy: str) -> dict[str, Any]:
    def of_copy(text: str) -> str:
        return WORD.sub(lambda word: f"{word[0]}q{copy}" if word[0].casefold() in names else word[0],
                         text) if copy else text

    triples = [[str(part).strip() for part in triple] for triple in doc["extracted_triples"]]
    return {"title": of_copy(doc["title"]), "text": of_copy(doc["text"]),
            "entities": [{"name": of_copy(name)} for name in doc["extracted_entities"] if name],
            "triples": [[of_copy(head), relation, of_copy(tail)]
                        for head, relation, tail in (triple for triple in triples if len(triple) == 3)
                        if head and relation and tail]}
