"""Parameters and error responses that several routes share."""

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import AfterValidator

from ..text.times import read_day
from .responses import ErrorBody

# Checked again, more strictly, where it becomes a folder's name (graph_store/layout.py).
KbName = Annotated[str, Path(pattern=r"^[^\W_]([\w-]{0,62}[^\W_])?$", description="the knowledge base's name")]
BuildId = Annotated[str, Path(pattern=r"^[A-Za-z0-9.-]{1,64}$", description="the build's id")]
Limit = Annotated[int, Query(ge=1, le=500, description="the maximum number of items")]
Offset = Annotated[int, Query(ge=0, le=2**31, description="the number of items to skip")]
DocumentId = Annotated[str, Query(alias="id", min_length=1, max_length=1000, description="the document's id")]
NodeId = Annotated[str, Query(alias="id", min_length=1, max_length=100)]
TypeName = Annotated[str, Query(alias="type", max_length=200, description="only of this type")]


def _check_date(text: str) -> str:
    """Return a text that is empty or names a date.

    Raises:
        ValueError: it does neither.
    """
    if text:
        read_day(text)
    return text


At = Annotated[str, Query(max_length=50, description="only facts that hold at this date: a year, a month or a day"),
               AfterValidator(_check_date)]
_MEANING = {400: "the request cannot be read", 401: "no key, or an unknown one", 403: "the key lacks the scope",
            404: "there is nothing of that name", 409: "not possible in this state", 413: "too large",
            422: "a value is not allowed", 429: "too many requests", 503: "not ready, or too busy",
            504: "not answered in time"}
_ALWAYS = (400, 401, 403, 422, 429, 503)


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the description of a route's errors.

    Args:
        statuses: the statuses of the route, besides those of every route.
    """
    return {status: {"model": ErrorBody, "description": _MEANING[status]} for status in sorted({*_ALWAYS, *statuses})}
