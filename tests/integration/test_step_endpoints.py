"""Endpoints by name: each step's calls go to its own, with its own key, and `banyan doctor` checks every one."""

import json

import banyan
import pytest
from banyan.agents.resources import Resources
from banyan.cli import main as cli
from banyan.config import Settings
from pydantic import ValidationError
from typer.testing import CliRunner

from .. import llm_server

pytestmark = pytest.mark.integration
ASKED = "nothing else: "


def echo(body):
    return body["messages"][-1]["content"].rpartition(ASKED)[2]


def endpoints(**servers):
    return {name: {"base_url": server.base_url, "model": f"model-{name}", "api_key": server.key}
            for name, server in servers.items()}


def doctor(monkeypatch, home, named, **settings):
    monkeypatch.setenv("BANYAN_HOME", str(home))
    monkeypatch.setenv("BANYAN_LLM_ENDPOINTS", json.dumps(named))
    for name, value in settings.items():
        monkeypatch.setenv(f"BANYAN_{name.upper()}", value)
    result = CliRunner().invoke(cli.app, ["doctor", "--json"])
    report = json.loads(result.stdout)
    return result.exit_code, {check["part"]: check for check in report["checks"]}, result.stdout


def test_each_step_asks_its_own_endpoint_with_its_own_key(tmp_path, hashed_embedder):
    with llm_server.LlmServer(key="key-a") as reading, llm_server.LlmServer(key="key-b") as answering:
        settings = Settings(home=tmp_path, llm_endpoints=endpoints(reading=reading, answering=answering),
                            llm_model="answering", llm_model_extract="reading", llm_retries=0, _env_file=None)
        with Resources(settings, hashed_embedder) as resources:
            kb = banyan.open("kb", resources=resources)
            report = kb.add("Marie Curie was born in Warsaw.", id="curie", schema="general")
            assert not report["chunks_failed"], report
            kb.ask("Where was Marie Curie born?")
        assert {request["model"] for request in reading.requests} == {"model-reading"}
        assert {request["model"] for request in answering.requests} == {"model-answering"}
        assert reading.requests


def test_a_step_cannot_have_an_endpoint_while_the_others_have_none(tmp_path):
    named = {"local": {"base_url": "http://127.0.0.1:1/v1", "model": "m"}}
    with pytest.raises(ValidationError, match="BANYAN_LLM_MODEL_EXTRACT names an endpoint, and the other steps have"):
        Settings(home=tmp_path, llm_endpoints=named, llm_model_extract="local", _env_file=None)


def test_a_model_is_not_taken_for_an_endpoint_of_the_same_name(tmp_path):
    named = {name: {"base_url": f"http://{name}.example/v1", "model": model}
             for name, model in (("a", "b"), ("b", "m"))}
    settings = Settings(home=tmp_path, llm_endpoints=named, llm_model="a", llm_model_answer="b", _env_file=None)
    asked = [(own.llm_base_url, own.llm_model) for own in map(settings.for_step, ("extract", "answer"))]
    assert asked == [("http://a.example/v1", "b"), ("http://b.example/v1", "m")]


def test_what_is_no_json_is_refused_without_repeating_it(tmp_path, monkeypatch):
    monkeypatch.setenv("BANYAN_LLM_ENDPOINTS", '{"local": {"api_key": "sk-secret"')
    with pytest.raises(ValidationError, match="it is not JSON") as caught:
        Settings(home=tmp_path, _env_file=None)
    assert "sk-secret" not in str(caught.value)


def test_the_doctor_checks_every_endpoint_and_names_the_fix(tmp_path, monkeypatch):
    with llm_server.LlmServer(echo, key="key-a") as good, llm_server.LlmServer(lambda _: "Sure!", key="key-b") as bad:
        named = endpoints(good=good, bad=bad)
        code, checks, _ = doctor(monkeypatch, tmp_path, named, llm_model="good")
        assert (checks["API keys"]["state"], checks["API keys"]["found"]) == ("ok", "0 for the server")
        assert (code, checks["language model"]["state"]) == (0, "ok")
        assert "replies in JSON" in checks["language model"]["found"]
        assert "price unknown" in checks["language model"]["found"]
        assert checks["home folder"]["state"] == checks["embedding model"]["state"] == "ok"
        code, checks, _ = doctor(monkeypatch, tmp_path, named, llm_model="good", llm_model_extract="bad")
        assert (code, checks["language model for extract"]["state"]) == (1, "failed")
        assert "structured output" in checks["language model for extract"]["fix"]
        named["bad"]["api_key"] = "wrong-key"
        code, checks, printed = doctor(monkeypatch, tmp_path, named, llm_model="good", llm_model_extract="bad")
        assert (code, checks["language model for extract"]["state"]) == (1, "failed")
        assert checks["language model for extract"]["fix"] == "check BANYAN_LLM_API_KEY"
        assert not any(key in printed for key in ("key-a", "key-b", "wrong-key"))


def test_the_doctor_finds_a_folder_that_cannot_be_used_and_an_unreachable_endpoint(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    gone = {"gone": {"base_url": "http://127.0.0.1:9/v1", "model": "m"}}
    code, checks, _ = doctor(monkeypatch, file / "home", gone, llm_model="gone", llm_retries="0")
    assert (code, checks["home folder"]["state"], checks["language model"]["state"]) == (1, "failed", "failed")
    assert "BANYAN_HOME" in checks["home folder"]["fix"]
    assert checks["language model"]["fix"] == "check BANYAN_LLM_BASE_URL and that it is running"
