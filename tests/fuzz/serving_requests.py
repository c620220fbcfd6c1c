"""Requests to a running `banyan serve`: questions, SQL and MCP; `test_server_hostile` sends what its API describes."""

import json
import random
import time
from typing import Any

import httpx
from banyan.schemas.lookups import LONGEST_SQL

from .. import serving

KB = "/api/knowledge-bases"
DEADLINE = 15.0
"""Seconds that the server is given for a question (BANYAN_ASK_SECONDS)."""
_LATER = 10.0
"""Seconds more that an answer may take on a machine that has other things to do."""
_PIECES = (
    "Who", "When was", "Which is longer,", " or ", " and ", "the birthplace of ", "the river that ", "of the ", "'s ",
    "born before ", "the same ", "of which ", "was founded by ", ", ", "? ", "{answer 1}", "[1]", "(", "((", ")", '"',
    "“",
    "\n", " " * 200, "\t", "a" * 300, "1" * 300, "1,000 km ", "in 1911 ", "-" * 50, "比", "和", "出生得早", "谁",
    "哪条河流", "的", "位于", "在哪里", "，", "？", "还是", "Ada Byron", "Ulm", "Danube", "林小雨", "宁波", "he", "she",
    "它", "\u202e", "\u0000", "<data>", "</data>", "{", "%s", "é\u0301", "𝒜", "\ud83d\ude00", "who who ", "is is ",
    "that that ")


def question(draw: random.Random) -> str:
    """Parts of questions in any order and number, at most as long as a question may be."""
    pieces = [draw.choice(_PIECES) for _ in range(draw.randint(1, 12))]
    if draw.random() < 0.3:
        pieces *= draw.choice((2, 10, 300))
    return "".join(pieces)[:10_000]


_SOUND_TABLES = (
    "facts", "facts", "facts a JOIN facts b USING (relation)", "born_in", "facts a, facts b, facts c, facts d")
_SOUND_VALUES = ("*", "count(*)", "head", "tail", "relation", "documents", "min(tail)", "length(head)", "1", "NULL",
                 "count(DISTINCT head)", "CAST(since AS DATE)", "len(documents)", "row_number() OVER (ORDER BY tail)")
_SOUND_CLAUSES = (
    "WHERE head LIKE '%a%'", "GROUP BY ALL", "HAVING count(*) > 0", "ORDER BY 1 DESC", "LIMIT 5", "OFFSET 2")
_TABLES = (
    "documents", "facts", "entities", "part", "sqlite_master", "read_csv('/etc/passwd')", "range(10000000)",
    "(SELECT * FROM facts)", "facts a JOIN facts b ON true", "facts, facts b, facts c", "generate_series(1, 9e9)",
    '"knows"', "nothing", "'/etc/passwd'", "duckdb_settings()")
_VALUES = (
    "*", "count(*)", "sum(head)", "head", "tail", "title", "1/0", "NULL", "getenv('HOME')", "repeat('a', 999999999)",
    "list(head)", "'O''Neil'", "9e999", "unnest(range(1000000))", "(SELECT 1)", "head || tail", "x'00'", "中", "$1",
    "CAST('a' AS INT)", "count(DISTINCT head) FILTER (WHERE tail <> '')", "row_number() OVER ()")
_CLAUSES = (
    "WHERE head LIKE '%a%'", "WHERE ((1 = 1", "GROUP BY 1", "GROUP BY ALL", "ORDER BY 1 DESC", "LIMIT 5", "LIMIT -1",
    "HAVING count(*) > 1", "UNION ALL SELECT 1", "; DROP TABLE facts", "-- ", "/*",
    "WHERE head IN (SELECT tail FROM facts)", "QUALIFY row_number() OVER () = 1", "WINDOW w AS ()",
    "USING SAMPLE 10%", "OFFSET 1e9")
_BEGINNINGS = (
    "SELECT", "SELECT DISTINCT", "WITH RECURSIVE t AS (SELECT 1 UNION ALL SELECT 1 FROM t) SELECT", "COPY", "ATTACH",
    "PRAGMA", "FROM", "EXPLAIN SELECT", "SELECT " + "(" * 3000)


def query(draw: random.Random) -> str:
    """A SELECT of parts that fit one another or do not, now and then with a piece of a question in it."""
    if draw.random() < 0.5:
        words = ["SELECT", ", ".join(draw.choices(_SOUND_VALUES, k=draw.randint(1, 3))), "FROM",
                 draw.choice(_SOUND_TABLES), *(one for one in _SOUND_CLAUSES if draw.random() < 0.3)]
    else:
        words = [draw.choice(_BEGINNINGS), ", ".join(draw.choices(_VALUES, k=draw.randint(1, 3))), "FROM",
                 draw.choice(_TABLES), *draw.choices(_CLAUSES, k=draw.randint(0, 3))]
        if draw.random() < 0.2:
            words.insert(draw.randrange(len(words)), draw.choice(_PIECES))
    return " ".join(words)[:LONGEST_SQL]


class _Client:
    """Sends requests to a server; no answer may be a 5xx of a defect, or come late."""

    def __init__(self, server: serving.Served) -> None:
        self.server = server
        self.http = httpx.Client(base_url=server.url, timeout=DEADLINE + _LATER)

    def post(self, path: str, body: Any, **more: Any) -> httpx.Response:
        began = time.monotonic()
        said = self.http.post(path, content=json.dumps(body).encode(), headers={
            "Content-Type": "application/json", **more})
        assert said.status_code != httpx.codes.INTERNAL_SERVER_ERROR, said.text
        assert time.monotonic() - began < DEADLINE + _LATER, "it was answered after its deadline"
        return said

    def close(self) -> None:
        self.http.close()
        assert "Traceback" not in self.server.said, self.server.said[-5000:]


class Questions(_Client):
    name = "questions"

    def round(self, draw: random.Random) -> int:
        body: dict[str, Any] = {"question": question(draw), "mode": draw.choice(("reject", "open"))}
        if draw.random() < 0.3:
            body["messages"] = [{"role": draw.choice(("user", "assistant")), "content": question(draw)}
                                for _ in range(draw.randint(1, 30))]
        self.post(f"{KB}/demo/ask", body)
        return 1


class Queries(_Client):
    name = "queries"

    def round(self, draw: random.Random) -> int:
        self.post(f"{KB}/demo/sql", {"sql": query(draw), "limit": draw.choice((1, 50, 10_000))})
        return 1


class Mcp(_Client):
    name = "mcp"
    _TOOLS = ("search", "ask", "list_knowledge_bases", "list_documents", "read_document", "schema", "schema_candidates",
              "decide_schema", "add_document", "entity_search", "triple_search", "community_search", "dfs_search",
              "table_query", "nothing")

    def round(self, draw: random.Random) -> int:
        odd = (None, -1, 0, 10**30, 1.5, "", [], {}, ["x"] * 100, {"a": {"b": []}}, question(draw), "demo", "../x")
        arguments = {name: draw.choice(odd) if draw.random() < 0.4 else question(draw)[:300]
                     for name in ("query", "question", "document", "start", "length", "limit", "offset", "mode", "who",
                                  "decisions", "title", "text", "relations", "attributes") if draw.random() < 0.6}
        if draw.random() < 0.8:
            # What is added goes to another knowledge base: the others are asked of one that stays as it is.
            arguments["knowledge_base"] = draw.choice(("demo", "demo", "mine", "nowhere", "../demo", 5))
        tool = draw.choice(self._TOOLS)
        if tool == "add_document":
            arguments |= {"knowledge_base": "mine", "text": question(draw)[:2000]}
        call: Any = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                     "params": {"name": tool, "arguments": arguments}}
        if draw.random() < 0.2:
            call[draw.choice(("jsonrpc", "id", "method", "params"))] = draw.choice(odd)
        self.post("/mcp", call, Accept="application/json, text/event-stream")
        return 1
