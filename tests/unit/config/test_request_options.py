"""What users add to requests: a JSON object, and an effort for all steps or by step."""

import pytest
from banyan.config import LLM_STEPS, Settings
from pydantic import ValidationError


def efforts(given: str) -> dict[str, str]:
    settings = Settings(_env_file=None, llm_reasoning_effort=given)
    return {step: settings.for_step(step).llm_reasoning_effort for step in LLM_STEPS}


def test_an_effort_is_for_all_steps_or_by_step() -> None:
    assert efforts("") == dict.fromkeys(LLM_STEPS, "")
    assert efforts("low") == dict.fromkeys(LLM_STEPS, "low")
    assert efforts("extract=low, Answer = medium") == dict.fromkeys(LLM_STEPS, "") | {
        "extract": "low", "answer": "medium"}
    assert efforts("minimal,answer=high") == dict.fromkeys(LLM_STEPS, "minimal") | {"answer": "high"}


@pytest.mark.parametrize(("given", "body"), [("", {}), (' {"top_k": 20} ', {"top_k": 20})])
def test_an_extra_body_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch, given: str, body: object) -> None:
    monkeypatch.setenv("BANYAN_LLM_EXTRA_BODY", given)
    assert Settings(_env_file=None).llm_extra_body == body


@pytest.mark.parametrize(("given", "said"), [
    ("top_k=20", "it is not JSON .Expecting value"), ("[1]", "it is no JSON object"), ("null", "it is no JSON object"),
    ('{"model": "m"}', "Banyan sets model itself: leave that out, and name the model in BANYAN_LLM_MODEL"),
    ('{"stream": true, "tools": []}', "Banyan sets stream, tools itself")])
def test_a_wrong_extra_body_is_named(monkeypatch: pytest.MonkeyPatch, given: str, said: str) -> None:
    monkeypatch.setenv("BANYAN_LLM_EXTRA_BODY", given)
    with pytest.raises(ValidationError, match=said):
        Settings(_env_file=None)
