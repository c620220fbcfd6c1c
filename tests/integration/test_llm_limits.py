"""An endpoint that is down, Ctrl-C while it is silent, and what is seen of the calls: real processes on loopback."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from platformdirs import user_cache_path

from .. import command_line, llm_server, warm_start
from ..http_servers import collecting
from ..waiting import wait_for

pytestmark = pytest.mark.integration

Fault = llm_server.Fault
ENGLISH = command_line.EXAMPLES / "en"
KEY = "sk-Vx93-distinctive-key"
SILENT = 60.0
"""Seconds that a silent server is silent: nothing here may wait for it."""
AT_ONCE = 25.0
"""Seconds within which a process has to end, on whatever machine: 0.2 to 0.4 s at a load of 8 on 2 cores."""


class Endpoint:
    def __init__(self) -> None:
        self.fault: Callable[[dict[str, Any]], Any] = lambda _: None
        brain = llm_server.scripted_brain()
        self.server = llm_server.LlmServer(lambda request: self.fault(request) or brain(request), key=KEY)

    @property
    def requests(self) -> int:
        return len(self.server.requests)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    with made.server:
        yield made


def environment(endpoint: Endpoint, **more: str) -> dict[str, str]:
    return {"BANYAN_LLM_BASE_URL": endpoint.server.base_url, "BANYAN_LLM_API_KEY": KEY, "BANYAN_LLM_MODEL": "scripted",
            "BANYAN_LLM_RETRIES": "0", "BANYAN_LLM_CONCURRENCY": "4", "BANYAN_EXTRACT_TOKENS": "0",
            warm_start.HASHED: "1", **more}


def commands(folder: Path, endpoint: Endpoint, **more: str) -> Any:
    return command_line.CommandLine(folder, tuple(environment(endpoint, **more).items()))


def interrupted(folder: Path, endpoint: Endpoint, when: Callable[[], bool], **more: str) -> tuple[int, str, float]:
    """A build that gets Ctrl-C at some moment: its exit code, what it said, and the seconds it took to end."""
    with warm_start.WarmProcess([warm_start.BANYAN, "build", str(ENGLISH), "--kb", "kb", "--json"], cwd=folder,
                          env=command_line.clean_environment(BANYAN_HOME=str(folder / "home"),
                                                             **environment(endpoint, **more)),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(lambda: when() or process.poll() is not None)
            assert process.poll() is None, process.communicate()[1]
            started = time.monotonic()
            os.kill(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=SILENT / 2)
            return process.returncode, errors, time.monotonic() - started
        finally:
            process.kill()


def stored(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "home" / "kb" / "ledger.sqlite")) as ledger:
        return int(ledger.execute("SELECT count(*) FROM extractions").fetchone()[0])


@pytest.mark.parametrize("step", ["extraction", pytest.param("summaries", marks=pytest.mark.slow)])
def test_ctrl_c_ends_a_build_at_once_and_the_next_one_goes_on(tmp_path, endpoint, step):
    def steps() -> list[str]:
        return [llm_server.brain.step(request) for request in endpoint.server.requests]

    numbers = count()

    def silent(request: dict[str, Any]) -> Any:
        stalls = llm_server.brain.step(request) == step and (step != "extraction" or next(numbers) >= 6)
        return Fault("stall", seconds=SILENT) if stalls else None

    def stalled() -> bool:
        # An answer that comes just before Ctrl-C may not be stored any more: all six are by then.
        return (steps().count(step) == 10 and stored(tmp_path) == 6) if step == "extraction" else step in steps()

    endpoint.fault = silent
    code, errors, seconds = interrupted(tmp_path, endpoint, stalled)
    assert code == 130
    assert "interrupted; progress is saved. Run the command again to resume" in errors
    assert "Traceback" not in errors
    assert seconds < AT_ONCE
    endpoint.fault = lambda _: None
    banyan = commands(tmp_path, endpoint)
    report = banyan("build", ENGLISH, "--kb", "kb", "--json").json
    assert (report["chunks_failed"], report["stopped"]) == (0, "")
    given_up = 4 if step == "extraction" else 0
    assert steps().count("extraction") == report["chunks"] + given_up
    assert banyan("verify", "--kb", "kb").out == "all is well\n"


def test_an_endpoint_that_goes_down_stops_the_build_and_the_next_one_goes_on(tmp_path, endpoint):
    down = Fault("status", 500)
    endpoint.fault = lambda asked: None if any(asked is one for one in endpoint.server.requests[:4]) else down
    # So that the four good answers are read before a fault is: one that is read later ends a row of failures.
    endpoint.server.seconds = 0.5
    banyan = commands(tmp_path, endpoint)
    stopped = banyan("build", ENGLISH, "--kb", "kb", "--json")
    assert stopped.code == 1
    assert "the endpoint is down: " in stopped.report["stopped"]
    assert "Run the command again when it answers, to go on from here" in stopped.report["stopped"]
    assert "stopped:" in stopped.err
    assert stopped.report["chunks_failed"] == 0
    assert banyan("status", "--kb", "kb", "--json").json["failures"] == []
    assert endpoint.requests <= 4 + 5 + 4, "not one call for each chunk: five in a row, and those in flight"
    answered = endpoint.server.stats.answers
    endpoint.fault, endpoint.server.seconds = lambda _: None, 0.0
    report = banyan("build", ENGLISH, "--kb", "kb", "--json").json
    assert (report["documents"], report["chunks_failed"], report["stopped"]) == (16, 0, "")
    assert endpoint.server.stats.steps["extraction"] == report["chunks"], "no answer was paid twice"
    assert answered == 4


CONNECTIONS = """
import socket, sys
connect, port = socket.socket.connect, int(sys.argv.pop(1))
def watched(self, address):
    if self.family != socket.AF_UNIX and address[1] != port:
        sys.stderr.write(f"CONNECTED {address}\\n")
    return connect(self, address)
socket.socket.connect = watched
from banyan.cli import main as cli
cli.main()
"""


def watched(folder: Path, endpoint: Endpoint, *arguments: str, warm: bool = False,
            **more: str) -> subprocess.CompletedProcess[str]:
    """A command that says where it connected to, but for the endpoint; unless `warm`, importing is watched, too."""
    port = endpoint.server.base_url.split(":")[2].split("/")[0]
    cleared = {name: value for name, value in command_line.clean_environment().items()
               if not name.startswith(("LANGSMITH_", "LANGCHAIN_", "OTEL_"))}
    program = [sys.executable, "-c", CONNECTIONS, port, *arguments]
    settings = {**cleared, "BANYAN_HOME": str(folder / "home"), **environment(endpoint), **more}
    del settings[warm_start.HASHED]
    if warm:
        return warm_start.run(program, cwd=folder, env=settings, timeout=command_line.SECONDS)
    return subprocess.run(program, cwd=folder, check=False, env=settings, capture_output=True, text=True,
                          timeout=command_line.SECONDS)


def test_nothing_is_sent_anywhere_unless_the_user_asks_for_it(tmp_path, endpoint):
    document, question = str(ENGLISH / "marie-curie.md"), "Where was Marie Curie born?"
    with collecting() as (url, bodies):
        able = {"LANGSMITH_ENDPOINT": url, "LANGSMITH_API_KEY": "lsv2-test"}
        for command in (["build", document, "--kb", "kb"], ["ask", question, "--kb", "kb"]):
            done = watched(tmp_path, endpoint, *command, warm=command[0] == "build", **able)
            assert done.returncode == 0, done.stderr
            assert "CONNECTED" not in done.stderr
        assert bodies == []
        done = watched(tmp_path, endpoint, "ask", question, "--kb", "kb", "--mode", "open", warm=True, **able,
                       LANGSMITH_TRACING="true")
        assert done.returncode == 0, done.stderr
        assert "CONNECTED" in done.stderr
        sent = b"".join(bodies)
        assert sent, "where it is asked for, runs are sent"
        assert KEY.encode() not in sent


SHOWS_ALL = """
import logging, sys
logging.basicConfig(level=logging.NOTSET, filename=sys.argv.pop(1))
from banyan.cli import main as cli
cli.main()
"""


def test_the_key_is_in_no_log_and_no_file(tmp_path, endpoint):
    """With every logger of every library at its lowest level; an error that repeats the key, and a snapshot, too."""
    log, document = tmp_path / "everything.log", str(ENGLISH / "marie-curie.md")
    said = ""
    for key, *command in ((KEY, "build", document, "--kb", "kb"), (KEY, "ask", "Who is Curie?", "--kb", "kb"),
                          (KEY, "status", "--kb", "kb"), (KEY, "backup", "-o", "kept.zip", "--kb", "kb"),
                          (KEY + "-wrong", "build", str(ENGLISH / "warsaw.md"), "--kb", "kb")):
        done = warm_start.run(
            [sys.executable, "-c", SHOWS_ALL, str(log), *command], cwd=tmp_path, timeout=command_line.SECONDS,
            env=command_line.clean_environment(BANYAN_HOME=str(tmp_path / "home"), **environment(
                endpoint, BANYAN_LLM_API_KEY=key, BANYAN_LOG_LEVEL="DEBUG", BANYAN_LOG_FORMAT="json",
                OPENAI_LOG="debug")))
        assert done.returncode == (0 if key == KEY else 1), done.stderr
        said += done.stdout + done.stderr
    lines = [json.loads(line) for line in said.splitlines() if line.startswith('{"time"')]
    assert {"extract", "summarise", "decompose"} <= {line.get("step") for line in lines if line.get("event") == "call"}
    assert "EndpointDown" in {line.get("outcome") for line in lines}
    assert "***" in said, "the server repeats the key, or this shows nothing"
    assert KEY not in said
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"ledger.sqlite", "everything.log", "kept.zip"} <= {path.name for path in files}
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path


def test_onnxruntime_keeps_no_identifier_of_the_machine_and_nothing_to_upload(tmp_path):
    """It keeps both in the user's cache before it sends anything; in a CI it would be silent by itself."""
    environment = {name: value for name, value in command_line.clean_environment().items()
                   if name != "CI" and not name.startswith(("ORT_", "XDG_", "GITHUB_"))}
    kept = os.environ.get("BANYAN_CACHE") or str(user_cache_path("banyan", appauthor=False))
    program = ("from banyan.config import Settings\n"
               "from banyan.models.embedding.embedding_models import load_embedder\n"
               "load_embedder(Settings(_env_file=None)).encode(['a text'])\n")
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, timeout=120,
                   env={**environment, "HOME": str(tmp_path), "BANYAN_CACHE": kept})
    assert [path for path in Path(tmp_path).rglob("*") if "onnx" in path.name.lower()] == []
