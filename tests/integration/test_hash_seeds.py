"""Processes with different hash seeds come to the same, bit by bit."""

import json
import os
import subprocess
import sys

import pytest

from ..conftest import TESTS

# The last column is the order in which the tree's facts come.
SEEDS = [("0", "0"), ("42", "1")]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folders = [tmp_path_factory.mktemp("seed") for _ in SEEDS]
    running = [subprocess.Popen([sys.executable, str(TESTS / "seeded_results.py"), str(folder), shuffling],
                                env={**os.environ, "PYTHONHASHSEED": seed})
               for folder, (seed, shuffling) in zip(folders, SEEDS, strict=True)]
    assert [process.wait(120) for process in running] == [0] * len(SEEDS)
    return [json.loads((folder / "results.json").read_text("utf-8")) for folder in folders]


@pytest.mark.parametrize("part", ["history", "tree"])
def test_the_hash_seed_changes_nothing(results, part):
    first, other = [result[part] for result in results]
    assert len(first) > 1
    assert other == first


def test_the_tree_holds_every_entity(results):
    assert sum(len(community["members"]) for community in results[0]["tree"] if community["level"] == 0) == 45
