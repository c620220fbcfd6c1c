"""The schema: what is in force, how it came about, what waits, and a person's decisions."""

from fastapi import APIRouter

from ...agents.construction.graph import REVIEWED_AT_ONCE
from ..graph_answers import (
    Candidates,
    Decisions,
    DecisionsTaken,
    SchemaAnswer,
    SchemaChange,
    SchemaHistoryAnswer,
)
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
def schema_history(kb: KbName, service: Serving) -> SchemaHistoryAnswer:
    """Who changed the schema, when, why, and on which evidence."""
    return SchemaHistoryAnswer(items=[
        SchemaChange(version=one.version, decisions=list(one.decisions), who=one.who, decided_at=one.decided_at)
        for one in service.resources.knowledge_base(kb).schemas.versions()])


@router.get("/candidates", responses=errors(404, 409))
def schema_candidates(kb: KbName, service: Serving) -> Candidates:
    """What waits for the schema, the strongest first, with its evidence."""
    support = service.resources.settings.schema_support
    control = service.resources.knowledge_base(kb).schema_control
    return Candidates(items=control.waiting(support, REVIEWED_AT_ONCE))


@router.post("/decisions", responses=errors(404, 409, 413), dependencies=[may("review")])
def decide(kb: KbName, decisions: Decisions, service: Serving) -> DecisionsTaken:
    """Carry out a person's decisions, all or none, and bring the tree up to them."""
    resources = service.resources
    changed = resources.decide(kb, decisions.decisions, decisions.who)
    resources.update_tree(kb)
    return DecisionsTaken(version=resources.knowledge_base(kb).schemas.version(), changed=changed)
