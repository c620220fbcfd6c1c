"""`banyan sql` and `banyan tables` over a CSV file: as printed, as JSON and CSV, with what is left out, and errors."""

import csv
import io
import json

import pytest

from ... import scripted

shell = scripted.shell
GROWTH = """study,species,growth,sample size
Ana 2019,Porites,0.82,12
Ana 2019,Acropora,1.51,12
Ben 2020,Porites,0.91,30
Ben 2020,Porites,0.86,21
Cho 2021,Acropora,,18000
"""


@pytest.fixture
def reef(shell):
    shell.copy_built({"growth.csv": GROWTH, "a.txt": "Ada:Person --employer--> Acme:Organization."})
    return shell


def run(shell, *arguments):
    result = shell("sql", "--kb", "kb", *arguments)
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
    (["sql", "SELECT * FROM growths"], "no table 'growths'; there are: "),
    (["sql", "SELECT size FROM growth"], "no column 'size' in growth"),
    (["sql", "SELECT 1", "--json", "--csv"], "--json and --csv exclude each other"),
    (["tables", "growths"], "no table 'growths'; there are: "),
    (["sql", "SELECT 1", "--in", "b.txt"], "no document is called 'b.txt'")])
def test_what_cannot_be_done_is_refused_with_the_fix(reef, arguments, why):
    result = reef(*arguments, "--kb", "kb")
    assert (result.code, why in result.err) == (1, True), result.err
