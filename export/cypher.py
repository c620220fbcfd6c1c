"""Cypher for Neo4j 5 and compatible databases: run it with `cypher-shell --file FILE` or an editor's "run all".

Text from documents appears only in string literals. Types and relations become labels, which cannot be literals:
they are quoted names, without the characters that could end them. Their original text is also stored as a property.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..graph_store.graph.graph_file import TreeGraph
from ..text.cleaning import json_text

# Rows per statement. Each statement is one transaction, which must fit into Neo4j's memory.
_ROWS = 500
_ENTITY, _COMMUNITY = "Entity", "Community"

# Neo4j replaces \uXXXX before it parses, even in quoted names: `\u0060` would end one, and nothing can escape it. A
# backtick in a name is normally doubled, but not every engine reads that (FalkorDB does not).
_NOT_IN_NAMES = re.compile(r"[`\\\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SPECIAL = re.compile(r"""\\u|[\\'"\x00-\x1f\x7f-\x9f\u2028\u2029]""")
# For the same reason, a backslash and a u after it go into two literals, so no engine sees \u.
_ESCAPES = {"\\": r"\\", "'": r"\'", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\\u": r"\\' + 'u"}

_PROPERTIES_OF_ENTITIES = frozenset({"id", "name", "type", "names", "documents", "attributes", "times"})


def cypher(graph: TreeGraph) -> Iterator[str]:
    """Write the graph as Cypher statements, in pieces; running them a second time changes nothing.

    Each entity is a node labelled `Entity` and its type. An attribute's values are a list; all attributes with their
    sources are JSON text in `attributes`. Communities are nodes `Community`. A relation names its relationships;
    their `quotes`, `starts`, `ends` and `sources` (document ids) are lists with one entry for each source. Where a fact
    has a time, `time`, `start` and `end` are that; of attribute values it is JSON text in `times`.
    """
    yield f"// Knowledge base {graph.graph['name']}. Nodes are merged by id; deleted items from earlier runs remain.\n"
    for label in (_ENTITY, _COMMUNITY):
        yield (f"CREATE CONSTRAINT banyan_{label.lower()}_id IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE;\n")
    yield from _nodes(graph)
    yield from _edges(graph)


def _nodes(graph: TreeGraph) -> Iterator[str]:
    by_type: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    communities: list[Mapping[str, Any]] = []
    for node, data in graph.nodes(data=True):
        if data["kind"] == "entity":
            by_type[data["type"]].append(_entity(node, data))
        else:
            communities.append({"id": node, **{key: value for key, value in data.items() if key != "kind"}})
    for name, rows in sorted(by_type.items()):
        label = f", n:{quoted_name(name)}" if name else ""
        yield from _statements(rows, f"MERGE (n:{_ENTITY} {{id: row.id}})\nSET n = row{label}")
    yield from _statements(communities, f"MERGE (n:{_COMMUNITY} {{id: row.id}})\nSET n = row")


def _entity(node: str, data: Mapping[str, Any]) -> dict[str, Any]:
    values = {f"attribute_{name}" if name in _PROPERTIES_OF_ENTITIES else name: list(sources)
              for name, sources in data["attributes"].items()}
    return {**values, "id": node, "name": data["name"], "type": data["type"], "names": data["names"],
            "documents": data["documents"], "attributes": json_text(data["attributes"]),
            **({"times": json_text(data["times"])} if "times" in data else {})}


def _edges(graph: TreeGraph) -> Iterator[str]:
    by_relation: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    of_tree: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for source, target, data in graph.edges(data=True):
        if data["kind"] == "triple":
            by_relation[data["relation"]].append({"from": source, "to": target, "properties": _triple(data)})
        else:
            label = _ENTITY if graph.nodes[source]["kind"] == "entity" else _COMMUNITY
            properties = {"rank": data["rank"]} if "rank" in data else {}
            of_tree[data["kind"], label].append({"from": source, "to": target, "properties": properties})
    for relation, rows in sorted(by_relation.items()):
        yield from _statements(rows, _merge(_ENTITY, f"r:{quoted_name(relation)} {{id: row.properties.id}}", _ENTITY))
    for (kind, label), rows in sorted(of_tree.items()):
        yield from _statements(rows, _merge(label, f"r:{kind}", _COMMUNITY))


def _triple(data: Mapping[str, Any]) -> dict[str, Any]:
    sources = data["sources"]
    return {"id": data["id"], "relation": data["relation"], "confidence": data["confidence"],
            "documents": data["documents"], "sources": [source["document"] for source in sources],
            "starts": [source["start"] for source in sources], "ends": [source["end"] for source in sources],
            "quotes": [source["quote"] for source in sources],
            **{name: data[name] for name in ("time", "start", "end") if name in data}}


def _merge(source: str, relationship: str, target: str) -> str:
    return (f"MATCH (a:{source} {{id: row.from}})\nMATCH (b:{target} {{id: row.to}})\n"
            f"MERGE (a)-[{relationship}]->(b)\nSET r = row.properties")


def _statements(rows: list[Mapping[str, Any]], what: str) -> Iterator[str]:
    for start in range(0, len(rows), _ROWS):
        lines = ",\n".join(literal(row) for row in rows[start:start + _ROWS])
        yield f"UNWIND [\n{lines}\n] AS row\n{what};\n"


def quoted_name(text: str) -> str:
    """Quote a label or key in backticks; backticks, backslashes and control characters become underscores."""
    return "`" + _NOT_IN_NAMES.sub("_", text) + "`"


def literal(value: Any) -> str:
    """Return a value as one line of Cypher: a literal, or several literals joined by `+`."""
    if isinstance(value, Mapping):
        return _bracket("{}", (f"{quoted_name(key)}: {literal(item)}" for key, item in value.items()))
    if isinstance(value, str):
        return "'" + _SPECIAL.sub(_escape, value) + "'"
    if isinstance(value, Iterable):
        return _bracket("[]", map(literal, value))
    return json_text(value)


def _bracket(brackets: str, parts: Iterable[str]) -> str:
    return brackets[0] + ", ".join(parts) + brackets[1]


def _escape(match: re.Match[str]) -> str:
    text = match.group()
    return _ESCAPES.get(text) or f"\\u{ord(text):04x}"
