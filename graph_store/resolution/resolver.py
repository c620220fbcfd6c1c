"""Entity resolution of one knowledge base: what it reads, whom it asks, what it keeps."""

from collections.abc import Callable, Sequence

import numpy as np

from ...models.embedding.embedder import Embedder, Vectors
from ...schemas.edits import decided_types, ids_after
from ...schemas.resolution import AliasRow, EntityCard, EntityDecision, EntityPair, Pair, PairVerdict
from ...text.scripts import script_of
from ..graph.knowledge_graph import KnowledgeGraph
from ..graph.ledger_graph import LedgerGraph
from ..ledger.database import Database
from ..ledger.document_rows import Documents
from ..ledger.entity_rows import AliasTable, EditTable
from ..ledger.schema_history import SchemaHistory
from ..vectors.reliability import ReliabilityRecord
from ..vectors.vector_store import VectorStore
from .counterparts import TrustedVectors, counterparts
from .decisions import Verdict, check_carried_out, match_pair
from .pair_candidates import near_pairs
from .same_entities import ASK, NEARNESS, Judgements, Resolution, by_hand, resolve
from .stated_aliases import Statement, statements
from .surroundings import Surroundings

Ask = Callable[[Sequence[EntityPair]], Sequence[PairVerdict | None]]
"""Tells doubtful pairs apart, in order; None where it cannot tell."""

_ASKED_AT_ONCE = 256
"""Pairs asked about between two commits: as many as an endpoint answers for at once, with the default settings."""
_ROUNDS = 2
"""Times that a reasoner is asked in one run: what it merged at first are common neighbours the second time."""
_FACTS_SHOWN = 5
_NEAR = 0.85
"""Cosine from which two names may mean the same: "New York City" and "NYC" are above, "Norway" and "Sweden" below."""


class Resolver:
    """Finds aliases from the ledger's facts, verdicts and decisions, and applies them to the graph."""

    def __init__(self, database: Database, documents: Documents, graph: LedgerGraph, vectors: VectorStore,
                 embedder: Embedder, reliability: ReliabilityRecord) -> None:
        self._db = database
        self._table = AliasTable(database)
        self._edits = EditTable(database)
        self._schemas = SchemaHistory(database)
        self._documents = documents
        self._graph = graph
        self._vectors = vectors
        self._embedder = embedder
        self._reliability = reliability

    def is_behind(self, reasoner: str = "") -> bool:
        """Return True if the aliases belong to another state of the ledger, or to another model."""
        return self._table.resolved_state() != self._state(reasoner)

    def _state(self, reasoner: str) -> str:
        return self._table.state(self._graph.state.position, reasoner)

    def resolve(self, ask: Ask | None = None, reasoner: str = "") -> None:
        """Find which entities are the same, and merge them; doubtful pairs are put to the reasoner of a fingerprint.

        If asking it raises an exception, the aliases found without it are stored.
        """
        try:
            aliases, state = self.find(ask, reasoner), self._state(reasoner)
        except BaseException:
            self._replace(self.find(), "")
            raise
        self._replace(aliases, state)

    def _replace(self, aliases: dict[str, AliasRow], state: str) -> None:
        self._table.replace(aliases, state)
        self._graph.refresh()

    def decide(self, verdict: Verdict, names: tuple[str, str], who: str, why: str) -> None:
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

    def drop_outdated_verdicts(self, *, all_of_them: bool = False) -> None:
        """Drop the verdicts whose prompt may have had a name or a fact which no document states any more.

        That text may have swayed the model. A reasoner is asked again. With `all_of_them`, drop every verdict.
        """
        outdated = list(self._table.verdicts()) if all_of_them else self.outdated_verdicts()
        if outdated:
            with self._db.transaction():
                self._table.drop_verdicts(outdated)

    def outdated_verdicts(self) -> list[Pair]:
        """Return the pairs of these verdicts."""
        shown = {pair: {*pair, *ids} for pair, ids in self._table.verdict_statements().items()}
        if not shown:
            return []
        present = Surroundings(self._graph.mentions, self._schemas.current(), {}).present(set().union(*shown.values()))
        return [pair for pair, ids in shown.items() if not present.issuperset(ids)]

    def find(self, ask: Ask | None = None, reasoner: str = "") -> dict[str, AliasRow]:
        """Find the aliases of the ledger's current state, by entity id; see `resolve`.

        Doubtful pairs are asked about, each once in the life of the ledger.
        """
        mentions = self._graph.mentions
        around = Surroundings(mentions, self._schemas.current(), self._documents.of_chunks())
        if not self._table.active:
            return by_hand(around, self._decisions(mentions))
        stated = self._statements(around)
        resolution = resolve(around, stated, self._judgements(mentions))
        if ask is None:
            return resolution.aliases
        for _ in range(_ROUNDS):
            trusted = self._trust_vectors(around, resolution)
            resolution = resolve(around, stated, self._judgements(mentions), _near(around, trusted),
                                 counterparts(around, resolution.aliases, trusted))
            if not self._put(around, resolution, ask, reasoner):
                break
            resolution = resolve(around, stated, self._judgements(mentions))
        return resolution.aliases

    def _judgements(self, mentions: KnowledgeGraph) -> Judgements:
        return Judgements(self._table.verdicts(), self._decisions(mentions))

    def _decisions(self, mentions: KnowledgeGraph) -> list[EntityDecision]:
        """Return persons' decisions on pairs, with the present ids of entities that were retyped since."""
        after = ids_after(decided_types(self._edits.in_force()))

        def now(entity: str) -> str:
            return entity if entity in mentions else after.get(entity, entity)

        return [decision.model_copy(update={"first": now(decision.first), "second": now(decision.second)})
                for decision in self._table.decisions()]

    def _statements(self, around: Surroundings) -> dict[str, list[Statement]]:
        found = ((chunk.id, statements(chunk.text, around.entities_by_name(chunk.id)))
                 for chunk in self._documents.chunks())
        return {chunk: own for chunk, own in found if own}

    def _trust_vectors(self, around: Surroundings, resolution: Resolution) -> TrustedVectors:
        """Return the vectors of groups' first names, as far as vectors can be trusted with their script."""
        reliability = self._reliability.current()
        ids = [entity for entity in sorted(around.names) if entity not in resolution.aliases]
        trust = {entity: reliability.of(around.names[entity]) for entity in ids}
        ids = [entity for entity in ids if trust[entity] * NEARNESS >= ASK]
        return TrustedVectors(ids, self._encode_names(around, ids), trust)

    def _encode_names(self, around: Surroundings, ids: Sequence[str]) -> Vectors:
        found = self._vectors.found("entities", ids)
        absent = [entity for entity in ids if entity not in found]
        if absent:
            found.update(zip(absent, self._embedder.encode([around.text(entity) for entity in absent]), strict=True))
        return np.array([found[entity] for entity in ids], np.float32).reshape(len(ids), self._embedder.dimension)

    def _put(self, around: Surroundings, resolution: Resolution, ask: Ask, reasoner: str) -> bool:
        """Ask about what is doubtful; returns whether anything was answered."""
        pairs = [pair for pair, _ in resolution.doubtful]
        answered = False
        for start in range(0, len(pairs), _ASKED_AT_ONCE):
            some = [(pair, *_question(around, pair)) for pair in pairs[start:start + _ASKED_AT_ONCE]]
            answers = ask([question for _, question, _ in some])
            shown: dict[frozenset[str], set[str]] = {}  # pairs of the same documents may have shared a prompt
            for pair, question, facts in some:
                shown.setdefault(question.documents, set()).update(pair, facts)
            verdicts = [(pair, verdict, shown[question.documents])
                        for (pair, question, _), verdict in zip(some, answers, strict=True) if verdict is not None]
            self._table.judge(verdicts, reasoner)
            answered |= bool(verdicts)
        return answered


def _near(around: Surroundings, trusted: TrustedVectors) -> list[tuple[Pair, float]]:
    """Return the pairs of names of one script that mean much the same."""
    pairs = near_pairs(trusted.ids, trusted.vectors, _NEAR)
    return [(pair, cosine * min(trusted.trust[entity] for entity in pair)) for pair, cosine in pairs
            if script_of(around.names[pair[0]]) == script_of(around.names[pair[1]])]


def _question(around: Surroundings, pair: Pair) -> tuple[EntityPair, tuple[str, ...]]:
    """Return what a reasoner is shown of a pair, and the ids of the statements in it."""
    facts = [around.facts(entity, _FACTS_SHOWN) for entity in pair]
    first, second = (EntityCard(name=around.names[entity], type=around.type(entity),
                                facts=tuple(words for _, words in own))
                     for entity, own in zip(pair, facts, strict=True))
    question = EntityPair(first=first, second=second, documents=around.documents(
        chunk for entity in pair for chunk in around.support(entity)))
    return question, tuple(statement for own in facts for statement, _ in own)
