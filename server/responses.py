"""What the routes of the REST API share: parameters, lists, streams and errors."""

import json
import logging
import sqlite3
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException

from ..config import Settings
from ..graph_store import store_errors
from ..graph_store.store_errors import DatabaseError
from ..models.local_models import ModelError
from ..models.reasoner import ReasonerError
from ..schemas.delta import Decision
from ..schemas.errors import BanyanError
from ..text.times import read_day
from .security.keys import KeysError
from .server_database import message_for_log

_LOG = logging.getLogger("banyan.server")
_T = TypeVar("_T")
_SEND_TIMEOUT = 60.0  # seconds after which a client that reads nothing is disconnected
_FILE_PROBLEM = "the server could not read or write a file; see its log"


class Body(BaseModel):
    """The body of a request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Items(BaseModel, Generic[_T]):
    """A complete list."""

    items: list[_T]


class Page(Items[_T], Generic[_T]):
    """A part of the `total` matching items."""

    total: int


class ErrorDetail(BaseModel):
    """The kind of error and its message, in which a lone surrogate, which UTF-8 cannot encode, becomes "?"."""

    type: str
    message: Annotated[str, BeforeValidator(lambda text: text.encode(errors="replace").decode())]
    request_id: str = ""


class ErrorBody(BaseModel):
    """The body of every response with a status of 400 or more."""

    error: ErrorDetail


class Decisions(Body):
    """A person's decisions."""

    decisions: list[Decision] = Field(max_length=1000, description="empty: all candidates stay pending")
    who: str = Field(min_length=1, max_length=100)


def _check_date(text: str) -> str:
    if text:
        read_day(text)  # raises DateError, which answers the request with 422
    return text


# Checked again, more strictly, where it becomes a folder's name (graph_store/layout.py).
KbName = Annotated[str, Path(pattern=r"^[^\W_]([\w-]{0,62}[^\W_])?$", description="the knowledge base's name")]
KbNames = Annotated[str, Path(pattern=r"^[^\W_][\w,-]*$", max_length=400, description="the knowledge base's name, or "
                              "several with commas between, which are read as one")]
BuildId = Annotated[str, Path(pattern=r"^[A-Za-z0-9.-]{1,64}$", description="the build's id")]
Limit = Annotated[int, Query(ge=1, le=500, description="the maximum number of items")]
Offset = Annotated[int, Query(ge=0, le=2**31, description="the number of items to skip")]
DocumentId = Annotated[str, Query(alias="id", min_length=1, max_length=1000, description="the document's id")]
NodeId = Annotated[str, Query(alias="id", min_length=1, max_length=100)]
TypeName = Annotated[str, Query(alias="type", max_length=200, description="only of this type")]
At = Annotated[str, Query(max_length=50, description="only facts that hold at this date: a year, a month or a day"),
               AfterValidator(_check_date)]
ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorBody, "description": "the request is refused"},
    "5XX": {"model": ErrorBody, "description": "the server is not ready, too busy, or has failed"}}
"""The errors of all routes, for the API's description."""


def event(name: str, data: Any) -> ServerSentEvent:
    """Return a server-sent event whose data is a value as JSON."""
    return ServerSentEvent(json.dumps(data, ensure_ascii=False), event=name)


def event_stream(events: AsyncIterator[ServerSentEvent]) -> EventSourceResponse:
    """Return a response that sends events as they occur, and closes the iterator when client or server end."""
    return EventSourceResponse(events, send_timeout=_SEND_TIMEOUT)


class RefusedError(BanyanError):
    """A refused request; `status` is its HTTP status, `headers` are sent with it."""

    status = 400
    headers: dict[str, str] = {}  # noqa: RUF012  (overridden as a whole, never changed)

    def __init_subclass__(cls, status: int | None = None) -> None:
        """Set the HTTP status of a class that names one; others have that of their base class."""
        if status is not None:
            cls.status = status


class UnauthorizedError(RefusedError, status=401):
    """The key is missing or unknown."""

    headers = {"WWW-Authenticate": "Bearer"}  # noqa: RUF012


class ForbiddenError(RefusedError, status=403):
    """The key lacks the scope, or the request comes from a page of another origin."""


class NotFoundError(RefusedError, status=404):
    """There is nothing with that name."""


class StateError(RefusedError, status=409):
    """The state does not allow the request."""


class TooLargeError(RefusedError, status=413):
    """The request exceeds a limit of the settings."""


class TooManyRequestsError(RefusedError, status=429):
    """The client has sent too many requests; `seconds` says when to try again."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.headers = {"Retry-After": str(seconds)}


class UnavailableError(RefusedError, status=503):
    """The server is not ready, or too busy."""

    headers = {"Retry-After": "5"}  # noqa: RUF012


class DeadlineError(RefusedError, status=504):
    """The request took longer than allowed."""


_STATUS: dict[type[BaseException], int] = {
    store_errors.UnknownKnowledgeBaseError: 404, store_errors.UnknownDocumentError: 404, store_errors.StoreError: 409,
    store_errors.KnowledgeBaseNameError: 422, store_errors.VectorServerError: 503, DatabaseError: 503, BanyanError: 422,
    KeysError: 503, ReasonerError: 503, ModelError: 503, sqlite3.OperationalError: 503, OSError: 503}
_TYPES = {404: "NotFoundError", 405: "MethodNotAllowedError", 413: "TooLargeError"}  # of errors that Starlette raises


def status_of(error: BaseException) -> int:
    """Return the HTTP status of an error: that of its class or nearest base class in `_STATUS`, otherwise 500."""
    if isinstance(error, RefusedError):
        return error.status
    return next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)


def detail_of(error: BaseException, settings: Settings, request_id: str = "") -> ErrorDetail:
    """Describe an error to a client, without paths of the server; of a defect, tell the request's id alone."""
    if status_of(error) == 500:  # noqa: PLR2004
        return ErrorDetail(type="InternalError", request_id=request_id,
                           message="an internal error; search the server's log for this request_id")
    message = str(error) if isinstance(error, BanyanError) else _FILE_PROBLEM
    for home in (settings.home.resolve(), settings.home):  # a message may have either form
        message = message.replace(str(home), "BANYAN_HOME")
    return ErrorDetail(type=type(error).__name__, message=message, request_id=request_id)


def error_response(status: int, detail: ErrorDetail, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return the response with this status that tells a client about an error."""
    return JSONResponse(ErrorBody(error=detail).model_dump(), status, headers)


def log_and_describe(error: Exception, request: Request) -> ErrorDetail:
    """Log an error that ended a request, unless the client caused it, and return its description for the client."""
    if not isinstance(error, BanyanError):
        _LOG.error("request %s failed", request.state.request_id, exc_info=error)
    elif isinstance(error, ReasonerError | DatabaseError):
        _LOG.warning("request %s failed: %s", request.state.request_id, message_for_log(error))
    return detail_of(error, request.app.state.service.resources.settings, request.state.request_id)


def _answer_error(request: Request, error: Exception) -> JSONResponse:
    headers = error.headers if isinstance(error, RefusedError | HTTPException) else None
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        status, kind = 422, "ValidationError"
        message = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:1000]
    elif isinstance(error, HTTPException):
        status, kind, message = error.status_code, _TYPES.get(error.status_code, "RequestError"), str(error.detail)
    else:
        return error_response(status_of(error), log_and_describe(error, request), headers)
    return error_response(status, ErrorDetail(type=kind, message=message, request_id=request.state.request_id), headers)


ERROR_HANDLERS: dict[Any, Any] = dict.fromkeys(
    (BanyanError, sqlite3.OperationalError, OSError, RequestValidationError, HTTPException, Exception), _answer_error)
