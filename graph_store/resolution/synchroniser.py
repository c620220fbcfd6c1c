"""Keep a knowledge base's aliases up to date with its ledger."""

from typing import Literal

from ...schemas.resolution import AliasRow, EntityDecision
from ..graph.ledger_graph import LedgerGraph
from ..ledger.aliases import AliasTable
from ..ledger.database import Database
from ..ledger.schema_history import SchemaHistory
from ..vectors.reliability import ReliabilityRecord
from .decisions import check_carried_out, match_pair
from .resolver import Ask, Resolver


class ResolutionSynchroniser:
    """Finds aliases from the ledger's facts, verdicts and decisions, and applies them to the graph."""

    def __init__(self, database: Database, table: AliasTable, resolver: Resolver, graph: LedgerGraph,
                 schemas: SchemaHistory, reliability: ReliabilityRecord) -> None:
        self._db = database
        self._table = table
        self._resolver = resolver
        self._graph = graph
        self._schemas = schemas
        self._reliability = reliability

    def is_behind(self, reasoner: str = "") -> bool:
        """Return True if the aliases belong to another state of the ledger, or to another model."""
        return self._table.resolved() != self._state(reasoner)

    def find(self, ask: Ask | None = None, reasoner: str = "") -> dict[str, AliasRow]:
        """Find the aliases of the ledger's current state, by entity id (see `Resolver.find`)."""
        return self._resolver.find(self._graph.mentions, self._schemas.current(), self._reliability.current(),
                                   ask, reasoner)

    def resolve(self, ask: Ask | None = None, reasoner: str = "") -> None:
        """Find which entities are the same, and merge them.

        If asking the model raises an exception, the aliases found without it are stored.
        """
        try:
            aliases = self.find(ask, reasoner)
        except BaseException:
            self._replace(self.find(), "")
            raise
        self._replace(aliases, self._state(reasoner))

    def decide(self, verdict: Literal["merge", "split"], names: tuple[str, str], who: str, why: str) -> None:
        """Record a person's decision on two entities and carry it out, in one transaction.

        Raises:
            EntityDecisionError: the decision cannot be carried out.
        """
        graph, reasoner = self._graph.graph, self._table.resolved_by()
        first, second = match_pair(graph, self._schemas.current(), verdict, names)
        with self._db.transaction():
            self._table.decide(EntityDecision(verdict=verdict, first=first, second=second, who=who, why=why))
            aliases = self.find()
            check_carried_out(graph, aliases, verdict, (first, second))
            self._table.replace(aliases, self._state(reasoner))
        self._graph.refresh()

    def _replace(self, aliases: dict[str, AliasRow], state: str) -> None:
        self._table.replace(aliases, state)
        self._graph.refresh()

    def _state(self, reasoner: str) -> str:
        return self._table.state(self._graph.state.position, reasoner)
