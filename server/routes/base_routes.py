"""Health, metrics, knowledge bases and documents."""

import sys
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from ...graph_store.integrity.status import status_of
from ...graph_store.layout import knowledge_bases
from ...graph_store.ledger.overview import read_overview
from ...ingest.page_pictures import draw_page
from ...ingest.reading import UnreadableError
from ...schemas.errors import BanyanError
from ..error_responses import NotFoundError, UnavailableError, detail_of
from ..metrics import exposition
from ..parameters import DocumentId, KbName, Limit, Offset, errors
from ..responses import (
    DocumentItem,
    Health,
    Items,
    KnowledgeBaseEntry,
    KnowledgeBaseStatus,
    LocalCommand,
    Page,
    Ready,
    ShownDocument,
)
from ..security.access import OF_ALL, Seeing, may
from ..security.gate import LOCAL
from ..service import Reading, Service, Serving

router = APIRouter(prefix="/api", tags=["knowledge bases"])
metrics_router = APIRouter(tags=["operations"])
_MOST_TEXT = 1_000_000


@router.get("/health")
async def health() -> Health:
    """Check that the process is alive."""
    return Health()


@router.get("/ready", responses=errors(503))
async def show_ready(service: Serving) -> Ready:
    """Check that the server can answer questions."""
    if not service.ready:
        raise UnavailableError("the embedding model is being loaded; try again in a few seconds")
    settings = service.resources.settings
    return Ready(reasoner="llm" if settings.uses_llm else "rules", embedding=service.resources.embedder.name)


@metrics_router.get("/metrics", responses=errors(), response_class=Response, dependencies=[may("metrics"), OF_ALL])
def metrics(service: Serving) -> Response:
    """Return metrics of requests, questions, builds and model calls in Prometheus's text format."""
    return Response(exposition(service.builds.all()), media_type=CONTENT_TYPE_LATEST)


@router.get("/command", responses=errors(), dependencies=[may("read")])
def show_command(request: Request, service: Serving) -> LocalCommand:
    """Show how a program on this machine starts Banyan; a client with a key may be elsewhere, and learns no path."""
    if request.state.client != LOCAL:
        return LocalCommand(command="", home="")
    return LocalCommand(command=str(Path(sys.executable).with_name("banyan")),
                        home=str(service.resources.settings.home.absolute()))


@router.get("/knowledge-bases", responses=errors(), dependencies=[may("read")])
def list_knowledge_bases(service: Serving, bases: Seeing) -> Items[KnowledgeBaseEntry]:
    """List the knowledge bases that the key covers, with their counts."""
    building = service.builds.building()
    return Items(items=[_entry(name, building.get(name), service)
                        for name in knowledge_bases(service.resources.settings) if bases.hold(name)])


def _entry(name: str, building: str | None, service: Service) -> KnowledgeBaseEntry:
    resources = service.resources
    try:
        # Opening each would take seconds, and close those that others ask.
        noted = read_overview(resources.settings, name)
        if noted is None:
            with resources.snapshot(name) as reading:
                noted = reading.kb.overview()
        return KnowledgeBaseEntry(name=name, **noted._asdict(), building=building)
    except BanyanError as error:
        # One damaged knowledge base must not hide the others.
        problem = detail_of(error, resources.settings).message
        return KnowledgeBaseEntry(name=name, documents=0, chunks=0, entities=0, triples=0, communities=0,
                                  schema_version=0, building=building, problem=problem)


@router.get("/knowledge-bases/{kb}", responses=errors(404, 409), dependencies=[may("read")])
def show_knowledge_base(kb: KbName, reading: Reading, service: Serving) -> KnowledgeBaseStatus:
    """Show a knowledge base's contents, failures and spending."""
    status = status_of(reading.kb, service.resources.spending.prices)
    return KnowledgeBaseStatus(**dict(status), building=service.builds.building().get(kb))


@router.get("/knowledge-bases/{kb}/documents", responses=errors(404), dependencies=[may("read")])
def list_documents(
    reading: Reading, limit: Limit = 50, offset: Offset = 0,
    q: Annotated[str, Query(max_length=200, description="text in the id or title")] = "",
) -> Page[DocumentItem]:
    """List the documents of a knowledge base, by id."""
    wanted = q.casefold()
    matches = [entry for entry in reading.kb.documents.entries()
               if wanted in entry.id.casefold() or wanted in entry.title.casefold()]
    return Page(total=len(matches), items=[
        DocumentItem(**entry.model_dump(include=set(DocumentItem.model_fields)))
        for entry in matches[offset:offset + limit]])


@router.get("/knowledge-bases/{kb}/document", responses=errors(404), dependencies=[may("read")])
def show_document(
    reading: Reading, document_id: DocumentId,
    start: Annotated[int, Query(ge=0, le=2**31)] = 0, end: Annotated[int | None, Query(ge=0, le=2**31)] = None,
) -> ShownDocument:
    """Return a document's text, or its characters `start` to `end`; at most a million at once."""
    document = reading.kb.documents.get(document_id)
    first = min(start, len(document.text))
    last = min(len(document.text) if end is None else max(end, first), first + _MOST_TEXT, len(document.text))
    return ShownDocument(id=document.id, title=document.title, text=document.text[first:last], start=first, end=last,
                         characters=len(document.text), pages=list(document.pages),
                         drawn=reading.kb.printed.find(document_id) is not None)


@router.get("/knowledge-bases/{kb}/document/page", responses=errors(404), response_class=Response,
            dependencies=[may("read")])
def show_page(reading: Reading, document_id: DocumentId,
              page: Annotated[int, Query(ge=1, le=100_000)],
              words: Annotated[str, Query(max_length=2000, description="words to mark on the page")] = "") -> Response:
    """Draw a page of the PDF file that a document was read from, as PNG."""
    file = reading.kb.printed.find(document_id)
    if file is None or not reading.kb.documents.has(document_id):
        raise NotFoundError(f"there is no PDF file of the document {document_id!r}")
    try:
        return Response(draw_page(file, page, words), media_type="image/png")
    except UnreadableError as error:
        raise NotFoundError(str(error)) from error


@router.delete("/knowledge-bases/{kb}/document", status_code=204, responses=errors(404, 409), response_class=Response,
               dependencies=[may("write")])
def delete_document(kb: KbName, service: Serving, document_id: DocumentId) -> None:
    """Delete a document, and everything that no other document supports."""
    service.resources.delete_documents(kb, [document_id])
