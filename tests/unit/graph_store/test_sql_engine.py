"""SQL over records: results, the records that they rest on, what was left out, and errors that name what exists."""

import math
import random
from collections.abc import Callable
from decimal import Decimal

import duckdb
import pandas as pd
import pytest
from banyan.graph_store.sql.checking import SqlError
from banyan.graph_store.sql.logical_tables import NameSpace

from ...sql_tables import document_of, document_of_tables, engine_of

CORALS = document_of("data/corals.csv", ("study", "Species", "growth (cm)", "Sample Size"), [
    ("A", "Porites", "0.5", "12"), ("B", "Porites", "0.89", "12"), ("A", "Acropora", "1.2", "30"),
    ("C", "Porites", "1.2", "21"), ("D", "", "0.1", "18")], author="Ann Lee")
NOTES = document_of("notes.md", ("word", "meaning"), [("reef", "a ridge")], date="2021-03-01")


@pytest.fixture(scope="module")
def engine():
    return engine_of(NOTES, CORALS)


@pytest.mark.parametrize(("sql", "rows", "records"), [
    ("SELECT sum(sample_size) FROM corals", ((93,),), 5),
    ("SELECT avg(growth_cm) FROM corals WHERE species = 'Porites'", ((0.863333333333333,),), 3),
    ("SELECT count(*) FROM Corals c WHERE C.study = 'A'", ((2,),), 2),
    ("SELECT species, count(*) AS n FROM corals GROUP BY ALL HAVING n > 1", (("Porites", 3),), 3),
    ("SELECT lower(species) AS s FROM corals GROUP BY 1 HAVING s > 'b' AND min(growth_cm) < 1", (("porites",),), 3),
    ("SELECT study FROM corals GROUP BY study HAVING study < 'B'", (("A",),), 2),
    ("SELECT study FROM corals GROUP BY 1 HAVING max(growth_cm) > (SELECT avg(growth_cm) FROM corals) ORDER BY 1",
     (("A",), ("B",), ("C",)), 4),
    ("SELECT sum(sample_size) FROM corals HAVING count(*) FILTER (study = 'A') > 1", ((93,),), 5),
    ("SELECT study FROM corals ORDER BY sample_size DESC, study LIMIT 2", (("A",), ("C",)), 5),
    ("SELECT sum(n) FROM (SELECT sample_size AS n FROM corals ORDER BY n DESC LIMIT 2)", ((51,),), 2),
    ("SELECT max(g) FROM (SELECT species, avg(growth_cm) AS g FROM corals WHERE study <> 'A' GROUP BY 1)",
     ((1.045,),), 3),
    ("WITH a AS (SELECT * FROM corals WHERE study = 'A') SELECT sum(sample_size) FROM a", ((42,),), 2),
    ("WITH corals AS (SELECT * FROM corals WHERE study = 'A') SELECT count(*) FROM corals", ((2,),), 2),
    ("SELECT growth_cm * 2 AS double FROM corals WHERE double > 2 ORDER BY study", ((2.4,), (2.4,)), 2),
    ("SELECT count(*) FROM corals WHERE growth_cm > (SELECT avg(growth_cm) FROM corals)", ((3,),), 3),
    ("SELECT c.study FROM corals c JOIN documents d USING (document) WHERE d.author = 'Ann Lee' AND study > 'B'",
     (("C",), ("D",)), 2),
    ("SELECT (SELECT count(*) FROM corals) - (SELECT count(*) FROM notes)", ((4,),), 5),
    ("SELECT count(*) FROM corals WHERE study = 'A' UNION ALL SELECT count(*) FROM corals WHERE species = 'Porites'",
     ((2,), (3,)), 4),
    ("SELECT study, rank() OVER (ORDER BY growth_cm) AS place FROM corals QUALIFY place = 1", (("D", 1),), 1),
])
def test_a_result_says_how_many_records_it_rests_on(engine, sql, rows, records):
    found = engine.run(sql)
    assert found.rows == rows
    assert found.records == records


def test_the_records_of_a_result_are_cited_in_their_order_that_of_an_extreme_first(engine):
    found = engine.run("SELECT study, sample_size FROM corals ORDER BY sample_size DESC LIMIT 2")
    assert [one.quote for one in found.citations] == ["A | Acropora | 1.2 | 30", "C | Porites | 1.2 | 21"]
    assert all(CORALS.text[one.start:one.end] == one.quote for one in found.citations)
    assert found.citations[0].metadata == {"author": "Ann Lee"}
    assert engine.run("SELECT max(sample_size) FROM corals").citations[0].quote == "A | Acropora | 1.2 | 30"
    assert engine.run("SELECT min(sample_size) AS least FROM corals").citations[0].quote == "A | Porites | 0.5 | 12"


def test_a_statement_that_cannot_be_traced_says_so(engine):
    found = engine.run("WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 5) "
                       "SELECT sum(n) FROM t")
    assert (found.rows, found.records) == (((15,),), None)
    assert "recursive" in found.notes[0]


def test_a_result_has_units_kinds_names_and_the_number_of_all_rows(engine):
    found = engine.run("SELECT species, max(growth_cm) AS most, count(*) FROM corals GROUP BY species")
    assert (found.units, found.kinds) == (("", "cm", ""), ("text", "number", "number"))
    assert engine.run("SELECT COUNT(*), Max(growth_cm) - 1, species AS s FROM corals GROUP BY ALL").columns == (
        "count(*)", "max(growth_cm) - 1", "s")
    found = engine.run("SELECT study FROM corals ORDER BY sample_size", most_rows=2)
    assert (len(found.rows), found.total) == (2, 5)


def test_sums_of_many_decimals_have_no_error_of_floats():
    cells = [(f"{number % 97}.{number % 10}",) for number in range(5000)]
    engine = engine_of(document_of("p.csv", ("price",), cells))
    expected = sum(Decimal(cell) for (cell,) in cells)
    assert engine.run("SELECT sum(price), avg(price) FROM p").rows == ((float(expected), float(expected / 5000)),)


def test_a_limit_that_chooses_among_equal_rows_says_so(engine):
    tied = engine.run("SELECT study, count(*) AS n FROM corals WHERE study <> 'A' GROUP BY 1 ORDER BY n DESC LIMIT 1")
    assert (tied.total, tied.notes) == (1, ("the limit chose among rows with the same n: there are more of them",))
    assert not engine.run("SELECT species, sum(growth_cm) FROM corals GROUP BY 1 ORDER BY sum(growth_cm) LIMIT 1").notes
    assert engine.run("SELECT study, growth_cm FROM corals ORDER BY growth_cm DESC LIMIT 1").notes
    assert not engine.run("SELECT study, growth_cm FROM corals ORDER BY growth_cm DESC LIMIT 2").notes


def test_cells_without_a_value_are_counted():
    engine = engine_of(document_of("p.csv", ("name", "mass"), [
        *((f"n{number}", str(number)) for number in range(20)), ("x", ""), ("y", "unknown to us"), ("z", "")]))
    (mass,) = [column for column in engine.tables()[0].columns if column.name == "mass"]
    assert (mass.kind, mass.empty, mass.untyped) == ("number", 2, 1)
    (left_out,) = engine.run("SELECT avg(mass) FROM p").left_out
    assert (left_out.column, left_out.empty, left_out.untyped) == ("mass", 2, 1)
    assert engine.run("WITH y AS (SELECT * FROM p WHERE name = 'y'), z AS (FROM y) SELECT avg(p.mass) "
                      "FROM p JOIN z USING (name)").left_out[0].untyped == 1
    assert engine.run("SELECT mass_text FROM p WHERE name = 'y'").rows == (("unknown to us",),)


def test_numbers_of_several_units_are_told_apart():
    engine = engine_of(document_of("prices.csv", ("item", "price"), [
        ("a", "10 EUR"), ("b", "20 USD"), ("c", "30 EUR")]))
    with pytest.raises(SqlError, match=r"several units \(EUR, USD\)"):
        engine.run("SELECT sum(price_number) FROM prices")
    assert engine.run("SELECT price_unit, sum(price_number) FROM prices GROUP BY 1 ORDER BY 1").rows == (
        ("EUR", 40), ("USD", 20))


@pytest.mark.parametrize(("sql", "message"), [
    ("SELECT * FROM coral", r"no table 'coral'; there are: corals, notes, .*\(the nearest: corals"),
    ("SELECT growth FROM corals", r"no column 'growth' in corals \(the nearest: growth_cm\); it has: study, species"),
    ("SELECT c.size FROM corals c", r"no column 'size' in corals.*it has: study"),
    ("SELECT study FROM corals GROUP BY species", "cannot be run: .*study.* must appear in the GROUP BY"),
    ("SELEC 1", "cannot be read|only one SELECT")])
def test_errors_name_what_exists(engine, sql, message):
    with pytest.raises(SqlError, match=message):
        engine.run(sql)


@pytest.mark.parametrize(("first", "second", "name"), [
    ("votes_2020.csv", "votes_2021.csv", "votes"), ("votes/2020.csv", "votes/2021.csv", "votes"),
    ("a.md", "b.md", "a")])
def test_tables_with_the_same_header_are_one_table(first, second, name):
    engine = engine_of(document_of(second, ("votes", "name"), [("5", "Bo")]),
                       document_of(first, ("Name", "Votes"), [("Ann", "3")]))
    (votes,) = [table for table in engine.tables() if table.kind == "records"]
    assert (votes.name, votes.rows, votes.documents) == (name, 2, 2)
    assert engine.run(f"FROM {name}").rows == (("Ann", 3, first), ("Bo", 5, second))


def test_tables_of_one_document_have_its_name_and_their_title_or_a_column_for_it():
    engine = engine_of(document_of_tables("birds.xlsx", [
        ("Birds", ("species", "mass"), [("a", "1")]), ("Islands", ("island", "size"), [("x", "2")])]))
    assert [table.name for table in engine.tables()[:2]] == ["birds_birds", "birds_islands"]
    engine = engine_of(document_of_tables("s.md", [
        ("May", ("a", "b"), [("1", "2")]), ("June", ("a", "b"), [("3", "4")])]))
    assert engine.run("SELECT section, a FROM s").rows == (("May", 1), ("June", 3))


def test_names_need_no_quotation_marks():
    columns = ("Order", "2019", "Größe (cm)", "性别", "order", "", "select", "document")
    engine = engine_of(document_of("select.csv", columns, [tuple("12345678")]))
    (table,) = [table for table in engine.tables() if table.kind == "records"]
    names = [column.name for column in table.columns]
    assert names == ["order_", "_2019", "größe_cm", "性别", "order_2", "column_6", "select_", "document_2", "document"]
    assert engine.run(f"SELECT {', '.join(names)} FROM {table.name} t WHERE t.{names[2]} = 3").total == 1


def test_a_result_over_columns_that_may_mean_something_else_says_so():
    found = engine_of(document_of("a.csv", ("Weight", "Due"), [("1.234", "03/04/2031"), ("5.678", "05/06/2031")]))
    assert ["could also be 1234" in note for note in found.run("SELECT sum(weight) FROM a").notes] == [True]
    assert found.run("SELECT count(*) FROM a").notes == ()
    assert [bool(column.note) for column in found.tables()[0].columns if column.name in ("weight", "due")] == [
        True, True]


def test_records_that_no_condition_can_fit_are_told(engine):
    (note,) = engine.run("SELECT count(*) FROM corals WHERE species <> 'Porites'").notes
    assert note == "1 of 5 in corals have no species: no condition on it fits them"
    for condition in ("species IS NULL", "species IS NULL OR species = 'Porites'", "coalesce(species, '') = ''",
                      "NOT (species = 'Porites') IS TRUE", "species IS DISTINCT FROM 'Porites'"):
        assert engine.run(f"SELECT count(*) FROM corals WHERE {condition}").notes == (), condition
    assert engine.run("SELECT count(*) FROM corals WHERE study <> 'A'").notes == ()


def test_a_join_tells_the_gaps_of_the_table_that_a_condition_names():
    rows = [("North", "1", "5"), ("", "2", "6"), ("South", "3", "7")]
    found = engine_of(*(document_of(f"{name}.csv", ("Region", "Farm", own), rows)
                        for name, own in (("scores", "Aroma"), ("farms", "Altitude"))))
    asked = "SELECT count(*) FROM scores s JOIN farms f ON s.farm = f.farm WHERE {} <> 'North'"
    assert [found.run(asked.format(f"{table}.region")).notes for table in "sf"] == [
        (f"1 of 3 in {name} have no region: no condition on it fits them",) for name in ("scores", "farms")]


@pytest.mark.parametrize(("sql", "value"), [
    ("list_transform(l, lambda x: upper(x))", ["A", "B"]), ("list_where(l, [true, false])", ["a"]),
    ("flatten([l, l])", ["a", "b", "a", "b"]), ("list_concat(l, ['c'])", ["a", "b", "c"]),
    ("list_reverse(l)", ["b", "a"])])
def test_lists_can_be_worked_on(engine, sql, value):
    assert engine.run(f"SELECT {sql} AS l FROM (SELECT ['a', 'b'] AS l)").rows == ((value,),)


KINDS = ("reef", "fore reef", "lagoon", "O'Neil's", "中礁")
FORMATS: dict[str, Callable[[float], str]] = {
    "plain": lambda number: f"{number:.2f}", "grouped": lambda number: f"{number:,.2f}",
    "decimal comma": lambda number: f"{number:,.2f}".translate(str.maketrans(",.", ".,")),
    "currency": lambda number: f"€{number:,.2f}" if number >= 0 else f"-€{-number:,.2f}",
    "brackets": lambda number: f"{number:.2f}" if number >= 0 else f"({-number:.2f})"}


def random_rows(chance: random.Random, write: Callable[[float], str]) -> tuple[list[tuple[str, ...]], pd.DataFrame]:
    kept: list[tuple[str, float, float]] = [
        (chance.choice(KINDS), math.nan if chance.random() < 0.1 else chance.randint(-5, 40),
         math.nan if chance.random() < 0.1 else round(chance.uniform(-2000, 90000), 2))
        for _ in range(chance.randint(30, 90))]
    kept += chance.choices(kept, k=20)
    cells = [(kind, "" if math.isnan(size) else str(int(size)), "" if math.isnan(price) else write(price))
             for kind, size, price in kept]
    return cells, pd.DataFrame(kept, columns=["kind", "size", "price"])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("seed", range(4))
def test_results_are_those_of_pandas(form, seed):
    chance = random.Random(f"{form} {seed}")
    cells, frame = random_rows(chance, FORMATS[form])
    halves = [cells[:len(cells) // 2], cells[len(cells) // 2:]]
    engine = engine_of(*(document_of(f"part{number}.csv", ("Kind", "Size", "Price"), half)
                         for number, half in enumerate(halves)))
    least, kind = chance.randint(0, 30), chance.choice(KINDS)
    quoted = kind.replace("'", "''")
    of_kind = frame["kind"] == kind
    conditions = {"": frame, f"WHERE size >= {least}": frame[frame["size"] >= least],
                  f"WHERE kind = '{quoted}'": frame[of_kind],
                  f"WHERE kind <> '{quoted}' AND price < 40000": frame[~of_kind & (frame["price"] < 40000)]}
    for where, chosen in conditions.items():
        found = engine.run(f"SELECT count(*), count(price), sum(size), sum(price), avg(price), median(price), "
                           f"max(price), count(DISTINCT price) FROM part {where}")
        prices = chosen["price"]
        expected = (len(chosen), prices.count(), chosen["size"].sum(min_count=1), prices.sum(min_count=1),
                    prices.mean(), prices.median(), prices.max(), prices.nunique())
        assert found.rows[0] == pytest.approx(expected, rel=1e-12, nan_ok=True)
        assert found.records == len(chosen)
        assert {one.column: one.empty for one in found.left_out} == {
            name: int(chosen[name].isna().sum()) for name in ("size", "price") if chosen[name].isna().any()}
    groups = engine.run("SELECT kind, count(*), sum(price) FROM part GROUP BY kind ORDER BY kind").rows
    by_kind = frame.groupby("kind")["price"]
    assert {row[0]: row[1:] for row in groups} == {
        name: pytest.approx((len(part), part.sum()), rel=1e-12) for name, part in by_kind}


def test_no_name_is_a_word_that_duckdb_reserves():
    with duckdb.connect() as connection:
        reserved = {word for word, in connection.execute(
            "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category IN ('reserved', 'type_function')"
            ).fetchall()}
    assert "select" in reserved
    assert {word for word in reserved if NameSpace().take(word, "t") == word} == set()
