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
from ..parameters import KbName, errors
from ..responses import Body, Decisions, Items, SchemaAnswer, SchemaChange
from ..security.access import may
from ..service import Serving


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
def show_schema(kb: KbName, service: Serving) -> SchemaAnswer:
    """Show the schema in force."""
    schemas = service.resources.knowledge_base(kb).schemas
    return SchemaAnswer(version=schemas.version(), graph_schema=schemas.current())


@router.get("/history", responses=errors(404))
def schema_history(kb: KbName, service: Serving) -> Items[SchemaChange]:
    """Show who changed the schema, when, why, and on which evidence."""
    return Items(items=[
        SchemaChange(version=version.version, decisions=list(version.decisions), who=version.who,
                     decided_at=version.decided_at)
        for version in service.resources.knowledge_base(kb).schemas.versions()])


@router.get("/candidates", responses=errors(404, 409))
def schema_candidates(kb: KbName, service: Serving) -> Items[Candidate]:
    """List pending candidates with their evidence, strongest first."""
    stored = service.resources.knowledge_base(kb)
    return Items(items=stored.schema_control.waiting(support_in(stored, service.resources.settings), REVIEWED_AT_ONCE))


@router.put("", responses=errors(404, 409, 413), dependencies=[may("review", "write")])
def set_schema(kb: KbName, given: SchemaFile, service: Serving) -> SchemaReplaced:
    """Replace the schema in force and apply it to all facts, or start a new knowledge base with it."""
    check_name(kb)
    schema, resources = parse_schema(given.text, given.file), service.resources
    known = kb in knowledge_bases(resources.settings)
    current = resources.knowledge_base(kb).schemas.current() if known else None
    changes = diff(current, schema) if current else []
    if given.dry_run:
        return SchemaReplaced(version=resources.knowledge_base(kb).schemas.version() if known else 0,
                              changed=not known or bool(changes), changes=changes)
    changed = resources.set_schema(kb, schema, given.who)
    if known:
        resources.update_tree(kb)
    return SchemaReplaced(version=resources.knowledge_base(kb).schemas.version(), changed=changed, changes=changes)


@router.post("/decisions", responses=errors(404, 409, 413), dependencies=[may("review")])
def decide(kb: KbName, decisions: Decisions, service: Serving) -> SchemaDecided:
    """Apply a person's decisions, all or none, and update the tree."""
    resources = service.resources
    changed = resources.decide(kb, decisions.decisions, decisions.who)
    resources.update_tree(kb)
    return SchemaDecided(version=resources.knowledge_base(kb).schemas.version(), changed=changed)
