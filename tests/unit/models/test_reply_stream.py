"""Replies of an OpenAI-compatible endpoint as a stream, without sockets; what cannot stream is asked as before."""

import json

import httpx2
import pytest
from banyan.config import Settings
from banyan.models.llm.chat_model import ChatClient
from banyan.models.llm.endpoint import Capability
from banyan.models.reasoner import ReasonerError, claims_to
from banyan.runtime.threads import run

from ...endpoint_matrix import chunk, stream
from ...endpoint_matrix import reply as whole

SAID = ('{"answerable": true, "claims": [{"text": "One.", "quotes": []}, {"text": "Two.", "quotes": []}], '
        '"short": "Both."}')
SHAPE = {"title": "reflection", "type": "object", "properties": {}}
USAGE = {"prompt_tokens": 70, "completion_tokens": 30, "total_tokens": 100,
         "prompt_tokens_details": {"cached_tokens": 60}}


def in_pieces(text=SAID):
    deltas = [chunk({"content": text[start:start + 5]}) for start in range(0, len(text), 5)]
    return stream(chunk({"role": "assistant", "content": ""}), *deltas, chunk({}, "stop"), chunk(usage=USAGE))


@pytest.fixture
def ask(serve):
    def ask(*responses, times=1, **settings):
        left, sent, heard = list(responses), [], []

        def handle(request):
            sent.append(json.loads(request.content))
            response = left.pop(0)
            if isinstance(response, Exception):
                raise response
            return response

        async def on_claims(claims):
            heard.append([one.text for one in claims])

        capability = Capability("m")

        async def send(endpoint):
            with claims_to(on_claims):
                return await endpoint.send([("user", "Question?")], SHAPE, capability)

        serve(handle)
        endpoint = ChatClient(Settings(_env_file=None, llm_base_url="http://model.test/v1", llm_model="m",
                                       **{"llm_retries": 1, **settings}))
        for _ in range(times):
            reply = run(send, endpoint)
        assert not left
        return reply, heard, sent

    return ask


def test_claims_are_heard_and_the_tokens_counted(ask):
    reply, heard, (sent,) = ask(in_pieces())
    assert (reply.text, reply.finish) == (SAID, "stop")
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (70, 30, 60)
    assert heard == [["One."], ["One.", "Two."]]
    assert (sent["stream"], sent["stream_options"]) == (True, {"include_usage": True})


def broken():
    async def parts():
        yield f"data: {json.dumps(chunk({'role': 'assistant', 'content': SAID[:80]}))}\n\n".encode()
        raise httpx2.ReadError("lost")

    class Stream(httpx2.AsyncByteStream):
        def __aiter__(self):
            return parts()

    return httpx2.Response(200, stream=Stream(), headers={"content-type": "text/event-stream"})


def test_a_stream_that_breaks_off_is_asked_for_as_a_whole_and_streamed_the_next_time(ask):
    reply, heard, sent = ask(broken(), whole(SAID), in_pieces(), times=2)
    assert reply.text == SAID
    assert heard == [["One."], ["One."], ["One.", "Two."]]
    assert [bool(one.get("stream")) for one in sent] == [True, False, True]
    with pytest.raises(ReasonerError, match="Connection error"):
        ask(broken(), llm_retries=0)


def test_a_whole_reply_to_a_request_for_a_stream_is_asked_for_once_more_and_no_stream_after_that(ask):
    reply, heard, sent = ask(whole(SAID), whole(SAID), whole(SAID), times=2)
    assert (reply.text, heard) == (SAID, [])
    assert [bool(one.get("stream")) for one in sent] == [True, False, False]
