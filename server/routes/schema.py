"""The schema in force, its history, pending candidates, and a person's decisions."""

from fastapi import APIRouter

from ...agents.construction.review import REVIEWED_AT_ONCE
from ...schemas.delta import Candidate
from ...subagent.answers import SchemaDecided
from ..answers import Decisions, Items, SchemaAnswer, SchemaChange
from ..parameters import KbName, errors
from ..security.access import may
from ..service import Serving

router = APIRouter(prefix="/api/knowledge-bases/{kb}/schema", tags=["schema"], dependencies=[may("read")])


@router.get("", responses=errors(404, 409))
def show_schema(kb: KbName, service: Serving) -> SchemaAnswer:
    """The schema in force."""
    schemas = service.resources.knowledge_base(kb).schemas
    return SchemaAnswer(version=schemas.version(), graph_schema=schemas.current())


@router.get("/history", responses=errors(404))
def schema_history(kb: KbName, service: Serving) -> Items[SchemaChange]:
    """Who changed the schema, when, why, and on which evidence."""
    return Items(items=[
        SchemaChange(version=version.version, decisions=list(version.decisions), who=version.who,
                     decided_at=version.decided_at)
        for version in service.resources.knowledge_base(kb).schemas.versions()])


@router.get("/candidates", responses=errors(404, 409))
def schema_candidates(kb: KbName, service: Serving) -> Items[Candidate]:
    """Pending candidates with their evidence, the strongest first."""
    support = service.resources.settings.schema_support
    control = service.resources.knowledge_base(kb).schema_control
    return Items(items=control.waiting(support, REVIEWED_AT_ONCE))


@router.post("/decisions", responses=errors(404, 409, 413), dependencies=[may("review")])
def decide(kb: KbName, decisions: Decisions, service: Serving) -> SchemaDecided:
    """Carry out a person's decisions, all or none, and bring the tree up to them."""
    resources = service.resources
    changed = resources.decide(kb, decisions.decisions, decisions.who)
    resources.update_tree(kb)
    return SchemaDecided(version=resources.knowledge_base(kb).schemas.version(), changed=changed)
