"""Banyan behind AG-UI, for CopilotKit and its like: `python examples/agents/ag_ui_server.py`, then POST to port 8123.

A run's input is `{"threadId", "runId", "messages": [...]}`; its events come as server-sent events, as
https://docs.ag-ui.com describes them.
"""

import json
import uuid
from collections.abc import AsyncIterator
from typing import Any

import banyan
import uvicorn
from banyan.agents.retrieval.graph import graph
from banyan.schemas.errors import BanyanError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

KB = banyan.Settings().kb  # BANYAN_KB; empty: the only knowledge base


def event(kind: str, **fields: Any) -> str:
    """Return an event of AG-UI's as a server-sent event."""
    return f"data: {json.dumps({'type': kind, **fields}, ensure_ascii=False)}\n\n"


async def events(asked: dict[str, Any]) -> AsyncIterator[str]:
    """Yield the events of a run: each step that the agent takes, then the answer with its citations."""
    run = {"threadId": asked["threadId"], "runId": asked["runId"]}
    messages = [{"role": one["role"], "content": one["content"]} for one in asked["messages"]
                if one["role"] in {"user", "assistant"}]
    yield event("RUN_STARTED", **run)
    try:
        async for kind, step in graph.astream({"messages": messages}, context={"knowledge_base": KB},
                                              stream_mode=["custom", "values"]):
            if kind == "values":
                state = step
            else:
                yield event("STEP_STARTED", stepName=step["step"])
                yield event("STEP_FINISHED", stepName=step["step"])
    except BanyanError as error:
        yield event("RUN_ERROR", message=str(error))
        return
    message = uuid.uuid4().hex
    yield event("TEXT_MESSAGE_START", messageId=message, role="assistant")
    yield event("TEXT_MESSAGE_CONTENT", messageId=message, delta=state["answer"])
    yield event("TEXT_MESSAGE_END", messageId=message)
    yield event("STATE_SNAPSHOT", snapshot={"citations": state["citations"]})
    yield event("RUN_FINISHED", **run)


async def run(request: Request) -> StreamingResponse:
    """Answer a run's messages."""
    return StreamingResponse(events(await request.json()), media_type="text/event-stream")


app = Starlette(routes=[Route("/", run, methods=["POST"])])

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=8123)
