"""The message in a completion: endpoints put its text into different places."""

import json
from collections.abc import Mapping
from typing import Any

_REASONING = ("reasoning_content", "reasoning")


def normalise_message(completion: Any) -> None:
    """Put the texts of a completion's messages where OpenAI's protocol has them.

    The content may be a list of parts, or be empty with the text among the reasoning; the arguments of a function may
    be an object instead of its JSON; the role may be missing.

    Args:
        completion: a completion of the openai package, which does not check what it has received.
    """
    for message in (choice.message for choice in completion.choices or ()):
        message.role = "assistant"
        message.content = _text_of(message.content)
        calls = message.tool_calls or ()
        for function in (call.function for call in calls):
            if not isinstance(function.arguments, str):
                function.arguments = json.dumps(function.arguments)
        if not message.content.strip() and not calls and not getattr(message, "refusal", None):
            message.content = reasoning_of({name: getattr(message, name, None) for name in _REASONING})


def reasoning_of(fields: Mapping[str, Any]) -> str:
    """Return the text that a message, or a part of one, has in the fields of thinking models."""
    found = map(fields.get, _REASONING)
    return next((text for text in found if isinstance(text, str) and text), "")


def _text_of(content: Any) -> str:
    """Return the text of a content, which may be a list of parts; thoughts among the parts are left out."""
    if isinstance(content, list):
        return "".join(map(_text_of, content))
    if isinstance(content, dict):
        return _text_of(content.get("text"))
    return content if isinstance(content, str) else ""
