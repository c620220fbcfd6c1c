"""Builds that are killed, cancelled or fail, and many processes at once: real processes, a scripted endpoint."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .. import command_line, llm_server, warm_start
from ..waiting import wait_for

pytestmark = pytest.mark.integration

ENGLISH = command_line.EXAMPLES / "en"
BENCHMARKS = command_line.PROJECT / "benchmarks"
FIRST = ("marie-curie.md", "warsaw.md")
ADDED = ("niels-bohr.md", "polonium.md", "stockholm.md", "vienna.md")
MARIE = "In which city was Marie Curie born?"
SECONDS = 600  # for a benchmark, which takes a tenth of that on a quiet machine


SILENT = llm_server.Odds(llm_server.Fault("stall", seconds=5), 1.0)


@pytest.fixture(scope="module")
def built(tmp_path_factory, llm):
    """A folder with a knowledge base of the first documents."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "documents").mkdir()
    _write(folder, FIRST)
    assert _commands(folder, llm.base_url)("build", "documents", "--kb", "kb", "--json").code == 0
    return folder


@pytest.fixture
def folder(built, tmp_path):
    """A copy of it, with more documents waiting."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    _write(tmp_path, ADDED)
    return tmp_path


def _write(folder: Path, names: tuple[str, ...]) -> None:
    for name in names:
        shutil.copy(ENGLISH / name, folder / "documents" / name)


def _settings(url: str) -> dict[str, str]:
    return {"BANYAN_LLM_BASE_URL": url, "BANYAN_LLM_MODEL": "scripted", "BANYAN_LLM_RETRIES": "0",
            "BANYAN_LLM_CONCURRENCY": "2", "BANYAN_BATCH_CHUNKS": "2", warm_start.HASHED: "1"}


def _commands(folder: Path, url: str) -> Any:
    return command_line.CommandLine(folder, tuple(_settings(url).items()))


def _broken_off(folder: Path, llm: Any) -> tuple[int, str]:
    """A build that gets no more answers after its first batch, and then Ctrl-C; its exit code and errors."""
    before, requests = llm.stats.answers, len(llm.requests)
    with warm_start.WarmProcess(
            [warm_start.BANYAN, "build", "documents", "--kb", "kb"], cwd=folder,
            env=command_line.clean_environment(BANYAN_HOME=str(folder / "home"), **_settings(llm.base_url)),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(lambda: llm.stats.answers >= before + 2)
            llm.odds.append(SILENT)
            wait_for(lambda: len(llm.requests) > requests + 2)
            os.kill(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=command_line.SECONDS)
        finally:
            process.kill()
            llm.odds.clear()
    return process.returncode, errors


def test_a_build_that_is_cancelled_leaves_what_stood_in_service(folder, llm):
    banyan = _commands(folder, llm.base_url)
    answer = banyan("ask", MARIE, "--kb", "kb", "--json").json
    assert not answer["abstained"]
    code, errors = _broken_off(folder, llm)
    assert code == 130
    assert "Traceback" not in errors
    after = banyan("ask", MARIE, "--kb", "kb", "--json").json
    assert (after["answer"], after["citations"]) == (answer["answer"], answer["citations"])
    command_line.check_citations(after["citations"], ENGLISH)
    assert banyan("verify", "--kb", "kb").out == "all is well\n"
    # No stale lock keeps it out, and the calls in flight, which nobody waited for, have failed no chunk.
    report = banyan("build", "documents", "--kb", "kb", "--json").json
    assert (report["documents"], report["chunks_failed"], report["stopped"]) == (len(FIRST) + len(ADDED), 0, "")
    assert banyan("verify", "--kb", "kb").out == "all is well\n"


def _benchmark(name: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, str(BENCHMARKS / name), *arguments], capture_output=True, text=True,
                          timeout=SECONDS, check=False, env=command_line.clean_environment())
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_killed_at_random_points_and_run_again_the_store_is_as_if_never_killed():
    """One point for each operation; `benchmarks/kill.py --points 200` for all."""
    assert "seed 1, 13 points" in _benchmark("kill.py", "--points", "13", "--seed", "1")


@pytest.mark.slow
def test_writers_and_readers_at_once():
    assert "came to the last state" in _benchmark("concurrency.py", "--seconds", "5")
