"""A span for each request, as a child of the sender's span (W3C Trace Context) if its headers name one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus

from opentelemetry.trace import SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.datastructures import Headers
from starlette.types import Scope

from ..runtime.telemetry import mark_failed, span
from .metrics import method_of, route_of

_PROPAGATOR = TraceContextTextMapPropagator()
_HEADERS = ("traceparent", "tracestate")


@contextmanager
def request_span(scope: Scope) -> Iterator[Callable[[int], None]]:
    """Open a span for a request, with the route's template but without path, query or the client's name.

    Args:
        scope: ASGI's scope.

    Yields:
        A function to call with the response's status when the response has ended, including streams.
    """
    headers = Headers(scope=scope)
    sender = _PROPAGATOR.extract({name: headers[name] for name in _HEADERS if name in headers})
    method = method_of(scope)
    with span(method, {"http.request.method": method}, SpanKind.SERVER, within=sender) as current:

        def finish(status: int) -> None:
            route = route_of(scope)
            current.update_name(f"{method} {route}".strip())
            current.set_attributes({"http.response.status_code": status, **({"http.route": route} if route else {}),
                                    "banyan.request": str(scope["state"]["request_id"])})
            if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                mark_failed(current, str(status))

        yield finish
