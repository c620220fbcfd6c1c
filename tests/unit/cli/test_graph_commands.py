"""`banyan facts`, `banyan entities --type`, `banyan tree` and `banyan sql`: what they list, as printed and as data."""

import csv
import io
import json

import pytest

from ... import scripted
from ...newest import newest

TEXTS = {
    "a.txt": "Ada:Person --employer--> Acme:Organization. Acme:Organization.founded = 1999.",
    "b.txt": "Acme:Organization --located_in--> Bonn:Place.",
    "c.txt": "Bob:Person --employer--> Acme:Organization. Cyd:Person --employer--> Birch:Organization.",
    "d.txt": "Birch:Organization.founded = 2003. Dorn:Organization.founded = 2004.",
}


@pytest.fixture
def empty_shell(tmp_path, hashed_embedder, monkeypatch, capsys):
    return scripted.Shell(tmp_path, hashed_embedder, monkeypatch, capsys)


@pytest.fixture
def shell(empty_shell):
    empty_shell.copy_built(TEXTS)
    return empty_shell


def printed(shell, *arguments):
    result = shell(*arguments, "--kb", "kb")
    assert result.code == 0, result.err
    return [line.split() for line in result.out.splitlines() if line.strip()]


def test_facts_are_those_of_an_entity_a_relation_or_an_attribute(shell):
    def found(*options):
        return [(one["subject"], one["relation"], one["object"]) for one in shell.data("facts", *options)]

    assert found("--relation", "Employer") == [("Ada", "employer", "Acme"), ("Bob", "employer", "Acme"),
                                               ("Cyd", "employer", "Birch")]
    assert found("--relation", "founded", "--limit", "1") == [("Acme", "founded", "1999")]
    assert found("--of", "Acme", "--relation", "employer") == [("Bob", "employer", "Acme"), ("Ada", "employer", "Acme")]
    assert (len(found("--of", "Acme")), len(found())) == (4, 7)
    assert printed(shell, "facts", "--limit", 1)[0] == ["Acme", "|", "founded", "|", "1999"]
    assert "and 2 more (--limit)" in shell("facts", "--kb", "kb", "--relation", "employer", "--limit", 1).out


def test_entities_of_a_type_are_searched_by_name(shell):
    assert [one["name"] for one in shell.data("entities", "--type", "Organization", "--search", "R")] == [
        "Birch", "Dorn"]
    assert printed(shell, "entities", "--type", "Organization", "--search", "zzz") == [["no", "entity", "fits"]]


def test_without_a_type_all_entities_are_listed(shell):
    found = shell.data("entities")
    assert {one["type"] for one in found} >= {"Organization", "Person"}
    assert sum(one["type"] == "Organization" for one in found) == 3
    assert shell.data("entities", "--search", "Birch") == [one for one in found if one["name"] == "Birch"]
    assert ["Birch", "Organization", "1", "1", "2"] in printed(shell, "entities")
    assert "kb: 0 entities with several names" in shell("entities", "--kb", "kb", "--merged").out


def test_names_of_one_thing_are_one_node_and_are_listed_with_their_reason(empty_shell):
    records = [{"id": title, "title": title, "text": f"{' '.join(triple)}.", "entities": [], "triples": [triple]}
               for title, triple in (("Acme", ("Acme-Werke", "makes", "carts")),
                                     ("Ulm", ("Acme Werke", "is in", "Ulm")), ("Bonn", ("Bonn", "buys", "carts")))]
    file = empty_shell.folder / "records.jsonl"
    file.write_text("\n".join(map(json.dumps, records)), "utf-8")
    assert empty_shell.data("import", file, "--format", "triples", "--schema", "open")["entities"] == 4
    (group,) = empty_shell.data("entities", "--merged")
    assert {group["name"], *(alias["name"] for alias in group["aliases"])} == {"Acme-Werke", "Acme Werke"}
    assert [alias["rule"] for alias in group["aliases"]] == ["spelling"]
    assert all(place["end"] > place["start"] for place in group["aliases"][0]["evidence"])
    shown = empty_shell("entities", "--kb", "kb", "--merged").out
    assert "1 entities with several names" in shown
    assert "spelling, 0.97" in shown
    assert len(empty_shell.data("entities", "--merged", "--search", "WERKE")) == 1
    assert empty_shell.data("entities", "--merged", "--search", "nothing") == []
    assert empty_shell.sound()


def test_the_tree_shows_communities_keywords_facts_and_attributes(shell):
    printed = shell("tree", "--kb", "kb").out
    assert "communities of 7 entities" in printed
    assert "Acme Organization" in printed
    assert "Acme located in Bonn" in printed
    assert "founded: 1999" in printed
    found = shell.data("tree")
    with shell.resources() as resources:
        everyone = newest(resources).kb.graph.entity_ids()
    assert sorted(one for community in found for one in community["members"]) == everyone
    assert all(community["name"] and community["summary"] and community["keywords"] for community in found)


def test_groups_by_a_field_are_computed_beside_the_tree(shell):
    before = shell.data("tree")
    found = shell.data("tree", "--by", "founded.decade")
    assert {group["text"].partition(" (")[0] for group in found["groups"]} == {"1990s", "2000s"}
    assert all(group["quote"] in TEXTS[group["document"]] for group in found["groups"])
    assert "1990s (1)" in shell("tree", "--kb", "kb", "--by", "founded.decade").out
    assert shell.data("tree") == before
    assert shell.sound()


def test_what_a_path_reaches_is_printed_from_its_root(shell):
    printed = shell("tree", "--kb", "kb", "--along", "employer -> *", "--root", "Cyd").out
    assert "Cyd along employer -> *" in printed
    assert "Birch" in printed


def test_a_survey_that_cannot_be_made_is_an_error_that_names_what_there_is(shell):
    for arguments in (("--by", "absent"), ("--along", "absent", "--root", "Cyd"), ("--alpha", "0.5")):
        shell("tree", "--kb", "kb", *arguments).refused("error:")
    assert "founded" in shell("tree", "--kb", "kb", "--by", "absent").err
    assert "--root" in shell("tree", "--kb", "kb", "--along", "employer").err


def test_a_tree_behind_its_facts_says_so(shell):
    with shell.resources() as resources, resources.writers.step("kb", "a run") as kb:
        kb.database.note("state", tree=[999])
    assert "the tree is out of date" in shell("tree", "--kb", "kb").out


GROWTH = """study,species,growth,sample size
Ana 2019,Porites,0.82,12
Ana 2019,Acropora,1.51,12
Ben 2020,Porites,0.91,30
Ben 2020,Porites,0.86,21
Cho 2021,Acropora,,18000
"""


@pytest.fixture
def reef(empty_shell):
    empty_shell.copy_built({"growth.csv": GROWTH, "a.txt": "Ada:Person --employer--> Acme:Organization."})
    return empty_shell


def run(empty_shell, *arguments):
    result = empty_shell("sql", "--kb", "kb", *arguments)
    assert result.code == 0, result.err
    return result


def test_a_result_is_printed_with_the_records_that_it_rests_on(reef):
    printed = run(reef, "SELECT species, avg(growth) AS mean, sum(sample_size) AS corals FROM growth GROUP BY species "
                        "ORDER BY species").out
    assert "from 4 of 5 records" in printed
    rows = [line.split() for line in printed.splitlines()]
    assert ["Acropora", "1.51", "18,012"] in rows
    assert ["Porites", "0.8633", "63"] in rows
    assert "growth.csv:" in printed
    assert "no row fits" in run(reef, "SELECT * FROM growth WHERE species = '[bold]'").out


def test_data_has_the_keys_that_scripts_read_and_notes_go_beside_it(reef):
    result = run(reef, "SELECT sum(growth) AS total FROM growth", "--json")
    data = json.loads(result.out)
    assert list(data) == ["columns", "rows", "records", "citations"]
    assert (data["columns"], data["rows"], data["records"]) == (["total"], [[4.1]], 5)
    assert "from 4 of 5 records" in result.err
    cut = run(reef, "SELECT study FROM growth", "--json", "--limit", 2)
    assert (json.loads(cut.out)["rows"], "3 of 5 rows are left out" in cut.err) == ([["Ana 2019"], ["Ana 2019"]], True)


def test_rows_are_written_as_csv(reef):
    result = run(reef, "SELECT study, growth, '=1+1' AS sum FROM growth ORDER BY growth DESC NULLS LAST", "--csv")
    rows = list(csv.reader(io.StringIO(result.out)))
    assert rows[:2] == [["study", "growth", "sum"], ["Ana 2019", "1.51", "'=1+1"]]
    assert rows[-1] == ["Cho 2021", "", "'=1+1"]


def test_the_tables_are_listed_and_one_is_shown_with_its_columns(reef):
    tables = {one["name"]: one for one in reef.data("tables")}
    assert list(tables["growth"]) == ["name", "title", "rows", "columns"]
    assert (tables["growth"]["rows"], tables["documents"]["rows"], tables["employer"]["rows"]) == (5, 2, 1)
    columns = {one["name"]: one for one in tables["growth"]["columns"]}
    assert set(columns["growth"]) == {"name", "kind", "distinct", "empty", "untyped"}
    assert (columns["growth"]["kind"], columns["growth"]["empty"], columns["species"]["distinct"]) == ("number", 1, 2)
    assert [one["name"] for one in reef.data("tables", "Growth")] == ["growth"]
    listed = reef("tables", "--kb", "kb").out
    assert "employer (1)" in listed
    shown = reef("tables", "growth", "--kb", "kb").out
    assert ("0.82 to 1.51" in shown, "Porites (3)" in shown) == (True, True)


@pytest.mark.parametrize(("arguments", "why"), [
    (["facts", "--relation", "[red]x"], "no relation or attribute is called '[red]x'; there are: employer"),
    (["facts", "--relation", "employer", "--at", "soon"], "--at: "),
    (["sql", "SELECT * FROM growths"], "no table 'growths'; there are: "),
    (["sql", "SELECT size FROM growth"], "no column 'size' in growth"),
    (["sql", "SELECT 1", "--json", "--csv"], "--json and --csv exclude each other"),
    (["tables", "growths"], "no table 'growths'; there are: "),
    (["sql", "SELECT 1", "--in", "b.txt"], "no document is called 'b.txt'")])
def test_what_cannot_be_done_is_refused_with_the_fix(reef, arguments, why):
    reef(*arguments, "--kb", "kb").refused(why)
