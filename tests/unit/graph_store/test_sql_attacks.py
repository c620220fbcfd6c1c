"""Hostile statements: none reads more than the tables, changes anything, or takes much longer than it may."""

import resource
import sys
import time

import pytest
from banyan.graph_store.sql.checking import SqlError

from ...sql_tables import document_of, engine_of

OUTSIDE = [
    "SELECT * FROM 'secret.csv'", 'SELECT * FROM "/etc/passwd"', "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM read_blob('*')", "SELECT * FROM parquet_scan('x')",
    "SELECT * FROM glob('*')", "SELECT content FROM read_text('https://example.com/x')",
    "SELECT (SELECT content FROM read_text('/etc/passwd'))",
    "SELECT * FROM t, LATERAL (SELECT * FROM read_text('/etc/passwd'))",
    "WITH t AS (SELECT * FROM read_csv('/etc/passwd')) SELECT * FROM t",
    "SELECT 1 UNION SELECT * FROM read_csv('/etc/passwd')", "COPY t TO 'out.csv'", "EXPORT DATABASE '/tmp/x'",
    "ATTACH '/tmp/x.db' AS x", "DETACH kb", "INSTALL httpfs", "LOAD httpfs", "PRAGMA database_list",
    "CALL pragma_version()", "SET memory_limit = '10GB'", "RESET memory_limit",
    "SELECT current_setting('memory_limit')", "SELECT main.current_setting('threads')",
    "SELECT \"current_setting\"('threads')", "SELECT * FROM duckdb_settings()", "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM pragma_table_info('t')", "SELECT * FROM information_schema.tables", "SELECT * FROM sqlite_master",
    "SELECT * FROM kb.main._catalogue", "SELECT * FROM _catalogue", "SELECT _document FROM t", "SELECT rowid FROM t",
    "SELECT getenv('HOME')", "SELECT 'HOME'.getenv()", "SELECT system.main.getenv('HOME')",
    "SELECT list_transform([1], lambda x: getenv('HOME'))", "FROM t SELECT getenv('HOME')",
    "SELECT * FROM t WHERE '' = '' OR getenv('HOME') IS NOT NULL",
    "SELECT \uff47\uff45\uff54\uff45\uff4e\uff56('HOME')", "SELECT g\u200betenv('HOME')", "SELECT version()",
    "SELECT sleep_ms(100000)", "SELECT write_log('x')", "SELECT 1; DROP TABLE t", "SELECT 1 /* ; */; SELECT 2",
    "DROP TABLE t", "DELETE FROM t", "UPDATE t SET n = 0", "INSERT INTO t VALUES (1)", "CREATE TABLE x AS SELECT 1",
    "CREATE MACRO m(a) AS a", "EXPLAIN ANALYZE SELECT 1", "DESCRIBE t", "SHOW TABLES",
    "SELECT * FROM (SHOW ALL TABLES)", "PREPARE p AS SELECT 1", "BEGIN TRANSACTION",
    "SELECT * FROM query('SELECT 1')", "SELECT * FROM query_table('t')", "SELECT * FROM t TABLESAMPLE 10%",
    "SELECT * FROM t AT (VERSION => 1)", "PIVOT t ON name USING count(*)", "SELECT $1", "SELECT random()", "--",
    "SELECT '\ud800'"]
COSTLY = [
    "SELECT * FROM range(1000000000000)", "SELECT * FROM generate_series(1, (SELECT 1000000000000))",
    "SELECT unnest(range(1000000000))", "SELECT repeat('x', 1000000000)", "SELECT rpad(name, 2000000000, 'y') FROM t",
    "SELECT printf('%1000000000d', 1)", "SELECT list_resize([1], 1000000000)",
    "SELECT count(*) FROM t a, t b, t c, t d", "SELECT * FROM t a, t b, t c", "SELECT list(a.s) FROM t a, t b, t c",
    "SELECT string_agg(a.s, b.s) FROM t a, t b, t c", "SELECT count(DISTINCT a.s || b.s || c.s) FROM t a, t b, t c",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r",
    "WITH RECURSIVE r AS (SELECT 'x' AS s UNION ALL SELECT s || s FROM r) SELECT max(length(s)) FROM r",
    "WITH RECURSIVE r AS (SELECT ['x'] AS s UNION ALL SELECT [s[1], s[1]] FROM r) SELECT count(*) FROM r",
    "WITH RECURSIVE r AS (SELECT n FROM t UNION ALL SELECT a.n FROM r a, r b) SELECT count(*) FROM r",
    "SELECT length(replace(replace(s, 'x', 'xxxxxxxxxxxxxxxxxx'), 'x', 'xxxxxxxxxxxxxxxxxx')) FROM t",
    "SELECT regexp_replace(regexp_replace(s, 'x', 'xxxxxxxxxx', 'g'), 'x', 'xxxxxxxxxx', 'g') FROM t",
    "SELECT levenshtein(string_agg(s), string_agg(s)) FROM t",
    "SELECT " + "(" * 5000 + "1" + ")" * 5000, "SELECT " + "NOT " * 1900 + "true", "SELECT " + "- " * 1900 + "1",
    "SELECT " + "1+" * 9000 + "1", "SELECT " + "[" * 3000 + "]" * 3000, "SELECT " + "abs(" * 45 + "1" + ")" * 45,
    "SELECT " + "CASE WHEN true THEN " * 600 + "1" + " END" * 600, "SELECT '" + "x" * 30_000 + "'", "x" * 25_000,
    "SELECT * FROM " + "(SELECT * FROM " * 200 + "t" + ")" * 200,
    "SELECT * FROM t UNION ALL " * 300 + "SELECT * FROM t",
    "SELECT count(*) FROM " + ", ".join(f"t a{n}" for n in range(60)),
    "SELECT " + " || ".join(["s"] * 100) + " FROM t",
    "WITH " + ", ".join(f"a{n} AS (SELECT * FROM {f'a{n - 1}, a{n - 1} b{n}' if n else 't'})" for n in range(40))
    + " SELECT count(*) FROM a39"]
SECONDS, SLACK = 1.0, 8.0
MEMORY_MB = 1000


@pytest.fixture(scope="module")
def engine():
    return engine_of(document_of("t.csv", ("name", "n", "s"), [(f"n{n}", str(n), "x" * 50) for n in range(3000)]))


@pytest.mark.parametrize("sql", OUTSIDE)
def test_nothing_but_the_tables_is_read(engine, sql):
    with pytest.raises(SqlError):
        engine.run(sql, seconds=SECONDS)
    assert engine.run("SELECT count(*) FROM t").rows == ((3000,),)


@pytest.mark.parametrize("sql", COSTLY, ids=lambda sql: sql[:60])
def test_a_statement_ends_at_its_limits(engine, sql):
    before, start = peak_mb(), time.monotonic()
    with pytest.raises(SqlError):
        engine.run(sql, seconds=SECONDS)
    assert time.monotonic() - start < SECONDS + SLACK  # the slack is for a machine that does other things
    assert peak_mb() - before < MEMORY_MB
    assert engine.run("SELECT count(*) FROM t").rows == ((3000,),)


def test_a_refused_statement_is_not_logged(engine, caplog):
    with pytest.raises(SqlError):
        engine.run("EXPLAIN SELECT name FROM t WHERE s = 'private'")
    assert not caplog.records


def test_nested_subqueries_are_traced_once(engine):
    start = time.monotonic()
    assert engine.run("SELECT " + "(SELECT " * 12 + "count(*) FROM t" + ")" * 12).records == 3000
    assert time.monotonic() - start < SLACK


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
