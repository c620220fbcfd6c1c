"""OpenTelemetry spans, by its API alone: they go where the user's SDK sends them, and nowhere by default.

No span holds a question, a text, an answer, an error's text or a key. A span is the current one of its thread or task,
so what is called from there, in threads and on event loops that are handed the context, is below it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.util.types import AttributeValue


@contextmanager
def span(name: str, attributes: Mapping[str, AttributeValue], kind: SpanKind = SpanKind.INTERNAL, *,
         within: Context | None = None, expected: tuple[type[BaseException], ...] = ()) -> Iterator[Span]:
    """A span around a block; of an exception that ends it the type is told.

    Args:
        name: of few values.
        attributes: what is known when it begins.
        kind: client: a call to another process; server: a request of one; internal: all else.
        within: the span that it is below; none: the current one.
        expected: exceptions that are no failures.
    """
    with trace.get_tracer("banyan").start_as_current_span(
            name, within, kind, dict(attributes), record_exception=False, set_status_on_exception=False) as current:
        try:
            yield current
        except expected:
            raise
        except BaseException as error:
            # Its text may quote what an endpoint repeated of a document.
            failed(current, type(error).__name__)
            raise


def failed(current: Span, error: str) -> None:
    """Mark what a span is of as failed, by the kind of error."""
    current.set_attribute("error.type", error)
    current.set_status(StatusCode.ERROR)
