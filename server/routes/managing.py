"""A knowledge base as a whole: backed up, renamed, dropped; and several of its documents deleted at once."""

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
    """What a knowledge base is to be called."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=64)


class DocumentIds(BaseModel):
    """Documents by their ids."""

    model_config = ConfigDict(extra="forbid")

    ids: list[Annotated[str, Field(min_length=1, max_length=1000)]] = Field(min_length=1, max_length=_MOST)


@router.patch("", responses=errors(404, 409), dependencies=[may("write")])
def rename_knowledge_base(kb: KbName, new: NewName, service: Serving, bases: Seeing) -> NewName:
    """Give a knowledge base another name; conversations about it go with it, keys do not."""
    if not bases.hold(new.name):
        raise ForbiddenError(f"the key is not for a knowledge base {new.name!r}: choose a name that it is for")
    _check_idle(kb, service)
    service.resources.rename(kb, new.name)
    service.conversations.rename_base(kb, new.name)
    return new


@router.delete("", status_code=204, responses=errors(404, 409), response_class=Response, dependencies=[may("write")])
def drop_knowledge_base(kb: KbName, service: Serving) -> None:
    """Delete a knowledge base with all that was stored of it, conversations about it included."""
    _check_idle(kb, service)
    service.resources.drop(kb)
    service.conversations.forget_base(kb)


@router.get("/backup", status_code=200, responses=errors(404, 409), response_class=BackupResponse,
            dependencies=[may("read")])
async def back_up_knowledge_base(kb: KbName, service: Serving) -> BackupResponse:
    """A zip file from which `banyan restore` makes the knowledge base again; one at a time is made."""
    return BackupResponse(service.backups, kb)


@router.post("/documents/delete", status_code=204, responses=errors(404, 409), response_class=Response,
             dependencies=[may("write")])
def delete_documents(kb: KbName, wanted: DocumentIds, service: Serving) -> None:
    """Delete documents with all that only they support, all or none."""
    service.resources.delete_documents(kb, list(dict.fromkeys(wanted.ids)))


def _check_idle(kb: str, service: Service) -> None:
    if kb in service.builds.building():
        raise StateError(f"a build of {kb!r} is not over: wait until it is, or cancel it")
