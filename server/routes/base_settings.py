"""How one knowledge base is built: who lets its schema grow, and whether several names of one entity are resolved."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from ...graph_store.evolution.control import Policy
from ...graph_store.knowledge_base import KnowledgeBase
from ..parameters import KbName, errors
from ..security.access import may
from ..service import Serving

router = APIRouter(prefix="/api/knowledge-bases/{kb}/settings", tags=["knowledge bases"])


class BaseSettings(BaseModel):
    """What builds begin with; each may say otherwise, and what it said is what the next one begins with."""

    model_config = ConfigDict(extra="forbid")

    growth: Policy = Field(description="who lets the schema grow: thresholds (auto), a person (review), nobody (off)")
    resolve: bool = Field(description="whether several names of one entity become one")


class ShownSettings(BaseSettings):
    """The settings, with what only a rebuild can change."""

    embedding: str = Field(description="the embedding model that it is built with")
    seed: str = Field(description="the schema that it began with")


@router.get("", responses=errors(404, 409), dependencies=[may("read")])
def show_settings(kb: KbName, service: Serving) -> ShownSettings:
    """The settings of a knowledge base."""
    return _shown(service.resources.knowledge_base(kb))


@router.put("", responses=errors(404, 409), dependencies=[may("write")])
def change_settings(kb: KbName, wanted: BaseSettings, service: Serving) -> ShownSettings:
    """Change them; names are resolved, or not, at once."""
    service.resources.configure(kb, wanted.growth, resolve=wanted.resolve)
    return _shown(service.resources.knowledge_base(kb))


def _shown(kb: KnowledgeBase) -> ShownSettings:
    return ShownSettings(growth=kb.schema_control.policy, resolve=kb.entities.active, embedding=kb.embedder.name,
                         seed=kb.schemas.seed().name)
