"""The names of a knowledge base's entities: which of them are one entity, kept up with the ledger."""

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
    """Finds the aliases that the ledger's facts, verdicts and decisions lead to, and lays them over the graph."""

    def __init__(self, database: Database, table: AliasTable, resolver: Resolver, graph: LedgerGraph,
                 schemas: SchemaHistory, reliability: ReliabilityRecord) -> None:
        self._db = database
        self._table = table
        self._resolver = resolver
        self._graph = graph
        self._schemas = schemas
        self._reliability = reliability

    def is_behind(self, reasoner: str = "") -> bool:
        """Whether the aliases were found for another state of the ledger, or by another reasoner."""
        return self._table.resolved() != self._state(reasoner)

    def find(self, ask: Ask | None = None, reasoner: str = "") -> dict[str, AliasRow]:
        """The aliases, by entity id, as the ledger has it now (see `Resolver.find`)."""
        return self._resolver.find(self._graph.mentions, self._schemas.current(), self._reliability.current(),
                                   ask, reasoner)

    def resolve(self, ask: Ask | None = None, reasoner: str = "") -> None:
        """Find which entities are the same, and make them one node each.

        What is certain is written even if asking ends with an exception.
        """
        try:
            aliases = self.find(ask, reasoner)
        except BaseException:
            self._replace(self.find(), "")
            raise
        self._replace(aliases, self._state(reasoner))

    def decide(self, verdict: Literal["merge", "split"], names: tuple[str, str], who: str, why: str) -> None:
        """Record a person's decision on two entities and carry it out, or neither."""
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
