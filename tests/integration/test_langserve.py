"""The LangServe chat of `banyan serve`, by LangServe's own client."""

import pytest
from langserve import RemoteRunnable

pytestmark = pytest.mark.integration

QUESTION = "When was Marie Curie born?"
ASKED = {"messages": [("user", QUESTION)]}


@pytest.fixture(scope="module")
def chat(web_server):
    return RemoteRunnable(f"{web_server}/chat/kb/english")


def test_an_answer_comes_with_what_it_rests_on(chat):
    answer = chat.invoke(ASKED)
    assert "7 November 1867" in answer.content
    assert answer.content.endswith("[1]")
    rests_on = answer.additional_kwargs
    assert (rests_on["abstained"], rests_on["grade"]) == (False, "stated")
    (citation,) = rests_on["citations"]
    assert (citation["id"], citation["document"]) == (1, "marie-curie.md")
    assert citation["quote"] in answer.content
