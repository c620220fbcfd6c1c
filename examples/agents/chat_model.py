"""The chat model of the calling agents: the one in Banyan's settings, or else a stand-in."""

import re
import sys
from collections.abc import Callable
from typing import Any

import banyan
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI


def chat_model(stand_in_calls: Callable[[str], ToolCall], *, quotes: bool = False) -> BaseChatModel:
    """Return the model that BANYAN_LLM_BASE_URL, _API_KEY and _MODEL name, or a stand-in.

    Args:
        stand_in_calls: returns the tool call that the stand-in makes for a question.
        quotes: whether the stand-in quotes a line of the reply, as `banyan.CitationMiddleware` asks.
    """
    settings = banyan.Settings()
    if settings.llm_base_url:
        return ChatOpenAI(base_url=settings.llm_base_url, api_key=settings.llm_api_key, model=settings.llm_model)
    print("No chat model is set (BANYAN_LLM_BASE_URL): a stand-in hands the question on and the reply back.",
          file=sys.stderr)
    return StandIn(calls=stand_in_calls, quotes=quotes)


class StandIn(BaseChatModel):
    """Stands in for a model: calls one tool with the question and repeats the reply, to show how the parts connect."""

    calls: Callable[[str], ToolCall]
    quotes: bool = False

    @property
    def _llm_type(self) -> str:
        return "stand-in"

    def bind_tools(self, *_: Any, **__: Any) -> "StandIn":
        """Return the stand-in itself: it knows which tool it calls."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        last = messages[-1]
        question = next(message for message in reversed(messages) if isinstance(message, HumanMessage))
        if isinstance(last, ToolMessage):
            sentences, asked = re.split(r"(?<=\.)\s+|\n+", last.text), set(question.text.strip("?").split())
            closest = max(sentences, key=lambda sentence: len(asked.intersection(sentence.split())))
            said = AIMessage(f"{closest} [[{closest}]]" if self.quotes else last.text)
        else:
            said = AIMessage("", tool_calls=[self.calls(question.text)])
        return ChatResult(generations=[ChatGeneration(message=said)])
