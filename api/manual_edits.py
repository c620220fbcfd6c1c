"""Manual changes of a knowledge base's graph: `kb.edit`."""

import getpass
from typing import Literal, TypeAlias

from ..agents.resources import Resources
from ..graph_store.graph_edits import Said
from ..schemas.edits import EditDecision
from .python_results import Fact

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
        """Prepare changes of the named knowledge base."""
        self._name = name
        self._resources = resources

    def merge(self, first: str, second: str, *, why: str = "", who: str = "") -> None:
        """Merge two entities into one; `split` undoes it."""
        self._pair("merge", first, second, why, who)

    def split(self, first: str, second: str, *, why: str = "", who: str = "") -> None:
        """Split an entity that was merged from two; each gets its own facts back. `merge` undoes it."""
        self._pair("split", first, second, why, who)

    def _pair(self, verdict: Literal["merge", "split"], first: str, second: str, why: str, who: str) -> None:
        self._resources.decide_entities(self._name, verdict, (first, second), who or getpass.getuser(), why)

    def rename(self, entity: str, name: str, *, why: str = "", who: str = "") -> int:
        """Show an entity under another name; its old names still find it. Return the decision's number."""
        return self._resources.edit(self._name, lambda edits: edits.rename(entity, name, who or getpass.getuser(), why))

    def retype(self, entity: str, type: str, *, why: str = "", who: str = "") -> int:  # noqa: A002  (as entities have it)
        """Give an entity another type of the schema, which decides what facts it may have."""
        return self._resources.edit(self._name, lambda edits: edits.retype(entity, type, who or getpass.getuser(), why))

    def reject(self, fact: AnyFact, *, why: str = "", who: str = "") -> int:
        """Mark a fact or a value as wrong, even if a document states it."""
        return self._resources.edit(self._name, lambda edits: edits.change_fact(
            _as_said(fact), None, who or getpass.getuser(), why))

    def correct(self, fact: AnyFact, *, subject: str = "", relation: str = "", object: str = "",  # noqa: A002  (as facts have it)
                why: str = "", who: str = "") -> int:
        """Replace a wrong fact or value; its source stays the same. What is right about it need not be given."""
        wrong = _as_said(fact)
        right = Said(subject or wrong.subject, relation or wrong.relation, object or wrong.object)
        return self._resources.edit(self._name, lambda edits: edits.change_fact(
            wrong, right, who or getpass.getuser(), why))

    def undo(self, number: int, *, who: str = "") -> None:
        """Undo a decision, as if it had never been made."""
        self._resources.edit(self._name, lambda edits: edits.undo(number, who or getpass.getuser()))

    def decisions(self) -> list[EditDecision]:
        """Return all renames, retypings, rejections and corrections, oldest first, including undone ones."""
        with self._resources.snapshot(self._name) as snapshot:
            return snapshot.kb.edits.all()


def _as_said(fact: AnyFact) -> Said:
    return Said(fact.subject_id, fact.relation, fact.object_id) if isinstance(fact, Fact) else Said(*fact)
