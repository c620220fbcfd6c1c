"""What endpoints' errors say of a request; the messages are written after those of the servers, not captured."""

import httpx2
import openai
import pytest
from banyan.models.llm.endpoint_errors import cause_of
from banyan.models.llm.failures import TooLong, failure
from banyan.models.llm.refusals import refused_parameter
from pydantic import SecretStr

PARAMETERS = ("temperature", "max_completion_tokens", "seed", "stream_options")
MESSAGES = [("system", "Be brief."), ("user", "Where?")]


def status_error(status: int, message: str, body: object = None) -> openai.APIStatusError:
    response = httpx2.Response(status, request=httpx2.Request("POST", "http://a.invalid"))
    return openai.APIStatusError(message, response=response, body=body)


@pytest.mark.parametrize(("status", "message", "cause"), [
    (400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens", "length"),  # OpenAI
    (400, "the request exceeds the available context size. try increasing the context size", "length"),  # llama.cpp
    (400, "prompt is too long: 210000 tokens > 200000 maximum", "length"),  # Anthropic
    (400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length", "length"),  # Mistral
    (413, "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 9000", "length"),  # Groq
    (400, "The input token count (1200000) exceeds the maximum number of tokens allowed", "length"),  # Gemini
    (422, "`inputs` tokens + `max_new_tokens` must be <= 4096", "length"),  # TGI
    (500, "context window exceeded", "length"),
    (400, "The response was filtered due to the prompt triggering Azure OpenAI's content management policy", "filter"),
    (400, "Content Exists Risk", "filter"),  # DeepSeek
    (400, "data_inspection_failed: Input data may contain inappropriate content.", "filter"),  # Qwen
    (403, "Input was rejected by moderation", "filter"),  # OpenRouter
    (429, "insufficient_quota", "credit"), (402, "Insufficient Balance", "credit"),  # OpenAI, DeepSeek
    (429, "Rate limit reached for requests", None), (400, "temperature must be at most 2", None),
    (504, "the request took too long", None), (401, "no", None),
])
def test_the_cause_is_found_by_its_words(status: int, message: str, cause: str | None) -> None:
    error = status_error(status, message)
    assert cause_of(error) == cause
    told = failure(error, "model 'm'", SecretStr("none"))
    assert ("CHUNK_TOKENS" in str(told)) == isinstance(told, TooLong) == (cause == "length")


@pytest.mark.parametrize(("status", "message", "name"), [
    (400, "Unsupported value: 'temperature' does not support 0 with this model.", "temperature"),
    (400, "`seed` is not supported; allowed are model, messages, temperature", "seed"),
    (422, "max_tokens: Extra inputs are not permitted", None),  # it was not sent
    (400, "unknown field: stream_options", "stream_options"), (400, "stream is not supported", None),
    (400, "Developer instruction is not enabled for models/gemma-3-27b-it", "system"),
    (400, "Conversation roles must alternate user/assistant/user/assistant/...", "system"),  # vLLM, Mistral's template
    (500, "Only user and assistant roles are supported!", "system"),  # LM Studio
    (500, "internal system error", None), (503, "temperature", None), (401, "temperature", None), (400, "no", None),
])
def test_a_refused_parameter_is_found_by_its_name(status: int, message: str, name: str | None) -> None:
    assert refused_parameter(status_error(status, message), PARAMETERS, MESSAGES) == name
