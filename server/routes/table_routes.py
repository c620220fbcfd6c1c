"""Tables and SQL over them."""

from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Query, Request
from pydantic import Field

from ...api.python_results import MOST_ROWS, SQL_SECONDS
from ...schemas.documents import DocumentNames, MetadataValues, Scope
from ...schemas.lookups import LONGEST_SQL
from ...schemas.records import SqlResult, TableInfo
from ..responses import Body, Items, KbNames, errors
from ..runs.turns import FairRoute
from ..security.clients import may
from ..service import Service, Serving

router = APIRouter(prefix="/api/knowledge-bases/{kb}", tags=["tables"], route_class=FairRoute)
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


@router.get("/tables", responses=errors(404), dependencies=[may("read")])
def list_tables(kb: KbNames, service: Serving, documents: _Documents = []) -> Items[TableInfo]:  # noqa: B006  (FastAPI copies it)
    """List the tables: those of the documents' records, `documents`, then those of the graph."""
    with service.resources.tables_of(kb, Scope.of(documents)) as engine:
        return Items(items=list(engine.tables()))


@router.post("/sql", responses=errors(404, 504))
async def run_sql(request: Request, kb: KbNames, query: SqlQuery, service: Serving,
                  client: Annotated[str, may("read")]) -> SqlResult:
    """Run a SELECT over the tables; the result says on how many records it rests, and cites the first of them."""
    # A query takes as long as a question may, so it waits for a slot as questions do.
    async with service.questions.turn(client, request):
        return await anyio.to_thread.run_sync(_run, service, kb, query)


def _run(service: Service, kb: str, query: SqlQuery) -> SqlResult:
    with service.resources.tables_of(kb, Scope.of(query.documents, query.where)) as engine:
        return engine.run(query.sql, most_rows=query.limit, seconds=SQL_SECONDS, most_cited=query.citations)
