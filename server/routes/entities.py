"""Decisions to merge or split entities. Each is recorded, and the opposite decision undoes it."""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from ...schemas.resolution import Alias, EntityDecision
from ..answers import Items
from ..parameters import KbName, NodeId, errors
from ..security.access import may
from ..service import Serving

router = APIRouter(prefix="/api/knowledge-bases/{kb}/entities", tags=["graph"], dependencies=[may("read")])

EntityId = Annotated[str, Field(min_length=1, max_length=200)]


class EntityVerdict(BaseModel):
    """A person's decision on two entities."""

    model_config = ConfigDict(extra="forbid")

    verdict: Literal["merge", "split"]
    first: EntityId
    second: EntityId
    who: str = Field(min_length=1, max_length=100)
    why: str = Field(default="", max_length=1000)


class DecidedEntities(BaseModel):
    """The entity that now contains the first one."""

    id: str


class NamedDecision(EntityDecision):
    """A decision with the names of its entities."""

    names: tuple[str, str]


@router.get("/names", responses=errors(404))
def entity_names(kb: KbName, service: Serving, entity: NodeId) -> Items[Alias]:
    """List the entities that were merged into one, and the reason for each."""
    if not service.resources.retriever(kb).index.is_joined(entity):
        return Items(items=[])  # the usual case, for which the graph need not be loaded
    groups = service.resources.knowledge_base(kb).graph.groups()
    return Items(items=[alias for group in groups if group.id == entity for alias in group.aliases])


@router.get("/decisions", responses=errors(404))
def entity_decisions(kb: KbName, service: Serving) -> Items[NamedDecision]:
    """List decisions on entities, oldest first."""
    opened = service.resources.knowledge_base(kb)

    def name(entity: str) -> str:
        mentions = opened.graph.mentions
        return mentions.entity(entity).name if entity in mentions.network else entity

    return Items(items=[NamedDecision(**decision.model_dump(), names=(name(decision.first), name(decision.second)))
                        for decision in opened.entities.decisions()])


@router.post("/decisions", responses=errors(404, 409), dependencies=[may("review")])
def decide_entities(kb: KbName, verdict: EntityVerdict, service: Serving) -> DecidedEntities:
    """Merge two entities, or split two that were merged, so each gets its own facts back."""
    resources = service.resources
    resources.decide_entities(kb, verdict.verdict, (verdict.first, verdict.second), verdict.who, verdict.why)
    return DecidedEntities(id=resources.knowledge_base(kb).graph.canonical(verdict.first))
