"""Permissions of clients: each route checks the scopes and the knowledge bases of the request's key."""

from typing import Annotated, Any, cast

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPBearer, SecurityScopes

from ...graph_store.store_errors import UnknownKnowledgeBaseError
from ..error_responses import ForbiddenError
from .keys import Bases

# The gate reads the key. These two only describe to clients, through the API's description, where to put it.
_bearer = HTTPBearer(auto_error=False, description="an API key")
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="an API key")


def check_permission(request: Request, wanted: SecurityScopes, _bearer: Annotated[Any, Depends(_bearer)],
                     _header: Annotated[Any, Depends(_header)]) -> str:
    """Return the client's name, after checking the key's scopes and the knowledge bases in the request's address.

    Routes themselves check what is not in the address (with `Seeing`): knowledge bases that the request's body names,
    those that a list would show, and those that builds or links belong to.

    Raises:
        ForbiddenError: the key lacks a scope.
        UnknownKnowledgeBaseError: the key does not cover a knowledge base.
    """
    missing = [scope for scope in wanted.scopes if scope not in request.state.scopes]
    if missing:
        raise ForbiddenError(f"the key lacks the scope {missing[0]!r}: ask for another key")
    for parameter in ("kb", "knowledge_base"):
        for name in (request.path_params.get(parameter), *request.query_params.getlist(parameter)):
            if name:  # an empty parameter names none
                check_base(name, request)
    return str(request.state.client)


def check_base(name: str, request: Request) -> None:
    """Check that a client's key covers a knowledge base, which need not exist.

    Raises:
        UnknownKnowledgeBaseError: it does not, which the message does not tell from a name that does not exist.
    """
    if not request.state.bases.covers(name):
        raise UnknownKnowledgeBaseError(name, request.app.state.service.resources.settings.home)


def may(*scopes: str) -> Any:
    """Return a route's dependency that requires all of these scopes."""
    return Security(check_permission, scopes=list(scopes))


def _seen_by(request: Request) -> Bases:
    return cast("Bases", request.state.bases)


Asking = Annotated[str, Security(check_permission, scopes=["ask"])]
"""The name of a client that may ask."""
Seeing = Annotated[Bases, Depends(_seen_by)]
"""The knowledge bases that a client may see."""


def _check_all_bases(bases: Seeing) -> None:
    if not bases.every:
        raise ForbiddenError("the key covers some knowledge bases only, and this concerns all: ask for another key")


OF_ALL = Depends(_check_all_bases)
"""The dependency of routes that concern all knowledge bases."""
