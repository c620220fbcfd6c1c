"""OpenTelemetry spans, through the API only: they go where the user's SDK sends them, and nowhere by default.

No span contains a question, a text, an answer, an error's text or a key. A span is the current one of its thread or
task, so calls in threads and event loops that inherit the context become its children.
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
    """Open a span `within` a context or the current span; record the type of an exception that is not `expected`."""
    with trace.get_tracer("banyan").start_as_current_span(
            name, within, kind, dict(attributes), record_exception=False, set_status_on_exception=False) as current:
        try:
            yield current
        except expected:
            raise
        except BaseException as error:
            # The exception's text may quote a document, so only its type is recorded.
            mark_failed(current, type(error).__name__)
            raise


def mark_failed(current: Span, error: str) -> None:
    """Mark a span as failed, with the kind of error."""
    current.set_attribute("error.type", error)
    current.set_status(StatusCode.ERROR)
