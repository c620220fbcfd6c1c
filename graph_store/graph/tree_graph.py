"""The knowledge tree and its graph as one NetworkX graph of plain values: what others draw, query and export."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ...runtime.collection import at_rest
from ...schemas.documents import Chunk
from ...schemas.naming import triple_id
from ..ledger.communities import Community
from .knowledge_graph import EdgeKey, KnowledgeGraph

if TYPE_CHECKING:
    import networkx as nx

TreeGraph: TypeAlias = "nx.MultiDiGraph[str]"
MEMBER_OF = "member_of"
KEYWORD_OF = "keyword_of"


@at_rest()
def tree_graph(graph: KnowledgeGraph, chunks: Iterable[Chunk], communities: Sequence[Community],
               about: Mapping[str, Any]) -> TreeGraph:
    """Entities, triples and the communities of all levels of the default view, with what supports them.

    A source is {document, start, end, quote}: characters of the document's text, and what they read. Where a
    name of another kind could be missed, `kind` tells: a relation may be called as the tree's own edges are.

    Args:
        graph: entities and facts.
        chunks: those that support them.
        communities: of all levels.
        about: what is noted of the graph as a whole.

    Returns:
        A graph of values that JSON knows, in an order that is a function of them.

        - Nodes of kind `entity`: `name`, `type`, `names` (all spellings), `documents` (ids),
          `attributes` {attribute: {value: [source, ...]}}.
        - Nodes of kind `community`: `name`, `summary`, `level` (0: the finest), `size` (members), `cohesion`.
        - Edges of kind `triple`, keyed by relation: `id`, `relation`, `confidence`, `documents`, `sources`.
        - Edges keyed and of kind `member_of`, from an entity to its finest community and from a community to the
          one that it lies in; `keyword_of`, from an entity, with its `rank` from 1.
    """
    import networkx as nx  # noqa: PLC0415  (see `KnowledgeGraph`)

    sources = Sources(chunks)
    tree: TreeGraph = nx.MultiDiGraph(**about)
    for node in graph.entity_ids():
        tree.add_node(node, **_entity(graph, node, sources))
    for edge in graph.edges():
        head, relation, tail = edge
        tree.add_edge(head, tail, relation, **_triple(graph, edge, sources))
    _add_communities(tree, communities)
    return tree


class Sources:
    """Where supports stand in their documents."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        """Know these chunks; what stands in others is left out."""
        self._chunks = {chunk.id: chunk for chunk in chunks}

    def documents(self, chunk_ids: Iterable[str]) -> list[str]:
        """The ids of the documents that some chunks are of, sorted."""
        return sorted({self._chunks[node].document_id for node in chunk_ids if node in self._chunks})

    def of(self, support: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
        """The sources of {chunk: (start, end, ...)}; words that two overlapping chunks hold count once."""
        spans: dict[tuple[str, int, int], str] = {}
        for chunk_id, (start, end, *_) in support.items():
            # A writer may have taken the chunk away since the graph was read.
            if chunk := self._chunks.get(chunk_id):
                begin, stop = int(start), int(end)
                spans[chunk.document_id, chunk.start + begin, chunk.start + stop] = chunk.text[begin:stop]
        return [{"document": document, "start": start, "end": end, "quote": quote}
                for (document, start, end), quote in sorted(spans.items())]


def _entity(graph: KnowledgeGraph, node: str, sources: Sources) -> dict[str, Any]:
    kind, attributes = graph.network.nodes[node]["type"], graph.network.nodes[node]["attributes"]
    return {"kind": "entity", "name": graph.name(node), "type": kind, "names": graph.names(node),
            "documents": sources.documents(graph.entity_support(node)),
            "attributes": {name: {value: sources.of(support) for value, support in sorted(values.items())}
                           for name, values in sorted(attributes.items())}}


def _triple(graph: KnowledgeGraph, edge: EdgeKey, sources: Sources) -> dict[str, Any]:
    head, relation, tail = edge
    support = graph.network.edges[head, tail, relation]["support"]
    return {"kind": "triple", "id": triple_id(*edge), "relation": relation,
            "confidence": max(entry[2] for entry in support.values()),
            "documents": sources.documents(support), "sources": sources.of(support)}


def _add_communities(tree: TreeGraph, communities: Sequence[Community]) -> None:
    entities = set(tree)
    for c in communities:
        tree.add_node(c.id, kind="community", name=c.name, summary=c.summary, level=c.level, size=len(c.members),
                       cohesion=c.cohesion)
    for c in communities:
        # A tree that is behind the facts may name entities that are gone.
        for node in c.members if c.level == 0 else ():
            if node in entities:
                tree.add_edge(node, c.id, MEMBER_OF, kind=MEMBER_OF)
        if c.parent:
            tree.add_edge(c.id, c.parent, MEMBER_OF, kind=MEMBER_OF)
        for rank, node in enumerate(c.keywords, 1):
            if node in entities:
                tree.add_edge(node, c.id, KEYWORD_OF, kind=KEYWORD_OF, rank=rank)
