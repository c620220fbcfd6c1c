"""The protocol server that the tests of calls use: its stream, and itself as a process."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from banyan.config import Settings
from banyan.models.llm import LlmReasoner
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.formats.loading import load_schema

from .. import llm_server
from ..in_memory_calls import InMemoryCalls

pytestmark = pytest.mark.integration

KEY = "sk-test-0123456789"


def test_the_server_streams_with_usage():
    body = {"model": "m", "stream": True, "stream_options": {"include_usage": True},
            "messages": [{"role": "system", "content": '{"question":""}'},
                         {"role": "user", "content": "<data>\nuser: Hi\n</data>\n<data>\nWhere?\n</data>"}]}
    with llm_server.LlmServer(key=KEY) as server:
        request = urllib.request.Request(f"{server.base_url}/chat/completions", json.dumps(body).encode(),
                                         {"authorization": f"Bearer {KEY}", "content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as response:
            events = [line.removeprefix("data: ") for line in response.read().decode().splitlines() if line]
    assert events[-1] == "[DONE]"
    chunks = [json.loads(event) for event in events[:-1]]
    text = "".join(choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"])
    assert json.loads(text) == {"question": "Where?"}
    assert chunks[-1]["usage"]["prompt_tokens"] == server.stats.prompt_tokens


def test_the_server_runs_as_a_process():
    script = Path(llm_server.__file__)
    with subprocess.Popen([sys.executable, str(script), "--port", "0", "--faults", "429,fenced"],
                          stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            llm = LlmReasoner(Settings(_env_file=None, llm_base_url=url, llm_api_key=KEY), InMemoryCalls())
            extraction = llm.extract(ExtractionRequest(text="Marie Curie was born in Warsaw."), load_schema("general"))
            assert [(one.head, one.relation, one.tail) for one in extraction.triples] == [
                ("Marie Curie", "born_in", "Warsaw")]
            with urllib.request.urlopen(url.removesuffix("/v1") + "/stats", timeout=30) as response:
                stats = json.load(response)
            assert (stats["requests"], stats["answers"], stats["steps"]) == (2, 1, {"extraction": 1})
        finally:
            process.terminate()
