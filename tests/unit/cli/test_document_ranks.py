"""`banyan documents --supersedes` and `--trust`: what they print, and what the list then shows."""

import json

from ... import scripted

shell = scripted.shell


def test_ranks_are_given_listed_and_taken_back(shell):
    shell.copy_built({"wiki-a.txt": "Ada:Person", "b.txt": "Ben:Person"})
    assert "trust" not in shell("documents", "--kb", "kb").out
    assert "edit 1: trust wiki-* by rank -1" in shell("documents", "--kb", "kb", "--trust", "wiki-*", -1).out
    assert "edit 2: b.txt supersedes wiki-a.txt" in shell(
        "documents", "--kb", "kb", "--supersedes", "b.txt", "wiki-a.txt").out
    assert "trust" in shell("documents", "--kb", "kb").out
    listed = json.loads(shell("documents", "--kb", "kb", "--json").out)
    assert {entry["id"]: entry["trust"] for entry in listed} == {"b.txt": 0, "wiki-a.txt": -1}
    assert "trust wiki-* by rank -1" in shell("entities", "decisions", "--kb", "kb").out
    assert shell("entities", "undo", 1, "--kb", "kb").code == 0
    assert "trust" not in shell("documents", "--kb", "kb").out
    refused = shell("documents", "--kb", "kb", "--trust", "wikis-*", 1)
    assert (refused.code, "no document matches 'wikis-*'" in refused.err) == (1, True)
