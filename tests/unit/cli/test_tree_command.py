"""`banyan tree`: the tree as it is printed, surveys, and what describing it would cost."""

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


def reports(shell):
    with shell.resources() as resources:
        return {report.summary for report in newest(resources).kb.communities.group_reports().values()}


def describe(shell, *arguments):
    """Have the groups by founding year described; returns what is printed, and how many reports were paid for."""
    before = shell.scripted.summarised.total()
    found = shell.data("tree", "--by", "founded", "--describe", *arguments)
    return [group["text"] for group in found["groups"]], shell.scripted.summarised.total() - before


@pytest.mark.parametrize("alpha", [(), ("--alpha", "0.5")])
def test_a_group_has_one_report_until_its_facts_change(shell, alpha):
    printed, paid = describe(shell, *alpha)
    assert paid == 2
    assert all(any(text.endswith(report) for text in printed) for report in reports(shell))
    assert describe(shell, *alpha) == (printed, 0)
    shell.build(shell.write({"f.txt": "Dot:Person --employer--> Birch:Organization."}))
    assert describe(shell, *alpha)[1] == 1
    assert any("Dot" in report for report in reports(shell))
    assert shell.sound()


def test_a_report_on_a_group_goes_with_the_documents_that_it_rests_on_and_only_with_them(shell):
    describe(shell)
    with shell.resources() as resources:
        resources.delete_documents("kb", ["e.txt"])
    (left,) = reports(shell)
    assert "Acme" in left
    assert describe(shell)[1] == 0
    assert shell.sound()


def test_reports_and_alpha_need_a_field(shell):
    for arguments in (("--describe",), ("--alpha", "0.5")):
        result = shell("tree", "--kb", "kb", *arguments)
        assert result.code == 1
        assert "--by" in result.err


def test_what_a_path_reaches_is_printed_from_its_root(shell):
    printed = shell("tree", "--kb", "kb", "--along", "employer -> *", "--root", "Cyd").out
    assert "Cyd along employer -> *" in printed
    assert "Birch" in printed


def test_a_survey_that_cannot_be_made_is_an_error_that_names_what_there_is(shell):
    for arguments in (("--by", "absent"), ("--along", "absent", "--root", "Cyd"), ("--along", "employer")):
        result = shell("tree", "--kb", "kb", *arguments)
        assert result.code == 1
        assert "error:" in result.err
    assert "founded" in shell("tree", "--kb", "kb", "--by", "absent").err
    assert "--root" in shell("tree", "--kb", "kb", "--along", "employer").err


def test_a_tree_behind_its_facts_says_so(shell):
    with shell.resources() as resources, resources.writers.step("kb", "a run") as kb:
        kb.database.note("state", tree=[999])
    assert "the tree is out of date" in shell("tree", "--kb", "kb").out
