"""A knowledge base as a whole: back it up, rename it, drop it, and delete several of its documents at once."""

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from ..errors import ForbiddenError, StateError
from ..parameters import KbName, errors
from ..runs.backups import BackupResponse
from ..security.access import Seeing, may
from ..service import Service, Serving

router = APIRouter(prefix="/api/knowledge-bases/{kb}", tags=["knowledge bases"])
_MOST = 1000


class NewName(BaseModel):
    """The new name of a knowledge base."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=64)


class DocumentIds(BaseModel):
    """Documents by their ids."""

    model_config = ConfigDict(extra="forbid")

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
    return BackupResponse(service.backups, kb)


@router.post("/documents/delete", status_code=204, responses=errors(404, 409), response_class=Response,
             dependencies=[may("write")])
def delete_documents(kb: KbName, wanted: DocumentIds, service: Serving) -> None:
    """Delete documents and everything that no other document supports; all of them, or none on an error."""
    service.resources.delete_documents(kb, list(dict.fromkeys(wanted.ids)))


def _check_idle(kb: str, service: Service) -> None:
    if kb in service.builds.building():
        raise StateError(f"a build of {kb!r} has not ended: wait until it has, or cancel it")
