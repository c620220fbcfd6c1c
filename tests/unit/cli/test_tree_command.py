"""`banyan tree`: the tree as it is printed, and surveys."""

import pytest

from ... import scripted
from ...newest import newest

TEXTS = {**scripted.TEXTS, "e.txt": "Cyd:Person --employer--> Birch:Organization. Birch:Organization.founded = 2003."}


@pytest.fixture
def shell(tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = scripted.Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    shell.copy_built(TEXTS)
    return shell


def everyone(shell):
    with shell.resources() as resources:
        return newest(resources).kb.graph.entity_ids()


def test_the_tree_shows_communities_keywords_facts_and_attributes(shell):
    printed = shell("tree", "--kb", "kb").out
    assert "communities of 7 entities" in printed
    assert "Acme Organization" in printed
    assert "Acme located in Bonn" in printed
    assert "founded: 1999" in printed
    found = shell.data("tree")
    assert sorted(one for community in found for one in community["members"]) == everyone(shell)
    assert all(community["name"] and community["summary"] and community["keywords"] for community in found)


def test_groups_by_a_field_are_computed_beside_the_tree(shell):
    before = shell.data("tree")
    found = shell.data("tree", "--by", "founded.decade")
    assert [group["text"].partition(" (")[0] for group in found["groups"]] == ["1990s", "2000s"]
    assert all(group["quote"] in scripted_text(group["document"]) for group in found["groups"])
    assert "1990s (1)" in shell("tree", "--kb", "kb", "--by", "founded.decade").out
    assert shell.data("tree") == before
    assert shell.sound()


def scripted_text(document):
    return TEXTS[document]


def test_what_a_path_reaches_is_printed_from_its_root(shell):
    printed = shell("tree", "--kb", "kb", "--along", "employer -> *", "--root", "Cyd").out
    assert "Cyd along employer -> *" in printed
    assert "Birch" in printed


def test_a_survey_that_cannot_be_made_is_an_error_that_names_what_there_is(shell):
    for arguments in (("--by", "absent"), ("--along", "absent", "--root", "Cyd"), ("--alpha", "0.5")):
        result = shell("tree", "--kb", "kb", *arguments)
        assert result.code == 1
        assert "error:" in result.err
    assert "founded" in shell("tree", "--kb", "kb", "--by", "absent").err
    assert "--root" in shell("tree", "--kb", "kb", "--along", "employer").err


def test_a_tree_behind_its_facts_says_so(shell):
    with shell.resources() as resources, resources.writers.step("kb", "a run") as kb:
        kb.database.note("state", tree=[999])
    assert "the tree is out of date" in shell("tree", "--kb", "kb").out
