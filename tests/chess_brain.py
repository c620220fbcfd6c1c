"""An endpoint whose scripted brain also reads defeats of chess players.

A test module takes the fixture as its own: `endpoint = chess_brain.endpoint`.
"""

import json
import re
from typing import Any

import pytest

from . import llm_server, rest
from .waiting import wait_for


def reply(request: dict[str, Any]) -> str:
    """The brain's answer, and where a text tells of a defeat that relation, which the schema does not have."""
    answer = json.loads(llm_server.brain.reply(request))
    if llm_server.brain.step(request) == "extraction":
        for number, *pair in re.findall(r"^(\d+) .*?\b(\w+ \w+) defeated (\w+ \w+)",
                                        request["messages"][1]["content"], re.MULTILINE):
            answer["entities"].append(["Person", *pair])
            answer["triples"].append([number, pair[0], "defeat", pair[1]])
    return json.dumps(answer)


@pytest.fixture(scope="module")
def endpoint():
    with llm_server.LlmServer(reply) as endpoint:
        yield endpoint


def running(client: Any, endpoint: Any, kb: str, documents: dict[str, str] = rest.CHESS, seconds: float = 60.0) -> Any:
    before, endpoint.seconds = endpoint.stats.requests, seconds
    build = rest.started(client, kb, documents)
    wait_for(lambda: endpoint.stats.requests > before)
    return build
