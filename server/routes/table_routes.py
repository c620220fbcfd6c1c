"""Tables of a relation or an attribute, computed over all rows, and what tables can be made of."""

from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Query

from ...schemas.lookups import EXTREMES, LONGEST, Calculation, TripleLookup
from ...tools.table_results import ComputedTable, fields, tabulate
from ..parameters import At, errors
from ..responses import Items, TableField
from ..security.access import may
from ..service import Serving
from .graph_routes import Seen

router = APIRouter(prefix="/api/knowledge-bases/{kb}", tags=["graph"], dependencies=[may("read")])
_MOST_ROWS = 1000
_SHOWN = 100
_MOST_PARTS = 20

_Part = Annotated[str, Query(max_length=LONGEST)]


@router.get("/table", responses=errors(404, 504))
async def compute_table(  # noqa: PLR0913  (its parameters)
    *, seen: Seen, service: Serving, client: Annotated[str, may("read")],
    relation: Annotated[str, Query(min_length=1, max_length=LONGEST, description="the relation or attribute, as "
                                                                                 "`fields` lists them")],
    head: Annotated[_Part, Query(description="only rows whose subject has this name or a part of one; A|B: either",
                                 )] = "",
    tail: Annotated[_Part, Query(description="only rows whose object or value is this or has it as a part; with a "
                                             "sign: !=A, >=2020, 5..10")] = "",
    where: Annotated[list[_Part], Query(max_length=_MOST_PARTS, description="conditions on fields of the subject, or "
                                        "of the object as tail.FIELD: status=Final, created>=2020, owner= (has none)",
                                        )] = [],  # noqa: B006  (FastAPI copies it)
    by: Annotated[_Part, Query(description="group by head, tail, a field, or year, month or decade of the value or of "
                                           "a field, as FIELD.year")] = "",
    do: Annotated[Calculation, Query(description="what to compute of all rows, or of each group")] = "list",
    show: Annotated[list[_Part], Query(max_length=_MOST_PARTS, description="fields of the subject to add to each row",
                                       )] = [],  # noqa: B006
    at: At = "",
    document: Annotated[_Part, Query(description="only rows of documents with this part in their id or title")] = "",
    limit: Annotated[int | None, Query(
        ge=1, le=_MOST_ROWS, description=f"the maximum number of rows or groups, {_SHOWN} if left out; what is "
                                         "computed counts all. Of smallest, largest, first and last: how many values, "
                                         "1 if left out")] = None,
) -> ComputedTable:
    """Compute a table: the rows of a relation or attribute, filtered, counted and grouped, each with its source."""
    lookup = TripleLookup(
        relation=relation, head=head, tail=tail, where=tuple(where), by=by, do=do, show=tuple(show), at=at,
        document=document, limit=limit or (0 if do in EXTREMES and not by else _SHOWN))
    # A large one takes as long as a question, so it waits for its turn like one.
    async with service.questions.turn(client):
        return await anyio.to_thread.run_sync(lambda: tabulate(seen.view.index, seen.kb.schemas.current(), lookup))


@router.get("/fields", responses=errors(404))
def list_fields(seen: Seen) -> Items[TableField]:
    """List the relations, then the attributes, the most rows first."""
    return Items(items=[TableField(**field._asdict()) for field in fields(seen.view.index)])
