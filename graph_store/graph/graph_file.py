"""The knowledge tree and its graph as plain values, which others draw, query and export, and the file of them.

The file is node-link JSON that `networkx.node_link_graph` reads, written whole and atomically. Beside what NetworkX
reads, the object has the member `banyan`: the state of the knowledge base that the graph is of. The file is for others:
Banyan only writes it, and `verify` compares it with the rows.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import orjson

from ...runtime.safe_files import whole_file
from ...schemas.documents import Chunk
from ...schemas.naming import triple_id
from ..ledger.communities import TreeCommunity
from .knowledge_graph import EdgeKey, KnowledgeGraph

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


def node_link(graph: KnowledgeGraph, chunks: Iterable[Chunk], communities: Sequence[TreeCommunity],
              about: Mapping[str, Any]) -> NodeLink:
    """Return entities, triples and the communities of all levels of the default view, with what supports them.

    A source is {document, start, end, quote}: characters of the document's text, and what they read; with `time` where
    it says when the fact holds. Where a name of another kind could be missed, `kind` tells: a relation may be called as
    the tree's own edges are.

    Returns:
        A graph of values that JSON knows, in an order that is a function of them; made as it is read, once.

        - Nodes of kind `entity`: `name`, `type`, `names` (all spellings), `documents` (ids),
          `attributes` {attribute: {value: [source, ...]}}; where values have times, `times` {attribute: {value: note}}.
        - Nodes of kind `community`: `name`, `summary`, `level` (0: the finest), `size` (members), `cohesion`.
        - Edges of kind `triple`, keyed by relation: `id`, `relation`, `confidence`, `documents`, `sources`; where the
          fact has a time, `time` (a note), `start` and `end` (see `Validity.bounds`).
        - Edges keyed and of kind `member_of`, from an entity to its finest community and from a community to the
          one that it lies in; `keyword_of`, from an entity, with its `rank` from 1.
    """
    sources = Sources(chunks)
    return NodeLink(
        about,
        chain((_entity(graph, node, sources) for node in graph.entity_ids()), map(_community, communities)),
        chain((_triple(graph, *edge, sources) for edge in enumerate(graph.iterate_edges())),
              _membership(graph, communities)))


class Sources:
    """Where supports are in their documents."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        """Know these chunks; what is in others is left out."""
        self._chunks = {chunk.id: chunk for chunk in chunks}

    def documents(self, chunk_ids: Iterable[str]) -> list[str]:
        """Return the ids of the documents that some chunks are of, sorted."""
        return sorted({self._chunks[node].document_id for node in chunk_ids if node in self._chunks})

    def of(self, support: Mapping[str, Sequence[float]],
           times: Mapping[str, Mapping[str, Sequence[float]]] | None = None) -> list[dict[str, Any]]:
        """Return the sources of {chunk: (start, end, ...)}; words that two overlapping chunks hold count once.

        `times` has the places where the fact has a time, by the words that say when it holds.
        """
        spans: dict[tuple[str, int, int], tuple[str, set[str]]] = {}
        for words, places in (("", support), *(times or {}).items()):
            for chunk_id, (start, end, *_) in places.items():
                # A writer may have taken the chunk away since the graph was read.
                if chunk := self._chunks.get(chunk_id):
                    begin, stop = int(start), int(end)
                    _, said = spans.setdefault((chunk.document_id, chunk.start + begin, chunk.start + stop),
                                               (chunk.text[begin:stop], set()))
                    said.update(filter(None, [words]))
        return [{"document": document, "start": start, "end": end, "quote": quote,
                 **({"time": "; ".join(sorted(said))} if said else {})}
                for (document, start, end), (quote, said) in sorted(spans.items())]


def _entity(graph: KnowledgeGraph, node: str, sources: Sources) -> dict[str, Any]:
    times = graph.value_times(node)
    notes = {name: {value: dated.note() for value, dated in sorted(values.items())}
             for name, values in sorted(graph.validities(node).items())}
    return {"kind": "entity", "name": graph.name(node), "type": graph.type(node), "names": graph.names(node),
            "documents": sources.documents(graph.entity_support(node)),
            "attributes": {name: {value: sources.of(support, times.get(name, {}).get(value))
                                  for value, support in values.items()}
                           for name, values in graph.told(node).items()},
            **({"times": notes} if notes else {}), "id": node}


def _triple(graph: KnowledgeGraph, row: int, edge: EdgeKey, sources: Sources) -> dict[str, Any]:
    head, relation, tail = edge
    support, validity = graph.support_of(row), graph.validity_of(row)
    dates = dict(zip(("time", "start", "end"), (validity.note(), *validity.bounds()), strict=True))
    return {"kind": "triple", "id": triple_id(*edge), "relation": relation,
            "confidence": max(entry[2] for entry in support.values()),
            "documents": sources.documents(support), "sources": sources.of(support, graph.times_of(row)),
            **{name: date for name, date in dates.items() if date}, "source": head, "target": tail, "key": relation}


def _community(c: TreeCommunity) -> dict[str, Any]:
    return {"kind": "community", "name": c.name, "summary": c.summary, "level": c.level, "size": len(c.members),
            "cohesion": c.cohesion, "id": c.id}


def _membership(entities: Container[str], communities: Sequence[TreeCommunity]) -> Iterator[dict[str, Any]]:
    for c in communities:
        # A tree that is behind the facts may name entities that are gone.
        for node in c.members if c.level == 0 else ():
            if node in entities:
                yield {"kind": MEMBER_OF, "source": node, "target": c.id, "key": MEMBER_OF}
        if c.parent:
            yield {"kind": MEMBER_OF, "source": c.id, "target": c.parent, "key": MEMBER_OF}
        for rank, node in enumerate(c.keywords, 1):
            if node in entities:
                yield {"kind": KEYWORD_OF, "rank": rank, "source": node, "target": c.id, "key": KEYWORD_OF}


class GraphFileDamagedError(ValueError):
    """The file is not what was written; it can be rebuilt from the ledger."""


def save(path: Path, state: Sequence[int], graph: NodeLink) -> None:
    """Write the graph of a state: a reader sees the old file or the new one.

    Raises:
        OSError: the disk is full or not writable; the old file is unchanged.
    """
    with whole_file(path) as file:
        file.write(orjson.dumps({"banyan": {"format": _FORMAT, "state": list(state)}})[:-1] + b",\n")
        for part in _body(graph):
            file.write(part)


def _body(graph: NodeLink) -> Iterator[bytes]:
    """Yield what follows the header, a node or an edge at a time: as a whole it would take several times the graph."""
    yield orjson.dumps({"directed": True, "multigraph": True, "graph": graph.about})[1:-1]
    for name, members in (("nodes", graph.nodes), ("edges", graph.edges)):
        before = b',"%s":[' % name.encode()
        for member in members:
            yield before + orjson.dumps(member)
            before = b","
        yield b"]" if before == b"," else before + b"]"
    yield b"}\n"


def is_of(path: Path, state: Sequence[int]) -> bool:
    """Return True if the file says that it is of a state; only its first line is read."""
    try:
        with path.open("rb") as file:
            return _state(path, file.readline()) == list(state)
    except (FileNotFoundError, GraphFileDamagedError):
        return False


def load(path: Path) -> tuple[list[int], dict[str, Any]]:
    """Read the state that the graph is of, and the graph as `networkx.node_link_graph` takes it.

    Raises:
        FileNotFoundError: there is no such file.
        GraphFileDamagedError: it is not what was written.
    """
    with path.open("rb") as file:
        state, body = _state(path, file.readline()), file.read()
    try:
        return state, orjson.loads(b"{" + body)
    except orjson.JSONDecodeError as error:
        raise GraphFileDamagedError(f"{path} is damaged: {error}") from error


def _state(path: Path, header: bytes) -> list[int]:
    try:
        about = orjson.loads(header.rstrip(b"\n").removesuffix(b",") + b"}")["banyan"]
        if about["format"] == _FORMAT:
            return list(about["state"])
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise GraphFileDamagedError(f"{path} is damaged: {error}") from error
    raise GraphFileDamagedError(f"{path} is of another format")
