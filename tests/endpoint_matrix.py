"""How endpoints behave, and what Banyan does: the cases of a test and the table in docs/endpoints.md.

Messages are written after those of the servers named, not captured.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import httpx2

PAGE = Path(__file__).parent.parent / "docs" / "endpoints.md"
_TABLE = re.compile(r"^\| an endpoint \| Banyan \| requests \|\n(?:\|.*\n)+", re.MULTILINE)

Body = dict[str, Any]
Answer = Callable[[Body], httpx2.Response]
QUESTION = "Where was Marie Curie born?"
FOUND = json.dumps({"question": QUESTION})
_DRAFT = json.dumps({"question": "Where?"})
_PAGE = "<html><head><title>{}</title></head><body>...</body></html>"


def reply(text: Any = FOUND, finish: str = "stop", **message: Any) -> httpx2.Response:
    return _completion({"index": 0, "finish_reason": finish,
                        "message": {"role": "assistant", "content": text, **message}})


def _completion(choice: Body) -> httpx2.Response:
    return httpx2.Response(200, json={"id": "c", "object": "chat.completion", "created": 0, "model": "m",
                                      "choices": [choice]})


def error(status: int, message: str, **more: Any) -> httpx2.Response:
    return httpx2.Response(status, json={"error": {"message": message, **more}})


def html(status: int, title: str) -> httpx2.Response:
    return httpx2.Response(status, text=_PAGE.format(title), headers={"content-type": "text/html"})


def chunk(delta: Body | None = None, finish: str | None = None, **more: Any) -> Body:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": choices, **more}


def stream(*chunks: Body) -> httpx2.Response:
    text = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks)
    return httpx2.Response(200, text=f"{text}data: [DONE]\n\n", headers={"content-type": "text/event-stream"})


def streamed(body: Body) -> httpx2.Response:
    if not body.get("stream"):
        return reply()
    return stream(chunk({"role": "assistant", "content": ""}), chunk({"content": FOUND}))


def filtered_first(body: Body) -> httpx2.Response:
    """A stream whose first chunk only tells of a content filter, as Azure's do."""
    told = {"id": "", "object": "", "created": 0, "model": "", "choices": [
        {"index": 0, "finish_reason": None, "content_filter_offsets": {"check_offset": 0}}]}
    return stream(told, chunk({"role": "assistant", "content": ""}), chunk({"content": FOUND}))


def nested_stream(body: Body) -> httpx2.Response:
    """A stream whose chunk is nested too deep to be parsed."""
    return httpx2.Response(200, text=f"data: {'[' * 100_000}\n\n", headers={
        "content-type": "text/event-stream"}) if body.get("stream") else reply()


def refusing(is_refused: Callable[[Body], Any], refusal: Callable[[], httpx2.Response], answer: Answer = streamed,
             ) -> Answer:
    return lambda body: refusal() if is_refused(body) else answer(body)


def _form(*forms: str) -> Callable[[Body], bool]:
    return lambda body: body.get("response_format", {}).get("type") in forms


def _has_system(body: Body) -> bool:
    return any(message["role"] == "system" for message in body["messages"])


def _text(body: Body) -> str:
    return " ".join(message["content"] for message in body["messages"])


def _summaries(body: Body) -> httpx2.Response:
    """An endpoint with a short context: of several communities in one prompt it refuses all."""
    if "Second" in _text(body) and "First" in _text(body):
        return error(400, "the request exceeds the available context size", type="exceed_context_size_error")
    return reply(json.dumps({"communities": [{"id": 1, "name": "One", "summary": "About it."}]}))


@dataclass(frozen=True)
class Case:
    """A behaviour of an endpoint and its outcome, for the documentation, and what a test looks at.

    `requests` are sent; the error has the pattern `fails`, a request or the log `says`; `again` so many are sent for
    another question; `last` are fields of the last request's body, None where one is absent.
    """

    behaviour: str
    outcome: str
    answers: Sequence[httpx2.Response] | Answer
    requests: int = 1
    fails: str = ""
    says: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    asks: Literal["condense", "summarise", "stream"] = "condense"
    again: int | None = None
    last: dict[str, Any] = field(default_factory=dict)


_MERGED = "puts the instructions into the user's message, and remembers that"
_RETRIED = "tries again, with growing pauses"
_READ = "reads the answer"
_LEFT_OUT = "sends the request again without it, and remembers that"
_SHORTER = "does not try again, and advises a longer context or a lower `BANYAN_CHUNK_TOKENS`"

PARAMETERS = [
    Case("refuses `temperature` (o-series, gpt-5)", _LEFT_OUT,
         refusing(lambda body: "temperature" in body, lambda: error(
             400, "Unsupported value: 'temperature' does not support 0 with this model.", param="temperature",
             code="unsupported_value")), 2, again=1, last={"temperature": None}),
    Case("names the refused parameter only in its message", _LEFT_OUT,
         refusing(lambda body: "temperature" in body, lambda: error(422, "temperature is not permitted")), 2, again=1,
         last={"temperature": None}),
    Case("refuses a field with FastAPI's list of errors (Mistral)", "sends `max_tokens` instead, and remembers that",
         refusing(lambda body: "max_completion_tokens" in body, lambda: httpx2.Response(422, json={"detail": [
             {"type": "extra_forbidden", "loc": ["body", "max_completion_tokens"], "msg": "Extra inputs"}]})), 2,
         again=1, settings={"llm_reply_tokens": 500}, last={"max_tokens": 500, "max_completion_tokens": None}),
    Case("refuses `max_tokens`, which `BANYAN_LLM_EXTRA_BODY` sets", "sends `max_completion_tokens` instead",
         refusing(lambda body: "max_tokens" in body, lambda: error(
             400, "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.")), 2,
         again=1, settings={"llm_extra_body": {"max_tokens": 500}}, last={"max_completion_tokens": 500}),
    Case("refuses both `max_completion_tokens` and `max_tokens`", "sends neither",
         refusing(lambda body: body.keys() & {"max_tokens", "max_completion_tokens"},
                  lambda: error(400, "max_tokens and max_completion_tokens are fixed here")), 3, again=1,
         settings={"llm_reply_tokens": 500}, last={"max_tokens": None, "max_completion_tokens": None}),
    Case("refuses several parameters, one after the other", "sends none of them",
         refusing(lambda body: body.keys() & {"temperature", "seed", "stop"},
                  lambda: error(400, "Unrecognized request arguments supplied: seed, stop, temperature")), 4, again=1,
         settings={"llm_extra_body": {"seed": 7, "stop": ["###"]}},
         last={"temperature": None, "seed": None, "stop": None}),
    Case("refuses a parameter that `BANYAN_LLM_EXTRA_BODY` sets", f"{_LEFT_OUT}, and logs a warning",
         refusing(lambda body: "top_k" in body, lambda: error(400, "unknown field top_k")), 2, again=1,
         says="refuses top_k", settings={"llm_extra_body": {"top_k": 20}}, last={"top_k": None}),
    Case("refuses `reasoning_effort`", f"{_LEFT_OUT}, and logs a warning",
         refusing(lambda body: "reasoning_effort" in body, lambda: error(
             400, "Unrecognized request argument supplied: reasoning_effort")), 2, again=1,
         says="refuses reasoning_effort", settings={"llm_reasoning_effort": "extract=low,condense=high"},
         last={"reasoning_effort": None}),
    Case("takes `reasoning_effort` and further fields", "sends them with each request",
         lambda _: reply(), settings={"llm_reasoning_effort": "low,condense=high", "llm_extra_body": {"top_k": 20}},
         last={"reasoning_effort": "high", "top_k": 20}),
    Case("refuses the system role (o1-mini)", _MERGED,
         refusing(_has_system, lambda: error(
             400, "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
             param="messages[0].role")), 2, again=1),
    Case("has a chat template without a system role (llama.cpp, vLLM)", _MERGED,
         refusing(_has_system, lambda: error(500, "Jinja Exception: System role not supported")), 4, again=1,
         settings={"llm_retries": 2}),
    Case("refuses `stream_options`", "streams without it",
         refusing(lambda body: "stream_options" in body, lambda: error(400, "unknown field: stream_options")), 2,
         asks="stream", again=1, last={"stream": True, "stream_options": None}),
    Case("refuses streams", "asks for whole replies, and remembers that",
         refusing(lambda body: body.get("stream"), lambda: error(400, "stream is not supported")), 2, asks="stream",
         again=1, last={"stream": False}),
    Case("refuses JSON schemas (DeepSeek)", "asks in JSON mode, and remembers that",
         refusing(_form("json_schema"), lambda: error(400, "This response_format type is unavailable now")), 2,
         again=1, last={"response_format": {"type": "json_object"}}),
    Case("refuses every form of structured output", "asks in plain words",
         refusing(_form("json_schema", "json_object"), lambda: httpx2.Response(422)), 3,
         last={"response_format": None}),
]
REPLIES = [
    Case("sends several objects", "takes the last one that fits", [reply(f'{_DRAFT}\n{FOUND}\n{{"note": 1}}')]),
    Case("thinks in `<think>`, with drafts", "reads what follows", [reply(f"<think>{_DRAFT}?</think>{FOUND}")]),
    Case("ends a block of thoughts that its template began", "reads what follows",
         [reply(f"Hm, {_DRAFT}?</think>{FOUND}")]),
    Case("wraps the answer in a code fence and words", _READ, [reply(f"Sure:\n```json\n{FOUND}\n```\nOK?")]),
    Case("writes line breaks into strings", _READ, [reply(FOUND.replace("born?", "born?\n"))]),
    Case("writes `null` for a list", "takes it for an empty list",
         [reply('{"communities": [{"id": 1, "name": "One", "summary": "About it.", "findings": null}, '
                '{"id": 2, "name": "Two", "summary": "About it.", "findings": [{"text": "So.", "facts": null}]}]}')],
         asks="summarise"),
    Case("sends the content as a list of parts", "reads the text among them", [reply([
        {"type": "thinking", "thinking": [{"type": "text", "text": _DRAFT}]}, {"type": "text", "text": FOUND[:9]},
        {"type": "text", "text": FOUND[9:]}])]),
    Case("answers in prose", "sends it back once, with the reason", [reply("I do not know."), reply()], 2,
         says="there is no complete JSON object"),
    Case("answers with broken JSON twice", "sends it back once, then reports where it is broken",
         [reply('{"question": "Where" "was"}')] * 2, 2, "Expecting ',' delimiter: line 1 column 22"),
    Case("declines (`refusal`)", "sends it back once, then reports what the model said",
         [reply(None, refusal="I can't."), reply(None, refusal="I can't.")], 2, "the model refused to answer: I can't"),
]
ERRORS = [
    Case("answers 429", _RETRIED, [error(429, "slow down"), reply()], 2),
    Case("reports a rate limit with status 200", _RETRIED,
         [error(200, "Rate limit exceeded: free-models-per-min", code=429), reply()], 2),
    Case("reports an error within a choice (OpenRouter)", _RETRIED, [_completion(
        {"index": 0, "finish_reason": "error", "message": {"content": ""},
         "error": {"code": 502, "message": "Upstream failed"}}), reply()], 2),
    Case("reports another error with status 200", f"{_RETRIED}, then reports it",
         lambda _: httpx2.Response(200, json={"error": "upstream closed the connection"}), 3,
         "it failed .*upstream closed the connection"),
    Case("has no credit left for the key (429 `insufficient_quota`)", f"{_RETRIED}; then the build stops",
         lambda _: error(429, "You exceeded your current quota", code="insufficient_quota"), 3,
         "its credit is used up"),
    Case("asks for payment (402)", "does not try again; the build stops", [error(402, "Insufficient Balance")], 1,
         "its credit is used up .*Insufficient Balance"),
    Case("sends a blank body", _RETRIED, [httpx2.Response(200, text=" \n"), reply()], 2),
    Case("sends a page of HTML", "does not try again, and advises to check `BANYAN_LLM_BASE_URL`",
         [html(200, "Welcome to nginx!")], 1, "the model or the path .*a page of HTML: Welcome to nginx!.*BASE_URL"),
    Case("sends a page of HTML with an error's status", f"{_RETRIED}, then reports the page's title",
         lambda _: html(502, "502 Bad Gateway"), 3, "it failed .*a page of HTML: 502 Bad Gateway"),
    Case("sends JSON that is no completion", "reports that this is not OpenAI's protocol",
         [httpx2.Response(200, json={"models": []})], 1, "not an answer of OpenAI's protocol"),
    Case("nests its reply 100,000 deep", "does not try again, and advises to check `BANYAN_LLM_BASE_URL`",
         [httpx2.Response(200, text="[" * 100_000)], 1, "the model or the path .*BASE_URL"),
    Case("nests a chunk of a stream 100,000 deep", "asks for the reply as a whole, and remembers that", nested_stream,
         2, asks="stream", again=1),
    Case("sends chunks without a delta (Azure's content filter)", _READ, filtered_first, 1, asks="stream", again=1),
    Case("redirects to another address", "sends nothing there, and advises to check `BANYAN_LLM_BASE_URL`",
         [httpx2.Response(307, headers={"location": "http://elsewhere.test/v1/chat/completions"})], 1,
         "redirects to another address.*BANYAN_LLM_BASE_URL"),
    Case("answers 500", _RETRIED, [error(500, "oops"), reply()], 2),
    Case("stops the answer by a content filter", "does not try again, and advises another model for this text",
         [reply(FOUND[:9], "content_filter")], 1, "its content filter stopped the answer; use another model"),
    Case("refuses the prompt by a content filter (Azure, DeepSeek, Qwen)",
         "does not try again, and advises another model for this text", [error(
             400, "The response was filtered due to Azure OpenAI's content management policy", code="content_filter")],
         1, "its content filter stopped the request .*use another model"),
    Case("reports that the prompt exceeds its context", _SHORTER,
         [error(400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.")], 1,
         "longer than it takes .*BANYAN_CHUNK_TOKENS"),
    Case("reports that with status 200", _SHORTER, [error(200, "context_length_exceeded")], 1,
         "longer than it takes .*BANYAN_CHUNK_TOKENS"),
    Case("reports that for several communities or pairs of names in one call", "asks for them in halves", _summaries, 3,
         asks="summarise"),
    Case("cuts the reply at its length limit", "sends it back once, then advises a higher limit or smaller chunks",
         [reply(FOUND[:-9], "length")] * 2, 2, "cut off at the length limit.*REPLY_TOKENS.*BANYAN_CHUNK_TOKENS"),
    Case("spends the limit on thoughts", "sends it back once, then advises a lower `BANYAN_LLM_REASONING_EFFORT`",
         [reply("", "length", reasoning="Let me think about")] * 2, 2,
         "length limit.*BANYAN_LLM_REASONING_EFFORT.*CHUNK_TOKENS"),
    Case("reports the limit, but the answer is complete", _READ, [reply(finish="length")]),
    Case("refuses the key (401)", "does not try again; the build stops", [error(401, "no")], 1, "refused the key"),
    Case("denies access (403)", "does not try again", [error(403, "no")], 1, "denied access"),
    Case("does not know the model (404)", "does not try again; the build stops", [error(404, "no such model")], 1,
         "does not know the model"),
    Case("refuses the request for another reason", "tries each form, then reports the endpoint's reason",
         lambda _: error(400, "Something else is wrong"), 3, "refused the request .*Something else(?!.*CHUNK_TOKENS)"),
]
CASES = [*PARAMETERS, *REPLIES, *ERRORS]


def page() -> str:
    """docs/endpoints.md with the table of the cases."""
    table = "\n".join(["| an endpoint | Banyan | requests |", "|---|---|---|", *(
        f"| {case.behaviour} | {case.outcome} | {case.requests} |" for case in CASES), ""])
    text, tables = _TABLE.subn(lambda _: table, PAGE.read_text("utf-8"))
    assert tables == 1
    return text
