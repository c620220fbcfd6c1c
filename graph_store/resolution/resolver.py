"""Entity resolution of one knowledge base: find its aliases, ask a reasoner about doubtful pairs, store the results."""

from collections.abc import Callable, Sequence

from ...models.embedding.embedder import Embedder, Vectors, trust_in
from ...schemas.edits import decided_types, ids_after
from ...schemas.resolution import AliasRow, EntityCard, EntityDecision, EntityPair, Pair, PairVerdict
from ...text.scripts import script_of
from ..graph.knowledge_graph import KnowledgeGraph
from ..graph.resolved_graph import LedgerGraph
from ..ledger.database import Database
from ..ledger.document_rows import Documents
from ..ledger.entity_rows import AliasTable, EditTable
from ..ledger.schema_rows import SchemaHistory
from ..vectors.vector_store import Kind
from .decisions import Verdict, check_carried_out, match_pair
from .pair_candidates import nearest_across_scripts, statements
from .same_entities import ASK_FROM, COSINE_FACTOR, Judgements, Resolution, by_hand, resolve
from .surroundings import Surroundings

Ask = Callable[[Sequence[EntityPair]], Sequence[PairVerdict | None]]
"""Returns for each pair, in order, whether it is the same thing; None if the reasoner cannot tell."""

_ASKED_AT_ONCE = 256
"""Pairs asked about between two commits: as many as an endpoint answers at once with the default settings."""
_ROUNDS = 2
"""Times that a reasoner is asked in one run: merging entities in the first round can reveal more pairs."""
_FACTS_SHOWN = 5
"""Facts of each entity that a reasoner is shown."""


class Resolver:
    """Finds and stores a ledger's aliases, by its facts, a reasoner's verdicts and people's decisions."""

    def __init__(self, database: Database, documents: Documents, graph: LedgerGraph,
                 vectors: Callable[[Kind, Sequence[str]], Vectors], embedder: Embedder) -> None:
        """Take what is read; `vectors` returns the vectors of ids, shape (ids, d)."""
        self._db = database
        self._table = AliasTable(database)
        self._edits = EditTable(database)
        self._schemas = SchemaHistory(database)
        self._documents = documents
        self._graph = graph
        self._vectors = vectors
        self._embedder = embedder

    def is_behind(self, reasoner: str = "") -> bool:
        """Return True if the aliases are of an earlier state, or of another model than that of a fingerprint."""
        return self._table.resolved_state() != self._resolution_state(reasoner)

    def _resolution_state(self, reasoner: str) -> str:
        return self._table.state(self._graph.state.position, reasoner)

    def resolve(self, ask: Ask | None = None, reasoner: str = "") -> None:
        """Find which entities are the same, and store the aliases; if `ask` fails, those found without it.

        `ask` asks the reasoner of a fingerprint about doubtful pairs; None asks nobody.
        """
        try:
            aliases, state = self.find(ask, reasoner), self._resolution_state(reasoner)
        except Exception:  # not Ctrl-C, which may have ended the database's connection: the next run takes it up
            self._replace_aliases(self.find(), "")  # no state: the next run resolves again
            raise
        self._replace_aliases(aliases, state)

    def _replace_aliases(self, aliases: dict[str, AliasRow], state: str) -> None:
        self._table.replace(aliases, state)
        self._graph.refresh()

    def decide(self, verdict: Verdict, names: tuple[str, str], who: str, why: str) -> None:
        """Record and carry out a person's decision on two entities, or raise EntityDecisionError."""
        graph, reasoner = self._graph.graph, self._table.resolved_by()
        first, second = match_pair(graph, self._schemas.current(), verdict, names)
        with self._db.transaction():
            self._table.decide(EntityDecision(verdict=verdict, first=first, second=second, who=who, why=why))
            aliases = self.find()
            check_carried_out(graph, aliases, verdict, (first, second))
            self._table.replace(aliases, self._resolution_state(reasoner))
        self._graph.refresh()

    def drop_outdated_verdicts(self, *, all_of_them: bool = False) -> None:
        """Drop the verdicts that may rest on names or facts of deleted documents, or all of them."""
        outdated = list(self._table.verdicts()) if all_of_them else self.outdated_verdicts()
        if outdated:
            with self._db.transaction():
                self._table.drop_verdicts(outdated)

    def outdated_verdicts(self) -> list[Pair]:
        """Return the pairs with a verdict whose prompt may have had a name or fact that no document states any more."""
        ids_in_prompt = {pair: {*pair, *ids} for pair, ids in self._table.verdict_statements().items()}
        if not ids_in_prompt:
            return []
        around = Surroundings(self._graph.mentions, self._schemas.current(), {})
        present = around.present(set().union(*ids_in_prompt.values()))
        return [pair for pair, ids in ids_in_prompt.items() if not present.issuperset(ids)]

    def find(self, ask: Ask | None = None, reasoner: str = "") -> dict[str, AliasRow]:
        """Return the aliases for the ledger's state, by entity id, without storing them (see `resolve`)."""
        mentions = self._graph.mentions
        around = Surroundings(mentions, self._schemas.current(), self._documents.of_chunks())
        if not self._table.active:
            return by_hand(around, self._read_decisions(mentions))
        stated = {chunk.id: said for chunk in self._documents.chunks()
                  if (said := statements(chunk.text, around.entities_by_name(chunk.id)))}

        def resolve_near(near: Sequence[tuple[Pair, float]] = ()) -> Resolution:
            return resolve(around, stated, Judgements(self._table.verdicts(), self._read_decisions(mentions)), near)

        resolution = resolve_near()
        if ask is None:
            return resolution.aliases
        for _ in range(_ROUNDS):
            resolution = resolve_near(self._find_pairs_across_scripts(around, resolution))
            if not self._ask_doubtful(around, resolution, ask, reasoner):
                break
            resolution = resolve_near()
        return resolution.aliases

    def _read_decisions(self, mentions: KnowledgeGraph) -> list[EntityDecision]:
        """Return people's decisions on pairs; an entity whose type was changed later has its present id."""
        id_after_retyping = ids_after(decided_types(self._edits.in_force()))

        def present_id(entity: str) -> str:
            return entity if entity in mentions else id_after_retyping.get(entity, entity)

        return [decision.model_copy(update={"first": present_id(decision.first),
                                            "second": present_id(decision.second)})
                for decision in self._table.decisions()]

    def _find_pairs_across_scripts(self, around: Surroundings, resolution: Resolution) -> list[tuple[Pair, float]]:
        """Return the pairs of canonical entities in two scripts that may mean the same, each with its score."""
        # Scripts that the embedding model does not know are left out.
        ids = [entity for entity, name in sorted(around.names.items())
               if entity not in resolution.aliases and trust_in(self._embedder.name, name)]
        scripts = [script_of(around.names[entity]) for entity in ids]
        if len({*scripts} - {""}) < 2:  # noqa: PLR2004  (most knowledge bases have one; reading vectors is slow)
            return []
        # Translations may be no nearer than unrelated names, so all that are each other's nearest are asked about. Each
        # score is the cosine, lowered so that vectors alone never merge two entities.
        return [(pair, max(ASK_FROM, cosine * COSINE_FACTOR))
                for pair, cosine in nearest_across_scripts(ids, self._vectors("entities", ids), scripts)]

    def _ask_doubtful(self, around: Surroundings, resolution: Resolution, ask: Ask, reasoner: str) -> bool:
        """Ask the reasoner about the doubtful pairs, and store its verdicts; return True if there are any."""
        pairs = [pair for pair, _ in resolution.doubtful]
        has_verdicts = False
        for start in range(0, len(pairs), _ASKED_AT_ONCE):
            batch = [(pair, *_pair_question(around, pair)) for pair in pairs[start:start + _ASKED_AT_ONCE]]
            answers = ask([question for _, question, _ in batch])
            # Questions about the same documents may have shared a prompt, so a verdict may rest on the facts of all.
            ids_in_prompt: dict[frozenset[str], set[str]] = {}
            for pair, question, fact_ids in batch:
                ids_in_prompt.setdefault(question.documents, set()).update(pair, fact_ids)
            verdicts = [(pair, verdict, ids_in_prompt[question.documents])
                        for (pair, question, _), verdict in zip(batch, answers, strict=True) if verdict is not None]
            self._table.judge(verdicts, reasoner)
            has_verdicts |= bool(verdicts)
        return has_verdicts


def _pair_question(around: Surroundings, pair: Pair) -> tuple[EntityPair, tuple[str, ...]]:
    """Return the question whether a pair is the same thing, for a reasoner, and the ids of the facts in it."""
    facts_of_pair = [around.facts(entity, _FACTS_SHOWN) for entity in pair]
    first, second = (EntityCard(name=around.names[entity], type=around.type(entity),
                                facts=tuple(words for _, words in facts))
                     for entity, facts in zip(pair, facts_of_pair, strict=True))
    question = EntityPair(first=first, second=second, documents=around.documents(
        chunk for entity in pair for chunk in around.support(entity)))
    return question, tuple(fact_id for facts in facts_of_pair for fact_id, _ in facts)
