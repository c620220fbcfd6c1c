"""What a client may do: the scopes of its key, checked by each route."""

from typing import Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPBearer, SecurityScopes

from ..errors import ForbiddenError

# The gate reads the key. These two tell clients, through the API's description, where to put it.
_bearer = HTTPBearer(auto_error=False, description="an API key")
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="an API key")


def permitted(request: Request, wanted: SecurityScopes, _bearer: Annotated[Any, Depends(_bearer)],
              _header: Annotated[Any, Depends(_header)]) -> str:
    """The client's name, if its key has the scopes.

    Raises:
        ForbiddenError: it has not.
    """
    missing = [scope for scope in wanted.scopes if scope not in request.state.scopes]
    if missing:
        raise ForbiddenError(f"the key lacks the scope {missing[0]!r}: ask for another key")
    return str(request.state.client)


def may(*scopes: str) -> Any:
    """The dependency of routes that need scopes, all of them."""
    return Security(permitted, scopes=list(scopes))


Asking = Annotated[str, Security(permitted, scopes=["ask"])]
"""The name of a client that may ask."""
