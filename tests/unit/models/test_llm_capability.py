"""Which form of request an endpoint takes: what is learnt from refusals and from answers, and what is not."""


import openai
import pytest
from banyan.config import Settings
from banyan.models.llm.capability import FORMS, MISSES_IN_A_ROW, Capability, Form, may_mean_the_form
from banyan.models.llm.failures import failure
from banyan.models.llm.limits import ProcessEndpoints
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr


@pytest.fixture
def known() -> Capability:
    return Capability("model 'm' at host")


def record(known: Capability, form: Form, *usable: bool) -> None:
    for one in usable:
        known.record(form, form, usable=one)


def refuse(known: Capability, form: Form, answered: Form, times: int = MISSES_IN_A_ROW) -> None:
    for _ in range(times):
        known.record(form, answered, usable=True)


def test_a_refusal_must_repeat(known: Capability) -> None:
    refuse(known, "json_schema", "json_object", MISSES_IN_A_ROW - 1)
    assert known.forms() == FORMS
    refuse(known, "json_schema", "json_object", 1)
    assert known.forms() == ("json_object", "text", "bare")


def test_a_form_that_never_gives_a_usable_answer_is_left(known: Capability) -> None:
    record(known, "json_schema", *[False] * (MISSES_IN_A_ROW - 1))
    assert known.forms()[0] == "json_schema"
    record(known, "json_schema", False)
    assert known.forms()[0] == "tools"


def test_a_form_that_has_worked_is_kept_whatever_a_model_answers(known: Capability) -> None:
    record(known, "json_schema", True, *[False] * (5 * MISSES_IN_A_ROW))
    assert known.forms() == FORMS


@given(st.lists(st.tuples(st.sampled_from(FORMS), st.booleans(), st.booleans())))
def test_there_is_always_a_form_and_the_bare_one_is_never_lost(events: list[tuple[Form, bool, bool]]) -> None:
    known = Capability("any")
    for form, is_refused, usable in events:
        known.record(form, known.forms()[-1] if is_refused else form, usable=usable)
        assert known.forms()[-1] == "bare"


def test_what_is_known_belongs_to_endpoint_and_model() -> None:
    def settings(base_url: str, model: str) -> Settings:
        return Settings(_env_file=None, llm_base_url=base_url, llm_model=model)

    endpoints = ProcessEndpoints()
    known = endpoints.limits(settings("http://a.invalid/v1", "m")).capability
    assert endpoints.limits(settings("http://a.invalid/v1", "m")).capability is known
    assert endpoints.limits(settings("http://a.invalid/v1", "n")).capability is not known
    assert endpoints.limits(settings("http://b.invalid/v1", "m")).capability is not known


# What servers may say, by what is known of vLLM, Ollama, llama.cpp and others; written, not captured from them.

SAID: list[tuple[int, str, bool]] = [
    (400, "This response_format type is unavailable now", True),  # DeepSeek
    (400, "registry.ollama.ai/library/gemma:2b does not support tools", True),  # Ollama
    (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', True),  # vLLM
    (500, "tools param requires --jinja flag", True),  # llama.cpp
    (404, "No endpoints found that support tool use", True),  # OpenRouter
    (422, "Input should be 'text' or 'json_object'", True),
    (501, "not implemented", True),
    (404, "The model `m` does not exist", False),
    (500, "internal error", False),
    (503, "the tools are down", False),
]


@pytest.mark.parametrize(("status", "message", "may"), SAID)
def test_what_may_mean_the_form(status: int, message: str, may: bool) -> None:
    assert may_mean_the_form(_status_error(status, message)) is may


def _status_error(status: int, message: str) -> openai.APIStatusError:
    import httpx  # noqa: PLC0415

    response = httpx.Response(status, request=httpx.Request("POST", "http://a.invalid"))
    return openai.APIStatusError(message, response=response, body=None)


def test_the_key_is_in_no_error() -> None:
    said = failure(ValueError("key sk-secret-1 is wrong"), "model 'm'", SecretStr("sk-secret-1"))
    assert "sk-secret-1" not in str(said)
    assert "***" in str(said)
