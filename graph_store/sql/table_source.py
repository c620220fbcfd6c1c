"""What the tables for SQL are made from."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ...schemas.documents import Chunk, SourceTable
from ..graph.knowledge_graph import KnowledgeGraph

Documents: TypeAlias = Sequence[tuple[str, str, str, Mapping[str, str]]]
"""The id, title, source and metadata of each document, by id."""


class TableSource(NamedTuple):
    """What the tables are made from, all from the same state of the knowledge base."""

    documents: Documents
    tables: Iterable[tuple[str, SourceTable]]
    """The tables of all documents, each with its document's id, in the order of the ids and of the texts."""
    graph: KnowledgeGraph
    chunks: Sequence[Chunk]
