"""Health, metrics, knowledge bases with their settings and backups, and documents."""

import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi import Body as FromBody
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field
from starlette.responses import FileResponse

from ...graph_store.evolution.control import Policy
from ...graph_store.integrity.backup import back_up
from ...graph_store.integrity.status import Status, read_overview, status_of
from ...graph_store.layout import Layout, knowledge_bases
from ...graph_store.ledger.notes import MOST_INSTRUCTIONS
from ...ingest.reading import UnreadableError
from ...ingest.reading_process import draw_page
from ...runtime.audit import LOCAL
from ...runtime.threads import in_thread
from ...schemas.errors import BanyanError
from ...subagent.tool import DocumentLine, DocumentText
from .. import responses
from ..metrics import exposition
from ..responses import Body, DocumentId, Items, KbName, Limit, NotFoundError, Offset, Page, StateError
from ..security.clients import OF_ALL, VisibleBases, may
from ..service import OwnFolder, Reading, Service, Serving

router = APIRouter(prefix="/api", tags=["knowledge bases"])
base_router = APIRouter(prefix="/api/knowledge-bases/{kb}", tags=["knowledge bases"])
metrics_router = APIRouter(tags=["operations"])
_READERS, _WRITERS = [may("read")], [may("write")]
_MOST_TEXT = 1_000_000  # characters of a document to send at once
_MOST_DELETED = 1000  # documents to delete by one request
_Instructions = Annotated[str, Field(max_length=MOST_INSTRUCTIONS)] | None
_BACKUP = Lock()  # held by the one backup that this process makes or sends


class KnowledgeBaseEntry(BaseModel):
    """A knowledge base with its counts."""

    name: str
    documents: int = 0
    chunks: int = 0
    entities: int = 0
    triples: int = 0
    communities: int = 0
    schema_version: int = 0
    building: str | None = Field(description="id of the build that has not ended")
    problem: str | None = Field(default=None, description="why it cannot be opened; its counts are then 0")


class KnowledgeBaseStatus(Status):
    """A knowledge base with all counts, as `banyan status` reports them."""

    building: str | None = Field(description="id of the build that has not ended")


class ShownDocument(DocumentText):
    """A part of a document's text, for a reader that shows pages beside it."""

    drawn: bool = Field(default=False, description="whether its pages can be drawn, from a PDF file")


class DocumentItem(DocumentLine):
    """A document without its text."""

    chunks: int
    failed: int
    added_at: str


NewName = Annotated[str, FromBody(embed=True, min_length=1, max_length=64)]
DocumentIds = Annotated[list[Annotated[str, Field(min_length=1, max_length=1000)]], FromBody(
    embed=True, min_length=1, max_length=_MOST_DELETED)]


class BaseSettings(Body):
    """The defaults of a knowledge base's builds; options of a build override them and become the new defaults."""

    growth: Policy = Field(description="how the schema grows: by thresholds (auto), by review (review), not (off)")
    resolve: bool = Field(description="whether several names of one entity are merged")
    instructions: _Instructions = Field(default=None, description="how a model is to word answers; left out: unchanged")
    extraction_instructions: _Instructions = Field(
        default=None, description="what a model is to heed when it extracts, from then on; left out: unchanged")


class ShownSettings(BaseSettings):
    """The settings, including those that only a rebuild can change."""

    embedding: str = Field(description="the embedding model it is built with")
    seed: str = Field(description="the schema it started with; empty before the first build")


@router.get("/health")
async def health() -> dict[str, str]:
    """Check that the process is alive."""
    return {"status": "ok"}


@router.get("/ready")
async def show_ready(service: Serving) -> dict[str, str]:
    """Check that the server can answer questions, and name its reasoner and its embedding model."""
    if not service.ready:
        raise responses.UnavailableError("the embedding model is being loaded; try again in a few seconds")
    return {"status": "ready", "reasoner": "llm" if service.resources.settings.uses_llm else "rules",
            "embedding": service.resources.embedder.name}


@metrics_router.get("/metrics", response_class=Response, dependencies=[may("metrics"), OF_ALL])
def metrics(service: Serving) -> Response:
    """Return metrics of requests, questions, builds and model calls in Prometheus's text format."""
    states = [job.build.state for job in service.builds.jobs.all(unfinished=True)]
    return Response(exposition(states), media_type=CONTENT_TYPE_LATEST)


@router.get("/command", dependencies=_READERS)
def show_command(request: Request, service: Serving) -> dict[str, str]:
    """Show how a program on this machine starts Banyan: the command's path, and the home folder for BANYAN_HOME.

    A client with a key may be elsewhere, and gets empty texts.
    """
    if request.state.client != LOCAL:
        return {"command": "", "home": ""}
    return {"command": str(Path(sys.executable).with_name("banyan")),
            "home": str(service.resources.settings.home.absolute())}


@router.get("/knowledge-bases", dependencies=_READERS)
def list_knowledge_bases(service: Serving, bases: VisibleBases) -> Items[KnowledgeBaseEntry]:
    """List the knowledge bases that the key covers, with their counts."""
    resources, building, listed = service.resources, service.builds.building(), list[KnowledgeBaseEntry]()
    for name in filter(bases.covers, knowledge_bases(resources.settings)):
        entry = KnowledgeBaseEntry(name=name, building=building.get(name))
        try:
            # Read without opening it: to open every one would take seconds, and could close others in use.
            overview = read_overview(resources.settings, name)
            if overview is None:  # it has no stored counts, so it has to be opened
                with resources.snapshot(name) as reading:
                    overview = reading.kb.overview()
            update = overview._asdict()
        except BanyanError as error:  # one damaged knowledge base must not make the whole list fail
            update = {"problem": responses.detail_of(error, resources.settings).message}
        listed.append(entry.model_copy(update=update))
    return Items(items=listed)


@base_router.get("", dependencies=_READERS)
def show_knowledge_base(kb: KbName, reading: Reading, service: Serving) -> KnowledgeBaseStatus:
    """Show a knowledge base's contents, failures and spending."""
    status = status_of(reading.kb, service.resources.spending.prices)
    return KnowledgeBaseStatus(**dict(status), building=service.builds.building().get(kb))


@base_router.patch("", dependencies=_WRITERS)
def rename_knowledge_base(kb: KbName, name: NewName, service: Serving, bases: VisibleBases) -> dict[str, str]:
    """Rename a knowledge base and its conversations; API keys keep the old name."""
    if not bases.covers(name):
        raise responses.ForbiddenError(f"the key does not cover a knowledge base {name!r}: choose one that it does")
    _check_idle(kb, service)
    service.resources.rename(kb, name)
    service.conversations.rename_base(kb, name)
    return {"name": name}


@base_router.delete("", status_code=204, dependencies=_WRITERS)
def drop_knowledge_base(kb: KbName, service: Serving) -> None:
    """Delete a knowledge base and everything stored in it, including conversations about it."""
    _check_idle(kb, service)
    service.resources.drop(kb)
    service.conversations.forget_bases(lambda name: name == kb)


def _check_idle(kb: str, service: Service) -> None:
    """Raise StateError if a build of a knowledge base has not ended: it could create the base again by its name."""
    if kb in service.builds.building():
        raise StateError(f"a build of {kb!r} has not ended: wait until it has, or cancel it")


def _hold_backup() -> Iterator[None]:
    """Let one backup at a time be made and sent, as each is as large as its knowledge base; refuse others."""
    if not _BACKUP.acquire(blocking=False):
        raise responses.UnavailableError("another backup is being made: try again when it has finished")
    try:
        yield
    finally:
        _BACKUP.release()


@base_router.get("/backup", response_class=FileResponse, dependencies=[may("read"), Depends(_hold_backup)])
def back_up_knowledge_base(kb: KbName, service: Serving, folder: OwnFolder) -> FileResponse:
    """Download a zip file for `banyan restore`; a process of the server makes one backup at a time."""
    file, resources = folder / "backup.zip", service.resources
    back_up(Layout.by(resources.settings, kb).require(), file, resources.embedder)
    return FileResponse(file, media_type="application/zip", filename=f"{kb}.zip")


@base_router.get("/settings", dependencies=_READERS)
def show_settings(reading: Reading) -> ShownSettings:
    """Show the settings of a knowledge base."""
    kb = reading.kb
    return ShownSettings(growth=kb.schema_control.policy, resolve=kb.entities.active, embedding=kb.embedder.name,
                         seed=kb.schemas.get(1).name if kb.schemas.version() else "",
                         instructions=kb.instructions.get(), extraction_instructions=kb.extraction_instructions.get())


@base_router.put("/settings", dependencies=_WRITERS)
def change_settings(kb: KbName, wanted: BaseSettings, service: Serving) -> ShownSettings:
    """Change the settings of a knowledge base; entities are merged or split accordingly at once."""
    service.resources.configure(kb, wanted.growth, resolve=wanted.resolve)
    if wanted.instructions is not None:
        service.resources.instruct(kb, wanted.instructions)
    if wanted.extraction_instructions is not None:
        service.resources.instruct(kb, wanted.extraction_instructions, "extraction")
    with service.resources.snapshot(kb) as changed:
        return show_settings(changed)


@base_router.get("/documents", dependencies=_READERS)
def list_documents(
    reading: Reading, limit: Limit = 50, offset: Offset = 0,
    q: Annotated[str, Query(max_length=200, description="text in the id or title")] = "",
) -> Page[DocumentItem]:
    """List the documents of a knowledge base, by id."""
    text, documents = q.casefold(), reading.kb.documents
    matches = [one for one, title in documents.titles().items() if text in one.casefold() or text in title.casefold()]
    return Page(total=len(matches), items=[
        DocumentItem(**entry.model_dump(include=set(DocumentItem.model_fields)))
        for entry in documents.entries(matches[offset:offset + limit])])


@base_router.get("/document", dependencies=_READERS)
def show_document(reading: Reading, document_id: DocumentId, start: Annotated[int, Query(ge=0, le=2**31)] = 0,
                  end: Annotated[int | None, Query(ge=0, le=2**31)] = None) -> ShownDocument:
    """Return a document's text, or its characters `start` to `end`; at most a million at once."""
    document = reading.kb.documents.get(document_id)
    length = len(document.text)
    first = min(start, length)
    last = min(length if end is None else max(end, first), first + _MOST_TEXT, length)
    return ShownDocument(id=document.id, title=document.title, text=document.text[first:last], start=first, end=last,
                         characters=length, pages=list(document.pages),
                         drawn=reading.kb.printed.find(document_id) is not None)


@base_router.get("/document/page", response_class=Response, dependencies=_READERS)
async def show_page(
    request: Request, kb: KbName, service: Serving, document_id: DocumentId,
    page: Annotated[int, Query(ge=1, le=100_000)],
    words: Annotated[str, Query(max_length=2000, description="words to mark on the page")] = "",
) -> Response:
    """Draw a page of the PDF file that a document was read from, as PNG."""
    def find_printed() -> Path:
        with service.resources.snapshot(kb) as snapshot:
            file = snapshot.kb.printed.find(document_id)
            if file is None or not snapshot.kb.documents.has(document_id):  # a deleted document's file may remain
                raise NotFoundError(f"there is no PDF file of the document {document_id!r}: read its text instead")
            return file

    async def draw() -> bytes:
        return await draw_page(await in_thread(find_printed), page, words)

    try:
        return Response(await service.shares.run_heavy(request, draw), media_type="image/png")
    except UnreadableError as error:
        raise NotFoundError(str(error)) from error


@base_router.delete("/document", status_code=204, dependencies=_WRITERS)
def delete_document(kb: KbName, service: Serving, document_id: DocumentId) -> None:
    """Delete a document, and everything that no other document supports."""
    service.resources.delete_documents(kb, [document_id])


@base_router.post("/documents/delete", status_code=204, dependencies=_WRITERS)
def delete_documents(kb: KbName, ids: DocumentIds, service: Serving) -> None:
    """Delete documents and everything that no other document supports; all of them, or none on an error."""
    service.resources.delete_documents(kb, list(dict.fromkeys(ids)))
