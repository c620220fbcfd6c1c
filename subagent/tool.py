"""Banyan as a LangChain tool."""

from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import ValidationError
from pydantic.v1 import ValidationError as OldValidationError

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
        response_format="content_and_artifact", handle_tool_error=_cannot, handle_validation_error=_not_a_question)


def _content_and_artifact(answer: AskOutput) -> tuple[str, AskOutput]:
    return answer_text(answer), answer


def _cannot(error: ToolException) -> str:
    return cannot_answer(str(error))


def cannot_answer(reason: str) -> str:
    """Return the text that a calling agent reads instead of an answer."""
    return (f"The question could not be answered: {reason}. Fix that and ask again if you can; else tell the user, "
            "and do not answer on the documents' behalf.")


def _not_a_question(error: ValidationError | OldValidationError) -> str:
    first: Any = error.errors()[0]
    return cannot_answer(f"{'.'.join(map(str, first['loc']))}: {first['msg']}; give one argument, `question`, a text")
