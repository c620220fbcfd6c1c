"""Banyan as a LangChain tool, and as a subagent: a small graph over messages for deepagents, supervisors and graphs."""

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import ValidationError
from pydantic.v1 import ValidationError as OldValidationError
from typing_extensions import TypedDict

from ..agents.resources import Resources
from ..agents.retrieval.state import AskContext, AskInput, AskOutput
from ..config import Settings
from ..schemas.errors import BanyanError
from ..schemas.retrieval import Mode
from .asking import Asker, LocalAsker, answer_text, default_name, description_of, resources_for
from .tool_answers import AskedQuestion


def as_tool(kb: str, *, name: str = "", about: str = "", mode: Mode = "reject", context: AskContext | None = None,
            settings: Settings | None = None, resources: Resources | None = None) -> BaseTool:
    """Return a LangChain tool that answers a question from a knowledge base, for any agent that calls tools.

    Args:
        kb: the knowledge base. You may build it later; until then the tool reports that it does not exist.
        name: the tool's name; empty means `ask_` and the knowledge base.
        about: the subject of the documents ("the company's travel rules"), for the calling agent.
        mode: "reject": abstain if the documents do not answer; "strict": also if one link is not stated;
            "open": allow own knowledge, marked.
        context: every option of a question, instead of `mode`.
        settings: home, models and limits; None means the environment's settings.
        resources: resources that your code has opened, instead of `settings`; share them to load models only once.

    Returns:
        A tool with one argument, `question`, for invoke and ainvoke. Its content is the answer with numbered,
        quoted sources; its artifact is the whole `AskOutput`. An error that the caller can fix becomes a
        tool message with status "error".

    Raises:
        KnowledgeBaseNameError: `kb` cannot be a knowledge base's name.
    """
    asker = LocalAsker(resources or resources_for(settings), kb, context or AskContext(mode=mode))
    return tool_of(asker, name=name, about=about)


def tool_of(asker: Asker, *, name: str = "", about: str = "") -> BaseTool:
    """Wrap an asker as a tool; the other arguments are those of `as_tool`."""
    def ask(question: str) -> tuple[str, AskOutput]:
        try:
            return _content_and_artifact(asker.ask(AskInput(question=question)))
        except BanyanError as error:
            raise ToolException(str(error)) from error

    async def aask(question: str) -> tuple[str, AskOutput]:
        try:
            return _content_and_artifact(await asker.aask(AskInput(question=question)))
        except BanyanError as error:
            raise ToolException(str(error)) from error

    return StructuredTool.from_function(
        ask, aask, name=name or default_name("ask", asker.knowledge_base),
        description=description_of(asker.knowledge_base, about), args_schema=AskedQuestion, infer_schema=False,
        response_format="content_and_artifact", handle_tool_error=_describe_error,
        handle_validation_error=_describe_invalid_question)


def _content_and_artifact(answer: AskOutput) -> tuple[str, AskOutput]:
    return answer_text(answer), answer


def _describe_error(error: ToolException) -> str:
    return cannot_answer(str(error))


def cannot_answer(reason: str) -> str:
    """Return the text that a calling agent reads instead of an answer."""
    return (f"The question could not be answered: {reason}. Fix that and ask again if you can; else tell the user, "
            "and do not answer on the documents' behalf.")


def _describe_invalid_question(error: ValidationError | OldValidationError) -> str:
    first: Any = error.errors()[0]
    return cannot_answer(f"{'.'.join(map(str, first['loc']))}: {first['msg']}; give one argument, `question`, a text")


class SubagentOutput(AskOutput, total=False):
    """The answer; its text, with quoted sources, is also the last of `messages`."""

    error: str
    """Why there is no answer; absent if there is one."""


class Subagent(TypedDict):
    """A subagent in the form of deepagents' `CompiledSubAgent`; your own graph adds the runnable as a node."""

    name: str
    description: str
    runnable: Runnable[Any, Any]
    """A compiled graph: `messages` in; `messages` and the fields of `SubagentOutput` out."""


def as_subagent(kb: str, *, name: str = "", about: str = "", mode: Mode = "reject", context: AskContext | None = None,
                settings: Settings | None = None, resources: Resources | None = None) -> Subagent:
    """Return a subagent that answers from a knowledge base.

    For deepagents: `create_deep_agent(model, subagents=[banyan.as_subagent("kb")])`. For your own graph:
    `graph.add_node("documents", banyan.as_subagent("kb")["runnable"])`. If your graph's state has keys of
    `SubagentOutput` (answer, citations, ...), they are filled in as well.

    Args:
        kb: the knowledge base. You may build it later; until then the subagent reports that it does not exist.
        name: the subagent's name; empty means `documents_` and the knowledge base.
        about: the subject of the documents, for the calling agent.
        mode: "reject": abstain if the documents do not answer; "strict": also if one link is not stated;
            "open": allow own knowledge, marked.
        context: every option of a question, instead of `mode`.
        settings: home, models and limits; None means the environment's settings.
        resources: resources that your code has opened, instead of `settings`; share them to load models only once.

    Returns:
        Name, description and runnable. The question is the last human message; the messages before it give a
        follow-up its context. An error that can be fixed becomes the last message and `error`, and the calling graph
        continues.

    Raises:
        KnowledgeBaseNameError: `kb` cannot be a knowledge base's name.
    """
    asker = LocalAsker(resources or resources_for(settings), kb, context or AskContext(mode=mode))
    return subagent_of(asker, name=name, about=about)


def subagent_of(asker: Asker, *, name: str = "", about: str = "") -> Subagent:
    """Wrap an asker as a subagent: a graph with one node, which asks; the arguments are those of `as_subagent`."""
    name = name or default_name("documents", asker.knowledge_base)

    def ask(state: MessagesState) -> SubagentOutput:
        try:
            return _answer(name, asker.ask(_conversation(state["messages"])))
        except BanyanError as error:
            return _failure(name, error)

    async def aask(state: MessagesState) -> SubagentOutput:
        try:
            return _answer(name, await asker.aask(_conversation(state["messages"])))
        except BanyanError as error:
            return _failure(name, error)

    graph = StateGraph(SubagentOutput, input_schema=MessagesState, output_schema=SubagentOutput)
    graph.add_node("ask", RunnableLambda(ask, aask, name="ask"), input_schema=MessagesState)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)
    return Subagent(name=name, description=description_of(asker.knowledge_base, about),
                    runnable=graph.compile(checkpointer=False, name=name))


def _conversation(messages: Sequence[AnyMessage]) -> AskInput:
    """Return the messages of people and models that have a text, up to the last one of a person.

    What comes after that is left out, such as a supervisor's calls and hand-overs; so are tools' replies.
    """
    conversation: list[AnyMessage] = [
        message for message in messages if isinstance(message, HumanMessage | AIMessage) and message.text.strip()]
    while conversation and not isinstance(conversation[-1], HumanMessage):
        conversation.pop()
    return AskInput(messages=conversation)


def _answer(name: str, answer: AskOutput) -> SubagentOutput:
    return cast("SubagentOutput", {**answer, "messages": [AIMessage(answer_text(answer), name=name)]})


def _failure(name: str, error: BanyanError) -> SubagentOutput:
    return {"abstained": True, "error": str(error), "messages": [AIMessage(cannot_answer(str(error)), name=name)]}
