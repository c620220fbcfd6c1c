"""Manual changes of the graph: names and types of entities, facts, values. Each is recorded and can be undone."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from ...graph_store.edits import Editing, Said
from ...schemas.edits import EditDecision, edited_entity
from ..answers import Items
from ..parameters import KbName, errors
from ..security.access import may
from ..service import Serving

router = APIRouter(prefix="/api/knowledge-bases/{kb}/edits", tags=["graph"], dependencies=[may("read")])

_Text = Annotated[str, Field(min_length=1, max_length=500)]
_Value = Annotated[str, Field(min_length=1, max_length=2000)]
_Who = Annotated[str, Field(min_length=1, max_length=100)]


class _Change(BaseModel):
    model_config = ConfigDict(extra="forbid")

    who: _Who
    why: str = Field(default="", max_length=1000)


class RenameEntity(_Change):
    """Show an entity under another name; its old names still find it."""

    change: Literal["rename"]
    entity: _Text = Field(description="its id, one of its names, or `name (type)`")
    name: _Text

    def carry_out(self, edits: Editing) -> int:
        """Make the change, and return the decision's number."""
        return edits.rename(self.entity, self.name, self.who, self.why)


class RetypeEntity(_Change):
    """Give an entity another type of the schema, which decides what facts it may have."""

    change: Literal["retype"]
    entity: _Text
    type: _Text

    def carry_out(self, edits: Editing) -> int:
        """Make the change, and return the decision's number."""
        return edits.retype(self.entity, self.type, self.who, self.why)


class SaidFact(BaseModel):
    """A fact: the object is an entity, or a value of the attribute `relation`."""

    model_config = ConfigDict(extra="forbid")

    subject: _Text
    relation: _Text
    object: _Value

    def said(self) -> Said:
        """Return the fact as the knowledge base expects it."""
        return Said(self.subject, self.relation, self.object)


class ChangeFact(_Change):
    """Mark a fact as wrong even if a document states it; `instead` replaces it, with the same source."""

    change: Literal["fact"]
    fact: SaidFact
    instead: SaidFact | None = Field(default=None, description="none: the fact is only rejected")

    def carry_out(self, edits: Editing) -> int:
        """Make the change, and return the decision's number."""
        instead = self.instead.said() if self.instead else None
        return edits.change_fact(self.fact.said(), instead, self.who, self.why)


Change = Annotated[RenameEntity | RetypeEntity | ChangeFact, Field(discriminator="change")]


class Edited(BaseModel):
    """The result of a change."""

    number: int
    entity: str = Field(description="the current id of the changed entity")


@router.get("", responses=errors(404))
def edits(kb: KbName, service: Serving) -> Items[EditDecision]:
    """List all manual changes, oldest first, including undone ones."""
    return Items(items=service.resources.knowledge_base(kb).edits.table.all())


@router.post("", responses=errors(404, 409), dependencies=[may("review")])
def edit(kb: KbName, change: Change, service: Serving) -> Edited:
    """Change the graph, and update everything that depends on it."""
    number = service.resources.edit(kb, change.carry_out)
    opened = service.resources.knowledge_base(kb)
    decided = next(one.edit for one in opened.edits.table.all() if one.number == number)
    return Edited(number=number, entity=opened.graph.canonical(edited_entity(decided)))


@router.delete("/{number}", status_code=204, responses=errors(404, 409), dependencies=[may("review")])
def undo_edit(kb: KbName, service: Serving, number: Annotated[int, Path(ge=1)],
              who: Annotated[str, Query(min_length=1, max_length=100)]) -> None:
    """Undo a change, as if it had never been made."""
    service.resources.edit(kb, lambda edits: edits.undo(number, who))
