"""A Banyan on another server, behind LangGraph's server: as a node, a tool or a subagent."""

import asyncio
from collections.abc import Mapping
from typing import Any, Self, cast

import httpx
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool
from langgraph.pregel.remote import RemoteException, RemoteGraph
from langgraph_sdk import get_client, get_sync_client

from ..agents.retrieval.state import AskContext, AskInput, AskOutput
from ..graph_store.layout import check_names
from ..schemas.errors import BanyanError
from ..schemas.retrieval import Mode
from .tool import Asker, Subagent, subagent_of, tool_of

_TIMEOUT = 300.0


class RemoteError(BanyanError):
    """A remote Banyan cannot be reached, or reports that it cannot answer."""


class Remote(Asker):
    """The retrieval graph of a server (`langgraph dev`, or a deployment), open within a `with` or `async with` block.

    Use its tools and graphs only within the block, which closes its connections at the end. In an `async with` block,
    await the tool, the subagent and the graph. In a `with` block, invoke them, or await them through a thread.
    Never call the server from within itself.
    """

    def __init__(self, url: str, kb: str, *, mode: Mode = "reject", context: AskContext | None = None,
                 graph: str = "retrieval", api_key: str | None = None, headers: Mapping[str, str] | None = None,
                 timeout: float = _TIMEOUT) -> None:
        """Set the address; nothing is sent yet.

        Args:
            url: the server, such as "http://127.0.0.1:2024".
            kb: the knowledge base to ask, on that server.
            mode: what an answer may rest on; see `AskContext`.
            context: every option of a question, instead of `mode`.
            graph: the graph's name on the server.
            api_key: the server's key; None does not look for one in the environment.
            headers: headers to send with each request.
            timeout: seconds to wait for a sign of life from the server.
        """
        self.url = url
        self.knowledge_base = check_names(kb)
        default, values = AskContext(), vars(context or AskContext(mode=mode))
        self._context = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
                         if value != getattr(default, name)}
        self._name = graph
        self._connect: dict[str, Any] = {"url": url, "api_key": api_key, "headers": headers, "timeout": timeout}
        self._graph: RemoteGraph | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def graph(self) -> RemoteGraph:
        """The graph as a node of another one: takes `question` or `messages`, and `knowledge_base`."""
        if self._graph is None:
            raise RemoteError(f"the connection to {self.url} is not open: use it in a `with` or `async with` block")
        return self._graph

    def as_tool(self, *, name: str = "", about: str = "") -> BaseTool:
        """Return a tool, like `banyan.as_tool`."""
        return tool_of(self, name=name, about=about)

    def as_subagent(self, *, name: str = "", about: str = "") -> Subagent:
        """Return a subagent, like `banyan.as_subagent`."""
        return subagent_of(self, name=name, about=about)

    async def aask(self, given: AskInput) -> AskOutput:
        """Answer a question or conversation; raise RemoteError if the server cannot be reached or gives no answer."""
        messages = [{"role": "user" if isinstance(message, HumanMessage) else "assistant", "content": message.text}
                    for message in given.get("messages", [])]
        asked = {**given, "knowledge_base": self.knowledge_base, **({"messages": messages} if messages else {})}
        try:
            if self.graph.client is None:  # opened with `with`, so there is no asynchronous client
                return self._answer_of(await asyncio.to_thread(self.graph.invoke, asked, context=self._context))
            if asyncio.get_running_loop() is not self._loop:  # which alone can use the client's connections
                raise RemoteError("the connection was opened with `async with`: await the answer, or open it with "
                                  "`with`")
            return self._answer_of(await self.graph.ainvoke(asked, context=self._context))
        except RemoteException as error:
            detail = error.args[0]
            message = detail.get("message", detail) if isinstance(detail, dict) else detail
            raise RemoteError(str(message)) from error
        except httpx.HTTPError as error:
            raise RemoteError(f"{self.url} cannot be asked ({type(error).__name__}: {error}); is a LangGraph server "
                              "running there, and is the key right?") from error

    def _answer_of(self, state: dict[str, Any] | None) -> AskOutput:
        if not state or "answer" not in state:
            raise RemoteError(f"{self.url} gave no answer; see the log of that server")
        return cast("AskOutput", {key: state[key] for key in AskOutput.__annotations__ if key in state})

    def __enter__(self) -> Self:
        self._graph = RemoteGraph(self._name, sync_client=get_sync_client(**self._connect))
        return self

    def __exit__(self, *_: object) -> None:
        graph, self._graph = self.graph, None
        if graph.sync_client is not None:
            graph.sync_client.close()

    async def __aenter__(self) -> Self:
        self._graph = RemoteGraph(self._name, client=get_client(**self._connect))
        self._loop = asyncio.get_running_loop()
        return self

    async def __aexit__(self, *_: object) -> None:
        graph, self._graph = self.graph, None
        if graph.client is not None:
            await graph.client.aclose()
