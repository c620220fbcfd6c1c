"""Banyan as a subagent: a small graph over messages, for deepagents, supervisors and your own graphs."""

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.graph import END, START, MessagesState, StateGraph
from typing_extensions import TypedDict

from ..agents.resources import Resources
from ..agents.retrieval.state import AskContext, AskInput, AskOutput
from ..config import Settings
from ..schemas.errors import BanyanError
from ..schemas.retrieval import Mode
from .asking import Asker, LocalAsker, answer_text, default_name, description_of, resources_for
from .tool import cannot_answer


class SubagentOutput(AskOutput, total=False):
    """The answer; `messages` ends with it as text, sources quoted."""

    error: str
    """Why there is no answer; absent where there is one."""


class Subagent(TypedDict):
    """What deepagents takes as `CompiledSubAgent`; your own graph adds the runnable as a node."""

    name: str
    description: str
    runnable: Runnable[Any, Any]
    """A compiled graph: `messages` in; `messages` and the fields of `SubagentOutput` out."""


def as_subagent(kb: str, *, name: str = "", about: str = "", mode: Mode = "reject", context: AskContext | None = None,
                settings: Settings | None = None, resources: Resources | None = None) -> Subagent:
    """A subagent that answers from a knowledge base.

    For deepagents: `create_deep_agent(model, subagents=[banyan.as_subagent("kb")])`. For a graph of your own:
    `graph.add_node("documents", banyan.as_subagent("kb")["runnable"])`; state keys that your graph shares with
    `SubagentOutput` (answer, citations, ...) are filled in as well.

    Args:
        kb: the knowledge base. It may be built later; while there is none, the subagent says so.
        name: what the subagent is called; none: `documents_` and the knowledge base.
        about: what the documents are about, for the calling agent.
        mode: "reject": it abstains where the documents do not answer; "open": own knowledge, marked.
        context: every option of a question, instead of `mode`.
        settings: home, models and limits; none: those of the environment.
        resources: those that your own code has opened, instead of `settings`; what shares them loads models once.

    Returns:
        Name, description and runnable. The last human message is the question; a follow-up is understood from the
        messages before it. An error that can be fixed is the last message and `error`; the calling graph continues.

    Raises:
        KnowledgeBaseNameError: `kb` cannot be a knowledge base's name.
    """
    asker = LocalAsker(resources or resources_for(settings), kb, context or AskContext(mode=mode))
    return subagent_of(asker, name=name, about=about)


def subagent_of(asker: Asker, *, name: str = "", about: str = "") -> Subagent:
    """The subagent over an asker."""
    name = name or default_name("documents", asker.knowledge_base)

    def ask(state: MessagesState) -> SubagentOutput:
        try:
            return _answered(name, asker.ask(_conversation(state["messages"])))
        except BanyanError as error:
            return _failed(name, error)

    async def aask(state: MessagesState) -> SubagentOutput:
        try:
            return _answered(name, await asker.aask(_conversation(state["messages"])))
        except BanyanError as error:
            return _failed(name, error)

    graph = StateGraph(SubagentOutput, input_schema=MessagesState, output_schema=SubagentOutput)
    graph.add_node("ask", RunnableLambda(ask, aask, name="ask"), input_schema=MessagesState)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)
    return Subagent(name=name, description=description_of(asker.knowledge_base, about),
                    runnable=graph.compile(checkpointer=False, name=name))


def _conversation(messages: Sequence[AnyMessage]) -> AskInput:
    """The messages up to the last human one: what follows are a supervisor's calls and hand-overs.

    Messages without text, such as calls of tools, and the tools' replies are left out.
    """
    conversation: list[AnyMessage] = [
        message for message in messages if isinstance(message, HumanMessage | AIMessage) and message.text.strip()]
    while conversation and not isinstance(conversation[-1], HumanMessage):
        conversation.pop()
    return AskInput(messages=conversation)


def _answered(name: str, answer: AskOutput) -> SubagentOutput:
    return cast("SubagentOutput", {**answer, "messages": [AIMessage(answer_text(answer), name=name)]})


def _failed(name: str, error: BanyanError) -> SubagentOutput:
    return {"abstained": True, "error": str(error), "messages": [AIMessage(cannot_answer(str(error)), name=name)]}
