"""What a client may do, and of which knowledge bases: the scopes and names of its key, checked by each route."""

from collections.abc import Iterator
from typing import Annotated, Any, cast

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPBearer, SecurityScopes

from ...graph_store.errors import UnknownKnowledgeBaseError
from ...runtime.budgets import charge
from ..errors import ForbiddenError
from .bases import Bases

# The gate reads the key. These two tell clients, through the API's description, where to put it.
_bearer = HTTPBearer(auto_error=False, description="an API key")
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="an API key")


def permitted(request: Request, wanted: SecurityScopes, _bearer: Annotated[Any, Depends(_bearer)],
              _header: Annotated[Any, Depends(_header)]) -> str:
    """The client's name, if its key has the scopes, and is for the knowledge base that the address names.

    A name in a request's body, and what lists or ids lead to, is its route's to check (`Seeing`).

    Raises:
        ForbiddenError: the key lacks a scope.
        UnknownKnowledgeBaseError: it is not for the knowledge base, which is not looked for: whether it is there makes
            no difference.
    """
    missing = [scope for scope in wanted.scopes if scope not in request.state.scopes]
    if missing:
        raise ForbiddenError(f"the key lacks the scope {missing[0]!r}: ask for another key")
    for name in _named(request):
        check_base(name, request)
    return str(request.state.client)


def _named(request: Request) -> Iterator[str]:
    """The knowledge bases that the address names."""
    for parameter in ("kb", "knowledge_base"):
        if parameter in request.path_params:
            yield request.path_params[parameter]
        yield from filter(None, request.query_params.getlist(parameter))


def check_base(name: str, request: Request) -> None:
    """Check that a client may know of a knowledge base.

    Raises:
        UnknownKnowledgeBaseError: it may not; the same is said of one that is not there.
    """
    if not request.state.bases.hold(name):
        raise UnknownKnowledgeBaseError(name, request.app.state.service.resources.settings.home)


def may(*scopes: str) -> Any:
    """The dependency of routes that need scopes, all of them."""
    return Security(permitted, scopes=list(scopes))


def _seen_by(request: Request) -> Bases:
    return cast("Bases", request.state.bases)


Asking = Annotated[str, Security(permitted, scopes=["ask"])]
"""The name of a client that may ask."""
Seeing = Annotated[Bases, Depends(_seen_by)]
"""The knowledge bases that a client may know of."""


def _of_all(bases: Seeing) -> None:
    if not bases.every:
        raise ForbiddenError("the key is for some knowledge bases only, and this concerns all: ask for another key")


OF_ALL = Depends(_of_all)
"""The dependency of routes that concern all knowledge bases."""


def _affordable() -> None:
    charge().look()
    charge().check()


AFFORDABLE = Depends(_affordable)
"""The dependency of routes that may ask a model: the client's allowance, as all processes count it, is not spent."""
