"""What the documents are about, tables and SQL over them, and exports of the graph."""

from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse
from pydantic import Field

from ...agents.introduced_names import suggest_questions
from ...agents.introduction import Introduction, introduce
from ...api.python_results import MOST_ROWS, SQL_SECONDS
from ...export.export_formats import FORMATS, ExportFormat
from ...runtime.threads import check_cancelled, in_thread
from ...schemas.documents import DocumentNames, MetadataValues, Scope
from ...schemas.lookups import LONGEST_SQL
from ...schemas.records import SqlResult, TableInfo
from ...tools.reports import DocumentSummary, summarise_documents
from ..responses import Body, Items, KbName, KbNames, Limit, Offset, Page
from ..runs.turns import FairRoute
from ..security.clients import may
from ..service import OwnFolder, Reading, Serving
from .graph_routes import Cited, View, evidence

router = APIRouter(prefix="/api/knowledge-bases/{kb}", dependencies=[may("read")], route_class=FairRoute)
_MOST_ROWS = 10_000
_Documents = Annotated[list[Annotated[str, Query(max_length=1000)]], Query(
    max_length=100, description="only rows of these documents: ids, titles, paths or patterns; none: all")]


class SqlQuery(Body):
    """A SELECT, and the documents whose rows it reads."""

    sql: str = Field(min_length=1, max_length=LONGEST_SQL, description="one SELECT in DuckDB's SQL over the tables "
                     "that `tables` lists")
    documents: DocumentNames = Field(default=[])
    where: MetadataValues = Field(default={})
    limit: int = Field(default=MOST_ROWS, ge=1, le=_MOST_ROWS, description="the most rows to return; `total` counts "
                       "all")
    citations: int = Field(default=10, ge=0, le=MOST_ROWS, description="the most records to cite; of a list of rows, "
                           "each row is a record, in the same order")


@router.get("/introduction", tags=["knowledge bases"])
async def show_introduction(request: Request, kb: KbName, service: Serving) -> Introduction:
    """Say what the documents are about, what was not read, and some questions about it."""
    return await service.shares.run_heavy(request, lambda: in_thread(introduce, service.resources, kb))


@router.get("/summaries", tags=["knowledge bases"])
def list_summaries(reading: Reading, limit: Limit = 50, offset: Offset = 0) -> Page[DocumentSummary]:
    """Return of each document the sentence that says best what it is about, with its place."""
    documents = reading.kb.documents
    shown = documents.ids(offset, limit)
    items = summarise_documents(documents, shown) if shown else []  # no ids would mean all documents
    return Page(total=documents.count_documents(), items=items)


@router.post("/questions/next", tags=["questions"])
def next_questions(view: View, cited: Cited) -> Items[str]:
    """Suggest questions about the entities in the cited text."""
    index = view.index
    return Items(items=suggest_questions(index, [index.row(node.id) for node in evidence(view, cited).nodes]))


@router.get("/tables", tags=["tables"])
def list_tables(kb: KbNames, service: Serving, documents: _Documents = []) -> Items[TableInfo]:  # noqa: B006  (FastAPI copies it)
    """List the tables: those of the documents' records, `documents`, then those of the graph."""
    with service.resources.tables_of(kb, Scope.of(documents)) as engine:
        return Items(items=list(engine.tables()))


@router.post("/sql", tags=["tables"])
async def run_sql(request: Request, kb: KbNames, query: SqlQuery, service: Serving,
                  client: Annotated[str, may("read")]) -> SqlResult:
    """Run a SELECT over the tables; the result says on how many records it rests, and cites the first of them."""
    def run() -> SqlResult:
        with service.resources.tables_of(kb, Scope.of(query.documents, query.where)) as engine:
            return engine.run(query.sql, most_rows=query.limit, seconds=SQL_SECONDS, most_cited=query.citations)

    # A query takes as long as a question may, so it waits for a slot as questions do.
    async with service.questions.turn(client, request):
        return await anyio.to_thread.run_sync(run)


@router.get("/export", tags=["graph"], response_class=FileResponse)
async def export(request: Request, kb: KbName, service: Serving, folder: OwnFolder,
                 form: Annotated[ExportFormat, Query(alias="format")]) -> FileResponse:
    """Export the graph with its tree as a file."""
    file = folder / f"{kb}.{FORMATS[form].suffix}"

    def write() -> None:
        with service.resources.snapshot(kb) as snapshot, file.open("wb") as stream:
            for piece in FORMATS[form].write(snapshot.kb.tree_graph(), snapshot.index.sql):
                check_cancelled()
                stream.write(piece)

    # It is written as a whole before it is sent, so a client that reads slowly holds no graph in memory.
    await service.shares.run_heavy(request, lambda: in_thread(write))
    return FileResponse(file, media_type=FORMATS[form].media_type, filename=file.name)
