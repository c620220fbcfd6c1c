"""Entities that one sentence names: a link that is shown with the sentence, and is no fact."""

from collections.abc import Iterator, Sequence

from ..graph_store.graph.tree_graph import Sources
from ..models.rules.recognition.names import has_name
from ..schemas.documents import Chunk
from ..tools.sentence_links import has_any_name, prose_sentences
from .graph_view import GraphView
from .responses import Evidence, Node, Together

_READ = 40
"""The most chunks that are read for an entity."""
_SHOWN = 20


def mentioned_together(view: GraphView, entity: Node, chunks: Sequence[Chunk],
                       others: Sequence[Node] = ()) -> list[Together]:
    """Return the entities that a sentence names with an entity and that share no fact with it, the most frequent first.

    Args:
        view: the graph.
        entity: one of its entities.
        chunks: the chunks that mention the entity.
        others: only these; by default all that the chunks mention.
    """
    known = {entity.id, *(node.id for node in view.neighbours(entity.id))}
    names, read = [entity.name, *view.aliases(entity.id)], chunks[:_READ]
    others = [node for node in others or view.matching("", "", {chunk.id for chunk in read}, None)
              if node.id not in known]
    places: dict[str, list[tuple[str, int, int]]] = {}
    for chunk, start, end in _sentences(read, names):
        for other in others:
            if has_name(chunk.text[start:end], other.name):
                places.setdefault(other.id, []).append((chunk.id, start, end))
    sources = Sources(read)
    ranked = sorted((node for node in others if node.id in places), key=lambda node: -len(places[node.id]))
    return [Together(entity=node, evidence=[Evidence(**one) for chunk, start, end in places[node.id]
                                            for one in sources.of({chunk: (start, end)})]) for node in ranked[:_SHOWN]]


def _sentences(chunks: Sequence[Chunk], names: Sequence[str]) -> Iterator[tuple[Chunk, int, int]]:
    """Yield the sentences that have one of the names."""
    for chunk in chunks:
        for start, end in prose_sentences(chunk):
            if has_any_name(chunk.text[start:end], names):
                yield chunk, start, end
