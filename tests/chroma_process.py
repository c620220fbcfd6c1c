"""A Chroma server as a user runs it: a process with data of its own, on a free port of this machine."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from banyan.graph_store.vectors import vector_store

from .ports import free_port
from .waiting import wait_for_answer

STARTS_WITHIN = 60  # the machine may be busy: half a second on a quiet one


@dataclass
class ChromaProcess:
    """A server that can be stopped, and started again on the same port with the data that is then there."""

    data: Path
    port: int = field(default_factory=free_port)
    _process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(self.data), "--host",
                   "127.0.0.1", "--port", str(self.port)]
        log = self.data.with_name("chroma.log")
        with log.open("wb") as output:
            self._process = subprocess.Popen(command, cwd=self.data.parent, stdin=subprocess.DEVNULL, stdout=output,
                                             stderr=subprocess.STDOUT)
        wait_for_answer(f"{self.url}/api/v2/heartbeat", self._process, log, STARTS_WITHIN)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(20)
            self._process = None


@contextmanager
def running(folder: Path) -> Iterator[ChromaProcess]:
    server = ChromaProcess(folder / "data")
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def chroma(tmp_path_factory):
    with running(tmp_path_factory.mktemp("chroma")) as server:
        yield server


@pytest.fixture(autouse=True)
def fresh_connections():
    """Each test looks for its server anew, as each process does, and does not wait long for one that is down."""
    vector_store._connect.cache_clear()
