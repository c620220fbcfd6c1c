"""Assistants of LangGraph's server, one for each knowledge base, for Studio and other front ends to offer."""

import asyncio
from contextlib import suppress
from uuid import UUID, uuid5

from langgraph_sdk import get_client
from langgraph_sdk.errors import NotFoundError
from starlette.types import ASGIApp, Receive, Scope, Send

from ..config import Settings
from ..graph_store.layout import knowledge_bases

LISTINGS = ("/assistants/search", "/assistants/count")
_NAMESPACE = UUID("b7b3f1a5-0e9c-4c0b-9f0e-6d1c2f3a4b5c")
_MARK = {"created_by": "banyan"}
_MOST = 1000


class OfferedAssistants:
    """Brings the assistants up to the knowledge bases that exist, before a client lists assistants."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self._alone = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "http" and scope["path"] in LISTINGS and not scope.get("root_path"):
            async with self._alone:
                await self._update()
        await self._app(scope, receive, send)

    async def _update(self) -> None:
        names = set(await asyncio.to_thread(knowledge_bases, self._settings))
        # A client within this process: it needs no key.
        async with get_client() as client:
            offered = {(assistant["metadata"] or {}).get("knowledge_base"): assistant["assistant_id"]
                       for assistant in await client.assistants.search(metadata=_MARK, limit=_MOST)}
            for name in sorted(names - offered.keys()):
                await client.assistants.create(
                    "retrieval", context={"knowledge_base": name}, metadata={**_MARK, "knowledge_base": name},
                    assistant_id=str(uuid5(_NAMESPACE, name)), name=name, if_exists="do_nothing",
                    description=f"Answers questions from the documents of the knowledge base {name!r}, with citations "
                                "that were checked, or says that the documents do not answer.")
            for gone in offered.keys() - names:
                with suppress(NotFoundError):  # another process may do the same
                    await client.assistants.delete(offered[gone])
