"""The settings of one knowledge base: how its schema grows, entity resolution, and instructions for answers."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from ...graph_store.evolution.control import Policy
from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.ledger.instructions import MOST_INSTRUCTIONS
from ..parameters import KbName, errors
from ..security.access import may
from ..service import Serving

router = APIRouter(prefix="/api/knowledge-bases/{kb}/settings", tags=["knowledge bases"])


class BaseSettings(BaseModel):
    """The defaults of a knowledge base's builds; options of a build override them and become the new defaults."""

    model_config = ConfigDict(extra="forbid")

    growth: Policy = Field(description="how the schema grows: by thresholds (auto), by review (review), not (off)")
    resolve: bool = Field(description="whether several names of one entity are merged")
    instructions: str | None = Field(default=None, max_length=MOST_INSTRUCTIONS, description="how a model is to word "
                                     "all answers: tone, length, format, language; left out: unchanged")


class ShownSettings(BaseSettings):
    """The settings, including those that only a rebuild can change."""

    embedding: str = Field(description="the embedding model it is built with")
    seed: str = Field(description="the schema it started with")


@router.get("", responses=errors(404, 409), dependencies=[may("read")])
def show_settings(kb: KbName, service: Serving) -> ShownSettings:
    """Show the settings of a knowledge base."""
    return _settings_of(service.resources.knowledge_base(kb))


@router.put("", responses=errors(404, 409), dependencies=[may("write")])
def change_settings(kb: KbName, wanted: BaseSettings, service: Serving) -> ShownSettings:
    """Change the settings of a knowledge base; entities are merged or split accordingly at once."""
    service.resources.configure(kb, wanted.growth, resolve=wanted.resolve)
    if wanted.instructions is not None:
        service.resources.instruct(kb, wanted.instructions)
    return _settings_of(service.resources.knowledge_base(kb))


def _settings_of(kb: KnowledgeBase) -> ShownSettings:
    return ShownSettings(growth=kb.schema_control.policy, resolve=kb.entities.active, embedding=kb.embedder.name,
                         seed=kb.schemas.first().name, instructions=kb.instructions.get())
