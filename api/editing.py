"""Changing a knowledge base's graph by hand: `kb.edit`."""

import getpass
from typing import Literal, TypeAlias

from ..agents.resources import Resources
from ..graph_store.edits import Said
from ..schemas.edits import EditDecision
from .answers import Fact

AnyFact: TypeAlias = Fact | tuple[str, str, str]
"""A fact of `kb.facts()`, or (subject, relation, object): an entity's id, name or "name (type)", a relation or an
attribute, and an entity or a value."""


class Editing:
    """A person's changes of one knowledge base's graph, recorded with who and why.

    They outlive rebuilding and the reading of new documents, until they are taken back. What cannot be done is a
    `banyan.BanyanError` that says why, and changes nothing.
    """

    def __init__(self, name: str, resources: Resources) -> None:
        """Change the knowledge base of that name."""
        self._name = name
        self._resources = resources

    def merge(self, first: str, second: str, *, why: str = "", who: str = "") -> None:
        """Make one entity of two; `split` undoes it."""
        self._pair("merge", first, second, why, who)

    def split(self, first: str, second: str, *, why: str = "", who: str = "") -> None:
        """Make two entities of one that was merged; each has its own facts back. `merge` undoes it."""
        self._pair("split", first, second, why, who)

    def _pair(self, verdict: Literal["merge", "split"], first: str, second: str, why: str, who: str) -> None:
        self._resources.decide_entities(self._name, verdict, (first, second), who or getpass.getuser(), why)

    def rename(self, entity: str, name: str, *, why: str = "", who: str = "") -> int:
        """Show an entity under another name; its own names still find it.

        Args:
            entity: its id, a name of it, or "name (type)".
            name: the new one.
            why: for others.
            who: decides; none: the user of this process.

        Returns:
            The number of the decision, for `undo`.
        """
        return self._resources.edit(self._name, lambda edits: edits.rename(entity, name, who or getpass.getuser(), why))

    def retype(self, entity: str, type: str, *, why: str = "", who: str = "") -> int:  # noqa: A002  (as entities have it)
        """Give an entity another type of the schema, which then decides what facts it may have; see `rename`."""
        return self._resources.edit(self._name, lambda edits: edits.retype(entity, type, who or getpass.getuser(), why))

    def reject(self, fact: AnyFact, *, why: str = "", who: str = "") -> int:
        """Say that a fact or a value does not hold, whichever document states it; see `rename`."""
        return self._resources.edit(self._name, lambda edits: edits.change_fact(
            _said(fact), None, who or getpass.getuser(), why))

    def correct(self, fact: AnyFact, *, subject: str = "", relation: str = "", object: str = "",  # noqa: A002  (as facts have it)
                why: str = "", who: str = "") -> int:
        """Put another fact or value in the place of one that does not hold; its source stays the same.

        Args:
            fact: as the graph has it.
            subject: the entity that is meant; none: the same. So are `relation` and `object`.
            relation: the relation that is meant.
            object: the entity, or value, that is meant.
            why: for others.
            who: decides; none: the user of this process.
        """
        said = _said(fact)
        instead = Said(subject or said.subject, relation or said.relation, object or said.object)
        return self._resources.edit(self._name, lambda edits: edits.change_fact(
            said, instead, who or getpass.getuser(), why))

    def undo(self, number: int, *, who: str = "") -> None:
        """Take a decision back; all is as if it had never been taken."""
        self._resources.edit(self._name, lambda edits: edits.undo(number, who or getpass.getuser()))

    def decisions(self) -> list[EditDecision]:
        """What was renamed, retyped, rejected and corrected, oldest first, with what was taken back."""
        return self._resources.knowledge_base(self._name).edits.table.all()


def _said(fact: AnyFact) -> Said:
    return Said(fact.subject_id, fact.relation, fact.object_id) if isinstance(fact, Fact) else Said(*fact)
