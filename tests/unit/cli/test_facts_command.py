"""`banyan facts` and `banyan entities --type`: rows, groups, numbers, cards and lists, as printed and as data."""

import csv
import io

import pytest
from banyan.cli.commands.facts_command import _print_table
from banyan.tools.table_results import ComputedTable, TableRow

from ... import scripted

TEXTS = {
    "a.txt": "Ada:Person --employer--> Acme:Organization. Acme:Organization.founded = 1999.",
    "b.txt": "Acme:Organization --located_in--> Bonn:Place.",
    "c.txt": "Bob:Person --employer--> Acme:Organization. Cyd:Person --employer--> Birch:Organization.",
    "d.txt": "Birch:Organization.founded = 2003. Dorn:Organization.founded = 2004.",
}


@pytest.fixture
def shell(tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = scripted.Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    shell.copy_built(TEXTS)
    return shell


def printed(shell, *arguments):
    """The lines of a command, each as its words."""
    result = shell(*arguments, "--kb", "kb")
    assert result.code == 0, result.err
    return [line.split() for line in result.out.splitlines() if line.strip()]


def test_without_options_the_relations_and_attributes_are_listed_with_their_rows(shell):
    assert [line for line in printed(shell, "facts") if line[0] in {"employer", "located_in", "founded"}] == [
        ["employer", "3", "relation"], ["located_in", "1", "relation"], ["founded", "3", "attribute"]]
    assert shell.data("facts") == [{"name": "employer", "rows": 3, "is_attribute": False},
                                    {"name": "located_in", "rows": 1, "is_attribute": False},
                                    {"name": "founded", "rows": 3, "is_attribute": True}]
    assert "and 2 more (--limit)" in shell("facts", "--kb", "kb", "--limit", 1).out


def test_what_all_rows_hold_with_stands_once_below_them(capsys):
    def shown(*times):
        rows = tuple(TableRow(head=f"P{n}", relation="cost", tail="4", time=time, document="a.md", start=0, end=1,
                              quote="4") for n, time in enumerate(times))
        _print_table(ComputedTable(relation="cost", do="list", total=len(rows), rows=rows), "", (), None)
        return capsys.readouterr().out

    assert shown("under: Old halls", "under: Old halls").count("under: Old halls") == 1
    assert "when" not in shown("under: Old halls", "under: Old halls")
    assert "when" in shown("under: Old halls", "under: New halls")
    assert "when" in shown("under: Old halls")


def test_a_count_is_one_line_and_what_is_left_out_follows(shell):
    assert printed(shell, "facts", "--relation", "employer", "--count")[0] == ["employer,", "count:", "3"]
    assert printed(shell, "facts", "--relation", "founded", "--do", "distinct") == [["founded,", "distinct:", "3"]]
    lines = printed(shell, "facts", "--relation", "employer", "--do", "sum")
    assert [" ".join(line) for line in lines] == ["employer, sum: no row has a number", "3 rows left out: no number"]
    assert shell.data("facts", "--relation", "employer", "--count", "--tail", "Acme")["value"] == 2


def test_groups_are_printed_with_their_values(shell):
    lines = printed(shell, "facts", "--relation", "employer", "--by", "tail")
    assert [lines[1], *lines[3:]] == [["tail", "count"], ["Acme", "2"], ["Birch", "1"]]
    table = shell.data("facts", "--relation", "founded", "--by", "decade")
    assert [(group["key"], group["value"]) for group in table["groups"]] == [("2000s", 2), ("1990s", 1)]
    assert "and 1 more (--limit)" in shell(
        "facts", "--kb", "kb", "--relation", "employer", "--by", "tail", "--limit", 1).out


def test_the_limit_of_an_extreme_is_how_many_values_are_printed(shell):
    shell.build(shell.write({"e.txt": " ".join(f"O{n}:Organization.founded = {1900 + n}." for n in range(52))}))
    result = shell("facts", "--kb", "kb", "--relation", "founded", "--do", "smallest", "--limit", 51)
    assert "1950" in result.out
    assert not {"1951", "(--limit)"} & set(result.out.split())


def test_rows_and_groups_are_written_as_csv(shell):
    def written(*options):
        result = shell("facts", "--kb", "kb", "--csv", *options)
        assert result.code == 0, result.err
        return list(csv.DictReader(io.StringIO(result.out)))

    assert [(row["head"], row["founded"], row["located_in"], row["document"]) for row in written(
        "--relation", "founded", "--show", "located_in", "--limit", "2")] == [
            ("Acme", "1999", "Bonn", "a.txt"), ("Birch", "2003", "", "d.txt")]
    assert [row["key"] for row in written("--relation", "employer", "--by", "tail")] == ["Acme", "Birch"]


def test_text_of_documents_is_printed_as_text(shell):
    shown = shell("facts", "--kb", "kb", "--relation", "employer", "--tail", "[bold]Acme")
    assert (shown.code, "no row fits" in shown.out) == (0, True)
    assert "called '[red]x'" in shell("facts", "--kb", "kb", "--relation", "[red]x").err


def test_entities_of_a_type_are_searched_by_name(shell):
    assert [one["name"] for one in shell.data("entities", "--type", "Organization", "--search", "R")] == [
        "Birch", "Dorn"]
    assert printed(shell, "entities", "--type", "Organization", "--search", "zzz") == [
        ["no", "name", "contains", "'zzz'"]]


def test_without_a_type_all_entities_are_listed(shell):
    found = shell.data("entities")
    assert {one["type"] for one in found} >= {"Organization", "Person"}
    assert sum(one["type"] == "Organization" for one in found) == 3
    assert shell.data("entities", "--search", "Birch") == [one for one in found if one["name"] == "Birch"]
    assert ["Birch", "Organization", "1", "1", "2"] in printed(shell, "entities")
    assert "kb: 0 entities with several names" in shell("entities", "--kb", "kb", "--merged").out
