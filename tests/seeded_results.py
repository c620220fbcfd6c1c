"""What must not depend on a process's hash seed: a build's results and a tree, written to a file as JSON.

`python -m tests.seeded_results FOLDER SHUFFLING`: works in FOLDER and leaves `results.json` there. SHUFFLING seeds the
order in which the tree's facts come.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
from banyan.graph_store.tree.detection import CommunitySettings
from banyan.graph_store.tree.tree_levels import find_tree

from . import scripted
from .admitted import facts, graph_of
from .hashed_embedding import HashedEmbedder
from .newest import dump_graph, newest


def history(folder: Path) -> Any:
    shop = scripted.Workshop(folder, HashedEmbedder(), batch_chunks=2)
    shop.build(shop.write({**scripted.TEXTS, "e.txt": "Ada:Person --mentor of--> Bob:Person (0.9).",
                           "f.txt": "Cem:Person --mentor of--> Dua:Person (0.9)."}))
    shop.build(shop.write({"b.txt": "Bob:Person --knows--> Eva:Person."}))
    with shop.resources() as resources:
        resources.delete_documents("kb", ["c.txt"])
        kb = newest(resources).kb
        return [dump_graph(kb.graph), kb.schemas.current().model_dump(mode="json"),
                [community.model_dump() for community in kb.communities.all(level=None)]]


class Vectors:
    def get(self, kind: str, ids: list[str]) -> Any:
        seeds = [[int(one[i:i + 4], 36) for i in (0, 4)] for one in ids]
        return np.array([np.random.default_rng(seed).standard_normal(16) for seed in seeds], np.float32).reshape(-1, 16)


def tree(shuffling: int) -> Any:
    triples = [(f"{c}{i}", f"{c} makes", f"{c}{(i * 7 + 1) % 15}") for c in "ABC" for i in range(15)]
    random.Random(shuffling).shuffle(triples)
    graph = graph_of(
        (f"{head} {tail}", facts((head, relation, tail), names=[*{head, tail}], kind="thing"))
        for head, relation, tail in triples)
    return [community.model_dump() for community in find_tree(graph, Vectors(), CommunitySettings())]


def write_results(folder: Path, shuffling: int) -> None:
    results = {"history": history(folder), "tree": tree(shuffling)}
    (folder / "results.json").write_text(json.dumps(results), "utf-8")


if __name__ == "__main__":
    write_results(Path(sys.argv[1]), int(sys.argv[2]))
