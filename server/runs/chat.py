"""The LangServe chat: it takes a conversation and streams an answer, after its citations were checked, in pieces.

A thin facade over the same answering as REST's (`questions.py`). The conversation consists of the client's messages
or, with a thread, of the turns stored on the server.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from langchain_core.callbacks.manager import adispatch_custom_event
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    HumanMessage,
    SystemMessage,
    convert_to_messages,
)
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langserve import CustomUserType
from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from ...agents.retrieval.state import QuestionError
from ...graph_store.store_errors import UnknownKnowledgeBaseError
from ...schemas.retrieval import Mode
from ..security.keys import NONE
from .questions import WITHDRAWN, QuestionRequest, question_in

if TYPE_CHECKING:
    from ..service import Service

_T = TypeVar("_T")

MAX_MESSAGES = 200
"""The most messages in a request."""
CLIENT = "banyan_client"
"""The key of the client in a run's configuration; the server sets it, and ignores what a client sends."""
BASES = "banyan_bases"
"""The same for the knowledge bases that the client may see."""


def _as_messages(given: object) -> object:
    """Convert messages in any of LangChain's forms: {"type", "content"}, {"role", "content"}, or [role, text]."""
    try:
        return convert_to_messages(given) if isinstance(given, list) else given
    except (NotImplementedError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a list of messages: {error}") from error


_Messages = Annotated[list[HumanMessage | AIMessage | SystemMessage], BeforeValidator(_as_messages)]


class Conversation(CustomUserType):
    """A conversation that ends with a question."""

    model_config = ConfigDict(extra="forbid")

    messages: _Messages = Field(min_length=1, max_length=MAX_MESSAGES,
                                description="the conversation; its last message is the question")


class ChatInput(CustomUserType):
    """A question to a knowledge base, or a conversation that ends with a question."""

    model_config = ConfigDict(extra="forbid")

    knowledge_base: str = Field(min_length=1, description="the knowledge base's name")
    question: str = Field(default="", description="the question, if no messages are given")
    messages: _Messages = Field(default=[], max_length=MAX_MESSAGES,
                                description="a conversation; its last message is the question")


# LangServe's chat playground recognises a message by the `enum` of its type, but pydantic writes `const`.
ChatOutput = Annotated[AIMessageChunk, WithJsonSchema({"anyOf": [{
    "title": "AIMessageChunk", "type": "object", "properties": {
        "type": {"type": "string", "enum": ["ai", "AIMessageChunk"]},
        "content": {"type": "string", "description": "a piece of the answer; all pieces together are the answer"},
        "additional_kwargs": {"type": "object", "description": (
            "of the last piece: citations {id, document, start, end, quote}, abstained, confidence, short, "
            "grade, sub_queries, iterations")}}}]})]
"""A piece of the answer; the last one has no text."""


class Chat(RunnableLambda[Conversation | ChatInput, AIMessageChunk]):
    """The chat over a service's answering."""

    def __init__(self, service: "Service") -> None:
        # Asynchronous generators are supported, although the annotation omits them.
        super().__init__(cast("Any", self._answer), name="banyan_chat")
        self._service = service

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """The options that a client may set in `configurable`; LangServe ignores all others."""
        return [
            ConfigurableFieldSpec(id="thread_id", annotation=str, name="Thread", default="", description=(
                "store the conversation on the server under this name, so follow-ups refer to it")),
            ConfigurableFieldSpec(id="mode", annotation=Mode, name="Mode", default="reject", description=(
                "reject: abstain without evidence; strict: no inferred answers either; open: own knowledge allowed, "
                "and marked")),
            ConfigurableFieldSpec(id="documents", annotation=list[str], name="Documents", default=[], description=(
                "ids, titles or paths of the documents to answer from, or patterns; empty: all")),
            ConfigurableFieldSpec(id="where", annotation=dict[str, str], name="Where", default={}, description=(
                "metadata of the documents to answer from, as {key: value or pattern}"))]

    async def _answer(self, given: Conversation | ChatInput, config: RunnableConfig) -> AsyncIterator[AIMessageChunk]:
        settings = config["configurable"]
        earlier, asked = _question(given, settings)
        knowledge_base = given.knowledge_base if isinstance(given, ChatInput) else settings["knowledge_base"]
        if not settings.get(BASES, NONE).hold(knowledge_base):
            raise UnknownKnowledgeBaseError(knowledge_base, self._service.resources.settings.home)
        answering = self._service.questions.answering(settings.get(CLIENT, ""), knowledge_base, asked, earlier)
        async with _detach(answering) as events:
            async for event in events:
                if event.event in {"step", "claim", "withdrawn"}:
                    await adispatch_custom_event(event.event, event.data, config=config)
                if event.event in {"token", "withdrawn"}:
                    yield AIMessageChunk(content=event.data.get("text", WITHDRAWN))
                elif event.event == "answer":
                    rests_on = {name: value for name, value in event.data.items() if name != "answer"}
                    yield AIMessageChunk(content="", additional_kwargs=rests_on, chunk_position="last")


@asynccontextmanager
async def _detach(run: AbstractAsyncContextManager[_T]) -> AsyncIterator[_T]:
    """Enter a run outside of the chat's run, whose event stream would otherwise include every node's whole state."""
    async with AsyncExitStack() as stack:
        outer = var_child_runnable_config.set(None)
        try:
            entered = await stack.enter_async_context(run)
        finally:
            var_child_runnable_config.reset(outer)
        yield entered


def _question(given: Conversation | ChatInput, settings: dict[str, Any],
              ) -> tuple[Sequence[AnyMessage], QuestionRequest]:
    """Return the conversation before the question, and the question.

    Raises:
        QuestionError: there is no question, or it is not allowed.
    """
    question = given.question if isinstance(given, ChatInput) else ""
    if question and given.messages:
        raise QuestionError("both `question` and `messages` are given: omit one of them; the last message is the "
                            "question")
    return question_in(given.messages or [HumanMessage(question)], mode=settings.get("mode") or "reject",
                       thread=settings.get("thread_id") or None, documents=settings.get("documents") or [],
                       where=settings.get("where") or {})


__all__ = ["BASES", "CLIENT", "Chat", "ChatInput", "ChatOutput", "Conversation"]
