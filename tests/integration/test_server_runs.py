"""`banyan serve` as a process: builds and answers that are cut off, cancelled, or forbidden."""

import threading
import time
from contextlib import suppress

import httpx
import pytest

from .. import rest, serving
from ..waiting import wait_for

pytestmark = pytest.mark.integration
KB, CHESS = rest.KB, rest.DEFEATS
followed, built = rest.followed, rest.built


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home whose server was ended while a build waited for a person: the folder, and that build."""
    folder = tmp_path_factory.mktemp("ended")
    with serving.served(folder) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        waiting = built(client, "chess", CHESS, review="true")
        assert waiting["state"] == "waiting"
        assert serving.stop(server) == 0
    return folder, waiting


@pytest.fixture(scope="module")
def server(home, llm):
    with serving.served(home[0], BANYAN_LLM_BASE_URL=llm.base_url, BANYAN_LLM_MODEL="scripted",
                        BANYAN_LLM_RETRIES="0", BANYAN_LLM_TIMEOUT="600") as server:
        yield server


def test_a_build_that_waits_outlives_the_server(client, home):
    waiting = home[1]
    assert client.get(f"/api/builds/{waiting['id']}").json() == waiting
    decided = {"decisions": [{"kind": "attribute", "name": "defeat", "verdict": "accept"}], "who": "Ann"}
    assert client.post(f"/api/builds/{waiting['id']}/decisions", json=decided).status_code == 200
    assert followed(client, waiting["id"])[-1]["state"] == "done"


def test_it_ends_cleanly_while_it_streams_and_builds(client, llm, server, home):
    """And what was cut off is taken up by the next server."""
    before, llm.seconds = llm.stats.requests, 600.0
    build = rest.started(client, "third", CHESS)
    wait_for(lambda: llm.stats.requests > before)
    events = []

    def follow():
        with (suppress(httpx.RemoteProtocolError),
              client.stream("POST", f"{KB}/chess/ask/stream", json={"question": "Who is Ada?"}) as stream):
            events.extend(rest.events(stream.iter_lines()))

    follower = threading.Thread(target=follow)
    follower.start()
    wait_for(lambda: events)
    began = time.monotonic()
    assert serving.stop(server) == 0
    assert time.monotonic() - began < 300, "the endpoint would have taken 600 s"
    follower.join(60)
    assert {event.name for event in events} == {"step"}
    assert "Traceback" not in server.said
    llm.seconds = 0.0
    with serving.served(home[0]) as later, httpx.Client(base_url=later.url, timeout=60) as after:
        assert after.get(f"/api/builds/{build}").json()["state"] == "cancelled"
        assert built(after, "third", {})["report"]["documents"] == 2


def test_beyond_this_machine_it_starts_with_keys_alone(tmp_path):
    serving.command_line.CommandLine(tmp_path)("serve", "--host", "0.0.0.0").refused("no API key is set")
    named = (("BANYAN_SERVER_HOSTS", "localhost, kb.example.org"),)
    serving.command_line.CommandLine(tmp_path, named)("serve").refused(
        "from other machines, and no API key is set", "banyan key NAME")
