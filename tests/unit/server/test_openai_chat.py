"""OpenAI's own client asks: knowledge bases are models, citations annotations, failures its exceptions."""

import openai
import pytest
from banyan.models.reasoner import ReasonerError

from ... import asking

resources = asking.served
QUESTION = "Where was Ada Byron born?"


@pytest.fixture
def api(client):
    return openai.OpenAI(base_url="http://127.0.0.1/v1", api_key="none", http_client=client, max_retries=0)


def ask(api, *messages, **fields):
    return api.chat.completions.create(model="people", messages=[
        {"role": role, "content": text} for role, text in messages or [("user", QUESTION)]], **fields)


def test_knowledge_bases_are_models(api):
    assert [model.id for model in api.models.list()] == ["people"]
    assert api.models.retrieve("people").owned_by == "banyan"
    with pytest.raises(openai.NotFoundError, match="nobody"):
        api.models.retrieve("nobody")


def test_an_answer_has_its_citations(api):
    completion = ask(api, temperature=0.3, max_tokens=50)
    (choice,) = completion.choices
    text, (first, *_) = choice.message.content, choice.message.annotations
    assert choice.finish_reason == "stop"
    cited = first.url_citation
    assert text[cited.start_index:cited.end_index] == "[1]"
    assert cited.url.startswith("http://127.0.0.1/#/ask?kb=people&doc=")
    assert text.splitlines()[-1].startswith(f"[1] {cited.title}, characters ")
    assert cited.quote in text.splitlines()[-1]
    assert completion.usage.total_tokens > 0


def test_a_stream_is_the_same_answer_in_pieces(api):
    ask(api)  # the first answer says that no model is configured
    whole = ask(api).choices[0].message
    chunks = list(ask(api, stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]) == whole.content
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-2].choices[0].delta.annotations == [note.model_dump() for note in whole.annotations]
    assert chunks[-1].usage.total_tokens > 0
    assert len({chunk.id for chunk in chunks}) == 1
    assert len(chunks) > 5


@pytest.mark.parametrize(("messages", "why"), [
    ([("user", QUESTION), ("assistant", "In London.")], "end the conversation with the question"),
    ([("user", "  ")], "is empty"), ([("user", "x" * 20_000)], "is not allowed")])
def test_what_is_no_question_is_refused(api, messages, why):
    with pytest.raises(openai.UnprocessableEntityError, match=why):
        ask(api, *messages)


def test_a_failure_is_told_before_and_within_a_stream(api, resources):
    def fail(*_):
        raise ReasonerError("the endpoint said 500: try again")

    resources.fake.reply = fail
    with pytest.raises(openai.InternalServerError, match="the endpoint said 500: try again"):
        ask(api)
    with pytest.raises(openai.APIError, match="the endpoint said 500: try again"):
        list(ask(api, stream=True))


def test_a_picture_is_named_in_the_question_and_left_out_before_it(api):
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    shown = [{"type": "text", "text": "What is this?"}, picture]
    assert ask(api, ("user", shown), ("assistant", "A harbour."), ("user", QUESTION)).choices[0].message.content
    with pytest.raises(openai.UnprocessableEntityError, match="type 'image_url', and only text is read: ask in words"):
        ask(api, ("user", shown))
