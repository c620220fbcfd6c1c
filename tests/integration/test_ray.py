"""Builds on a Ray cluster of real nodes make what one process makes, and leave nothing running when they are given up.
"""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from banyan.agents.cluster import ClusterError, join_cluster
from banyan.agents.resources import Resources
from banyan.api.python_base import KnowledgeBase
from banyan.config import Settings

from .. import (
    command_line,
    ray_nodes,  # sets, before Ray is imported, whom it is open to
)
from ..newest import contents, newest
from ..waiting import wait_for

pytest.importorskip("ray", reason="Ray is not installed: pip install 'banyan-graphrag[ray]'")
pytestmark = pytest.mark.integration

ENGLISH = command_line.EXAMPLES / "en"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with ray_nodes.RayCluster(workers=1) as running:
        yield running


def made(report: Any) -> Any:
    return {key: value for key, value in report.items() if key not in {"kb", "seconds"}}


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
        local, remote = (newest(resources, name).kb for name in ("local", "remote"))
        assert contents(local) == contents(remote)
        vectors = [local.vectors, remote.vectors]
        ids = sorted(vectors[0].ids("chunks"))
        assert (vectors[0].get("chunks", ids) == vectors[1].get("chunks", ids)).all()


def test_without_a_cluster_or_with_another_the_error_says_what_to_do(cluster, tmp_path, monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nothing = f"127.0.0.1:{closed.getsockname()[1]}"
        refused = pytest.raises(ClusterError, match=f"no Ray cluster answers at {nothing}.*start one with")
        with refused, join_cluster(nothing):
            pass
    monkeypatch.setattr("banyan.agents.cluster.ray_resources.version", lambda _: "99.0")
    with pytest.raises(ClusterError, match=rf"has banyan-graphrag {version('banyan-graphrag')}: install "
                                           r"'banyan-graphrag\[ray\]==99\.0' on every node"):
        KnowledgeBase("other", Resources(Settings(_env_file=None, home=tmp_path))).add(ENGLISH, ray=cluster.address)
    assert not (tmp_path / "other").exists()


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
        wait_for(lambda: llm.stats.requests > before or process.poll() is not None)
        assert process.poll() is None, process.stderr and process.stderr.read()
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
