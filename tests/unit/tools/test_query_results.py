"""Results of queries as citable rows."""

import pytest
from banyan.schemas.documents import Citation
from banyan.schemas.records import Basis, ColumnInfo, LeftOut, SqlResult, TableInfo
from banyan.tools.table_query import basis_text, parse_query, repair_names, result_block


def record(number: int, quote: str) -> Citation:
    return Citation(id=number, document="birds.csv", start=100 * number, end=100 * number + len(quote), quote=quote)


RECORDS = (record(1, "| Species: Adelie | Mass: 3750 |"), record(2, "| Species: Gentoo | Mass: 5000 |"),
           record(3, "| Species: Gentoo | Mass: 5100 |"))


def result(*rows, columns=("species", "mass"), units=("", "g"), **more) -> SqlResult:
    return SqlResult(**{"sql": "SELECT species,\n mass FROM birds", "columns": columns, "kinds": ("text", "number"),
                        "units": units, "rows": rows, "total": len(rows), "records": 3, "citations": RECORDS} | more)


def statements(block) -> list[str]:
    return [item.statement for item in block.items]


def test_a_row_is_shown_with_its_units_and_cites_the_records_that_name_it():
    block = result_block(result(("Adelie", 3750), ("Gentoo", 12640.123456789)), 500)
    assert statements(block) == ["species: Adelie; mass: 3750 g", "species: Gentoo; mass: 12,640.1235 g"]
    assert [[place.start for place in item.places] for item in block.items] == [[100], [200, 300]]
    assert (block.title, block.note) == ("SELECT species, mass FROM birds (species, mass)", "from 3 records")


def test_many_rows_do_not_repeat_the_columns_and_the_rest_is_counted():
    block = result_block(result(*((f"Bird {number}", number) for number in range(30)), total=40), 100)
    assert statements(block)[0] == "Bird 0: 0 g"
    assert 5 < len(block.items) < 30
    assert block.left == 40 - len(block.items)


CHOSEN = "SELECT species, mass FROM birds "


@pytest.mark.parametrize(("more", "note"), [
    ({"records": 33, "left_out": (LeftOut(column="mass", empty=2),)}, "from 31 of 33 records; 2 have no mass"),
    ({"records": 33, "left_out": (LeftOut(column="mass", empty=2, untyped=1),)},
     "from 30 of 33 records; 2 have no mass; 1 have another kind of mass"),
    ({"records": 33, "left_out": (LeftOut(column="mass", empty=2), LeftOut(column="sex", empty=1))},
     "from 33 records; 2 have no mass; 1 have no sex"), ({"records": 33}, "from 33 records"),
    ({"sql": f"{CHOSEN}GROUP BY species HAVING count(*) > 1"}, "the rows chosen rest on 3 records"),
    ({"sql": f"{CHOSEN}QUALIFY row_number() OVER (ORDER BY mass) < 4"}, "the rows chosen rest on 3 records")])
def test_the_note_says_over_how_many_records_a_number_is(more, note):
    assert result_block(result(("all", 1.5), **more), 500).note == note


def test_a_question_is_put_in_words_in_english_answers_alone():
    basis = Basis(query="SELECT 1", understood="count of birds", records=3)
    assert [basis_text(basis, language) for language in ("en", "zh")] == [
        "count of birds; from 3 records", "依据 3 条记录"]


def test_a_result_that_cannot_be_traced_says_so_and_cites_what_the_query_read():
    block = result_block(result(("all", 1), records=None, citations=RECORDS[:1], notes=("it has windows",)), 500,
                         notes=["species 'x' read as 'y'"])
    assert block.note == "it has windows; species 'x' read as 'y'"
    assert [place.start for place in block.items[0].places] == [100]
    assert "no row" in result_block(result(records=0, citations=()), 500).note


def test_a_key_keeps_its_digits_where_a_computed_number_is_grouped():
    keys = result((90210, 90210), columns=("zip", "total"), units=("", ""))
    assert statements(result_block(keys, 500, plain={"zip"})) == ["zip: 90210; total: 90,210"]


def test_a_row_cites_no_record_of_another_one():
    block = result_block(result(("Chinstrap", 3750), row_records=((record(9, "Chinstrap"),),)), 500)
    assert [place.text for place in block.items[0].places] == ["Chinstrap"]


def table(name: str, **columns: str) -> TableInfo:
    return TableInfo(name=name, title=name, kind="records", rows=3, columns=tuple(
        ColumnInfo(name=column, title=column, kind=kind) for column, kind in columns.items()))


TABLES = [table("penguins_birds", species="text", island="text", body_mass_g="number", authors="list"),
          table("penguins_isotopes", species="text", delta_15_n="number", delta_13_c="number")]


@pytest.mark.parametrize(("sql", "meant"), [
    ('SELECT avg("Body Mass G") FROM penguins_birds', "SELECT AVG(\"body_mass_g\") FROM penguins_birds"),
    ("SELECT count(*) FROM penguin_bird", 'SELECT COUNT(*) FROM "penguins_birds" AS penguin_bird'),
    ("SELECT penguin_bird.species FROM penguin_bird",
     'SELECT penguin_bird.species FROM "penguins_birds" AS penguin_bird'),
    ("SELECT b.body_mas FROM penguins_birds AS b", 'SELECT b."body_mass_g" FROM penguins_birds AS b'),
    ("SELECT * FROM penguins_birds WHERE species = Adelie", "SELECT * FROM penguins_birds WHERE species = 'Adelie'"),
    ('SELECT * FROM penguins_birds WHERE species IN ("Adelie")',
     "SELECT * FROM penguins_birds WHERE species IN ('Adelie')"),
    ("SELECT count(*) FROM penguins_birds WHERE authors = 'Bo'",
     "SELECT COUNT(*) FROM penguins_birds WHERE LIST_CONTAINS(authors, 'Bo')"),
    ("SELECT species FROM penguins_birds WHERE authors <> 'Bo'",
     "SELECT species FROM penguins_birds WHERE NOT LIST_CONTAINS(authors, 'Bo')")])
def test_what_can_be_put_right_is_and_is_said(sql, meant):
    tree = parse_query(sql)
    assert len(repair_names(tree, TABLES)) == 1
    assert tree.sql(dialect="duckdb") == meant


@pytest.mark.parametrize("sql", [
    "SELECT price FROM penguins_birds", "SELECT delta FROM penguins_isotopes", "SELECT * FROM weather",
    "SELECT species AS mass FROM penguins_birds ORDER BY mass",
    "WITH x AS (SELECT species AS s FROM penguins_birds) SELECT s FROM x"])
def test_what_may_mean_several_things_is_left_alone(sql):
    assert repair_names(parse_query(sql), TABLES) == []
