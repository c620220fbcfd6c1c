"""The export formats by the names that users give, and the writers of Cypher, GraphML and JSON.

Cypher is for Neo4j 5 and compatible databases: run the file with `cypher-shell --file FILE` or an editor's "run all".
Text from documents appears only in string literals, except types and relations. These become labels, which cannot be
literals: they are quoted names, without the characters that could end them; a property has their original text.

GraphML is for NetworkX, Gephi, yEd and Cytoscape; lists and maps in it are JSON text. JSON is in NetworkX's node-link
format, which `networkx.node_link_graph` reads, with the tree added.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import networkx as nx
from networkx.readwrite.graphml import GraphMLWriter

from ..graph_store.graph.graph_file import TreeGraph
from ..graph_store.sql.engine import SqlEngine
from ..schemas.naming import content_id
from ..text.cleaning import json_text, printable
from .tree_page import TreeOutline, page
from .wiki import wiki, zipped

_ROWS = 500  # in a statement, which is one transaction, and must fit into Neo4j's memory
_ENTITY, _COMMUNITY = "Entity", "Community"  # labels of Cypher's nodes

# Neo4j replaces \uXXXX before it parses, even in quoted names: `\u0060` would end one, and nothing can escape it. A
# backtick in a name is normally doubled, but not every engine reads that (FalkorDB does not).
_NOT_IN_NAMES = re.compile(r"[`\\\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SPECIAL = re.compile(r"""\\u|[\\'"\x00-\x1f\x7f-\x9f\u2028\u2029]""")
# For the same reason, a backslash and a u after it go into two literals, so no engine sees \u.
_ESCAPES = {"\\": r"\\", "'": r"\'", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\\u": r"\\' + 'u"}

_PROPERTIES_OF_ENTITIES = frozenset({"id", "name", "type", "names", "documents", "attributes", "times"})  # Banyan's own


def cypher(graph: TreeGraph) -> Iterator[str]:
    """Write the graph as Cypher statements, in pieces; running them a second time changes nothing.

    - Each entity is a node with the labels `Entity` and its type. Each attribute is a property with a list of values.
      All attributes with their sources are JSON text in `attributes`, and their times are JSON text in `times`.
    - Each community is a node with the label `Community`.
    - Each fact is a relationship of the relation's name. Its `quotes`, `starts`, `ends` and `sources` (document ids)
      are lists with one entry for each source. `time`, `start` and `end` say when the fact holds, if that is known.
    """
    yield f"// Knowledge base {graph.graph['name']}. Nodes are merged by id; deleted items from earlier runs remain.\n"
    for label in (_ENTITY, _COMMUNITY):
        yield (f"CREATE CONSTRAINT banyan_{label.lower()}_id IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE;\n")
    nodes, edges = defaultdict[str, list[Any]](list), defaultdict[str, list[Any]](list)  # rows by action
    for node, data in graph.nodes(data=True):
        if data["kind"] == "entity":
            label = f", n:{quoted_name(data['type'])}" if data["type"] else ""
            nodes[f"MERGE (n:{_ENTITY} {{id: row.id}})\nSET n = row{label}"].append(_entity_row(node, data))
        else:
            nodes[f"MERGE (n:{_COMMUNITY} {{id: row.id}})\nSET n = row"].append(
                {"id": node, **{key: value for key, value in data.items() if key != "kind"}})
    for source, target, data in graph.edges(data=True):
        source_label = _ENTITY if graph.nodes[source]["kind"] == "entity" else _COMMUNITY
        if data["kind"] == "triple":  # merged by its id, as two entities may have several of one relation
            target_label, properties = _ENTITY, _fact_row(data)
            relationship = f"r:{quoted_name(data['relation'])} {{id: row.properties.id}}"
        else:  # a member or a keyword of a community
            target_label, properties = _COMMUNITY, {"rank": data["rank"]} if "rank" in data else {}
            relationship = f"r:{data['kind']}"
        action = (f"MATCH (a:{source_label} {{id: row.from}})\nMATCH (b:{target_label} {{id: row.to}})\n"
                  f"MERGE (a)-[{relationship}]->(b)\nSET r = row.properties")
        edges[action].append({"from": source, "to": target, "properties": properties})
    for action, rows in [*sorted(nodes.items()), *sorted(edges.items())]:
        for start in range(0, len(rows), _ROWS):
            lines = ",\n".join(literal(row) for row in rows[start:start + _ROWS])
            yield f"UNWIND [\n{lines}\n] AS row\n{action};\n"


def _entity_row(node: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entity's properties; an attribute called like one of ours gets a prefix."""
    values = {f"attribute_{name}" if name in _PROPERTIES_OF_ENTITIES else name: list(sources_by_value)
              for name, sources_by_value in data["attributes"].items()}
    return {**values, "id": node, "name": data["name"], "type": data["type"], "names": data["names"],
            "documents": data["documents"], "attributes": json_text(data["attributes"]),
            **({"times": json_text(data["times"])} if "times" in data else {})}


def _fact_row(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a fact's properties, its sources as parallel lists, because Cypher has no lists of maps."""
    sources = data["sources"]
    return {"id": data["id"], "relation": data["relation"], "confidence": data["confidence"],
            "documents": data["documents"], "sources": [source["document"] for source in sources],
            "starts": [source["start"] for source in sources], "ends": [source["end"] for source in sources],
            "quotes": [source["quote"] for source in sources],
            **{name: data[name] for name in ("time", "start", "end") if name in data}}


def quoted_name(text: str) -> str:
    """Quote a label or key in backticks; backticks, backslashes and control characters become underscores."""
    return "`" + _NOT_IN_NAMES.sub("_", text) + "`"


def literal(value: Any) -> str:
    """Return a value as one line of Cypher: a literal, or several literals joined by `+`."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quoted_name(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, str):
        return "'" + _SPECIAL.sub(lambda sign: _ESCAPES.get(sign[0]) or f"\\u{ord(sign[0]):04x}", value) + "'"
    if isinstance(value, Iterable):
        return f"[{', '.join(map(literal, value))}]"
    return json_text(value)  # numbers, truth values and null are written as in JSON


ExportFormat = Literal["graphml", "json", "cypher", "html", "wiki"]


def graphml(graph: TreeGraph) -> Iterator[str]:
    """Write the graph as GraphML; what GraphML has no type for is JSON text, what XML forbids becomes U+FFFD."""
    flat: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    flat.graph.update(_flat_values(graph.graph))
    for node, data in graph.nodes(data=True):
        flat.add_node(node, **_flat_values(data))
    for source, target, data in graph.edges(data=True):
        # GraphML needs edge ids that are unique in the file; only facts have one of their own.
        identity = data.get("id") or content_id(source, data["kind"], target)
        flat.add_edge(source, target, identity, **_flat_values(data))
    writer = GraphMLWriter()
    writer.add_graph_element(flat)
    yield str(writer).replace("\r", "&#13;")  # a bare carriage return would be read back as a line feed


def _flat_values(data: Mapping[str, Any]) -> dict[str, str | int | float]:
    """Return the data of a graph, node or edge with each list and map as JSON text."""
    return {name: value if isinstance(value, int | float)
            else printable(value if isinstance(value, str) else json_text(value)) for name, value in data.items()}


def node_link(graph: TreeGraph) -> Iterator[str]:
    """Write the graph as one JSON object: {directed, multigraph, graph, nodes, edges, tree}.

    `tree` is a list of nested communities: {id, name, keywords, children}, at the finest level {id, name, keywords,
    members}. Keywords and members are ids of nodes.
    """
    outline = TreeOutline(graph)

    def branch(community: str) -> dict[str, Any]:
        """Return a community with all that is below it in the tree."""
        inner = {"id": community, "name": graph.nodes[community]["name"], "keywords": outline.keywords(community)}
        children = outline.children(community)
        return inner | ({"children": list(map(branch, children))} if children
                        else {"members": outline.members(community)})

    yield json_text(nx.node_link_data(graph, edges="edges") | {"tree": list(map(branch, outline.roots))}) + "\n"


class Format(NamedTuple):
    """A function that writes a graph in pieces, and the media type and suffix of the resulting file."""

    write: Callable[[TreeGraph, SqlEngine], Iterator[bytes]]
    media_type: str
    suffix: str


FORMATS: dict[ExportFormat, Format] = {
    "graphml": Format(lambda graph, _: map(str.encode, graphml(graph)), "application/xml", "graphml"),
    "json": Format(lambda graph, _: map(str.encode, node_link(graph)), "application/json", "json"),
    "cypher": Format(lambda graph, _: map(str.encode, cypher(graph)), "text/plain", "cypher"),
    "html": Format(lambda graph, _: map(str.encode, page(graph)), "text/html", "html"),
    "wiki": Format(lambda graph, tables: iter([zipped(wiki(graph, tables))]), "application/zip", "zip")}
