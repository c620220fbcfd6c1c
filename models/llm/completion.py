"""What a chat completion of OpenAI's form says, be it read as JSON or by langchain-openai."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage

_SHOWN = 200


class Completion(NamedTuple):
    """The parts of a chat completion that are asked for."""

    text: str
    """The content, or the arguments of the functions that were to be called."""
    refusal: str
    finish: str
    usage: Mapping[str, Any]
    """Token counts as the endpoint reports them; empty: it does not."""

    @property
    def tokens(self) -> tuple[int, int, int]:
        """Those of the prompt, of the answer, and of the prompt's those in the endpoint's cache; 0: not reported."""
        details = self.usage.get("prompt_tokens_details") or {}
        return (self.usage.get("prompt_tokens") or 0, self.usage.get("completion_tokens") or 0,
                details.get("cached_tokens") or 0)


def from_json(body: object) -> Completion:
    """A completion from the body of a response: decoded JSON, or text where that was not said to be JSON.

    Raises:
        AttributeError, LookupError, TypeError, ValueError: the body is of another form, an HTML page for instance.
    """
    said: Any = body
    if isinstance(body, str):
        try:
            said = json.loads(body)
        except ValueError:
            raise ValueError(f"it begins: {body[:_SHOWN]!r}") from None
    if not isinstance(said, dict):
        raise TypeError(f"it is no JSON object: {str(said)[:_SHOWN]}")
    if said.get("error"):
        raise ValueError(said["error"])
    if not said.get("choices"):
        raise LookupError(f"it has no choices, only {', '.join(said)}")
    choice = said["choices"][0]
    message = choice["message"]
    called = [call["function"]["arguments"] or "" for call in message.get("tool_calls") or ()]
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = str(AIMessage(content).text)  # in parts
    return Completion("\n".join(called) or content, str(message.get("refusal") or ""),
                      str(choice.get("finish_reason") or "stop"), said.get("usage") or {})


def from_message(message: AIMessage) -> Completion:
    """A completion from what langchain-openai made of it."""
    # Arguments that are no JSON are kept as they came: they go back with the reason, as any answer would.
    called = [json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls]
    called += [call["args"] or "" for call in message.invalid_tool_calls]
    told = message.response_metadata
    return Completion("\n".join(called) or str(message.text), str(message.additional_kwargs.get("refusal") or ""),
                      str(told.get("finish_reason") or "stop"), told.get("token_usage") or {})
