"""The schema in force, its history, pending candidates, and a person's decisions."""

from fastapi import APIRouter
from pydantic import Field

from ...agents.construction.asked_review import REVIEWED_AT_ONCE
from ...agents.thresholds import support_in
from ...graph_store.layout import check_name, knowledge_bases
from ...schemas.delta import Candidate
from ...schemas.diff import ElementChange, diff
from ...schemas.formats.schema_loading import MAX_SCHEMA_BYTES, parse_schema
from ...subagent.tool_answers import SchemaDecided
from ..responses import Body, Decisions, Items, KbName, SchemaAnswer, SchemaChange, errors
from ..security.access import may
from ..service import Reading, Serving


class SchemaFile(Body):
    """The content of a schema file, in any format that `banyan build --schema` reads."""

    text: str = Field(min_length=1, max_length=MAX_SCHEMA_BYTES)
    file: str = Field(default="schema.json", max_length=200, description="its name: YAML if it ends in .yaml or .yml")
    who: str = Field(min_length=1, max_length=100)
    dry_run: bool = Field(default=False, description="only report the changes")


class SchemaReplaced(SchemaDecided):
    """The changes to the schema; empty for a new knowledge base."""

    changes: tuple[ElementChange, ...]


router = APIRouter(prefix="/api/knowledge-bases/{kb}/schema", tags=["schema"], dependencies=[may("read")])


@router.get("", responses=errors(404, 409))
def show_schema(reading: Reading) -> SchemaAnswer:
    """Show the schema in force."""
    schemas = reading.kb.schemas
    return SchemaAnswer(version=schemas.version(), graph_schema=schemas.current())


@router.get("/history", responses=errors(404))
def schema_history(reading: Reading) -> Items[SchemaChange]:
    """Show who changed the schema, when, why, and on which evidence."""
    return Items(items=[
        SchemaChange(version=version.version, decisions=list(version.decisions), who=version.who,
                     decided_at=version.decided_at)
        for version in reading.kb.schemas.versions()])


@router.get("/candidates", responses=errors(404, 409))
def schema_candidates(reading: Reading, service: Serving) -> Items[Candidate]:
    """List pending candidates with their evidence, strongest first."""
    support = support_in(reading.kb, service.resources.settings)
    return Items(items=reading.kb.schema_control.waiting(support, REVIEWED_AT_ONCE))


@router.put("", responses=errors(404, 409, 413), dependencies=[may("review", "write")])
def set_schema(kb: KbName, given: SchemaFile, service: Serving) -> SchemaReplaced:
    """Replace the schema in force and apply it to all facts, or start a new knowledge base with it."""
    check_name(kb)
    schema, resources = parse_schema(given.text, given.file), service.resources
    known, changes, version = kb in knowledge_bases(resources.settings), list[ElementChange](), 0
    if known:
        with resources.snapshot(kb) as reading:
            version, changes = reading.kb.schemas.version(), diff(reading.kb.schemas.current(), schema)
    if given.dry_run:
        return SchemaReplaced(version=version, changed=not known or bool(changes), changes=changes)
    changed = resources.set_schema(kb, schema, given.who)
    if known:
        resources.update_tree(kb)
    with resources.snapshot(kb) as reading:
        return SchemaReplaced(version=reading.kb.schemas.version(), changed=changed, changes=changes)


@router.post("/decisions", responses=errors(404, 409, 413), dependencies=[may("review")])
def decide(kb: KbName, decisions: Decisions, service: Serving) -> SchemaDecided:
    """Apply a person's decisions, all or none, and update the tree."""
    resources = service.resources
    changed = resources.decide(kb, decisions.decisions, decisions.who)
    resources.update_tree(kb)
    with resources.snapshot(kb) as reading:
        return SchemaDecided(version=reading.kb.schemas.version(), changed=changed)
