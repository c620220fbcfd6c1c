"""Builds on a Ray cluster of real nodes make what one process makes, also when a node is killed or they are given up.

The first ones have workers of their own, and need the processors that `there` takes from then on.
"""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from banyan.agents.cluster import ClusterError, join_cluster, resources_on
from banyan.agents.construction.graph import build_graph
from banyan.agents.construction.state import BuildContext
from banyan.agents.resources import Resources
from banyan.api.python_base import KnowledgeBase
from banyan.config import Settings

from .. import (
    command_line,
    llm_server,
    ray_nodes,  # sets, before Ray is imported, whom it is open to
)
from ..newest import contents, newest
from ..waiting import wait_for, wait_in_loop_for

pytest.importorskip("ray", reason="Ray is not installed: pip install 'banyan-graphrag[ray]'")
pytestmark = pytest.mark.integration

ENGLISH = command_line.EXAMPLES / "en"
AT_ONCE = 4
EACH_ALONE = 0  # a call for each chunk, so that there are calls enough to be broken off between
_PAID = ("SELECT document, step, sum(calls), sum(prompt), sum(completion), sum(wasted_calls) FROM tokens "
         "GROUP BY document, step ORDER BY document, step")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with ray_nodes.RayCluster(workers=1) as running:
        yield running


@pytest.fixture(scope="module")
def here(tmp_path_factory, hashed_embedder, llm) -> Iterator[Resources]:
    """Resources of this process; the embedding model is its own, which no worker could load."""
    settings = Settings(_env_file=None, home=tmp_path_factory.mktemp("ray") / "home", llm_base_url=llm.base_url,
                        llm_model="scripted", llm_retries=0, llm_concurrency=AT_ONCE, batch_chunks=8,
                        extract_tokens=EACH_ALONE)
    with Resources(settings, hashed_embedder) as resources:
        yield resources


@pytest.fixture(scope="module")
def there(here, cluster) -> Iterator[Resources]:
    """Resources with workers on the cluster, for builds with a model."""
    with resources_on(here, cluster.address) as resources:
        yield resources


@pytest.fixture(scope="module")
def whole(here) -> Any:
    """The build in one process: its report and what it made."""
    report = build(here, "whole")
    return report, state(here, "whole")


def build(resources: Resources, name: str, config: Any = None, **context: Any) -> Any:
    return build_graph(resources).invoke({"knowledge_base": name, "paths": [str(ENGLISH)]},
                                         context=BuildContext(**context), config=config)["report"]


def state(resources: Resources, name: str) -> Any:
    kb = newest(resources, name).kb
    return contents(kb), [tuple(row) for row in kb.database.rows(_PAID)]


def made(report: Any) -> Any:
    return {key: value for key, value in report.items()
            if key not in {"kb", "seconds", "tokens", "wasted_tokens", "cached_tokens", "cost", "stopped"}}


def test_the_rules_read_cut_extract_and_embed_on_workers(cluster, tmp_path):
    documents = tmp_path / "documents"
    documents.mkdir()
    for name in ("marie-curie.md", "niels-bohr.md", "warsaw.md"):
        (documents / name).write_bytes((ENGLISH / name).read_bytes())
    words = (ENGLISH / "polonium.md").read_text("utf-8")
    (documents / "polonium.html").write_text(f"<html><title>Polonium</title><body><p>{words}</p></body></html>")
    (documents / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    with Resources(Settings(_env_file=None, home=tmp_path / "home", llm_base_url=None)) as resources:
        reports = [KnowledgeBase(name, resources).add(documents, ray=ray)
                   for name, ray in (("local", ""), ("remote", cluster.address))]
        assert made(reports[0]) == made(reports[1])
        assert (reports[1]["documents"], len(reports[1]["files_failed"])) == (4, 1)
        assert state(resources, "local") == state(resources, "remote")
        vectors = [newest(resources, name).kb.vectors for name in ("local", "remote")]
        ids = sorted(vectors[0].ids("chunks"))
        assert (vectors[0].get("chunks", ids) == vectors[1].get("chunks", ids)).all()


def test_without_a_cluster_or_with_another_the_error_says_what_to_do(here, cluster, monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nothing = f"127.0.0.1:{closed.getsockname()[1]}"
        refused = pytest.raises(ClusterError, match=f"no Ray cluster answers at {nothing}.*start one with")
        with refused, join_cluster(nothing):
            pass
    monkeypatch.setattr("banyan.agents.cluster.ray_resources.version", lambda _: "99.0")
    with pytest.raises(ClusterError, match=rf"has banyan-graphrag {version('banyan-graphrag')}: install "
                                           r"'banyan-graphrag\[ray\]==99\.0' on every node"):
        KnowledgeBase("other", here).add(ENGLISH, ray=cluster.address)
    assert not (here.settings.home / "other").exists()


@pytest.mark.slow
def test_graph_and_accounts_are_those_of_one_process_also_where_answers_are_of_no_use(here, there, llm):
    reports, counted = [], []
    llm.odds.append(llm_server.Odds(llm_server.Fault("text"), 0.4, steps=frozenset({"extraction"})))
    try:
        for resources, name in ((here, "one"), (there, "same")):
            llm._asked.clear()
            before = llm.stats.answers
            reports.append(build(resources, name))
            counted.append(llm.stats.answers - before)
    finally:
        llm.odds.clear()
    one, same = reports
    assert made(same) == made(one)
    assert same["wasted_tokens"] == one["wasted_tokens"] > 0
    assert same["tokens"] == one["tokens"]
    assert counted == [one["tokens"]["calls"]] * 2, "every answer is in the accounts"
    assert state(here, "same") == state(here, "one")
    again = build(there, "same")
    assert again["tokens"]["calls"] == 0, "what workers were answered is kept here"


@pytest.mark.slow
def test_a_build_that_is_cancelled_ends_at_once_and_the_next_goes_on(here, there, llm, whole):
    before, llm.seconds = llm.stats.requests, 0.5
    base = KnowledgeBase("cancelled", there)

    def stored() -> int:
        writer = there.writers.knowledge_base("cancelled")
        return writer.documents.count_status("extracted") if writer else 0

    async def cancelled() -> None:
        task = asyncio.create_task(base.aadd(ENGLISH))
        await wait_in_loop_for(lambda: llm.stats.requests >= before + 6 and stored())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    try:
        asyncio.run(cancelled())
    finally:
        llm.seconds = 0.0
    assert llm.stats.requests - before < whole[0]["tokens"]["calls"], "it did not go on to its end"
    stood = newest(here, "cancelled").kb.documents.count_status("extracted")
    assert stood >= 1, "what was answered before is kept"
    report = build(there, "cancelled")
    assert made(report) == made(whole[0])
    assert report["tokens"]["calls"] <= whole[0]["tokens"]["calls"] - stood
    assert state(here, "cancelled") == whole[1]


@pytest.mark.slow
def test_ctrl_c_ends_a_ray_of_this_machine_and_all_of_its_processes(tmp_path, llm):
    before, llm.seconds = llm.stats.requests, 5.0
    environment = command_line.clean_environment(
        BANYAN_HOME=str(tmp_path / "home"), BANYAN_LLM_BASE_URL=llm.base_url, BANYAN_LLM_MODEL="scripted",
        BANYAN_LLM_API_KEY="sk-secret")
    process = subprocess.Popen([Path(sys.executable).with_name("banyan"), "build", ENGLISH, "--kb", "kb",
                                "--ray", "local"],
                               env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        deadline = time.monotonic() + 120
        while llm.stats.requests == before:
            assert process.poll() is None, process.stderr and process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        started = _family(process.pid)
        assert any("raylet" in " ".join(command) for command in started.values())
        assert not any("sk-secret" in " ".join(command) for command in started.values())
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        llm.seconds = 0.0
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert process.returncode == 130, said
    assert "interrupted; progress is saved" in said
    assert "Traceback" not in said
    (folder,) = {part for command in started.values() for argument in command
                 for part in re.findall(r"/tmp/banyan-ray-\w+", argument)}
    assert not Path(folder).exists()
    wait_for(lambda: not [command for pid, command in started.items() if _command(pid) == command])


def _command(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return []


def _family(pid: int) -> dict[int, list[str]]:
    """The process and all that descend from it."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        parents.setdefault(parent, []).append(int(folder.name))
    family, waiting = {}, [pid]
    while waiting:
        one = waiting.pop()
        family[one] = _command(one)
        waiting += parents.get(one, [])
    return family


@pytest.mark.slow
def test_a_node_that_is_killed_in_the_middle_changes_nothing(here, there, cluster, llm, whole):
    """The last one: its node is gone."""
    before, llm.seconds = llm.stats.requests, 0.3

    def kill() -> None:
        wait_for(lambda: llm.stats.requests >= before + 8)
        cluster.kill(1)

    killing = threading.Thread(target=kill)
    killing.start()
    try:
        report = build(there, "killed")
    finally:
        llm.seconds = 0.0
        killing.join()
    assert made(report) == made(whole[0])
    assert report["tokens"]["calls"] == whole[0]["tokens"]["calls"]
    assert state(here, "killed") == whole[1]
