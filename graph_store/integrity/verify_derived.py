"""Check what is derived from the ledger: the graph, the vectors, the communities, the aliases."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np
import orjson

from ...models.embedding.embedder import Vectors
from ..graph import graph_file
from ..index import columns, index_file
from ..knowledge_base import KnowledgeBase
from ..layout import Layout
from ..ledger.communities import TreeCommunity
from ..sql.table_database import TablesDamagedError, check_file
from ..sql.table_store import files_in
from ..vectors.vector_synchroniser import embedded

# Ids are hashes, so the first ones are a random sample. If a tenth of the vectors is wrong, 32 samples miss that
# once in 30 times; a damaged file or another model affects more than a tenth.
_EMBEDDED_AGAIN = 32
_LEAST_COSINE = 0.99
_LEVELS_NAMED = 10


def damaged_files(layout: Layout) -> Iterator[str]:
    """Delete the files of the graph, index and tables that are damaged, and yield a line for each of them."""
    tables = ((check_file, path) for path in files_in(layout.root))
    for load, path in ((graph_file.load, layout.graph), (index_file.load, layout.index), *tables):
        try:
            load(path)
        except FileNotFoundError:
            continue
        except (graph_file.GraphFileDamagedError, index_file.IndexDamagedError, TablesDamagedError,
                OSError) as error:
            with suppress(OSError):  # on a read-only disk the file stays, and opening rebuilds it in memory
                path.unlink()
            yield str(error)


def graph(kb: KnowledgeBase) -> Iterator[str]:
    """Check that the graph's file equals the graph that the ledger's rows give; a file of another state is skipped."""
    try:
        state, written = graph_file.load(kb.layout.graph)
    except (FileNotFoundError, graph_file.GraphFileDamagedError):
        return  # `damaged_files` reports it, and opening the knowledge base rebuilds it
    expected = orjson.loads(orjson.dumps(kb.node_link().data()))
    for graph in (written, expected):
        # Ignore the name: if the folder was copied, the file still has the name of the original.
        graph["graph"] = {**graph.get("graph", {}), "name": ""}
    if state == list(kb.version()) and written != expected:
        yield f"the graph's file {kb.layout.graph.name} is not what the ledger's rows give"


def index(kb: KnowledgeBase) -> Iterator[str]:
    """Check that the index is what graph, communities and chunks give; of the vectors, only a sample."""
    written = kb.written_index()
    if written is None:
        return
    if kb.index_differs():
        yield "the index that retrieval reads is not what the graph gives"
        return
    # The index has all chunks, not only those that are part of the graph, as the vector store has.
    for kind, _, texts in embedded(kb.graph, kb.documents, ()):
        ids, vectors = columns.Ids(written, kind), written[f"{kind}.vectors"][:_EMBEDDED_AGAIN]
        sample = [ids.at(row) for row in range(len(vectors))]
        text_of = texts(sample)
        if wrong := _count_mismatches(kb, [text_of[key] for key in sample], vectors):
            yield (f"the index that retrieval reads: {wrong} of {len(vectors)} vectors of the {kind} that were looked "
                   "at are not those of their texts")


def tables(kb: KnowledgeBase) -> Iterator[str]:
    """Check that the tables for SQL are those that documents and graph give; a file of another state is skipped."""
    if kb.tables_differ():
        yield "the tables for SQL are not what the documents and the graph give"


def _count_mismatches(kb: KnowledgeBase, texts: Sequence[str], vectors: Vectors) -> int:
    """Return how many vectors, shape (texts, d), differ from the embeddings of their texts."""
    if not texts:
        return 0
    cosines = np.sum(kb.embedder.encode(texts) * vectors, axis=1)
    return int((~(cosines >= _LEAST_COSINE)).sum())  # the negated comparison counts NaN as wrong too


def aliases(kb: KnowledgeBase) -> Iterator[str]:
    """Check that the aliases are those that the ledger gives, unless they are of an earlier state."""
    if not kb.resolution.is_behind(kb.entities.resolved_by()) and kb.resolution.find() != kb.entities.aliases():
        yield "the names that count as one entity's are not those that the ledger gives"


def verdicts(kb: KnowledgeBase) -> Iterator[str]:
    """Check that documents still state everything on which models' verdicts on entities and labels rest."""
    if kb.resolution.is_behind(kb.entities.resolved_by()):
        return
    if outdated := len(kb.resolution.outdated_verdicts()):
        yield f"{outdated} of the model's verdicts on entities rest on statements that no document makes any more"
    if outdated := kb.schema_control.count_outdated_verdicts():
        yield f"{outdated} of the model's comparisons of labels rest on labels that no document has any more"


def vectors(kb: KnowledgeBase) -> Iterator[str]:
    """Check that exactly the expected ids have a vector, and that a sample are those of their texts."""
    for kind, ids, texts_of in embedded(kb.graph, kb.documents, kb.documents.done()):
        texts, stored = texts_of(ids), kb.vectors.ids(kind)
        if missing_or_extra := texts.keys() ^ stored:
            missing = len(missing_or_extra - stored)
            yield f"the vectors of the {kind}: {missing} missing, {len(missing_or_extra) - missing} left over"
        sample = sorted(texts.keys() & stored)[:_EMBEDDED_AGAIN]
        if sample and (wrong := _count_mismatches(kb, [texts[key] for key in sample], kb.vectors.get(kind, sample))):
            yield f"the vectors of the {kind}: {wrong} of {len(sample)} looked at are not those of their texts"


def communities(kb: KnowledgeBase) -> Iterator[str]:
    """Check the tree: on every level each entity is in exactly one community, and levels are nested."""
    if kb.tree.is_behind():
        return  # the communities describe an earlier state of the graph
    entities = kb.graph.entity_ids()
    communities = kb.communities.all(level=None)
    levels = sorted({community.level for community in communities}) or [0]
    if levels != list(range(len(levels))):
        yield f"the communities are of the levels {', '.join(map(str, levels[:_LEVELS_NAMED]))}"
        return
    for level in levels:
        of_level = [community for community in communities if community.level == level]
        if sorted(entity for community in of_level for entity in community.members) != entities:
            yield f"the communities{f' of level {level}' if level else ''} do not partition the entities"
        above = {community.id: community for community in communities if community.level == level + 1}
        yield from (f"the community {community.id} {problem}" for community in of_level
                    if (problem := _describe_misplacement(community, above)))


def _describe_misplacement(community: TreeCommunity, above: dict[str, TreeCommunity]) -> str:
    """Return what is wrong with a community's keywords or parent, or ""."""
    if not set(community.keywords) <= set(community.members):
        return "has keywords that are none of its members"
    if bool(community.parent) != bool(above):
        return "has no parent" if above else "has a parent where there is no level above"
    parent = above.get(community.parent)
    if above and (parent is None or not set(community.members) <= set(parent.members)):
        return "does not lie in its parent"
    return ""
