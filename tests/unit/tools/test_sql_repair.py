"""Queries that a weak model got wrong: what is put right, and what is left alone."""

import pytest
from banyan.schemas.records import ColumnInfo, TableInfo
from banyan.tools.sql_repair import WantedValue, repair_query, replace_values, wanted_values


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
     "SELECT species FROM penguins_birds WHERE NOT LIST_CONTAINS(authors, 'Bo')"),
    ("```sql\nSELECT 1;\n```", "SELECT 1")])
def test_what_can_be_put_right_is_and_is_said(sql, meant):
    repaired = repair_query(sql, TABLES)
    assert repaired is not None
    assert (repaired.sql, len(repaired.changes)) == (meant, 1)


@pytest.mark.parametrize("sql", [
    "SELECT price FROM penguins_birds", "SELECT delta FROM penguins_isotopes", "SELECT * FROM weather",
    "SELECT species FROM penguins_birds WHERE", "SELECT species AS mass FROM penguins_birds ORDER BY mass",
    "WITH x AS (SELECT species AS s FROM penguins_birds) SELECT s FROM x"])
def test_what_may_mean_several_things_is_left_alone(sql):
    assert repair_query(sql, TABLES) is None


def test_the_texts_that_columns_are_compared_with_are_found_and_replaced():
    sql = "SELECT count(*) FROM penguins_birds b WHERE b.species <> 'x' AND island IN ('y', 'z') AND body_mass_g = 'w'"
    values = wanted_values(sql, TABLES)
    assert values == [WantedValue("penguins_birds", "species", "x"), WantedValue("penguins_birds", "island", "y"),
                      WantedValue("penguins_birds", "island", "z")]
    assert "b.species <> 'it''s'" in replace_values(sql, TABLES, {values[0]: "it's"})
