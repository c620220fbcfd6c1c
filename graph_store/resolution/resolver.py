"""Entity resolution of one knowledge base: find aliases, ask about doubtful pairs, carry out persons' decisions."""

from collections.abc import Callable, Sequence
from typing import Literal

from ...schemas.edits import decided_types, ids_after
from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import canonical_name
from ...schemas.resolution import AliasRow, EntityCard, EntityDecision, EntityPair, Pair, PairVerdict
from ..graph.knowledge_graph import KnowledgeGraph
from ..graph.resolved_graph import LedgerGraph, ResolvedGraph
from ..ledger.database import Database
from ..ledger.document_rows import Documents
from ..ledger.entity_rows import AliasTable, EditTable
from ..ledger.schema_rows import SchemaHistory
from ..store_errors import EntityDecisionError
from .name_comparison import statements
from .same_entities import Groups, Judgements, Resolution, resolve
from .surroundings import Surroundings

Verdict = Literal["merge", "split"]
Ask = Callable[[Sequence[EntityPair]], Sequence[PairVerdict | None]]
"""Returns for each pair, in order, whether it is the same thing; None if the reasoner cannot tell."""

_ASKED_AT_ONCE = 256  # pairs asked about between two commits: what an endpoint answers at once by default
_ROUNDS = 2  # times that a reasoner is asked in one run: merging entities in the first round can reveal more pairs
_FACTS_SHOWN = 5  # facts of each entity that a reasoner is shown


class Resolver:
    """Finds and stores a ledger's aliases, by its facts, a reasoner's verdicts and people's decisions."""

    def __init__(self, database: Database, documents: Documents, graph: LedgerGraph) -> None:
        self._db = database
        self._table = AliasTable(database)
        self._edits = EditTable(database)
        self._schemas = SchemaHistory(database)
        self._documents = documents
        self._graph = graph

    def is_behind(self, reasoner: str = "") -> bool:
        """Return True if the aliases are of an earlier state, or of another model than that of a fingerprint."""
        return self._table.resolved_state() != self._resolution_state(reasoner)

    def _resolution_state(self, reasoner: str) -> str:
        """Return what identifies the present state of the ledger, with the reasoner of a fingerprint."""
        return self._table.state(self._graph.state.position, reasoner)

    def resolve(self, ask: Ask | None = None, reasoner: str = "") -> None:
        """Find and store which entities are the same; `ask` asks the reasoner of a fingerprint about doubtful pairs."""
        try:
            aliases, state = self.find(ask, reasoner), self._resolution_state(reasoner)
        except Exception:  # not Ctrl-C, which may have ended the database's connection: the next run takes it up
            self._replace_aliases(self.find(), "")  # found without asking; no state, so the next run resolves again
            raise
        self._replace_aliases(aliases, state)

    def _replace_aliases(self, aliases: dict[str, AliasRow], state: str) -> None:
        """Store the aliases with the state they show, and release the graph in memory, which shows the earlier ones."""
        self._table.replace(aliases, state)
        self._graph.refresh()

    def decide(self, verdict: Verdict, names: tuple[str, str], who: str, why: str) -> None:
        """Record and carry out a person's decision on two entities, or raise EntityDecisionError."""
        graph, reasoner = self._graph.graph, self._table.resolved_by()
        first, second = _match_pair(graph, self._schemas.current(), verdict, names)
        with self._db.transaction():
            self._table.decide(EntityDecision(verdict=verdict, first=first, second=second, who=who, why=why))
            aliases = self.find()
            canonical = {aliases[entity].canonical if entity in aliases else entity for entity in (first, second)}
            are_merged = len(canonical) == 1
            if are_merged != (verdict == "merge"):
                shown = " and ".join(repr(graph.mentions.entity(one).name) for one in (first, second))
                done = "made one" if verdict == "merge" else "split"
                raise EntityDecisionError(
                    f"{shown} cannot be {done}: an earlier decision on other names of theirs says otherwise; take that "
                    "back first (`banyan entities decisions`)")
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
        entities = [one for one in set().union(*ids_in_prompt.values()) if one in around.names]
        present = {*entities, *(fact for entity in entities for fact, _ in around.facts(entity))}
        return [pair for pair, ids in ids_in_prompt.items() if not present.issuperset(ids)]

    def find(self, ask: Ask | None = None, reasoner: str = "") -> dict[str, AliasRow]:
        """Return the aliases for the ledger's state, by entity id, without storing them (see `resolve`)."""
        mentions = self._graph.mentions
        around = Surroundings(mentions, self._schemas.current(), self._documents.of_chunks())
        if not self._table.active:  # entity resolution is switched off, except for people's decisions
            return Groups(around, {}, self._read_decisions(mentions)).aliases()
        stated = {chunk.id: statements(chunk.text, around.entities_by_name(chunk.id))
                  for chunk in self._documents.chunks()}

        def resolve_again() -> Resolution:
            return resolve(around, stated, Judgements(self._table.verdicts(), self._read_decisions(mentions)))

        resolution = resolve_again()
        for _ in range(_ROUNDS):
            if ask is None or not self._ask_doubtful(around, resolution, ask, reasoner):
                break  # no new verdict
            resolution = resolve_again()
        return resolution.aliases

    def _read_decisions(self, mentions: KnowledgeGraph) -> list[EntityDecision]:
        """Return people's decisions on pairs; an entity whose type was changed later has its present id."""
        id_after_retyping = ids_after(decided_types(self._edits.in_force()))

        def present_id(entity: str) -> str:
            return entity if entity in mentions else id_after_retyping.get(entity, entity)

        return [decision.model_copy(update={"first": present_id(decision.first), "second": present_id(decision.second)})
                for decision in self._table.decisions()]

    def _ask_doubtful(self, around: Surroundings, resolution: Resolution, ask: Ask, reasoner: str) -> bool:
        """Ask the reasoner about the doubtful pairs and store its verdicts; return True if it has given any."""
        pairs = [pair for pair, _ in resolution.doubtful]
        has_verdicts = False
        for start in range(0, len(pairs), _ASKED_AT_ONCE):
            questions: dict[Pair, EntityPair] = {}
            # Questions about the same documents may share a prompt, so a verdict may rest on the facts of all.
            ids_in_prompt: dict[frozenset[str], set[str]] = {}
            for pair in pairs[start:start + _ASKED_AT_ONCE]:
                documents = around.documents(chunk for entity in pair for chunk in around.support(entity))
                ids = ids_in_prompt.setdefault(documents, set())
                ids.update(pair)
                cards = []
                for entity in pair:
                    facts = around.facts(entity, _FACTS_SHOWN)
                    ids.update(fact_id for fact_id, _ in facts)
                    cards.append(EntityCard(name=around.names[entity], type=around.type(entity),
                                            facts=tuple(words for _, words in facts)))
                questions[pair] = EntityPair(first=cards[0], second=cards[1], documents=documents)
            answered = zip(questions.items(), ask([*questions.values()]), strict=True)
            verdicts = [(pair, verdict, ids_in_prompt[question.documents]) for (pair, question), verdict in answered
                        if verdict is not None]
            self._table.judge(verdicts, reasoner)
            has_verdicts |= bool(verdicts)
        return has_verdicts


def match_node(graph: ResolvedGraph, name: str) -> str:
    """Return the only node that has an id, a name, or "name (type)" as a person writes it; else EntityDecisionError."""
    key = canonical_name(name)
    nodes = {graph.canonical(entity) for entity in _find_by_name(graph, name)}
    if not nodes:  # a person may have renamed the entity, and no document has the new name
        nodes = {node for node in graph.entity_ids() if canonical_name(graph.name(node)) == key}
    return _require_one(graph, name, sorted(nodes))


def _find_by_name(graph: ResolvedGraph, name: str) -> list[str]:
    """Return the mentioned entities with an id, a name, or a name and type."""
    mentions, key = graph.mentions, canonical_name(name)
    if name in mentions:
        return [name]
    return [entity.id for entity in map(mentions.entity, mentions.entity_ids())
            if key in {canonical_name(entity.name), canonical_name(f"{entity.name} ({entity.type})")}]


def _require_one(graph: KnowledgeGraph, name: str, entities: Sequence[str]) -> str:
    """Return the only one of the entities that a person's `name` may mean, or raise EntityDecisionError."""
    if not entities:
        raise EntityDecisionError(f"there is no entity {name!r}; `banyan entities --search` finds names")
    if len(entities) > 1:
        shown = ", ".join(f"'{one.name} ({one.type})'" for one in map(graph.entity, entities))
        raise EntityDecisionError(f"{name!r} names several entities: say which of {shown}")
    return entities[0]


def _match_pair(graph: ResolvedGraph, schema: GraphSchema, verdict: Verdict, names: tuple[str, str]) -> tuple[str, str]:
    """Return the two entities that a person names, or raise EntityDecisionError if the verdict cannot apply to them."""
    first, second = (_require_one(graph.mentions, name, _find_by_name(graph, name)) for name in names)
    if first == second:
        raise EntityDecisionError(f"{names[0]!r} and {names[1]!r} are one name of one type: there is nothing to "
                                  f"{verdict}")
    if verdict == "split" and graph.canonical(first) != graph.canonical(second):
        raise EntityDecisionError(f"{names[0]!r} and {names[1]!r} are two entities already: nothing is to do")
    around = Surroundings(graph.mentions, schema, {})
    if verdict == "merge" and not schema.open and not around.have_compatible_types(first, second):
        types = [graph.mentions.entity(entity).type for entity in (first, second)]
        raise EntityDecisionError(f"{names[0]!r} is of the type {types[0]} and {names[1]!r} of {types[1]}: the facts "
                                  "of one would not fit the other's; let one type be the other's parent in the schema")
    return first, second
