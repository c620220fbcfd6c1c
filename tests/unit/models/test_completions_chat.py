"""The chat model over an OpenAI-compatible endpoint: what it sends, and what it reads of odd completions."""

import asyncio

import pytest
from banyan.models.llm.completions_chat import CompletionsChat
from openai.types.chat import ChatCompletion


class Completions:
    """Answers each request with a completion made of some fields, and keeps the request."""

    def __init__(self, **fields):
        self.fields = fields
        self.sent = {}

    async def create(self, **request):
        self.sent = request
        return ChatCompletion.construct(**self.fields)


def answered(model="m", **fields):
    completions = Completions(**fields)
    chat = CompletionsChat(model=model, completions=completions, seconds=5, retries=0)
    message = asyncio.run(chat.ainvoke([("system", "Answer."), ("user", "Who?")], extra_body={}))
    return message, completions.sent


def choice(**message):
    return {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": None, **message}}]}


@pytest.mark.parametrize(("model", "role"), [("gpt-4o", "system"), ("o3-mini", "developer"), ("orca", "system")])
def test_openais_thinking_models_are_told_by_the_developer(model, role):
    _, sent = answered(model, **choice(content="Ada."))
    assert sent["messages"] == [{"role": role, "content": "Answer."}, {"role": "user", "content": "Who?"}]


def test_arguments_that_are_no_json_are_kept_as_they_are():
    calls = [{"id": "1", "type": "function", "function": {"name": "answer", "arguments": arguments}}
             for arguments in ('{"a": 1}', "{a")]
    message, _ = answered(**choice(tool_calls=calls), usage={"prompt_tokens": 3.2, "completion_tokens": "many"})
    assert [call["args"] for call in message.tool_calls] == [{"a": 1}]
    assert [call["args"] for call in message.invalid_tool_calls] == ["{a"]
    assert (message.usage_metadata["input_tokens"], message.usage_metadata["output_tokens"]) == (4, 0)


@pytest.mark.parametrize("fields", [{"choices": None}, {"choices": []}, {}])
def test_a_body_without_choices_is_no_completion(fields):
    with pytest.raises(ValueError, match="has no choices"):
        answered(**fields)
