"""What a knowledge base holds, in Python, and manual changes of its graph (`kb.edit`)."""

import getpass
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TypeAlias

from ..agents.introduction import Introduction, introduce
from ..agents.resources import Resources
from ..agents.snapshots import Snapshot
from ..graph_store.graph.graph_file import TreeGraph
from ..graph_store.graph_edits import GraphEditor, StatedFact
from ..graph_store.integrity.status import Status, status_of
from ..graph_store.ledger.document_rows import DocumentEntry
from ..schemas.documents import Scope
from ..schemas.edits import EditDecision
from ..schemas.graph_schema import GraphSchema
from ..schemas.naming import normalise
from ..text.times import read_day
from ..tools.reports import summarise_documents
from .python_results import Community, Entity, Fact, community_of, entity_of, facts_of

Where: TypeAlias = Mapping[str, str] | None


class BaseContents:
    """The contents of a knowledge base; each method sees everything that any process has written so far."""

    name: str
    resources: Resources

    def _snapshot(self, documents: Sequence[str] | str = (), where: Where = None) -> AbstractContextManager[Snapshot]:
        """Return a context manager that opens what is stored now: of all documents, or of the given ones alone."""
        return self.resources.snapshot(self.name, Scope.of(documents, where))

    def documents(self) -> list[DocumentEntry]:
        """Return the documents by id, without their texts."""
        with self._snapshot() as snapshot:
            return snapshot.kb.documents.entries()

    def entities(self, name: str = "", *, type: str = "") -> list[Entity]:  # noqa: A002  (as entities have it)
        """Return the entities, best connected first: of a type, and with the words of `name` in a name, if given."""
        words = normalise(name)
        with self._snapshot() as snapshot:
            kb, graph = snapshot.kb, snapshot.kb.graph
            nodes = [node for node in graph.entity_ids() if type in {"", graph.type(node)}
                     and any(words in normalise(known) for known in graph.names(node))]
            nodes.sort(key=lambda node: (-graph.degree(node), graph.name(node), node))
            document_of_chunk = kb.documents.of_chunks()
            return [entity_of(kb, node, document_of_chunk) for node in nodes]

    def facts(self, entity: str = "", *, relation: str = "", at: str = "", documents: Sequence[str] | str = (),
              where: Where = None) -> list[Fact]:
        """Return the facts with their sources: all, or those that fit what is given.

        These are the id or name of an entity that is subject or object, a relation type, a date on which the facts hold
        (`at`, such as "2020" or "15 March 2020", else ValueError), and documents that state them, given as in `ask`.
        """
        with self._snapshot(documents, where) as snapshot:
            kb, graph = snapshot.kb, snapshot.kb.graph
            name = normalise(entity)
            day = read_day(at) if at else None
            nodes = {node for node in graph.entity_ids()
                     if not entity or node == entity or name in map(normalise, graph.names(node))}
            keys = []
            for key in graph.edges():
                head, relation_type, tail = key
                is_fitting = relation in {"", relation_type} and (head in nodes or tail in nodes)
                if is_fitting and (day is None or graph.validity(key).holds(*day)):
                    keys.append(key)
            return list(facts_of(kb, graph, keys))

    def communities(self, level: int | None = 0, *, documents: Sequence[str] | str = (), where: Where = None,
                    ) -> list[Community]:
        """Return the communities of the tree, largest first: of one level (0: the finest) or, for None, of all levels.

        `documents` and `where` are as in `ask`.
        """
        with self._snapshot(documents, where) as snapshot:
            communities = snapshot.kb.communities.all(level=level)
            largest_first = sorted(communities, key=lambda community: (-len(community.members), community.id))
            return [community_of(snapshot.kb.graph, community) for community in largest_first]

    @property
    def schema(self) -> GraphSchema:
        """The schema in force: entity types, relations with domain and range, attributes."""
        with self._snapshot() as snapshot:
            return snapshot.kb.schemas.current()

    @property
    def graph(self) -> TreeGraph:
        """The graph with its tree as an independent `networkx.MultiDiGraph`, with the same content as `graph.json`."""
        with self._snapshot() as snapshot:
            return snapshot.kb.make_node_link().graph()

    def introduce(self) -> Introduction:
        """Return what the documents are about, what was not read, and example questions."""
        return introduce(self.resources, self.name)

    def summaries(self, *documents: str) -> dict[str, str]:
        """Return by id the sentence that best says what a document is about, or "": of all documents, or of these."""
        with self._snapshot() as snapshot:
            return {summary.document: summary.said for summary in summarise_documents(snapshot.kb.documents, documents)}

    def status(self) -> Status:
        """Return counts of its contents, failures and spending."""
        with self._snapshot() as snapshot:
            return status_of(snapshot.kb, self.resources.spending.prices)

    @property
    def edit(self) -> "ManualEdits":
        """Manual changes of the graph: merge, split, rename, retype, reject, correct, supersede, trust, undo."""
        return ManualEdits(self.name, self.resources)


AnyFact: TypeAlias = Fact | tuple[str, str, str]
"""A fact from `kb.facts()`, or a tuple (subject, relation, object): an entity's id, name or "name (type)"; a relation
or an attribute; and an entity or a value."""


class ManualEdits:
    """Manual changes of one knowledge base's graph. Each is recorded with the person who made it and the reason.

    Changes stay in effect when the graph is rebuilt or new documents are read, until they are undone. A change that is
    impossible raises a `banyan.BanyanError` with the reason, and changes nothing. An entity is named by its id, one of
    its names, or "name (type)". `why` is the reason, for others to read; `who` decides, by default the user of this
    process. Changes return the number of the decision, to pass to `undo`.
    """

    def __init__(self, name: str, resources: Resources) -> None:
        self._name, self._resources = name, resources

    def merge(self, first: str, second: str, *, why: str = "", who: str = "") -> None:
        """Merge two entities into one; `split` undoes it."""
        self._resources.decide_entities(self._name, "merge", (first, second), who or getpass.getuser(), why)

    def split(self, first: str, second: str, *, why: str = "", who: str = "") -> None:
        """Split an entity that was merged from two; each gets its own facts back. `merge` undoes it."""
        self._resources.decide_entities(self._name, "split", (first, second), who or getpass.getuser(), why)

    def _edit(self, who: str, change: Callable[[GraphEditor, str], int]) -> int:
        """Make a change, which gets the editor and the person's name, and return the decision's number."""
        return self._resources.edit(self._name, lambda edits: change(edits, who or getpass.getuser()))

    def rename(self, entity: str, name: str, *, why: str = "", who: str = "") -> int:
        """Show an entity under another name; its old names still find it. Return the decision's number."""
        return self._edit(who, lambda edits, user: edits.rename(entity, name, user, why))

    def retype(self, entity: str, type: str, *, why: str = "", who: str = "") -> int:  # noqa: A002  (as entities have it)
        """Give an entity another type of the schema, which decides what facts it may have."""
        return self._edit(who, lambda edits, user: edits.retype(entity, type, user, why))

    def reject(self, fact: AnyFact, *, why: str = "", who: str = "") -> int:
        """Mark a fact or a value as wrong, even if a document states it."""
        return self._edit(who, lambda edits, user: edits.change_fact(_as_stated(fact), None, user, why))

    def correct(self, fact: AnyFact, *, subject: str = "", relation: str = "", object: str = "",  # noqa: A002  (as facts have it)
                why: str = "", who: str = "") -> int:
        """Replace a wrong fact or value; its source stays the same. What is right about it need not be given."""
        wrong = _as_stated(fact)
        right = StatedFact(subject or wrong.subject, relation or wrong.relation, object or wrong.object)
        return self._edit(who, lambda edits, user: edits.change_fact(wrong, right, user, why))

    def supersede(self, newer: str, older: str, *, why: str = "", who: str = "") -> int:
        """State that a document takes the place of an older one, both by id."""
        return self._edit(who, lambda edits, user: edits.supersede(newer, older, user, why))

    def trust(self, pattern: str, rank: int, *, why: str = "", who: str = "") -> int:
        """Rank documents by a pattern of their ids, such as "wiki/*"; others have the rank 0.

        Where documents differ and neither supersedes the other, answers prefer the one of the higher rank.
        """
        return self._edit(who, lambda edits, user: edits.trust(pattern, rank, user, why))

    def undo(self, number: int, *, who: str = "") -> None:
        """Undo a decision by its number: the graph is then as if it had never been made."""
        self._resources.edit(self._name, lambda edits: edits.undo(number, who or getpass.getuser()))

    def decisions(self) -> list[EditDecision]:
        """Return all changes but merges and splits, oldest first, including undone ones."""
        with self._resources.snapshot(self._name) as snapshot:
            return snapshot.kb.edits.all()


def _as_stated(fact: AnyFact) -> StatedFact:
    """Return a fact in the form that edits take; entities of a `Fact` are named by id, because names may be equal."""
    return StatedFact(fact.subject_id, fact.relation, fact.object_id) if isinstance(fact, Fact) else StatedFact(*fact)
