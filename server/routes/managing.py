"""A knowledge base as a whole: its settings, backing it up, renaming and dropping it, deleting several documents."""

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from ...graph_store.evolution.control import Policy
from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.ledger.instructions import MOST_INSTRUCTIONS
from ..error_responses import ForbiddenError, StateError
from ..parameters import KbName, errors
from ..responses import Body
from ..runs.backups import BackupResponse
from ..security.access import Seeing, may
from ..service import Reading, Service, Serving

router = APIRouter(prefix="/api/knowledge-bases/{kb}", tags=["knowledge bases"])
_MOST = 1000


class NewName(Body):
    """The new name of a knowledge base."""

    name: str = Field(min_length=1, max_length=64)


class DocumentIds(Body):
    """Documents by their ids."""

    ids: list[Annotated[str, Field(min_length=1, max_length=1000)]] = Field(min_length=1, max_length=_MOST)


@router.patch("", responses=errors(404, 409), dependencies=[may("write")])
def rename_knowledge_base(kb: KbName, new: NewName, service: Serving, bases: Seeing) -> NewName:
    """Rename a knowledge base and its conversations; API keys keep the old name."""
    if not bases.hold(new.name):
        raise ForbiddenError(f"the key does not cover a knowledge base {new.name!r}: choose a name that it covers")
    _check_idle(kb, service)
    service.resources.rename(kb, new.name)
    service.conversations.rename_base(kb, new.name)
    return new


@router.delete("", status_code=204, responses=errors(404, 409), response_class=Response, dependencies=[may("write")])
def drop_knowledge_base(kb: KbName, service: Serving) -> None:
    """Delete a knowledge base and everything stored in it, including conversations about it."""
    _check_idle(kb, service)
    service.resources.drop(kb)
    service.conversations.forget_base(kb)


@router.get("/backup", status_code=200, responses=errors(404, 409), response_class=BackupResponse,
            dependencies=[may("read")])
async def back_up_knowledge_base(kb: KbName, service: Serving) -> BackupResponse:
    """Download a zip file for `banyan restore`; the server makes one backup at a time."""
    return BackupResponse(service.resources, kb)


@router.post("/documents/delete", status_code=204, responses=errors(404, 409), response_class=Response,
             dependencies=[may("write")])
def delete_documents(kb: KbName, wanted: DocumentIds, service: Serving) -> None:
    """Delete documents and everything that no other document supports; all of them, or none on an error."""
    service.resources.delete_documents(kb, list(dict.fromkeys(wanted.ids)))


def _check_idle(kb: str, service: Service) -> None:
    if kb in service.builds.building():
        raise StateError(f"a build of {kb!r} has not ended: wait until it has, or cancel it")


class BaseSettings(Body):
    """The defaults of a knowledge base's builds; options of a build override them and become the new defaults."""

    growth: Policy = Field(description="how the schema grows: by thresholds (auto), by review (review), not (off)")
    resolve: bool = Field(description="whether several names of one entity are merged")
    instructions: str | None = Field(default=None, max_length=MOST_INSTRUCTIONS, description="how a model is to word "
                                     "all answers: tone, length, format, language; left out: unchanged")
    extraction_instructions: str | None = Field(
        default=None, max_length=MOST_INSTRUCTIONS, description="what a model is to heed when it extracts, with a "
        "glossary; part of every extraction call; documents already read stay as they are until a build with `reread`; "
        "left out: unchanged")


class ShownSettings(BaseSettings):
    """The settings, including those that only a rebuild can change."""

    embedding: str = Field(description="the embedding model it is built with")
    seed: str = Field(description="the schema it started with; empty before the first build")


@router.get("/settings", responses=errors(404, 409), dependencies=[may("read")])
def show_settings(reading: Reading) -> ShownSettings:
    """Show the settings of a knowledge base."""
    return _settings_of(reading.kb)


@router.put("/settings", responses=errors(404, 409), dependencies=[may("write")])
def change_settings(kb: KbName, wanted: BaseSettings, service: Serving) -> ShownSettings:
    """Change the settings of a knowledge base; entities are merged or split accordingly at once."""
    service.resources.configure(kb, wanted.growth, resolve=wanted.resolve)
    if wanted.instructions is not None:
        service.resources.instruct(kb, wanted.instructions)
    if wanted.extraction_instructions is not None:
        service.resources.instruct(kb, wanted.extraction_instructions, "extraction")
    with service.resources.snapshot(kb) as changed:
        return _settings_of(changed.kb)


def _settings_of(kb: KnowledgeBase) -> ShownSettings:
    return ShownSettings(growth=kb.schema_control.policy, resolve=kb.entities.active, embedding=kb.embedder.name,
                         seed=kb.schemas.first().name if kb.schemas.version() else "",
                         instructions=kb.instructions.get(), extraction_instructions=kb.extraction_instructions.get())
