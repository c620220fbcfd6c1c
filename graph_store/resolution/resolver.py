"""Entity resolution of one knowledge base: what it reads, whom it asks, what it keeps."""

from collections.abc import Callable, Sequence

import numpy as np

from ...models.embedding.embedder import Embedder, Vectors
from ...runtime.collection import at_rest
from ...schemas.edits import decided_types, ids_after
from ...schemas.graph_schema import GraphSchema
from ...schemas.resolution import AliasRow, EntityCard, EntityDecision, EntityPair, Pair, PairVerdict
from ...text.scripts import script_of
from ..graph.knowledge_graph import KnowledgeGraph
from ..ledger.aliases import AliasTable
from ..ledger.documents import Documents
from ..ledger.edits import EditTable
from ..vectors.reliability import Reliability
from ..vectors.store import VectorStore
from .candidates import near_pairs
from .counterparts import TrustedVectors, counterparts
from .resolve import ASK, NEARNESS, Judgements, Resolution, by_hand, resolve
from .statements import Statement, may_state, statements
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
    """Resolves the entities of one knowledge base."""

    def __init__(self, table: AliasTable, edits: EditTable, documents: Documents, vectors: VectorStore,
                 embedder: Embedder) -> None:
        self._table = table
        self._edits = edits
        self._documents = documents
        self._vectors = vectors
        self._embedder = embedder
        # What a chunk states is a function of its id and of the names found in it.
        self._read: dict[tuple[str, frozenset[str]], list[Statement]] = {}

    def find(self, mentions: KnowledgeGraph, schema: GraphSchema, reliability: Reliability, ask: Ask | None,
             reasoner: str) -> dict[str, AliasRow]:
        """Find the aliases of a graph; doubtful pairs are asked about, each once in the life of the ledger.

        Args:
            mentions: the unresolved graph.
            schema: in force.
            reliability: how far vectors are trusted.
            ask: whom doubtful pairs are put to; None: nobody.
            reasoner: its fingerprint.
        """
        around = Surroundings(mentions, schema, self._documents.of_chunks())
        if not self._table.active:
            return by_hand(around, self._decisions(mentions))
        stated = self._statements(around)
        resolution = resolve(around, stated, self._judgements(mentions))
        if ask is None:
            return resolution.aliases
        for _ in range(_ROUNDS):
            trusted = self._trust_vectors(around, resolution, reliability)
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
            return entity if entity in mentions.network else after.get(entity, entity)

        return [decision.model_copy(update={"first": now(decision.first), "second": now(decision.second)})
                for decision in self._table.decisions()]

    @at_rest()
    def _statements(self, around: Surroundings) -> dict[str, list[Statement]]:
        stated: dict[str, list[Statement]] = {}
        read: dict[tuple[str, frozenset[str]], list[Statement]] = {}
        for chunk, text in self._documents.texts():
            if not may_state(text):
                continue
            key = chunk, frozenset(around.called(chunk))
            own = self._read.get(key) or statements(text, key[1])
            if own:
                read[key] = stated[chunk] = own
        self._read = read
        return stated

    def _trust_vectors(self, around: Surroundings, resolution: Resolution, reliability: Reliability) -> TrustedVectors:
        """Return the vectors of groups' first names, as far as vectors can be trusted with their script."""
        ids = [entity for entity in sorted(around.names) if entity not in resolution.aliases]
        trust = {entity: reliability.of(around.names[entity]) for entity in ids}
        ids = [entity for entity in ids if trust[entity] * NEARNESS >= ASK]
        return TrustedVectors(ids, self._embed(around, ids), trust)

    def _embed(self, around: Surroundings, ids: Sequence[str]) -> Vectors:
        absent = set(self._vectors.missing("entities", ids))
        there = [entity for entity in ids if entity not in absent]
        vectors = np.zeros((len(ids), self._embedder.dimension), np.float32)
        rows = {entity: row for row, entity in enumerate(ids)}
        for some, made in ((there, self._vectors.get("entities", there)),
                           (sorted(absent), self._embedder.encode([around.text(entity) for entity in sorted(absent)])
                            if absent else None)):
            if made is not None and some:
                vectors[[rows[entity] for entity in some]] = made
        return vectors

    def _put(self, around: Surroundings, resolution: Resolution, ask: Ask, reasoner: str) -> bool:
        """Ask about what is doubtful; returns whether anything was answered."""
        pairs = [pair for pair, _ in resolution.doubtful]
        answered = False
        for start in range(0, len(pairs), _ASKED_AT_ONCE):
            some = pairs[start:start + _ASKED_AT_ONCE]
            answers = ask([EntityPair(first=_card(around, first), second=_card(around, second))
                           for first, second in some])
            verdicts = [(pair, verdict) for pair, verdict in zip(some, answers, strict=True) if verdict is not None]
            self._table.judge(verdicts, reasoner)
            answered |= bool(verdicts)
        return answered


def _near(around: Surroundings, trusted: TrustedVectors) -> list[tuple[Pair, float]]:
    """Return the pairs of names of one script that mean much the same."""
    pairs = near_pairs(trusted.ids, trusted.vectors, _NEAR)
    return [(pair, cosine * min(trusted.trust[entity] for entity in pair)) for pair, cosine in pairs
            if script_of(around.names[pair[0]]) == script_of(around.names[pair[1]])]


def _card(around: Surroundings, entity: str) -> EntityCard:
    return EntityCard(name=around.names[entity], type=around.type(entity),
                      facts=tuple(around.facts(entity, _FACTS_SHOWN)))
