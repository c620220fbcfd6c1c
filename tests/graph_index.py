"""The index of a graph and its chunks without a store: thousands of vectors in Chroma take seconds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from banyan.graph_store.bounding.words import words
from banyan.graph_store.graph.knowledge_graph import relation_text
from banyan.graph_store.graph.resolved_graph import ResolvedGraph
from banyan.graph_store.graph_index import GraphIndex
from banyan.graph_store.index.contents import build_index
from banyan.graph_store.index.index_file import Arrays
from banyan.graph_store.index.lexical import NameTrie, build_trie
from banyan.graph_store.ledger.entity_rows import TreeCommunity
from banyan.models.embedding.embedder import Embedder, Vectors
from banyan.schemas.documents import Chunk
from banyan.schemas.naming import entity_id, relation_id, triple_id
from banyan.tools.ranking.fusion import Query, compare

from .admitted import facts, graph_of

Triples = Sequence[tuple[str, str, str]]
TYPE = "X"


@dataclass
class Stated:
    """A chunk, what it states, and its document's title; all entities are of the type `TYPE`."""

    text: str
    triples: Triples = ()
    entities: Sequence[str] = ()
    title: str = ""


@dataclass
class GraphAlone:
    graph: ResolvedGraph
    embedder: Embedder
    chunks: list[Chunk] = field(default_factory=list)
    communities: list[TreeCommunity] = field(default_factory=list)

    def index(self) -> Arrays:
        return build_index(self.graph, self.chunks, self.communities, self.communities, self.vectors)

    def vectors(self, _kind: str, ids: Sequence[str]) -> Vectors:
        texts = {chunk.id: chunk.titled_text() for chunk in self.chunks}
        texts |= {triple_id(*edge): self.graph.triple_text(edge) for edge in self.graph.edges()}
        labels = {*self.graph.attribute_names(), *(relation for _, relation, _ in self.graph.edges())}
        texts |= {relation_id(label): relation_text(label) for label in labels}
        texts |= {entity: self.graph.entity_text(entity) for entity in self.graph.entity_ids()}
        return self.embedder.encode([texts[one] for one in ids])


def index_of(stated: Sequence[Stated], embedder: Embedder, documents: Sequence[str] = (),
             communities: Mapping[str, Sequence[str]] | None = None) -> GraphIndex:
    """An index whose n-th chunk and document, unless those are named, are called `chunkn`.

    `communities` are the names of the members of each; by default there are none.
    """
    graph = graph_of((f"chunk{n}", facts(*said.triples, names=said.entities, kind=TYPE))
                     for n, said in enumerate(stated))
    chunks = []
    for n, said in enumerate(stated):
        document = documents[n] if documents else f"chunk{n}"
        chunks.append(Chunk(id=f"chunk{n}", document_id=document, title=said.title, text=said.text, start=0,
                            end=len(said.text), ordinal=0))
    grouped = [TreeCommunity(id=key, members=tuple(sorted(map(one, names))), keywords=tuple(map(one, names)))
               for key, names in (communities or {}).items()]
    return GraphIndex(GraphAlone(ResolvedGraph(graph), embedder, chunks, grouped))


def asked(index: GraphIndex, question: str, *, trust: float | None = None) -> Query:
    """A question as it is searched; the trust in vectors is else that in the model."""
    query = compare(index, question, index.embedder.encode([question])[0])
    return query if trust is None else replace(query, trust=trust)


def one(name: str) -> str:
    return entity_id(name, TYPE)


def trie_of(names: Iterable[tuple[str, str]]) -> NameTrie:
    pairs = list(names)
    ids = sorted({entity for _, entity in pairs})
    return NameTrie(build_trie("names", ((words(name), ids.index(entity)) for name, entity in pairs)), "names",
                    ids.__getitem__)
