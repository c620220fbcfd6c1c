"""The graph of a ledger's rows, made when somebody asks for it."""

import threading
from typing import NamedTuple

from ..ledger.entity_rows import AliasTable, EditTable
from ..ledger.extractions import Extractions
from ..ledger.schema_rows import SchemaHistory
from .knowledge_graph import KnowledgeGraph
from .resolved_graph import GraphEdits, ResolvedGraph


class GraphState(NamedTuple):
    """Which state of the ledger a graph, vectors or a tree show: the last change of rows, the last entity resolution.

    Both are numbers that grow with every change.
    """

    position: int
    resolution: int


class LedgerGraph:
    """Makes the graph of the ledger's rows, aliases and edits, and keeps it until `refresh` finds the ledger changed.

    Searching never loads it: see `graph_store/index`.
    """

    def __init__(self, extractions: Extractions, entities: AliasTable, edits: EditTable,
                 schemas: SchemaHistory) -> None:
        """Take the tables to read; the graph is made when it is first asked for."""
        self._extractions = extractions
        self._entities = entities
        self._edits = edits
        self._schemas = schemas
        self._loading = threading.RLock()
        self._made_of: tuple[GraphState, int] | None = None  # the state shown, and the schema's version
        self._mentions: KnowledgeGraph | None = None
        self._graph: ResolvedGraph | None = None

    @property
    def state(self) -> GraphState:
        """The state of the ledger that the graph shows; before the graph is made, the current state."""
        made_of = self._made_of
        return made_of[0] if made_of else self._now()

    @property
    def graph(self) -> ResolvedGraph:
        """The graph, made when it is first asked for."""
        with self._loading:
            if self._graph is None:
                mentions, position = self.mentions, self.state.position  # of the rows that the mentions are made of
                self._made_of = GraphState(position, self._entities.number()), self._schemas.version()
                schema = self._schemas.current() if self._schemas.version() else None
                self._graph = ResolvedGraph(mentions, self._entities.aliases(),
                                            GraphEdits(self._edits.in_force(), schema))
            return self._graph

    @property
    def mentions(self) -> KnowledgeGraph:
        """The graph of the rows, in which every name and type is a separate node."""
        with self._loading:
            if self._mentions is None:
                self._made_of = self._now(), self._schemas.version()
                self._mentions = KnowledgeGraph.of_all_rows(self._extractions.rows(), self._schemas.unlinked())
            return self._mentions

    def refresh(self) -> None:
        """Release the graph if the ledger has changed since it was made.

        If only aliases, edits or the schema have changed, the graph of mentions is kept.
        """
        with self._loading:
            made_of, now = self._made_of, (self._now(), self._schemas.version())
            if made_of is None or made_of == now:
                return
            rows_have_changed = made_of[0].position != now[0].position
            if rows_have_changed:
                self.unload()
            else:
                self._graph, self._made_of = None, now

    def unload(self) -> None:
        """Release the graph."""
        self._graph = self._mentions = self._made_of = None

    def _now(self) -> GraphState:
        return GraphState(self._extractions.position(), self._entities.number())
