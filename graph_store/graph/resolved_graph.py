"""The knowledge graph as it is searched: an entity with several names is one node, with people's edits applied.

Made from the mentions' graph, the aliases, and the edits of names, facts and values. An edit names entities by the ids
that they had when it was decided, so its nodes are looked up again whenever the graph changes. Where a subject has one
value at a time, later ones end those before (`_find_later_dates`).
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from ...schemas.edits import Edit, EntityRef, FactEdit, FactRef, Rename, ValueEdit, decided_types, ids_after
from ...schemas.graph_schema import GraphSchema
from ...schemas.resolution import Alias, AliasRow, EntityGroup
from ...text.times import Validity, later_values
from ..ledger.document_rows import Documents
from ..ledger.entity_rows import AliasTable, EditTable
from ..ledger.extractions import Extractions
from ..ledger.notes import GraphState
from ..ledger.schema_rows import SchemaHistory
from . import graph_columns
from .graph_columns import GraphColumns, LaterDates, Numbers, ValueKey, ValueTable, ValueTimeTable, select_rows
from .knowledge_graph import EdgeKey, KnowledgeGraph
from .known_names import complete_mentions
from .links import link_keys, with_document_links

_T = TypeVar("_T")
_Values = TypeVar("_Values", ValueTable, ValueTimeTable)
_Key = tuple[str, str, str]


class NodeEdits(NamedTuple):
    """Edits by the node that they concern; the value of a deleted fact or attribute value is None."""

    names: dict[str, str]  # the name that a person gave a node
    facts: dict[EdgeKey, EdgeKey | None]  # the fact that holds instead of a fact
    values: dict[_Key, _Key | None]  # the same for values: each is a node, an attribute and a value


def _read_edits(edits: Sequence[Edit], node_of: Callable[[str], str], is_mentioned: Callable[[str], bool]) -> NodeEdits:
    """Return edits in force, in order, by the nodes that they concern now; `node_of` returns that of an entity's id."""
    by_node = NodeEdits({}, {}, {})
    current_ids = ids_after(decided_types(edits))  # of entities that were given another type since, by the id before

    def current_node(entity: EntityRef) -> str:
        return node_of(entity.id if is_mentioned(entity.id) else current_ids.get(entity.id, entity.id))

    def current_key(fact: FactRef) -> EdgeKey:
        return current_node(fact.head), fact.relation, current_node(fact.tail)

    for edit in edits:  # other kinds concern the rows, or documents
        if isinstance(edit, Rename):
            by_node.names[current_node(edit.entity)] = edit.name
        elif isinstance(edit, FactEdit):
            corrected_fact = current_key(edit.corrected) if edit.corrected else None
            _correct(by_node.facts, current_key(edit.fact), corrected_fact)
        elif isinstance(edit, ValueEdit):
            node, attribute = current_node(edit.value.entity), edit.value.attribute
            corrected_value = None if edit.corrected is None else (node, attribute, edit.corrected)
            _correct(by_node.values, (node, attribute, edit.value.value), corrected_value)
    return by_node


def _correct(corrections: dict[_Key, _Key | None], key: _Key, instead: _Key | None) -> None:
    """Note what holds instead of a fact or value (None: nothing does), also for those corrected to it before."""
    corrections.update({other: instead for other, corrected in corrections.items() if corrected == key})
    corrections[key] = instead


class ResolvedGraph(KnowledgeGraph):
    """A knowledge graph made from the mentions' graph: its nodes are canonical entities, with their aliases' facts."""

    def __init__(self, mentions: KnowledgeGraph, aliases: Mapping[str, AliasRow] | None = None,
                 edits: Sequence[Edit] = (), schema: GraphSchema | None = None) -> None:
        """Merge aliases, by id, into canonical entities that are mentioned; edited facts have to fit the schema."""
        self.mentions = mentions
        self._aliases = {row.id: row for row in (aliases or {}).values() if row.canonical in mentions}
        self._members: dict[str, list[str]] = {}
        for alias in sorted(entity for entity in self._aliases if entity in mentions):
            self._members.setdefault(self._aliases[alias].canonical, []).append(alias)
        nodes_of_aliases = {entity: node for node, members in self._members.items() for entity in members}
        # Each alias row has the type of its whole group.
        types = {node: self._aliases[members[0]].type for node, members in self._members.items()}
        columns = _resolve_columns(mentions.columns, nodes_of_aliases, types,
                                   _read_edits(edits, self.canonical, mentions.__contains__), schema)
        super().__init__(columns, _find_later_dates(columns, schema) if schema else None)

    def canonical(self, entity: str) -> str:
        """Return the id of the node that an entity belongs to: its canonical entity's, or its own if it is no alias."""
        return self._aliases[entity].canonical if entity in self._aliases else entity

    def members(self, node: str) -> list[str]:
        """Return the entities of the mentions' graph that a node is made of, sorted."""
        return sorted([node, *self._members.get(node, ())])

    def groups(self) -> list[EntityGroup]:
        """Return the nodes with aliases, by name, each with its aliases, by name."""
        groups = list[EntityGroup]()
        for node, members in self._members.items():
            rows, entities = [self._aliases[one] for one in members], [self.mentions.entity(one) for one in members]
            aliases = [Alias(id=row.id, name=entity.name, type=entity.type, rule=row.rule, score=row.score,
                             evidence=row.evidence) for row, entity in zip(rows, entities, strict=True)]
            # Each row has the type of the whole group, which may differ from that of the node's own mentions.
            groups.append(EntityGroup(
                id=node, name=self.mentions.name(node), type=rows[0].type,
                aliases=tuple(sorted(aliases, key=lambda alias: (alias.name, alias.type, alias.id)))))
        return sorted(groups, key=lambda group: (group.name, group.type, group.id))

    def entity_text(self, entity: str) -> str:
        """Return the text embedded for a node: its canonical entity's name."""
        return self.mentions.entity_text(entity)


def _resolve_columns(mentions: GraphColumns, node_ids: Mapping[str, str], types: Mapping[str, str], edits: NodeEdits,
                     schema: GraphSchema | None) -> GraphColumns:
    """Return the graph with aliases merged into their nodes, and edits applied; corrected facts have to fit a schema.

    `node_ids` has the id of the canonical entity by the id of each alias, `types` the types of nodes with aliases.
    """
    relations = [relation for _, relation, _ in filter(None, edits.facts.values())]
    corrected_values = [value for _, _, value in filter(None, edits.values.values())]
    # The texts that edits add get a number before anything refers to them.
    before = mentions.with_texts((*types.values(), *edits.names.values(), *relations, *corrected_values))
    if not node_ids and not any(edits):
        return before
    row_of = {entity: row for row, entity in enumerate(before.ids)}
    # By each mentioned entity's row: the row of its canonical entity, and then (`node_of`) the row of its node.
    canonical_row = np.arange(len(before.ids))
    canonical_row[[row_of[alias] for alias in node_ids]] = [row_of[node] for node in node_ids.values()]
    nodes = np.unique(canonical_row)
    node_of = np.searchsorted(nodes, canonical_row).astype(np.int32)
    row_of_node = {entity: int(node_of[row]) for entity, row in row_of.items()}
    resolved = replace(before, ids=[before.ids[row] for row in nodes.tolist()],
                       types=_replace_texts(before, before.types[nodes], types, row_of_node),
                       names=_replace_texts(before, before.names[nodes], edits.names, row_of_node))
    resolved = _resolve_triples(resolved, node_of, edits, schema, row_of_node)
    tables = {name: getattr(before, name)._replace(entity=node_of[getattr(before, name).entity])
              for name in ("mentions", "values", "value_times")}
    values = _correct_values(before, tables["values"], edits, row_of_node)
    times = _correct_values(before, tables["value_times"], edits, row_of_node)
    # Merged entities may have several rows for a name or value of a chunk.
    return replace(resolved, mentions=graph_columns.distinct_rows(tables["mentions"]),
                   values=graph_columns.distinct_rows(values), value_times=graph_columns.distinct_rows(times))


def _replace_texts(columns: GraphColumns, numbers: Numbers, texts: Mapping[str, str],
                   row_of_node: Mapping[str, int]) -> Numbers:
    """Return a column of texts' numbers, one for each node, in which the nodes in `texts` have these texts instead."""
    numbers = numbers.copy()
    for node, text in texts.items():
        if node in row_of_node:
            numbers[row_of_node[node]] = columns.number_of(text)
    return numbers


def _resolve_triples(columns: GraphColumns, node_of: Numbers, edits: NodeEdits, schema: GraphSchema | None,
                     row_of_node: Mapping[str, int]) -> GraphColumns:
    """Return the graph whose triples join nodes, with persons' corrections and without deleted triples."""
    heads, relations, tails = columns.triples.T
    heads, tails = node_of[heads], node_of[tails]
    holds = np.ones(len(heads), bool)
    corrected = np.stack([heads, relations, tails], axis=1)
    for (head, relation, tail), instead in edits.facts.items():
        if head not in row_of_node or tail not in row_of_node:
            continue  # no document mentions them any more
        number = columns.number_of(relation)
        edited = (heads == row_of_node[head]) & (relations == number) & (tails == row_of_node[tail])
        holds[edited] = False
        new_head, new_relation, new_tail = instead or ("", "", "")
        if new_head not in row_of_node or new_tail not in row_of_node:
            continue  # the fact was deleted, or no document mentions the corrected one's ends any more
        ends = row_of_node[new_head], row_of_node[new_tail]
        head_type, tail_type = (columns.texts[columns.types[end]] for end in ends)
        if schema is None or schema.fits(head_type, new_relation, tail_type):
            holds[edited] = True
            corrected[edited] = ends[0], columns.number_of(new_relation), ends[1]
    held = np.flatnonzero(holds)
    triples, row = graph_columns.distinct_triples(*corrected[held].T)
    # Drop a triple that joins a node to itself only because its two entities were merged: it says nothing.
    joins_two = columns.triples[held, 0] != columns.triples[held, 2]
    is_merged = (triples[:, 0] == triples[:, 2]) & (np.bincount(row, weights=joins_two, minlength=len(triples)) > 0)
    new_row = np.where(is_merged, -1, np.cumsum(~is_merged) - 1).astype(np.int32)
    triple_of = np.full(len(holds), -1, np.int32)  # -1: the triple is dropped
    triple_of[held] = new_row[row]
    support = columns.support._replace(triple=triple_of[columns.support.triple])
    times = columns.triple_times._replace(triple=triple_of[columns.triple_times.triple])
    return replace(columns, triples=triples[~is_merged],
                   support=graph_columns.keep_surest_rows(select_rows(support, support.triple >= 0)),
                   triple_times=graph_columns.distinct_rows(select_rows(times, times.triple >= 0)))


def _correct_values(columns: GraphColumns, table: _Values, edits: NodeEdits, row_of_node: Mapping[str, int]) -> _Values:
    """Return a table of values or their times with persons' corrections, and without deleted values."""
    values, holds = table.value.copy(), np.ones(len(table.value), bool)
    for (node, attribute, value), instead in edits.values.items():
        rows = ((table.entity == row_of_node.get(node, -1)) & (table.attribute == columns.number_of(attribute))
                & (table.value == columns.number_of(value)))
        if instead is None:
            holds[rows] = False
        else:
            values[rows] = columns.number_of(instead[2])
    return select_rows(table._replace(value=values), holds)


def _find_later_dates(columns: GraphColumns, schema: GraphSchema) -> LaterDates:
    """Find the dates from which later facts and values replace earlier ones, where the schema has one at a time."""
    relations, attributes = schema.one_at_a_time()
    # What holds one at a time: triples by the entity that they share, the relation, and whether it is the head.
    triples: defaultdict[tuple[int, int, bool], dict[int, Validity]] = defaultdict(dict)
    for (row,), words in _group_words(columns, (columns.triple_times.triple,), columns.triple_times.words):
        head, relation, tail = columns.triples[row].tolist()
        has_one_tail, has_one_head = relations.get(columns.texts[relation], (False, False))
        if has_one_tail:
            triples[head, relation, True][row] = Validity.of(words)
        if has_one_head:
            triples[tail, relation, False][row] = Validity.of(words)
    values: defaultdict[tuple[int, int], dict[ValueKey, Validity]] = defaultdict(dict)
    times = columns.value_times
    for (entity, attribute, value), words in _group_words(columns, times[:3], times.words):
        if columns.texts[attribute] in attributes:
            values[entity, attribute][entity, attribute, value] = Validity.of(words)
    return LaterDates(_later_dates(triples.values()), _later_dates(values.values()))


def _later_dates(groups: Iterable[dict[_T, Validity]]) -> dict[_T, Sequence[str]]:
    """Return for each member of some groups the dates from which later members of its groups replace it."""
    dates: defaultdict[_T, set[str]] = defaultdict(set)
    for group in groups:
        for key, found in later_values(group).items():
            dates[key].update(found)
    return {key: sorted(found) for key, found in dates.items()}


def _group_words(columns: GraphColumns, keys: Sequence[Numbers], words: Numbers,
                 ) -> Iterator[tuple[Sequence[int], list[str]]]:
    """Yield the distinct keys of a table of times, each with the words that say when it holds."""
    starts = np.flatnonzero(graph_columns.find_firsts(*keys)).tolist()
    for start, end in pairwise([*starts, len(words)]):
        yield [int(key[start]) for key in keys], [columns.texts[number] for number in words[start:end].tolist()]


class LedgerGraph:
    """Makes the graph of rows, aliases and edits, and keeps it until `refresh`; searching reads the index instead."""

    def __init__(self, documents: Documents, extractions: Extractions, entities: AliasTable, edits: EditTable,
                 schemas: SchemaHistory) -> None:
        self._documents, self._extractions, self._entities = documents, extractions, entities
        self._edits, self._schemas = edits, schemas
        self._loading = threading.RLock()
        self._made_of: tuple[GraphState, int] | None = None  # the state shown, and the schema's version
        self._mentions: KnowledgeGraph | None = None
        self._graph: ResolvedGraph | None = None

    @property
    def state(self) -> GraphState:
        """The state of the ledger that the graph shows; before the graph is made, the current state."""
        made_of = self._made_of  # read once, as another thread may replace it
        return made_of[0] if made_of else self._extractions.state()

    @property
    def graph(self) -> ResolvedGraph:
        """The graph, made when it is first asked for."""
        with self._loading:
            if self._graph is None:
                mentions = self.mentions
                position = self.state.position  # of the rows that the mentions show; the ledger may have newer ones
                self._made_of = self._extractions.state()._replace(position=position), self._schemas.version()
                schema = self._schemas.current() if self._schemas.version() else None
                self._graph = ResolvedGraph(mentions, self._entities.aliases(), self._edits.in_force(), schema)
            return self._graph

    @property
    def mentions(self) -> KnowledgeGraph:
        """The graph of the rows, in which every name and type is a separate node."""
        with self._loading:
            if self._mentions is None:
                self._made_of = self._extractions.state(), self._schemas.version()
                rows = with_document_links(self._extractions.rows(), self._edits.in_force(), self._documents,
                                           self._extractions, self._schemas)
                columns = complete_mentions(graph_columns.read_columns(rows), self._documents.chunks())
                self._mentions = KnowledgeGraph(link_keys(columns))
            return self._mentions

    def refresh(self) -> None:
        """Drop the resolved graph if the ledger has changed, and the graph of mentions below it if rows have."""
        with self._loading:
            made_of, now = self._made_of, (self._extractions.state(), self._schemas.version())
            if made_of is None or made_of == now:
                return
            if made_of[0].position != now[0].position:  # the rows have changed
                self.unload()
            else:
                self._graph, self._made_of = None, now

    def unload(self) -> None:
        """Release the graph."""
        self._graph = self._mentions = self._made_of = None
