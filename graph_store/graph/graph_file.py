"""The knowledge tree and its graph as plain values, which others draw, query and export, and the file of them.

The file is node-link JSON for `networkx.node_link_graph`, with a member `banyan`: the state that it is of. Banyan only
writes it, and `verify` compares it with the rows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import orjson

from ...runtime.safe_files import whole_file
from ...schemas.documents import Chunk
from ...schemas.naming import triple_id
from ..ledger.entity_rows import TreeCommunity
from .knowledge_graph import KnowledgeGraph

if TYPE_CHECKING:
    import networkx as nx

TreeGraph: TypeAlias = "nx.MultiDiGraph[str]"
MEMBER_OF = "member_of"
KEYWORD_OF = "keyword_of"
_FORMAT = "banyan-graph-1"


class NodeLink(NamedTuple):
    """A graph in the form that `networkx.node_link_graph` reads: what is noted of it, its nodes, its edges."""

    about: Mapping[str, Any]
    nodes: Iterable[dict[str, Any]]
    edges: Iterable[dict[str, Any]]

    def data(self) -> dict[str, Any]:
        """Return it as `networkx.node_link_graph` takes it."""
        return {"directed": True, "multigraph": True, "graph": dict(self.about), "nodes": list(self.nodes),
                "edges": list(self.edges)}

    def graph(self) -> TreeGraph:
        """Return it as a graph."""
        import networkx as nx  # noqa: PLC0415  (slow to import, and not needed by questions)

        return cast("TreeGraph", nx.node_link_graph(self.data(), edges="edges"))


def make_node_link(graph: KnowledgeGraph, chunks: Iterable[Chunk], communities: Sequence[TreeCommunity],
                   about: Mapping[str, Any]) -> NodeLink:
    """Return entities, triples and the communities of all levels of the default view, with their sources.

    A source is {document, start, end, quote}: a place in the document's text, in characters, and the text there. It has
    a `time` if it says when the fact holds. Tell nodes and edges apart by `kind`, not by name: a triple's relation may
    also be named `member_of` or `keyword_of`.

    Returns:
        A graph of JSON values in a reproducible order. Its nodes and edges are generators, to be read once.

        - Nodes of kind `entity`: `name`, `type`, `names` (all spellings), `documents` (ids),
          `attributes` {attribute: {value: [source, ...]}}; where values have times, `times` {attribute: {value: note}}.
        - Nodes of kind `community`: `name`, `summary`, `level` (0: the finest), `size` (members), `cohesion`.
        - Edges of kind `triple`, keyed by relation: `id`, `relation`, `confidence`, `documents`, `sources`; where the
          fact has a time, `time` (a note), `start` and `end` (see `Validity.bounds`).
        - Edges of kind and key `member_of`, from an entity to its finest community, and from a community to its parent.
        - Edges of kind and key `keyword_of`, from an entity to a community that it describes, with its `rank` from 1.
    """
    sources = Sources(chunks)
    return NodeLink(about, _make_nodes(graph, communities, sources), _make_edges(graph, communities, sources))


class Sources:
    """Turns places in chunks into places in documents."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self._chunks = {chunk.id: chunk for chunk in chunks}

    def documents(self, chunk_ids: Iterable[str]) -> list[str]:
        """Return the ids of the documents of some chunks, sorted."""
        return sorted({self._chunks[node].document_id for node in chunk_ids if node in self._chunks})

    def locate(self, support: Mapping[str, Sequence[float]],
               times: Mapping[str, Mapping[str, Sequence[float]]] | None = None) -> list[dict[str, Any]]:
        """Return the sources of a fact, sorted (see `make_node_link`); a place in two overlapping chunks is one."""
        # By document, start and end: the quote, and the words that say when the fact holds.
        spans: dict[tuple[str, int, int], tuple[str, set[str]]] = {}
        for time_words, places in (("", support), *(times or {}).items()):  # "": the support says nothing of a time
            for chunk_id, (start, end, *_) in places.items():
                if (chunk := self._chunks.get(chunk_id)) is None:
                    continue  # another process has deleted it since the graph was read
                span = chunk.document_id, chunk.start + int(start), chunk.start + int(end)
                _, span_times = spans.setdefault(span, (chunk.text[int(start):int(end)], set()))
                if time_words:
                    span_times.add(time_words)
        return [{"document": document, "start": start, "end": end, "quote": quote,
                 **({"time": "; ".join(sorted(span_times))} if span_times else {})}
                for (document, start, end), (quote, span_times) in sorted(spans.items())]


def _make_nodes(graph: KnowledgeGraph, communities: Sequence[TreeCommunity], sources: Sources,
                ) -> Iterator[dict[str, Any]]:
    for entity in graph.entity_ids():
        times = graph.value_times(entity)
        validities = graph.validities(entity) if times else {}  # most entities have no times
        time_notes = {attribute: {value: validity.note() for value, validity in sorted(values.items())}
                      for attribute, values in sorted(validities.items())}
        attributes = {attribute: {value: sources.locate(support, times.get(attribute, {}).get(value))
                                  for value, support in values.items()}
                      for attribute, values in graph.descriptive_values(entity).items()}
        yield {"kind": "entity", "name": graph.name(entity), "type": graph.type(entity), "names": graph.names(entity),
               "documents": sources.documents(graph.entity_support(entity)), "attributes": attributes,
               **({"times": time_notes} if time_notes else {}), "id": entity}
    for c in communities:
        yield {"kind": "community", "name": c.name, "summary": c.summary, "level": c.level, "size": len(c.members),
               "cohesion": c.cohesion, "id": c.id}


def _make_edges(graph: KnowledgeGraph, communities: Sequence[TreeCommunity], sources: Sources,
                ) -> Iterator[dict[str, Any]]:
    for row, (head, relation, tail) in enumerate(graph.edges()):
        support, times = graph.support(row), graph.times_of(row)
        dates: dict[str, str] = {}
        if times:  # most triples have none
            validity = graph.validity(row)
            dates = dict(zip(("time", "start", "end"), (validity.note(), *validity.bounds()), strict=True))
        yield {"kind": "triple", "id": triple_id(head, relation, tail), "relation": relation,
               "confidence": max(confidence for _, _, confidence in support.values()),
               "documents": sources.documents(support), "sources": sources.locate(support, times),
               **{name: date for name, date in dates.items() if date}, "source": head, "target": tail, "key": relation}
    for c in communities:  # they may be older than the graph, and name entities that are deleted
        for node in c.members:
            if node in graph and c.level == 0:
                yield {"kind": MEMBER_OF, "source": node, "target": c.id, "key": MEMBER_OF}
        if c.parent:
            yield {"kind": MEMBER_OF, "source": c.id, "target": c.parent, "key": MEMBER_OF}
        for rank, node in enumerate(c.keywords, 1):
            if node in graph:
                yield {"kind": KEYWORD_OF, "rank": rank, "source": node, "target": c.id, "key": KEYWORD_OF}


class GraphFileDamagedError(ValueError):
    """The file is not what was written; it can be rebuilt from the ledger."""


def save(path: Path, state: Sequence[int], graph: NodeLink) -> None:
    """Write the graph with the `Version` that it shows; an OSError leaves the old file unchanged."""
    with whole_file(path) as file:  # written member by member: as a whole, a large graph takes much memory
        file.write(_first_line(state))  # so that the state can be read without the rest
        file.write(orjson.dumps({"directed": True, "multigraph": True, "graph": graph.about})[1:-1])  # without braces
        for name, members in (("nodes", graph.nodes), ("edges", graph.edges)):
            file.write(b',"%s":[' % name.encode())
            for number, member in enumerate(members):
                file.write((b"," if number else b"") + orjson.dumps(member))
            file.write(b"]")
        file.write(b"}\n")


def _first_line(state: Sequence[int]) -> bytes:
    """Return the member `banyan` of the file's JSON, open at its end for the members that follow on the next line."""
    return orjson.dumps({"banyan": {"format": _FORMAT, "state": list(state)}}).removesuffix(b"}") + b",\n"


def shows_state(path: Path, state: Sequence[int]) -> bool:
    """Return True if the file shows a `Version` of the ledger, as its first line says; False without a valid file."""
    try:
        with path.open("rb") as file:
            return file.readline() == _first_line(state)
    except FileNotFoundError:
        return False


def load(path: Path) -> tuple[list[int], dict[str, Any]]:
    """Return the state that the graph shows (see `save`), and the graph as `networkx.node_link_graph` takes it.

    Raises FileNotFoundError without a file, GraphFileDamagedError if it is not what was written.
    """
    try:
        graph = orjson.loads(path.read_bytes())
        return list(graph.pop("banyan")["state"]), graph
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise GraphFileDamagedError(f"{path} is damaged: {error}") from error
