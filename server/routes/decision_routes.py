"""What people decide, recorded so it can be undone: names and types of entities, merges, facts, values; the schema."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from ...agents.schema_proposal import REVIEWED_AT_ONCE
from ...api.base_contents import ManualEdits
from ...graph_store.derive import support_in
from ...graph_store.layout import check_name, knowledge_bases
from ...schemas.delta import Candidate, Decided
from ...schemas.edits import EditDecision, edited_entity
from ...schemas.formats.schema_loading import MAX_SCHEMA_BYTES, parse_schema
from ...schemas.graph_schema import ElementChange, compare_schemas
from ...schemas.resolution import Alias, EntityDecision
from ...subagent.tool import SchemaDecided, SchemaInForce
from ..responses import Body, Decisions, Items, KbName, NodeId
from ..security.clients import may
from ..service import Reading, Serving

router = APIRouter(prefix="/api/knowledge-bases/{kb}", tags=["graph"], dependencies=[may("read")])
schema_router = APIRouter(prefix="/api/knowledge-bases/{kb}/schema", tags=["schema"], dependencies=[may("read")])
_REVIEWERS = [may("review")]
_Text = Annotated[str, Field(min_length=1, max_length=500)]
_EntityId = Annotated[str, Field(min_length=1, max_length=200)]
_Who = Annotated[str, Field(min_length=1, max_length=100)]


class _Change(Body):
    who: _Who
    why: str = Field(default="", max_length=1000)


class RenameEntity(_Change):
    """Show an entity under another name; its old names still find it."""

    change: Literal["rename"]
    entity: _Text = Field(description="its id, one of its names, or `name (type)`")
    name: _Text


class RetypeEntity(_Change):
    """Give an entity another type of the schema, which decides what facts it may have."""

    change: Literal["retype"]
    entity: _Text
    type: _Text


class SaidFact(Body):
    """A fact: the object is an entity, or a value of the attribute `relation`."""

    subject: _Text
    relation: _Text
    object: str = Field(min_length=1, max_length=2000)


class ChangeFact(_Change):
    """Mark a fact as wrong even if a document states it; `instead` replaces it, with the same source."""

    change: Literal["fact"]
    fact: SaidFact
    instead: SaidFact | None = Field(default=None, description="none: the fact is only rejected")


Change = Annotated[RenameEntity | RetypeEntity | ChangeFact, Field(discriminator="change")]


class EntityVerdict(_Change):
    """A person's decision on two entities."""

    verdict: Literal["merge", "split"]
    first: _EntityId
    second: _EntityId


class NamedDecision(EntityDecision):
    """A decision with the names of its entities."""

    names: tuple[str, str]


class SchemaFile(Body):
    """The content of a schema file, in any format that `banyan build --schema` reads."""

    text: str = Field(min_length=1, max_length=MAX_SCHEMA_BYTES)
    file: str = Field(default="schema.json", max_length=200, description="its name, for messages")
    who: _Who
    dry_run: bool = Field(default=False, description="only report the changes")


class SchemaReplaced(SchemaDecided):
    """The changes to the schema; empty for a new knowledge base."""

    changes: tuple[ElementChange, ...]


class SchemaChange(BaseModel):
    """A version of the schema, and the decisions that led to it."""

    version: int
    decisions: list[Decided]
    who: str
    decided_at: str


@router.get("/edits")
def edits(reading: Reading) -> Items[EditDecision]:
    """List all manual changes, oldest first, including undone ones."""
    return Items(items=reading.kb.edits.all())


@router.post("/edits", dependencies=_REVIEWERS)
def edit(kb: KbName, change: Change, service: Serving) -> dict[str, int | str]:
    """Change the graph and what depends on it; return the change's `number`, and the changed `entity`'s current id."""
    edits, reason = ManualEdits(kb, service.resources), {"why": change.why, "who": change.who}
    match change:
        case RenameEntity():
            number = edits.rename(change.entity, change.name, **reason)
        case RetypeEntity():
            number = edits.retype(change.entity, change.type, **reason)
        case ChangeFact(fact=fact, instead=None):
            number = edits.reject((fact.subject, fact.relation, fact.object), **reason)
        case ChangeFact(fact=fact, instead=SaidFact() as correction):
            number = edits.correct((fact.subject, fact.relation, fact.object), **correction.model_dump(), **reason)
    with service.resources.snapshot(kb) as edited:
        decided = next(decision.edit for decision in edited.kb.edits.all() if decision.number == number)
        return {"number": number, "entity": edited.kb.graph.canonical(edited_entity(decided))}


@router.delete("/edits/{number}", status_code=204, dependencies=_REVIEWERS)
def undo_edit(kb: KbName, service: Serving, number: Annotated[int, Path(ge=1)],
              who: Annotated[str, Query(min_length=1, max_length=100)]) -> None:
    """Undo a change, as if it had never been made."""
    service.resources.edit(kb, lambda edits: edits.undo(number, who))


@router.get("/entities/names")
def entity_names(reading: Reading, entity: NodeId) -> Items[Alias]:
    """List the entities that were merged into one, and the reason for each."""
    if not reading.kb.entities.has_aliases(entity):
        return Items(items=[])  # the usual case; it is answered without loading the graph
    aliases = next((group.aliases for group in reading.kb.graph.groups() if group.id == entity), ())
    return Items(items=list(aliases))


@router.get("/entities/decisions")
def entity_decisions(reading: Reading) -> Items[NamedDecision]:
    """List decisions on entities, oldest first."""
    def name(entity: str) -> str:
        mentions = reading.kb.graph.mentions
        return mentions.entity(entity).name if entity in mentions else entity

    return Items(items=[NamedDecision(**decision.model_dump(), names=(name(decision.first), name(decision.second)))
                        for decision in reading.kb.entities.decisions()])


@router.post("/entities/decisions", dependencies=_REVIEWERS)
def decide_entities(kb: KbName, verdict: EntityVerdict, service: Serving) -> dict[str, str]:
    """Merge two entities, or split two, so each gets its own facts back; return the `id` that now has the first."""
    service.resources.decide_entities(kb, verdict.verdict, (verdict.first, verdict.second), verdict.who, verdict.why)
    with service.resources.snapshot(kb) as decided:
        return {"id": decided.kb.graph.canonical(verdict.first)}


@schema_router.get("")
def show_schema(reading: Reading) -> SchemaInForce:
    """Show the schema in force."""
    schemas = reading.kb.schemas
    return SchemaInForce(version=schemas.version(), graph_schema=schemas.current().model_dump(mode="json"))


@schema_router.get("/history")
def schema_history(reading: Reading) -> Items[SchemaChange]:
    """Show who changed the schema, when, why, and on which evidence."""
    return Items(items=[SchemaChange.model_validate(version, from_attributes=True)
                        for version in reading.kb.schemas.versions()])


@schema_router.get("/candidates")
def schema_candidates(reading: Reading, service: Serving) -> Items[Candidate]:
    """List pending candidates with their evidence, strongest first."""
    support = support_in(reading.kb, service.resources.settings)
    return Items(items=reading.kb.schema_control.list_candidates(support, REVIEWED_AT_ONCE))


@schema_router.put("", dependencies=[may("review", "write")])
def set_schema(kb: KbName, given: SchemaFile, service: Serving) -> SchemaReplaced:
    """Replace the schema in force and apply it to all facts, or start a new knowledge base with it."""
    check_name(kb)
    schema, resources = parse_schema(given.text, given.file), service.resources
    exists = kb in knowledge_bases(resources.settings)
    version, changes = 0, list[ElementChange]()
    if exists:
        with resources.snapshot(kb) as reading:
            version, changes = reading.kb.schemas.version(), compare_schemas(reading.kb.schemas.current(), schema)
    if given.dry_run:
        return SchemaReplaced(version=version, changed=not exists or bool(changes), changes=changes)
    changed = resources.set_schema(kb, schema, given.who)
    if exists:
        resources.update_tree(kb)
    with resources.snapshot(kb) as reading:
        return SchemaReplaced(version=reading.kb.schemas.version(), changed=changed, changes=changes)


@schema_router.post("/decisions", dependencies=_REVIEWERS)
def decide(kb: KbName, decisions: Decisions, service: Serving) -> SchemaDecided:
    """Apply a person's decisions, all or none, and update the tree."""
    changed = service.resources.decide(kb, decisions.decisions, decisions.who)
    service.resources.update_tree(kb)
    with service.resources.snapshot(kb) as reading:
        return SchemaDecided(version=reading.kb.schemas.version(), changed=changed)
