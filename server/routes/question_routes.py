"""Questions, answered in one response or as a stream of events."""

from collections.abc import AsyncIterator

import anyio
from fastapi import APIRouter, Request
from sse_starlette import EventSourceResponse, ServerSentEvent

from ..error_responses import UnavailableError, error_told
from ..parameters import KbName, errors
from ..responses import AskAnswer
from ..runs.questions import GONE, Question
from ..security.access import AFFORDABLE, Asking
from ..service import Service, Serving
from ..streaming import event, event_stream, stopping_with

router = APIRouter(prefix="/api", tags=["questions"])


@router.post("/knowledge-bases/{kb}/ask", responses=errors(404, 409, 413, 504), response_model_exclude_unset=True,
             dependencies=[AFFORDABLE])
async def ask(kb: KbName, question: Question, request: Request, service: Serving, client: Asking) -> AskAnswer:
    """Answer a question from a knowledge base, with citations, or abstain."""
    async with service.questions.answering(client, kb, question) as events:
        async for item in events:
            if item.event == "answer":
                return AskAnswer(**item.data)
            if await request.is_disconnected():
                break
    raise UnavailableError(GONE)


@router.post("/knowledge-bases/{kb}/ask/stream", responses=errors(404, 409, 413, 504),
             response_class=EventSourceResponse, dependencies=[AFFORDABLE])
async def ask_stream(kb: KbName, question: Question, request: Request, service: Serving, client: Asking,
                     ) -> EventSourceResponse:
    """Stream an answer as events: `step`, `claim`, `token`, `withdrawn`, then `answer`; or `error`.

    A `claim` is a line of the answer whose citations were checked, while the model still writes; `token`s are the
    pieces of the checked answer. `withdrawn` takes back all claims and tokens before it.
    """
    stopping = anyio.Event()
    return event_stream(_events(kb, question, request, service, client, stopping), stopping)


async def _events(kb: str, question: Question, request: Request, service: Service, client: str,
                  stopping: anyio.Event) -> AsyncIterator[ServerSentEvent]:
    failure: Exception = UnavailableError(GONE)
    try:
        async with (service.questions.answering(client, kb, question) as events,
                    stopping_with(stopping, events.stop)):
            async for item in events:
                yield event(item.event, item.data)
                if item.event == "answer":
                    return
    except Exception as error:  # noqa: BLE001  (the response has started: its error is an event)
        failure = error
    yield event("error", error_told(failure, request).model_dump())
