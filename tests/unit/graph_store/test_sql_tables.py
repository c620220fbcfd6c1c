"""SQL over the tables of a knowledge base: what its files hold, how they follow changes, and what they say of it."""

import logging

import duckdb
import pytest
from banyan.graph_store.graph_index import GraphIndex
from banyan.graph_store.integrity.verify import damages_on_disk, verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.sql.checking import SqlError

from ... import small_base
from ...sql_tables import document_of


@pytest.fixture
def home(tmp_path, hashed_embedder):
    with small_base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        small_base.put(kb, "a.md", "Ana Ruiz leads Orio since 2019. Orio has 120 employees.",
                       entities={"Ana Ruiz": "Person", "Orio": "Company"}, metadata={"date": "2020-05-04"},
                       triples=[("Ana Ruiz", "leads", "Orio", "since 2019")],
                       attributes=[("Orio", "employees", "120")])
        small_base.put(kb, "b.md", "Ana Ruiz leads Orio. Bo Li leads Nuvo. Orio had 90 employees in 2018.",
                       entities={"Ana Ruiz": "Person", "Orio": "Company", "Bo Li": "Person", "Nuvo": "Company"},
                       triples=[("Ana Ruiz", "leads", "Orio"), ("Bo Li", "leads", "Nuvo")],
                       attributes=[("Orio", "employees", "90", "in 2018")], metadata={"date": "2021-01-01"})
        small_base.finish(kb)
        kb.save_index()
    return tmp_path


@pytest.fixture
def opened(home, hashed_embedder):
    return lambda: KnowledgeBase.open(home, "kb", hashed_embedder)


def rows(kb: KnowledgeBase, sql: str) -> tuple[tuple[object, ...], ...]:
    return GraphIndex(kb).sql.run(sql).rows


def test_facts_relations_attributes_and_documents_are_tables(opened):
    with opened() as kb:
        assert rows(kb, "SELECT head, relation, tail, since, until, documents FROM facts ORDER BY head") == (
            ("Ana Ruiz", "leads", "Orio", "2019", None, ["a.md", "b.md"]),
            ("Bo Li", "leads", "Nuvo", None, None, ["b.md"]))
        assert rows(kb, "SELECT count(*) FROM leads") == ((2,),)
        assert rows(kb, "SELECT e.number, e.since FROM employees e ORDER BY e.number") == ((90, "2018"), (120, None))
        assert rows(kb, "SELECT document FROM documents WHERE date > DATE '2020-12-31'") == (("b.md",),)


def test_an_attribute_that_is_named_like_a_table_is_found(tmp_path, hashed_embedder):
    with small_base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        small_base.store(kb, document_of("price.csv", ("item", "n"), [("x", "1")]))
        small_base.put(kb, "a.md", "Orio's price is 499.", entities={"Orio": "Product"},
                       attributes=[("Orio", "price", "499")])
        with pytest.raises(SqlError, match="no column 'number' in price"):
            rows(kb, "SELECT number FROM price")
        assert rows(kb, "SELECT number FROM price_2") == ((499,),)


def test_columns_may_have_names_that_our_own_statements_use(tmp_path, hashed_embedder):
    names = ("value", "field", "source", "legend", "word", "document", "number", "found", "title", "rowid")
    with small_base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        cells = [[f"{name}{row}" if column % 2 else str(row + column) for column, name in enumerate(names)]
                 for row in range(3)]
        small_base.store(kb, document_of("odd.csv", names, cells))
        kb.save_index()
        assert rows(kb, "SELECT sum(value), max(field), count(source) FROM odd") == ((3, "field2", 3),)
        assert rows(kb, "SELECT word, sum(\"number\") FROM odd GROUP BY ALL HAVING count(*) = 3") == ()


def test_values_of_several_units_are_told_apart(tmp_path, hashed_embedder):
    with small_base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        small_base.put(kb, "a.md", "Orio's price is 499 USD, Nuvo's price is 300 EUR. Nuvo's weight is 3 kg.",
                       entities={"Orio": "Product", "Nuvo": "Product"}, attributes=[
                           ("Orio", "price", "499 USD"), ("Nuvo", "price", "300 EUR"), ("Nuvo", "weight", "3 kg")])
        for sql in ("SELECT sum(number) FROM price",
                    "SELECT avg(number) FROM attribute_values WHERE attribute = 'price'"):
            with pytest.raises(SqlError, match="several units"):
                rows(kb, sql)
        assert rows(kb, "SELECT unit, sum(number) FROM price GROUP BY 1 ORDER BY 1") == (("EUR", 300), ("USD", 499))
        weight = GraphIndex(kb).sql.run("SELECT sum(number) FROM attribute_values WHERE attribute = 'weight'")
        assert weight.rows == ((3,),)


def test_a_missing_or_damaged_file_is_made_again(opened, home, caplog):
    (file,) = home.glob("kb/tables-*")
    with opened() as kb:
        expected = rows(kb, "FROM facts")
    file.unlink()
    with opened() as kb:
        assert file.is_file()
        assert rows(kb, "FROM facts") == expected
    file.write_bytes(file.read_bytes()[:5000])
    with opened() as kb, caplog.at_level(logging.WARNING):
        assert rows(kb, "FROM facts") == expected
        assert "made again" in caplog.text


def test_verify_names_a_damaged_file(opened, home):
    (file,) = home.glob("kb/tables-*")
    damaged = bytearray(file.read_bytes())
    damaged[20000:-1000] = bytes(len(damaged) - 21000)
    file.write_bytes(damaged)
    with opened() as kb:
        layout = kb.layout
    assert [str(file) in problem.what for problem in damages_on_disk(layout)] == [True]
    with opened() as kb:
        assert verify(kb) == []
    assert damages_on_disk(layout) == []


def test_verify_sees_tables_that_are_not_what_the_documents_give(opened, home):
    (file,) = home.glob("kb/tables-*")
    with duckdb.connect(str(file)) as connection:
        connection.execute("DELETE FROM facts WHERE head = 'Bo Li'")
    with opened() as kb:
        assert [problem.what for problem in verify(kb)] == [
            "the tables for SQL are not what the documents and the graph give"]


def test_a_reader_keeps_the_tables_of_its_state(opened, home):
    with opened() as reader:
        reader.freeze()
        before = GraphIndex(reader).sql.run("FROM facts").rows
        with opened() as kb, kb.writing():
            small_base.put(kb, "c.md", "Cy leads Orio.", entities={"Cy": "Person"}, triples=[("Cy", "leads", "Orio")])
            small_base.finish(kb)
            kb.save_index()
        assert len(list(home.glob("kb/tables-*"))) == 1
        assert rows(reader, "FROM facts") == before
    with opened() as kb:
        assert len(rows(kb, "FROM facts")) == len(before) + 1


def test_records_of_one_folder_with_optional_fields_are_one_table(tmp_path, hashed_embedder):
    people = {"ada": {"name": "Ada", "site": "a.org"}, "bo": {"name": "Bo", "mail": "bo@b.org"}, "cy": {"name": "Cy"}}
    with small_base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        for name, fields in people.items():
            small_base.store(kb, document_of(f"staff/{name}.json", tuple(fields), [list(fields.values())]))
        small_base.store(kb, document_of("pier.json", ("hour", "surge"), [["6", "0.8"]]))
        kb.save_index()
        assert rows(kb, "SELECT name, site, mail FROM staff ORDER BY name") == (
            ("Ada", "a.org", None), ("Bo", None, "bo@b.org"), ("Cy", None, None))
        assert rows(kb, "SELECT hour FROM pier") == ((6,),)


def test_the_frequent_members_of_lists_are_counted_by_rows(tmp_path, hashed_embedder):
    cells = ["sea; sea; ice", "sea", "ice; land", "land; sea"]
    table_rows = [[str(at), tags] for at, tags in enumerate(cells)]
    with small_base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        small_base.store(kb, document_of("trips.csv", ("trip", "tags"), table_rows))
        kb.save_index()
        table = next(one for one in GraphIndex(kb).sql.tables() if one.name == "trips")
    tags = next(column for column in table.columns if column.name == "tags")
    assert (tags.kind, tags.frequent) == ("list", (("sea", 3), ("ice", 2), ("land", 2)))
