"""`banyan serve --workers 2`: what one process does all show and stop, and one that is killed loses nothing."""

import os
import signal
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from banyan.server.security.keys import KEYS_FILE, SCOPES, Keys

from .. import chess_brain, rest, serving, warm_start
from ..rest import state
from ..waiting import wait_for

pytestmark = pytest.mark.integration
KB, CHESS = rest.KB, rest.CHESS
HASHED = {warm_start.HASHED: "1"}
WHO = {"question": "Who is Ada Blum?", "thread": "t"}
endpoint = chess_brain.endpoint


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("workers")


@pytest.fixture(scope="module")
def key(folder):
    return Keys(folder / "home" / KEYS_FILE).make("all", SCOPES)


@pytest.fixture(scope="module")
def server(folder, key, endpoint):
    with serving.served(folder, "--workers", "2", BANYAN_LLM_BASE_URL=endpoint.base_url, BANYAN_LLM_MODEL="scripted",
                        BANYAN_LLM_RETRIES="0", BANYAN_LLM_TIMEOUT="600", BANYAN_BUILDS_AT_ONCE="1",
                        **HASHED) as server:
        yield server


@pytest.fixture(scope="module")
def both(server, key):
    """A function that connects with the first or the second worker."""
    return lambda number: connected(server, workers(server)[number], {"X-API-Key": key})


@pytest.fixture(scope="module")
def shared(both):
    """A knowledge base that either process made a part of."""
    (one, kern), (two, blum) = CHESS.items()
    for number, documents in ((0, {one: kern}), (1, {two: blum}), (0, {one: kern.replace("Vienna", "Graz")})):
        with both(number) as client:
            assert rest.built(client, "shared", documents)["state"] == "done"
    return "shared"


def workers(server):
    """The processes that answer, in the order in which they began."""
    supervisor = server.process.pid
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text("ascii").split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


@contextmanager
def connected(server, worker, headers):
    """A client with a connection to one worker, which lasts for 20 s of idling; the kernel says which one has it."""
    for _ in range(100):
        with httpx.Client(base_url=server.url, timeout=60, headers=headers) as client:
            said = client.get("/api/health").raise_for_status()
            _, port = said.extensions["network_stream"].get_extra_info("client_addr")
            if has_connection(worker, port):
                yield client
                return
    pytest.fail("no connection of a hundred was given to the worker")


def has_connection(process, port):
    """Whether a process has the other end of a connection from a port of this machine."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    sockets = {f"socket:[{line[9]}]" for line in lines if int(line[2].rpartition(":")[2], 16) == port}
    for file in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile
            if str(file.readlink()) in sockets:
                return True
    return False


def test_a_process_that_is_killed_is_replaced_and_loses_no_conversation(server, both, endpoint, shared):
    asked = WHO | {"thread": "killed"}
    with both(0) as first:
        assert first.post(f"{KB}/{shared}/ask", json=asked).json()["turn"] == 1
        build = chess_brain.running(first, endpoint, "broken", seconds=600)
    before = endpoint.stats.requests
    (killed, other), answers = workers(server), []

    def ask():
        with both(0) as first:
            try:
                answers.append(first.post(f"{KB}/{shared}/ask", json=asked | {"question": "Whom did she meet?"}).text)
            except httpx.HTTPError:
                answers.append("")

    asking = threading.Thread(target=ask)
    asking.start()
    wait_for(lambda: endpoint.stats.requests > before or answers)
    assert answers == []
    os.kill(killed, signal.SIGKILL)
    asking.join(60)
    assert answers == [""]
    endpoint.seconds = 0.0
    wait_for(lambda: len(workers(server)) == 2 and killed not in workers(server))
    assert workers(server)[0] == other
    with both(0) as survivor:
        wait_for(lambda: state(survivor, build) == "done")
        assert survivor.get(f"/api/builds/{build}").json()["report"]["documents"] == 2, "the other one took it up"
    with both(1) as replacement:
        kept = replacement.get("/api/threads/killed", params={"kb": shared}).json()
        assert [turn["question"] for turn in kept["turns"]] == [WHO["question"]]
        assert replacement.post(f"{KB}/{shared}/ask", json=asked).json()["turn"] == 2


@pytest.mark.slow
def test_no_worker_outlives_a_supervisor_that_is_killed(server):
    """The last one: its server is gone."""
    processes = workers(server)
    server.process.kill()
    server.process.wait(60)
    for process in processes:  # they are this process's now (see `warm_start`)
        wait_for(lambda process=process: os.waitpid(process, os.WNOHANG)[0] == process)
